"""Which VirtualServices the proxy of a client takes rules for a Service from, and which of their matches it has.

Source: istio/istio (1.30), pilot/pkg/model/virtualservice.go, SelectVirtualServices; pilot/pkg/model/sidecar.go,
computeWildcardHostVirtualServiceIndex; pilot/pkg/networking/core/httproute.go, BuildSidecarOutboundVirtualHosts (a name
is registered once: the first one has it); route/route.go, sourceMatchHTTP; listener_waypoint.go,
getVirtualServiceForWaypoint. Routes of Gateway API are VirtualServices there, too, each for its Service alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from policylint.implementations.generic.traffic import OF_LISTENER, SOURCES
from policylint.implementations.istio import labels
from policylint.implementations.istio.calling import proxy_of
from policylint.implementations.istio.mesh import Mesh, Proxy
from policylint.implementations.istio.protocols import carries_connections
from policylint.implementations.istio.visibility import Sidecars, in_full
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.hosts import is_exported, is_service_in_full
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.model.resource import NEW
from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import Leading
from policylint.policy.order import order_stated
from policylint.topology.service_ports import port_at

_SIDECAR = ("networking.istio.io", "Sidecar")
_EXACT = 1_000
"""More than the length of any wildcard."""


class _Reader(NamedTuple):
    """A proxy that reads VirtualServices.

    Args:
        namespace: of it, "" where that is not known.
        labels: of its pods, None where they are not known.
    """

    namespace: str
    labels: Mapping[str, Any] | None


class _Claim(NamedTuple):
    """What would have the requests for a Service if nothing came before it.

    Args:
        holder: the VirtualService, or the oldest of the routes of a namespace.
        leading: None for routes of Gateway API.
        tier: what comes before age.
        is_made: whether the proxy has any of its rules.
        routes: those of Gateway API.
    """

    holder: Resource
    leading: Leading | None
    tier: tuple[int, bool]
    is_made: bool = True
    routes: tuple[Leading, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """A key for sorting: routes of Gateway API of one namespace are called after that and their Service."""
        home, called = self.holder.key.namespace, self.holder.key.name
        return (*self.tier, self.holder.age[0], called if self.leading is not None else f"{home}~", home)

    def is_before(self, other: _Claim) -> bool:
        """Return whether it surely is, where it is sorted so: what was made at one time goes by name."""
        stated = order_stated(self.holder, other.holder)
        return stated or bool(self.holder.created and self.holder.created == other.holder.created != NEW)


def leading(
    service: Resource,
    caller: Resource | None,
    home: str | None,
    port: int | None,
    routes: Sequence[Resource],
    mesh: Mesh,
    world: World,
    root: str,
) -> tuple[Leading, ...] | None:
    """Return the routes that a caller's proxy takes rules for a Service from, in order; None where Gateway API says it.

    Args:
        routes: all of the Service, VirtualServices as they are lowered.
    """
    proxy = None if caller is None else proxy_of(caller, mesh)
    ambient = (world.namespace_labels(home or "") or {}).get(labels.DATAPLANE_MODE) == "ambient"
    if ambient if proxy is None else proxy.ambient:
        own = (each.key for each in routes if each.key[:2] == VIRTUAL_SERVICE and each.spec.get("rules"))
        if carries_connections(service, port) and (unread := next(own, None)) is not None:
            return (Leading(unread, doubt="what a waypoint does with connections"),)
        return _at_waypoint(service, routes, mesh, world)
    if port is None and (only := port_at(service, None)) is not None:
        port = only.number
    reader = _Reader(home or "", None if proxy is None else proxy.labels)
    view = world.once(Sidecars).view(service, port, reader.namespace, reader.labels, root) if reader.namespace else None
    virtuals = [each for each in routes if each.key[:2] == VIRTUAL_SERVICE]
    if carries_connections(service, port):
        claims = sorted(_claims_of_connections(virtuals, reader, port, world, root), key=lambda each: each.order)
        return _in_turn(claims, len(virtuals) < len(routes), proxy)
    if not virtuals and not world.of_kind(*_SIDECAR):
        return None
    claims = sorted(_claims(service, reader, port, routes, world, root), key=lambda each: each.order)
    if view is not None and view.seen is None and view.by is not None and claims:
        return (Leading(claims[0].holder.key, doubt=f"whether {view.by.key} shows its client the Service"),)
    made = [each for each in claims if each.is_made]
    if not made:
        return ()
    first, *others = made
    rival = next((each for each in others if each.tier == first.tier and not first.is_before(each)), None)
    if rival is not None:
        led = (first.leading or rival.leading or first.routes[0])._replace(perhaps=frozenset())
        return (led._replace(doubt=f"which is older, {first.holder.key} or {rival.holder.key}"),)
    if first.leading is None:
        return first.routes
    led = first.leading
    if proxy is not None and not proxy.sure:
        return (led._replace(doubt="whether its client is in the mesh"),)
    return (led,)


def _claims_of_connections(
    virtuals: Sequence[Resource], reader: _Reader, port: int | None, world: World, root: str
) -> Iterator[_Claim]:
    """Yield all VirtualServices whose rules for connections a sidecar has."""
    for route in virtuals:
        virtual = world.get(route.key) or route
        told = _shown(virtual, reader, port, world, root)
        led, is_made = _led(route, reader)
        if None in told:
            led = led._replace(doubt=f"whether it is shown to namespace {reader.namespace or 'of the client'}")
        if False not in told and is_made:
            yield _Claim(virtual, led, (_tier(virtual, reader.namespace), True))


def _in_turn(claims: Sequence[_Claim], beside: bool, proxy: Proxy | None) -> tuple[Leading, ...] | None:
    """Return the VirtualServices whose rules for connections are tried one after the other, whatever host each of them
    names the Service by; None without any.

    Source: pilot/pkg/networking/core/tls.go, getConfigsForHost.

    Args:
        beside: whether it has routes of Gateway API as well.
    """
    listed = [each.leading for each in claims if each.leading is not None]
    doubt = "whether its client is in the mesh" if proxy is not None and not proxy.sure else ""
    for one, other in pairwise(claims):
        if one.tier == other.tier and not one.is_before(other):
            doubt = f"which is older, {one.holder.key} or {other.holder.key}"
    if listed and (beside or doubt):
        return (listed[0]._replace(doubt=doubt or "what routes of Gateway API take of its connections"),)
    return tuple(listed) or None


def _claims(
    service: Resource, reader: _Reader, port: int | None, routes: Sequence[Resource], world: World, root: str
) -> Iterator[_Claim]:
    """Yield what a sidecar may take the requests for a Service by: what names it in full, else by the longest wildcard,
    of which the first one alone counts."""
    found: list[tuple[int, _Claim]] = []
    homes: dict[str, list[Resource]] = {}
    called = in_full(service.key.name, service.key.namespace)
    for route in routes:
        if route.key[:2] != VIRTUAL_SERVICE:
            if _lets_in(route, [called], reader, port, world, root) is False:
                continue
            homes.setdefault(route.key.namespace, []).append(route)
            continue
        virtual = world.get(route.key) or route
        told = _shown(virtual, reader, port, world, root)
        if False in told:
            continue
        led, is_made = _led(route, reader)
        if None in told:
            led = led._replace(doubt=f"whether it is shown to namespace {reader.namespace or 'of the client'}")
        claim = _Claim(virtual, led, (_tier(virtual, reader.namespace), True), is_made or bool(led.doubt))
        found.append((_length(virtual, service.key), claim))
    for namespace, own in homes.items():
        if namespace in (service.key.namespace, reader.namespace):
            counting = tuple(Leading(each.key) for each in own)
            yield _Claim(min(own, key=lambda each: each.age), None, (2, namespace != reader.namespace), routes=counting)
    longest = _EXACT if homes else max((length for length, _ in found), default=0)
    claims = [claim for length, claim in found if length == longest]
    yield from claims if longest == _EXACT else sorted(claims, key=lambda each: each.order)[:1]


def _shown(
    virtual: Resource, reader: _Reader, port: int | None, world: World, root: str
) -> tuple[bool | None, bool | None]:
    """Return whether a VirtualService is for the namespace of a proxy, and whether its Sidecar lets it in."""
    hosts = texts(virtual.spec.get("hosts"))
    return is_exported(virtual, reader.namespace), _lets_in(virtual, hosts, reader, port, world, root)


def _lets_in(
    route: Resource, hosts: Sequence[str], reader: _Reader, port: int | None, world: World, root: str
) -> bool | None:
    if not reader.namespace:
        return True
    return world.once(Sidecars).shows(route, hosts, port, reader.namespace, reader.labels, root)


def _tier(virtual: Resource, namespace: str) -> int:
    """Return the place among others: those of the reader's namespace for it, those for it by name, then all others."""
    readers = texts(virtual.spec.get("exportTo"))
    if not readers or "*" in readers:
        return 2
    return 0 if virtual.key.namespace == namespace else 1


def _length(virtual: Resource, service: ResourceKey) -> int:
    """Return how exactly the hosts of a VirtualService name a Service."""
    home = virtual.key.namespace
    hosts = [each for each in texts(virtual.spec.get("hosts")) if is_service_in_full(each, home, service)]
    return max((len(each) if each.startswith("*") else _EXACT for each in hosts), default=0)


def _led(route: Resource, reader: _Reader) -> tuple[Leading, bool]:
    """Return what a proxy has of a VirtualService, and whether that is anything, or may be."""
    answers: dict[tuple[int, int], bool | None] = {}
    for number, rule in enumerate(map(mapping, sequence(route.spec.get("rules")))):
        matches = sequence(rule.get("matches")) or ([{}] if rule else [])
        for at, match in enumerate(map(mapping, matches)):
            answers[number, at] = _is_source(mapping(match.get(SOURCES)), reader)
    left_out, perhaps = (frozenset(at for at, told in answers.items() if told is each) for each in (False, None))
    doubt = "which labels the pods of its client have" if perhaps and True not in answers.values() else ""
    return Leading(route.key, left_out, perhaps, doubt), len(left_out) < len(answers)


def _is_source(sources: Mapping[str, Any], reader: _Reader) -> bool | None:
    """Return whether a proxy is one of those that a match names; None where that is not known."""
    home, wanted = text(sources.get("namespace")), mapping(sources.get("labels"))
    if home and not is_symbolic(home) and home != reader.namespace:
        return False if reader.namespace else None
    if is_symbolic(home) or any(is_symbolic(str(each)) for each in wanted.values()):
        return None
    return wanted.items() <= reader.labels.items() if wanted and reader.labels is not None else not wanted or None


def _at_waypoint(service: Resource, routes: Sequence[Resource], mesh: Mesh, world: World) -> tuple[Leading, ...] | None:
    """Return the VirtualServices of its namespace and of the Service's that a waypoint adds up, None without any; it
    knows no labels of clients, and takes its own namespace for theirs."""
    binding = mesh.waypoints.binding(service)
    place = "" if binding.waypoint is None else binding.waypoint.namespace
    found: list[_Claim] = []
    for route in routes if place or binding.unknown else ():
        virtual = world.get(route.key) or route
        if route.key[:2] != VIRTUAL_SERVICE or route.key.namespace not in (place, service.key.namespace):
            continue
        shown = is_exported(virtual, place)
        led, is_made = _led(route, _Reader(place, {}))
        refs = (sequence(mapping(rule).get("backendRefs")) for rule in sequence(route.spec.get("rules")))
        if any(mapping(each).get(OF_LISTENER) for each in chain.from_iterable(refs)):
            led = led._replace(doubt="which port of a destination that states none a waypoint takes")
        if binding.unknown:
            led = led._replace(doubt=f"whether requests pass a waypoint: {binding.reason}")
        elif shown is None:
            led = led._replace(doubt=f"whether it is shown to namespace {place}")
        if shown is not False and is_made:
            found.append(_Claim(virtual, led, (_tier(virtual, place), True)))
    found.sort(key=lambda each: each.order)
    producing = (
        each for each in routes if each.key[:2] != VIRTUAL_SERVICE and each.key.namespace == service.key.namespace
    )
    own = next(producing, None)
    rival = found[1].holder if len(found) > 1 and not found[0].is_before(found[1]) else own
    listed = [each.leading for each in found if each.leading is not None]
    if listed and rival is not None:
        doubt = f"in which order a waypoint has the rules of {found[0].holder.key} and {rival.key}"
        return (listed[0]._replace(doubt=doubt),)
    return tuple(listed) or None
