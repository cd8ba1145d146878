"""Which listener has which hostname: one that another listener on the port names is that one's alone.

Source: docs/design/implementations/envoy-gateway.md §2.

It decides whether a parentRef is accepted, and through which listeners a route gets any traffic.
"""

from __future__ import annotations

from collections import defaultdict

from policylint.implementations.envoy_gateway.cluster_dump import lacks_namespace
from policylint.model import Node
from policylint.topology import Candidate, ListenerState, Topology, whole
from policylint.topology.hostnames import EVERY

Carriers = frozenset[tuple[Node, Node]]
"""Pairs of a listener and the node of a route."""


class Isolation:
    """The hostnames that every listener leaves to others, in one topology."""

    def __init__(self, topology: Topology) -> None:
        self.world = topology.world
        self._topology = topology
        sharing: dict[tuple[object, int | None], list[ListenerState]] = defaultdict(list)
        for gateway in topology.gateways:
            for listener in gateway.listeners:
                sharing[listener.gateway, listener.port].append(listener)
            if gateway.attached_listener_sets:
                for each in topology.listener_sets:
                    if each.parent == gateway.gateway.key and each.allowed is not False:
                        for listener in each.listeners:
                            sharing[listener.gateway, listener.port].append(listener)
        self._others: dict[Node, frozenset[str]] = {}
        for (gateway_key, _), listeners in sharing.items():
            if gateway_key is None:
                continue
            for listener in listeners:
                self._others[listener.node] = frozenset(
                    other.hostname for other in listeners if other.node != listener.node and other.hostname
                )

    def leaves(self, candidate: Candidate) -> bool:
        """Whether a listener has a hostname of the route that is not another listener's own."""
        if candidate.unknown or candidate.node not in self._others:
            return True
        return not self._others[candidate.node].issuperset(candidate.hostnames)

    def idle(self) -> Carriers:
        """Listeners and routes attached to them through which no request comes: all that they have in common is
        another listener's, or the route's Namespace is known not to be there."""
        contested = any(self._others.values())
        found: set[tuple[Node, Node]] = set()
        for route in self._topology.routes:
            shut_out = lacks_namespace(self.world, route.route.key.namespace)
            if not shut_out and (not contested or EVERY in route.hostnames):
                continue
            for parent in route.parents:
                found.update(
                    (each.node, whole(route.route.key))
                    for each in parent.candidates
                    if not each.failure and (shut_out or not self.leaves(each))
                )
        return frozenset(found)
