"""What texts hold that stand in an object: configurations of programs, as YAML, JSON, INI, or lines with values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from policylint.catalog.weakenings import as_step
from policylint.documents import read
from policylint.patterns import Pattern

_MOST_EMBEDDED = 200_000
_MOST_LINES = 4_000
_DEEPEST = 40
_ASSIGNED = Pattern(r"\s*[\w.-]+\s*=")
_SETTING = Pattern(r"[\s\"']*([A-Za-z_][\w./-]*)[\"']?(?:\s*[=:]+\s*|\s+)(.*)$")
_INNER = Pattern(r"([A-Za-z_][\w-]*)[\"']?\s*[=:]\s*\[([^\[\]{}]*)\]")
"""A list within a line."""
_COMMENTS = ("#", ";", "//", "--", "!")


def configuration(value: str) -> object:
    """Return the configuration that a text holds, the text itself where it is none."""
    if "\n" not in value.strip() or len(value) > _MOST_EMBEDDED:
        return value
    lines = [line for line in value.splitlines() if line.strip() and not line.lstrip().startswith(("#", ";", "["))]
    if lines and all(map(_ASSIGNED.match, lines)):
        return _sections(value)
    documents = read(value.encode(), "data").documents
    return documents[0].value if len(documents) == 1 and isinstance(documents[0].value, dict) else value


def _sections(value: str) -> dict[str, Any]:
    """Return the settings of a file of INI, those of a section below its name."""
    told: dict[str, Any] = {}
    place = told
    for line in map(str.strip, value.splitlines()):
        if line.startswith("["):
            place = told.setdefault(as_step(line.strip("[] \t\"'")), {})
            place = place if isinstance(place, dict) else told
        elif line and not line.startswith(("#", ";")):
            name, _, inner = line.partition("=")
            place[as_step(name.strip())] = _plain(inner.strip())
    return told


def _plain(value: str) -> object:
    """Return a value as it is written behind `=`."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value.strip("\"'")


def lines_told(value: str) -> dict[str, Any]:
    """Return what the lines of any text say, as names with values: `ssl on;`, `allow: x`, in braces below a name."""
    told: dict[str, Any] = {}
    places = [told]
    for line in map(str.strip, value.splitlines()[:_MOST_LINES]):
        if not line or line.startswith(_COMMENTS):
            continue
        opened = line.endswith(("{", "[")) and not line.startswith("[")
        if line[0] in "}])":
            places = places[:-1] if len(places) > 1 else places
        elif line.startswith("[") and line.endswith("]"):
            places = [told, _below(told, line.strip("[] "))]
        elif opened and len(places) < _DEEPEST:
            places.append(_below(places[-1], line[:-1].strip(" =:\"'")))
        else:
            found = _SETTING.match(line)
            if found:
                _tell(places[-1], found[1], found[2].rstrip(" ;,"))
            for name, listed in _INNER.findall(line):
                places[-1][as_step(name)] = [entry.strip(" \"'") for entry in listed.split(",") if entry.strip()]
    return told


def _below(place: dict[str, Any], name: str) -> dict[str, Any]:
    inner = place.setdefault(as_step(name) or "-", {})
    return inner if isinstance(inner, dict) else {}


def _tell(place: dict[str, Any], name: str, value: str) -> None:
    """Write down one setting; one that comes again is a list."""
    said = value.strip("\"'")
    known = place.get(as_step(name))
    if known is None:
        place[as_step(name)] = said
    elif isinstance(known, list):
        known.append(said)
    elif isinstance(known, str):
        place[as_step(name)] = [known, said]


def with_texts_read(before: Any, after: Any, depth: int = 0) -> tuple[Any, Any]:
    """Return two states with the texts in which they differ as what those say, and without dots in names."""
    if isinstance(before, dict) and isinstance(after, dict) and depth < _DEEPEST:
        pairs = {
            as_step(name): with_texts_read(before.get(name), after.get(name), depth + 1)
            for name in {**before, **after}
            if isinstance(name, str)
        }
        old = {name: pair[0] for name, pair in pairs.items() if pair[0] is not None}
        return old, {name: pair[1] for name, pair in pairs.items() if pair[1] is not None}
    if _are_flags(before) and _are_flags(after):
        return flags_told(before), flags_told(after)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and depth < _DEEPEST:
        entries = [with_texts_read(old, new, depth + 1) for old, new in zip(before, after, strict=True)]
        return [old for old, _ in entries], [new for _, new in entries]
    if isinstance(before, str) and isinstance(after, str) and before != after and "\n" in before.strip():
        return _read_alike(before, after)
    return before, after


def _are_flags(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], str) and value[0].startswith("-")


def flags_told(arguments: Sequence[Any]) -> dict[str, Any]:
    """Return what a program is told by its arguments: a flag without a value is on."""
    told: dict[str, Any] = {}
    texts = [str(argument) for argument in arguments]
    for argument, following in zip(texts, [*texts[1:], "-"], strict=False):
        name, assigned, value = argument.partition("=")
        if name.startswith("-"):
            given = value if assigned else "true" if following.startswith("-") else following
            flag = as_step(name.lstrip("-"))
            told[flag] = given if flag not in told else f"{told[flag]},{given}"
    return told


def _read_alike(before: str, after: str) -> tuple[Any, Any]:
    """Return what two texts say, read in the same way."""
    old, new = configuration(before), configuration(after)
    if isinstance(old, dict) and isinstance(new, dict):
        return with_texts_read(old, new, _DEEPEST - 10)
    return lines_told(before), lines_told(after)


__all__ = ["configuration", "flags_told", "lines_told", "with_texts_read"]
