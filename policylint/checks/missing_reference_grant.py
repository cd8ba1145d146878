"""GWP405: a backend or certificate in another namespace that no ReferenceGrant gives away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.fixes import granted
from policylint.checks.kit.locations import at, path
from policylint.checks.kit.routing import graded, grant, listeners
from policylint.documents import Pointer
from policylint.model import Finding, Resource, ResourceKey
from policylint.model.words import count

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import ReferenceState

RULE = "GWP405"

_Refused = tuple[Pointer, ResourceKey, bool]


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.topology.routes:
        folded: dict[object, list[_Refused]] = {}
        for each in state.backends:
            if not each.granted:
                place = (each.wanted.group, each.wanted.kind, each.wanted.namespace, each.granted)
                folded.setdefault(place, []).append((each.pointer, each.wanted, each.granted is None))
        for refused in folded.values():
            yield _finding(world, state.route, refused)
    for reference in _references(world):
        if not reference.granted:
            refused_one = (reference.pointer, reference.wanted, reference.granted is None)
            yield _finding(world, reference.holder, [refused_one])


def _references(world: Simulation) -> Iterator[ReferenceState]:
    """References of Gateways and of all listeners."""
    for gateway in world.topology.gateways:
        yield from gateway.references
    for listener in listeners(world.topology):
        yield from listener.references


def _finding(world: Simulation, holder: Resource, refused: list[_Refused]) -> Finding:
    pointer, wanted, unknown = refused[0]
    severity, confidence = graded(unknown)
    more = f" (and {count(len(refused) - 1, 'more reference')} like it)" if len(refused) > 1 else ""
    verb = "may not be allowed to use" if unknown else "may not use"
    return Finding(
        RULE,
        severity,
        f"{holder.key} {verb} {wanted}{more}",
        at(holder, pointer, "namespace", "name"),
        resources=(holder.key, wanted),
        label=f"no ReferenceGrant in namespace {wanted.namespace} allows it",
        help=(f"fix: {grant(holder.key, wanted)}",),
        confidence=confidence,
        field=path(pointer),
        fixes=() if unknown else granted(world.world.get(wanted), holder.key),
    )
