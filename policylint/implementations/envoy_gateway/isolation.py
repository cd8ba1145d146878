"""Hostname isolation: a hostname that a listener names belongs to it alone among those on its port.

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
            admitted = (
                listener
                for listener_set in (topology.listener_sets if gateway.attached_listener_sets else ())
                if listener_set.parent == gateway.gateway.key and listener_set.allowed is not False
                for listener in listener_set.listeners
            )
            for listener in (*gateway.listeners, *admitted):
                sharing[listener.gateway, listener.port].append(listener)
        self._others: dict[Node, frozenset[str]] = {}
        """Per listener the hostnames of the others on its port."""
        for (gateway_key, _), listeners in sharing.items():
            for listener in listeners if gateway_key is not None else ():
                others = (each.hostname for each in listeners if each.node != listener.node)
                self._others[listener.node] = frozenset(filter(None, others))

    def leaves(self, candidate: Candidate) -> bool:
        """Tell whether a listener has a hostname of the route that is not another listener's own."""
        if candidate.unknown or candidate.node not in self._others:
            return True
        return not self._others[candidate.node].issuperset(candidate.hostnames)

    def idle(self) -> Carriers:
        """Return pairs of a listener and an attached route between which no request passes.

        All hostnames that they have in common are another listener's, or the route's Namespace is known to be missing.
        """
        contested = any(self._others.values())
        carriers: set[tuple[Node, Node]] = set()
        for route in self._topology.routes:
            shut_out = lacks_namespace(self.world, route.route.key.namespace)
            if not shut_out and (not contested or EVERY in route.hostnames):
                continue
            for parent in route.parents:
                carriers.update(
                    (candidate.node, whole(route.route.key))
                    for candidate in parent.candidates
                    if not candidate.failure and (shut_out or not self.leaves(candidate))
                )
        return frozenset(carriers)
