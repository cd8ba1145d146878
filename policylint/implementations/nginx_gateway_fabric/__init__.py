"""NGINX Gateway Fabric: overlap of routes and fields, NGINX's inheritance, Programmed.

Source: docs/design/implementations/kgateway-nginx-gloo.md §1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from policylint.catalog.kinds import Catalog
from policylint.documents import Pointer
from policylint.implementations.generic import Attachments, Implementation, unresolved
from policylint.implementations.generic.backends import with_core
from policylint.implementations.nginx_gateway_fabric import client_addresses, listeners, locations, refusals
from policylint.implementations.nginx_gateway_fabric.attachment import SERVED, ListenerBinding
from policylint.implementations.nginx_gateway_fabric.proxy import gateways_without, lacking
from policylint.implementations.nginx_gateway_fabric.references import broken
from policylint.implementations.nginx_gateway_fabric.routes import OVERLAP, Overlaps, referenced_services
from policylint.implementations.nginx_gateway_fabric.status import (
    LIMIT_REACHED,
    NOT_SET,
    Status,
    is_owned,
    room,
)
from policylint.implementations.nginx_gateway_fabric.values import fault
from policylint.matches import Match
from policylint.model import GATEWAY_GROUP, Node, PolicyKind, Resolution, Resource, ResourceKey, World
from policylint.policy import verdict
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.folding import Folding, Stack
from policylint.policy.results import Ancestor, Attachment, Declared, Effective, Group, PolicyState, Refusal, Target
from policylint.policy.strategies import by_node
from policylint.policy.target_conditions import TargetCondition
from policylint.policy.units import leaves
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
from policylint.topology.ancestry import gateways_above
from policylint.topology.grants import Grants
from policylint.topology.routes import Rule

if TYPE_CHECKING:
    from policylint.policy.bindings import ObjectBinding
    from policylint.policy.client_addresses import Believed

_SNIPPETS = (("gateway.nginx.org", "SnippetsFilter"), ("gateway.nginx.org", "SnippetsPolicy"))
_ADDING: frozenset[Pointer] = frozenset({("rateLimit", "local", "rules"), ("snippets",)})
"""Lists to which every policy of one context adds. A lower context that has limit_req of its own replaces them."""


class NginxGatewayFabric(Implementation):
    """ClientSettings-, ProxySettings-, Observability-, UpstreamSettings-, RateLimit-, Snippets-, WAFPolicy and more."""

    name = "nginx-gateway-fabric"
    plain_services = True
    preflights = 200, True  # nginx/config/servers_template.go: `return 200`, whatever the origin
    ends_above = True
    serves_refused = SERVED
    hosts_of_port = frozenset({"http", "https"})  # its servers are those of a port (hostPathRules)
    host_first = True  # one server per hostname (state/dataplane/configuration.go, rulesPerHost)
    ends_at_path = True  # locations.py
    calls_by_path = True  # state/graph/grpcroute.go, ConvertGRPCMatches: locations, whatever a request is

    def __init__(self) -> None:
        self._of_routes: ListenerBinding | None = None
        self._attached: Counter[Node] | None = None

    @cached_property
    def _overlaps(self) -> Overlaps:
        return Overlaps(self.topology)

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve references in the policy's namespace; a Service that no route of ours names counts as missing."""
        targets = super().targets(policy, kind, topology, grants)
        return tuple(self._reached(target) for target in targets)

    def _reached(self, target: Target) -> Target:
        """Return a Service as missing where no route of a Gateway of ours names it (buildReferencedServices)."""
        if not target.nodes or target.key.kind != "Service" or target.key in self._services:
            return target
        unseen = self.topology.world.unseen.reason(ResourceKey(GATEWAY_GROUP, "HTTPRoute", target.key.namespace, ""))
        if unseen:
            return target._replace(nodes=(), resolution=Resolution("unknown", unseen))
        return unresolved(target, "not-found", f"no route of a Gateway of NGINX refers to {target.key}")

    def _status(self, state: PolicyState) -> Status:
        return Status(state, self.topology, self._services)

    @cached_property
    def _services(self) -> Mapping[ResourceKey, tuple[ResourceKey, ...]]:
        return referenced_services(self.topology, self.catalog)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse buffers that NGINX cannot have, besides what the catalog states."""
        reading = super().validate(policy, kind, declared, world)
        return reading if reading.code else fault(policy)

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:
        """Refuse a policy whose targets or references do not allow it.

        No other route may share a location with a targeted one, telemetry or WAF must be on (§1.2, §1.5), and what is
        called must be there.
        """
        mixed = _mixed(state)
        if mixed:
            return Reading(code="mixed-targets", reason=mixed, pointer=("spec", "targetRefs"))
        rivals = self._overlaps.of(state)
        if rivals:
            reason = f"{', '.join(map(str, rivals))} shares Gateway, hostname, port and path with a targeted route"
            return Reading(code=OVERLAP, reason=reason)
        feature, gateways, lacking = gateways_without(state, topology)
        if gateways and len(gateways) == len(lacking):
            reason = f"{feature} is not switched on in the NginxProxy of {', '.join(map(str, lacking))}"
            return Reading(code=NOT_SET, reason=reason)
        return broken(state, topology)

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Drop attachments to targets that the status has no room for (§1.6)."""
        kept, refused = super().claims(kind, attached)
        return {
            node: [each for each in attachments if not _beyond(each)] for node, attachments in kept.items()
        }, refused

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:
        """Add to the generic conditions a refusal on each target that the status has no room for."""
        conditions = [each for each in super().target_conditions(states, topology) if is_owned(each.node.key, topology)]
        for state in states:
            nodes = [node for target in state.targets for node in target.nodes if node.key.kind != "Service"]
            conditions += [TargetCondition(node, LIMIT_REACHED, (state.key,)) for node in nodes[room(state.policy) :]]
        return conditions

    def effects(
        self, kind: PolicyKind, kept: Attachments, topology: Topology, idle: frozenset[tuple[Node, Node]] = frozenset()
    ) -> Effects:
        """Return what computes the groups, without the Gateways on which what the kind needs is off (§1.5)."""
        effects = super().effects(kind, kept, topology, idle)
        targets = [node.key for node, attachments in kept.items() if attachments]
        off = {
            gateway for key in targets for gateway in lacking(gateways_above(topology, key), kind.kind, topology, key)
        }
        effects.unread |= {vertex for gateway in off for vertex in topology.vertices_of(whole(gateway))}
        return effects

    def merge(self, stack: Stack) -> Effective:
        """Merge per directive, the lowest NGINX context that has it (§1.4); whole policies for the atomic kinds."""
        if stack.kind.merge.strategy.startswith("atomic") or stack.kind.merge.strategy == "none":
            return super().merge(stack)
        return _inherit(stack)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set verdicts, never Overridden: what a route replaces still stands in the Gateway's own context."""
        for state in states:
            verdict.judge(state)
            if state.invalid_code == OVERLAP:
                state.by = self._overlaps.of(state)
            usable = not state.invalid_code and not state.refused
            if usable and self._status(state).reaches_nothing():
                state.verdict = "TargetNotFound"
            elif state.verdict == "Overridden" or (
                state.verdict == "Enforced" and gateways_without(state, topology)[2]
            ):
                state.verdict = "PartiallyEnforced"

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:  # noqa: ARG002
        """Return the target itself, for a Service the Gateways that lead to it (§1.6)."""
        if state.kind.status != "ancestors":
            return ()
        ancestors = self._status(state).ancestors()
        return tuple(ancestor for ancestor in ancestors if not self.is_foreign(ancestor.ancestor.key))

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return the one flat status of ExternalLoadBalancer."""
        if state.kind.status != "conditions":
            return ()
        return self._status(state).flat()

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:  # noqa: ARG002
        if state.class_resolution.missing:
            return state
        return listeners.of_gateway(state, self._binding(topology).standings, self._counts(topology), topology)

    def with_conditions_of_set(
        self,
        state: ListenerSetState,
        topology: Topology,
        catalog: Catalog,  # noqa: ARG002
    ) -> ListenerSetState:
        return listeners.of_set(state, self._binding(topology).standings, self._counts(topology), topology)

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """Return what is said of the route, and of the listeners that a parentRef stands for."""
        return self._binding(topology).conditions(route, parent)

    def reports_on(self, route: RouteState, parent: ParentState, topology: Topology) -> bool:
        """Return whether there is an entry for a parent: none for a Gateway that is refused, of which it names all."""
        gateway = None if parent.mesh or parent.gateway is None else topology.gateway(parent.gateway)
        if gateway is None:
            return super().reports_on(route, parent, topology)
        return not gateway.class_resolution.missing and self._binding(topology).is_told(route, parent)

    def withheld(self, topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
        """Return the routes at listeners that nothing is made of."""
        return {(node, whole(route.route.key)): names for node, route, names in self._binding(topology).unbound()}

    def reads(self, rule: Mapping[str, Any], found: Sequence[Match], *, grpc: bool) -> Sequence[Match]:
        """Return the matches of a rule as expressions of NGINX, none where one cannot be used."""
        return () if refusals.match_fault(rule, grpc=grpc) else tuple(map(locations.read, found))

    def at_host(self, found: Sequence[Match]) -> Iterable[tuple[int, Match]]:
        """Return the matches of one server, each with what the locations of others leave to its own."""
        return locations.apart(found)

    def _binding(self, topology: Topology) -> ListenerBinding:
        if self._of_routes is None:
            self._of_routes = ListenerBinding(topology)
        return self._of_routes

    def _counts(self, topology: Topology) -> Counter[Node]:
        if self._attached is None:
            self._attached = self._binding(topology).counts()
        return self._attached

    def address_rule(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Pointer:
        """Return where a policy counts requests by address, or a snippet of it decides by that."""
        of_kind = {"RateLimitPolicy": client_addresses.counted, "SnippetsPolicy": client_addresses.decided_by_snippet}
        return of_kind[kind.kind](spec) if kind.kind in of_kind else ()

    def believing_gateways(self, bindings: Sequence[ObjectBinding], topology: Topology) -> Mapping[Node, Believed]:
        """Return the Gateways whose NginxProxy trusts every sender."""
        return client_addresses.believing(bindings, topology)

    def address_filter(self, extension: Resource) -> Pointer:
        """Return where a SnippetsFilter decides by address."""
        return client_addresses.decided_by_snippet(extension.spec) if extension.key.kind == "SnippetsFilter" else ()

    def underscored(self, listener: Node, groups: Sequence[Group], world: World) -> Literal["", "rejected", "dropped"]:  # noqa: ARG002
        """Return that NGINX leaves such headers out (ngx_http_core_module, underscores_in_headers), unless snippets of
        somebody speak of that."""
        snippets = (each for kind in _SNIPPETS for each in world.of_kind(*kind))
        return "" if any("underscores_in_headers" in str(each.spec) for each in snippets) else "dropped"

    def rule_fault(self, route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:
        """Return that a rule with a filter that cannot be used answers 500, and why it cannot."""
        fault = refusals.rule_fault(route, rule.body, topology)
        return None if fault is None else (500, fault.message)

    def filter_fault(self, extension: Resource, topology: Topology) -> str:
        """Return why an AuthenticationFilter cannot be used."""
        return refusals.login_fault(extension, topology.world)

    def backends(self, route: RouteState, topology: Topology) -> tuple[BackendState, ...]:
        """Return the backends of a route, of which the kind is looked at before anything else."""
        route = with_core(route, topology)
        faults = refusals.backend_faults(route, topology)
        return tuple(
            backend._replace(reason=why[0], message=why[1])
            if (why := faults.get(backend.pointer)) and (not backend.reason or why[0] == "InvalidKind")
            else backend
            for backend in route.backends
        )


def _inherit(stack: Stack) -> Effective:
    """Return the settings of a stack, each directive whole from the most specific target that has it.

    docs/design/implementations/kgateway-nginx-gloo.md §1.3 (on one target settings add up) and §1.4 (NGINX inherits
    from http to server to location).
    """
    directives = frozenset(tuple(path.split(".")) for path in stack.kind.conflict_fields)
    folding = Folding()
    for level in reversed(by_node(stack.attachments)):
        members = {attachment.key for attachment in level}
        for attachment in level:
            for unit in leaves(attachment.declared[0].proper, directives):
                adds = unit.id in _ADDING and folding.holders(unit.id) <= members
                (folding.join if adds else folding.offer)(attachment, unit.id, unit.value)
    return folding.effective(stack.attachments)


def _beyond(attachment: Attachment) -> bool:
    """Tell whether a target comes after those that the status of its policy has room for."""
    index = attachment.target.pointer[-1]
    return (index if isinstance(index, int) else 0) >= room(attachment.policy)


def _mixed(state: PolicyState) -> str:
    """Return why targets do not go together, "" where they do (the CRDs' CEL).

    These kinds target Gateways or routes, never both; a WAFPolicy has targets of one kind only.
    """
    if state.kind.kind not in ("ProxySettingsPolicy", "RateLimitPolicy", "WAFPolicy"):
        return ""
    kinds = {target.key.kind for target in state.targets}
    if "Gateway" in kinds and len(kinds) > 1:
        return f"{state.kind.kind} targets Gateways or routes, not both"
    return f"{state.kind.kind} targets objects of one kind" if state.kind.kind == "WAFPolicy" and len(kinds) > 1 else ""
