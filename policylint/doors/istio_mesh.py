"""VirtualServices of the mesh as routes of the Services that they are for: what the proxies of clients have of them.

Which of them a client's proxy has is asked of its mesh (`Traffic.leading`); here all rules are that any has.
Source: istio/istio, pilot/pkg/networking/core/route/route.go, BuildSidecarVirtualHostWrapper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.doors.istio_rules import (
    MESH,
    Server,
    body_of,
    http_rules,
    is_meant,
    matches_of,
    named_at,
    parted,
    sources_of,
)
from policylint.doors.lowered import Backends, Door, DoorRule, Opening, called, granted, inside
from policylint.doors.variables import entries, is_left_open, words
from policylint.doors.vendors import guards
from policylint.implementations.generic.traffic import SOURCES
from policylint.model import Resource, World, mapping, sequence
from policylint.model.hosts import is_service_in_full
from policylint.model.kinds import SERVICE, VIRTUAL_SERVICE
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
        for port, services in _called(world, virtual).items():
            server = Server(Opening("http", port), (), ("spec",), (), redirects=False, mode="", for_mesh=True)
            parents[virtual, server.opening] = tuple(called(each, port) for each in services)
            rules += _of_requests(world, virtual, server)
    if parents:
        yield inside(rules, parents, guards(), granted(backends))


def _called(world: World, virtual: Resource) -> Mapping[int, list[Resource]]:
    """Return the Services that a VirtualService of the mesh is for, by port."""
    gateways, hosts = words(entries(virtual, "gateways")), words(entries(virtual, "hosts"))
    found: dict[int, list[Resource]] = {}
    for service in world.of_kind(*SERVICE) if MESH in (gateways or [MESH]) else ():
        if any(is_service_in_full(host, virtual.key.namespace, service.key) for host in hosts):
            for port in ports(service):
                if port.number is not None and port.protocol == "TCP":
                    found.setdefault(port.number, []).append(service)
    return found


def _of_requests(world: World, virtual: Resource, server: Server) -> Iterator[DoorRule]:
    """Yield what proxies do with requests at a port: the rules in order, whoever sends them."""
    for rank, (name, whole, pointer) in enumerate(http_rules(world, virtual)):
        meant = [match for match in map(mapping, sequence(whole.get("match"))) if _is_meant(virtual, match, server)]
        if whole.get("match") and not meant and not is_left_open(virtual, (*pointer, "match")):
            continue
        for part, rule in parted(whole, meant):
            matches = [said for match in meant and sequence(rule["match"]) for said in _said(match, server)]
            body, answers = body_of(world, virtual, rule, server)
            body |= {"precedence": (_MOST - rank, 0, 0, 0, 0), **({"matches": matches} if matches else {})}
            body |= {UNSEEN: rule[UNSEEN]} if UNSEEN in rule else {}
            called_so = named_at(world, virtual, rule, f"{name}{part}", server)
            yield DoorRule(virtual, server.opening, "", called_so, body, pointer, answers)


def _is_meant(virtual: Resource, match: Mapping[str, Any], server: Server) -> bool:
    scheme = mapping(match.get("scheme")).get("exact")
    return is_meant(virtual, MESH, server.opening.port, match) and scheme in (None, server.opening.scheme)


def _said(match: Mapping[str, Any], server: Server) -> Iterator[dict[str, Any]]:
    """Yield a match as routes have it, with the pods whose proxies alone have it."""
    sources = sources_of(match)
    yield from ({**said, **({SOURCES: sources} if sources else {})} for said in matches_of(match, None, server))
