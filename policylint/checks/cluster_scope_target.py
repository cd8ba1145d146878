"""GWP109: a namespaced policy on a GatewayClass, so that one namespace rules all Gateways of the class."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, path, targets
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP109"
CODE = "cluster-scope"
"""The code of a policy that is refused for this (policy/validity.py)."""


def check(simulation: Simulation) -> Iterator[Finding]:
    for state, target in targets(simulation):
        if state.kind.cluster_scoped or not state.key.namespace:
            continue
        if simulation.catalog.settings(state.kind.implementation).get("rootNamespace"):
            continue  # it takes them from there only: GWP106 reports the others
        if target.key.kind == "GatewayClass" and target.problem != "kind-not-allowed":
            yield Finding(
                RULE,
                "error" if state.invalid_code == CODE else "warning",
                f"{state.key} is a namespaced policy that targets {target.key}, which all namespaces share",
                at(state.policy, target.pointer, "kind", "name"),
                resources=(state.key, target.key),
                label=f"anyone who can write to namespace {state.key.namespace} controls every Gateway of this class",
                help=("fix: target the Gateways, or use a cluster-scoped policy kind",),
                field=path(target.pointer),
            )
