"""Calico: its network policies, which are ordered in tiers (docs/design/implementations/calico.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from policylint.implementations.generic import Implementation

if TYPE_CHECKING:
    from policylint.model import Resource, World
    from policylint.network.rules import PolicySpec
    from policylint.policy.results import FaultyPart


class Calico(Implementation):
    """What is peculiar to Calico are its network policies."""

    name = "calico"

    def network_policies(self, world: World) -> Iterable[PolicySpec]:
        """Return its own policies and the global ones; those of Kubernetes it reads as everybody does (§1)."""
        from policylint.implementations.calico.policies import policies

        return policies(world)

    def idle_rules(self, world: World) -> Iterable[tuple[Resource, FaultyPart]]:
        """Return what is said of hosts to no effect."""
        from policylint.implementations.calico.hosts import idle_rules

        return idle_rules(world)
