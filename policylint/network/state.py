"""The network policies of one world, ready for questions: what bears on a subject, what one packet meets, all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from policylint.model import World
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.network.kinds import PODLESS
from policylint.network.meshes import Inside, Tunnels, untunnelled
from policylint.network.named import Looked, looked_up
from policylint.network.ports import PortSpec
from policylint.network.rules import DIRECTIONS, Direction, Pods, PolicySpec
from policylint.network.selecting import Chosen, bits_of, numbers_of
from policylint.network.universe import Universe
from policylint.network.walk import Entry, Meaning, Row, Takes, TierStep, narrowed, row, steps

if TYPE_CHECKING:
    from policylint.network.status import NetworkStatuses


_SINGLY = 16
"""Ends that are asked about one by one, before what bears on all of them is looked up at once."""


class PacketAnswer(NamedTuple):
    """Whether one packet gets from one end to another.

    Args:
        verdict: allowed, denied or unknown.
        egress, ingress: what the tiers at either end do with it.
    """

    verdict: str
    egress: tuple[TierStep, ...]
    ingress: tuple[TierStep, ...]


class Class(NamedTuple):
    """Subjects with the same row.

    Args:
        members: the set of them.
        first: one of them.
    """

    members: int
    first: int


class Network:
    """The network policies of one world and the ends of connections there.

    Args:
        ends: the ends, in an order of their own; by default those that the world shows.
        others, other_ends: those of the other side of a diff, which cut ports and addresses too.
        tunnel: what meshes make of connections.

    Attributes:
        policies: all of them, those that are refused among them.
        universe: the ends by number.
    """

    def __init__(
        self,
        world: World,
        policies: Sequence[PolicySpec],
        ends: Sequence[Endpoint],
        others: Iterable[PolicySpec] = (),
        other_ends: Iterable[Endpoint] = (),
        tunnel: Tunnels = untunnelled,
    ) -> None:
        self.world = world
        self.tunnel = tunnel
        self.policies = tuple(policies)
        self.universe = Universe(world, ends, policies, others, other_ends)
        self.meaning = Meaning(self.universe)
        self._bearing: dict[Direction, dict[int, list[int]]] = {direction: {} for direction in DIRECTIONS}
        self._rows: dict[tuple[object, ...], Row] = {}
        self._entries: dict[tuple[object, ...], tuple[Entry, ...]] = {}
        self._alike: dict[tuple[int, bool, Direction], Entry] = {}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each end, by its name."""
        ends = sorted(enumerate(self.universe.endpoints), key=lambda each: not each[1].alternative)
        return {str(endpoint): number for number, endpoint in ends}

    @cached_property
    def inside(self) -> Inside:
        """The ends among which a mesh carries all connections: those that it would tunnel to themselves."""
        ends, ports = self.universe.endpoints[:-2], self.universe.ports
        tunnels = {number: self.tunnel(end, end) for number, end in enumerate(ends) if end.is_pod}
        carried = {number: tunnel for number, tunnel in tunnels.items() if tunnel is not None and tunnel.certain}
        first = next(iter(carried.values()), None)
        if first is None:
            return Inside()
        return Inside(bits_of(list(carried)), ports.at("TCP", first.port), ports.of(PortSpec("TCP")), first.why)

    @cached_property
    def subjects(self) -> tuple[Chosen, ...]:
        """What each policy selects, by number."""
        selectable = self.universe.everything & ~self.universe.addresses.all
        return tuple(
            Chosen() if policy.subject is None else self.universe.governed(policy.subject).within(selectable)
            for policy in self.policies
        )

    @cached_property
    def directions(self) -> dict[Direction, list[tuple[int, Chosen]]]:
        """By direction, the policies that say anything of it, with what they select; none where none is enforced."""
        policies = () if self.universe.facts.idle else self.policies
        known = [(policy.ways, number, self.subjects[number]) for number, policy in enumerate(policies)]
        return {way: [(number, selected) for ways, number, selected in known if way in ways] for way in DIRECTIONS}

    def _bearing_on(self, subject: int, direction: Direction) -> Sequence[int]:
        """Return the policies that bear on one end, as numbers doubled, and one more where that is certain."""
        known = self._bearing[direction]
        bearing = known.get(subject)
        if bearing is None and len(known) >= _SINGLY:
            bearing = self._bearing_within(direction, None).get(subject)
        if bearing is None:  # for one question the others are not looked at
            bearing = known[subject] = [
                number * 2 + (selected.sure >> subject & 1)
                for number, selected in self.directions[direction]
                if selected.maybe >> subject & 1
            ]
        return bearing

    def may_refuse(self, subject: int, direction: Direction) -> bool:
        """Return whether an end may refuse anything for certain: where no policy bears on it for certain, all is left
        to the end, and allowed there (`walk.row`)."""
        return any(bears % 2 for bears in self._bearing_on(subject, direction))

    @cached_property
    def statuses(self) -> NetworkStatuses:
        """What becomes of every policy."""
        from policylint.network.status import statuses

        return statuses(self)

    def is_whole(self, policy: PolicySpec) -> bool:
        """Return whether all pods that a policy may select are in sight: no chart or operator makes others there."""
        if isinstance(policy.subject, Pods) and policy.subject.home is not None:
            return self.is_whole_namespace(policy.subject.home)
        return not self.world.partial and not self.universe.pods & self.universe.open

    def is_whole_namespace(self, namespace: str) -> bool:
        """Return whether all pods of a namespace are in sight.

        They are not where a chart was not rendered, in a namespace of a tree that nothing there fills, and where the
        tree has objects of kinds from which an operator may make pods.
        """
        members = self.universe.members(namespace)
        if members & self.universe.open:
            return False
        return not self.world.partial or (bool(members) and namespace not in self._with_custom_objects)

    @cached_property
    def _with_custom_objects(self) -> frozenset[str]:
        """The namespaces with objects of kinds that neither Kubernetes nor Gateway API nor a network plugin has."""
        return frozenset(
            key.namespace for key in self.world.resources if "." in key.group and not key.group.endswith(PODLESS)
        )

    def entries(self, subject: int, direction: Direction) -> tuple[Entry, ...]:
        """Return the policies that bear on an end in one direction."""
        key = self._class_of(subject, direction)
        entries = self._entries.get(key)
        if entries is None:
            entries = self._entries[key] = tuple(
                self._entry(bears // 2, bool(bears % 2), subject, direction)
                for bears in self._bearing_on(subject, direction)
            )
        return entries

    def _entry(self, number: int, certain: bool, subject: int, direction: Direction) -> Entry:
        """Return a policy as it bears on an end; without names of ports it bears on all of them alike."""
        key = (number, certain, direction)
        entry = self._alike.get(key)
        if entry is None:
            policy = self.policies[number]
            rules = [rule for rule in policy.rules if rule.direction == direction]
            meant = tuple((rule, self.meaning.parts(rule, subject)) for rule in rules)
            entry = Entry(number, policy, certain, direction in policy.isolates, meant)
            if direction == "egress" or not any(port.name for rule in rules for port in rule.ports or ()):
                self._alike[key] = entry
        return entry

    def row(self, subject: int, direction: Direction) -> Row:
        """Return what an end is open to in one direction."""
        key = self._class_of(subject, direction)
        found = self._rows.get(key)
        if found is None:
            entries = self.entries(subject, direction)
            found = self._rows[key] = row(entries, self.universe.everything, self.universe.ports.all)
        return found

    def classes(self, direction: Direction, within: int | None = None) -> list[Class]:
        """Return the ends that selectors can tell apart in one direction, by what bears on them.

        Args:
            within: only these ends; by default all of them.
        """
        members: dict[tuple[object, ...], list[int]] = {}
        by_name = direction == "ingress" and self.universe.names
        for subject, bearing in self._bearing_within(direction, within).items():
            key = self._named_class_of(subject, bearing) if by_name and bearing else tuple(bearing)
            members.setdefault(key, []).append(subject)
        return [Class(bits_of(subjects), subjects[0]) for subjects in members.values()]

    def _bearing_within(self, direction: Direction, within: int | None) -> dict[int, list[int]]:
        """Return the policies that bear on some ends, by default on all, as `_bearing_on` has them."""
        pods = (1 << len(self.universe.endpoints) - 2) - 1
        if within is not None:
            pods &= within
        bearing: dict[int, list[int]] = {subject: [] for subject in numbers_of(pods)}
        for number, selected in self.directions[direction]:
            for certain, subjects in ((1, selected.sure), (0, selected.maybe & ~selected.sure)):
                for subject in numbers_of(subjects & pods):
                    bearing[subject].append(number * 2 + certain)
        self._bearing[direction] |= bearing
        return bearing

    def _class_of(self, subject: int, direction: Direction) -> tuple[object, ...]:
        """Return what decides on an end's row."""
        bearing = self._bearing_on(subject, direction)
        if not bearing or direction == "egress" or not self.universe.names:
            return (direction, *bearing)
        return self._named_class_of(subject, bearing)

    def _named_class_of(self, subject: int, bearing: Sequence[int]) -> tuple[object, ...]:
        """Return what decides on an end's row for ingress, where rules name ports, which are the end's to resolve."""
        endpoint, names = self.universe.endpoints[subject], self.universe.names
        return ("ingress", endpoint.open, *bearing, *[port for port in endpoint.named if port.name in names])

    def check(self, subject: int, direction: Direction, peers: int, ports: int) -> str:
        """Return whether an end may talk to all of some peers on all of some ports: allowed, denied or unknown."""
        if subject >= len(self.universe.endpoints) - 2:  # nobody restricts what is no pod
            return "allowed"
        return verdict(self.row(subject, direction), peers, ports)

    def ask(self, source: int, target: int, ports: int) -> PacketAnswer:
        """Return whether an end gets to another one on some ports, both by number; an address range is an end, too."""
        verdicts, walks = [], []
        for subject, peer, direction in _sides(source, target):
            verdicts.append(self.check(subject, direction, 1 << peer, ports))
            walks.append(self.steps(subject, direction, 1 << peer, ports))
        return PacketAnswer(both(*verdicts), *walks)

    def refuses(self, source: int, target: int, ports: int) -> bool:
        """Return whether `ask` would say that an end certainly does not get to another one."""
        return any(
            self.may_refuse(subject, direction) and self.check(subject, direction, 1 << peer, ports) == "denied"
            for subject, peer, direction in _sides(source, target)
        )

    def steps(
        self, subject: int, direction: Direction, peers: int, ports: int, takes: Takes | None = None, host: str = ""
    ) -> tuple[TierStep, ...]:
        """Return what the tiers at one end do with traffic, or with one request of it, down to the one that decides.

        Args:
            host: the name by which the other end was looked up.
        """
        if subject >= len(self.universe.endpoints) - 2:
            return (TierStep("default", "Allow"),)
        looked = self.looked_up(subject, host) if host else None
        entries = self.entries(subject, direction) if looked is None else looked.entries
        return steps(entries if takes is None else [narrowed(entry, takes) for entry in entries], peers, ports)

    def looked_up(self, subject: int, host: str) -> Looked | None:
        """Return what policies make of a connection from an end to a host that it looks up; None without names."""
        return looked_up(self.entries(subject, "egress"), host, self.universe.addresses.all)


def _sides(source: int, target: int) -> tuple[tuple[int, int, Direction], ...]:
    """Return whose policies decide on a connection: each end with the other one, and the direction."""
    return (source, target, DIRECTIONS[1]), (target, source, DIRECTIONS[0])


def verdict(its_row: Row, peers: int, ports: int) -> str:
    """Return whether all of some peers get through on all of some ports: allowed, denied or unknown."""
    columns = [column for column in its_row if column.ports & ports]
    allowed, denied = (any(getattr(column, way) & peers for column in columns) for way in ("allowed", "denied"))
    return "unknown" if allowed and denied else "allowed" if allowed else "denied"


def both(*verdicts: str) -> str:
    """Return the verdict on something that needs all of several: one that is denied is enough."""
    return next((verdict for verdict in ("denied", "unknown") if verdict in verdicts), "allowed")
