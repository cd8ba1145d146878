"""What `list` and `explain` say of a listener: whether it takes requests, and which routes it perhaps has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from policylint.model import Node, ResourceKey
from policylint.simulation import Simulation
from policylint.topology import ListenerState, Topology, whole


def why_shut(simulation: Simulation, listener: ListenerState) -> str:
    """Return why a listener takes no requests, "" where it does."""
    nodes = simulation.acting.closed.nodes
    above = listener.gateway is not None and whole(listener.gateway) in nodes
    return nodes.get(listener.node, "its Gateway takes none" if above else "")


def perhaps_attached(topology: Topology) -> Mapping[Node, list[ResourceKey]]:
    """Return, by listener, the routes of which it is not known whether they are attached to it."""
    found: dict[Node, list[ResourceKey]] = defaultdict(list)
    for state in topology.routes:
        candidates = [
            each for parent in state.parents if parent.accepted for each in parent.candidates if not each.failure
        ]
        certain = {each.node for each in candidates if not each.unknown}
        for node in dict.fromkeys(each.node for each in candidates if each.node not in certain):
            found[node].append(state.route.key)
    return found
