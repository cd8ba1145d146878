"""GWP620 and the connections that a change opens and closes: both sides over one set of ends, ports and addresses.

Where manifests leave open what policies let through on one side, that is told with `perhaps` and its ground: that a
protection may be gone is nothing to be silent about. Of pods whose labels nobody knows only what is certain counts. A
workload that is new or gone is said once, not once per pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from policylint.model import Finding, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import has_policies

if TYPE_CHECKING:
    from policylint.compare.pairing import Sides
    from policylint.network.endpoints import Endpoint
    from policylint.network.meshes import Inside
    from policylint.network.rules import Direction
    from policylint.network.state import Network
    from policylint.network.universe import Universe
    from policylint.network.walk import Row

RULE = "GWP620"
Change = Literal["opened", "closed", "widened", "narrowed"]


class ConnectionChange(NamedTuple):
    """Every source with every target: what could connect before and after.

    Args:
        sources, targets: names of ends; no target for a workload that is new or gone.
        before, after: ports, `none`; for a workload `absent` or `present`.
        by: the policies that were changed and bear on one of the ends; where a mesh is the cause, all that do.
        because: policy, labels, mesh, workload added, workload removed.
        exposed: whether one end is outside the cluster.
        ground: what is not known, as a clause; empty where it is certain.
    """

    environment: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    before: str
    after: str
    change: Change
    by: tuple[ResourceKey, ...]
    because: str
    exposed: bool
    ground: str = ""


class Both(NamedTuple):
    """The networks of both sides, with the same numbers for ends, ports and addresses."""

    before: Network
    after: Network
    changed: frozenset[ResourceKey]

    @property
    def common(self) -> int:
        """The ends that both sides have."""
        return self.before.universe.shown & self.after.universe.shown


def connection_changes(sides: Sides) -> tuple[ConnectionChange, ...]:
    """Return what a change opens and closes, what is exposed first; nothing where no network policy is in sight."""
    both = both_networks(sides)
    if both is None:
        return ()
    name = sides.after.world.name
    found = [*_workloads(both, name), *_pairs(both, name)]
    return tuple(sorted(found, key=lambda change: (not change.exposed, change.by, change.targets, change.sources)))


def both_networks(sides: Sides) -> Both | None:
    """Return both networks, None where nothing that they rest on differs."""
    worlds = sides.before.world, sides.after.world
    if not any(map(has_policies, worlds)):
        return None
    from policylint.network.state import Network

    former, latter = sides.before.network, sides.after.network
    rosters = [by_name(network) for network in (former, latter)]
    rosters[0] = _as_called_after(sides, *rosters)
    specs = [{(policy.key, policy.subject_text): policy for policy in network.policies} for network in (former, latter)]
    changed = frozenset(
        key
        for key, text in specs[0].keys() | specs[1].keys()
        if _rules(specs[0].get((key, text))) != _rules(specs[1].get((key, text)))
    )
    known = [network.universe.facts for network in (former, latter)]
    if known[0].idle != known[1].idle:  # each policy acts, or ceases to act
        changed |= {policy.key for network in (former, latter) for policy in network.policies}
    spaces = [
        {end.namespace: world.namespace_labels(end.namespace) for end in roster.values() if end.is_pod}
        for world, roster in zip(worlds, rosters, strict=True)
    ]
    if not changed and known[0] == known[1] and _bare(rosters[0]) == _bare(rosters[1]) and spaces[0] == spaces[1]:
        return None
    names = [*rosters[0], *(name for name in rosters[1] if name not in rosters[0])]
    networks = []
    for world, roster, network, other in zip(worlds, rosters, (former, latter), (latter, former), strict=True):
        ends = [roster.get(name) or _absent(rosters[0].get(name) or rosters[1][name]) for name in names]
        others = (end for end in other.universe.endpoints)
        networks.append(Network(world, network.policies, ends, other.policies, others, network.tunnel))
    return Both(networks[0], networks[1], changed)


def by_name(network: Network) -> dict[str, Endpoint]:
    """Return the ends of a network by their names, but for those that stand for nodes and the API server; proxies that
    may be in several places as they are where they most likely run."""
    ends = network.universe.endpoints[:-2]
    return {name: ends[number] for name, number in network.numbers.items() if number < len(ends)}


def _as_called_after(sides: Sides, old: dict[str, Endpoint], new: dict[str, Endpoint]) -> dict[str, Endpoint]:
    """Return the ends of the side before by the names of the side after: workloads may move to other namespaces."""
    called = {end.key: name for name, end in new.items() if end.role == "workload" and name not in old}
    moved = {
        name: called[now]
        for name, end in old.items()
        if end.role == "workload" and (now := sides.pairing.key(end.key)) in called and now.name == end.key.name
    }
    return {moved.get(name, name): end for name, end in old.items()}


def _rules(policy: object) -> object:
    return None if policy is None else policy[1:]  # type: ignore[index]


def _bare(roster: dict[str, Endpoint]) -> dict[str, Endpoint]:
    return {name: end._replace(resource=None) for name, end in roster.items()}


def _absent(end: Endpoint) -> Endpoint:
    """Return an end that keeps the place of one that only the other side has."""
    return type(end)("absent", end.key, "", alternative=True)


def _workloads(both: Both, environment: str) -> Iterator[ConnectionChange]:
    for before, after in zip(both.before.universe.endpoints, both.after.universe.endpoints, strict=True):
        if "absent" in (before.role, after.role) and "workload" in (before.role, after.role):
            added = before.role == "absent"
            yield ConnectionChange(
                environment,
                (str(after if added else before),),
                (),
                "absent" if added else "present",
                "present" if added else "absent",
                "opened" if added else "closed",
                (),
                f"workload {'added' if added else 'removed'}",
                False,
            )


def _groups(both: Both, direction: Direction) -> list[tuple[int, Row, Row]]:
    """Return the ends that both sides have, by their rows on both."""
    from policylint.network.connections import groups

    pairs = []
    for members, row in groups(both.before, direction):
        for others, after in groups(both.after, direction):
            if members & others & both.common:
                pairs.append((members & others & both.common, row, after))
    return pairs


class OpenPorts(NamedTuple):
    """The ports on which sources get to targets.

    Args:
        sure: those on which they do for certain.
        more: those on which they may.
    """

    sure: int
    more: int = 0

    @property
    def perhaps(self) -> int:
        """All on which they may, those that are certain among them."""
        return self.sure | self.more


class Contact(NamedTuple):
    """Sources and targets, as sets of ends, that could connect on other ports before.

    Args:
        carried: whether a mesh carries the connections of one of them on one side alone.
    """

    sources: int
    targets: int
    was: OpenPorts
    now: OpenPorts
    carried: bool

    @property
    def gained(self) -> int:
        """The ports on which more is open than before: where that is certain, else where it may be."""
        return self.now.sure & ~self.was.perhaps or (self.now.sure & ~self.was.sure) | (
            self.now.perhaps & ~self.was.perhaps
        )

    @property
    def ground(self) -> str:
        """What is not known of what is gained, or else lost; empty where it is certain."""
        more, less = (self.now, self.was) if self.gained else (self.was, self.now)
        if more.sure & ~less.perhaps:
            return ""
        when = "were kept apart before" if self.was.more else "are kept apart"
        return f"whether they {when} is not known"


def differences(both: Both) -> Iterator[Contact]:
    """Yield what differs, by ends that no policy tells apart."""
    outside = both.after.universe.addresses.all
    unseen = both.before.universe.open | both.after.universe.open
    former, latter = both.before.inside, both.after.inside
    carried = [former.members, latter.members]
    moved = former.members ^ latter.members
    sources = _groups(both, "egress")
    for targets, *ingress in _groups(both, "ingress"):
        for senders, *egress in sources:
            if ingress[0] == ingress[1] and egress[0] == egress[1] and not (senders | targets) & moved:
                continue
            masks_in = [mask for row in ingress for column in row for mask in (column.allowed, column.denied)]
            masks_out = [mask for row in egress for column in row for mask in (column.allowed, column.denied)]
            for source in _atoms(senders, [*masks_in, *carried, outside]):
                for target in _atoms(targets, [*masks_out, *carried, outside]):
                    if (source | target) & ~outside == 0:
                        continue
                    was = _open(former, source, target, ingress[0], egress[0])
                    now = _open(latter, source, target, ingress[1], egress[1])
                    is_carried = bool(moved & (source | target))
                    if was.sure & ~now.perhaps | now.sure & ~was.perhaps:
                        yield Contact(source, target, OpenPorts(was.sure), OpenPorts(now.sure), is_carried)
                    elif was != now and source & ~unseen and target & ~unseen:
                        yield Contact(source & ~unseen, target & ~unseen, was, now, is_carried)


def _pairs(both: Both, environment: str) -> Iterator[ConnectionChange]:
    outside = both.after.universe.addresses.all
    joined: dict[tuple[int, OpenPorts, OpenPorts], list[Contact]] = {}
    for each in differences(both):
        joined.setdefault((each.sources, each.was, each.now), []).append(each)
    universe = both.after.universe
    several = universe.several | both.before.universe.several
    from policylint.network.connections import apart

    for (source, was, now), listed in joined.items():
        target = 0
        for part in listed:
            target |= part.targets
        change: Change
        if listed[0].gained:
            change = "widened" if was.sure else "opened"
        else:
            change = "narrowed" if now.sure else "closed"
        is_carried = any(each.carried for each in listed)
        by = tuple(sorted(set(responsible(both, source, target, all_=is_carried))))
        for senders, receivers in apart(source, target, several):
            yield ConnectionChange(
                environment,
                tuple(names_of(both, senders)),
                tuple(names_of(both, receivers)),
                _in_words(universe, was),
                _in_words(universe, now),
                change,
                by,
                "mesh" if is_carried else "policy" if by else "labels",
                bool((senders | receivers) & outside),
                listed[0].ground,
            )


def _in_words(universe: Universe, ports: OpenPorts) -> str:
    """Return `TCP 80`, `perhaps all`, `TCP 80, perhaps TCP 443`, `none`."""
    words = universe.ports.words
    if not ports.more:
        return words(ports.sure)
    perhaps = f"perhaps {words(universe.ports.all if ports.perhaps == universe.ports.all else ports.more)}"
    return f"{words(ports.sure)}, {perhaps}" if ports.sure else perhaps


def _atoms(bits: int, masks: Iterable[int]) -> list[int]:
    """Return the coarsest parts of a set that no mask divides."""
    parts = [bits]
    for mask in set(masks):
        parts = [inner for part in parts for inner in (part & mask, part & ~mask) if inner]
    return parts


def _open(inside: Inside, source: int, target: int, ingress: Row, egress: Row) -> OpenPorts:
    """Return the ports on which sources get to targets."""
    sure = perhaps = 0
    for column in ingress:
        for way in egress:
            ports = column.ports & way.ports
            if ports and source & column.allowed and target & way.allowed:
                perhaps |= ports
                if not source & column.denied and not target & way.denied:
                    sure |= ports
    sure, perhaps = (inside.open(source, target, ports) for ports in (sure, perhaps))
    return OpenPorts(sure, perhaps & ~sure)


def responsible(both: Both, sources: int, targets: int, *, all_: bool = False) -> Iterator[ResourceKey]:
    """Yield the changed policies, or all, that bear on one of the ends."""
    for network in (both.before, both.after):
        for policy, selected in zip(network.policies, network.subjects, strict=True):
            met = {"egress": selected.maybe & sources, "ingress": selected.maybe & targets}
            if (all_ or policy.key in both.changed) and any(met[way] for way in policy.ways):
                yield policy.key


def names_of(both: Both, bits: int) -> Iterator[str]:
    from policylint.network.selecting import numbers_of

    universe = both.after.universe
    count = len(universe.endpoints)
    numbers = list(numbers_of(bits))
    yield from sorted(str(universe.endpoints[number]) for number in numbers if number < count)
    yield from universe.addresses.words(number for number in numbers if number >= count)


def isolation_removed(sides: Sides) -> Iterator[Finding]:
    """Yield GWP620: workloads that were isolated for ingress, and that anybody outside may reach now.

    Pods that nobody saw count where a Service selects them: their labels are at least those that it asks for.
    """
    both = both_networks(sides)
    if both is None:
        return
    for (keys, _, reached), numbers in sorted(no_longer_isolated(both).items()):
        yield _finding(sides, both, keys, numbers, reached)


Reached = Literal["from anywhere", "perhaps from anywhere", "not from anywhere"]
Why = tuple[tuple[ResourceKey, ...], str, tuple[Reached, Reached]]
"""The policies that do it, the role of the ends, and whether anybody outside may reach them, before and after."""


def no_longer_isolated(both: Both) -> dict[Why, list[int]]:
    """Return the ends that were isolated for ingress, and that anybody outside may reach now, by why.

    Where that is not certain, they are ends of which all labels are known (as in `differences`).
    """
    opened: dict[Why, list[int]] = {}
    for number, end in enumerate(both.after.universe.endpoints[:-2]):
        before = both.before.universe.endpoints[number]
        if not (_is_known(end) and _is_known(before)) or (end.role == "pods" and end.labels != before.labels):
            continue
        was = _reached(both.before, number)
        now = "from anywhere" if was == "from anywhere" else _reached(both.after, number)
        if was == now or now == "not from anywhere" or ((end.open or before.open) and "perhaps" in f"{was} {now}"):
            continue
        isolated = any(entry.isolates for entry in both.after.entries(number, "ingress"))
        keys = tuple(sorted(set(responsible(both, 0, 1 << number)))) if isolated or both.changed else ()
        opened.setdefault((keys, end.role, (was, now)), []).append(number)
    return opened


def _reached(network: Network, number: int) -> Reached:
    """Return whether anybody outside may connect to an end, on one port at least."""
    outside, row = network.universe.addresses.all, network.row(number, "ingress")
    if any(_is_open(column.allowed & ~column.denied, outside) for column in row):
        return "from anywhere"
    may = any(_is_open(column.allowed, outside) for column in row)
    return "perhaps from anywhere" if may else "not from anywhere"


def _is_known(end: Endpoint) -> bool:
    """Return whether an end is a workload, or what a Service selects."""
    return end.role == "workload" or (end.role == "pods" and bool(end.labels))


def _service(end: Endpoint) -> ResourceKey:
    return ResourceKey("", "Service", end.namespace, end.key.name)


def _is_open(allowed: int, outside: int) -> bool:
    return allowed & outside == outside


def _finding(
    sides: Sides, both: Both, keys: tuple[ResourceKey, ...], numbers: list[int], reached: tuple[Reached, Reached]
) -> Finding:
    from policylint.model.words import leading

    ends = [both.after.universe.endpoints[number] for number in numbers]
    seen = (sides.after.world.get(key) for key in keys)
    unseen = ends[0].role == "pods"
    at = sides.after.world.get(_service(ends[0])) if unseen else ends[0].resource
    resource = next(filter(None, seen), None) or at
    assert resource is not None
    gone = [key for key in keys if sides.after.world.get(key) is None]
    why = f"{leading(gone, 3)} is gone" if gone else f"{leading(keys, 3)} changed" if keys else "labels changed"
    idle = both.after.universe.facts.idle
    why = idle if idle and not both.before.universe.facts.idle else why
    subjects = [_service(end) if unseen else end.key for end in ends]
    names = leading((f"the pods of {key}" if unseen else str(key) for key in subjects), 3)
    are = "is" if len(ends) == 1 and not unseen else "are"
    was, now = reached
    if "perhaps from anywhere" in reached:
        ground = (
            f"whether they {'were isolated before' if was == 'perhaps from anywhere' else 'are isolated'} is not known"
        )
    else:
        ground = "the pods are in no manifest: they have the labels that the Service selects" if unseen else ""
    is_now = f"no longer isolated, and can be reached {now}" if now == "from anywhere" else "perhaps no longer isolated"
    return Finding(
        RULE,
        "error" if now == "from anywhere" else "warning",
        f"{names} {are} {is_now}: {why}",
        resource.name_location,
        resources=(subjects[0], *keys, *subjects[1:20]),
        label="no network policy blocks outside connections to all of its ports any more"
        if now == "from anywhere"
        else "perhaps no network policy blocks outside connections to all of its ports any more",
        environments=(sides.after.world.name,),
        confidence="assumed" if ground else "certain",
        ground=ground,
    )
