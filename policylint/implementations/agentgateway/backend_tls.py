"""BackendTLSPolicy at agentgateway: every CA reference has to be a ConfigMap that is there, and its ancestors are the
Gateways of all routes that name its backend, whatever is wrong with the reference.

One policy that another one of the same target precedes is Conflicted at all of them.

Source: controller/pkg/agentgateway/plugins/backend_tls_plugin.go and translator/route_collections.go
(extractAncestorBackends) @ v1.4.1. Seen by tests/witness (agentgateway).
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.implementations.agentgateway.listeners import has_parents
from policylint.implementations.generic import controller_above
from policylint.implementations.generic.backend_tls import ca_faults, reported, without_ca
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor, PolicyState
from policylint.topology import Condition, RouteState, Topology, whole

_CONFIG_MAPS = frozenset({("", "ConfigMap")})


def validate(policy: Resource, world: World) -> Reading:
    """Refuse a policy of which any CA reference is not valid."""
    return without_ca([fault for fault in ca_faults(policy, world, _CONFIG_MAPS) if fault][:1])


def ancestors(state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
    """Return one ancestor per Gateway with a route to a backend that the policy names, there or not."""
    accepted, resolved = reported(state, ca_faults(state.policy, topology.world, _CONFIG_MAPS))
    if (rival := _before(state.policy, topology.world)) is not None:
        accepted = Condition("Accepted", "False", "Conflicted", f"{rival} has a target of it and is older")
    named = {target.key for target in state.targets}
    gateways = {
        gateway
        for route in topology.routes
        if any(backend.role == "backend" and backend.wanted in named for backend in route.backends)
        for gateway in _gateways(route, topology)
    }
    told = accepted, resolved
    return tuple(Ancestor(whole(key), controller_above(topology, key), told) for key in sorted(gateways))


def _gateways(route: RouteState, topology: Topology) -> Iterator[ResourceKey]:
    for parent in route.parents:
        if parent.gateway is not None and parent.attached and has_parents(parent, topology):
            yield parent.gateway


def _before(policy: Resource, world: World) -> ResourceKey | None:
    """Return the policy that comes before another one of a target that both name, whether or not it is there."""
    own = list(map(_as_written, sequence(policy.spec.get("targetRefs"))))
    others = world.in_namespace(*policy.key[:2], policy.key.namespace)
    rivals = (each for each in others if each.age < policy.age and each.key != policy.key)
    named = ((each.key, map(_as_written, sequence(each.spec.get("targetRefs")))) for each in rivals)
    return next((key for key, targets in named if any(target in own for target in targets)), None)


def _as_written(reference: object) -> tuple[str, ...]:
    return tuple(text(mapping(reference).get(field)) for field in ("group", "kind", "name", "sectionName"))
