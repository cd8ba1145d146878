"""GWP912: a `${VARIABLE}` that nothing in the tree fills in, so that what holds it is not known."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.render_notes import render_findings
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP912"


def check(simulation: Simulation) -> Iterator[Finding]:
    return render_findings(RULE, simulation)
