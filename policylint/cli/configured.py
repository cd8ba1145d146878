"""The configuration of this run: the file that counts, and what it means for reading and for rules.

Options of the command line win over the file, the file over the defaults.
"""

# ruff: noqa: PTH100, PTH113, PTH118 - strings as seen from here; pathlib is not imported for most runs

from __future__ import annotations

import os
from functools import cache
from itertools import count

import click

from policylint.config import ConfigError, Settings, discover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from policylint.given import Given

FILE, NONE, ENVIRONMENTS, RENDER, CACHE, NO_CACHE, JOBS = (
    f"policylint.{name}" for name in ("config", "no-config", "env", "render", "cache-dir", "no-cache", "jobs")
)
"""Where a command's context keeps what the options of `reading` said."""
SETTINGS = "policylint.settings"


def settings() -> Settings:
    """The settings that hold for the running command; read once.

    Raises:
        click.UsageError: the file cannot be read or is not as schemas/config.json wants it.
    """
    context = click.get_current_context(silent=True)
    meta = {} if context is None else context.meta
    if SETTINGS not in meta:
        meta[SETTINGS] = _settings(meta.get(FILE), bool(meta.get(NONE)))
    found: Settings = meta[SETTINGS]
    return found


def settings_among(directory: str, content: Callable[[str], bytes | None], shown: Callable[[str], str]) -> Settings:
    """The settings that hold in a tree that is not on disk, from now on those of the running command.

    What the user names (--config, POLICYLINT_CONFIG, --no-config) is their word against that of any tree.

    Args:
        directory: where the user stands, below the top of the tree.
        content: the bytes of a file of the tree by its path below the top; None where there is none.
        shown: a path below the top → as seen from here.

    Raises:
        click.UsageError: as `settings`.
    """
    from policylint.config.discovery import VARIABLE

    meta = click.get_current_context().meta
    if meta.get(FILE) or meta.get(NONE) or os.environ.get(VARIABLE):
        return settings()
    from policylint.config import discover_among, load

    try:
        found = discover_among(directory, content)
        meta[SETTINGS] = Settings() if found is None else load(shown(found[0]), found[1])
    except ConfigError as error:
        raise ConfigurationError(str(error)) from None
    return settings()


def origin() -> str:
    """Why it is this file: `--config`, `POLICYLINT_CONFIG`, or "" for the one that was found."""
    from policylint.config.discovery import VARIABLE

    if click.get_current_context().meta.get(FILE):
        return "--config"
    return VARIABLE if os.environ.get(VARIABLE) else ""


def _settings(file: str | None, without: bool) -> Settings:
    if without:
        if file:
            raise click.UsageError("--config and --no-config exclude each other")
        return Settings()
    try:
        found = file or os.environ.get("POLICYLINT_CONFIG") or discover()
        if found is None:
            return Settings()
        from policylint.config import load

        return load(found)
    except ConfigError as error:
        raise ConfigurationError(str(error)) from None


class ConfigurationError(click.ClickException):
    """One line with the place, exit code 2; `--help` would not help."""


def given(found: Settings) -> Given | None:
    """What the configuration says of the world; None when it says nothing."""
    if not (found.exclude or found.assume or found.namespaces or found.kinds or found.implementations):
        return None
    from policylint.given import Given

    excluded = None
    if found.exclude:
        from policylint.config.globs import matcher

        matches = matcher(found.exclude)
        below = below_directory(found.directory)

        def excluded(path: str) -> bool:
            return matches(below(path))

    return Given(excluded, found.assume, found.namespaces, found.kinds, found.places, found.implementations)


def snapshot(found: Settings) -> str | None:
    """The dump of the cluster that the file names.

    Raises:
        ConfigurationError: it is not there.
    """
    if found.snapshot and not os.path.isfile(found.snapshot):
        raise ConfigurationError(f"{found.at('snapshot')}: no such file: {found.snapshot!r}")
    return found.snapshot or None


class below_directory:  # noqa: N801 - a function with a memory
    """`path as seen from here` → the path below the configuration's directory, as its patterns see it."""

    def __init__(self, directory: str) -> None:
        self._top = os.path.abspath(directory)
        self._here = os.path.abspath(".")

    def __call__(self, path: str) -> str:
        place = os.path.normpath(os.path.join(self._here, path))
        return os.path.relpath(place, self._top).replace(os.sep, "/")


def environments(found: Settings, root: str | None) -> dict[str, list[str]] | None:
    """The environments that the configuration names, their roots below the git root; None for those of the tree."""
    if not found.environments:
        return None
    top = os.path.realpath(root or ".")
    return {
        each.name: [os.path.relpath(os.path.realpath(place), top).replace(os.sep, "/") for place in each.roots]
        for each in found.environments
    }


def chosen(
    found: Settings, select: Sequence[str], ignore: Sequence[str], *, on_request: bool = False
) -> set[str] | None:
    """The ids of the rules to run, None for all that are on by default.

    `--select` takes the place of the file's `select`, and rules that it names outright run though the file ignores
    them; `--ignore` comes on top of the file's. `on_request` adds the rules that otherwise run only by name.
    """
    off = {rule for rule, severity in severities(found).items() if severity == "off"} if found.severity else set()
    if not (select or ignore or found.select or found.ignore or off or on_request):
        return None
    from policylint.checks import ON_REQUEST, RULES

    wanted = expanded(select) if select else _configured(found, "select", found.select) or RULES.keys() - ON_REQUEST
    wanted = wanted | ON_REQUEST if on_request else wanted
    ignored = _configured(found, "ignore", found.ignore) | off
    outright = {rule for name in select for rule in expanded([name]) if not _is_family(name)}
    return wanted - (ignored - outright) - expanded(ignore)


def severities(found: Settings) -> dict[str, str]:
    """Severity by id; of `GWP3: note` and `GWP301: error` the longer one counts for GWP301."""
    by_rule: dict[str, str] = {}
    for name in sorted(found.severity, key=lambda each: (not _is_family(each), len(each))):
        for rule in _configured(found, "severity", [name]):
            by_rule[rule] = found.severity[name]
    return by_rule


def kind_at_fault(message: str) -> int | None:
    """Which of the configured kinds the catalog complains about in `kinds[0].targets: …`."""
    number = message.removeprefix("kinds[").partition("]")[0]
    return int(number) if message.startswith("kinds[") and number.isdigit() else None


def check(found: Settings) -> None:
    """Complains about names that are no rules."""
    chosen(found, (), ())
    locked(found)


def locked(found: Settings) -> set[str]:
    """The ids of the rules that files cannot suppress."""
    return _configured(found, "locked", found.locked) if found.locked else set()


def expanded(names: Iterable[str]) -> set[str]:
    """Ids for ids, names and families.

    Raises:
        click.UsageError: one of them is no rule.
    """
    from policylint.checks import expand

    try:
        return expand(names)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _configured(found: Settings, key: str, names: Sequence[str]) -> set[str]:
    """The same for names in the configuration, with their place in the complaint."""
    from policylint.checks import expand

    ids: set[str] = set()
    taken = {each.number for each in found.suppressions} if key == "ignore" else set()
    numbers = (number for number in count() if number not in taken)
    for number, name in zip(numbers, names, strict=False):
        try:
            ids |= expand([name])
        except ValueError as error:
            pointer = (key, name) if key == "severity" else (key, number)
            raise ConfigurationError(f"{found.at(*pointer)}: {error}") from None
    return ids


@cache
def _is_family(name: str) -> bool:
    return name.upper().startswith("GWP") and len(name) < len("GWP101")
