"""GWP618: a policy of Cilium or Calico that refuses some, and with that closes its pods to everybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import acting
from policylint.model import Finding, ResourceKey
from policylint.model.words import count
from policylint.network.addresses import is_everything
from policylint.network.cilium import AUTHENTICATED
from policylint.network.kinds import CALICO, CILIUM
from policylint.network.rules import DIRECTIONS, Block, Direction, Entity, Peer, Pods, PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.simulation import Simulation

RULE = "GWP618"
_EVERYBODY = (Entity("everything"), Entity("all"))


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    of_dialects = [(number, policy) for number, policy in acting(simulation) if policy.key[:2] in (*CILIUM, *CALICO)]
    by_object: dict[ResourceKey, list[PolicySpec]] = {}
    for _, policy in of_dialects:
        by_object.setdefault(policy.key, []).append(policy)
    for number, policy in of_dialects:
        if policy.key[:2] in CALICO and isinstance(policy.subject, Pods) and policy.subject.are_all:
            continue  # GWP611 tells of it
        for direction in (each for each in DIRECTIONS if each in policy.isolates):
            parts = _parts(policy, by_object[policy.key], direction)
            stated = [rule for part in parts for rule in _rules(part, direction)]
            selected = numbers_of(network.subjects[number].sure) if stated and all(map(_is_refusal, stated)) else ()
            closed = [each for each in selected if _is_closed_by_refusals(network, each, direction, policy.turn)]
            if closed:
                yield _finding(simulation, policy, direction, closed, stated[0])


def _rules(policy: PolicySpec, direction: Direction) -> list[RuleSpec]:
    return [rule for rule in policy.rules if rule.direction == direction]


def _parts(policy: PolicySpec, among: Sequence[PolicySpec], direction: Direction) -> list[PolicySpec]:
    """Return a policy with the parts of its object that close nothing by themselves: rules for some of its pods."""
    others = (each for each in among if each.key == policy.key and direction not in each.isolates)
    return [policy, *others]


def _is_refusal(rule: RuleSpec) -> bool:
    """Return whether a rule refuses some, and not everything."""
    everything = rule.ports is None and any(len(peers) == 1 and _is_everybody(peers[0]) for peers, _ in rule.peers)
    return rule.action == "Deny" and rule.name != AUTHENTICATED and not everything


def _is_everybody(peer: Peer) -> bool:
    return peer in _EVERYBODY or (isinstance(peer, Block) and not peer.excepted and is_everything(peer.cidr))


def _is_closed_by_refusals(network: Network, subject: int, direction: Direction, turn: float) -> bool:
    """Return whether refusals alone close an end: nothing in the tier allows anything, or closes it on purpose."""
    policies = [entry.policy for entry in network.entries(subject, direction) if entry.policy.turn == turn]
    for policy in policies:
        stated = [rule for part in _parts(policy, policies, direction) for rule in _rules(part, direction)]
        if not stated or not all(map(_is_refusal, stated)):
            return False
    return bool(policies)


def _finding(
    simulation: Simulation, policy: PolicySpec, direction: Direction, closed: list[int], first: RuleSpec
) -> Finding:
    ends = [simulation.network.universe.endpoints[number] for number in closed]
    pointer = first.pointer[:-1]
    member = "fromEntities" if direction == "ingress" else "toEntities"
    fix = f"fix: add `enableDefaultDeny: {{{direction}: false}}`, or `{direction}: [{{{member}: [all]}}]` as well"
    if policy.key[:2] in CALICO:
        fix = f"fix: add `action: Allow` as the last rule of {direction}, or a policy of a later `order` with it"
    unseen = simulation.world.unseen.reason(ResourceKey(*policy.key[:2], ends[0].namespace, ""))
    more = f" and {count(len(ends) - 1, 'other')}" if len(ends) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{policy.key} denies some {direction}, which closes all other {direction} of {ends[0]}{more}",
        policy.resource.location(*pointer, key=True),
        resources=(policy.key, *(end.key for end in ends[:20])),
        label=f"whatever a policy says of {direction}, its pods are closed to all that nothing allows",
        confidence="assumed" if unseen else "certain",
        ground=f"a policy that was not seen may allow more ({unseen})" if unseen else "",
        help=(fix,),
        field=path(pointer),
    )
