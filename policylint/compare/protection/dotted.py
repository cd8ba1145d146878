"""What a dotted path of the catalog stands for in two specs: `jwt.providers.*.audiences`, `*` for every entry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import mapping
from policylint.namedtuple import NamedTuple

_NAMES = ("name", "issuer")
"""Fields by which an entry of a list is known."""


class At(NamedTuple):
    """A value, or where it would be: `value` is None where nothing stands, `held` is whether what holds it stands."""

    pointer: Pointer
    value: Any
    held: bool


Found = dict[tuple[str, ...], At]
"""By the names of the entries that the `*`s of a path stand for."""


def pair(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> tuple[Found, Found]:
    """What a path stands for on both sides, by the names of the entries that its `*`s stand for."""
    old: Found = {(): At((), before, held=True)}
    new: Found = {(): At((), after, held=True)}
    for step in path.split("."):
        old, new = _below(old, step, new), _below(new, step, old)
    return old, new


def instances(spec: Mapping[str, Any], path: str) -> Found:
    """What a path stands for on one side."""
    return pair(spec, {}, path)[0]


def _below(found: Found, step: str, others: Found) -> Found:
    """One step further down, `others` is the other side."""
    following: Found = {}
    for key, at in found.items():
        if step == "*":
            beside = others[key].value if key in others else None
            for name, index, each in _every(at.value, beside):
                following[(*key, name)] = At((*at.pointer, index), each, held=True)
        else:
            holder = mapping(at.value)
            following[key] = At((*at.pointer, step), holder.get(step), bool(holder) or at.pointer == ())
    return following


def _every(value: object, beside: object) -> Iterator[tuple[str, Any, Any]]:
    """Name, index and value of entries.

    One without a name that both sides have is known by what it says, another one by its place among such, while their
    number stays.
    """
    if isinstance(value, dict):
        for key, each in value.items():
            yield str(key), key, each
    elif isinstance(value, list):
        theirs = set(map(name_of, beside)) if isinstance(beside, list) else set()
        names = [name_of(each) for each in value]
        left = [number for number, each in enumerate(value) if not _own_name(each) and names[number] not in theirs]
        for number, each in enumerate(value):
            name = f"{left.index(number)} of {len(left)}" if number in left else names[number]
            yield name, number, each


def _own_name(entry: object) -> str:
    return next((str(entry[name]) for name in _NAMES if isinstance(entry, dict) and name in entry), "")


def name_of(entry: object) -> str:
    """The name of an entry, else all it says."""
    said = entry if isinstance(entry, str) else json.dumps(entry, sort_keys=True, default=str)
    return _own_name(entry) or said
