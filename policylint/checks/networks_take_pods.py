"""GWP612: `networks: [0.0.0.0/0]` in a cluster policy, which is about connections between pods as well."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import acting
from policylint.model import Finding
from policylint.network.addresses import is_everything, takes_pods
from policylint.network.kinds import CLUSTER
from policylint.network.rules import Block, Pods, RuleSpec
from policylint.simulation import Simulation

RULE = "GWP612"


def check(simulation: Simulation) -> Iterator[Finding]:
    ranges = simulation.hops.network.universe.facts.pods
    for _, policy in acting(simulation):
        spared = picked = False
        for rule in policy.rules if policy.key[:2] in CLUSTER else ():
            if rule.direction != "egress":
                continue
            spared = spared or _spares_pods(rule)
            picked = picked or _picks_pods(rule)
            for peers, below in rule.peers:
                block = peers[0] if len(peers) == 1 else None
                if not isinstance(block, Block) or block.family != "cluster" or not is_everything(block.cidr):
                    continue
                is_the_rest = rule.action == "Deny" and rule.ports is None and picked
                if takes_pods(block.cidr, ranges) and rule.action != "Pass" and not spared and not is_the_rest:
                    verb = "denies" if rule.action == "Deny" else "allows"
                    yield Finding(
                        RULE,
                        "warning",
                        f"egress[{rule.position}] of {policy.key} also {verb} connections to pods",
                        policy.resource.location(*rule.pointer, *below),
                        resources=(policy.key,),
                        label="every pod of the cluster is in this network",
                        help=("fix: put a rule for the pods (`namespaces: {}`) before it, with action Pass",),
                        field=path((*rule.pointer, *below)),
                    )


def _spares_pods(rule: RuleSpec) -> bool:
    """Return whether a rule has decided about all pods: those after it are about what is outside."""
    return rule.ports is None and any(
        isinstance(peer, Pods) and peer.are_all for peers, _ in rule.peers for peer in peers
    )


def _picks_pods(rule: RuleSpec) -> bool:
    """Return whether a rule lets connections to some pods pass: what denies all others after it means pods, too."""
    return rule.action != "Deny" and any(isinstance(peer, Pods) for peers, _ in rule.peers for peer in peers)
