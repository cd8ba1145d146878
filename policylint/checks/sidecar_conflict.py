"""GWP213: two Sidecars for one workload or one namespace, of which one applies (IST0110, IST0111)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import Finding, Related, Resource, ResourceKey, mapping
from policylint.model.kinds import SIDECAR
from policylint.simulation import Simulation
from policylint.topology.workloads import by_pod_labels

RULE = "GWP213"


def check(simulation: Simulation) -> Iterator[Finding]:
    by_namespace: dict[str, list[Resource]] = {}
    for sidecar in simulation.world.of_kind(*SIDECAR):
        by_namespace.setdefault(sidecar.key.namespace, []).append(sidecar)
    for namespace, sidecars in by_namespace.items():
        wide = [sidecar for sidecar in sidecars if not labels_of(sidecar)]
        for other in wide[1:]:
            yield _finding(other, wide[0], f"namespace {namespace}")
        selecting = [sidecar for sidecar in sidecars if labels_of(sidecar)]
        if len(selecting) > 1 and not selecting[0].key.unplaced:
            yield from _on_workloads(simulation, namespace, selecting)


def labels_of(sidecar: Resource) -> Mapping[str, Any]:
    """Return the labels of the pods that a Sidecar is for, none where it is for its namespace."""
    return mapping(mapping(sidecar.spec.get("workloadSelector")).get("labels"))


def _on_workloads(simulation: Simulation, namespace: str, sidecars: list[Resource]) -> Iterator[Finding]:
    """Yield a finding for each Sidecar that shares a workload with one before it."""
    pods = by_pod_labels(simulation.world, namespace)
    first: dict[ResourceKey, Resource] = {}
    for sidecar in sidecars:
        selected = pods.matching({"matchLabels": labels_of(sidecar)})
        shared = next((workload for workload in selected if workload.key in first), None)
        if shared is not None:
            yield _finding(sidecar, first[shared.key], str(shared.key))
        for workload in selected:
            first.setdefault(workload.key, sidecar)


def _finding(sidecar: Resource, other: Resource, scope: str) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"{scope} has two Sidecars, {other.key.path} and {sidecar.key.path}, and which of them applies is undefined",
        sidecar.name_location,
        resources=(sidecar.key, other.key),
        label="one Sidecar applies, and the other is ignored",
        related=(Related("the other Sidecar", other.name_location),),
        help=("fix: merge the two into one, or let them select different workloads",),
    )
