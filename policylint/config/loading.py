"""Read `Settings` from the bytes of a configuration file: YAML by our own reader (it keeps positions), or TOML."""

# Paths stay strings with os.path, as seen from here: `../clusters` is what messages show.
# ruff: noqa: PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from policylint.config.discovery import MAX_BYTES, PYPROJECT, ConfigError
from policylint.config.settings import EnvironmentSettings, Ignore, Settings
from policylint.config.toml_positions import Positions, TomlPositions
from policylint.outside import belongs, git_root, is_below, leads_out


def load(file: str, data: bytes | None = None) -> Settings:
    """Return the settings of a file, checked against schemas/config.json; see `policylint.config.load`."""
    if data is None and leads_out(file):
        raise ConfigError(f"{file}: a symbolic link out of the repository cannot be the configuration")
    try:
        if data is None:
            with open(file, "rb") as stream:
                data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot read configuration {file!r}: {(error.strerror or str(error)).lower()}") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"cannot read configuration {file!r}: it is larger than {MAX_BYTES >> 20} MiB")
    shown = file.replace(os.sep, "/")
    is_toml = file.endswith(".toml")
    raw, places = _toml(data, shown) if is_toml else _yaml(data, shown)
    content = _without_nulls(raw)
    if content:
        from policylint.config.checking import check

        check(content, places)
    directory = os.path.dirname(file)
    if os.path.basename(directory) == ".config" and not is_toml:  # its paths are those of the directory above
        directory = os.path.dirname(directory) or "."
    return _settings(content, places, shown, directory or ".")


def _without_nulls(content: Mapping[str, Any]) -> dict[str, Any]:
    """Drop keys without a value: all entries of such a key are commented out."""
    return {
        name: _without_nulls(value) if isinstance(value, dict) else value
        for name, value in content.items()
        if value is not None
    }


def _yaml(data: bytes, file: str) -> tuple[Mapping[str, Any], Positions | None]:
    """Return the content of a YAML file and the positions in it."""
    from policylint.documents import read

    reading = read(data, file)
    for problem in reading.problems:
        raise ConfigError(f"{file}:{problem.line}:{problem.column}: {problem.message}")
    if len(reading.documents) > 1:
        raise ConfigError(f"{file}:{reading.documents[1].line}:1: the configuration must be a single document")
    if not reading.documents:
        return {}, None
    document = reading.documents[0]
    if not isinstance(document.value, dict):
        raise ConfigError(f"{file}:{document.line}:1: the configuration must be a mapping")
    return document.value, document


def _toml(data: bytes, file: str) -> tuple[Mapping[str, Any], Positions]:
    """Return the table of a TOML file and the positions in it."""
    import tomllib

    try:
        text = data.decode()
        content = tomllib.loads(text)
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deep") from None
    is_pyproject = os.path.basename(file) == PYPROJECT or "tool" in content
    table = content.get("tool", {}).get("policylint", {}) if is_pyproject else content
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.policylint is not a table")
    plain = _plain(table)
    return plain, TomlPositions(file, tuple(text.splitlines()), plain)


def _plain(value: Any) -> Any:
    """Return a TOML value with dates as the texts they are in YAML."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _settings(content: Mapping[str, Any], places: Positions | None, file: str, directory: str) -> Settings:
    """Return the settings of a file's content; paths are joined to its directory, which they may not lead out of."""
    top = git_root()
    is_of_the_tree = top is not None and is_below(os.path.realpath(file), top)

    def place(path: str, *pointer: str | int) -> str:
        joined = os.path.normpath(os.path.join(directory, path))
        if is_of_the_tree and top is not None and not belongs(os.path.realpath(joined), top):
            at = file if places is None else ":".join(map(str, (file, *places.position(pointer))))
            raise ConfigError(f"{at}: {path!r} leads out of the repository")
        return joined

    entries = content.get("ignore", [])
    return Settings(
        file=file,
        directory=directory,
        paths=tuple(place(each, "paths", number) for number, each in enumerate(content.get("paths", ()))),
        exclude=tuple(content.get("exclude", ())),
        select=tuple(content.get("select", ())),
        ignore=tuple(entry for entry in entries if isinstance(entry, str)),
        suppressions=tuple(_ignore(entry, index) for index, entry in enumerate(entries) if isinstance(entry, dict)),
        # YAML's off is false
        severity={rule: severity or "off" for rule, severity in content.get("severity", {}).items()},
        fail_on=content.get("fail-on", "error"),
        min_severity=content.get("min-severity"),
        semantics=content.get("semantics", "gep-713"),
        environments=tuple(
            EnvironmentSettings(
                environment["name"],
                tuple(place(root, "environments", number, "roots", at) for at, root in enumerate(environment["roots"])),
            )
            for number, environment in enumerate(content.get("environments", ()))
        ),
        namespaces=content.get("namespaces", {}),
        clusters=content.get("clusters", {}),
        assume=tuple(content.get("assume", ())),
        complete=tuple(content.get("complete", ())),
        kinds=tuple(content.get("kinds", ())),
        implementations=content.get("implementations", {}),
        releases={name: str(release) for name, release in content.get("releases", {}).items()},
        network=_network(content.get("network", {}), places, file),
        locked=tuple(content.get("locked", ())),
        baseline=place(content["baseline"], "baseline") if "baseline" in content else "",
        render=(content["render"] or "off") if "render" in content else "",
        snapshot=place(content["snapshot"], "snapshot") if "snapshot" in content else "",
        require=tuple(content.get("require", ())),
        places=places,
    )


def _network(stated: Mapping[str, Any], places: Positions | None, file: str) -> Mapping[str, Any]:
    """Return the facts on the network.

    Raises:
        ConfigError: what stands for addresses is no CIDR.
    """
    from ipaddress import ip_network

    for name in ("pods", "nodes"):
        for number, written in enumerate(stated.get(name, ())):
            try:
                ip_network(written, strict=False)
            except ValueError:
                pointer = ("network", name, number)
                at = file if places is None else ":".join(map(str, (file, *places.position(pointer))))
                raise ConfigError(f"{at}: {written!r} is no CIDR") from None
    return stated


def _ignore(entry: Mapping[str, Any], index: int) -> Ignore:
    """Return the suppression that an entry of `ignore` describes."""
    rule = entry["rule"]
    return Ignore(
        rules=(rule,) if isinstance(rule, str) else tuple(rule),
        resource=entry.get("resource", ""),
        path=entry.get("path", ""),
        reason=entry["reason"],
        expires=entry.get("expires", ""),
        number=index,
    )
