"""GWP108: a Gateway that a policy could act on is run by an implementation that does not know the policy's kind.

A class that is not in the tree says nothing; of a controller that nobody knows it is not known what it reads
(docs/design/interfaces.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.catalog.kinds import CORE
from policylint.checks.kit.locations import path, target_at, targets
from policylint.model import ROUTE_KINDS, Finding, Related
from policylint.model.kinds import MESHES
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology import GatewayState
from policylint.topology.ancestry import implementation_of, serving, unheard_of

RULE = "GWP108"
_LABELS = ("matchLabels", "matchExpressions")
_Served = Iterable[tuple[list[GatewayState], bool]]
"""By node of a target what `serving` says of it."""
_BELOW_GATEWAYS = frozenset({*ROUTE_KINDS, "Gateway", "GatewayClass", "ListenerSet", "XListenerSet"})


def check(simulation: Simulation) -> Iterator[Finding]:
    for state, target in targets(simulation):
        served = [serving(simulation.topology, node) for node in target.nodes]
        gateways, elsewhere = _unread(simulation, state, target, served)
        if gateways:
            yield _finding(simulation, state, target, gateways, elsewhere)
        else:
            yield from _unheard_of(simulation, state, target, served)


def _unheard_of(simulation: Simulation, state: PolicyState, target: Target, served: _Served) -> Iterator[Finding]:
    """Yield the finding on the first Gateway of a target whose class names a controller that nobody knows."""
    for gateway in (each for gateways, _ in served for each in gateways):
        controller = unheard_of(simulation.topology, gateway.gateway.key, state.kind, simulation.catalog)
        if controller:
            yield Finding(
                RULE,
                "note",
                f"whether {controller} reads {state.key}, a policy of {state.kind.implementation}, is not known",
                target_at(state.policy, target),
                resources=(state.key, target.key),
                label=f"{gateway.class_key}, the class of {gateway.gateway.key}, names a controller out of the catalog",
                confidence="unknown",
                field=path(target.pointer),
            )
            return


def _is_for_meshes(simulation: Simulation, state: PolicyState) -> bool:
    """Return whether a policy may act on requests that no Gateway takes: one of a mesh, or of Gateway API where one is
    that reads it."""
    kind, reads = state.kind, simulation.catalog.reads
    is_core = kind.implementation == CORE
    return kind.implementation in MESHES or (is_core and any(reads(each.name, kind) for each in simulation.meshes.all))


def unread_at(simulation: Simulation, state: PolicyState, target: Target) -> tuple[list[GatewayState], bool]:
    """Return the Gateways of a target whose controllers do not read a policy, and whether it may act elsewhere."""
    return _unread(simulation, state, target, (serving(simulation.topology, node) for node in target.nodes))


def _unread(
    simulation: Simulation, state: PolicyState, target: Target, served: _Served
) -> tuple[list[GatewayState], bool]:
    if _is_for_meshes(simulation, state) and all(node.key.kind not in _BELOW_GATEWAYS for node in target.nodes):
        return [], True
    catalog, kind = simulation.catalog, state.kind
    unread, acts = [], False
    for gateways, complete in served:
        missed = [state for state in gateways if not catalog.reads(implementation_of(state, catalog), kind)]
        unread += missed
        acts = acts or not complete or len(missed) < len(gateways) or not gateways
    return unread, acts


def _finding(
    simulation: Simulation, state: PolicyState, target: Target, gateways: list[GatewayState], elsewhere: bool
) -> Finding:
    gateway = gateways[0]
    names = sorted({implementation_of(gateway, simulation.catalog) or "" for gateway in gateways})
    seen = gateway.class_resolution.resource
    declared = {name for spec in state.declared for name in spec.proper}
    # One that selects whatever there is means what its own controller has.
    means_it = target.selector is None or any(target.selector.get(field) for field in _LABELS)
    weighs = means_it and not declared.isdisjoint(state.kind.settings.security)
    served = "is served by"
    if elsewhere:
        served = f"is reached through {gateway.gateway.key} as well, served by"
    core = state.kind.implementation == CORE
    whose = "is one that its readers choose to support" if core else f"is a policy of {state.kind.implementation}"
    other = "" if core else f", or a Gateway of {state.kind.implementation}"
    controller = f"the controller of {gateway.class_key}"
    related = (Related(controller, seen.location("spec", "controllerName")),) if seen else ()
    return Finding(
        RULE,
        "error" if not elsewhere else "warning" if weighs else "note",
        f"{state.key} {whose}, but {target} {served} {listing(names)}",
        target_at(state.policy, target),
        resources=(state.key, target.key),
        label=f"{gateway.gateway.key} uses class {gateway.class_key.name}, whose controller ignores this policy",
        related=related,
        help=(f"fix: use a policy kind of {names[0]}{other}",),
        confidence="certain" if seen else "assumed",
        ground="" if seen else f"{gateway.class_key} was not seen, only its name says whose it is",
        field=path(target.pointer),
    )
