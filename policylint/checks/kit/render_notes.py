"""Findings from the notes that rendering and simulation take on their input (GWP911, GWP912 and GWP914)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.budget import CUT_OFF
from policylint.model import Finding, Severity
from policylint.simulation import Simulation

STOPPED = "GWP914"
"""build-fails."""


def render_findings(rule: str, simulation: Simulation) -> Iterator[Finding]:
    """Yield the findings of one rule: one per place and cause."""
    for note in simulation.world.notes:
        if note.rule == rule:
            severity: Severity = "error" if rule == STOPPED else "warning" if note.code == CUT_OFF else "note"
            yield Finding(rule, severity, note.message, note.location, help=note.help, field=note.code)
    for note in simulation.cut:
        if note.rule == rule:
            yield Finding(rule, "warning", note.message, note.location, field=note.code)
