"""The protocol of implementations, and its defaults (GEP-713), which each module may override."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.catalog.kinds import Catalog, Phase
from policylint.documents import Pointer
from policylint.model import Node, PolicyKind, Resolution, Resource, ResourceKey, World
from policylint.policy import order, targets, verdict
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import (
    Ancestor,
    Attachment,
    Declared,
    Effective,
    Group,
    PolicyState,
    Refusal,
    Target,
    TargetProblem,
)
from policylint.topology import Condition, GatewayState, ListenerSetState, ParentState, RouteState, Topology, ancestry
from policylint.topology.ancestry import foreign, gateways_above
from policylint.topology.grants import Grants
from policylint.topology.routes import Rule

if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint
    from policylint.network.meshes import Tunnel
    from policylint.policy.authorizing import Checkpoint, Decision, RequestFacts, Routing
    from policylint.policy.beside import Beside
    from policylint.policy.target_conditions import TargetCondition

Attachments = dict[Node, list[Attachment]]
"""The attachments of one kind, by node."""


class Implementation:
    """The evaluation of policies by one implementation, stage by stage in this order; modules override what differs.

    Attributes:
        name: the implementation's name in the catalog.
        judges_core_kinds: whether it evaluates Gateway API's policies (BackendTLSPolicy) in its own way where it is the
            only implementation with kinds in the environment.
        regex_last: whether it ranks regular expressions after prefixes; the others do so between these and exact paths.
        calls_by_path: whether its GRPCRoutes take all requests with the path of a call, in one order with HTTPRoutes.
        hosts_of_port: whether requests without TLS go to the route for the narrowest host on their port, whatever
            listener it is attached to; elsewhere the listener with the narrowest hostname alone serves them.
        host_first: whether the routes for the narrowest host alone take a request, so that it gets 404 where none of
            their rules does; elsewhere it goes on to routes for wider hosts.
        is_mesh: whether it reports on routes whose parent is a Service.
        ends_above: whether a path that ends above the level of the kind is a context too (see `Effects`).
        serves_refused: whether routes that only `route_conditions` does not accept are served all the same.
        empty_delegation: the status for what a rule matches that delegates to no route which counts below it.
        asked_by_requests: whether what a change lets in at workloads is told by asking `admit` about requests.
        settings: of the controller, by the names of the catalog; what is not in it has its default.
        release: of the controller, None where it is not known.
        topology, catalog: of the environment, from `begin` on.
    """

    name = "generic"
    judges_core_kinds = False
    is_mesh = False
    regex_last = False
    calls_by_path = False
    hosts_of_port = False
    host_first = False
    ends_above = False
    empty_delegation = 404
    asked_by_requests = False
    serves_refused = False
    settings: Mapping[str, Any] = {}
    release: tuple[int, ...] | None = None
    topology: Topology
    catalog: Catalog

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:  # noqa: ARG002
        """Keep what later stages need; an instance evaluates one kind of one environment."""
        self.topology = topology
        self.catalog = catalog

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve the declared references to nodes."""
        return targets.targets(policy, kind, topology, grants)

    def validate(
        self,
        policy: Resource,  # noqa: ARG002 - for modules that override this
        kind: PolicyKind,
        declared: tuple[Declared, ...],
        world: World,  # noqa: ARG002
    ) -> Reading:
        """Return what is refused beyond the pattern's own rules; by default a spec without any required field."""
        if kind.required and not any(spec.proper.get(name) for spec in declared for name in kind.required):
            names = " or ".join(f"`{name}`" for name in kind.required)
            return Reading(code="required", reason=f"{kind.kind} sets none of {names}", pointer=("spec",))
        return Reading()

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:  # noqa: ARG002
        """Return what is refused because of the targets, once references and spec are valid; by default nothing."""
        return Reading()

    def answers_with_errors(self, state: PolicyState) -> bool:  # noqa: ARG002
        """Return whether an invalid policy keeps its place, and every request there is answered with an error."""
        return False

    def acts_without(self, state: PolicyState, topology: Topology) -> tuple[Pointer, ...]:  # noqa: ARG002
        """Return the parts without which the rest of an invalid policy acts; none where nothing of it does."""
        return ()

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Return the attachments that keep their nodes, by the kind's conflict rule, and those refused."""
        if kind.conflict == "overlapping-fields":
            from policylint.policy.overlap import overlap_claims

            return overlap_claims(kind, attached)
        return order.claims(kind, attached)

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return the effective policies of a kind, by default one per stack of policies over all contexts."""
        if kind.cross_namespace == "clients":
            return self._groups_of_clients(kind, kept, topology)
        return self.effects(kind, kept, topology).groups()

    def of_http(self, kind: PolicyKind) -> Collection[str]:
        """Return the settings of a kind that no connection without HTTP can have; by default every login."""
        return kind.settings.authentication

    def _groups_of_clients(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return the groups of a kind whose policies on other namespaces are for traffic from their own alone.

        Traffic comes from the namespace of the Gateway, or of the route of a mesh, that it passes first (GEP-713 of
        2023, «Policy TargetRef API»).
        """
        everything = (attachment for attached in kept.values() for attachment in attached)
        clients = {attachment.policy.key.namespace for attachment in everything if _is_of_client(attachment)}
        groups: list[Group] = []
        for namespace in (None, *sorted(clients)):
            acting = {
                node: [
                    attachment
                    for attachment in attached
                    if not _is_of_client(attachment) or attachment.policy.key.namespace == namespace
                ]
                for node, attached in kept.items()
            }
            elsewhere = frozenset(
                vertex
                for vertex, key in ancestry.origins(topology)
                if (key.namespace in clients if namespace is None else key.namespace != namespace)
            )
            unread = ancestry.unread(topology, kind, self.catalog) | elsewhere
            effects = Effects(topology, kind, acting, self.merge, ends_above=self.ends_above, unread=unread)
            groups += effects.groups(alone=namespace is None)
        return groups

    def effects(
        self, kind: PolicyKind, kept: Attachments, topology: Topology, idle: frozenset[tuple[Node, Node]] = frozenset()
    ) -> Effects:
        """Return what computes the groups: over contexts whose controllers read the kind, and along `idle` no edge."""
        unread = ancestry.unread(topology, kind, self.catalog)
        return Effects(topology, kind, kept, self.merge, ends_above=self.ends_above, idle=idle, unread=unread)

    def merge(self, stack: Stack) -> Effective:
        """Return the effective policy of a stack; by default by the kind's merge strategy."""
        from policylint.policy.strategies import merge

        return merge(stack)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:  # noqa: ARG002
        """Set verdict and `by` of every policy of one kind; by default from what survives where."""
        for state in states:
            verdict.judge(state)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:  # noqa: ARG002
        """Return the status.ancestors that the controller writes; by default none."""
        return ()

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return the conditions of kinds with one flat status.

        By default whether the policy is accepted, for the reasons that the catalog lists; nothing where none fits.
        """
        if state.kind.status != "conditions" or state.kind.origin != "catalog":
            return ()
        return tuple(_accepted(state))

    def in_words(self, policy: Resource) -> str:  # noqa: ARG002
        """Return what a policy as a whole does to requests, where its fields alone do not say so; else ""."""
        return ""

    def stanza(self, state: PolicyState) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the status of controllers whose status has a shape of its own; by default an empty one."""
        return {}

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:  # noqa: ARG002
        """Return the conditions that the controller writes on the targets of all policies of one kind.

        By default one per object and kind where the catalog names a `targetCondition`.
        """
        from policylint.policy.target_conditions import of_targets

        return list(of_targets(states))

    def refuses(self, route: Resource) -> str:  # noqa: ARG002
        """Return why the controller accepts a route at none of its Gateways, by its content; "" where it does.

        `begin` is not called before it.
        """
        return ""

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return the conditions that the controller writes on one parentRef of a route.

        By default the topology's, but for what it refuses. `begin` is not called before it.
        """
        why = self.refuses(route.route)
        if not why or not parent.accepted:
            return parent.conditions
        refused = Condition("Accepted", "False", "UnsupportedValue", why)
        return tuple(refused if condition.type == "Accepted" else condition for condition in parent.conditions)

    def reports_on(self, parent: ParentState, topology: Topology) -> bool:
        """Return whether the controller writes an entry for a parent in the status of a route.

        There is none for a parent that is not there, nor for a Gateway without a class.
        """
        gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
        if gateway is None:
            return parent.mesh or parent.resolution.unknown
        return not gateway.class_resolution.missing

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:  # noqa: ARG002
        """Return a Gateway with the conditions that the controller writes on it and its listeners.

        By default the topology's. `begin` is not called before it.
        """
        return state

    def with_conditions_of_set(
        self,
        state: ListenerSetState,
        topology: Topology,  # noqa: ARG002
        catalog: Catalog,  # noqa: ARG002
    ) -> ListenerSetState:
        """Return a ListenerSet with the conditions that the controller writes on it and its listeners, as above."""
        return state

    def sharing(
        self,
        gateway: GatewayState,  # noqa: ARG002
        topology: Topology,  # noqa: ARG002
        catalog: Catalog,  # noqa: ARG002
    ) -> Collection[ResourceKey]:
        """Return the Gateways whose requests one proxy takes together with those of a Gateway; () where it has its own.

        `begin` is not called before it.
        """
        return ()

    def unserved_listeners(self, topology: Topology, catalog: Catalog) -> Mapping[Node, str]:  # noqa: ARG002
        """Return the listeners that the controller accepts and the proxy does not serve, with why; by default none.

        `begin` is not called before it.
        """
        return {}

    def backend_faults(self, route: RouteState, topology: Topology) -> Mapping[Pointer, tuple[str, str]]:  # noqa: ARG002
        """Return which backendRefs of a route the controller refuses, with reason and message; by default none.

        It is asked where all parents of a route are its own. `begin` is not called before it.
        """
        return {}

    def phases(
        self,
        kind: PolicyKind,
        spec: Mapping[str, Any],
        gateway: ResourceKey | None,
        topology: Topology,
        catalog: Catalog,
    ) -> Mapping[str, int]:
        """Return the fields of an effective spec that act at a known place of the order, with their places.

        By default as the catalog says; `begin` is not called before it.

        Args:
            gateway: on the way to which they act, None for traffic through none.
        """
        return placed(kind, spec, self.order(gateway, topology, catalog))

    def order(
        self,
        gateway: ResourceKey | None,  # noqa: ARG002 - for modules that override this
        topology: Topology,  # noqa: ARG002
        catalog: Catalog,
    ) -> Sequence[Phase]:
        """Return the order in which settings act at a Gateway."""
        return catalog.order(self.name)

    def client_certificates(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Pointer:  # noqa: ARG002
        """Return where an effective spec demands certificates of a listener's clients, () where it does not."""
        return ()

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:  # noqa: ARG002
        """Return what an effective spec answers one request; by default nothing is decided."""
        return ()

    def gives_way(self, kind: PolicyKind, path: str, beside: Iterable[Effective]) -> bool:  # noqa: ARG002
        """Return whether a setting does not act on a request because of policies of other kinds that it meets.

        By default it acts.

        Args:
            path: of the setting below the spec proper, dotted.
            beside: what else the request meets, of all kinds.
        """
        return False

    def concerning(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Mapping[str, Any]:  # noqa: ARG002
        """Return what of an effective spec is about one request; by default all of it.

        What is left out has conditions that do not hold; conditions that do are left out, too.
        """
        return spec

    def written_out(
        self,
        kind: PolicyKind,  # noqa: ARG002
        effective: Effective,  # noqa: ARG002
        spec: Mapping[str, Any],
        world: World,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return what of an effective spec is about one request, with the code that it names in its place."""
        return spec

    def rule_fault(self, route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:  # noqa: ARG002
        """Return what the rule of a route answers, and why, because the controller refuses it; by default None.

        `begin` is not called before it.
        """
        return None

    def filter_fault(self, extension: Resource, topology: Topology) -> str:  # noqa: ARG002
        """Return why the controller cannot use an object that a filter names, so that its rule answers 500; else "".

        `begin` is not called before it.
        """
        return ""

    def identifies_clients(self, gateway: Resource, world: World) -> bool:  # noqa: ARG002
        """Return whether the clients of a Gateway may show certificates of the mesh; by default they may."""
        return True

    def fronts(self, backend: Resource, caller: Resource | None, world: World) -> Checkpoint | None:  # noqa: ARG002
        """Return the proxy that requests pass before they come to the pods of a Service or a workload; by default none.

        Args:
            caller: the Gateway or the workload that sends them; None where that is not known.
        """
        return None

    def admit(self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World) -> Decision | None:  # noqa: ARG002
        """Return whether a request is let in at a place; by default None: nothing is known to ask there.

        Args:
            groups: the effective policies of this implementation.
        """
        return None

    def admit_probe(
        self,
        call: RequestFacts,  # noqa: ARG002
        hop: Checkpoint,  # noqa: ARG002
        groups: Sequence[Group],  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> Decision | None:
        """Return whether a probe of the kubelet is let in; by default None: it meets no policy."""
        return None

    def routing(
        self,
        service: Resource,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        port: int | None,  # noqa: ARG002
        world: World,  # noqa: ARG002
        *,
        stream: bool,  # noqa: ARG002
    ) -> Routing | None:
        """Return which routes of a Service the requests of a workload meet; by default None: that is not known.

        Args:
            caller: None where it is not known.
            stream: whether they are connections without requests.
        """
        return None

    def blocked(
        self,
        service: Resource,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        port: int | None,  # noqa: ARG002
        world: World,  # noqa: ARG002
    ) -> Decision | None:
        """Return the refusal of a workload's own proxy to send requests to a Service; by default it sends them."""
        return None

    def may_refuse(self, call: RequestFacts, service: Resource, world: World) -> bool:  # noqa: ARG002
        """Tell whether a policy may turn a request away at the pods of a Service, of which none was seen."""
        return False

    def is_of_whole_mesh(self, key: ResourceKey) -> bool:  # noqa: ARG002
        """Tell whether an object that is no policy may matter to all requests of the mesh; by default none does."""
        return False

    def authorizers(self, world: World) -> frozenset[str] | None:  # noqa: ARG002
        """Return the names of the external authorizers that policies may ask; None where they were not seen."""
        return None

    def beside(self, world: World) -> Iterable[Beside]:  # noqa: ARG002
        """Return what decides on requests beside policies and is not evaluated."""
        return ()

    def proxied(self, workload: Resource, world: World) -> bool | None:  # noqa: ARG002
        """Return whether the pods of a workload have a proxy of the mesh beside them; None where it is not known."""
        return False

    def tunnel(self, source: Endpoint, target: Endpoint, world: World) -> Tunnel | None:  # noqa: ARG002
        """Return what the mesh makes of a TCP connection between two ends, where it wraps it; by default nothing."""
        return None

    def is_foreign(self, key: ResourceKey) -> bool:
        """Tell whether an object stands below Gateways, and all of them are served by other implementations."""
        return foreign(self.topology, key, self.name, self.catalog)


def placed(kind: PolicyKind, spec: Mapping[str, Any], order: Sequence[Phase]) -> dict[str, int]:
    """Return the fields of a spec that an order names, with their places in it."""
    places = {setting: place for place, phase in enumerate(order) for setting in phase.settings}
    named = ((field, places.get(f"{kind.kind}.{field}", places.get(f"{kind.kind}.*"))) for field in spec)
    return {field: place for field, place in named if place is not None}


def walk(value: Any, pointer: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    """Yield a value and everything inside it, each before its content, with pointers that continue `pointer`."""
    yield pointer, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from walk(inner, (*pointer, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(inner, (*pointer, index))


def controller_above(topology: Topology, key: ResourceKey) -> str:
    """Return the controllerName of the first Gateway that leads to an object, "" where it is not known."""
    gateways = (topology.gateway(gateway) for gateway in gateways_above(topology, key))
    return next((gateway.controller for gateway in gateways if gateway is not None), "")


def resolved_to(target: Target, *nodes: Node, reason: str = "", resource: Resource | None = None) -> Target:
    """Return a target that resolves to some nodes, whatever was wrong with it."""
    return target._replace(nodes=nodes, resolution=Resolution("found", reason, resource), problem="", detail="")


def unresolved(target: Target, problem: TargetProblem, detail: str) -> Target:
    """Return a target that resolves to nothing, and why."""
    return target._replace(nodes=(), resolution=Resolution("missing", detail), problem=problem, detail=detail)


def fault_of(state: PolicyState) -> str:
    """Return why a policy is invalid or what is wrong with the first of its targets, "" where nothing is."""
    return state.invalid or next((target.detail for target in state.targets if target.problem), "")


_REFUSED = ("Conflicted", "Invalid", "TargetNotFound")
"""Verdicts with which a policy is not accepted; most controllers call the reasons so too."""


def _accepted(state: PolicyState) -> Iterator[Condition]:
    """Yield `Accepted`, or what the kind has instead (GKE: `Attached`)."""
    if state.verdict == "Unknown":
        return
    for name in ("Accepted", "Attached"):
        reasons = state.kind.conditions.get(name, ())
        if state.verdict not in _REFUSED:
            if name in reasons:
                yield Condition(name, "True", name)
            continue
        words = (state.invalid_code, state.verdict, f"Not{name}")
        reason = next((word for word in words if word in reasons), "")
        if reason:
            yield Condition(name, "False", reason, fault_of(state))


def _is_of_client(attachment: Attachment) -> bool:
    """Return whether a policy is attached to an object of another namespace."""
    home, namespace = attachment.policy.key.namespace, attachment.node.key.namespace
    return bool(home and namespace) and home != namespace
