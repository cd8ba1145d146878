"""The smallest world that still shows a difference: what can be left out of it is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tests.witness.grammar import Manifest

Shows = Callable[[list[Manifest]], bool]
KEPT = ("apiVersion", "kind", "metadata")
STAYING = ("Namespace", "GatewayClass")
"""Kinds whose objects stay whole, as do fillers: without them whole kinds are out of sight, or nobody's."""


def shrunk(objects: list[Manifest], shows: Shows) -> list[Manifest]:
    """Return a smallest part of a world for which `shows` holds; it holds for the whole."""
    before = None
    while before != objects:
        before = objects
        objects = _fewer(objects, shows)
        objects = _smaller(objects, shows)
    return objects


def _fewer(objects: list[Manifest], shows: Shows) -> list[Manifest]:
    size = max(1, len(objects) // 2)
    while size:
        start = 0
        while start < len(objects):
            left_out = objects[start : start + size]
            rest = objects[:start] + [each for each in left_out if _stays(each)] + objects[start + size :]
            if len(rest) < len(objects) and shows(rest):
                objects = rest
            else:
                start += size
        size //= 2
    return objects


def _stays(manifest: Manifest) -> bool:
    return manifest["kind"] in STAYING or manifest["metadata"]["name"] == "filler"


def _smaller(objects: list[Manifest], shows: Shows) -> list[Manifest]:
    """Leave out fields of specs and metadata, one by one, the largest first."""
    for number in (number for number, each in enumerate(objects) if not _stays(each)):
        for path in list(_places(objects[number])):
            made = copy.deepcopy(objects)
            holder: Any = made[number]
            try:
                for step in path[:-1]:
                    holder = holder[step]
                del holder[path[-1]]
            except (KeyError, IndexError, TypeError):
                continue
            if shows(made):
                objects = made
    return objects


def _places(manifest: Manifest) -> Iterator[tuple[Any, ...]]:
    """Yield what may be left out of an object, outer things first and of a list the last first."""
    for field in ("labels", "creationTimestamp"):
        if field in manifest["metadata"]:
            yield ("metadata", field)
    waiting: list[tuple[tuple[Any, ...], Any]] = [((key,), manifest[key]) for key in manifest if key not in KEPT]
    while waiting:
        path, value = waiting.pop(0)
        if len(path) > 1:
            yield path
        if isinstance(value, dict):
            waiting += [((*path, key), value[key]) for key in value]
        elif isinstance(value, list):
            waiting += [((*path, index), value[index]) for index in reversed(range(len(value)))]
