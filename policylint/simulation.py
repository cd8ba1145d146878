"""One environment in, its whole computed state out: what lint, diff, explain, trace and graph read."""

from __future__ import annotations

from collections import defaultdict

from policylint.implementations import Implementation, implementation
from policylint.model import GATEWAY_GROUP, Node, PolicyKind, ResourceKey, World, text
from policylint.model.catalog import Catalog
from policylint.policy.affected import Mark
from policylint.policy.declared import declared
from policylint.policy.dependence import order_dependence
from policylint.policy.state import Attachment, Group, OrderDependence, PolicyState
from policylint.policy.validity import edition, structural
from policylint.topology import GatewayState, ParentState, RouteState, Topology, build
from policylint.topology.grants import Grants

CORE = "gateway-api"
"""The catalog's implementation of Gateway API's own kinds."""


class Simulation:
    """The computed state of one environment.

    Attributes:
        world: the objects, by identity.
        catalog: the kinds of policies, shipped, configured and found as CRDs.
        topology: nodes, edges, route and listener statuses.
        policies: every policy of a kind with an evaluator, by key, sorted.
        groups: the effective policies: contexts with one stack share one result.
        order_dependent: results that hang on an order that is not stated.
        marks: conditions that controllers write on what policies target.
    """

    __slots__ = ("catalog", "groups", "marks", "order_dependent", "policies", "topology", "world")

    def __init__(
        self,
        world: World,
        catalog: Catalog,
        topology: Topology,
        policies: dict[ResourceKey, PolicyState],
        groups: list[Group],
        order_dependent: list[OrderDependence],
        marks: list[Mark],
    ) -> None:
        self.world = world
        self.catalog = catalog
        self.topology = topology
        self.policies = policies
        self.groups = groups
        self.order_dependent = order_dependent
        self.marks = marks

    def affected(self) -> dict[Node, tuple[ResourceKey, ...]]:
        """Per node at or below a target the policies that own something in a context through it."""
        found: dict[Node, set[ResourceKey]] = {}
        for group in self.groups:
            sources = frozenset(group.effective.owners.values())
            for node, above in group.nodes.items():
                found.setdefault(node, set()).update(sources & above)
        return {node: tuple(sorted(keys)) for node, keys in sorted(found.items())}


def simulate(world: World, catalog: Catalog) -> Simulation:
    """Run the whole computation over one environment (semantics.md (a3)).

    Kinds of class Other are recognised and left alone: their evaluators are not here. Those that filters name and that
    have a status are judged like policies (kgateway's DirectResponse).
    """
    topology = build(world)
    grants = Grants(world)
    states: dict[ResourceKey, PolicyState] = {}
    groups: list[Group] = []
    dependent: list[OrderDependence] = []
    marks: list[Mark] = []
    for group, name in world.kinds():
        kind = catalog.get(group, name)
        if kind is None or (kind.policy_class == "Other" and not kind.extension_ref):
            continue
        judge = _judge_of(kind, world, catalog)
        behaviour = implementation(judge, catalog.settings(judge))
        behaviour.begin(kind, topology, catalog)
        judged = [_resolve(PolicyState(each, kind), topology, grants, behaviour) for each in world.of_kind(group, name)]
        found, ordered = _combine(kind, judged, topology, behaviour)
        groups += found
        dependent += ordered
        behaviour.judge(judged, topology)
        for state in judged:
            state.ancestors = behaviour.ancestors(state, topology)
            state.conditions = behaviour.conditions(state, topology)
            state.stanza = behaviour.stanza(state)
            states[state.key] = state
        if kind.target_condition:
            marks += behaviour.marks(judged, topology)
    topology.revise(_reported(topology, catalog))
    return Simulation(world, catalog, topology, dict(sorted(states.items())), groups, dependent, marks)


def _reported(topology: Topology, catalog: Catalog) -> list[RouteState]:
    """The routes with the conditions that the controller of each parent writes."""
    names: dict[tuple[ResourceKey | None, bool], str] = {}
    writers: dict[str, Implementation] = {}
    found = []
    for route in topology.routes:
        parents = []
        for parent in route.parents:
            place = (parent.gateway, parent.mesh)
            if place not in names:
                names[place] = _writer_of(parent, topology, catalog)
            writer = _writer(names[place], writers, catalog)
            conditions = writer.route_conditions(route, parent, topology)
            parents.append(parent if conditions is parent.conditions else parent._replace(conditions=conditions))
        found.append(route._replace(parents=tuple(parents)))
    return found


def _writer(name: str, writers: dict[str, Implementation], catalog: Catalog) -> Implementation:
    if name not in writers:
        writers[name] = implementation(name, catalog.settings(name))
    return writers[name]


def _writer_of(parent: ParentState, topology: Topology, catalog: Catalog) -> str:
    """The implementation that reports on a parent: by its controller, by the name of its class, or as the only mesh."""
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    if gateway is not None:
        return _controls(gateway, catalog)
    if not parent.mesh:
        return CORE
    present = {_controls(each, catalog) for each in topology.gateways}
    classes = topology.world.of_kind(GATEWAY_GROUP, "GatewayClass")
    present |= {catalog.implementation_of_controller(text(each.spec.get("controllerName"))) or CORE for each in classes}
    kinds = (catalog.get(*each) for each in topology.world.kinds())
    present |= {each.implementation for each in kinds if each is not None}
    meshes = [each for each in sorted(present) if implementation(each).is_mesh]
    return meshes[0] if len(meshes) == 1 else CORE


def _controls(gateway: GatewayState, catalog: Catalog) -> str:
    if gateway.controller:
        return catalog.implementation_of_controller(gateway.controller) or CORE
    return catalog.implementation_of_class(gateway.class_key.name) or CORE


def _judge_of(kind: PolicyKind, world: World, catalog: Catalog) -> str:
    """Which implementation judges a kind: its own, and for core kinds that of the GatewayClasses in the environment.

    Where no class tells, it is the only implementation with kinds there (interfaces.md).
    """
    if kind.implementation != CORE:
        return kind.implementation
    classes = world.of_kind(GATEWAY_GROUP, "GatewayClass")
    serving = (catalog.implementation_of_controller(text(each.spec.get("controllerName"))) for each in classes)
    present = {each for each in serving if each is not None}
    if not present:
        known = (catalog.get(*each) for each in world.kinds())
        present = {each.implementation for each in known if each is not None} - {CORE}
    only = present.pop() if len(present) == 1 else CORE
    return only if implementation(only).judges_core_kinds else CORE


def _resolve(state: PolicyState, topology: Topology, grants: Grants, behaviour: Implementation) -> PolicyState:
    """Targets, specs proper and validity of one policy."""
    policy, kind = state.policy, state.kind
    state.targets = behaviour.targets(policy, kind, topology, grants)
    reading = declared(policy, kind)
    state.declared = reading.declared
    fault = structural(policy, kind, state.targets)
    if not fault.code:
        fault = reading
    if not fault.code:
        fault = edition(policy, kind, state.targets)
    if not fault.code:
        fault = behaviour.validate(policy, kind, state.declared, topology.world)
    if not fault.code:
        fault = behaviour.validate_placement(state, topology)
    state.invalid, state.invalid_code, state.invalid_pointer = fault.reason, fault.code, fault.pointer
    return state


def _combine(
    kind: PolicyKind, states: list[PolicyState], topology: Topology, behaviour: Implementation
) -> tuple[list[Group], list[OrderDependence]]:
    """Claims, effective policies and order dependence of all valid policies of one kind."""
    attached: dict[Node, list[Attachment]] = defaultdict(list)
    by_key = {state.key: state for state in states}
    for state in states:
        if state.invalid_code:
            continue
        for target in state.targets:
            for node in target.nodes:
                attached[node].append(Attachment(state.policy, node, target, state.declared))
    kept, refused = behaviour.claims(kind, attached)
    for refusal in refused:
        by_key[refusal.attachment.key].refused.append(refusal)
    if not any(kept.values()):
        return [], []
    groups = behaviour.groups(kind, kept, topology)
    for group in groups:
        for key in {each.key for each in group.effective.stack}:
            by_key[key].groups.append(group)
    return groups, order_dependence(kind, kept, behaviour.merge)
