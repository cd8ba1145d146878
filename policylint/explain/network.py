"""What network policies mean for one object: a policy's subjects and rules, who reaches a workload, whom it reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite

from policylint.explain.fact import Fact
from policylint.explain.subject import Subject
from policylint.model.words import leading
from policylint.network.connections import groups
from policylint.network.kinds import KINDS, NOT_EVALUATED, SENDING, has_policies
from policylint.network.rules import DIRECTIONS, TOGETHER, Direction
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.network.status import NetworkStatus, RuleState

_MOST = 6
_BAD = frozenset({"Conflicted", "Invalid", "Overridden", "TargetNotFound"})


def facts(subject: Subject) -> Iterator[Fact]:
    """Yield what network policies make of an object; nothing for one that they are not about."""
    simulation, key, _ = subject
    if not has_policies(simulation.world):
        return
    network = simulation.network
    if key[:2] in KINDS:
        status = next((status for status in network.statuses.policies if status.key == key), None)
        if status is not None:
            yield from _of_policy(network, status)
    elif str(key) in network.numbers:
        yield from of_workload(network, network.numbers[str(key)])


def _of_policy(network: Network, status: NetworkStatus) -> Iterator[Fact]:
    policy = network.policies[status.numbers[0]]
    by = f" by {leading(status.by, _MOST)}" if status.by else ""
    reason = policy.refused or network.universe.facts.idle
    why = f": {reason}" if reason else ""
    yield Fact("status", f"{status.verdict}{by}{why}", status.verdict in _BAD)
    if policy.refused:
        return
    if policy.key[:2] in NOT_EVALUATED:
        about = "what gets out of" if policy.key[:2] in SENDING else "what gets to or from"
        yield Fact("evaluated", f"no: what it does, and {about} the pods that it may select, is not known")
        perhaps = _ends(network, status.perhaps | status.subjects)
        yield Fact("may select", perhaps or "no pod that was seen")
        return
    order = f"priority {policy.priority:g}" if isfinite(policy.priority) else "without an order: last"
    yield Fact("tier", policy.tier if policy.tier == TOGETHER else f"{policy.tier}, {order}")
    yield Fact("selects", _ends(network, status.subjects) or "no pod that was seen")
    unsure = _ends(network, status.perhaps & ~status.subjects)
    if unsure:
        yield Fact("perhaps", unsure)
    isolates = [name for name in DIRECTIONS if any(name in network.policies[n].isolates for n in status.numbers)]
    if isolates:
        yield Fact("isolates", f"for {' and '.join(isolates)}")
    for state in status.rules:
        yield Fact(f"{state.rule.direction}[{state.rule.position}]", _rule(network, status, state), False)


def _rule(network: Network, status: NetworkStatus, state: RuleState) -> str:
    """Return a rule in words: action, peers and ports as they are found here, who decides instead."""
    rule = state.rule
    subject = next(numbers_of(status.subjects or status.perhaps), None)
    way = "from" if rule.direction == "ingress" else "to"
    words = f"{rule.action}{f' «{rule.name}»' if rule.name else ''}"
    if subject is not None:
        parts = network.meaning.parts(rule, subject)
        universe = network.universe
        said = [
            f"{way} {_ends(network, part.maybe) or 'no workload that was seen'} on {universe.ports.words(part.ports)}"
            for part in parts[:_MOST]
        ]
        words = f"{words} {'; '.join(said) or f'{way} no workload that was seen'}"
    if state.shadowed != "no":
        names = dict.fromkeys(
            str(network.policies[number].key) + (f" {other.direction}[{other.position}]" if other is not None else "")
            for number, other in state.by
        )
        extent = "decides nothing" if state.shadowed == "fully" else "partly decided"
        words = f"{words}; {extent}{', in any cluster' if state.always else ''}: {leading(names, _MOST)} before it"
    return words


def of_workload(network: Network, subject: int) -> Iterator[Fact]:
    """Yield by what a workload is isolated, who reaches it and whom it reaches; the workload by number."""
    if network.universe.facts.idle:
        yield Fact("network", network.universe.facts.idle)
    for direction in DIRECTIONS:
        isolating = [entry for entry in network.entries(subject, direction) if entry.isolates]
        names = dict.fromkeys(f"{'' if entry.certain else 'perhaps '}{entry.policy.key}" for entry in isolating)
        others = dict.fromkeys(
            str(entry.policy.key) for entry in network.entries(subject, direction) if not entry.isolates
        )
        words = f"isolated by {leading(names, _MOST)}" if names else "not isolated"
        yield Fact(direction, words + (f"; ruled by {leading(others, _MOST)}" if others else ""))
    for direction, name in (("ingress", "reached by"), ("egress", "reaches")):
        for certain, ports, peers in sorted(_peers(network, subject, direction), key=_exposure(network)):
            listed = _ends(network, peers)
            if listed:
                doubt = "" if certain else "perhaps "
                yield Fact(name, f"{doubt}{listed} on {network.universe.ports.words(ports)}")


def _exposure(network: Network) -> Callable[[tuple[bool, int, int]], tuple[bool, bool, int]]:
    """Return the order of rows: what is open to the outside first, then what is certain, then the most ends."""
    outside = network.universe.addresses.all
    return lambda row: (not row[2] & outside, not row[0], -row[2].bit_count())


def _peers(network: Network, subject: int, direction: Direction) -> Iterable[tuple[bool, int, int]]:
    """Return who is at the other end, by certainty and ports; itself where it stands for several pods."""
    own = 1 << subject
    others = ~own | network.universe.several
    other: Direction = "egress" if direction == "ingress" else "ingress"
    found: dict[tuple[bool, int], int] = {}
    by_peer: dict[tuple[bool, int], int] = {}
    within = 0
    for column in network.row(subject, direction):
        within |= column.allowed
    for members, row in groups(network, other, within & network.universe.shown & others):
        for column in network.row(subject, direction):
            for way in row:
                ports = column.ports & way.ports
                peers = members & column.allowed & others
                if ports and peers and way.allowed & own:
                    sure = peers & ~column.denied if not way.denied & own else 0
                    for certain, part in ((True, sure), (False, peers & ~sure)):
                        if part:
                            by_peer[certain, part] = by_peer.get((certain, part), 0) | ports
    for (certain, peers), ports in by_peer.items():
        found[certain, ports] = found.get((certain, ports), 0) | peers
    return [(certain, ports, peers) for (certain, ports), peers in found.items()]


def _ends(network: Network, bits: int) -> str:
    """Return a set of ends in words, addresses first; many are counted."""
    universe = network.universe
    count = len(universe.endpoints)
    shown = bits & universe.shown
    outside = universe.addresses.words(number for number in numbers_of(shown) if number >= count)
    if bits & universe.addresses.all == universe.addresses.all:
        outside = ["anywhere outside"]
    inside = [number for number in numbers_of(shown) if number < count]
    if len(inside) > _MOST and shown & universe.pods == universe.shown & universe.pods:
        return ", ".join([*outside, f"all {len(inside)} workloads"])
    return leading([*outside, *sorted(str(universe.endpoints[number]) for number in inside)], _MOST)
