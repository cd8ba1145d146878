"""GWP108: every Gateway that a policy could act on is run by an implementation that does not know the policy's kind.

A class that is not in the tree, or a controller that nobody knows, says nothing (docs/design/interfaces.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from policylint.catalog.kinds import Catalog
from policylint.checks.kit.locations import path, target_at, targets
from policylint.model import ROUTE_KINDS, Finding, Node, Related
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology import GatewayState

RULE = "GWP108"


def check(simulation: Simulation) -> Iterator[Finding]:
    acts = cache(partial(_acts, simulation.catalog))
    for state, target in targets(simulation):
        if state.kind.origin != "catalog":
            continue
        gateways = [gateway for node in target.nodes for gateway in _gateways(simulation, node)]
        implementations = {_implementation(simulation, gateway) for gateway in gateways}
        names = sorted(name for name in implementations if name is not None)
        known = bool(names) and None not in implementations
        if known and not any(acts(name, state.kind.implementation, state.kind.group) for name in names):
            yield _finding(state, target, gateways[0], names)


def _acts(catalog: Catalog, implementation: str, author: str, group: str) -> bool:
    """Return whether an implementation acts on policies of a group: its own, or one that it serves as well."""
    return author == implementation or catalog.serves(implementation, group)


def _implementation(simulation: Simulation, gateway: GatewayState) -> str | None:
    """Return the implementation that runs a Gateway, None where that is not known."""
    if gateway.controller:
        return simulation.catalog.implementation_of_controller(gateway.controller)
    return simulation.catalog.implementation_of_class(gateway.class_key.name)


def _gateways(simulation: Simulation, node: Node) -> list[GatewayState]:
    """Return the Gateways that a target belongs to; none for a Service, which meshes serve too."""
    topology = simulation.topology
    kind = node.key.kind
    if kind == "GatewayClass":
        return [gateway for gateway in topology.gateways if gateway.class_key == node.key]
    if kind in ROUTE_KINDS:
        route = topology.route(node.key)
        parents = route.parents if route is not None else ()
        if any(parent.mesh or parent.gateway is None for parent in parents):
            return []
        keys = [parent.gateway for parent in parents]
    elif kind in ("ListenerSet", "XListenerSet"):
        holder = topology.listener_set(node.key)
        keys = [holder.parent if holder is not None else None]
    else:
        keys = [node.key]
    gateways = [topology.gateway(key) for key in keys if key is not None]
    return [gateway for gateway in gateways if gateway is not None]


def _finding(state: PolicyState, target: Target, gateway: GatewayState, names: list[str]) -> Finding:
    seen = gateway.class_resolution.resource
    controller = f"the controller of {gateway.class_key}"
    related = (Related(controller, seen.location("spec", "controllerName")),) if seen else ()
    return Finding(
        RULE,
        "error",
        f"{state.key} is of {state.kind.implementation}, but {target} is served by {listing(names)}",
        target_at(state.policy, target),
        resources=(state.key, target.key),
        label=f"{gateway.gateway.key} is of class {gateway.class_key.name}: nothing acts on this policy there",
        related=related,
        help=(f"fix: use a policy kind of {names[0]}, or a Gateway of {state.kind.implementation}",),
        confidence="certain" if seen else "assumed",
        field=path(target.pointer),
    )
