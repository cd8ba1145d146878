"""BackendTLSPolicy at kgateway: of its CA references the first counts, and it has the parents of routes to its Service.

The parents are those of routes of requests with the section that they name, and of routes of connections without. A
policy for a port takes it from the one for its whole Service.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.4; extensions2/plugins/backendtlspolicy, irtranslator/
{route,fc,policy}.go, krtcollections/policy.go (2.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.implementations.generic import controller_above
from policylint.implementations.generic.backend_tls import ca_faults, reported, without_ca
from policylint.implementations.kgateway.listeners import Fates
from policylint.implementations.kgateway.routes import OF_CONNECTIONS, fault_of, translates
from policylint.model import Node, Resource, World
from policylint.policy.declared import Reading
from policylint.policy.results import Ancestor, PolicyState
from policylint.topology import BackendState, RouteState, Topology, whole


def validate(policy: Resource, world: World) -> Reading:
    """Refuse a policy whose first CA reference is not valid."""
    return without_ca(ca_faults(policy, world)[:1])


def ancestors(
    state: PolicyState, states: Sequence[PolicyState], fates: Fates, topology: Topology
) -> tuple[Ancestor, ...]:
    """Return the parents of the routes that lead to a target of a policy."""
    taken = {node for each in states for target in each.targets for node in target.nodes if node.section}
    own = {node for target in state.targets for node in target.nodes}
    conditions = reported(state, ca_faults(state.policy, topology.world)[:1])
    nodes = {
        parent
        for route in topology.routes
        if any(_target(backend, taken) in own for backend in route.backends if fault_of(backend) is None)
        for parent in _parents(route, fates, topology)
    }
    return tuple(Ancestor(node, controller_above(topology, node.key), conditions) for node in sorted(nodes))


def _target(backend: BackendState, taken: set[Node]) -> Node | None:
    """Return what a policy of a backend targets: its port where any policy does, else the whole object."""
    if backend.role != "backend":
        return None
    return backend.section if backend.section in taken else whole(backend.wanted)


def _parents(route: RouteState, fates: Fates, topology: Topology) -> Iterator[Node]:
    for parent in route.parents:
        if translates(parent, route, fates, topology, served=True):
            section = "" if route.route.key.kind in OF_CONNECTIONS else parent.section
            yield Node(parent.wanted, section, parent.wanted.kind)
