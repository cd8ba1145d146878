"""GWP115 parameters-not-named: parameters of Gateways that no Gateway and no GatewayClass names."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Finding, Resource, ResourceKey, is_symbolic, mapping, value_at
from policylint.simulation import Simulation
from policylint.topology import GatewayState
from policylint.topology.ancestry import implementation_of

RULE = "GWP115"
_CLASS = ("gateway.networking.k8s.io", "GatewayClass")
_NAMING = (("spec", "parametersRef"), ("spec", "infrastructure", "parametersRef"))


def check(simulation: Simulation) -> Iterator[Finding]:
    world, catalog = simulation.world, simulation.catalog
    named = {binding.wanted for binding in simulation.bindings if binding.form == "parameters"}
    for group, name in world.kinds():
        kind = catalog.get(group, name)
        if kind is None or kind.bound_by != "parameters-ref":
            continue
        gateways = [
            state for state in simulation.topology.gateways if implementation_of(state, catalog) == kind.implementation
        ]
        for parameters in world.of_kind(group, name) if gateways else ():
            if parameters.key not in named and not _may_be_named(simulation, gateways, parameters.key):
                holders = (each for state in gateways for each in (state.gateway, state.class_resolution.resource))
                # One that another file writes otherwise may name them there.
                open_holders = (each for each in holders if each and (each.provisional or each.key in world.rewritten))
                yield _finding(parameters, gateways[0].gateway, *(each.key for each in open_holders))


def _may_be_named(simulation: Simulation, gateways: list[GatewayState], key: ResourceKey) -> bool:
    """Return whether something may name an object after all: a class or a Gateway that was not seen, a variable, or a
    reference without the namespace, which is the controller's matter."""
    world = simulation.world
    if world.unseen.reason(ResourceKey(_CLASS[0], "Gateway", key.namespace, "")) or is_symbolic(key.path):
        return True
    holders = [*(state.gateway for state in gateways), *world.of_kind(*_CLASS)]
    names = [mapping(value_at(each.body, place)).get("name") for each in holders for place in _NAMING]
    return any(name == key.name or is_symbolic(name) for name in names) or any(
        not state.class_resolution.found for state in gateways
    )


def _finding(parameters: Resource, gateway: Resource, *open_holders: ResourceKey) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"{parameters.key} has no effect: no Gateway and no GatewayClass names it",
        parameters.name_location,
        resources=tuple(dict.fromkeys((parameters.key, gateway.key, *open_holders))),
        label="an object of this kind only affects what refers to it",
        help=("fix: name it in `infrastructure.parametersRef` of a Gateway there, or in `parametersRef` of a class",),
    )
