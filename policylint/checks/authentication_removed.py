"""GWP302: a change takes authentication, authorization or an allow-list away from a route.

One state of the manifests cannot tell: `policylint diff` asks policylint/compare/protection/removed.py, `lint` reports
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP302"


def check(world: Simulation) -> Iterator[Finding]:  # noqa: ARG001 - what every rule takes
    return iter(())
