"""Routes that Kuadrant passes over, though their Gateways serve them.

It acts for the hostnames of a route that lie within the listener's. A wider one (`*.example.com` on a listener for
`api.example.com`) is served by the Gateway, and no policy acts on its requests.
Source: internal/policymachinery/utils.go, objectsInRequestPath; internal/gatewayapi/utils.go,
HostnamesFromListenerAndHTTPRoute (kuadrant-operator v1.5.1). The operator itself says so in tests/witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.model import Node, is_symbolic
from policylint.policy.results import Idle, PolicyState
from policylint.topology import Candidate, RouteState, Topology, whole
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
    if not written or any(map(is_symbolic, written)):
        return
    for parent in route.parents:
        for candidate in parent.candidates:
            if candidate.failure or _within(written, candidate, topology):
                continue
            others = (each for other in route.parents if other.gateway == parent.gateway for each in other.candidates)
            heeded = (hostname for other in others for hostname in _within(written, other, topology))
            if not any(covers(hostname, each) for hostname in heeded for each in candidate.hostnames):
                yield candidate.node


def _within(written: Sequence[str], candidate: Candidate, topology: Topology) -> Sequence[str]:
    """Return the hostnames of a route that lie within that of a listener; a variable may be any name."""
    state = topology.listener(candidate.node)
    if state is None or is_symbolic(state.hostname):
        return written
    return [hostname for hostname in written if covers(state.hostname, hostname)]


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
