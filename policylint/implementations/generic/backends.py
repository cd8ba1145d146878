"""What several controllers take of backendRefs that Gateway API refuses."""

from __future__ import annotations

from policylint.model import mapping, value_at
from policylint.model.kinds import group_of
from policylint.topology import BackendState, RouteState, Topology
from policylint.topology.backends import Backends
from policylint.topology.grants import Grants


def regardless_of_grants(backend: BackendState) -> BackendState:
    """Return a backend as a controller takes it that reads no ReferenceGrants: whether it is there counts."""
    if backend.granted is True or backend.reason == "InvalidKind":
        return backend
    found = backend.resolution
    reason, message = ("BackendNotFound", found.reason) if found.missing else ("", "")
    return backend._replace(granted=True, reason=reason, message=message)


def with_core(route: RouteState, topology: Topology) -> RouteState:
    """Return a route as controllers take it to which `group: core` is the group of Services."""
    if not any(map(_names_core, route.backends)):
        return route
    reading = Backends(topology.world, topology.world.once(Grants), lambda group: bool(group))
    return route._replace(backends=tuple(_restated(each, route, reading) for each in route.backends))


def _names_core(backend: BackendState) -> bool:
    return backend.wanted.group != "" and group_of(backend.wanted.group) == "" and backend.wanted.kind == "Service"


def _restated(backend: BackendState, route: RouteState, reading: Backends) -> BackendState:
    if not _names_core(backend):
        return backend
    reference = {**mapping(value_at(route.route.body, backend.pointer)), "group": ""}
    return reading.state(route.route, backend.rule, backend.pointer, backend.role, reference, ())
