"""GWP614: two peers, one by namespace and one by pod, where one peer with both was meant, or one takes in the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import may_be_elsewhere, peer_places, rules
from policylint.documents import Pointer
from policylint.model import Finding
from policylint.network.rules import Peer, Pods, PolicySpec, RuleSpec
from policylint.network.state import Network
from policylint.simulation import Simulation

RULE = "GWP614"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    for _, policy, rule in rules(simulation):
        listed = list(peer_places(rule))
        if policy.tier != "NetworkPolicy" or len(listed) < 2:
            continue
        if any(peer.are_all for peer, _ in listed):
            yield from _idle(policy, rule, listed)
            continue
        for left, right in pairwise(listed):
            yield from _apart(network, policy, rule, *left, *right)
            yield from _apart(network, policy, rule, *right, *left)


def written_apart(network: Network, policy: PolicySpec, rule: RuleSpec) -> set[str]:
    """Return the fields of the peers of a rule that find their pods in a namespace that another peer names."""
    listed = list(peer_places(rule)) if policy.tier == "NetworkPolicy" else []
    if any(peer.are_all for peer, _ in listed):
        return set()
    pairs = [(*left, *right) for one, other in pairwise(listed) for left, right in ((one, other), (other, one))]
    found = (finding for pair in pairs for finding in _apart(network, policy, rule, *pair))
    return {finding.field for finding in found if finding.field is not None and finding.severity == "warning"}


def _apart(
    network: Network, policy: PolicySpec, rule: RuleSpec, spaces: Peer, _: Pointer, pods: Peer, pointer: Pointer
) -> Iterator[Finding]:
    """Yield a peer that is a namespace, and its neighbor that selects pods at home, where it finds none."""
    if not (isinstance(spaces, Pods) and isinstance(pods, Pods)):
        return
    apart = spaces.home is None and not any(spaces.pods.values()) and pods.home is not None
    if not apart or network.universe.select(pods).maybe or may_be_elsewhere(network, pods):
        return
    meant = Pods(None, spaces.namespaces, pods.pods)
    is_seen = bool(network.universe.select(meant).sure)
    if is_seen or may_be_elsewhere(network, meant):
        yield Finding(
            RULE,
            "warning" if is_seen else "note",
            f"{policy.key} lists a namespace and pods as two peers in {rule.direction}[{rule.position}]: "
            "the whole namespace is let through",
            policy.resource.location(*pointer),
            resources=(policy.key,),
            label=f"no pod of namespace {pods.home} has these labels" + ", pods of the other one have" * is_seen,
            help=("fix: make it one peer, with namespaceSelector and podSelector",),
            confidence="certain" if is_seen else "assumed",
            ground="" if is_seen else "the pods of the other namespace are not here: they may have these labels",
            field=path(pointer),
        )


def _idle(policy: PolicySpec, rule: RuleSpec, listed: Sequence[tuple[Pods, Pointer]]) -> Iterator[Finding]:
    """Yield the first peer that selects pods or namespaces beside one that is all pods of all namespaces."""
    for peer, pointer in listed:
        if any(peer.pods.values()) or (peer.home is None and any(peer.namespaces.values())):
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} restricts nothing by the labels in {rule.direction}[{rule.position}]: "
                "another peer is every pod",
                policy.resource.location(*pointer),
                resources=(policy.key,),
                label="another peer of this rule is `namespaceSelector: {}` alone: all pods of all namespaces",
                help=("fix: make it one peer, with namespaceSelector and podSelector, or remove one of the two",),
                field=path(pointer),
            )
            return
