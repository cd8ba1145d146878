"""GWP914: a kustomization that certainly cannot be built, so that nothing of it is applied."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.render_notes import STOPPED, render_findings
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = STOPPED


def check(simulation: Simulation) -> Iterator[Finding]:
    return render_findings(RULE, simulation)
