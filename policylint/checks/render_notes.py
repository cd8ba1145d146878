"""GWP911, GWP912, GWP914, GWP915: what rendering and simulation noted on their input."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.budget import CUT_OFF
from policylint.model import Finding, Severity
from policylint.render.journal import NEARLY
from policylint.simulation import Simulation


def not_rendered(simulation: Simulation) -> Iterator[Finding]:
    """Report a kustomization, chart or template whose output was not seen, or not whole."""
    return _noted("GWP911", simulation, "note")


def unresolved_variable(simulation: Simulation) -> Iterator[Finding]:
    """Report a `${VARIABLE}` that nothing in the tree fills in, so that what holds it is not known."""
    return _noted("GWP912", simulation, "note")


def build_fails(simulation: Simulation) -> Iterator[Finding]:
    """Report a kustomization that certainly cannot be built, so that nothing of it is applied."""
    return _noted("GWP914", simulation, "error")


def patch_selects_nothing(simulation: Simulation) -> Iterator[Finding]:
    """Report a patch for an object that its kustomization does not hold: it changes nothing, and nobody says so."""
    return _noted("GWP915", simulation, "note")


def _noted(rule: str, simulation: Simulation, usual: Severity) -> Iterator[Finding]:
    """Yield the findings of one rule: one per place and cause."""
    for note in simulation.world.notes:
        if note.rule == rule:
            severity: Severity = "warning" if note.code in (CUT_OFF, NEARLY) and usual != "error" else usual
            yield Finding(rule, severity, note.message, note.location, help=note.help, field=note.code)
    for note in simulation.cut:
        if note.rule == rule:
            yield Finding(rule, "warning", note.message, note.location, field=note.code)
