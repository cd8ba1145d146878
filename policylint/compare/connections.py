"""GWP620 and the connections that a change opens and closes: both sides over one set of ends, ports and addresses.

Only what is certain on both sides is compared. A workload that is new or gone is said once, not once per pair.
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
    from policylint.network.rules import Direction
    from policylint.network.state import Network
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


class Contact(NamedTuple):
    """Sources and targets, as sets of ends, that could connect on other ports before.

    Args:
        carried: whether a mesh carries the connections of one of them on one side alone.
    """

    sources: int
    targets: int
    was: int
    now: int
    carried: bool


def differences(both: Both) -> Iterator[Contact]:
    """Yield what is certain on both sides and differs, by ends that no policy tells apart."""
    outside = both.after.universe.addresses.all
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
                    was, was_perhaps = (
                        former.open(source, target, each) for each in _ports(source, target, ingress[0], egress[0])
                    )
                    now, now_perhaps = (
                        latter.open(source, target, each) for each in _ports(source, target, ingress[1], egress[1])
                    )
                    if (was ^ now) & ~((was ^ was_perhaps) | (now ^ now_perhaps)):
                        yield Contact(source, target, was, now, bool(moved & (source | target)))


def _pairs(both: Both, environment: str) -> Iterator[ConnectionChange]:
    outside = both.after.universe.addresses.all
    joined: dict[tuple[int, int, int], list[Contact]] = {}
    for each in differences(both):
        joined.setdefault((each.sources, each.was, each.now), []).append(each)
    universe = both.after.universe
    several = universe.several | both.before.universe.several
    from policylint.network.connections import apart

    for (source, was, now), listed in joined.items():
        target = 0
        for part in listed:
            target |= part.targets
        gained, lost = now & ~was, was & ~now
        change: Change = "opened" if not was else "closed" if not now else "widened" if gained else "narrowed"
        assert gained or lost
        is_carried = any(each.carried for each in listed)
        by = tuple(sorted(set(responsible(both, source, target, all_=is_carried))))
        for senders, receivers in apart(source, target, several):
            yield ConnectionChange(
                environment,
                tuple(names_of(both, senders)),
                tuple(names_of(both, receivers)),
                universe.ports.words(was),
                universe.ports.words(now),
                change,
                by,
                "mesh" if is_carried else "policy" if by else "labels",
                bool((senders | receivers) & outside),
            )


def _atoms(bits: int, masks: Iterable[int]) -> list[int]:
    """Return the coarsest parts of a set that no mask divides."""
    parts = [bits]
    for mask in set(masks):
        parts = [inner for part in parts for inner in (part & mask, part & ~mask) if inner]
    return parts


def _ports(source: int, target: int, ingress: Row, egress: Row) -> tuple[int, int]:
    """Return the ports on which sources certainly get to targets, and those on which they perhaps do."""
    sure = perhaps = 0
    for column in ingress:
        for way in egress:
            ports = column.ports & way.ports
            if ports and source & column.allowed and target & way.allowed:
                perhaps |= ports
                if not source & column.denied and not target & way.denied:
                    sure |= ports
    return sure, perhaps


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
    for (keys, _), numbers in sorted(no_longer_isolated(both).items()):
        yield _finding(sides, both, keys, numbers)


def no_longer_isolated(both: Both) -> dict[tuple[tuple[ResourceKey, ...], str], list[int]]:
    """Return the ends that were isolated for ingress, and that anybody outside may reach now, by why and by role."""
    outside = both.after.universe.addresses.all
    opened: dict[tuple[tuple[ResourceKey, ...], str], list[int]] = {}
    for number, end in enumerate(both.after.universe.endpoints[:-2]):
        before = both.before.universe.endpoints[number]
        if not (_is_known(end) and _is_known(before)) or (end.role == "pods" and end.labels != before.labels):
            continue
        if any(_is_open(column.allowed & ~column.denied, outside) for column in both.before.row(number, "ingress")):
            continue
        row = both.after.row(number, "ingress")
        isolated = any(entry.isolates for entry in both.after.entries(number, "ingress"))
        if any(_is_open(column.allowed & ~column.denied, outside) for column in row):
            keys = tuple(sorted(set(responsible(both, 0, 1 << number)))) if isolated or both.changed else ()
            opened.setdefault((keys, end.role), []).append(number)
    return opened


def _is_known(end: Endpoint) -> bool:
    """Return whether an end is a workload, or what a Service selects."""
    return end.role == "workload" or (end.role == "pods" and bool(end.labels))


def _service(end: Endpoint) -> ResourceKey:
    return ResourceKey("", "Service", end.namespace, end.key.name)


def _is_open(allowed: int, outside: int) -> bool:
    return allowed & outside == outside


def _finding(sides: Sides, both: Both, keys: tuple[ResourceKey, ...], numbers: list[int]) -> Finding:
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
    ground = "the pods are in no manifest: they have the labels that the Service selects" if unseen else ""
    outside = both.after.universe.addresses.all
    if any(_is_open(each.allowed, outside) for number in numbers for each in both.before.row(number, "ingress")):
        ground = "whether they were isolated before is not known"
    return Finding(
        RULE,
        "error",
        f"{names} {are} no longer isolated, and can be reached from anywhere: {why}",
        resource.name_location,
        resources=(subjects[0], *keys, *subjects[1:20]),
        label="no network policy blocks outside connections to all of its ports any more",
        environments=(sides.after.world.name,),
        confidence="assumed" if ground else "certain",
        ground=ground,
    )
