"""GWP405: a backend or certificate in another namespace that no ReferenceGrant gives away."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import at, path
from policylint.checks.kit.present import present
from policylint.checks.kit.routing import describe_grant, grade, listeners, softened
from policylint.documents import Pointer
from policylint.model import Finding, Resource, ResourceKey
from policylint.model.words import count
from policylint.simulation import Simulation
from policylint.topology import ReferenceState, RouteState

RULE = "GWP405"
_UNSEEN = "no Gateway of the route was seen, and not every controller asks for a grant"
_UNKNOWN_MESH = "which mesh serves the route was not seen, and not every one asks for a grant"

_Refused = tuple[Pointer, ResourceKey, bool]
"""The place of a reference, the object it names, and whether a grant for it may be elsewhere."""


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.topology.routes:
        folded: dict[object, list[_Refused]] = {}
        for backend in state.backends:
            if not backend.granted and backend.wanted.name:  # GWP501 says that it has no name
                place = (backend.wanted.group, backend.wanted.kind, backend.wanted.namespace, backend.granted)
                folded.setdefault(place, []).append((backend.pointer, backend.wanted, backend.granted is None))
        gateways = sorted({parent.gateway for parent in state.parents if parent.gateway is not None})
        is_seen = not state.parents or any(parent.resolution.found for parent in state.parents)
        for refused in folded.values():
            finding = _finding(simulation, state.route, refused)
            if finding.confidence == "certain" and not is_seen:
                finding = finding._replace(confidence="assumed", ground=_UNSEEN)
            if finding.confidence == "certain" and _is_for_an_unknown_mesh(state, simulation):
                finding = finding._replace(severity="warning", confidence="assumed", ground=_UNKNOWN_MESH)
            yield softened(finding, simulation, gateways, "asks for a grant")
    for reference in _references(simulation):
        if not reference.granted and reference.wanted.name:
            single = (reference.pointer, reference.wanted, reference.granted is None)
            finding = _finding(simulation, reference.holder, [single])
            yield softened(finding, simulation, [reference.holder.key], "asks for a grant")


def _is_for_an_unknown_mesh(state: RouteState, simulation: Simulation) -> bool:
    """Return whether a route is for clients in a mesh alone, and nothing tells which one."""
    is_inside = bool(state.parents) and all(parent.mesh for parent in state.parents)
    return is_inside and not any(behaviour.is_mesh for behaviour in present(simulation))


def _references(simulation: Simulation) -> Iterator[ReferenceState]:
    """Yield the references of Gateways and of all listeners."""
    for gateway in simulation.topology.gateways:
        yield from gateway.references
    for listener in listeners(simulation.topology):
        yield from listener.references


def _finding(simulation: Simulation, holder: Resource, refused: list[_Refused]) -> Finding:
    from policylint.checks.kit.fixes import add_grant

    pointer, wanted, unknown = refused[0]
    severity, confidence = grade(unknown)
    more = f" (and {count(len(refused) - 1, 'more reference')} like it)" if len(refused) > 1 else ""
    verb = "may not be allowed to use" if unknown else "may not use"
    return Finding(
        RULE,
        severity,
        f"{holder.key} {verb} {wanted}{more}",
        at(holder, pointer, "namespace", "name"),
        resources=(holder.key, wanted),
        label=f"no ReferenceGrant in namespace {wanted.namespace} allows it",
        help=(f"fix: {describe_grant(holder.key, wanted)}",),
        confidence=confidence,
        field=path(pointer),
        fixes=() if unknown else add_grant(simulation.world.get(wanted), holder.key),
    )
