"""Hostname isolation: a hostname that a listener names belongs to it alone among those on its port.

Source: docs/design/implementations/envoy-gateway.md §2.

It decides whether a parentRef is accepted, and through which listeners a route gets any traffic.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property

from policylint.implementations.envoy_gateway.cluster_dump import lacks_namespace
from policylint.implementations.envoy_gateway.managed import order
from policylint.model import Node, ResourceKey
from policylint.topology import Candidate, ListenerState, Topology, whole
from policylint.topology.hostnames import EVERY

Carriers = frozenset[tuple[Node, Node]]
"""Pairs of a listener and the node of a route."""


class Isolation:
    """The hostnames that every listener leaves to others, in one topology."""

    def __init__(self, topology: Topology) -> None:
        self.world = topology.world
        self._topology = topology
        admitted: dict[ResourceKey, list[ListenerState]] = defaultdict(list)
        for listener_set in sorted(topology.listener_sets, key=lambda state: order(state.listener_set)):
            if listener_set.allowed is not False:
                admitted[listener_set.parent] += listener_set.listeners
        sharing: dict[tuple[object, int | None], list[ListenerState]] = defaultdict(list)
        losing: frozenset[Node] = frozenset()
        for gateway in topology.gateways:
            of_sets = admitted[gateway.gateway.key] if gateway.attached_listener_sets else ()
            behind = (*gateway.listeners, *of_sets)
            if of_sets:
                from policylint.implementations.envoy_gateway.listener_conflicts import outdone

                losing |= outdone(behind)
            for listener in behind:
                sharing[listener.gateway, listener.port].append(listener)
        self._sharing: dict[Node, tuple[str, Counter[str]]] = {}
        """Per listener the hostname that it owns, and how many listeners on its port own which one, itself included."""
        self._contested = False
        """Whether a listener has a hostname and shares its port."""
        for (gateway_key, _), listeners in sharing.items():
            if gateway_key is not None:
                owned = [(each.node, "" if each.node in losing else each.hostname) for each in listeners]
                hostnames = Counter(hostname for _, hostname in owned if hostname)
                self._contested = self._contested or (len(listeners) > 1 and bool(hostnames))
                self._sharing.update((node, (hostname, hostnames)) for node, hostname in owned)

    def leaves(self, candidate: Candidate) -> bool:
        """Tell whether a listener has a hostname of the route that is not another's own."""
        if candidate.unknown or candidate.node not in self._sharing:
            return True
        return not self.left_to_others(candidate).issuperset(candidate.hostnames)

    def left_to_others(self, candidate: Candidate) -> frozenset[str]:
        """Return the hostnames of a route at a listener that are another listener's own."""
        if candidate.unknown or candidate.node not in self._sharing:
            return frozenset()
        own, hostnames = self._sharing[candidate.node]
        return frozenset(hostname for hostname in candidate.hostnames if hostnames[hostname] > (hostname == own))

    @cached_property
    def withheld(self) -> dict[tuple[Node, Node], frozenset[str]]:
        """Return the hostnames of attached routes that only another listener serves, by listener and route."""
        found = {}
        for route in self._topology.routes if self._contested else ():
            for candidate in (each for parent in route.parents for each in parent.candidates if not each.failure):
                if left := self.left_to_others(candidate):
                    found[candidate.node, whole(route.route.key)] = left
        return found

    @cached_property
    def idle_listeners(self) -> frozenset[Node]:
        """Return the listeners of idle pairs."""
        return frozenset(listener for listener, _ in self.idle)

    @cached_property
    def idle(self) -> Carriers:
        """Return pairs of a listener and an attached route between which no request passes.

        All hostnames that they have in common are another listener's, or the route's Namespace is known to be missing.
        """
        carriers: set[tuple[Node, Node]] = set()
        for route in self._topology.routes:
            shut_out = lacks_namespace(self.world, route.route.key.namespace)
            if not shut_out and (not self._contested or EVERY in route.hostnames):
                continue
            for parent in route.parents:
                carriers.update(
                    (candidate.node, whole(route.route.key))
                    for candidate in parent.candidates
                    if not candidate.failure and (shut_out or not self.leaves(candidate))
                )
        return frozenset(carriers)
