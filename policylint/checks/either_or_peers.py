"""GWP614: two peers, one by namespace and one by pod, where one peer with both was meant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import may_be_elsewhere, peer_places, rules
from policylint.model import Finding
from policylint.network.rules import Pods
from policylint.simulation import Simulation

RULE = "GWP614"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    for _, policy, rule in rules(simulation):
        listed = list(peer_places(rule))
        if policy.tier != "NetworkPolicy" or len(listed) < 2:
            continue
        for (spaces, _), (pods, pointer) in pairwise(listed):
            apart = spaces.home is None and not any(spaces.pods.values()) and pods.home is not None
            if not apart or network.universe.select(pods).maybe or may_be_elsewhere(network, pods):
                continue
            meant = Pods(None, spaces.namespaces, pods.pods)
            if network.universe.select(meant).sure:
                yield Finding(
                    RULE,
                    "note",
                    f"{policy.key} lists a namespace and pods as two peers in {rule.direction}[{rule.position}]: "
                    "the whole namespace is let through",
                    policy.resource.location(*pointer),
                    resources=(policy.key,),
                    label=f"no pod of namespace {pods.home} has these labels, pods of the other one have",
                    help=("fix: make it one peer, with namespaceSelector and podSelector",),
                    field=path(pointer),
                )
