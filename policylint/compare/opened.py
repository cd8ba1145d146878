"""GWP621: connections that a change opens between ends that both sides have, where a network policy kept them apart.

Which ones is said by the connections themselves; here is how bad it is: whether an entry that is new, or that newly
selects them by their labels, names whom it lets in. A workload that is new was kept out by nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.compare.connections import (
    Both,
    ConnectionChange,
    Contact,
    both_networks,
    differences,
    names_of,
    no_longer_isolated,
    responsible,
)
from policylint.model import SEVERITIES, Finding, ResourceKey, Severity, mapping, sequence
from policylint.model.words import leading
from policylint.namedtuple import NamedTuple
from policylint.network.rules import DIRECTIONS, Block, Direction, Entity, HostNames, Peer, Pods, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.spaces.addresses import cidr, without

if TYPE_CHECKING:
    from policylint.compare.pairing import Sides
    from policylint.network.ports import PortSpec
    from policylint.network.state import Network

RULE = "GWP621"
_ANYBODY = frozenset({"everything", "all", "world", "world-ipv4", "world-ipv6", "cluster", "unknown", "unmanaged"})
"""Entities that name nobody in particular."""
_FAMILIES = ((0, 2**32), (2**32, 2**128))
_MOST_PORTS = 65535 // 2
"""An entry of more ports than that names none of them."""


class _Entry(NamedTuple):
    """A rule that lets in somebody now whom it did not let in before.

    Args:
        named: whether it names whom it lets in, and on which ports.
    """

    number: int
    rule: RuleSpec
    named: bool


class _Opened(NamedTuple):
    """A difference with how bad it is, and the entries that let it through."""

    difference: Contact
    severity: Severity
    entries: tuple[_Entry, ...]


def connections_opened(sides: Sides, connections: Sequence[ConnectionChange]) -> Iterator[Finding]:
    """Yield one finding for the connections that the same policies, or labels, open."""
    if not any(each.change in ("opened", "widened") for each in connections if each.targets):
        return
    both = both_networks(sides)
    if both is None:
        return
    told = perhaps = 0
    for (_, _, reached), numbers in no_longer_isolated(both).items():
        for number in numbers:
            perhaps |= 1 << number
            told |= ("perhaps from anywhere" not in reached) << number
    found: dict[tuple[tuple[ResourceKey, ...], Severity, str], list[_Opened]] = {}
    for each in differences(both):
        left = each._replace(targets=each.targets & ~(perhaps if each.ground else told))
        if left.targets and left.gained and not (left.sources == left.targets and _is_one(left.sources)):
            opened = _judged(both, left)
            is_named = bool(opened.entries) and all(entry.named for entry in opened.entries)
            if is_named and left.ground:
                continue  # an entry names whom it lets in: of what is not known besides, the rows tell
            keys = tuple(sorted(set(responsible(both, left.sources, left.targets, all_=left.carried))))
            found.setdefault((keys, opened.severity, left.ground), []).append(opened)
    certain = {keys for keys, _, ground in found if not ground}
    for (keys, severity, ground), listed in sorted(
        found.items(), key=lambda item: (item[0][0], SEVERITIES.index(item[0][1]), item[0][2])
    ):
        if ground and keys in certain:  # of what else these may open the rows tell
            continue
        finding = _finding(sides, both, keys, severity, listed)
        yield finding._replace(confidence="assumed", ground=ground) if ground else finding


def _is_one(bits: int) -> bool:
    return bits & (bits - 1) == 0


def _judged(both: Both, difference: Contact) -> _Opened:
    """Return how bad it is: an error unless an entry names them wherever something kept them apart."""
    gained = difference.gained
    pods = (1 << len(both.after.universe.endpoints) - 2) - 1
    entries: list[_Entry] = []
    is_named = True
    for direction, subjects, peers in zip(
        DIRECTIONS,
        (difference.targets, difference.sources),
        (difference.sources, difference.targets),
        strict=True,
    ):
        subject = next(numbers_of(subjects & pods), None)
        if subject is None or _allows(both.before, subject, direction, peers, gained):
            continue
        new = list(_new_entries(both, subject, direction, peers, gained))
        entries += new
        # Whom pods may call is mostly opened on purpose: there, any entry that says so will do.
        counted = [each for each in new if each.named or direction == "egress"]
        is_named = is_named and _covers(both.after, subject, direction, counted, peers, gained)
    moved = not both.changed and difference.was.sure & ~difference.now.sure
    mild = difference.carried or is_named or moved or not gained & difference.now.sure
    return _Opened(difference, "warning" if mild else "error", tuple(entries))


def _allows(network: Network, subject: int, direction: Direction, peers: int, ports: int) -> bool:
    """Return whether an end was open to all of some peers, on all of some ports, in one direction."""
    left = ports
    for column in network.row(subject, direction):
        if not peers & ~column.allowed and not peers & column.denied:
            left &= ~column.ports
    return not left


def _new_entries(both: Both, subject: int, direction: Direction, peers: int, ports: int) -> Iterator[_Entry]:
    """Yield the rules that allow some of it now and did not before, for other content or for other labels."""
    former = [
        (entry.policy.key, rule.peers, rule.ports, stretch)
        for entry in both.before.entries(subject, direction)
        for rule, stretches in entry.rules
        if rule.action == "Allow"
        for stretch in stretches
    ]
    for entry in both.after.entries(subject, direction):
        for rule, stretches in entry.rules:
            if rule.action != "Allow":
                continue
            own = [each for each in stretches if each.ports & ports and each.maybe & peers]
            if own and not any(
                (key, of_peers, of_ports) == (entry.policy.key, rule.peers, rule.ports)
                and stretch.ports & ports
                and stretch.maybe & peers
                for key, of_peers, of_ports, stretch in former
            ):
                yield _Entry(entry.number, rule, _names(rule))


def _covers(
    network: Network, subject: int, direction: Direction, entries: Iterable[_Entry], peers: int, ports: int
) -> bool:
    """Return whether some rules allow all of it together."""
    wanted = {(each.number, each.rule.pointer) for each in entries}
    left = dict.fromkeys(numbers_of(ports), peers)
    for entry in network.entries(subject, direction):
        for rule, stretches in entry.rules:
            if (entry.number, rule.pointer) in wanted:
                for stretch in stretches:
                    for port in left:
                        if stretch.ports >> port & 1:
                            left[port] &= ~stretch.sure
    return bool(wanted) and not any(left.values())


def _names(rule: RuleSpec) -> bool:
    """Return whether a rule says whom it lets in, and on which ports, and not anybody on any."""
    peers = all(any(map(_is_particular, each)) for each, _ in rule.peers if each)
    return bool(rule.peers) and peers and rule.ports is not None and all(map(_is_few, rule.ports))


def _is_few(port: PortSpec) -> bool:
    return bool(port.name) or port.high - port.low < _MOST_PORTS


def _is_particular(peer: Peer) -> bool:
    if isinstance(peer, Pods):
        return _asks(peer.pods) or _asks(peer.namespaces) or peer.home is not None
    if isinstance(peer, Entity):
        return peer.name not in _ANYBODY
    if isinstance(peer, HostNames):
        return peer.taken.type != "Present"
    return _is_small(peer)


def _asks(selector: Any) -> bool:
    """Return whether a selector says which labels there must be."""
    expressions = map(mapping, sequence(mapping(selector).get("matchExpressions")))
    return bool(mapping(selector).get("matchLabels")) or any(
        each.get("operator") in ("In", "Exists") for each in expressions
    )


def _is_small(block: Block) -> bool:
    """Return whether addresses are less than half of all, as GWP324 has it."""
    whole = cidr(block.cidr)
    if whole is None:
        return True
    left = without([whole], sorted(gap for each in block.excepted if (gap := cidr(each)) is not None))
    return all(
        sum(max(0, min(each.high, high) - max(each.low, low)) for each in left) < (high - low) // 2
        for low, high in _FAMILIES
    )


def _finding(
    sides: Sides, both: Both, keys: tuple[ResourceKey, ...], severity: Severity, listed: list[_Opened]
) -> Finding:
    world, universe = sides.after.world, both.after.universe
    first = listed[0].difference
    alike = [each.difference for each in listed if each.difference[2:] == first[2:]]
    sources = targets = 0
    for part in alike:
        if part.sources == first.sources:
            targets |= part.targets
        elif part.targets == first.targets:
            sources |= part.sources
    sources = first.sources | (sources if targets == first.targets else 0)
    told = sum(each.difference.sources & ~sources or each.difference.targets & ~targets != 0 for each in listed)
    if _is_one(targets):
        sources &= ~targets  # nobody keeps an end from itself
    callers, called = (list(names_of(both, bits)) for bits in (sources, targets))
    gone = [key for key in keys if world.get(key) is None]
    entry = next((each for opened in listed for each in opened.entries), None)
    policy = None if entry is None else both.after.policies[entry.number]
    facts = both.after.universe.facts
    if facts.idle and not both.before.universe.facts.idle:
        why = facts.idle
    elif first.carried:
        why = "a mesh carries them"
    elif gone:
        why = f"{leading(gone, 3)} {'is' if len(gone) == 1 else 'are'} gone"
    elif keys:
        why = f"{leading(keys, 3)} changed"
    elif policy is None or entry is None:
        why = "labels changed"
    elif any(port.name for port in entry.rule.ports or ()):
        why = f"{policy.key} allows a port by its name, which another one has now"
    else:
        why = f"{policy.key} selects them by labels that are new"
    ports = universe.ports.words(first.gained)
    on = "" if ports == "all" else " on every port" if first.now.sure == universe.ports.all else f" on {ports}"
    may = "can" if first.gained & first.now.sure else "can perhaps"
    more = f", and {told} more" if told else ""
    ends = [
        universe.endpoints[number]
        for bits in (targets, sources)
        for number in numbers_of(bits)
        if number < len(universe.endpoints)
    ]
    if entry is not None and policy is not None and policy.key in keys:
        location = policy.resource.location(*entry.rule.pointer)
    else:
        own = next((each for key in keys if (each := world.get(key)) is not None), None)
        of_ends = (each.resource for each in (ends[::-1] if policy is not None else ends))
        resource = own or next(filter(None, of_ends), None) or (both.before.policies[0].resource)
        location = resource.name_location
    return Finding(
        RULE,
        severity,
        f"{leading(callers, 3)} {may} connect to {leading(called, 3)}{on} now{more}: {why}",
        location,
        resources=(*keys, *dict.fromkeys(each.key for each in ends[:20])),
        label="it names them" if severity == "warning" and entry is not None else "no entry that is new names them",
        environments=(world.name,),
    )


__all__ = ["connections_opened"]
