"""Findings of what rendering has to say about its own input (the 91x rules)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation


def of_rendering(rule: str, world: Simulation) -> Iterator[Finding]:
    """One note per place and cause, as rendering wrote it down."""
    for note in world.world.notes:
        if note.rule == rule:
            yield Finding(rule, "note", note.message, note.location, field=note.code)
