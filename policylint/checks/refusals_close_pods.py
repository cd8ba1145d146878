"""GWP618: a policy of Cilium that refuses some, and with that closes its pods to everybody."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import acting
from policylint.model import Finding, ResourceKey
from policylint.model.words import count
from policylint.network.cilium import AUTHENTICATED
from policylint.network.kinds import CILIUM
from policylint.network.rules import DIRECTIONS, Direction, Entity, PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.simulation import Simulation

RULE = "GWP618"
_EVERYBODY = (Entity("everything"), Entity("all"))


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    for number, policy in acting(simulation):
        for direction in DIRECTIONS if policy.key[:2] in CILIUM else ():
            refusals = _refusals(policy, direction)
            selected = numbers_of(network.subjects[number].sure) if refusals else ()
            closed = [subject for subject in selected if _is_closed_by_refusals(network, subject, direction)]
            if closed:
                yield _finding(simulation, policy, direction, closed)


def _refusals(policy: PolicySpec, direction: Direction) -> list[RuleSpec]:
    """Return the rules of a policy that only refuses in one direction, and not everything; none of another one."""
    rules = [rule for rule in policy.rules if rule.direction == direction]
    others = (rule.action == "Allow" or rule.name == AUTHENTICATED or _is_everything(rule) for rule in rules)
    if direction not in policy.isolates or any(others):
        return []
    return rules


def _is_everything(rule: RuleSpec) -> bool:
    return rule.ports is None and any(len(peers) == 1 and peers[0] in _EVERYBODY for peers, _ in rule.peers)


def _is_closed_by_refusals(network: Network, subject: int, direction: Direction) -> bool:
    """Return whether refusals alone close an end: no policy allows anything, and none closes it on purpose."""
    entries = [entry for entry in network.entries(subject, direction) if entry.policy.tier == "NetworkPolicy"]
    return bool(entries) and all(_refusals(entry.policy, direction) for entry in entries)


def _finding(simulation: Simulation, policy: PolicySpec, direction: Direction, closed: list[int]) -> Finding:
    ends = [simulation.network.universe.endpoints[number] for number in closed]
    first = _refusals(policy, direction)[0]
    pointer = first.pointer[:-1]
    member = "fromEntities" if direction == "ingress" else "toEntities"
    unseen = simulation.world.unseen.reason(ResourceKey(*policy.key[:2], ends[0].namespace, ""))
    more = f" and {count(len(ends) - 1, 'other')}" if len(ends) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"{policy.key} denies some {direction}, which closes all other {direction} of {ends[0]}{more}",
        policy.resource.location(*pointer, key=True),
        resources=(policy.key, *(end.key for end in ends[:20])),
        label=f"a deny rule alone makes Cilium close the selected pods for {direction}",
        confidence="assumed" if unseen else "certain",
        ground=f"a policy that was not seen may allow more ({unseen})" if unseen else "",
        help=(
            f"fix: add `enableDefaultDeny: {{{direction}: false}}`, or `{direction}: [{{{member}: [all]}}]` as well",
        ),
        field=path(pointer),
    )
