"""Doors in the terms of the request engine: a holder of listeners, routes with rules, and guards that act on rules.

What is made here is written elsewhere: an Ingress is one object, and a listener, a route and a policy of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.doors.failing import as_marked
from policylint.doors.variables import settled
from policylint.model import Node, PolicyKind, Resolution, Resource, ResourceKey, value_at
from policylint.model.quantities import milliseconds
from policylint.model.resource import Written
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.policy.paths import ListedPaths
from policylint.policy.results import Attachment, Declared, Effective, FailingSetting, Group, Losses, Target
from policylint.regex import quoted
from policylint.topology import BackendState, Candidate, GatewayState, ListenerState, ParentState, RouteState

PROTOCOLS = {"http": "HTTP", "https": "HTTPS", "tls": "TLS", "tcp": "TCP", "udp": "UDP"}


_FLAGS = Pattern(r"\(\?[a-z]+\)")


def timed(waits: Mapping[str, object]) -> dict[str, Any]:
    """Return the timeouts of a rule, as routes have them: none of what is not stated, or is nothing."""
    stated = {name: value for name, value in waits.items() if isinstance(value, str) and milliseconds(value) != 0}
    stated = {name: value for name, value in stated.items() if value}
    return {"timeouts": stated} if stated else {}


class _Everything(Collection[ResourceKey]):
    """What has whatever is asked for, and is never gone through."""

    def __contains__(self, key: object) -> bool:
        return True

    def __iter__(self) -> Iterator[ResourceKey]:
        return iter(())

    def __len__(self) -> int:
        return 0


_EVERYTHING = _Everything()
"""The backends that need no grant, for doors that ask for none."""
Backends = Callable[[Resource, Collection[ResourceKey]], tuple[BackendState, ...]]


def granted(backends: Backends) -> Callable[[Resource], tuple[BackendState, ...]]:
    """Return what reads the backends of lowered routes that need no grant."""
    return lambda route: backends(route, _EVERYTHING)


class Guard(NamedTuple):
    """What somebody asks at a door.

    Args:
        holder: the object that states it.
        spec: the settings.
        places: of the settings in that object, by their pointers below the settings.
        failing: the settings that answer all requests with an error.
        unwritten: whether nobody wrote the settings, which say what is not known.
    """

    holder: Resource
    spec: Mapping[str, Any]
    places: Mapping[Pointer, Pointer]
    failing: Mapping[Pointer, FailingSetting] = {}
    unwritten: bool = False

    def without(self, settings: Container[str]) -> Guard:
        """Return the guard without some settings."""
        left = {name: value for name, value in self.spec.items() if name not in settings}
        failing = {at: failure for at, failure in self.failing.items() if at[0] in left}
        return self if len(left) == len(self.spec) else self._replace(spec=left, failing=failing)


def closing(holder: Resource, place: Pointer, status: int, why: str, *, certain: bool = True) -> Guard:
    """Return what answers all requests, or a part of them, for what stands at a place of an object: it is called after
    the field or annotation there, and after nothing where that is the whole object, by its name."""
    written = [each for each in place if isinstance(each, str)]
    name = "spec" if place == ("metadata", "name") else written[-1].rpartition("/")[2]
    failing: dict[Pointer, FailingSetting] = {(name,): FailingSetting(status, why, holder.key, certain)}
    return Guard(holder, {name: {"status": status}}, {(name,): place}, failing)


class Opening(NamedTuple):
    """One port of a door.

    Args:
        hostname: of the listener, where those of one port are of several protocols.
        passes: whether TLS is passed on unread.
    """

    scheme: str
    port: int
    hostname: str = ""
    passes: bool = False


class DoorRule(NamedTuple):
    """Requests for a host that one entry of a door's object takes.

    Args:
        opening: the port at which it takes them.
        name: of the rule; rules of one object and name are one rule.
        body: as a rule of a route, with `precedence`, its weights among those of the host.
        pointer: of the entry in the object.
        guards: what is asked, in order.
        unknown: why it is not known whether the rule is there; "" where it is.
    """

    holder: Resource
    opening: Opening
    host: str
    name: str
    body: Mapping[str, Any]
    pointer: Pointer
    guards: tuple[Guard, ...] = ()
    unknown: str = ""


class Door(NamedTuple):
    """Where requests come in.

    Args:
        state: with its listeners; None for what clients in the mesh come by, who meet none.
        routes: one for each object, host and port, those that may not be there apart.
        whole: by object, all of it.
        groups: the guards.
    """

    state: GatewayState | None
    routes: tuple[RouteState, ...]
    whole: Mapping[ResourceKey, RouteState]
    groups: tuple[Group, ...]
    policies: Mapping[ResourceKey, Resource]


class Elsewhere:
    """The places of what is made of an object, in that object."""

    __slots__ = ("_original", "_places")

    def __init__(self, original: Resource, places: Mapping[Pointer, Pointer]) -> None:
        self._original = original
        self._places = places

    def locate(self, pointer: Pointer) -> tuple[Written, Pointer]:
        """Return where a value is written: what it is made of, or the object's name."""
        for length in range(len(pointer), 0, -1):
            place = self._places.get(pointer[:length])
            if place is not None:
                break
        else:
            place = pointer if value_at(self._original.body, pointer) is not None else ("metadata", "name")
        location = self._original.location(*place)
        return location.document, location.pointer


def made_of(
    original: Resource, spec: Mapping[str, Any], places: Mapping[Pointer, Pointer], key: ResourceKey | None = None
) -> Resource:
    """Return an object of the engine that is written as another one."""
    body = {**original.body, "spec": spec}
    kept = original.provisional
    return Resource(
        key or original.key,
        original.version,
        body,
        original.document,
        original.root,
        Elsewhere(original, places),
        provisional=kept,
    )


def door(
    holder: Resource,
    controller: str,
    rules: Sequence[DoorRule],
    kind: PolicyKind,
    backends: Callable[[Resource], tuple[BackendState, ...]],
    openings: Iterable[Opening] = (),
    unseen: str = "",
    served_by: str = "",
    *,
    in_order: bool = False,
) -> Door:
    """Return a door with its routes and guards.

    Args:
        unseen: what was not seen and may ask of all requests.
        backends: returns the backends of an object's rules.
        openings: further ports that are open, whether or not a rule is for them.
        served_by: whose it is as far as its objects tell.
        in_order: whether its rules are tried as they stand.
    """
    rules = settled(rules, in_order=in_order)
    served: dict[Opening, set[ResourceKey]] = {opening: set() for opening in openings}
    for rule in rules:
        served.setdefault(rule.opening, set()).add(rule.holder.key)
    listeners = {opening: _listener(holder, opening, len(routes)) for opening, routes in served.items()}
    state = GatewayState(
        holder,
        holder.key,
        Resolution("unknown", unseen) if unseen else Resolution("found", "", holder),
        controller,
        (),
        tuple(listeners.values()),
        0,
        served_by=served_by,
    )
    found = _Lowered(rules, backends)
    routes = tuple(
        found.route(place, _parent(state, listeners[place.opening], place.host, place.unknown))
        for place in found.places
    )
    groups, policies = _groups(rules, {opening: listener.node for opening, listener in listeners.items()}, kind)
    return Door(state, routes, found.whole(routes), tuple(groups), policies)


def inside(
    rules: Iterable[DoorRule],
    parents: Mapping[tuple[Resource, Opening], tuple[ParentState, ...]],
    kind: PolicyKind,
    backends: Callable[[Resource], tuple[BackendState, ...]],
) -> Door:
    """Return the routes of Services for clients in the mesh, as a door without listeners.

    Args:
        parents: the Services, by object and port; those for which it has no rule are among them.
    """
    rules = settled(rules, in_order=True)
    found = _Lowered(rules, backends)
    made = {(place.holder, place.opening): place for place in found.places}
    routes = tuple(
        found.route(place, *services)
        if (place := made.get((holder.key, opening))) is not None
        else RouteState(made_of(holder, {"rules": []}, {}), ("",), services, ())
        for (holder, opening), services in parents.items()
    )
    groups, policies = _groups(rules, {}, kind)
    return Door(None, routes, found.whole(routes), tuple(groups), policies)


class _Place(NamedTuple):
    """Where the rules of an object are those of one route."""

    holder: ResourceKey
    host: str
    opening: Opening
    unknown: str


class _Lowered:
    """The objects of some rules as routes: one for each host and port, those that may not be there apart."""

    __slots__ = ("_numbers", "_whole", "places")

    def __init__(self, rules: Iterable[DoorRule], backends: Callable[[Resource], tuple[BackendState, ...]]) -> None:
        self._numbers: dict[ResourceKey, dict[str, int]] = {}
        self.places: dict[_Place, list[DoorRule]] = {}
        of_holder: dict[ResourceKey, list[DoorRule]] = {}
        for rule in rules:
            own = self._numbers.setdefault(rule.holder.key, {})
            own.setdefault(rule.name, len(own))
            of_holder.setdefault(rule.holder.key, []).append(rule)
            self.places.setdefault(_Place(rule.holder.key, rule.host, rule.opening, rule.unknown), []).append(rule)
        self._whole: dict[ResourceKey, RouteState] = {}
        for key, own in self._numbers.items():
            entries = list({rule.name: rule for rule in of_holder[key]}.values())
            hosts = tuple(dict.fromkeys(rule.host for rule in of_holder[key]))
            lowered = _lowered(entries, own, hosts)
            named = tuple(as_marked(each, lowered) for each in backends(lowered))
            self._whole[key] = RouteState(lowered, hosts, (), named)

    def route(self, place: _Place, *parents: ParentState) -> RouteState:
        """Return the route of a place."""
        entries, numbers = self.places[place], self._numbers[place.holder]
        own = {numbers[rule.name] for rule in entries}
        named = tuple(each for each in self._whole[place.holder].backends if each.rule in own)
        return RouteState(_lowered(entries, numbers, (place.host,)), (place.host,), parents, named)

    def whole(self, routes: Iterable[RouteState]) -> dict[ResourceKey, RouteState]:
        """Return all of each object, with the parents of its routes."""
        parents: dict[ResourceKey, list[ParentState]] = {}
        for each in routes:
            parents.setdefault(each.route.key, []).extend(each.parents)
        return {key: route._replace(parents=tuple(parents.get(key, ()))) for key, route in self._whole.items()}


def plain(path: str) -> str:
    """Return the expression of a text; a slash needs no escape."""
    return quoted(path).replace("\\/", "/")


def origin(exact: str) -> str | dict[str, str]:
    """Return one origin, or all with `*`, as CORS filters have it: elsewhere a `*` stands for itself here."""
    return {"regex": plain(exact)} if "*" in exact and exact != "*" else exact


def searched(pattern: str) -> str:
    """Return the expression of whole texts in which an expression is found."""
    found = _FLAGS.match(pattern)
    flags = found[0] if found else ""
    bare = pattern[len(flags) :]
    if _has_alternatives(bare):
        return f"{flags}.*(?:{bare}).*"
    start = "" if bare.startswith("^") else ".*"
    end = "" if bare.endswith("$") and not bare.endswith("\\$") else ".*"
    core = bare.removeprefix("^")
    return f"{flags}{start}{core if end else core[:-1]}{end}"


def _has_alternatives(pattern: str) -> bool:
    """Tell whether an expression is one of alternatives as a whole."""
    depth = 0
    escaped = False
    for letter in pattern:
        if escaped or letter == "\\":
            escaped = not escaped
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "|" and depth == 0:
            return True
    return False


def rule_node(key: ResourceKey, name: str) -> Node:
    """Return the node of a rule of a door's object."""
    return Node(key, name, f"{key.kind}Rule")


def _listener(holder: Resource, opening: Opening, routes: int) -> ListenerState:
    name = f"{opening.scheme}-{opening.port}" + (f"-{opening.hostname}" if opening.hostname else "")
    node = Node(holder.key, name, "Listener")
    protocol, kinds = PROTOCOLS[opening.scheme], (holder.key.kind,)
    place: Pointer = ("metadata", "name")
    if opening.passes:
        holder, place = made_of(holder, {"passed": {"tls": {"mode": "Passthrough"}}}, {}), ("spec", "passed")
    return ListenerState(
        name, node, holder, place, node.key, protocol, opening.port, opening.hostname, kinds, routes, ()
    )


def _lowered(entries: Sequence[DoorRule], numbers: Mapping[str, int], hosts: tuple[str, ...]) -> Resource:
    """Return an object as a route that has some of its rules, each at its own place."""
    bodies: list[Any] = [None] * len(numbers)
    places: dict[Pointer, Pointer] = {}
    for rule in entries:
        bodies[numbers[rule.name]] = {**rule.body, "name": rule.name}
        places["spec", "rules", numbers[rule.name]] = rule.pointer
    return made_of(entries[0].holder, {"hostnames": [host for host in hosts if host], "rules": bodies}, places)


def _parent(gateway: GatewayState, listener: ListenerState, host: str, unknown: str) -> ParentState:
    holder = gateway.gateway
    place = Candidate(listener.node, holder, ("metadata", "name"), hostnames=(host,), unknown=unknown)
    return _leading_to(holder)._replace(candidates=(place,), gateway=holder.key, controller=gateway.controller)


def called(service: Resource, port: int) -> ParentState:
    """Return a port of a Service as a parent of routes for clients in the mesh."""
    return _leading_to(service)._replace(port=port, mesh=True)


def _leading_to(holder: Resource) -> ParentState:
    """Return an object as a parent that routes have without naming it."""
    return ParentState(
        number=0,
        pointer=("metadata", "name"),
        wanted=holder.key,
        section="",
        port=None,
        text=str(holder.key),
        resolution=Resolution("found", "", holder),
        section_found=True,
        mesh=False,
        candidates=(),
        gateway=None,
        controller="",
        conditions=(),
        serves=True,
        silent=True,
    )


def _groups(
    rules: Iterable[DoorRule], listeners: Mapping[Opening, Node], kind: PolicyKind
) -> tuple[list[Group], dict[ResourceKey, Resource]]:
    """Return the guards as effective policies of rules at listeners, those of one holder and content together."""
    alike: dict[object, tuple[tuple[Guard, ...], dict[tuple[Node, ...], None]]] = {}
    policies: dict[ResourceKey, Resource] = {}
    for rule in rules:
        guards = tuple(guard for guard in rule.guards if guard.spec)
        if guards:
            place = (rule.holder.key, *((guard.holder.key, str(guard.spec)) for guard in guards))
            above = (listeners[rule.opening],) if rule.opening in listeners else ()
            way = *above, rule_node(rule.holder.key, rule.name)
            alike.setdefault(place, (guards, {}))[1][way] = None
    groups = []
    for guards, ways in alike.values():
        attachments = []
        spec: dict[str, Any] = {}
        owners: dict[Pointer, ResourceKey] = {}
        nodes = list(dict.fromkeys(way[-1] for way in ways))
        for guard in guards:
            policy = made_of(guard.holder, guard.spec, {("spec", *at): place for at, place in guard.places.items()})
            policies.setdefault(policy.key, policy)
            declared = Declared(guard.spec, ("spec",), "defaults", "atomic")
            for node in nodes:
                target = Target(("metadata", "name"), node.key, node.section, nodes=(node,))
                attachments.append(Attachment(policy, node, target, (declared,)))
            for name, value in guard.spec.items():
                if name not in spec:
                    spec[name] = value
                    if not guard.unwritten:
                        owners.update(dict.fromkeys(_leaves(value, (name,)), policy.key))
        failing = {at: failure for guard in guards for at, failure in guard.failing.items()}
        effective = Effective(spec, owners, Losses(), tuple(attachments), failing=failing)
        keys = frozenset(guard.holder.key for guard in guards)
        groups.append(Group(kind, effective, ListedPaths(tuple(ways)), dict.fromkeys(nodes, keys)))
    return groups, policies


def _leaves(value: object, at: Pointer) -> Iterator[Pointer]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*at, name))
    else:
        yield at
