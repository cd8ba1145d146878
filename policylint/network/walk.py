"""One subject, one direction: the tiers in order, for all peers and ports at once, or for one of them step by step.

    1  Admin            by priority, then position: Allow and Deny decide; Pass skips the rest of the tier
    2  NetworkPolicy    if any policy isolates the subject: what one of them allows, and nothing else
    3  Baseline         as Admin
    4  default          allow

Engines may order policies of their own in these tiers, and have more of them: what no policy of a tier decides is
denied at its end if one of them isolates the subject.

Source: kubernetes-sigs/network-policy-api apis/v1alpha2/clusternetworkpolicy_types.go; docs/network.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policylint.namedtuple import NamedTuple
from policylint.network.ports import PortSpec
from policylint.network.rules import AMONG, TOGETHER, Action, PolicySpec, RuleSpec
from policylint.network.selecting import Chosen
from policylint.network.universe import Universe


class Stretch(NamedTuple):
    """Peers on ports. Where `sure` is a part of `maybe`, the rest may or may not be meant."""

    ports: int
    sure: int
    maybe: int


class Entry(NamedTuple):
    """A policy as it bears on one subject in one direction.

    Args:
        number: of the policy.
        certain: whether it selects the subject for certain.
        isolates: whether it closes the subject in this direction.
        rules: those of this direction, each with its parts for this subject.
    """

    number: int
    policy: PolicySpec
    certain: bool
    isolates: bool
    rules: tuple[tuple[RuleSpec, tuple[Stretch, ...]], ...]


class Column(NamedTuple):
    """Some ports, with the peers that may be allowed on them.

    Args:
        perhaps: those of them that may be denied as well.
        everything: all peers; who is not allowed is denied.
    """

    ports: int
    allowed: int
    perhaps: int
    everything: int

    @property
    def denied(self) -> int:
        """The peers that may be denied."""
        return self.everything & ~self.allowed | self.perhaps


Row = tuple[Column, ...]
"""What one subject is open to in one direction; the ports of the columns are disjoint, and all ports together."""


class Meaning:
    """What rules mean among the ends of a world, each worked out once."""

    __slots__ = ("_plain", "universe")

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self._plain: dict[int, tuple[RuleSpec, Chosen, tuple[Stretch, ...], tuple[PortSpec, ...]]] = {}

    def parts(self, rule: RuleSpec, subject: int) -> tuple[Stretch, ...]:
        """Return the parts of a rule for one subject, by number: names of ports are the destination's to resolve."""
        known = self._plain.get(id(rule))
        if known is None:
            known = self._plain[id(rule)] = (rule, *self._plain_of(rule))
        _, peers, plain, others = known
        if not others or not peers.maybe:
            return plain
        parts = list(plain)
        for spec in others:
            if not spec.certain:
                parts.append(Stretch(self.universe.ports.of(PortSpec(spec.protocol)), 0, peers.maybe))
            elif rule.direction == "ingress":
                endpoint = self.universe.endpoints[subject]
                named = self.universe.named_at(endpoint, spec.name, spec.protocol)
                if named:
                    parts.append(Stretch(named, peers.sure, peers.maybe))
                elif endpoint.open:
                    parts.append(Stretch(self.universe.ports.of(PortSpec(spec.protocol)), 0, peers.maybe))
            else:
                for pods, named in self.universe.named(spec.name, spec.protocol):
                    if peers.maybe & pods:
                        parts.append(Stretch(named, peers.sure & pods, peers.maybe & pods))
                unseen = peers.maybe & self.universe.open
                if unseen:
                    parts.append(Stretch(self.universe.ports.of(PortSpec(spec.protocol)), 0, unseen))
        return tuple(parts)

    def _plain_of(self, rule: RuleSpec) -> tuple[Chosen, tuple[Stretch, ...], tuple[PortSpec, ...]]:
        """Return the peers of a rule, what it says of ports that have a number, and the other ports."""
        peers = Chosen()
        for alternatives, _ in rule.peers:
            meant = Chosen(self.universe.everything, self.universe.everything)
            for peer in alternatives:
                meant &= self.universe.select(peer)
            peers |= meant if alternatives else Chosen()
        others = tuple(spec for spec in rule.ports or () if spec.name or not spec.certain)
        ports = self.universe.ports.all if rule.ports is None else 0
        for spec in rule.ports or ():
            if not spec.name and spec.certain:
                ports |= self.universe.ports.of(spec)
        plain = (Stretch(ports, peers.sure, peers.maybe),) if ports and peers.maybe else ()
        return peers, plain, others


class _State:
    """Some ports during a walk: who is undecided, passed on, and may be allowed or denied."""

    __slots__ = ("allowed", "denied", "passed", "ports", "rest")

    def __init__(self, ports: int, rest: int, passed: int = 0, allowed: int = 0, denied: int = 0) -> None:
        self.ports, self.rest, self.passed, self.allowed, self.denied = ports, rest, passed, allowed, denied

    def split(self, ports: int) -> _State:
        """Return what is outside some ports as a state of its own, and keep what is inside."""
        other = _State(self.ports & ~ports, self.rest, self.passed, self.allowed, self.denied)
        self.ports &= ports
        return other

    def take(self, action: Action, sure: int, maybe: int) -> None:
        hit = maybe & self.rest
        if action == "Allow":
            self.allowed |= hit
        elif action == "Deny":
            self.denied |= hit
        else:
            self.passed |= hit
        self.rest &= ~sure


def _at(states: list[_State], ports: int) -> Iterator[_State]:
    """Yield the states of some ports, split where they reach beyond them."""
    for state in list(states):
        if state.ports & ports and state.rest:
            if state.ports & ~ports:
                states.append(state.split(ports))
            yield state


def row(entries: Sequence[Entry], everything: int, ports: int) -> Row:
    """Return what a subject is open to in one direction."""
    states = [_State(ports, everything)]
    for groups in tiers(entries):
        for group in groups:
            (_network_policies if is_together(group) else _cluster_policies)(states, group)
        _close(states, isolating(groups))
        for state in states:
            state.rest |= state.passed
            state.passed = 0
    merged: dict[tuple[int, int], int] = {}
    for state in states:
        allowed = state.allowed | state.rest
        outcome = (allowed, allowed & state.denied)
        merged[outcome] = merged.get(outcome, 0) | state.ports
    return tuple(sorted(Column(its_ports, *outcome, everything) for outcome, its_ports in merged.items()))


def tiers(entries: Sequence[Entry]) -> Iterator[list[list[Entry]]]:
    """Yield the tiers in order, each with its policies in groups of which nothing orders the members: those of one
    priority, and all NetworkPolicies."""
    found: dict[float, dict[tuple[float, str], list[Entry]]] = {}
    for entry in entries:
        policy = entry.policy
        place = (AMONG, "") if policy.tier == TOGETHER else (policy.priority, policy.after)
        found.setdefault(policy.turn, {}).setdefault(place, []).append(entry)
    for rank in sorted(found):
        yield [found[rank][place] for place in sorted(found[rank])]


def is_together(group: Sequence[Entry]) -> bool:
    """Return whether the policies of a group decide together."""
    return group[0].policy.tier == TOGETHER


def isolating(groups: Sequence[Sequence[Entry]]) -> list[Entry]:
    """Return the policies of a tier that close the subject to what no rule there lets through."""
    return [entry for group in groups for entry in group if entry.isolates]


def _cluster_policies(states: list[_State], group: Sequence[Entry]) -> None:
    """Let the policies of one priority decide; where they disagree, either may come first."""
    for clash in clashes(group, [(state.ports, state.rest) for state in states]):
        for state in _at(states, clash.ports):
            disputed = clash.peers & state.rest
            for action in clash.actions:
                state.take(action, 0, disputed)
            state.rest &= ~disputed
    for entry in group:
        for rule, parts in entry.rules:
            for part in parts:
                for state in _at(states, part.ports):
                    state.take(rule.action, part.sure if entry.certain else 0, part.maybe)


class Clash(NamedTuple):
    """Traffic on which two policies of one tier and priority act differently.

    Args:
        first, second: numbers of the policies.
        actions: what each would do.
    """

    first: int
    second: int
    ports: int
    peers: int
    actions: tuple[Action, Action]


def clashes(group: Sequence[Entry], left: Sequence[tuple[int, int]]) -> Iterator[Clash]:
    """Yield where policies of one priority disagree on what is left: ports, each with peers."""
    if len(group) < 2:
        return
    certain = [entry for entry in group if entry.certain]
    own = [list(_first_matches(entry, left)) for entry in certain]
    for number, first in enumerate(certain):
        for other in range(number + 1, len(certain)):
            for action, ports, peers in own[number]:
                for other_action, other_ports, other_peers in own[other]:
                    if action != other_action and ports & other_ports and peers & other_peers:
                        yield Clash(
                            first.number,
                            certain[other].number,
                            ports & other_ports,
                            peers & other_peers,
                            (action, other_action),
                        )


def _first_matches(entry: Entry, left: Sequence[tuple[int, int]]) -> Iterator[tuple[Action, int, int]]:
    """Yield what one policy alone would do with what is left: (action, ports, peers)."""
    states = [_State(ports, peers) for ports, peers in left]
    for rule, parts in entry.rules:
        for part in parts:
            for state in _at(states, part.ports):
                hit = part.sure & state.rest
                if hit:
                    yield rule.action, state.ports, hit
                    state.rest &= ~hit


def _network_policies(states: list[_State], entries: Sequence[Entry]) -> None:
    """Let the NetworkPolicies decide together: refusals first (Cilium's), then all that they allow is allowed."""
    closing = isolating([entries])
    certain = any(entry.certain for entry in closing)
    for action in ("Deny", "Allow") if closing else ("Deny",):
        for entry in entries:
            for rule, parts in entry.rules:
                for part in parts if rule.action == action else ():
                    for state in _at(states, part.ports):
                        is_sure = entry.certain and (certain or action == "Deny")
                        state.take(rule.action, part.sure if is_sure else 0, part.maybe)


def _close(states: list[_State], closing: Sequence[Entry]) -> None:
    """Deny what is left at the end of a tier of which some policies isolate the subject."""
    if any(entry.certain for entry in closing):
        for state in states:
            state.denied |= state.rest
            state.rest = 0
        return
    # None isolates for certain: what one of them lets in is open if that one selects the subject, and if none does.
    for entry in closing:
        for _, parts in entry.rules:
            for part in parts:
                list(_at(states, part.ports))  # splits the states where the parts of this policy end
        for state in states:
            kept = 0
            for rule, parts in entry.rules:
                for part in parts:
                    if rule.action != "Deny" and part.ports & state.ports:
                        kept |= part.sure
            state.denied |= state.rest & ~kept


class TierStep(NamedTuple):
    """What one tier does with one packet.

    Args:
        policy, rule: the one that acts; a NetworkPolicy without a rule isolates the pod, and no rule lets this through.
        action: Allow, Deny, Pass; a tier that says nothing about it has no step.
        certain: whether the manifests settle that.
    """

    tier: str
    action: str
    policy: PolicySpec | None = None
    rule: RuleSpec | None = None
    certain: bool = True


Takes = Callable[[RuleSpec], bool | None]
"""Whether a rule takes a request, as far as it asks for anything of requests; None where that is not known."""


def narrowed(entry: Entry, takes: Takes) -> Entry:
    """Return a policy as one request meets it: without the rules that do not take it."""
    rules = []
    for rule, parts in entry.rules:
        answer = True if rule.calls is None else takes(rule)
        if answer is not False:
            rules.append((rule, parts if answer else tuple(part._replace(sure=0) for part in parts)))
    return entry._replace(rules=tuple(rules))


def steps(entries: Sequence[Entry], peer: int, port: int) -> tuple[TierStep, ...]:
    """Return what the tiers do with one packet, down to the one that decides.

    Args:
        peer, port: the sets of the other end and of the port.
    """
    taken: list[TierStep] = []
    for groups in tiers(entries):
        matching = [step for group in groups for step in _matching(group, peer, port)]
        closing = isolating(groups)
        if closing and not any(step.certain for step in matching):
            # That which lets nobody in is what people mean by the policy that closes a pod.
            first = min(closing, key=lambda entry: (not entry.certain, bool(entry.rules)))
            matching.append(TierStep(first.policy.tier, "Deny", first.policy, None, first.certain))
        for step in matching:
            taken.append(step)
            if step.certain and step.action != "Pass":
                return tuple(taken)
            if step.certain:
                break
    return (*taken, TierStep("default", "Allow"))


def _matching(group: Sequence[Entry], peer: int, port: int) -> list[TierStep]:
    """Return the rules of a group that a packet matches, in order."""
    found = []
    for entry in group:
        for rule, parts in entry.rules:
            hit = [part for part in parts if part.ports & port and part.maybe & peer]
            if hit:
                certain = entry.certain and any(part.sure & peer for part in hit)
                found.append(TierStep(entry.policy.tier, rule.action, entry.policy, rule, certain))
    if is_together(group):
        found.sort(key=lambda step: (step.action != "Deny", not step.certain, bool(step.rule and step.rule.calls)))
        return found if isolating([group]) else [step for step in found if step.action == "Deny"]
    return found
