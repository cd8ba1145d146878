"""GWP108: every Gateway that a policy could act on is run by an implementation that does not know the policy's kind.

A class that is not in the tree, or a controller that nobody knows, says nothing (docs/design/interfaces.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path, target_at
from policylint.model import ROUTE_KINDS, Finding, Node, Related
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import GatewayState

RULE = "GWP108"


def check(world: Simulation) -> Iterator[Finding]:
    foreign: dict[str, bool] = {}
    for state in world.policies.values():
        if state.kind.origin != "catalog":
            continue
        for target in state.targets:
            gateways = [gateway for node in target.nodes for gateway in _gateways(world, node)]
            runs = {_implementation(world, each) for each in gateways}
            if not runs or None in runs:
                continue
            names = sorted(str(each) for each in runs)
            for name in names:
                key = f"{name} {state.kind}"
                if key not in foreign:
                    foreign[key] = not _acts(world, name, state)
            if all(foreign[f"{name} {state.kind}"] for name in names):
                yield _finding(state, target, gateways[0], names)


def _acts(world: Simulation, implementation: str, state: PolicyState) -> bool:
    own = state.kind.implementation == implementation
    return own or world.catalog.serves(implementation, state.kind.group)


def _implementation(world: Simulation, gateway: GatewayState) -> str | None:
    """Who runs a Gateway, None where that is not known."""
    if gateway.controller:
        return world.catalog.implementation_of_controller(gateway.controller)
    return world.catalog.implementation_of_class(gateway.class_key.name)


def _gateways(world: Simulation, node: Node) -> list[GatewayState]:
    """The Gateways that a target belongs to; none for a Service, which meshes serve too."""
    topology = world.topology
    kind = node.key.kind
    if kind == "GatewayClass":
        return [each for each in topology.gateways if each.class_key == node.key]
    if kind in ROUTE_KINDS:
        route = topology.route(node.key)
        parents = route.parents if route is not None else ()
        if any(each.mesh or each.gateway is None for each in parents):
            return []
        wanted = [each.gateway for each in parents]
    elif kind in ("ListenerSet", "XListenerSet"):
        holder = topology.listener_set(node.key)
        wanted = [holder.parent if holder is not None else None]
    else:
        wanted = [node.key]
    found = [topology.gateway(each) for each in wanted if each is not None]
    return [each for each in found if each is not None]


def _finding(state: PolicyState, target: Target, gateway: GatewayState, names: list[str]) -> Finding:
    seen = gateway.class_resolution.resource
    related = (
        (Related(f"the controller of {gateway.class_key}", seen.location("spec", "controllerName")),) if seen else ()
    )
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
