"""Istio: policies name workloads by label, or Gateways and Services by targetRefs; most add up.

Source: docs/design/implementations/istio.md.

A policy reaches proxies: sidecars and ztunnels of workloads, Gateways that istiod deploys, and waypoints, which act
once per Service behind them. What each module knows:

* `labels`: labels, classes, controllers; `mesh` and `waypoints`: proxies, their own settings, the Services behind them;
* `targets`, `validation`: the references of a policy, and refusals of the API server; `contexts`: policies by proxy;
* `additive`, `inheriting`, `telemetry`: their merges, by way of `provenance`;
* `admission`: whether one request is let in, with `calling`, who its client is and whether it passes a waypoint, and
  `tokens`, what a proxy knows of its token;
* `conditions`, `ztunnel`, `backends`, `listeners`, `routes`, with `route_backends`: the statuses that istiod writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from policylint.implementations.generic import Attachments, Implementation
from policylint.implementations.generic.narrower import kept_by_narrower
from policylint.implementations.istio import (
    additive,
    admission,
    backends,
    calling,
    client_addresses,
    conditions,
    inheriting,
    labels,
    listeners,
    route_backends,
    routes,
    tokens,
    unseen,
    virtual_services,
)
from policylint.implementations.istio import targets as naming
from policylint.implementations.istio.contexts import ProxyContexts
from policylint.implementations.istio.mesh import Mesh, membership_of
from policylint.implementations.istio.no_effect import idle
from policylint.implementations.istio.own_gateways import asks_for_identities, served_by
from policylint.implementations.istio.protocols import connections
from policylint.implementations.istio.telemetry import BOTH, DEFAULT_PROVIDERS, telemetry
from policylint.implementations.istio.validation import faults
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.authorizing import Checkpoint, Client, Decision, Leading, RequestFacts, Routing
from policylint.policy.declared import Reading
from policylint.policy.folding import Stack
from policylint.policy.order import by_age
from policylint.policy.results import (
    Ancestor,
    Attachment,
    Declared,
    Effective,
    FaultyPart,
    Group,
    PolicyState,
    Refusal,
    Target,
)
from policylint.policy.validity import SWITCHED_OFF
from policylint.topology import (
    BackendState,
    Condition,
    GatewayState,
    ListenerSetState,
    ParentState,
    RouteState,
    Topology,
    whole,
)
from policylint.topology.grants import Grants
from policylint.topology.routes import Rule
from policylint.topology.workloads import pod_labels

if TYPE_CHECKING:
    from policylint.catalog.kinds import Catalog
    from policylint.documents import Pointer
    from policylint.implementations.generic.control_plane import ControlPlane
    from policylint.implementations.generic.dead_ends import DeadEnd
    from policylint.implementations.generic.detecting import Detection
    from policylint.implementations.generic.idle_labels import IdleLabel
    from policylint.implementations.generic.sessions import BackendSession
    from policylint.implementations.generic.traffic import ServingMatch
    from policylint.implementations.generic.workload_ports import WorkloadPort
    from policylint.matches import Match
    from policylint.model import Location
    from policylint.network.endpoints import Endpoint
    from policylint.network.meshes import Tunnel
    from policylint.policy.beside import Beside
    from policylint.policy.client_addresses import Believed
    from policylint.topology.workloads import Labels

_HBONE = 15008
"""The port of the tunnel between ztunnels."""
_REWRITES = "sidecar.istio.io/rewriteAppHTTPProbers"
_XDS = 15012
"""The port of istiod that sidecars ask for their configuration and their certificates."""


class Istio(Implementation):
    """The kinds of Istio, and Gateway API's policies on backends where Istio is the only implementation.

    The kinds are AuthorizationPolicy, RequestAuthentication, PeerAuthentication, Telemetry, WasmPlugin,
    TrafficExtension, EnvoyFilter and ProxyConfig.
    """

    name = "istio"
    upgrades_outlast = True
    preflights = 200, False
    regex_last = True
    entering_fronts = labels.INGRESS_USE_WAYPOINT
    judges_core_kinds = True
    host_first = True  # one virtual host per hostname (pilot/pkg/networking/core/gateway.go, vHostDedupMap)
    hosts_of_port = frozenset({"http"})  # servers of a port without TLS share a route config (gateway.go)
    calls_by_path = True  # pilot/pkg/config/kube/gateway/conversion.go, createGRPCURIMatch
    tells_requests = True  # listeners that detect the protocol look requests up among HTTP routes alone (listener.go)
    is_mesh = True
    _groups: Sequence[Group] = ()
    _at: dict[tuple[Node, ...], dict[str, Group]]
    _past: dict[ResourceKey, admission.Past]

    @property
    def root_namespace(self) -> str:
        """Return meshConfig.rootNamespace."""
        return text(self.settings.get("rootNamespace"), labels.ROOT_NAMESPACE)

    @property
    def _trust_domains(self) -> Sequence[str]:
        """Return meshConfig.trustDomain, then its aliases."""
        own = text(self.settings.get("trustDomain"), "cluster.local")
        return (own, *map(text, sequence(self.settings.get("trustDomainAliases"))))

    @cached_property
    def _reading_authorizers(self) -> Callable[[World], frozenset[str] | None]:
        """What reads them: one and the same for `World.once`."""
        from policylint.implementations.istio.beside import authorizers

        return partial(authorizers, root=self.root_namespace)

    @property
    def _open_gateways(self) -> bool:
        """Tell whether Gateways take policies that do not name them."""
        return self.settings.get("selectorBasedGatewayPolicy") is not False

    @property
    def _providers(self) -> Mapping[str, Any]:
        """Return meshConfig.defaultProviders."""
        return mapping(self.settings.get("defaultProviders", DEFAULT_PROVIDERS))

    def reads(self, rule: Mapping[str, Any], found: Sequence[Match], *, grpc: bool) -> Sequence[Match]:  # noqa: ARG002
        """Return matches of which the slash at the end of a prefix does not count (createURIMatch)."""
        from policylint.implementations.istio.calls import without_slash

        return found if grpc else list(map(without_slash, found))

    def outplaced(self, place: int, first: int) -> str:  # noqa: ARG002
        return "routes of its hostname come after those of another one, where the oldest is"

    def placed(self, found: Sequence[ServingMatch]) -> Iterable[tuple[int, int]] | None:
        """Return the matches by the sets of their routes (`sets.py`)."""
        from policylint.implementations.istio.sets import placed

        return placed(found)

    def of_call(self, call: Match) -> Match:
        """Return a match on calls as one on paths, where Istio's own order has it."""
        from policylint.implementations.istio.calls import of_call

        return of_call(call)

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve targetRefs; without any the selected workloads, else the namespace (§0)."""
        if kind.implementation != self.name:
            named = super().targets(policy, kind, topology, grants)
            return backends.targets(kind, topology, named, own_imports=self.settings.get("mcsHosts") is True)
        named = super().targets(policy, kind, topology, grants)
        implied = naming.without_references(
            policy, topology.world.once(Mesh), topology.world, self.root_namespace, self._open_gateways
        )
        return (*map(naming.made_by_istiod, named), *implied)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Return the refusals of Istio's webhook and CRDs; for BackendTLSPolicy those of its controller."""
        if kind.implementation != self.name:
            if unread := self.catalog.unread(self.name, kind.kind):
                return Reading(code=SWITCHED_OFF, reason=unread, pointer=("apiVersion",))
            reading = super().validate(policy, kind, declared, world)
            return reading if reading.code else backends.validate(policy, kind, world)
        fault = next(faults(policy, kind), None)
        return fault if fault is not None else super().validate(policy, kind, declared, world)

    def answers_with_errors(self, state: PolicyState) -> bool:
        """Return whether a BackendTLSPolicy has no CA: it keeps its Service, and nothing gets there (§8)."""
        return state.kind.kind == labels.BACKEND_TLS and state.invalid_code == backends.NO_CA

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Apply the catalog's conflict rule; XBackendTrafficPolicies of one Service add up (§8)."""
        return super().claims(kind._replace(conflict="none") if kind.kind == labels.BACKEND_TRAFFIC else kind, attached)

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return groups over one context per workload, Gateway, or Service behind a waypoint."""
        if kind.implementation != self.name:
            return super().groups(kind, kept, topology)
        contexts = ProxyContexts(topology.world.once(Mesh), kind, kept, self.root_namespace, self._open_gateways)
        return contexts.groups(partial(compose, providers=self._providers))

    def merge(self, stack: Stack) -> Effective:
        """Return the effective policy of a stack, in the order given."""
        if stack.kind.implementation != self.name:
            return backends.traffic(stack) if stack.kind.kind == labels.BACKEND_TRAFFIC else super().merge(stack)
        attachments = stack.attachments
        if stack.kind.kind == labels.AUTHORIZATION:  # order means nothing among them
            attachments = tuple(by_age(attachments))
        return compose(stack.kind, attachments, (), self._providers)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set the generic verdicts; a policy whose selector Istio ignores is accepted and in no context."""
        super().judge(states, topology)
        mesh, world = topology.world.once(Mesh), topology.world
        for state in states:
            resolved = all(target.resolution.found and not target.problem for target in state.targets)
            if state.verdict == "Unknown" and state.targets and resolved:
                state.verdict = "NoEffect"
            if state.kind.kind == labels.AUTHORIZATION and state.verdict == "NoEffect":
                bound = conditions.waypoint_ancestors(state, mesh, world, self.root_namespace)
                if bound and all(each.reason == "Invalid" for ancestor in bound for each in ancestor.conditions):
                    state.verdict = "Invalid"
            if state.verdict == "NoEffect" and conditions.may_be_bound(state, mesh, world):
                state.verdict = "Unknown"
            if state.kind.implementation == self.name:
                if state.verdict in ("Enforced", "PartiallyEnforced") and conditions.is_of_other_revision(state, mesh):
                    state.verdict = "Unknown"
                state.idle = idle(state, mesh, world, self.root_namespace)
            elif state.verdict == "Enforced":
                state.idle = backends.unread(state)
                state.verdict = "NoEffect" if state.idle is not None else state.verdict

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """Return targets and Gateways of a BackendTLSPolicy (§8), or a result per targetRef (§1)."""
        if state.kind.implementation != self.name:
            return backends.ancestors(state, topology)
        return conditions.waypoint_ancestors(state, topology.world.once(Mesh), topology.world, self.root_namespace)

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:
        """Return WaypointAccepted or ZtunnelAccepted, the one condition of an AuthorizationPolicy."""
        if state.kind.implementation != self.name:
            return ()
        return conditions.flat(state, topology.world.once(Mesh), topology.world, self.root_namespace)

    def detection(self, gateway: Resource, kind: PolicyKind | None, spec: Mapping[str, Any]) -> Detection | None:  # noqa: ARG002
        """Return how many proxies a Gateway, or the mesh, says are in front."""
        return client_addresses.detection(gateway, self.settings) if kind is None else None

    def address_rule(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Pointer:
        """Return where an AuthorizationPolicy decides by the address of who connects, or of the client, alone."""
        if kind.kind != labels.AUTHORIZATION:
            return ()
        fields = ("ipBlocks", "notIpBlocks"), ("remoteIpBlocks", "notRemoteIpBlocks")
        found = (client_addresses.decided(spec, *pair) for pair in zip(fields, ("source.ip", "remote.ip"), strict=True))
        return next(filter(None, found), ())

    def believed_beyond(
        self, policy: Resource, proxy: ResourceKey, world: World
    ) -> Iterable[tuple[Believed, Location]]:
        """Return what sidecars, and Gateways that are told of proxies in front, believe of `remoteIpBlocks`."""
        return client_addresses.believed(policy, proxy, world, self.settings)

    def counted_before(
        self, policy: Resource, proxy: ResourceKey, gateway: Resource, world: World
    ) -> tuple[Pointer, Location | None] | None:
        """Return what `remoteIpBlocks` at a sidecar makes of a Gateway that is told of proxies in front."""
        return client_addresses.counted_before(policy, proxy, gateway, world, self.settings)

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """Return the topology's conditions, with Istio's own order of faults and its Hostname backends."""
        return routes.conditions(route, parent, topology)

    def reports_on(self, route: RouteState, parent: ParentState, topology: Topology) -> bool:
        return listeners.has_parents(parent, topology) and super().reports_on(route, parent, topology)

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:  # noqa: ARG002
        return state if state.class_resolution.missing else listeners.of_gateway(state, topology)

    def with_conditions_of_set(
        self,
        state: ListenerSetState,
        topology: Topology,
        catalog: Catalog,  # noqa: ARG002
    ) -> ListenerSetState:
        return listeners.of_set(state, topology)

    def withheld(self, topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
        """Return hostnames of a narrower listener, and all of the routes that istiod stops (§8)."""
        return {**kept_by_narrower(topology), **routes.stopped(topology)}

    def rule_fault(self, route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:
        """Return what a filter or backend that istiod knows nothing of means to requests of a route at a Gateway."""
        return routes.rule_fault(route, rule.number, topology)

    def is_trial(self, policy: Resource) -> bool:
        return labels.is_dry_run(policy)

    def backends(self, route: RouteState, topology: Topology) -> tuple[BackendState, ...]:
        """Return the backends of a route by what they stand for: a ServiceImport for the Service of its name."""
        return route_backends.backends(route, topology, pools=self.settings.get("inferenceExtension") is not False)

    def in_words(self, policy: Resource) -> str:
        return additive.in_words(policy) if policy.key.kind == "AuthorizationPolicy" else ""

    def identifies_clients(self, gateway: Resource, world: World) -> bool:
        """Return whether a Gateway is a waypoint, or one that demands certificates."""
        proxy = world.once(Mesh).proxy(gateway.key)
        return proxy is None or not admission.is_without_identities(proxy, gateway)

    def nameless(self, workload: Resource, world: World) -> Sequence[Resource]:
        """Return Istio's own Gateways that a workload serves, where none of their servers takes certificates."""
        gateways = served_by(world, pod_labels(workload))
        return () if any(map(asks_for_identities, gateways)) else gateways

    def fronts(self, backend: Resource, caller: Resource | None, world: World) -> Checkpoint | None:
        """Return the waypoint that the requests of a caller to a Service or a workload pass."""
        return calling.front(backend, caller, world.once(Mesh), world)

    def admit(self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World) -> Decision | None:
        """Ask the policies of a Gateway, a waypoint or a workload that turn requests away.

        A second waypoint, which takes a share of the connections to a Service, has to turn them away as well.
        """
        decision = self._admit(call, hop, groups, world)
        second = world.once(Mesh).waypoints.canaries.get(hop.path[-1].key) if len(hop.path) > 1 else None
        if decision is None or decision.answer != "denied" or second is None:
            return decision
        waypoint = world.get(second.waypoint)
        path = (whole(second.waypoint), *hop.path[1:])
        other = None if waypoint is None else self._admit(call, Checkpoint(path, waypoint), groups, world)
        if other is not None and other.answer == "denied":
            return decision
        return decision.if_so(f"whether it goes through waypoint {second.waypoint.path}, as {second.percent} % do")

    def admit_probe(
        self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World
    ) -> Decision | None:
        """Return what the sidecar answers a probe that the injector leaves as it is; it has all others come by itself.

        Source: pkg/kube/inject/app_probe.go, ShouldRewriteAppHTTPProbers (all kinds of probes go by that annotation).
        """
        proxy = world.once(Mesh).proxy(hop.resource.key)
        if proxy is None or proxy.ambient or text(proxy.annotations.get(_REWRITES)) not in labels.UNTRUE:
            return None
        return self.admit(call._replace(stream=call.scheme == "https"), hop, groups, world)

    def letting_probes_in(self, *, is_call: bool) -> str:  # noqa: ARG002
        return f"have probes sent to the sidecar (leave `{_REWRITES}` out), or probe by a command"

    def _here(self, path: tuple[Node, ...], groups: Sequence[Group]) -> Mapping[str, Group]:
        """Return the effective policies of a context, by kind."""
        if self._groups is not groups:
            self._groups, self._at, self._past = groups, {}, {}
            for group in groups:
                for context in group.contexts():
                    self._at.setdefault(context, {})[group.kind.kind] = group
        return self._at.get(path, {})

    def _admit(self, call: RequestFacts, hop: Checkpoint, groups: Sequence[Group], world: World) -> Decision | None:
        here = self._here(hop.path, groups)
        if hop.resource.key[:2] == labels.SERVICE:
            return Decision("depends", why=hop.doubt)
        if here.keys().isdisjoint(admission.ASKED):
            return None
        before = call.sender.workload
        past = admission.Past({}, ())
        if before is not None:
            if before.key not in self._past:
                outputs, token_rules = tokens.headers_of(before.key, groups), tokens.rules_at(before.key, groups)
                self._past[before.key] = admission.Past(outputs, token_rules)
            past = self._past[before.key]
        rules = admission.OfMesh(
            self.root_namespace,
            self._trust_domains,
            several_providers=self.settings.get("multipleCustomProviders") is True,
            strips_ports=self.settings.get("stripHostPort") is True,
            authorizers=self.authorizers(world),
        )
        return admission.admit(call, hop, here, world, past, rules)

    def routing(
        self, service: Resource, caller: Resource | None, port: int | None, world: World, *, stream: bool
    ) -> Routing | None:
        """Return which routes of a Service the sidecar, the waypoint or the ztunnel of a workload applies."""
        return calling.routing(service, caller, port, world.once(Mesh), world, self.root_namespace, stream=stream)

    def connections(self, service: Resource, port: int | None) -> str:
        """Return whether sidecars take what comes to a port of a Service for connections."""
        return connections(service, port)

    def leading(
        self,
        service: Resource,
        caller: Resource | None,
        home: str | None,
        port: int | None,
        routes: Sequence[Resource],
        world: World,
    ) -> tuple[Leading, ...] | None:
        """Return the routes that the sidecar of a workload, or the waypoint of a Service, takes rules from."""
        return virtual_services.leading(
            service, caller, home, port, routes, world.once(Mesh), world, self.root_namespace
        )

    def blocked(self, service: Resource, caller: Resource | None, port: int | None, world: World) -> Decision | None:
        """Return the refusal of a workload's sidecar, where only known hosts may be called (REGISTRY_ONLY)."""
        mode = text(self.settings.get("outboundTrafficPolicy"), "ALLOW_ANY")
        return calling.blocked(service, caller, port, world.once(Mesh), world, self.root_namespace, mode)

    def let_out(self, host: str, caller: Resource, port: int | None, world: World) -> Decision | None:
        """Return what a workload's sidecar does with requests for hosts that are no Services."""
        mode = text(self.settings.get("outboundTrafficPolicy"), "ALLOW_ANY")
        return calling.let_out(host, caller, port, world.once(Mesh), world, self.root_namespace, mode)

    def may_refuse(self, call: RequestFacts, service: Resource, world: World) -> bool:
        """Tell whether a policy may turn a request away at the pods of a Service, of which none was seen."""
        return unseen.may_refuse(call, service, world.once(Mesh), world, self.root_namespace)

    def hides(self, client: Client, service: Resource, port: int | None, world: World) -> str:
        """Return why a client shows a Service no certificate of the mesh, or may show none; "" where it does."""
        if service.key[:2] == labels.SERVICE and not self.hides_clients(world):
            return ""
        return calling.hidden(client, service, port, world.once(Mesh), world, self.root_namespace)

    def hides_clients(self, world: World) -> bool:
        """Tell whether any sidecar may not show who it is: by what is set for clients, or by what it sees or takes."""
        return world.once(calling.may_hide)

    def is_of_clients(self, key: ResourceKey) -> bool:
        """Tell whether an object is a DestinationRule or a Sidecar."""
        return key.group == "networking.istio.io" and key.kind in ("DestinationRule", "Sidecar")

    def is_of_whole_mesh(self, key: ResourceKey) -> bool:
        """Tell whether an object is a DestinationRule, a Sidecar or the like of the root namespace."""
        return key.group == "networking.istio.io" and key.namespace == self.root_namespace

    def authorizers(self, world: World) -> frozenset[str] | None:
        """Return the providers of authorization that the mesh's configuration names."""
        return world.once(self._reading_authorizers)

    def beside(self, world: World) -> Iterable[Beside]:
        """Return what MeshConfig, VirtualServices and ServiceEntries say of requests."""
        from policylint.implementations.istio.beside import beside

        return beside(world, self.root_namespace)

    def without_use(self, state: PolicyState, topology: Topology) -> Iterable[FaultyPart]:
        """Return the headers of a RequestAuthentication that an authorizer is to be shown and does not see yet, the
        authorizers that are sent no cookies, and the rules of an AuthorizationPolicy that ztunnels do not read as they
        are."""
        from policylint.implementations.istio.beside import shown_headers
        from policylint.implementations.istio.order import late, without_cookies

        if state.policy.spec.get("action") == "CUSTOM":
            return without_cookies(state.policy, shown_headers(topology.world, self.root_namespace))
        if state.kind.kind == labels.AUTHORIZATION:
            mesh = topology.world.once(Mesh)
            at = [mesh.proxy(path[0].key) for group in state.groups for path in group.contexts()]
            if not all(each is not None and each.ambient for each in at):
                return ()
            from policylint.implementations.istio.ztunnel import left_out

            return left_out(state.policy)
        if state.kind.kind != "RequestAuthentication":
            return ()
        return late(state, topology.world, shown_headers(topology.world, self.root_namespace))

    def second_front(self, backend: Resource, world: World) -> tuple[ResourceKey, int] | None:
        """Return the canary waypoint of a Service."""
        share = world.once(Mesh).waypoints.canaries.get(backend.key)
        return None if share is None else (share.waypoint, share.percent)

    def dead_ends(self, world: World) -> Iterable[DeadEnd]:
        """Return subsets that nothing defines, or no pod is in, Gateways not there, hosts that nobody has or that two
        objects ask for, ports that tell no two hosts apart, what is not shown to those who send there, and what the
        webhook refuses."""
        from policylint.implementations.istio.exports import unshown
        from policylint.implementations.istio.one_host import contended
        from policylint.implementations.istio.one_port import unaddressed
        from policylint.implementations.istio.refused import refused
        from policylint.implementations.istio.subsets import dead_ends
        from policylint.implementations.istio.unbound import unasked, unbound
        from policylint.implementations.istio.unmet_tls import twice, unmet

        found = (*dead_ends(world), *unshown(world), *unbound(world), *unasked(world), *refused(world))
        return (*found, *unmet(world), *twice(world), *contended(world), *unaddressed(world))

    def idle_labels(self, world: World) -> Iterable[IdleLabel]:
        """Return the labels that name waypoints which are not there, or do not take who bears them."""
        from policylint.implementations.generic.idle_labels import IdleLabel

        for holder, reason, fix, is_there in world.once(Mesh).waypoints.astray():
            ground = "" if is_there else "`istioctl waypoint apply` may make it outside of manifests"
            yield IdleLabel(holder, labels.USE_WAYPOINT, reason, "what is sent there passes none", fix, ground)

    def workload_ports(self, world: World) -> Iterable[WorkloadPort]:
        from policylint.implementations.istio.workload_ports import workload_ports

        return workload_ports(world, self.root_namespace)

    def picked(self, world: World) -> Iterable[tuple[Resource, Pointer, Labels]]:
        """Return the destinations of VirtualServices that are subsets, with the labels of their pods."""
        from policylint.implementations.istio.subsets import picked

        return picked(world)

    def proxied(self, workload: Resource, world: World) -> bool | None:
        """Return whether a workload is in the mesh; None where nothing says so, and nothing says otherwise."""
        proxy = world.once(Mesh).proxy(workload.key)
        return proxy is not None and (proxy.sure or None)

    def tunnel(self, source: Endpoint, target: Endpoint, world: World) -> Tunnel | None:
        """Return the tunnel (HBONE) between ztunnels (istio.io, «Ambient and Kubernetes NetworkPolicy»).

        What is in no mesh sends to ambient pods as to any other; sidecars and gateways may use the tunnel. A waypoint
        on the way would make two connections of one.
        """
        from policylint.network.meshes import Tunnel

        if membership_of(target, world) != "ambient":
            return None
        sender = membership_of(source, world)
        if sender is None and world.namespace_labels(source.namespace) is not None:
            return None
        why = f"{target} is in Istio's ambient mode, whose traffic comes in on port {_HBONE} (HBONE)"
        is_captured = sender == "ambient"
        return Tunnel(_HBONE, is_captured, why, is_captured and not world.once(Mesh).waypoints.bound)

    def encrypted(
        self,
        source: Endpoint,
        target: Endpoint,
        service: Resource,
        ports: tuple[int | None, int | None],
        groups: Sequence[Group],
        world: World,
    ) -> str:
        from policylint.implementations.istio.encrypted import encrypted

        client = world.get(source.key)
        here = self._here((whole(target.key),), groups)
        return "" if client is None else encrypted(client, target, service, ports, here, world, self.root_namespace)

    def session(
        self,
        backend: ResourceKey,
        port: int | None,
        caller: Resource | None,
        world: World,
        stated: BackendSession | None,
        labels: Labels = (),
    ) -> BackendSession | None:
        from policylint.implementations.istio.sessions import session

        is_gateway = caller is not None and caller.key.kind == "Gateway"
        own = session(backend, port, caller, world, self.root_namespace, labels, is_gateway=is_gateway)
        return stated or own

    def steered_by(self, end: Endpoint, world: World) -> ControlPlane | None:
        """Return istiod, for pods with a sidecar; ambient pods have none, and ztunnel asks for them (port 15012:
        istio.io/docs/ops/deployment/application-requirements)."""
        from policylint.implementations.generic.control_plane import ControlPlane

        if membership_of(end, world) != "sidecar":
            return None
        then = "a sidecar without configuration and certificate never gets ready, and neither does its pod"
        return ControlPlane("istiod", self.root_namespace, (_XDS,), then)


def compose(
    kind: PolicyKind,
    attachments: tuple[Attachment, ...],
    modes: tuple[str, ...],
    providers: Mapping[str, Any] = DEFAULT_PROVIDERS,
) -> Effective:
    """Return the effective policy of a stack, by its kind."""
    if kind.kind == labels.PROXY_CONFIG:
        return inheriting.proxy_config(attachments, kind)
    if kind.kind == labels.TELEMETRY:
        return telemetry(attachments, modes or BOTH, providers)
    return _COMPOSERS.get(kind.kind, additive.authorization)(attachments)


_COMPOSERS: dict[str, Callable[[tuple[Attachment, ...]], Effective]] = {
    labels.ENVOY_FILTER: additive.envoy_filters,
    labels.PEER_AUTHENTICATION: inheriting.peer_authentication,
    labels.REQUEST_AUTHENTICATION: additive.request_authentication,
    labels.TRAFFIC_EXTENSION: additive.extensions,
    labels.WASM: additive.extensions,
}
