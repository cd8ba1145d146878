"""An answer that an assistant can read: what it comes to, as much of the document as fits, and how to go on.

A list is cut between its entries, never inside of one, and what is left out is counted: half a document misleads.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

ROOM: Final = 30_000
"""Characters of a document: about ten thousand tokens."""
ORDER: Final = (
    "findings",
    "requests",
    "ways",
    "explanations",
    "routes",
    "policies",
    "placements",
    "connections",
    "objects",
)
"""The lists that matter most, the first before the others; the others follow as they come."""
LOGINS: Final = {
    "asked": "with a login",
    "optional": "with an optional login",
    "open": "without a login",
    "unknown": "with an unknown login",
}
INNER: Final = (50, 20, 10, 5, 3, 1)
"""How many entries of the lists inside of an entry are kept, where one alone is longer than the room."""


def answer(text: str, part: str = "", start: int = 0, room: int = ROOM) -> list[str]:
    """Return what a document in JSON comes to, and the document, or as much of it as there is room for.

    Args:
        part: the list to go on with, "" for the whole document.
        start: its first entry, counted from 0.

    Raises:
        ValueError: there is no such list.
    """
    document = json.loads(text)
    said = summary(document)
    lists = [name for name, value in document.items() if isinstance(value, list) and name != "environments"]
    if part:
        if part not in lists:
            raise ValueError(f"no list {part!r}: there are {', '.join(lists)}")
        document = {"version": document.get("version"), part: document[part][start:]}
        lists = [part]
    elif len(text) <= room:
        return [said, text]
    lists.sort(key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    kept, left = _fitted(document, lists, room)
    for name, number in left:
        shown = start + len(kept[name])
        said += f"\n{name}: {number} more; go on with part={name!r}, start={shown}, or ask about less"
    inner = list(_cut_inside(kept, lists, room))
    said += "".join(f"\n{sentence}" for sentence in inner)
    return [said, json.dumps(kept, ensure_ascii=False, separators=(",", ":"))]


def _fitted(document: Mapping[str, Any], lists: list[str], room: int) -> tuple[dict[str, Any], list[tuple[str, int]]]:
    """Return a document with as many entries of its lists as fit, at least one of the first; and what is left out."""
    kept = {name: ([] if name in lists else value) for name, value in document.items()}
    room -= _size(kept)
    left = []
    for name in lists:
        for entry in document[name]:
            if (room := room - _size(entry) - 1) < 0 and (name != lists[0] or kept[name]):
                break
            kept[name].append(entry)
        if rest := len(document[name]) - len(kept[name]):
            left.append((name, rest))
    return kept, left


def _cut_inside(kept: dict[str, Any], lists: list[str], room: int) -> Iterator[str]:
    """Shorten the lists inside of a single entry that is longer than the room; yield what is left out of which."""
    if _size(kept) <= room:
        return
    whole = {name: kept[name] for name in lists}
    cut: Counter[str] = Counter()
    for most in INNER:
        cut.clear()
        kept.update({name: _shortened(entries, most, name, cut, is_top=True) for name, entries in whole.items()})
        if _size(kept) <= room:
            break
    for where, number in cut.items():
        yield f"{where}: {number} left out; ask about one rule, field or host"


def _shortened(value: Any, most: int, where: str, cut: Counter[str], *, is_top: bool = False) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner, most, f"{where}.{name}", cut) for name, inner in value.items()}
    if isinstance(value, list):
        if len(value) > most and not is_top:
            cut[where] += len(value) - most
            value = value[:most]
        return [_shortened(inner, most, where, cut) for inner in value]
    return value


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def summary(document: Mapping[str, Any]) -> str:
    """Return what a document of any command comes to, in a line: by severity, by what is asked, by object."""
    if "findings" in document:
        return _of_findings(document)
    if "ways" in document:
        return _of_ways(document["ways"])
    if "explanations" in document:
        return f"about {', '.join(each['object'] for each in document['explanations'][:5])}"
    return f"{len(document.get('requests', ()))} traced" if "requests" in document else ""


def _of_findings(document: Mapping[str, Any]) -> str:
    compares = any("state" in finding for finding in document["findings"])
    found = [finding for finding in document["findings"] if not compares or finding["state"] == "new"]
    severities = Counter(finding["severity"] for finding in found)
    rules = Counter((finding["severity"], finding["rule"]) for finding in found)
    parts = [
        f"{severities[each]} {each}{'s' if severities[each] != 1 else ''}" for each in ("error", "warning", "note")
    ]
    by_rule = [f"{rule} x{number} ({severity})" for (severity, rule), number in rules.most_common(8)]
    said = f"{'new: ' if compares else ''}{', '.join(parts)}"
    if by_rule:
        said += f"; {', '.join(by_rule)}"
    if compares:
        routes = document["summary"]["routes"]
        said += f"; {document['summary']['fixed']} fixed; routes: " + ", ".join(
            f"{number} {name}" for name, number in routes.items() if isinstance(number, int)
        )
    unseen = document["coverage"].get("not_rendered", [])
    return f"{said}; not seen: {', '.join(unseen[:3])}" if unseen else said


def _of_ways(ways: list[Mapping[str, Any]]) -> str:
    logins = Counter(
        way["asked"]["authentication"]["state"] for way in ways if "authentication" in (way["asked"] or {})
    )
    counted = [f"{number} {LOGINS[state]}" for state, number in logins.most_common()]
    if counted and (others := len(ways) - sum(logins.values())):
        counted.append(f"{others} that reach no backend or are passed through")
    return f"{len(ways)} ways in: {', '.join(counted)}" if counted else f"{len(ways)} ways in"
