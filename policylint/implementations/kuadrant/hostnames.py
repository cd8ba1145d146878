"""Routes that Kuadrant passes over, though their Gateways serve them.

It acts for the hostnames of a route that lie within the listener's. A wider one (`*.example.com` on a listener for
`api.example.com`) is served by the Gateway, and no policy acts on its requests.
Source: internal/policymachinery/utils.go, objectsInRequestPath; internal/gatewayapi/utils.go,
HostnamesFromListenerAndHTTPRoute (kuadrant-operator v1.5.1). The operator itself says so in tests/witness.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Node, holds_variable
from policylint.policy.results import Idle, PolicyState
from policylint.topology import RouteState, Topology, whole
from policylint.topology.hostnames import covers


def passed_over(topology: Topology) -> frozenset[tuple[Node, Node]]:
    """Return listeners paired with the routes under them of which no hostname lies within a listener's.

    What it does for one listener of a Gateway is asked for the requests of all: no listener is asked for there.
    """
    return frozenset(
        (listener, whole(route.route.key)) for route in topology.routes for listener in _of(route, topology)
    )


def _of(route: RouteState, topology: Topology) -> Iterator[Node]:
    """Yield the listeners at which no policy acts on a route."""
    written = [hostname for hostname in route.hostnames if hostname]
    if not written or any(map(holds_variable, written)):
        return
    for parent in route.parents:
        heeded = [
            hostname
            for other in route.parents
            if other.gateway == parent.gateway
            for candidate in other.candidates
            for hostname in written
            if _is_within(hostname, candidate.node, topology)
        ]
        for candidate in parent.candidates:
            served = any(covers(hostname, each) for hostname in heeded for each in candidate.hostnames)
            if not candidate.failure and not served:
                yield candidate.node


def _is_within(hostname: str, listener: Node, topology: Topology) -> bool:
    """Tell whether a hostname of a route lies within that of a listener; a variable may be any name."""
    state = topology.listener(listener)
    return state is None or holds_variable(state.hostname) or covers(state.hostname, hostname)


def idle(state: PolicyState, topology: Topology, pairs: frozenset[tuple[Node, Node]]) -> Iterator[Idle]:
    """Yield for each target of a policy the first route below it, or itself, on which the policy does not act."""
    for target in state.targets:
        named = {whole(node.key) if node.role != "Listener" else node for node in target.nodes}
        for listener, route in sorted(pairs):
            found = topology.listener(listener)
            if found is None or named.isdisjoint((listener, whole(listener.key), route)):
                continue
            within = (
                f"hostnames of a route that lie within the listener's, and {listener} is for {found.hostname} alone"
            )
            repair = f"name {found.hostname} among the hostnames of {route.key}"
            yield Idle(target, f"Kuadrant acts on {within}", repair, on=f"{route} at {listener}")
            break
