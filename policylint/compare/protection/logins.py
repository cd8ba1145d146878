"""GWP302 for logins by objects that filters and annotations of routes name (AuthenticationFilter, plugins).

A rule that sent requests on behind such an object, and does so after the change with nothing that asks for a login.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from policylint.checks.confidence import NOT_RENDERED
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import share_of_rules
from policylint.model import Finding, Node, Related, ResourceKey, sequence
from policylint.policy.asking import asks
from policylint.policy.bindings import ObjectBinding
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.routes import rules

RULE = "GWP302"


def logins_removed(sides: Sides) -> Iterator[Finding]:
    """Yield one finding per route and object."""
    before = _asking(sides.before)
    if not before:
        return
    after, open_ = _asking(sides.after), _guarded(sides.after)
    lost: dict[tuple[ResourceKey, ResourceKey], dict[Node, ObjectBinding]] = defaultdict(dict)
    for state in sides.after.topology.routes:
        was = sides.before.topology.route(sides.pairing.was(state.route.key))
        if was is None or not was.attached or not state.attached:
            continue
        former = {sides.pairing.node(rule.node): rule.node for rule in rules(was.route)}
        for rule in rules(state.route):
            place = former.get(rule.node)
            named = None if place is None else before.get(place, before.get(whole(place.key)))
            asks_now = not {rule.node, whole(state.route.key)}.isdisjoint({*after, *open_})
            if named is not None and not asks_now and sequence(rule.body.get("backendRefs")):
                lost[state.route.key, named.wanted][rule.node] = named
    for (key, _), named_by_rule in lost.items():
        yield _finding(sides, key, next(iter(named_by_rule.values())), set(named_by_rule))


def _asking(side: Simulation) -> Mapping[Node, ObjectBinding]:
    """Return the bindings of objects that turn away who has not logged in, by the node where they act."""
    return {binding.node: binding for binding in side.bindings if any(binding.authenticates.values())}


def _guarded(side: Simulation) -> set[Node]:
    """Return the rules and routes on which a policy asks for a login, or a filter that was not seen may."""
    nodes = {binding.node for binding in side.bindings if binding.resolution.unknown}
    for group in side.groups:
        if any(ask.purpose == "authentication" and ask.must for ask in asks(group.kind, group.effective.spec)):
            nodes.update(node for node in group.nodes if node.key.kind.endswith("Route"))
    return nodes


def _finding(sides: Sides, key: ResourceKey, binding: ObjectBinding, nodes: set[Node]) -> Finding:
    route = sides.after.world.get(key)
    assert route is not None
    names = ", ".join(sorted(binding.authenticates))
    place = binding.holder.location(*binding.pointer)
    return Finding(
        RULE,
        "error",
        f"{key} loses its authentication{share_of_rules(sides.after, key, nodes)}: {names} of {binding.wanted}",
        route.name_location,
        resources=(key, binding.wanted),
        label=f"no {binding.by} names {binding.wanted} any more, or it asks for nothing",
        related=(Related("it was named here before the change", place),),
        help=("fix: name it again, or let another filter or policy ask for a login",),
        confidence="assumed" if sides.after.world.movable else "certain",
        ground=NOT_RENDERED if sides.after.world.movable else "",
        field=names,
        environments=(sides.after.world.name,),
    )
