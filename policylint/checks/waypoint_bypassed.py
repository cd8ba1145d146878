"""GWP308: an AuthorizationPolicy at a waypoint that requests bypass: those of an ingress Gateway, or a share of all."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations import Implementation, implementation
from policylint.model import Finding, Related, ResourceKey
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.ancestry import gateways_above, implementation_of

RULE = "GWP308"
_ROUTING = "routingType"
"""The field by which proxies are told to send to Services; all others send to their pods, at no address of the mesh."""


def check(simulation: Simulation) -> Iterator[Finding]:
    known: dict[ResourceKey, tuple[ResourceKey, ...]] = {}
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) == AUTHORIZATION:
            name = state.kind.implementation
            behaviour = implementation(name, simulation.catalog.settings(name))
            for service in _behind_waypoints(state):
                backend = simulation.world.get(service)
                second = None if backend is None else behaviour.second_front(backend, simulation.world)
                if second is not None and not _acts_at(state, second[0]):
                    yield _shared(state, service, *second)
                    break
                if service not in known:
                    known[service] = tuple(_past(simulation, behaviour, service))
                gateways = tuple(key for key in known[service] if not _acts_at(state, key))
                if gateways:
                    yield _finding(simulation, state, service, gateways, behaviour.entering_fronts)
                    break


def _behind_waypoints(state: PolicyState) -> Iterator[ResourceKey]:
    """Yield the Services before which a policy acts at a waypoint."""
    for group in state.groups:
        for path in group.contexts():
            if len(path) == 2 and path[0].key.kind == "Gateway" and path[1].key.kind == "Service":
                yield path[1].key


def _acts_at(state: PolicyState, gateway: ResourceKey) -> bool:
    """Tell whether a policy acts at a Gateway, too."""
    return any(path[0].key == gateway for group in state.groups for path in group.contexts())


def _past(simulation: Simulation, behaviour: Implementation, service: ResourceKey) -> Iterator[ResourceKey]:
    """Yield the Gateways that send requests to a Service past its waypoint."""
    topology, world = simulation.topology, simulation.world
    backend = world.get(service)
    for key in gateways_above(topology, service):
        gateway, state = world.get(key), topology.gateway(key)
        if backend is None or gateway is None or state is None:
            continue
        name = implementation_of(state, simulation.catalog)
        if name is None:
            continue
        if name == behaviour.name:
            front = behaviour.fronts(backend, gateway, world)
            if front is None:
                yield key
        elif not any(behaviour.fronts(pods, None, world) for pods in simulation.acting.workloads(service)) and not any(
            each.spec.get(_ROUTING) == "Service" for each in world.resources.values()
        ):
            yield key


def _shared(state: PolicyState, service: ResourceKey, waypoint: ResourceKey, percent: int) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"{percent} % of the connections to {service} bypass {state.key}: they go through waypoint {waypoint.path}",
        state.policy.location("spec", "targetRefs" if "targetRefs" in state.policy.spec else "targetRef"),
        resources=(state.key, service, waypoint),
        label=f"this is enforced at another waypoint of {service.path} alone",
        help=(f"fix: target {service} with it, or {waypoint} as well",),
    )


def _finding(
    simulation: Simulation, state: PolicyState, service: ResourceKey, gateways: tuple[ResourceKey, ...], label: str
) -> Finding:
    gateway = simulation.world.get(gateways[0])
    serving = simulation.topology.gateway(gateways[0])
    ours = serving is not None and implementation_of(serving, simulation.catalog) == state.kind.implementation
    repair = f'label {service} or its Namespace with `{label}: "true"`, or target the Gateway as well'
    related = () if gateway is None else (Related("its requests bypass the waypoint", gateway.name_location),)
    others = f" and {len(gateways) - 1} more" if len(gateways) > 1 else ""
    return Finding(
        RULE,
        "warning",
        f"requests from Gateway {gateways[0].path}{others} to {service} bypass {state.key}",
        state.policy.location("spec", "targetRefs" if "targetRefs" in state.policy.spec else "targetRef"),
        resources=(state.key, service, *gateways[:3]),
        label=f"this is enforced at the waypoint of {service.path}, which ingress Gateways bypass",
        related=related,
        help=(f"fix: {repair if ours else f'ask for it at {gateways[0]} as well, with a policy of its own'}",),
        confidence="certain" if ours else "assumed",
        ground="" if ours else "the proxies of other controllers send to pods, unless they are told otherwise",
    )
