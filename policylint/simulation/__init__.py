"""One environment in, its whole computed state out: what lint, diff, explain, trace and graph read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from policylint.catalog.kinds import Catalog
from policylint.clusters.kinds import BINDING, PLACEMENT, PLACEMENT_RULE, POLICY, POLICY_SET
from policylint.implementations import Implementation, implementation
from policylint.model import ROUTE_KINDS, Node, PolicyKind, Resolution, ResourceKey, World, faults
from policylint.model.kinds import BACKEND_KINDS, SERVICE
from policylint.model.world import Note
from policylint.network.kinds import CLUSTER_NETWORK_POLICY
from policylint.policy.bindings import ObjectBinding, bindings
from policylint.policy.connections import without_http
from policylint.policy.declared import Reading, declared, without
from policylint.policy.order_dependence import order_dependence
from policylint.policy.results import Attachment, Group, OrderDependence, PolicyState
from policylint.policy.validity import SCHEMA, edition, structural
from policylint.schema.broken import KUBERNETES, BrokenObject, as_stored, broken_objects
from policylint.schema.object_meta import AT as METADATA
from policylint.simulation.dispatch import Dispatch, Evaluation
from policylint.simulation.selected import Selected
from policylint.topology import BackendState, GatewayState, RouteState, Topology, build
from policylint.topology.ancestry import implementation_of
from policylint.topology.delegation import MOST_LEVELS
from policylint.topology.grants import Grants

if TYPE_CHECKING:
    from policylint.clusters.state import Hub
    from policylint.network.endpoints import Endpoint
    from policylint.network.hops import Hops
    from policylint.network.proxies import DataPlane
    from policylint.network.rules import PolicySpec
    from policylint.network.state import Network
    from policylint.policy.target_conditions import TargetCondition
    from policylint.simulation.acting import ActingIndex
    from policylint.simulation.clients import KnownClients
    from policylint.simulation.meshes import Meshes


class Simulation:
    """The computed state of one environment.

    Attributes:
        world: the objects, by identity.
        broken: the objects that break their schemas. Those that the API server refuses for it are in no computation.
        refused: what the API server refuses as it stands: a cluster has the former state, or none. By a CRD of the
            tree or for its name it is in no computation. By a shipped schema policies are in none, and the rest is
            judged by what it says, as a controller would: what is refused protects nothing, and shuts nobody out.
        catalog: the kinds of policies, shipped, configured and found as CRDs.
        topology: nodes, edges, route and listener statuses.
        policies: every policy of a kind with an evaluator, by key, sorted.
        groups: the effective policies: contexts with one stack share one result.
        order_dependent: results that hang on an order that is not stated.
        target_conditions: conditions that controllers write on what policies target.
        routes: the topology's, and those that are refused for their names alone, with the status that a controller
            would write if it saw them.
        bindings: the objects that routes, Services, Gateways and classes name by filter, annotation or parametersRef.
        cut: what was left out because there is too much of it; where anything was, the run was not done whole.
        unseen_accounts: whose workloads are no clients, as whoever asks about requests has it.
    """

    __slots__ = (
        "bindings",
        "broken",
        "catalog",
        "cut",
        "groups",
        "kept_acting",
        "kept_clients",
        "kept_doors",
        "kept_hops",
        "kept_hub",
        "kept_meshes",
        "kept_network_policies",
        "kept_tracer",
        "order_dependent",
        "policies",
        "refused",
        "routes",
        "target_conditions",
        "topology",
        "unseen_accounts",
        "world",
    )

    def __init__(
        self,
        world: World,
        catalog: Catalog,
        topology: Topology,
        policies: dict[ResourceKey, PolicyState],
        groups: list[Group],
        order_dependent: list[OrderDependence],
        target_conditions: list[TargetCondition],
        cut: Sequence[Note] = (),
        broken: tuple[BrokenObject, ...] = (),
        bindings: Sequence[ObjectBinding] = (),
        uncreated: Sequence[RouteState] = (),
    ) -> None:
        self.world = world
        self.catalog = catalog
        self.topology = topology
        self.policies = policies
        self.groups = groups
        self.order_dependent = order_dependent
        self.target_conditions = target_conditions
        self.cut = tuple(cut)
        self.broken = broken
        self.bindings = tuple(bindings)
        self.routes: Sequence[RouteState] = topology.routes
        if uncreated:
            self.routes = sorted([*topology.routes, *uncreated], key=lambda state: state.route.key)
        self.refused = {each.resource.key: each for each in broken if _is_named(each, catalog)}
        self.kept_acting: ActingIndex | None = None
        self.kept_clients: KnownClients | None = None
        self.kept_doors: Simulation | None = None
        self.kept_hops: Hops | None = None
        self.kept_network_policies: tuple[PolicySpec, ...] | None = None
        self.kept_hub: Hub | None = None
        self.kept_meshes: Meshes | None = None
        self.kept_tracer: object = None
        self.unseen_accounts: Collection[str] = ()

    @property
    def unevaluated(self) -> list[ObjectBinding]:
        """Return the bindings of objects that no evaluator judges, but for parameters, which set up no request."""
        others = (binding for binding in self.bindings if binding.form != "parameters")
        return [
            binding
            for binding in others
            if binding.form == "target" or binding.is_of_unknown_kind or binding.wanted not in self.policies
        ]

    @property
    def members(self) -> Mapping[ResourceKey, list[ObjectBinding]]:
        """Return what runs in place of objects that filters name, by these objects."""
        found: dict[ResourceKey, list[ObjectBinding]] = {}
        for binding in self.bindings:
            if binding.through is not None:
                found.setdefault(binding.through, []).append(binding)
        return found

    @property
    def acting(self) -> ActingIndex:
        """Where every policy acts; computed on first use."""
        if self.kept_acting is None:
            from policylint.simulation.acting import ActingIndex

            self.kept_acting = ActingIndex(self)
        return self.kept_acting

    @property
    def clients(self) -> KnownClients:
        """Who calls from inside, by name; computed on first use."""
        if self.kept_clients is None:
            from policylint.simulation.clients import KnownClients

            self.kept_clients = KnownClients(self.world, self.meshes, self.unseen_accounts)
        return self.kept_clients

    @property
    def hops(self) -> Hops:
        """The ways through the network, and the network policies on them; computed on first use."""
        if self.kept_hops is None:
            self.kept_hops = self.hops_among(self.topology.gateways, self.topology.routes)
        return self.kept_hops

    def hops_among(
        self, gateways: Iterable[GatewayState], routes: Iterable[RouteState], found: list[Endpoint] | None = None
    ) -> Hops:
        """Return the ways from some Gateways to the backends of some routes, among all workloads or those `found`."""
        from policylint.catalog.placements import placements
        from policylint.implementations.generic.data_planes import anywhere, data_planes
        from policylint.network.addressed import services_behind
        from policylint.network.hops import Hops

        planes: list[DataPlane] = []
        for gateway in gateways:
            places = placements(implementation_of(gateway, self.catalog) or gateway.served_by)
            planes += data_planes(self.world, gateway, places)
        unseen = {parent.unseen.key for route in routes for parent in route.parents if parent.unseen is not None}
        planes += map(anywhere, sorted(unseen - {plane.gateway for plane in planes}))
        backends = [backend for route in routes for backend in route.backends]
        services = [
            backend.wanted
            for backend in backends
            if backend.wanted[:2] == SERVICE and not backend.resolution.missing and not backend.wanted.unplaced
        ]
        others = (backend.resolution.resource for backend in backends if backend.wanted[:2] != SERVICE)
        services += services_behind(self.world, filter(None, others))
        return Hops(self.world, self.network_policies, planes, services, self.meshes.tunnel, found)

    @property
    def meshes(self) -> Meshes:
        """The meshes of the environment; computed on first use."""
        if self.kept_meshes is None:
            from policylint.simulation.meshes import Meshes

            self.kept_meshes = Meshes(self.world, self.catalog, self.topology, self.groups)
        return self.kept_meshes

    @property
    def network_policies(self) -> tuple[PolicySpec, ...]:
        """The network policies as written, those that are refused among them; read on first use."""
        if self.kept_network_policies is None:
            from policylint.implementations import network_policies

            self.kept_network_policies = network_policies(self.world, self.refused)
        return self.kept_network_policies

    @property
    def network(self) -> Network:
        """The network policies, ready for questions; computed on first use."""
        return self.hops.network

    @property
    def hub(self) -> Hub:
        """The policies of Open Cluster Management, ready for questions; computed on first use."""
        if self.kept_hub is None:
            from policylint.clusters.state import Hub

            self.kept_hub = Hub(self.world, self.refused)
        return self.kept_hub

    def give_back(self) -> None:
        """Drop what was only computed because somebody asked, and is computed again for whoever asks once more."""
        self.kept_acting = self.kept_doors = self.kept_hops = self.kept_hub = self.kept_meshes = None
        self.kept_network_policies = self.kept_tracer = None
        self.world.give_back()
        self.topology.world.give_back()

    def without(self, key: ResourceKey) -> Simulation:
        """Return the same environment simulated without an object, as if it were deleted."""
        return simulate(self.world.without(key), self.catalog)


_MOST_FAULTS = 10
"""Objects that are set aside before everything is."""


def simulate(world: World, catalog: Catalog) -> Simulation:
    """Run the whole computation over one environment (docs/design/semantics.md §3).

    An object that makes it fail is set aside, and the others are simulated without it; where it cannot be told which
    one that is, none is. What was done so stands in the world's faults.
    """
    while True:
        try:
            return _simulate(world, catalog)
        except faults.NOT_OURS:
            raise
        except Exception as error:
            if not world.resources:
                raise
            fault = faults.fault_of(error, f"the simulation of {world.name}", world.resources)
            world.note(fault)
            blamed = None if fault.about is None or len(world.set_aside) >= _MOST_FAULTS else fault.about.key
            world = world.setting_aside(world.resources if blamed is None else {blamed})


_OF_THEIR_OWN = (CLUSTER_NETWORK_POLICY, POLICY, POLICY_SET, BINDING, PLACEMENT, PLACEMENT_RULE)
"""Kinds of class Other that act by selectors and bindings; those of v1alpha1 were looser in some releases."""
_REFUSED = "the API server refuses it as it stands"
"""The reason why an object that breaks its schema is unknown: what the cluster holds of that name is another state."""


def _simulate(world: World, catalog: Catalog) -> Simulation:
    """Run the computation once.

    Kinds of class Other are recognised and left alone: their evaluators are not here. Those that filters name and that
    have a status are judged like policies (kgateway's DirectResponse).
    """
    cut: list[Note] = []
    broken = broken_objects(world, cut, catalog.releases, catalog.told)
    refused = {each.resource.key: each for each in broken if _is_refused(each, catalog)}
    accepted = world.setting_aside(refused, _REFUSED) if refused else world
    taken = [each for each in broken if each.resource.key not in refused]
    stored = {
        each.resource.key: as_stored(each)
        for each in taken
        if each.schema.exact or catalog.get(*each.resource.key[:2]) is not None
    }
    if stored:
        accepted = accepted.with_resources(stored)
    topology = _topology(accepted, catalog)
    for delegation in topology.further[:1]:
        message = (
            f"{delegation.parent} delegates below {MOST_LEVELS} levels of routes, and what is further down is left out"
        )
        cut.append(Note("GWP911", "limit", message, world.resources[delegation.parent].location(*delegation.pointer)))
    grants = Grants(accepted)
    dispatch = Dispatch(topology, catalog)
    states: dict[ResourceKey, PolicyState] = {}
    groups: list[Group] = []
    dependent: list[OrderDependence] = []
    target_conditions: list[TargetCondition] = []
    for group, name in world.kinds():
        kind = catalog.get(group, name)
        if kind is None or (kind.policy_class == "Other" and not kind.extension_ref):
            continue
        rejected = [each for key, each in refused.items() if key[:2] == (group, name)]
        evaluations = []
        for evaluator in dispatch.evaluators(kind):
            evaluation, conditions = _evaluate(kind, evaluator, topology, grants, catalog, cut, rejected)
            evaluations.append(evaluation)
            target_conditions += conditions
        joined = dispatch.join(evaluations)
        states.update((state.key, state) for state in joined.states)
        groups += joined.groups
        dependent += joined.dependent
    _revise_holders(topology, catalog, dispatch)
    topology.revise(_routes_with_conditions(topology, catalog, dispatch))
    uncreated = _uncreated(accepted, refused.values(), catalog)
    policies = dict(sorted(states.items()))
    bound = [*bindings(topology, catalog, grants), *_of_shape(policies)]
    return Simulation(
        world, catalog, topology, policies, groups, dependent, target_conditions, cut, broken, bound, uncreated
    )


def _topology(world: World, catalog: Catalog) -> Topology:
    return build(
        world,
        own_class=catalog.implementation_of_class,
        shares_hostnames=catalog.shares_hostnames,
        own_protocols=catalog.own_protocols,
        knows_group=catalog.knows_group,
    )


def _uncreated(accepted: World, refused: Iterable[BrokenObject], catalog: Catalog) -> list[RouteState]:
    """Return the routes that are refused for their names, as controllers would read them: in a topology of its own."""
    misnamed = (each.resource for each in refused if _is_misnamed(each))
    routes = {resource.key: resource for resource in misnamed if resource.key.kind in ROUTE_KINDS}
    if not routes:
        return []
    topology = _topology(accepted.with_resources(routes), catalog)
    dispatch = Dispatch(topology, catalog)
    _revise_holders(topology, catalog, dispatch)
    return [state for state in _routes_with_conditions(topology, catalog, dispatch) if state.route.key in routes]


def _of_shape(policies: Mapping[ResourceKey, PolicyState]) -> Iterator[ObjectBinding]:
    """Yield where the policies act whose kinds are known by their shape alone."""
    for key, state in policies.items():
        if state.is_of_shape:
            there = Resolution("found", "", state.policy)
            for target in state.targets:
                for node in target.nodes:
                    yield ObjectBinding("target", state.policy, target.pointer, node, key, state.kind, there)


def _is_refused(broken: BrokenObject, catalog: Catalog) -> bool:
    """Tell whether an object is in no computation: whatever it is where a CRD of the tree or its name says so; for a
    shipped schema policies alone, the cluster's may differ; what they name, as extensions, counts as it is written."""
    if (
        broken.refusal is None
        or broken.schema.origin is not None
        or broken.schema is KUBERNETES
        or _is_misnamed(broken)
    ):
        return broken.refusal is not None
    name = broken.resource.key[:2]
    kind = catalog.get(*name)
    if kind is None:
        return False
    return broken.certain or kind.policy_class != "Other" or kind.extension_ref or name in _OF_THEIR_OWN


def _is_misnamed(broken: BrokenObject) -> bool:
    """Tell whether no API server takes an object for its name or the like, whatever CRD it has."""
    return broken.refusal is not None and broken.refusal.pointer[:1] == METADATA


def _is_named(broken: BrokenObject, catalog: Catalog) -> bool:
    """Tell whether an object counts as refused; for what is no policy, words that a later release may know do not."""
    if broken.refusal is None or _is_refused(broken, catalog):
        return broken.refusal is not None
    return broken.schema.lasting and broken.refusal.code != "enum"


def _evaluate(
    kind: PolicyKind,
    evaluator: str,
    topology: Topology,
    grants: Grants,
    catalog: Catalog,
    cut: list[Note],
    rejected: Sequence[BrokenObject],
) -> tuple[Evaluation, list[TargetCondition]]:
    """Return one implementation's evaluation of all policies of a kind, and the conditions on their targets.

    What is left out is added to `cut`. The `rejected` policies of the kind take no part: no controller sees them. Of
    those that it would see with another CRD in the cluster, or another name, the status is what it would write then.
    """
    policies = catalog.policies(kind, topology.world.of_kind(kind.group, kind.kind))
    selected = Selected()
    read = [*policies, *(broken.resource for broken in rejected if not broken.certain or _is_misnamed(broken))]
    behaviour = _begun(kind, evaluator, topology, catalog)
    states = [_resolve(PolicyState(policy, kind), topology, grants, behaviour, selected) for policy in read]
    as_read: dict[ResourceKey, PolicyState] = {}
    if len(read) > len(policies):
        told_of_all = [state.resolved() for state in states]
        _judge(kind, told_of_all, topology, behaviour)
        as_read = {state.key: state for state in told_of_all}
        behaviour, states = _begun(kind, evaluator, topology, catalog), states[: len(policies)]
    groups, dependent = _judge(kind, states, topology, behaviour)
    if selected.left_out:
        cut.append(selected.note())
    target_conditions = behaviour.target_conditions(states, topology) if kind.target_condition else []
    for broken in rejected:
        state = _rejected(broken, kind, topology, grants, behaviour, selected)
        if state.key in as_read:  # what its controller says of it, should the cluster have another CRD
            told = as_read[state.key]
            state.ancestors, state.conditions, state.stanza = told.ancestors, told.conditions, told.stanza
        states.append(state)
    return Evaluation(evaluator, states, groups, dependent), target_conditions


def _begun(kind: PolicyKind, evaluator: str, topology: Topology, catalog: Catalog) -> Implementation:
    """Return one implementation, which is about to judge the policies of a kind."""
    behaviour = implementation(evaluator, catalog.settings(evaluator))
    behaviour.begin(kind, topology, catalog)
    return behaviour


def _judge(
    kind: PolicyKind, states: list[PolicyState], topology: Topology, behaviour: Implementation
) -> tuple[list[Group], list[OrderDependence]]:
    """Fill in what an implementation makes of the policies of a kind; return what they make together."""
    groups, dependent = _combine(kind, states, topology, behaviour)
    behaviour.judge(states, topology)
    for state in states:
        state.ancestors = behaviour.ancestors(state, topology)
        state.conditions = behaviour.conditions(state, topology)
        state.stanza = behaviour.stanza(state)
    return groups, dependent


def _revise_holders(topology: Topology, catalog: Catalog, dispatch: Dispatch) -> None:
    """Give Gateways and ListenerSets the conditions that their own controllers write."""
    names = {state.gateway.key: dispatch.of_gateway(state) for state in topology.gateways}
    behaviours = {name: implementation(name, catalog.settings(name)) for name in set(names.values())}
    writers = {key: behaviours[name] for key, name in names.items()}
    gateways = [writers[state.gateway.key].with_conditions(state, topology, catalog) for state in topology.gateways]
    sets = [
        writers[state.parent].with_conditions_of_set(state, topology, catalog) if state.parent in writers else state
        for state in topology.listener_sets
    ]
    topology.revise_holders(gateways, sets)


def _routes_with_conditions(topology: Topology, catalog: Catalog, dispatch: Dispatch) -> list[RouteState]:
    """Return the routes with the conditions that the controller of each parent writes."""
    names: dict[tuple[ResourceKey | None, bool], str] = {}
    writers: dict[str, Implementation] = {}
    routes = []
    for state in topology.routes:
        serving: set[str] = set()
        for parent in state.parents:
            place = (parent.gateway, parent.mesh)
            if place not in names:
                names[place] = dispatch.writer(parent)
            name = names[place]
            if name not in writers:
                writers[name] = implementation(name, catalog.settings(name))
            if parent.gateway is not None or parent.mesh:  # one that is not there serves nothing
                serving.add(name)
        route = state
        if len(serving) == 1:
            only = serving.pop()
            route = _as_taken(_as_read(state, only, catalog), writers[only], topology)
        parents = []
        for parent in state.parents:
            behaviour = writers[names[parent.gateway, parent.mesh]]
            conditions = behaviour.route_conditions(route, parent, topology)
            if conditions is not parent.conditions:
                refused = {each.reason for each in conditions if (each.type, each.status) == ("Accepted", "False")}
                serves = parent.accepted and bool(refused & behaviour.serves_refused)
                parent = parent._replace(conditions=conditions, serves=serves)
            if not behaviour.reports_on(route, parent, topology):
                parent = parent._replace(silent=True)
            parents.append(parent)
        routes.append(route._replace(parents=tuple(parents)))
    return routes


def _as_taken(route: RouteState, behaviour: Implementation, topology: Topology) -> RouteState:
    """Return a route with its backendRefs as the only controller that serves it takes them."""
    backends = behaviour.backends(route, topology)
    return route if backends is route.backends else route._replace(backends=backends)


def _as_read(route: RouteState, name: str, catalog: Catalog) -> RouteState:
    """Return a route whose backendRefs of kinds, or to Services, that an implementation does not read are marked."""
    read = catalog.backends(name)
    others = BACKEND_KINDS - read if read else frozenset()
    marked = [_marked(each, name, others, catalog) for each in route.backends]
    changed = any(new is not old for new, old in zip(marked, route.backends, strict=True))
    return route._replace(backends=tuple(marked)) if changed else route


def _marked(backend: BackendState, name: str, others: Collection[tuple[str, str]], catalog: Catalog) -> BackendState:
    if backend.reason:
        return backend
    if backend.wanted[:2] in others:
        message = f"{backend.wanted.kind} of {backend.wanted.group} is no kind of backend that {name} reads"
        return backend._replace(reason="InvalidKind", message=message)
    seen = backend.resolution.resource if backend.wanted[:2] == SERVICE else None
    if seen is None or seen.spec.get("type") != "ExternalName":
        return backend
    reason, status, message = catalog.refuses_names(name)
    return backend._replace(reason=reason, message=message, status=status) if reason or status else backend


def _resolve(
    state: PolicyState, topology: Topology, grants: Grants, behaviour: Implementation, selected: Selected
) -> PolicyState:
    """Fill in targets, declared settings and validity of one policy; the first thing that is wrong with it counts."""
    policy, kind = state.policy, state.kind
    state.targets = selected.within(state, behaviour.targets(policy, kind, topology, grants))
    state.declared = policy.once(declared, kind).declared
    fault = _fault(state, topology, behaviour)
    state.invalid, state.invalid_code, state.invalid_pointer = fault.reason, fault.code, fault.pointer
    return state


def _rejected(
    broken: BrokenObject,
    kind: PolicyKind,
    topology: Topology,
    grants: Grants,
    behaviour: Implementation,
    selected: Selected,
) -> PolicyState:
    """Return the state of a policy that the API server refuses: it aims at something, does nothing, has no status."""
    assert broken.refusal is not None
    state = PolicyState(broken.resource, kind)
    state.targets = selected.within(state, behaviour.targets(state.policy, kind, topology, grants))
    if broken.certain and (broken.schema.origin is not None or broken.schema.lasting):
        fault = _own_fault(state)
    else:  # the cluster may have another release: what the controller says itself is more certain
        state.declared = state.policy.once(declared, kind).declared
        fault, state.declared = _fault(state, topology, behaviour), ()
    if not fault.code:
        fault = Reading(code=SCHEMA, reason=broken.because, pointer=broken.refusal.pointer)
    state.invalid, state.invalid_code, state.invalid_pointer = fault.reason, fault.code, fault.pointer
    state.verdict = "Invalid"
    return state


def _fault(state: PolicyState, topology: Topology, behaviour: Implementation) -> Reading:
    """Return the first thing that is wrong with a policy, by itself, by its content or by where it is."""
    fault = _own_fault(state)
    if not fault.code:
        fault = behaviour.validate(state.policy, state.kind, state.declared, topology.world)
    return fault if fault.code else behaviour.validate_placement(state, topology)


def _own_fault(state: PolicyState) -> Reading:
    """Return what is wrong with a policy by itself, a Reading without code when nothing is."""
    fault = structural(state.policy, state.kind, state.targets)
    if not fault.code:
        fault = state.policy.once(declared, state.kind)
    return fault if fault.code else edition(state.policy, state.kind, state.targets)


def _combine(
    kind: PolicyKind, states: list[PolicyState], topology: Topology, behaviour: Implementation
) -> tuple[list[Group], list[OrderDependence]]:
    """Return the effective policies of all valid policies of one kind, and which of them hang on an unstated order."""
    if kind.origin == "shape":
        return [], []
    attached: dict[Node, list[Attachment]] = defaultdict(list)
    by_key = {state.key: state for state in states}
    failing: set[ResourceKey] = set()
    for state in states:
        settings = state.declared
        if state.invalid_code:
            left_out, fails = behaviour.acts_without(state, topology), behaviour.answers_with_errors(state)
            if left_out:
                settings = tuple(without(declared_spec, left_out) for declared_spec in state.declared)
            elif fails:
                settings = tuple(declared_spec._replace(proper={}) for declared_spec in state.declared)
            else:
                continue
            if fails:
                failing.add(state.key)
        for target in state.targets:
            for node in target.nodes:
                attached[node].append(Attachment(state.policy, node, target, settings))
    kept, refused = behaviour.claims(kind, attached)
    for refusal in refused:
        by_key[refusal.attachment.key].refused.append(refusal)
    if not any(kept.values()):
        return [], []
    groups = without_http(behaviour.groups(kind, kept, topology), behaviour.of_http(kind), topology)
    if failing:
        groups = [_with_failure(group, failing) for group in groups]
    for group in groups:
        for key in {attachment.key for attachment in group.effective.stack} - failing:
            by_key[key].groups.append(group)
    return groups, order_dependence(kind, kept, behaviour.merge)


def _with_failure(group: Group, failing: set[ResourceKey]) -> Group:
    """Return a group marked if the policy that prevails in it is one that the controller refuses."""
    last = group.effective.stack[-1]
    if last.key not in failing or (group.effective.owners and not any(each.proper for each in last.declared)):
        return group
    return group._replace(effective=group.effective._replace(refused=last.key))
