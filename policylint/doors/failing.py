"""Backends of doors to which requests get no further: what is said of them where their object is (GWP415), and of every
request that goes there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from policylint.doors.lowered import EVERYTHING
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resolution, Resource, ResourceKey, mapping, text, value_at
from policylint.topology import BackendState

Backends = Callable[[Resource, Collection[ResourceKey]], tuple[BackendState, ...]]
FAILS = "fails"
"""The field of a lowered backend that says why requests for it end in an error."""
MAY_FAIL = "mayFail"
"""The field that says why they may, for all that was seen."""


def marked(end: DeadEnd) -> Mapping[str, str]:
    """Return what a dead end adds to a lowered backend."""
    why = f"{end.holder.key} {end.does}"
    return {MAY_FAIL: f"{why}; {end.ground}"} if end.ground else {FAILS: why}


def with_faults(backends: Backends) -> Callable[[Resource], tuple[BackendState, ...]]:
    """Return what reads the backends of lowered routes, with what marks say of them; they need no grant."""
    return lambda route: tuple(
        _with_fault(each, mapping(value_at(route.body, each.pointer))) for each in backends(route, EVERYTHING)
    )


def _with_fault(backend: BackendState, stated: Mapping[str, object]) -> BackendState:
    if why := text(stated.get(FAILS)):
        return backend._replace(reason=FAILS, message=why)
    if (why := text(stated.get(MAY_FAIL))) and backend.resolution.found:
        return backend._replace(resolution=Resolution("unknown", why))
    return backend
