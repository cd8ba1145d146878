"""Variables that nothing in the tree fills in, where they stand in objects that rules look at (GWP912)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource
from policylint.model.world import Note
from policylint.render.journal import UNRESOLVED

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


def unresolved(resources: Iterable[Resource], groups: frozenset[str]) -> Iterator[Note]:
    """One note for each variable left in objects of some groups, at its first place.

    Args:
        groups: Gateway API's and those of policies; elsewhere a variable changes nothing that is checked.
    """
    seen: set[str] = set()
    for resource in resources:
        if resource.key.group not in groups:
            continue
        for pointer, text in _texts(resource.body, ()):
            for name in _VARIABLE.findall(text):
                if name not in seen:
                    seen.add(name)
                    message = (
                        f"nothing in the tree says what ${{{name}}} is: what it stands in is taken as it is written"
                    )
                    yield Note(UNRESOLVED, "unresolved-variable", message, resource.location(*pointer))


def _texts(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
    """The texts with a variable in them, and their pointers."""
    if isinstance(value, str):
        if "${" in value:
            yield pointer, value
    elif isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, (str, dict, list)):
                yield from _texts(each, (*pointer, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _texts(each, (*pointer, index))
