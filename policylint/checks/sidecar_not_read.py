"""GWP217 sidecar-not-read: a Sidecar for pods in whose mesh there are no sidecars."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.sidecar_conflict import labels_of
from policylint.model import Finding
from policylint.model.kinds import SIDECAR
from policylint.model.words import leading
from policylint.simulation import Simulation
from policylint.topology.workloads import by_pod_labels

RULE = "GWP217"


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    ends = {end.key: end for end in simulation.network.universe.endpoints}
    for sidecar in world.of_kind(*SIDECAR):
        pods = by_pod_labels(world, sidecar.key.namespace)
        selected = [each.key for each in pods.matching({"matchLabels": labels_of(sidecar)})]
        tunnelled = [
            key for key in selected if key in ends and simulation.meshes.tunnel(ends[key], ends[key]) is not None
        ]
        if selected and tunnelled == selected and not sidecar.key.unplaced:
            yield Finding(
                RULE,
                "warning",
                f"{sidecar.key} has no effect on {leading(selected, 3)} in ambient mode",
                sidecar.name_location,
                resources=(sidecar.key, *selected[:5]),
                label="ztunnels and waypoints do not read it: pods reach what they reached before",
                help=("fix: keep destinations out with network policies, or send them through an egress waypoint",),
            )
