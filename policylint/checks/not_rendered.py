"""GWP911: a kustomization, chart or template whose output was not seen, or not whole."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.render_notes import render_findings
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP911"


def check(simulation: Simulation) -> Iterator[Finding]:
    return render_findings(RULE, simulation)
