"""GWP304: a change leaves a protection in place and makes it ask for less.

One state of the manifests cannot tell: `policylint diff` asks policylint/compare/protection/settings.py, and `lint`
reports nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.model import Finding

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP304"


def check(world: Simulation) -> Iterator[Finding]:  # noqa: ARG001 - what every rule takes
    return iter(())
