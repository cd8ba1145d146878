"""GWP302 for logins and allow-lists by objects that routes, Services and Gateways name (filters, plugins).

A rule that sent requests on behind such an object, and does so after the change with nothing that asks for as much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from policylint.checks.confidence import NOT_RENDERED
from policylint.compare.pairing import Sides
from policylint.compare.protection.cause import share_of_rules
from policylint.documents import Pointer
from policylint.model import Finding, Node, Related, ResourceKey, sequence
from policylint.policy.asking import asks
from policylint.policy.bindings import ObjectBinding, superseded
from policylint.simulation import Simulation
from policylint.topology import RouteState, whole
from policylint.topology.routes import rules

RULE = "GWP302"
_PURPOSES = ("authentication", "authorization")


def logins_removed(sides: Sides) -> Iterator[Finding]:
    """Yield one finding per route, object and purpose."""
    for purpose in _PURPOSES:
        yield from _removed(sides, purpose)


def _removed(sides: Sides, purpose: str) -> Iterator[Finding]:
    if not any(any(_asks(binding, purpose).values()) for binding in sides.before.bindings):
        return
    before, after, open_ = _by_node(sides.before), _by_node(sides.after), _guarded(sides, purpose)
    lost: dict[tuple[ResourceKey, ResourceKey], dict[Node, ObjectBinding]] = defaultdict(dict)
    for state in sides.after.topology.routes:
        was = sides.before.topology.route(sides.pairing.was(state.route.key))
        if was is None or not was.attached or not state.attached:
            continue
        former = {sides.pairing.node(rule.node): rule.node for rule in rules(was.route)}
        for rule in rules(state.route):
            place = former.get(rule.node)
            if place is None or not sequence(rule.body.get("backendRefs")):
                continue
            fails = any(binding.resolution.missing and binding.form == "filter" for binding in after.get(rule.node, ()))
            for ways_before, ways in () if fails else _pairs(sides, (was, place), (state, rule.node)):
                named = _asking(before, ways_before, purpose)
                if named is not None and open_.isdisjoint(ways) and _asking(after, ways, purpose) is None:
                    lost[state.route.key, named.wanted].setdefault(rule.node, named)
    for (key, _), named_by_rule in lost.items():
        yield _finding(sides, key, next(iter(named_by_rule.values())), set(named_by_rule), purpose)


def _pairs(
    sides: Sides, was: tuple[RouteState, Node], now: tuple[RouteState, Node]
) -> Iterator[tuple[list[Node], list[Node]]]:
    """Yield the ways through a rule before and after: to the backends of both sides, or to the only one of each."""
    before, after = _ways(*was), _ways(*now)
    if len(before) == len(after) == 1:
        yield next(iter(before.values())), next(iter(after.values()))
        return
    for key, ways in after.items():
        former = None if key is None else before.get(sides.pairing.was(key))
        if former is not None:
            yield former, ways


def _ways(state: RouteState, rule: Node) -> dict[ResourceKey | None, list[Node]]:
    """Return by backend the nodes whose bindings act on a rule: itself, its route, the backend, its Gateways."""
    backends = dict.fromkeys(backend.wanted for backend in state.backends if backend.rule == _number(state, rule))
    gateways = dict.fromkeys(whole(node.key) for node in state.attached if node.key.kind == "Gateway")
    above = [rule, whole(state.route.key), *gateways]
    return {key: [*above, whole(key)] for key in backends} or {None: above}


def _number(state: RouteState, node: Node) -> int | None:
    return next((rule.number for rule in rules(state.route) if rule.node == node), None)


def _by_node(side: Simulation) -> Mapping[Node, list[ObjectBinding]]:
    """Return the bindings by the node where they act."""
    by_node: dict[Node, list[ObjectBinding]] = defaultdict(list)
    for binding in side.bindings:
        by_node[binding.node].append(binding)
    return by_node


def _asking(by_node: Mapping[Node, list[ObjectBinding]], ways: list[Node], purpose: str) -> ObjectBinding | None:
    """Return the first binding on a way whose object runs there and turns requests away."""
    named = [binding for node in ways for binding in by_node.get(node, ())]
    beaten = superseded(named)
    acting = (binding for binding in named if binding.wanted not in beaten)
    return next((binding for binding in acting if any(_asks(binding, purpose).values())), None)


def _asks(binding: ObjectBinding, purpose: str) -> Mapping[str, bool]:
    return binding.authenticates if purpose == "authentication" else binding.authorizes


def _guarded(sides: Sides, purpose: str) -> set[Node]:
    """Return the rules and routes on which a policy asks for as much, or an object that was not seen may."""
    side = sides.after
    unseen = [binding for binding in side.bindings if binding.resolution.unknown]
    gone = _gone(sides) if unseen else set()
    nodes = {
        binding.node for binding in unseen if (binding.holder.key, binding.pointer, binding.wanted.name) not in gone
    }
    for group in side.groups:
        if any(ask.purpose == purpose and ask.must for ask in asks(group.kind, group.effective.spec)):
            nodes.update(node for node in group.nodes if node.key.kind.endswith("Route"))
    return nodes


def _gone(sides: Sides) -> set[tuple[ResourceKey, Pointer, str]]:
    """Return the holders, places and names of bindings whose objects the change deletes, and that are left out then."""
    found = set()
    for binding in sides.before.bindings:
        skipped = binding.form == "annotation" or (binding.kind is not None and binding.kind.unresolved == "skipped")
        deleted = binding.resolution.found and sides.after.world.get(sides.pairing.key(binding.wanted)) is None
        if skipped and deleted:
            found.add((sides.pairing.key(binding.holder.key), binding.pointer, binding.wanted.name))
    return found


def _finding(sides: Sides, key: ResourceKey, binding: ObjectBinding, nodes: set[Node], purpose: str) -> Finding:
    route = sides.after.world.get(key)
    assert route is not None
    names = ", ".join(sorted(_asks(binding, purpose)))
    instead = "ask for a login" if purpose == "authentication" else "let in nobody else"
    place = binding.holder.location(*binding.pointer)
    return Finding(
        RULE,
        "error",
        f"{key} loses its {purpose}{share_of_rules(sides.after, key, nodes)}: {names} of {binding.wanted}",
        route.name_location,
        resources=(key, binding.wanted),
        label=f"no {binding.by} names {binding.wanted} any more, or it asks for nothing",
        related=(Related("it was named here before the change", place),),
        help=(f"fix: name it again, or let another filter or policy {instead}",),
        confidence="assumed" if sides.after.world.movable else "certain",
        ground=NOT_RENDERED if sides.after.world.movable else "",
        field=names,
        environments=(sides.after.world.name,),
    )
