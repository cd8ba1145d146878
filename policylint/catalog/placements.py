"""Where the proxies of an implementation run: `dataPlane` of its file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from policylint.catalog.kinds import shipped_catalog
from policylint.model import mapping, sequence


@cache
def placements(implementation: str) -> tuple[Mapping[str, Any], ...]:
    """Return where its proxies may run, the default first; nothing where that is not known."""
    files = (file for file in shipped_catalog() if file.implementation == implementation)
    return tuple(mapping(place) for file in files for place in sequence(file.content().get("dataPlane")))
