"""Whom an effective policy concerns: the objects and sections of which `explain` says that it acts on them.

The reverse of `contexts.answers`, for reports that tell of all objects at once.
"""

from __future__ import annotations

from itertools import islice

from policylint.explain.contexts import MOST_PATHS, leads_down
from policylint.model import Node
from policylint.policy.results import Group
from policylint.simulation import Simulation


def concerned(simulation: Simulation, group: Group) -> set[Node]:
    """What lies at or below a target, and routes, rules and backends on whose requests the policy acts all the same."""
    return group.nodes.keys() | _beneath(simulation, group) | _above(group)


def _above(group: Group) -> set[Node]:
    """Routes and rules whose requests meet a policy further down, at a rule or a backend."""
    if any(leads_down(each.node) for each in group.effective.stack):
        return set()  # what lies below those is in `group.nodes`
    paths = islice(group.contexts(), MOST_PATHS)
    return {node for path in paths for node in path if not leads_down(node) and node.key.kind != "Namespace"}


def _beneath(simulation: Simulation, group: Group) -> set[Node]:
    """What the contexts of a group lead to where they end early: a kind that knows listeners and no routes acts on the
    requests of the routes below all the same."""
    topology, inside = simulation.topology, group.nodes.keys()

    def goes_on(vertex: int) -> bool:
        return any(not inside.isdisjoint(topology.vertices[each].nodes) for each in topology.children[vertex])

    mine = {vertex for node in group.nodes for vertex in topology.vertices_of(node)}
    pending = [child for vertex in mine if not goes_on(vertex) for child in topology.children[vertex]]
    seen = set(pending)
    while pending:
        for child in topology.children[pending.pop()]:
            if child not in seen:
                seen.add(child)
                pending.append(child)
    return {node for vertex in seen if topology.reachable[vertex] for node in topology.vertices[vertex].nodes}
