"""The settings in force as YAML, each value with the place that it comes from as a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.config.settings import Settings

_COLUMN = 48
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Texts that YAML would read as something else."""


def show(settings: Settings, origin: str = "") -> str:
    """Return what `policylint config show` prints.

    Args:
        origin: what chose this file (`--config`, `POLICYLINT_CONFIG`), "" when it was found.
    """
    head = "no configuration file: these are the defaults"
    if settings.file:
        head = f"{settings.file}" + (f" ({origin})" if origin else "")
    lines = [f"# {head}"]
    for key, value in values(settings):
        if value is None:
            lines.append(_commented(f"# {key}:", "not set"))
            continue
        lines += _lines(settings, key, value)
    return "\n".join(lines) + "\n"


def values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield key and value of every setting, in the order of schemas/config.json; paths as in `Settings`."""
    yield "paths", list(settings.paths)
    yield "exclude", list(settings.exclude)
    yield "select", list(settings.select)
    yield "ignore", _ignored(settings)
    yield "severity", settings.severity
    yield "fail-on", settings.fail_on
    yield "min-severity", settings.min_severity
    yield "semantics", settings.semantics
    yield "environments", [{"name": name, "roots": list(roots)} for name, roots in settings.environments]
    yield "namespaces", settings.namespaces
    yield "clusters", settings.clusters
    yield "assume", list(settings.assume)
    yield "complete", list(settings.complete)
    yield "kinds", list(settings.kinds)
    yield "implementations", settings.implementations
    yield "releases", settings.releases
    yield "network", settings.network
    yield "locked", list(settings.locked)
    yield "baseline", settings.baseline or None
    yield "render", settings.render or "builtin"
    yield "snapshot", settings.snapshot or None
    yield "require", list(settings.require)


def _ignored(settings: Settings) -> list[Any]:
    """Return rules and suppressions in the order in which they are written."""
    rules: list[Any] = list(settings.ignore)
    for suppression in settings.suppressions:
        entry = {"rule": list(suppression.rules) if len(suppression.rules) > 1 else suppression.rules[0]}
        entry |= {
            name: value for name in ("resource", "path", "reason", "expires") if (value := getattr(suppression, name))
        }
        rules.insert(suppression.number, entry)
    return rules


def _lines(settings: Settings, key: str, value: Any) -> Iterator[str]:
    """Yield the lines of one setting: a list or mapping entry by entry."""
    if isinstance(value, (list, Mapping)) and value:
        yield f"{key}:"
        entries = value.items() if isinstance(value, Mapping) else enumerate(value)
        for step, entry in entries:
            begin = f"  {_flow(step)}: " if isinstance(value, Mapping) else "  - "
            yield _commented(begin + _flow(entry), settings.at(key, step))
        return
    written = not isinstance(value, (list, Mapping)) and _is_written(settings, key)
    yield _commented(f"{key}: {_flow(value)}", settings.at(key) if written else "default")


def _is_written(settings: Settings, key: str) -> bool:
    """Return whether the configuration file has a key."""
    return settings.places is not None and settings.places.position((key,)) != settings.places.position(())


def _flow(value: Any) -> str:
    """Return a value in YAML's flow style: plain where that is safe, else as JSON, which is YAML too."""
    import json
    import re

    if isinstance(value, str) and re.fullmatch(r"[A-Za-z./][\w./*-]*(?: [\w./*-]+)*", value):
        return f'"{value}"' if value.lower() in _WORDS else value
    return "null" if value is None else json.dumps(value, ensure_ascii=False)


def _commented(text: str, comment: str) -> str:
    """Return a line with a comment, aligned."""
    return f"{text.ljust(_COLUMN - 2)}  # {comment}"
