"""GWP325 for network policies that allow more than before, deny less or close fewer pods, though no pods here show it.

Connections are compared between the pods that are there. A selector says who may come later, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import Literal

from policylint.checks.kit.locations import path
from policylint.compare.change import EnvironmentChange
from policylint.compare.pairing import Sides
from policylint.documents import Pointer
from policylint.implementations import network_policies
from policylint.model import Finding, Resource, ResourceKey, World, is_symbolic, mapping, sequence
from policylint.model.selectors import is_empty, matches, within
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.network.kinds import KINDS, has_policies
from policylint.network.ports import PortSpec
from policylint.network.rules import (
    ANYBODY,
    DIRECTIONS,
    TOGETHER,
    Action,
    Block,
    Direction,
    Peer,
    Pods,
    PolicySpec,
    RuleSpec,
)
from policylint.simulation import Simulation
from policylint.spaces.addresses import cidr, without

RULE = "GWP325"
UNSEEN, OTHERS_UNSEEN = "no such pods were seen", "others than were seen may be among its pods"
_MOST_COMPARED = 20_000
"""Pairs of peers in one environment."""
Peers = tuple[Peer, ...]
_Stated = tuple[ResourceKey, str]
"""A policy by its identity and what it says whom it is for."""


def peers_widened(
    sides: Sides, environment: EnvironmentChange, of_connections: Iterable[Finding] = ()
) -> Iterator[Finding]:
    """Yield the network policies that allow more, deny less or close fewer pods, where no connection shows it for
    certain and nothing is told of those that may open.

    Args:
        of_connections: what GWP620 and GWP621 tell.
    """
    if not has_policies(sides.before.world):
        return
    certain = (each for each in environment.connections if not each.ground)
    told = {key for each in certain if each.change in ("opened", "widened") for key in each.by}
    told |= {key for finding in of_connections for key in finding.resources}
    before, after, pairing = sides
    for opening in (*_opened(before, after, told), *_left_open(before, after, pairing.removed, told)):
        if opening.is_likely:
            yield _finding(opening, after.world)


def for_unseen_pods(sides: Sides) -> Iterator[tuple[Resource, str]]:
    """Yield the network policies that do something else to pods that nobody saw, each with what it does.

    What they open is a finding where such pods may well be there: those of `peers_widened` are told first.
    """
    if not has_policies(sides.after.world) and not has_policies(sides.before.world):
        return
    before, after, pairing = sides
    for closing in (*_opened(after, before), *_left_open(after, before, pairing.added)):
        policy, action = closing.policy, closing.action
        now = after.world.get(pairing.key(policy.key))
        if not closing.is_likely or not _may_have_unseen(sides, policy.subject):
            continue  # what was seen is all there is, and of that connections tell
        if action == "Isolate":
            does = f"limits {listing(closing.directions)} of pods that it did not limit before"
        elif now is None:
            does = "is gone, and what it allowed with it"
        else:
            at = path(closing.pointer)
            does = f"allows fewer connections than before: {at} changes" if action == "Allow" else f"denies more: {at}"
        yield policy.resource if now is None else now, f"{does}; {_unseen(sides, policy.subject)}"
    kept = _namespaces(after.world.resources)
    departed = _namespaces(before.world.resources) - kept  # with all that was in them
    for opening in _left_open(before, after, pairing.removed):
        policy = opening.policy
        if policy.key.namespace not in departed and _may_have_unseen(sides, policy.subject):
            now = after.world.get(pairing.key(policy.key))
            does = f"{'is gone' if now is None else 'changes'}, and nothing else limits {listing(opening.directions)}"
            yield policy.resource if now is None else now, f"{does}; {_unseen(sides, policy.subject)}"


def _unseen(sides: Sides, subject: Peer | None) -> str:
    """Return which of the pods that a policy may be for were not seen."""
    seen = (end for end in _ends(sides) if end.role == "workload")
    is_of_one = isinstance(subject, Pods) and subject.home is not None and any(_selects(subject, end) for end in seen)
    return OTHERS_UNSEEN if is_of_one else UNSEEN


def _may_have_unseen(sides: Sides, subject: Peer | None) -> bool:
    """Tell whether a policy may be for pods that were not seen: something may make some, or none of its were."""
    if _may_have_pods(sides.after.world, subject):
        return True
    return isinstance(subject, Pods) and not any(_selects(subject, end) for end in _ends(sides))


def _ends(sides: Sides) -> Iterator[Endpoint]:
    return (end for side in sides[:2] for end in side.network.universe.endpoints)


def _may_have_pods(world: World, subject: Peer | None) -> bool:
    """Tell whether something that was not seen may make pods where a policy is for some."""
    home = subject.home if isinstance(subject, Pods) and subject.home is not None else ""
    return bool(world.unseen.reason(ResourceKey("apps", "Deployment", home, "")))


class _Opening(NamedTuple):
    """What a network policy opens that was closed.

    Args:
        policy: that of the side on which it allows, or no longer denies or closes.
        action: what it allows, denied, or that it isolated.
        pointer: of the peers; () for one that isolated.
        directions: in which it isolated.
        is_likely: of one that isolated, whether such pods may well be there.
    """

    policy: PolicySpec
    action: Action | Literal["Isolate"]
    pointer: Pointer = ()
    directions: tuple[Direction, ...] = ()
    is_likely: bool = True


def _changed(
    before: Simulation, after: Simulation, told: Collection[ResourceKey]
) -> tuple[list[PolicySpec], list[PolicySpec]]:
    """Return the network policies of each side that the other one does not have as they are, but those told of."""
    sides = before.network.policies, after.network.policies
    stated: list[dict[_Stated, list[PolicySpec]]] = [defaultdict(list), defaultdict(list)]
    for policies, by in zip(sides, stated, strict=True):
        for policy in policies:
            by[policy.key, policy.subject_text].append(policy)
    kept = {
        key
        for key in stated[0].keys() & stated[1].keys()
        if any(each[1:] == stated[0][key][-1][1:] for each in stated[1][key])
    }
    former, latter = (
        [each for each in policies if (each.key, each.subject_text) not in kept and each.key not in told]
        for policies in sides
    )
    return former, latter


def _opened(before: Simulation, after: Simulation, told: Collection[ResourceKey] = ()) -> Iterator[_Opening]:
    """Yield the peers to whom network policies allow what they did not, or no longer deny it."""
    comparison = _Comparison(after.world, after.network.universe.endpoints)
    former, latter = _changed(before, after, told)
    for policy in latter:
        yield from comparison.wider(policy, before.network.policies, "Allow")
    for policy in former:
        yield from comparison.wider(policy, after.network.policies, "Deny")


def _left_open(
    before: Simulation, after: Simulation, gone: Iterable[ResourceKey], told: Collection[ResourceKey] = ()
) -> Iterator[_Opening]:
    """Yield the network policies that isolated pods which nothing isolates any more.

    Args:
        gone: the objects that the side before has alone.
    """
    former, _ = _changed(before, after, told)
    lived_in, left = (_namespaces(keys if former else ()) for keys in (after.world.resources, gone))
    for policy in former:
        if isinstance(policy.subject, Pods):
            for opening in _no_longer_closed(after.world, policy, policy.subject, after.network.policies):
                is_likely = _may_be_there(before, after, policy.subject, lived_in, left)
                yield opening._replace(is_likely=is_likely)


def _namespaces(keys: Iterable[ResourceKey]) -> frozenset[str]:
    """Return the namespaces of what is no network policy."""
    return frozenset(key.namespace for key in keys if key[:2] not in KINDS)


def _no_longer_closed(world: World, policy: PolicySpec, subject: Pods, new: Sequence[PolicySpec]) -> Iterator[_Opening]:
    """Yield where a policy closed pods that no policy of the other side closes and that may be there.

    Pods that were seen are compared themselves; those of a selector without any may have gone with what made them.
    """
    open_now = tuple(
        direction
        for direction in DIRECTIONS
        if direction in policy.isolates
        and not all(
            any(direction in each.isolates and each.subject and _within(part, each.subject, world) for each in new)
            for part in _parts(subject)
        )
    )
    if open_now:
        yield _Opening(policy, "Isolate", directions=open_now)


def _finding(opening: _Opening, world: World) -> Finding:
    """Return the finding of what a change opens in a world, which is that of the side after."""
    policy, action, pointer, directions, _ = opening
    now = world.get(policy.key)
    if action == "Isolate":
        home = policy.subject.home if isinstance(policy.subject, Pods) else None
        everyone = isinstance(policy.subject, Pods) and is_empty(policy.subject.pods)
        place = f"other pods in namespace {home}" if home else "other pods"
        does = "is gone" if now is None else "selects fewer pods"
        whose = place if everyone else "the pods that it selected"
        says = f"{does}, and nothing else limits {listing(directions)} of {whose}"
        label = "no such pods were seen"
    else:
        allows = action == "Allow"
        does = "allows connections that were not allowed before" if allows else "denies fewer connections than before"
        says, label = f"{does}: {path(pointer)}", "no pods of this repository match yet"
    at_rule = action == "Allow"
    resource = policy.resource if at_rule or now is None else now
    return Finding(
        RULE,
        "warning",
        f"{policy.key} {says}",
        resource.location(*pointer) if at_rule else resource.name_location,
        resources=(policy.key,),
        label=label,
        environments=(world.name,),
    )


def _may_be_there(
    before: Simulation, after: Simulation, subject: Pods, lived_in: frozenset[str], left: frozenset[str]
) -> bool:
    """Tell whether pods of a selector may be there after a change that were not seen before.

    Where it selects pods that were seen, these are compared themselves; where it selects none, what makes them is not
    rendered, and may have gone with the policy.

    Args:
        lived_in: the namespaces in which there is anything after the change, and `left` those from which anything went.
    """
    home = subject.home
    if home is None or is_symbolic(home):
        return is_empty(subject.pods)
    if home not in lived_in:
        return False
    if is_empty(subject.pods):
        return True
    if any(_selects(subject, each) for each in before.network.universe.endpoints):
        return False
    return home not in left and _may_have_pods(after.world, subject)


def _selects(subject: Pods, end: Endpoint) -> bool:
    """Tell whether a selection in one namespace, or of all of them, has some pods."""
    return end.is_pod and subject.home in (None, end.namespace) and matches(subject.pods, end.labels)


def _parts(subject: Pods) -> list[Pods]:
    """Return a selection by the values of the first label of which it lists several: others may close them in turn."""
    expressions = sequence(subject.pods.get("matchExpressions"))
    for number, expression in enumerate(map(mapping, expressions)):
        values = sequence(expression.get("values"))
        if expression.get("operator") == "In" and len(values) > 1:
            return [
                subject._replace(
                    pods={
                        **subject.pods,
                        "matchExpressions": [
                            *expressions[:number], {**expression, "values": [value]}, *expressions[number + 1 :]
                        ],
                    }
                )
                for value in values
            ]  # fmt: skip
    return [subject]


def lets_in_more(before: World, after: World) -> bool:
    """Tell whether the network policies of a world allow more than those of another one, or close less, to anybody."""
    old, new, comparison = network_policies(before, {}), network_policies(after, {}), _Comparison(after, ())
    closed, closes = ({(each.key, way) for each in side for way in each.isolates} for side in (old, new))
    ways = (
        (policy, others, action, direction)
        for action, own, others in (("Allow", new, old), ("Deny", old, new))
        for policy in own
        for direction in DIRECTIONS
    )
    return bool(closed - closes) or any(next(comparison.new(*way), None) is not None for way in ways)  # type: ignore[arg-type]


class _Comparison:
    """The peers of one environment; more of them than are compared count as seen before.

    Args:
        endpoints: the ends of connections that were seen.
    """

    def __init__(self, after: World, endpoints: Sequence[Endpoint]) -> None:
        self._after = after
        self._endpoints = endpoints
        self._compared = 0

    def wider(self, policy: PolicySpec, others: Sequence[PolicySpec], action: Action) -> Iterator[_Opening]:
        """Yield the first peers of a policy, in each direction, that no policy of the other side has.

        Only pods may be peers that nobody sees; addresses are compared at the pods that a policy is for, where all of
        these were seen.
        """
        for direction in DIRECTIONS:
            new = self.new(policy, others, action, direction)
            found = next((pointer for peers, pointer in new if _is_pods(peers) or not self._is_seen(policy)), None)
            if found is not None:
                yield _Opening(policy, action, found)

    def _is_seen(self, policy: PolicySpec) -> bool:
        """Tell whether the pods that a policy is for were seen, and nothing may make more of them."""
        subject = policy.subject
        if not isinstance(subject, Pods) or not any(_selects(subject, each) for each in self._endpoints):
            return False
        return not _may_have_pods(self._after, subject)

    def new(
        self, policy: PolicySpec, others: Sequence[PolicySpec], action: Action, direction: Direction
    ) -> Iterator[tuple[Peers, Pointer]]:
        """Yield the peers of a policy in a direction that no policy of the other side has."""
        around = [each for each in others if each.tier == policy.tier and self._covers(policy, each)]
        if action == "Allow" and (policy.tier == TOGETHER or policy.isolates) and not _closes(around, direction):
            return  # it closes what was open
        rules = [each for other in around for each in other.rules if _is(each, direction, action)]
        for rule in policy.rules:
            if not _is(rule, direction, action) or rule.doubt:
                continue
            for peers, pointer in rule.peers:
                if not any(self._is_among(peers, each) and _ports_within(rule.ports, each.ports) for each in rules):
                    yield peers, (*rule.pointer, *pointer)

    def _covers(self, policy: PolicySpec, other: PolicySpec) -> bool:
        return (
            policy.subject is not None
            and other.subject is not None
            and _within(policy.subject, other.subject, self._after)
        )

    def _is_among(self, peers: Peers, rule: RuleSpec) -> bool:
        for others, _ in rule.peers:
            self._compared += 1
            if self._compared > _MOST_COMPARED or _all_within(peers, others, self._after):
                return True
        return False


def _is(rule: RuleSpec, direction: Direction, action: Action) -> bool:
    return rule.direction == direction and rule.action == action


def _is_pods(peers: Peers) -> bool:
    return any(isinstance(each, Pods) for each in peers)


def _closes(policies: Collection[PolicySpec], direction: Direction) -> bool:
    return any(direction in each.isolates for each in policies)


def _all_within(peers: Peers, others: Peers, world: World) -> bool:
    """Return whether whoever is all of some peers is all of others."""
    return all(any(_within(own, other, world) for own in peers) for other in others) if others else not peers


def _within(own: Peer, other: Peer, world: World) -> bool:
    if own == other or other == ANYBODY or _has_variable(own) or _has_variable(other):
        return True
    if isinstance(own, Pods) and isinstance(other, Pods):
        return _places_within(own, other, world) and within(own.pods, other.pods) and own.beside in ("", other.beside)
    if isinstance(own, Block) and isinstance(other, Block):
        wide, around = cidr(own.cidr), cidr(other.cidr)
        if wide is None or around is None:
            return own.cidr == other.cidr
        gaps = [gap for each in other.excepted if (gap := cidr(each)) is not None]
        left = without([wide], sorted(gap for each in own.excepted if (gap := cidr(each)) is not None))
        return not without(left, without([around], sorted(gaps)))
    return False


def _has_variable(peer: Peer) -> bool:
    return "${" in repr(peer)


def _places_within(own: Pods, other: Pods, world: World) -> bool:
    """Return whether the namespaces of some pods are among those of others."""
    if own.home is not None:
        labels = world.namespace_labels(own.home)
        if other.home is not None or labels is None:
            return other.home in (None, own.home)
        return matches(other.namespaces, labels)
    if other.home is not None:
        return within(own.namespaces, {"matchLabels": {"kubernetes.io/metadata.name": other.home}})
    return within(own.namespaces, other.namespaces)


def _ports_within(own: tuple[PortSpec, ...] | None, other: tuple[PortSpec, ...] | None) -> bool:
    """Return whether some ports are among others."""
    if other is None or own is None:
        return other is None
    pairs = product(own, other)
    inside = {
        each
        for each, wide in pairs
        if each == wide
        or (
            not each.name
            and not wide.name
            and wide.protocol in ("", each.protocol)
            and wide.low <= each.low <= each.high <= wide.high
        )
    }
    return inside == set(own)


__all__ = ["for_unseen_pods", "lets_in_more", "peers_widened"]
