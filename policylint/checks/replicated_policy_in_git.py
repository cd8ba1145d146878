"""GWP718: a Policy in git that is a copy which the hub makes, and overwrites."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.clusters.bindings import ROOT_LABEL, is_replica
from policylint.clusters.kinds import POLICY
from policylint.model import Finding
from policylint.simulation import Simulation

RULE = "GWP718"


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    for policy in world.of_kind(*POLICY):
        if not is_replica(world, policy) or policy.metadata.get("uid"):
            continue  # a dump of the hub holds them
        labelled = ROOT_LABEL in policy.labels
        where = f"cluster {policy.key.namespace} has this namespace"
        yield Finding(
            RULE,
            "warning",
            f"{policy.key} is a copy that the hub makes for one cluster, and overwrites",
            policy.location("metadata", "labels", ROOT_LABEL) if labelled else policy.name_location,
            resources=(policy.key,),
            label=f"it bears the label {ROOT_LABEL}" if labelled else where,
            help=("fix: leave it out, and place the policy that it is a copy of",),
            field="metadata.labels" if labelled else "metadata.namespace",
        )
