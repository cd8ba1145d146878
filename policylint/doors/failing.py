"""Backends of doors to which requests get no further: what is said of them where their object is (GWP415), and of every
request that goes there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resolution, Resource, integer, mapping, text, value_at
from policylint.topology import BackendState
from policylint.topology.service_ports import Word, called, is_external

FAILS = "fails"
"""The field of a lowered backend that says why requests for it end in an error."""
MAY_FAIL = "mayFail"
"""The field that says why they may, for all that was seen."""


ANY_PORT = "anyPort"
"""The field that says that a port need not be one of the Service's: where none has it, its marks tell."""


def marked(end: DeadEnd) -> Mapping[str, str]:
    """Return what a dead end adds to a lowered backend."""
    why = f"{end.holder.key} {end.does}"
    return {MAY_FAIL: f"{why}; {end.ground}"} if end.ground else {FAILS: why}


def at_port(
    service: Resource | None, wanted: object, words: Collection[Word], usual: int = 80, *, any_port: bool = False
) -> Mapping[str, Any]:
    """Return how a lowered backend names a port of a Service: by its number, or by what speaks against it.

    Args:
        usual: the number that is taken for a word where nobody saw what it means.
        any_port: whether of names for hosts any number is taken.
    """
    meant = called(service, wanted, words)
    if service is not None and meant.found is False and isinstance(wanted, str):
        return {FAILS: f"{service.key} has no port {wanted}"}  # of numbers the backend tells
    number = wanted if integer(wanted) is not None else usual
    marks = {ANY_PORT: True} if any_port and service is not None and is_external(service) else {}
    return {"port": number if meant.port is None else meant.port.number, **marks}


def as_marked(backend: BackendState, route: Resource) -> BackendState:
    """Return a backend of a lowered route with what a mark says of it."""
    stated = mapping(value_at(route.body, backend.pointer))
    if why := text(stated.get(FAILS)):
        return backend._replace(reason=FAILS, message=why)
    if backend.port_found is False and stated.get(ANY_PORT):
        backend = backend._replace(port_found=None, message="")
    if (why := text(stated.get(MAY_FAIL))) and backend.resolution.found:
        return backend._replace(resolution=Resolution("unknown", why))
    return backend
