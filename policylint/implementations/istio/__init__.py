"""Istio: policies name workloads by label, or Gateways and Services by targetRefs; most add up.

Source: docs/design/implementations/istio.md.

A policy reaches proxies: sidecars and ztunnels of workloads, Gateways that istiod deploys, and waypoints, which act
once per Service behind them. What each module knows:

* `words`: labels, classes, controllers; `mesh` and `waypoints`: which proxies there are, and what is behind them;
* `targets`, `validation`: what a policy names, and what the API server refuses; `contexts`: which policies reach what;
* `additive`, `inheriting`, `telemetry`: what they come to there, told by `provenance`;
  `annotation`: what workloads set themselves;
* `conditions`, `ztunnel`, `backends`, `routes`: the statuses that istiod writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from policylint.implementations.generic import Implementation
from policylint.implementations.istio import additive, backends, conditions, inheriting, routes
from policylint.implementations.istio import targets as naming
from policylint.implementations.istio.contexts import Contexts
from policylint.implementations.istio.labels import (
    AUTHORIZATION,
    BACKEND_TRAFFIC,
    ENVOY_FILTER,
    PEER_AUTHENTICATION,
    PROXY_CONFIG,
    REQUEST_AUTHENTICATION,
    ROOT_NAMESPACE,
    TELEMETRY,
    TRAFFIC_EXTENSION,
    WASM,
)
from policylint.implementations.istio.mesh import Mesh
from policylint.implementations.istio.no_effect import idle
from policylint.implementations.istio.telemetry import BOTH, DEFAULT_PROVIDERS, telemetry
from policylint.implementations.istio.validation import faults
from policylint.model import Node, PolicyKind, Resource, World, mapping, text
from policylint.policy.declared import Reading
from policylint.policy.folding import Stack
from policylint.policy.order import by_age
from policylint.policy.results import Ancestor, Attachment, Declared, Effective, Group, PolicyState, Refusal, Target
from policylint.topology import Condition, ParentState, RouteState, Topology
from policylint.topology.grants import Grants


class Istio(Implementation):
    """AuthorizationPolicy, RequestAuthentication, PeerAuthentication, Telemetry, WasmPlugin, TrafficExtension,
    EnvoyFilter, ProxyConfig, and Gateway API's policies on backends where Istio is the only implementation.
    """

    name = "istio"
    judges_core_kinds = True
    is_mesh = True

    def __init__(self) -> None:
        self._known: tuple[World, Mesh] | None = None

    @property
    def root_namespace(self) -> str:
        """meshConfig.rootNamespace."""
        return text(self.settings.get("rootNamespace"), ROOT_NAMESPACE)

    @property
    def _open_gateways(self) -> bool:
        """Whether Gateways take policies that do not name them."""
        return self.settings.get("selectorBasedGatewayPolicy") is not False

    @property
    def _providers(self) -> Mapping[str, Any]:
        """meshConfig.defaultProviders."""
        return mapping(self.settings.get("defaultProviders", DEFAULT_PROVIDERS))

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """targetRefs; without any the selected workloads, else the namespace.

        Source: docs/design/implementations/istio.md §0.
        """
        if kind.implementation != self.name:
            return backends.targets(kind, topology, super().targets(policy, kind, topology, grants))
        named = super().targets(policy, kind, topology, grants)
        implied = naming.without_references(
            policy, self._mesh(topology.world), topology.world, self.root_namespace, self._open_gateways
        )
        return (*map(naming.made_by_istiod, named), *implied)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """What Istio's webhook and CRDs refuse; for BackendTLSPolicy what its controller does."""
        if kind.implementation != self.name:
            reading = super().validate(policy, kind, declared, world)
            return reading if reading.code else backends.validate(policy, kind, world)
        fault = next(faults(policy, kind), None)
        return fault if fault is not None else super().validate(policy, kind, declared, world)

    def claims(
        self, kind: PolicyKind, attached: dict[Node, list[Attachment]]
    ) -> tuple[dict[Node, list[Attachment]], list[Refusal]]:
        """As the catalog says; XBackendTrafficPolicies of one Service add up.

        Source: docs/design/implementations/istio.md §8.
        """
        return super().claims(kind._replace(conflict="none") if kind.kind == BACKEND_TRAFFIC else kind, attached)

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """One context per workload, Gateway, or Service behind a waypoint."""
        if kind.implementation != self.name:
            return super().groups(kind, kept, topology)
        contexts = Contexts(self._mesh(topology.world), kind, kept, self.root_namespace, self._open_gateways)
        return contexts.groups(partial(compose, providers=self._providers))

    def merge(self, stack: Stack) -> Effective:
        """What policies come to together, in the order given."""
        if stack.kind.implementation != self.name:
            return backends.traffic(stack) if stack.kind.kind == BACKEND_TRAFFIC else super().merge(stack)
        attachments = stack.attachments
        if stack.kind.kind == AUTHORIZATION:  # order means nothing among them
            attachments = tuple(by_age(attachments))
        return compose(stack.kind, attachments, (), self._providers)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """The generic verdicts; a policy whose selector Istio ignores is accepted and in no context."""
        super().judge(states, topology)
        for state in states:
            resolved = all(target.resolution.found and not target.problem for target in state.targets)
            if state.verdict == "Unknown" and state.targets and resolved:
                state.verdict = "Accepted"
            if state.kind.implementation == self.name:
                state.idle = idle(state, self._mesh(topology.world), topology.world, self.root_namespace)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """BackendTLSPolicy: targets and Gateways; AuthorizationPolicy: what was found for each targetRef.

        Source: docs/design/implementations/istio.md §1, §8.
        """
        if state.kind.implementation != self.name:
            return backends.ancestors(state, topology)
        return conditions.waypoint_ancestors(state, self._mesh(topology.world), topology.world, self.root_namespace)

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:
        """The one condition that istiod writes on an AuthorizationPolicy: WaypointAccepted or ZtunnelAccepted."""
        if state.kind.implementation != self.name:
            return ()
        return conditions.flat(state, self._mesh(topology.world), topology.world, self.root_namespace)

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """The topology's, with Istio's own order of faults and its Hostname backends."""
        return routes.conditions(route, parent, topology)

    def _mesh(self, world: World) -> Mesh:
        if self._known is None or self._known[0] is not world:
            self._known = (world, Mesh(world))
        return self._known[1]


def compose(
    kind: PolicyKind,
    attachments: tuple[Attachment, ...],
    modes: tuple[str, ...],
    providers: Mapping[str, Any] = DEFAULT_PROVIDERS,
) -> Effective:
    """The effective policy of a stack, by its kind."""
    if kind.kind == PROXY_CONFIG:
        return inheriting.proxy_config(attachments, kind)
    if kind.kind == TELEMETRY:
        return telemetry(attachments, modes or BOTH, providers)
    return _COMPOSERS.get(kind.kind, additive.authorization)(attachments)


_COMPOSERS: dict[str, Callable[[tuple[Attachment, ...]], Effective]] = {
    ENVOY_FILTER: additive.envoy_filters,
    PEER_AUTHENTICATION: inheriting.peer_authentication,
    REQUEST_AUTHENTICATION: additive.request_authentication,
    TRAFFIC_EXTENSION: additive.extensions,
    WASM: additive.extensions,
}
