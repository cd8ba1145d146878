"""What becomes of each policy: its verdict, the rules that never decide, and who disagrees with whom.

M is what a policy matches: its subjects, known peers and addresses, ports. D is the part of M that it decides itself.
D empty and M not: Overridden. D smaller than M: PartiallyEnforced. Pass decides within its tier, not for those below.
Only what is certain takes anything away from others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.model import ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import KINDS
from policylint.network.ports import PortSpec
from policylint.network.rules import (
    DIRECTIONS,
    Block,
    Direction,
    Entity,
    HostNames,
    Peer,
    Pods,
    PolicySpec,
    RuleSpec,
)
from policylint.network.state import Class, Network, verdict
from policylint.network.walk import Clash, Entry, Stretch, clashes, is_together, isolating, row, tiers
from policylint.spaces.addresses import cidr

Decider = tuple[int, "RuleSpec | None"]
"""The number of a policy, and its rule; a NetworkPolicy decides as a whole."""


class Overlap(NamedTuple):
    """Traffic on which two policies of one tier and priority act differently, and nobody else decided before.

    Args:
        subjects, peers: sets of ends; the first are those that the policies select.
        first, second: numbers of the policies.
        harmless: whether the outcome is the same either way.
    """

    direction: Direction
    subjects: int
    peers: int
    ports: int
    first: int
    second: int
    harmless: bool


class RuleState(NamedTuple):
    """A rule, and what is left of it.

    Args:
        shadowed: no, partly or fully.
        always: whether one earlier rule contains it in any cluster, by its selectors.
        by: who decides instead.
    """

    rule: RuleSpec
    shadowed: str
    always: bool
    by: tuple[Decider, ...]


class NetworkStatus(NamedTuple):
    """The verdict on one object.

    Args:
        by: the policies that decide instead, or disagree.
        subjects: the set of ends that it selects; `perhaps` those that it may select.
        numbers: of its policies in the network; Cilium's `specs` are several.
    """

    key: ResourceKey
    verdict: str
    by: tuple[ResourceKey, ...]
    subjects: int
    perhaps: int
    rules: tuple[RuleState, ...]
    numbers: tuple[int, ...]


class NetworkStatuses(NamedTuple):
    """The verdicts on all policies, sorted, and the overlaps that nothing orders."""

    policies: tuple[NetworkStatus, ...]
    overlaps: tuple[Overlap, ...]


class _Tally:
    """What was found of each policy and rule, over all classes."""

    def __init__(self) -> None:
        self.matched: set[int] = set()
        self.decided: set[int] = set()
        self.lost: dict[int, set[int]] = {}
        self.rules_matched: set[tuple[int, int]] = set()
        self.rules_decided: set[tuple[int, int]] = set()
        self.rules_lost: dict[tuple[int, int], dict[tuple[int, int], Decider]] = {}
        self.overlaps: list[Overlap] = []


class _Left:
    """Some ports: who is left for the tier, who was passed on, and who was decided by whom."""

    __slots__ = ("passed", "ports", "rest", "taken")

    def __init__(self, ports: int, rest: int, passed: int, taken: list[tuple[Decider, str, int]]) -> None:
        self.ports, self.rest, self.passed, self.taken = ports, rest, passed, taken

    def decide(self, decider: Decider, action: str, peers: int) -> None:
        taken = peers & self.rest
        if taken:
            self.taken.append((decider, action, taken))
            self.rest &= ~taken
            if action == "Pass":
                self.passed |= taken


def statuses(network: Network) -> NetworkStatuses:
    """Return what becomes of every policy of a network."""
    tally = _Tally()
    for direction in DIRECTIONS:
        for group in network.classes(direction):
            entries = network.entries(group.first, direction)
            if entries:
                _walk(network, group, direction, entries, tally)
    by_key: dict[ResourceKey, list[int]] = {}
    for number, policy in enumerate(network.policies):
        if policy.key[:2] not in KINDS:  # the mode that closes all pods
            continue
        by_key.setdefault(policy.key, []).append(number)
    conflicts: dict[int, set[int]] = {}
    for overlap in tally.overlaps:
        conflicts.setdefault(overlap.first, set()).add(overlap.second)
        conflicts.setdefault(overlap.second, set()).add(overlap.first)
    return NetworkStatuses(
        tuple(_status(network, key, numbers, tally, conflicts) for key, numbers in sorted(by_key.items())),
        tuple(tally.overlaps),
    )


def _status(
    network: Network, key: ResourceKey, numbers: list[int], tally: _Tally, conflicts: dict[int, set[int]]
) -> NetworkStatus:
    policies = network.policies
    sure = perhaps = 0
    for number in numbers:
        sure |= network.subjects[number].sure
        perhaps |= network.subjects[number].maybe
    rivals = {policies[rival].key for number in numbers for rival in conflicts.get(number, ())}
    losses = {policies[number].key for own in numbers for number in tally.lost.get(own, ())} - {key}
    by: set[ResourceKey] = set()
    if any(policies[number].refused for number in numbers):
        verdict = "Invalid"
    elif network.universe.facts.idle:
        verdict = "NoEffect"
    elif rivals:
        verdict, by = "Conflicted", rivals
    elif not perhaps:
        verdict = "TargetNotFound" if network.is_whole(policies[numbers[0]]) else "Unknown"
    elif not sure:
        verdict = "Unknown"
    elif tally.matched & set(numbers) and not tally.decided & set(numbers):
        verdict, by = "Overridden", losses
    else:
        verdict, by = ("PartiallyEnforced", losses) if losses else ("Enforced", by)
    rules: dict[int, RuleState] = {}  # of a rule for several selections one is enough that it decides for
    for own in numbers:
        for rule in policies[own].rules:
            if id(rule) not in rules or rules[id(rule)].shadowed == "fully":
                rules[id(rule)] = _rule(network, own, rule, tally)
    return NetworkStatus(key, verdict, tuple(sorted(by)), sure, perhaps, tuple(rules.values()), tuple(numbers))


def _rule(network: Network, number: int, rule: RuleSpec, tally: _Tally) -> RuleState:
    place = (number, id(rule))
    by = tuple(tally.rules_lost.get(place, {}).values())
    if place not in tally.rules_matched or not by:
        return RuleState(rule, "no", False, ())
    shadowed = "partly" if place in tally.rules_decided or _means_unseen(rule) else "fully"
    policy = network.policies[number]
    always = shadowed == "fully" and any(
        other is not None and contains(network.policies[decider], other, policy, rule) for decider, other in by
    )
    return RuleState(rule, shadowed, always, by)


def _means_unseen(rule: RuleSpec) -> bool:
    """Return whether a rule is about ends that no manifest shows: nodes, domain names."""
    ends = ("some nodes", "names", "services")
    peers = [peer for among, _ in rule.peers for peer in among]
    return any(isinstance(peer, HostNames) or (isinstance(peer, Entity) and peer.name in ends) for peer in peers)


def _walk(network: Network, group: Class, direction: Direction, entries: Sequence[Entry], tally: _Tally) -> None:
    universe = network.universe
    known = universe.shown
    if group.members.bit_count() == 1:
        known &= ~group.members
    states = [_Left(universe.ports.all, known, 0, [])]
    for groups in tiers(entries):
        for policies in groups:
            if is_together(policies):
                _network_policies(states, policies, known, tally, is_last=policies is groups[-1])
                continue
            _overlaps(network, group, direction, entries, policies, states, tally)
            for entry in policies:
                for rule, parts in entry.rules:
                    _match(states, entry, rule, parts, known, tally)
        for state in states:
            _close(state, isolating(groups), known, tally)
            state.rest |= state.passed
            state.passed = 0
            state.taken = [taken for taken in state.taken if taken[1] != "Pass"]


def _overlaps(
    network: Network,
    group: Class,
    direction: Direction,
    entries: Sequence[Entry],
    policies: Sequence[Entry],
    states: list[_Left],
    tally: _Tally,
) -> None:
    below: list[Entry] = []
    for clash in clashes(policies, [(state.ports, state.rest) for state in states]):
        below = below or [entry for entry in entries if entry.policy.turn > policies[0].policy.turn]
        harmless = _is_harmless(network, clash, below)
        overlap = (direction, group.members, clash.peers, clash.ports, clash.first, clash.second, harmless)
        tally.overlaps.append(Overlap(*overlap))


def _is_harmless(network: Network, clash: Clash, below: Sequence[Entry]) -> bool:
    """Return whether Pass leads to the same end as the other action."""
    if "Pass" not in clash.actions:
        return False
    other = next(action for action in clash.actions if action != "Pass")
    after = row(below, network.universe.everything, network.universe.ports.all)
    return verdict(after, clash.peers, clash.ports) == {"Allow": "allowed", "Deny": "denied"}[other]


def _match(
    states: list[_Left], entry: Entry, rule: RuleSpec, parts: Iterable[Stretch], known: int, tally: _Tally
) -> None:
    """Let a rule of a cluster policy take what it matches, and note what others took of that before."""
    for part in parts:
        matched = part.maybe & known
        if not matched:
            continue
        for state in _split(states, part.ports):
            _note(state, entry, rule, matched, tally)
            if entry.certain:
                state.decide((entry.number, rule), rule.action, part.sure & known)


def _note(state: _Left, entry: Entry, rule: RuleSpec | None, matched: int, tally: _Tally) -> None:
    """Note what a policy or one of its rules matches, decides and loses on some ports."""
    number, place = entry.number, (entry.number, id(rule))
    hit, lost = matched & state.rest, matched & ~state.rest
    tally.matched.add(number)
    tally.rules_matched.add(place)
    if hit:
        tally.decided.add(number)
        tally.rules_decided.add(place)
    if lost:
        for decider, _, peers in state.taken:
            if peers & lost:
                tally.rules_lost.setdefault(place, {})[decider[0], id(decider[1])] = decider
                if decider[0] != number:
                    tally.lost.setdefault(number, set()).add(decider[0])


def _network_policies(
    states: list[_Left], entries: Sequence[Entry], known: int, tally: _Tally, *, is_last: bool
) -> None:
    """Note what NetworkPolicies decide together: everything that is left, in each direction in which they isolate.

    Args:
        is_last: whether nothing of their tier comes after them, and gets what they do not allow.
    """
    is_first = not any(state.taken for state in states)  # then none of them loses anything
    for entry in entries:
        for rule, parts in entry.rules:
            if is_first and (entry.number, id(rule)) in tally.rules_decided:
                continue
            for part in parts:
                for state in states:
                    if part.ports & state.ports and part.maybe & known:
                        _note(state, entry, rule, part.maybe & known, tally)
    for state in states:
        for entry in isolating([entries]):
            _note(state, entry, None, known, tally)
    for entry in () if is_last else entries:
        for rule, parts in entry.rules if entry.certain else ():
            for part in parts:
                for state in _split(states, part.ports):
                    state.decide((entry.number, None), rule.action, part.sure & known)


def _close(state: _Left, closing: Sequence[Entry], known: int, tally: _Tally) -> None:
    """Let the policies that isolate a subject take what is left at the end of their tier."""
    rest = state.rest
    for entry in closing:
        if not is_together([entry]):
            _note(state, entry, None, rest or known, tally)
    for entry in closing:
        if entry.certain:
            state.taken.append(((entry.number, None), "Deny", rest))
            state.rest = 0


def _split(states: list[_Left], ports: int) -> list[_Left]:
    """Return the states of some ports, split where they reach beyond them."""
    found = []
    for state in list(states):
        if state.ports & ports:
            if state.ports & ~ports:
                states.append(_Left(state.ports & ~ports, state.rest, state.passed, list(state.taken)))
                state.ports &= ports
            found.append(state)
    return found


def contains(outer_policy: PolicySpec, outer: RuleSpec, inner_policy: PolicySpec, inner: RuleSpec) -> bool:
    """Return whether a rule matches whatever another one does, in any cluster, as far as their selectors tell."""
    if outer_policy.subject is None or inner_policy.subject is None:
        return False
    if outer_policy.key != inner_policy.key and not _covers(outer_policy.subject, inner_policy.subject):
        return False
    peers = all(
        any(
            len(outer_peers) == len(inner_peers) == 1 and _covers(outer_peers[0], inner_peers[0])
            for outer_peers, _ in outer.peers
        )
        for inner_peers, _ in inner.peers
    )
    return peers and (outer.ports is None or (inner.ports is not None and _covers_ports(outer.ports, inner.ports)))


def _covers(outer: Peer, inner: Peer) -> bool:
    if outer == inner or outer == Entity("everything"):
        return True
    if isinstance(outer, Pods) and isinstance(inner, Pods):
        if outer.family != inner.family or outer.home not in (None, inner.home):
            return False
        pairs = ((outer.namespaces, inner.namespaces), (outer.pods, inner.pods))
        return all(
            wide.get(field) in (None, {}, [])
            or (isinstance(narrow.get(field), dict) and wide[field].items() <= narrow[field].items())
            or (
                isinstance(narrow.get(field), list) and all(requirement in narrow[field] for requirement in wide[field])
            )
            for wide, narrow in pairs
            for field in ("matchLabels", "matchExpressions")
        )
    if isinstance(outer, Block) and isinstance(inner, Block):
        wide_range, narrow_range = cidr(outer.cidr), cidr(inner.cidr)
        return (
            wide_range is not None
            and narrow_range is not None
            and not outer.excepted
            and outer.family == inner.family
            and wide_range.low <= narrow_range.low
            and narrow_range.high <= wide_range.high
        )
    return False


def _covers_ports(outer: Iterable[PortSpec], inner: Iterable[PortSpec]) -> bool:
    return all(
        any(
            wide.certain
            and narrow.certain
            and wide.protocol in ("", narrow.protocol)
            and (
                wide.name == narrow.name
                if wide.name or narrow.name
                else wide.low <= narrow.low <= narrow.high <= wide.high
            )
            for wide in outer
        )
        for narrow in inner
    )
