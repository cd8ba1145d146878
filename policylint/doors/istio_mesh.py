"""VirtualServices of the mesh as routes of the Services that they are for: what the proxies of clients have of them.

Which of them a client's proxy has is asked of its mesh (`Traffic.leading`); here all rules are that any has.
Source: istio/istio, pilot/pkg/networking/core/route/route.go, BuildSidecarVirtualHostWrapper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.doors.istio_claims import told
from policylint.doors.istio_rules import (
    IMPLEMENTATION,
    MESH,
    Server,
    body_of,
    http_rules,
    is_meant,
    matches_of,
    named_at,
    parted,
    routes_of,
    sources_of,
)
from policylint.doors.lowered import Backends, Door, DoorRule, Opening, called, granted, inside
from policylint.doors.variables import entries, is_left_open, words
from policylint.doors.vendors import guards
from policylint.implementations import implementation
from policylint.implementations.generic.traffic import SERVER_NAMES, SOURCES, SUBNETS
from policylint.model import Resource, World, is_symbolic, mapping, sequence, texts
from policylint.model.hosts import is_service_in_full, services_named
from policylint.model.kinds import VIRTUAL_SERVICE
from policylint.topology.routes import UNSEEN
from policylint.topology.service_ports import ports
from policylint.topology.state import ParentState

_MOST = 100_000
"""Rules of a VirtualService: the first one has this rank, each further one a lower one."""


def mesh_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield what VirtualServices make of the requests of clients in the mesh; nothing without any."""
    rules: list[DoorRule] = []
    parents: dict[tuple[Resource, Opening], tuple[ParentState, ...]] = {}
    for virtual in world.of_kind(*VIRTUAL_SERVICE):
        for (scheme, port), services in _called(world, virtual).items():
            server = Server(Opening(scheme, port), (), ("spec",), (), redirects=False, mode="", for_mesh=True)
            parents[virtual, server.opening] = tuple(called(each, port) for each in services)
            rules += (_of_requests if scheme == "http" else _of_connections)(world, virtual, server)
    if parents:
        yield inside(rules, parents, guards(), granted(backends))


def _called(world: World, virtual: Resource) -> Mapping[tuple[str, int], list[Resource]]:
    """Return the Services that a VirtualService of the mesh is for, by what their port carries, and its number; at
    ports of connections those alone of which no variable leaves open what it does with them."""
    behaviour = implementation(IMPLEMENTATION)
    is_open = is_left_open(virtual) or any(map(_is_open, (virtual.spec.get("tcp"), virtual.spec.get("tls"))))
    gateways, hosts = words(entries(virtual, "gateways")), words(entries(virtual, "hosts"))
    found: dict[tuple[str, int], list[Resource]] = {}
    of_mesh = hosts if MESH in (gateways or [MESH]) else []
    named = {each.key: each for host in of_mesh for each in services_named(world, host.lower(), virtual.key.namespace)}
    for _, service in sorted(named.items()):
        if any(is_service_in_full(host, virtual.key.namespace, service.key) for host in hosts):
            for port in ports(service):
                scheme = behaviour.connections(service, port.number) or "http"
                if port.number is not None and port.protocol == "TCP" and (scheme == "http" or not is_open):
                    found.setdefault((scheme, port.number), []).append(service)
    return found


def _is_open(value: object) -> bool:
    """Return whether a variable stands for any part of something."""
    if isinstance(value, dict | list):
        return any(map(_is_open, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and is_symbolic(value)


def _of_requests(world: World, virtual: Resource, server: Server) -> Iterator[DoorRule]:
    """Yield what proxies do with requests at a port: the rules in order, whoever sends them."""
    for rank, (name, whole, pointer) in enumerate(http_rules(world, virtual)):
        stated = (match for match in map(mapping, sequence(whole.get("match"))) if _is_meant(virtual, match, server))
        meant = list(told(world, None, stated))
        if whole.get("match") and not meant and not is_left_open(virtual, (*pointer, "match")):
            continue
        for part, rule in parted(whole, meant):
            matches = [said for match in meant and sequence(rule["match"]) for said in _said(match, server)]
            body, answers = body_of(world, virtual, rule, server)
            body |= {"precedence": (_MOST - rank, 0, 0, 0, 0), **({"matches": matches} if matches else {})}
            body |= {UNSEEN: rule[UNSEEN]} if UNSEEN in rule else {}
            called_so = named_at(world, virtual, rule, f"{name}{part}", server)
            yield DoorRule(virtual, server.opening, "", called_so, body, pointer, answers)


def _of_connections(world: World, virtual: Resource, server: Server) -> Iterator[DoorRule]:
    """Yield what proxies do with connections to a port, by where they go to and the server whose name they ask for.

    Source: pilot/pkg/networking/core/tls.go, buildSidecarOutboundTLSFilterChainOpts and its like for TCP.
    """
    field = server.opening.scheme
    for number, rule in enumerate(map(mapping, entries(virtual, field))):
        matches = [mapping(match) for match in sequence(rule.get("match"))]
        meant = [match for match in matches if is_meant(virtual, MESH, server.opening.port, match)]
        if not rule.get("route") or (not meant and (matches or field == "tls")):
            continue
        whole = {**rule, **routes_of(world, virtual, field, number)}
        body, _ = body_of(world, virtual, whole, server)
        said = [
            {
                SERVER_NAMES: texts(match.get("sniHosts")),
                SUBNETS: texts(match.get("destinationSubnets")),
                SOURCES: sources_of({**match, "gateways": ()}),  # also where it names Gateways (matchTCP, matchTLS)
            }
            for match in meant
        ]
        name = named_at(world, virtual, whole, f"{field}-{number}", server)
        yield DoorRule(virtual, server.opening, "", name, {**body, "matches": said or [{}]}, ("spec", field, number))


def _is_meant(virtual: Resource, match: Mapping[str, Any], server: Server) -> bool:
    scheme = mapping(match.get("scheme")).get("exact")
    return is_meant(virtual, MESH, server.opening.port, match) and scheme in (None, server.opening.scheme)


def _said(match: Mapping[str, Any], server: Server) -> Iterator[dict[str, Any]]:
    """Yield a match as routes have it, with the pods whose proxies alone have it."""
    sources = sources_of(match)
    yield from ({**said, **({SOURCES: sources} if sources else {})} for said in matches_of(match, None, server))
