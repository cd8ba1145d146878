"""GWP308: an AuthorizationPolicy at a waypoint that the requests of an ingress Gateway go past."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import AUTHORIZATION
from policylint.implementations import Implementation, implementation
from policylint.model import Finding, Related, ResourceKey
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.ancestry import gateways_above, implementation_of

RULE = "GWP308"
_LABEL = "istio.io/ingress-use-waypoint"


def check(simulation: Simulation) -> Iterator[Finding]:
    behaviour = implementation("istio", simulation.catalog.settings("istio"))
    known: dict[ResourceKey, tuple[ResourceKey, ...]] = {}
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) == AUTHORIZATION:
            for service in _behind_waypoints(state):
                if service not in known:
                    known[service] = tuple(_past(simulation, behaviour, service))
                gateways = tuple(key for key in known[service] if not _acts_at(state, key))
                if gateways:
                    yield _finding(simulation, state, service, gateways)
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
    """Yield the Gateways of Istio that send requests to a Service, certainly past its waypoint."""
    topology, world = simulation.topology, simulation.world
    backend = world.get(service)
    for key in gateways_above(topology, service):
        gateway, state = world.get(key), topology.gateway(key)
        if backend is None or gateway is None or state is None:
            continue
        if implementation_of(state, simulation.catalog) == "istio":
            front = behaviour.fronts(backend, gateway, world)
            if front is None:
                yield key


def _finding(
    simulation: Simulation, state: PolicyState, service: ResourceKey, gateways: tuple[ResourceKey, ...]
) -> Finding:
    gateway = simulation.world.get(gateways[0])
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
        help=(f'fix: label {service} or its Namespace with `{_LABEL}: "true"`, or target the Gateway as well',),
    )
