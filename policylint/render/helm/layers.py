"""The values of a chart, of files and inline ones, as Helm lays them over each other."""

from __future__ import annotations

from typing import Any

from policylint.budget import Budget
from policylint.render.kustomize.strategic_merge import merge
from policylint.render.provenance import Provenance

Layers = list[tuple[Any, Provenance]]
"""Values with their places; a later one overwrites an earlier one."""


def merged(layers: Layers, budget: Budget) -> tuple[Any, Provenance]:
    """Return layers, at least one, as one mapping of values."""
    value, origin = layers[0]
    for over, place in layers[1:]:
        budget.spend(len(value) // 16)
        value, origin = merge(value, origin, dict(over), place, core=False)
    return value, origin
