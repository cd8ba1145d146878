"""A variable at any place of a manifest, for tests of what it leaves open."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from typing import Any

OF_IDENTITY = ("apiVersion", "kind", "metadata")
"""Fields without which an object is another one."""


def places(value: Any, without: Collection[str] = (), at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places below a value, but for those below some fields."""
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in inner:
        if step not in without:
            yield (*at, step)
            yield from places(each, without, (*at, step))


def at_place(value: Any, place: tuple[Any, ...]) -> Any:
    """Return what stands at a place."""
    for step in place:
        value = value[step]
    return value


def with_variable(value: Any, place: tuple[Any, ...], variable: str = "${X}") -> Any:
    """Return a value with a variable at a place."""
    changed = copy.deepcopy(value)
    at_place(changed, place[:-1])[place[-1]] = variable
    return changed
