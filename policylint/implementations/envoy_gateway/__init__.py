"""Envoy Gateway: replacement or mergeType, whole-policy conflicts by scope, statuses per parentRef.

Source: docs/design/implementations/envoy-gateway.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from policylint.catalog.kinds import Catalog
from policylint.catalog.shipped_file import Phase
from policylint.documents import Pointer
from policylint.implementations.envoy_gateway import (
    client_addresses,
    content,
    feature_flags,
    limiting,
    merging,
    references,
    selectors,
)
from policylint.implementations.envoy_gateway import route_policy_status as route_policies
from policylint.implementations.envoy_gateway.claims import of_attachments, of_states
from policylint.implementations.envoy_gateway.isolation import Isolation
from policylint.implementations.envoy_gateway.managed import GROUP, Fleet, merges, order, refusal
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.implementations.generic import Attachments, Implementation, placed, resolved_to
from policylint.matches import Match
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World, mapping, sequence, text, value_at
from policylint.policy.declared import Reading, declared
from policylint.policy.folding import Stack
from policylint.policy.own_fields import OwnFields, with_own_fields
from policylint.policy.results import (
    Ancestor,
    Attachment,
    Declared,
    Effective,
    FaultyPart,
    Group,
    Idle,
    Losses,
    PolicyState,
    Refusal,
    Target,
)
from policylint.policy.validity import SWITCHED_OFF
from policylint.spaces.predicates import EXPRESSION
from policylint.topology import Condition, GatewayState, ListenerSetState, ParentState, RouteState, Topology, whole
from policylint.topology.ancestry import foreign_gateway
from policylint.topology.grants import Grants
from policylint.topology.routes import Rule, rules

if TYPE_CHECKING:
    from policylint.implementations.envoy_gateway.authorization import RequestRules
    from policylint.implementations.envoy_gateway.listener_conflicts import ListenerLoss
    from policylint.implementations.envoy_gateway.overlaps import Overlapping
    from policylint.implementations.generic.detecting import Detection
    from policylint.implementations.generic.sessions import BackendSession
    from policylint.implementations.generic.stops import Stop
    from policylint.policy.authorizing import Decision, RequestFacts
    from policylint.policy.client_addresses import Trust
    from policylint.topology.workloads import Labels

_OWN_FIELDS: Mapping[str, OwnFields] = {
    "BackendTrafficPolicy": {
        "timeouts.request": ("timeout", "http", "requestTimeout"),
        "timeouts.backendRequest without retry": ("timeout", "http", "requestTimeout"),
        "retry": ("retry",),
    },
    "SecurityPolicy": {"cors": ("cors",)},
}
"""Fields of rules that win (internal/gatewayapi/{clustersettings,backendtrafficpolicy,securitypolicy,route}.go).

Without retries the time of a backend is that of the request (processRouteTimeout).
"""


def _of_filter(field: str, spec: Mapping[str, Any]) -> str:
    """Return what the catalog's order calls a setting: `rateLimit.local` for limits that every proxy counts itself."""
    local = field == "rateLimit" and mapping(spec.get(field)).get("type") == "Local"
    return f"{field}.local" if local else field


class EnvoyGateway(Implementation):
    """The kinds of Envoy Gateway, and BackendTLSPolicy.

    The kinds are ClientTrafficPolicy, BackendTrafficPolicy, SecurityPolicy, EnvoyExtensionPolicy and EnvoyPatchPolicy.
    `judge` goes through all policies of one kind as the controller does, and keeps the statuses that it writes.
    """

    name = "envoy-gateway"
    upgrades_outlast = True
    preflights = 200, False
    judges_core_kinds = True
    cutting = frozenset({"ClientTrafficPolicy"})
    serves_refused = frozenset(  # internal/gatewayapi/route.go, processHTTPRouteParentRefs
        {"IncompatibleFilters", "UnsupportedValue", "IncompatibleFilters,UnsupportedValue"}
    )
    hosts_of_port = frozenset({"http"})  # one route configuration per port; seen by tests/witness at v1.9.1
    host_first = True  # one virtual host per hostname of routes; seen by tests/witness at v1.9.1
    calls_by_path = True  # internal/gatewayapi/route.go, processGRPCRouteRule; seen by tests/witness at v1.9.1

    def session(
        self,
        backend: ResourceKey,
        port: int | None,  # noqa: ARG002
        caller: Resource | None,  # noqa: ARG002
        world: World,
        stated: BackendSession | None,
        labels: Labels = (),  # noqa: ARG002
    ) -> BackendSession | None:
        from policylint.implementations.envoy_gateway.sessions import session

        return session(backend, world, stated)

    def __init__(self) -> None:
        self._statuses: Mapping[ResourceKey, PolicyStatus] = {}
        self._isolated: Isolation | None = None
        self._overlapping: Overlapping | None = None
        self._lost: Mapping[Node, ListenerLoss] | None = None
        self._rules: dict[int, tuple[Mapping[str, Any], RequestRules]] = {}
        """The rules of effective specs, by the identity of the spec, which stays while it is kept."""
        self._failing: dict[ResourceKey, Pointer] = {}
        """The policies that routes answer 500 for, and where their fault is."""
        self._refused: tuple[object, object, Mapping[Pointer, tuple[str, str]]] | None = None
        """What the last route was refused for, by the ids of what was asked about, which is kept: the conditions of
        each parent ask again."""
        self._void: dict[Node, Resource] = {}
        """By node the first policy that is refused before it is translated: it does nothing, and keeps its scope."""

    def begin(self, kind: PolicyKind, topology: Topology, catalog: Catalog) -> None:
        """Keep the objects that policies can attach to."""
        super().begin(kind, topology, catalog)
        self._fleet = Fleet(topology, catalog)

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve references and selectors; a Backend's section is a port number (§1, §7)."""
        if kind.group != GROUP:
            return tuple(map(self._backend_port, super().targets(policy, kind, topology, grants)))
        return selectors.targets(policy, kind, topology, grants)

    def _backend_port(self, target: Target) -> Target:
        """Resolve a section of a Backend: the number of a port, for which the topology has no node.

        It is compared with the port that a reference to the Backend names, and with none of the Backend's own: most
        references of routes name none, and are not meant.

        Source: internal/gatewayapi/backendtlspolicy.go, backendTLSTargetMatched; getTargetBackendReference.
        """
        if target.key.kind != "Backend" or target.problem != "section-not-found" or not target.section.isdigit():
            return target
        from policylint.implementations.envoy_gateway.backend_uses import uses

        used = any(use.key == target.key and use.port == target.section for use in uses(self._fleet))
        detail = f"no reference to {target.key} that was seen names port {target.section}"
        return resolved_to(target, whole(target.key)) if used else target._replace(detail=detail)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Refuse a BackendTLSPolicy without a usable CA (§7), and what needs a feature that is off."""
        if kind.kind == "BackendTLSPolicy":
            from policylint.implementations.envoy_gateway.backends import ca_fault_of_policy

            reason, message = ca_fault_of_policy(policy, world)
            if reason:
                return Reading(code="no-valid-ca", reason=message, pointer=("spec", "validation", "caCertificateRefs"))
        reading = feature_flags.switched_off(policy, self.settings)
        if not reading.code and kind.group == GROUP:
            reading = content.refused(policy, kind.kind)
        if not reading.code and kind.kind == "BackendTrafficPolicy":
            reading = limiting.uncounted(policy, world, content.CODE)
        return reading if reading.code else super().validate(policy, kind, declared, world)

    def answers_with_errors(self, state: PolicyState) -> bool:
        """Return whether the routes answer 500: its content does not translate (§9), or needs a feature that is off."""
        if state.invalid_code == content.EARLY:
            for node in (node for target in state.targets for node in target.nodes):
                self._void[node] = min(self._void.get(node, state.policy), state.policy, key=order)
        is_off = state.invalid_code == SWITCHED_OFF and state.kind.kind in feature_flags.ANSWERING
        if state.invalid_code != content.CODE and not is_off:
            return False
        self._failing[state.key] = state.invalid_pointer
        return True

    def acts_without(self, state: PolicyState, topology: Topology) -> tuple[Pointer, ...]:
        """Return the filters that are not translated: the others of the policy stay, whether or not these fail open."""
        if state.invalid_code == references.OPEN:
            return references.open_parts(state.policy, topology)
        if state.invalid_code == content.CODE and "clientIPDetection" in state.policy.spec:
            # translateClientTrafficPolicyForListener has set it before it gives up.
            return tuple(("spec", name) for name in state.policy.spec if name != "clientIPDetection")
        is_partly = state.invalid_code == content.CODE and state.kind.kind == "SecurityPolicy"
        return references.refused_parts(state.policy, topology) if is_partly else ()

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:
        """Refuse a mergeType on policies that target no routes (§1), and patches of merged Gateways (§7)."""
        if state.kind.kind in route_policies.PLURALS and "mergeType" in state.policy.spec:
            for target in state.targets:
                if target.key.kind in ("Gateway", "ListenerSet"):
                    reason = f"mergeType works in policies for routes only, and this one targets a {target.key.kind}"
                    return Reading(code="merge-type", reason=reason, pointer=("spec", "mergeType"))
        if state.kind.kind == "SecurityPolicy" and state.targets and all(map(_is_stream, state.targets)):
            return content.refused_on_streams(state.policy)
        if state.kind.kind == "EnvoyPatchPolicy":
            from policylint.implementations.envoy_gateway.patches import refused_placement

            return refused_placement(self._fleet, state)
        reading = references.broken(state.policy, topology) if state.kind.group == GROUP else Reading()
        if not reading.code and "clientIPGeoLocations" in str(state.policy.spec.get("authorization")):
            from policylint.implementations.envoy_gateway import geo

            reading = geo.refused(state, topology)
        if reading.code:
            return reading
        return super().validate_placement(state, topology)

    def claims(self, kind: PolicyKind, attached: Attachments) -> tuple[Attachments, list[Refusal]]:
        """Let the first policy keep each exact scope; nobody gets what another implementation serves (§2, §3)."""
        from policylint.policy.order import order_stated

        if kind.kind == "BackendTLSPolicy":
            from policylint.implementations.envoy_gateway.backend_tls import is_voided

            world = self.topology.world
            attached = {node: policies for node, policies in attached.items() if not is_voided(world, node)}
        if kind.group != GROUP:
            return super().claims(kind, attached)
        kept: Attachments = {}
        refused: list[Refusal] = []
        for node in sorted(attached):
            if foreign_gateway(self.topology, node.key, self.name, self.catalog):
                continue
            if kind.kind == "EnvoyPatchPolicy":
                from policylint.implementations.envoy_gateway.patches import priority

                kept[node] = sorted(attached[node], key=lambda attachment: priority(attachment.policy))
                continue
            first, *rest = sorted(attached[node], key=lambda attachment: order(attachment.policy))
            void = self._void.get(node)
            holder = first.policy if void is None else min(void, first.policy, key=order)
            if holder is first.policy:
                kept[node] = [first]
            for attachment in (first, *rest):
                if attachment.key != holder.key:
                    stated = order_stated(holder, attachment.policy)
                    refused.append(Refusal(attachment, holder.key, stated))
        return {node: own for node, own in kept.items() if not self._is_passed_over(own[0].policy, node)}, refused

    def _is_passed_over(self, policy: Resource, node: Node) -> bool:
        """Return whether a policy is to be merged at a route all of whose parents are ListenerSets, which releases
        before 1.9 do not ask about: it keeps its scope, and does nothing.

        Source: internal/gatewayapi/securitypolicy.go and backendtrafficpolicy.go @ v1.8.3, process…PolicyForRoute: the
        parents that are merged with are Gateways; without mergeType the listeners of all parents are translated.
        """
        if self.settings.get("mergesAtListenerSets") is not False or "mergeType" not in policy.spec:
            return False
        route = self.topology.route(node.key)
        parents = route.parents if route is not None else ()
        return bool(parents) and all(parent.wanted.kind == "ListenerSet" for parent in parents)

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return groups over the paths that requests take: hostnames belong to the listener that names them (§2).

        A ClientTrafficPolicy that a shared port makes Invalid keeps its scope and does nothing (§3, §6).
        """
        if kind.group != GROUP:
            return super().groups(kind, kept, topology)
        if kind.kind == "ClientTrafficPolicy":
            from policylint.implementations.envoy_gateway.client_traffic import ClientTraffic, spared

            claims = of_attachments(attachment for attachments in kept.values() for attachment in attachments)
            faults = ClientTraffic(self._fleet, claims).faults
            for node, attachments in kept.items():
                kept[node] = [attachment for attachment in attachments if (attachment.key, node) not in faults]
        idle = self._isolation(topology).idle
        if kind.kind == "SecurityPolicy":
            idle |= _open_streams(kept, topology)
        groups = self.effects(kind, kept, topology, idle).groups()
        if kind.kind == "ClientTrafficPolicy":
            from policylint.implementations.envoy_gateway.sockets import with_shared_sockets

            groups = [part for group in groups for part in spared(group, self._failing, topology)]
            return with_shared_sockets(groups, self._fleet)
        return with_own_fields(groups, _OWN_FIELDS.get(kind.kind, {}), topology)

    def without_use(self, state: PolicyState, topology: Topology) -> Iterable[FaultyPart]:
        """Return what none of the listeners of a ClientTrafficPolicy takes (§6), and rules that connections widen."""
        if state.kind.kind == "SecurityPolicy" and state.policy.spec.get("authorization"):
            from policylint.implementations.envoy_gateway.streams import widened

            return widened(state)
        if state.kind.kind != "ClientTrafficPolicy":
            return ()
        from policylint.implementations.envoy_gateway.client_traffic import without_use

        return without_use(state, topology)

    def of_http(self, kind: PolicyKind) -> Collection[str]:
        """Return the settings that no connection has: of a SecurityPolicy all but `authorization` (§1), and that, too,
        before 1.7.

        Source: internal/gatewayapi/securitypolicy.go, translateSecurityPolicyForListeners.
        """
        if kind.group != GROUP or kind.kind != "SecurityPolicy":
            return super().of_http(kind)
        authorizes = self.settings.get("authorizesConnections") is not False
        return content.HTTP_ONLY if authorizes else (*content.HTTP_ONLY, "authorization")

    def merge(self, stack: Stack) -> Effective:
        """Merge by replacement, mergeType, or on layer 4 field by field (§4, §5)."""
        if stack.kind.kind not in route_policies.PLURALS:
            return super().merge(stack)
        base = merging.base(stack) if self._failing else None
        if base is None or base.key not in self._failing:
            return merging.merge(stack, self.topology)
        return self._merged_with_refused(stack, base)

    def _merged_with_refused(self, stack: Stack, base: Attachment) -> Effective:
        """Return what comes of a policy that is merged with one that is refused: its fault too, unless it is covered.

        What is translated is the merged policy (§5, mergeBackendTrafficPolicy); the fault counts where it comes from
        the base.
        """
        as_written = base._replace(declared=base.policy.once(declared, stack.kind).declared)
        attachments = tuple(as_written if each is base else each for each in stack.attachments)
        merged = merging.merge(stack._replace(attachments=attachments), self.topology)
        fault = self._failing[base.key][1:]
        if any(owner == base.key and place[: len(fault)] == fault for place, owner in merged.owners.items()):
            return Effective({}, {}, Losses(), stack.attachments, refused=base.key)
        return merged

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set the verdicts, and keep the statuses that the controller writes."""
        super().judge(states, topology)
        if not states:
            return
        for state in states:
            state.idle = self._idle(state, topology)
            _judge_bases(state)
        match states[0].kind.kind:
            case "ClientTrafficPolicy":
                from policylint.implementations.envoy_gateway.client_traffic import ClientTraffic

                client_traffic = ClientTraffic(self._fleet, of_states(states))
                for state in states:
                    _judge_faults(state, client_traffic.faults)
                self._statuses = client_traffic.statuses
            case "EnvoyPatchPolicy":
                from policylint.implementations.envoy_gateway.patches import statuses as of_patches

                self._statuses = of_patches(self._fleet, states)
            case "BackendTLSPolicy":
                from policylint.implementations.envoy_gateway.backend_tls import statuses as of_backend_tls

                for state in states:
                    if state.verdict == "Enforced" and _voided(state, topology.world) is not None:
                        state.verdict = "PartiallyEnforced"
                self._statuses = of_backend_tls(self._fleet, states)
            case kind if kind in route_policies.PLURALS:
                self._statuses = route_policies.statuses(self._fleet, states)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:  # noqa: ARG002
        """Return what `judge` found; nothing where the target is missing or not ours (§8)."""
        status = self._statuses.get(state.key)
        if status is None:
            return ()
        if state.invalid_code == SWITCHED_OFF and state.kind.kind == "EnvoyPatchPolicy":
            return feature_flags.disabled(status.ancestors(), state.invalid)
        return status.ancestors()

    def backend_faults(self, route: RouteState, topology: Topology) -> Mapping[Pointer, tuple[str, str]]:
        """Return which backends are refused for what they say (§2)."""
        from policylint.implementations.envoy_gateway.backend_faults import backend_faults

        place = (id(route.route), id(route.backends), id(topology))
        if self._refused is None or self._refused[0] != place:
            off = ((each.pointer, feature_flags.backend_off(each, self.settings)) for each in route.backends)
            faults = dict(backend_faults(route, topology))
            faults |= {pointer: (why[0], why[1].rstrip(".")) for pointer, why in off if why is not None}
            self._refused = place, (route, topology), faults
        return self._refused[2]

    def reads(self, rule: Mapping[str, Any], found: Sequence[Match], *, grpc: bool) -> Sequence[Match]:  # noqa: ARG002
        """Return no matches of a rule of which one holds an expression that is none (processHTTPRouteRule)."""
        return () if len(found) > 1 and any(match.refusal for match in found) else found

    def of_call(self, call: Match) -> Match:
        """Return a match on calls as one on paths: equal ones of HTTPRoutes come first, and a method without a service
        counts as a header (processGRPCRouteMethodExact)."""
        made, method = super().of_call(call), mapping(call.value.get("method"))
        if method.get("method") and not method.get("service") and method.get("type") != EXPRESSION:
            return made._replace(weights=(0, 1, 0, call.weights[-1] + 1, -1))
        return made._replace(weights=(*made.weights[:-1], -1))

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """Return the topology's conditions with Envoy Gateway's own reasons (§2)."""
        from policylint.implementations.envoy_gateway.overlaps import Overlapping, condition
        from policylint.implementations.envoy_gateway.routes import conditions

        isolation = self._isolation(topology)
        refused = self.backend_faults(route, topology)
        told = conditions(route, parent, isolation, self.settings, topology, refused)
        if self._overlapping is None:
            self._overlapping = Overlapping(topology, isolation)
        overlap = condition(route.route, parent, self._overlapping)
        return told if overlap is None else (*told, overlap)

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:
        from policylint.implementations.envoy_gateway import listeners

        refused = refusal(state, topology.world)
        if refused is not None:
            silent = tuple(each._replace(conditions=()) for each in state.listeners)
            return state._replace(listeners=silent, conditions=(refused,), attached_listener_sets=0)
        clashes = self._clashes(topology, catalog)
        told = (listeners.of_listener(each, clashes.get(each.node)) for each in state.listeners)
        state = state._replace(listeners=tuple(told))
        sets = (each for each in topology.listener_sets if each.parent == state.gateway.key)
        revised = (self.with_conditions_of_set(each, topology, catalog) for each in sets)
        attached = sum(listeners.is_attached(each) for each in revised)
        return state._replace(conditions=listeners.of_gateway(state, topology.world), attached_listener_sets=attached)

    def with_conditions_of_set(self, state: ListenerSetState, topology: Topology, catalog: Catalog) -> ListenerSetState:
        from policylint.implementations.envoy_gateway import listeners

        gateway = topology.gateway(state.parent)
        served = gateway is None or refusal(gateway, topology.world) is None
        if state.allowed is False or not served:
            silent = tuple(each._replace(conditions=()) for each in state.listeners)
            return state._replace(listeners=silent, conditions=state.conditions if served else (listeners.EMPTY,))
        clashes = self._clashes(topology, catalog)
        told = (listeners.of_listener(each, clashes.get(each.node)) for each in state.listeners)
        state = state._replace(listeners=tuple(told))
        return state._replace(conditions=listeners.of_listener_set(state))

    def sharing(self, gateway: GatewayState, topology: Topology, catalog: Catalog) -> Collection[ResourceKey]:
        """Return the Gateways of a class with `mergeGateways`: the listeners of a port are one of Envoy (§6)."""
        if not merges(gateway, topology.world):
            return ()
        fleet = Fleet(topology, catalog)
        if gateway.gateway.key not in fleet.gateways:
            return ()
        return [key for key, other in fleet.gateways.items() if other.class_key == gateway.class_key]

    def underscored(self, listener: Node, groups: Sequence[Group], world: World) -> Literal["", "rejected", "dropped"]:  # noqa: ARG002
        """Return what `headers.withUnderscoresAction` of its ClientTrafficPolicy says (xds/translator/listener.go)."""
        kind = (GROUP, "ClientTrafficPolicy")
        own = (group for group in groups if (group.kind.group, group.kind.kind) == kind and listener in group.nodes)
        said = next((value_at(group.effective.spec, ("headers", "withUnderscoresAction")) for group in own), None)
        return "" if said == "Allow" else "dropped" if said == "DropHeader" else "rejected"

    def unserved_listeners(self, topology: Topology, catalog: Catalog) -> Mapping[Node, str]:
        """Return the listeners of HTTPS and TLS whose filter chains Envoy refuses together."""
        from policylint.implementations.envoy_gateway.filter_chains import refused

        return refused(Fleet(topology, catalog))

    def _clashes(self, topology: Topology, catalog: Catalog) -> Mapping[Node, ListenerLoss]:
        """Return the listeners that lose against others, found once for the topology that this instance is for."""
        if self._lost is None:
            from policylint.implementations.envoy_gateway.listener_conflicts import clashes

            self._lost = clashes(Fleet(topology, catalog))
        return self._lost

    def phases(
        self,
        kind: PolicyKind,
        spec: Mapping[str, Any],
        gateway: ResourceKey | None,
        topology: Topology,
        catalog: Catalog,
    ) -> Mapping[str, int]:
        """Return the places of settings: limits that the proxies count themselves have a filter of their own."""
        names = {_of_filter(field, spec): field for field in spec}
        found = placed(kind, dict.fromkeys(names), self.order(gateway, topology, catalog))
        return {names[name]: place for name, place in found.items()}

    def order(self, gateway: ResourceKey | None, topology: Topology, catalog: Catalog) -> Sequence[Phase]:
        """Return the catalog's order, changed by the Gateway's EnvoyProxy."""
        from policylint.implementations.envoy_gateway.filter_order import moved, moves

        phases = super().order(gateway, topology, catalog)
        state = None if gateway is None else topology.gateway(gateway)
        entries = () if state is None else moves(state, topology.world)
        if not entries:
            return phases
        set_somewhere = {
            f"{kind}.{_of_filter(field, policy.spec)}"
            for kind in route_policies.PLURALS
            for policy in topology.world.of_kind(GROUP, kind)
            for field in policy.spec
        }
        return moved(
            phases, entries, {phase.filter for phase in phases if not set_somewhere.isdisjoint(phase.settings)}
        )

    def written_out(
        self, kind: PolicyKind, effective: Effective, spec: Mapping[str, Any], world: World
    ) -> Mapping[str, Any]:
        if kind.kind != "EnvoyExtensionPolicy":
            return spec
        from policylint.implementations.envoy_gateway.scripts import with_scripts

        return with_scripts(effective, spec, world)

    def rule_fault(self, route: Resource, rule: Rule, topology: Topology) -> tuple[int, str] | None:
        """Return why a rule is not translated as it is written (§10)."""
        from policylint.implementations.envoy_gateway.routes import rule_fault

        return rule_fault(route, rule, topology, self.release)

    def filter_fault(self, extension: Resource, topology: Topology) -> str:
        """Return which reference of a filter is of no use (§10)."""
        return references.broken(extension, topology).reason

    def client_certificates(self, kind: PolicyKind, spec: Mapping[str, Any]) -> tuple[Pointer, bool]:
        """Return the validation of a ClientTrafficPolicy (api/v1alpha1/tls_types.go, `ClientValidationModeType`)."""
        validation = mapping(mapping(spec.get("tls")).get("clientValidation"))
        if kind.kind != "ClientTrafficPolicy" or not validation:
            return (), False
        demands = text(validation.get("mode")) in ("", "RequireAndVerify", "RequireAny")
        return ("tls", "clientValidation"), demands and validation.get("optional") is not True

    def forgeable_address(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Trust | None:
        """Return what a ClientTrafficPolicy says of a listener's clients."""
        return client_addresses.forgeable(spec) if kind.kind == "ClientTrafficPolicy" else None

    def detection(self, gateway: Resource, kind: PolicyKind | None, spec: Mapping[str, Any]) -> Detection | None:  # noqa: ARG002
        """Return what a ClientTrafficPolicy says of proxies in front."""
        is_said = kind is not None and kind.kind == "ClientTrafficPolicy" and "clientIPDetection" in spec
        return client_addresses.detection(spec) if is_said else None

    def address_rule(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Pointer:
        """Return where a SecurityPolicy lets clients in, or keeps them out, by address."""
        return client_addresses.rule(spec) if kind.kind == "SecurityPolicy" else ()

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:
        """Return what the rules of a SecurityPolicy answer, and other settings by which requests are turned away."""
        if kind.group != GROUP:
            return []
        from policylint.implementations.envoy_gateway.authorization import RequestRules, refusals
        from policylint.implementations.generic.bearer import claims_of

        found = list(refusals(spec, message))
        rules = spec.get("authorization") if kind.kind == "SecurityPolicy" else None
        if not isinstance(rules, dict):
            return found
        known = self._rules.get(id(spec))
        if known is None:
            providers = list(map(mapping, sequence(mapping(spec.get("jwt")).get("providers"))))
            issuers = {text(provider.get("name")): text(provider.get("issuer")) for provider in providers}
            known = self._rules[id(spec)] = spec, RequestRules(rules, issuers, claims_of(providers))
        return [*found, known[1].decide(message)]

    def stops(self, groups: Iterable[Group], topology: Topology, catalog: Catalog) -> Iterable[Stop]:
        """Return what the controller panics over, and what Envoy refuses a listener for."""
        suspects = [group for group in groups if not {"oidc", "jwt"}.isdisjoint(group.effective.spec)]
        if not suspects:
            return ()
        from policylint.implementations.envoy_gateway.standstill import stops

        return stops(suspects, topology, lambda gateway: self.sharing(gateway, topology, catalog))

    def _idle(self, state: PolicyState, topology: Topology) -> Idle | None:
        """Explain a policy of a listener whose routes have no hostname that is its own (§2), and a voided one (§7)."""
        if state.kind.kind == "BackendTLSPolicy":
            voided = _voided(state, topology.world)
            if state.verdict != "NoEffect" or state.groups or voided is None:
                return None
            why = f"{voided.key} sets `tls.insecureSkipVerify`, so that its certificate is not verified"
            return Idle(voided, why, f"remove `insecureSkipVerify` from {voided.key}")
        if state.verdict != "NoEffect" or state.groups or state.kind.kind not in route_policies.PLURALS:
            return None
        for target in state.targets:
            if any(self._is_passed_over(state.policy, node) for node in target.nodes):
                why = f"before 1.9 no policy is merged at a route of ListenerSets, and {target.key} has no other parent"
                return Idle(target, why, "leave out `mergeType`, or upgrade to 1.9")
        for target in state.targets:
            for node in target.nodes:
                if node in self._isolation(topology).idle_listeners:
                    why = f"other listeners on the port have the hostnames of the routes attached to {node}"
                    fix = "name those listeners in targetRefs, or the whole Gateway"
                    return Idle(target, why, fix, unknown=bool(topology.world.unseen))
        return None

    def withheld(self, topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
        """Return the hostnames that listeners leave to those which name them (§2), or to TLSRoutes."""
        from policylint.implementations.envoy_gateway.filter_chains import names_of_tls_routes

        return self._isolation(topology).withheld | names_of_tls_routes(topology)

    def _isolation(self, topology: Topology) -> Isolation:
        self._isolated = self._isolated or Isolation(topology)
        return self._isolated


def _judge_bases(state: PolicyState) -> None:
    """Make a policy Invalid where all that it is merged into is refused, PartiallyEnforced where some is (§5).

    One that others are merged into stays as it is, whatever is wrong with these.
    """
    bases = {group.effective.refused for group in state.groups} - {state.key}
    if bases == {None} or not bases or state.verdict not in ("Enforced", "PartiallyEnforced"):
        return
    if "mergeType" not in state.policy.spec:
        return
    base = next(key for key in bases if key is not None)
    if None in bases:
        state.verdict = "PartiallyEnforced"
        return
    state.verdict, state.by, state.invalid_code = "Invalid", (), content.CODE
    state.invalid, state.invalid_pointer = f"it is merged with {base}, which is refused", ("spec", "mergeType")


def _judge_faults(state: PolicyState, faults: Mapping[tuple[ResourceKey, Node], str]) -> None:
    """Make a policy Invalid where every target is, PartiallyEnforced at most where some are."""
    nodes = [node for target in state.targets for node in target.nodes]
    messages = [faults[state.key, node] for node in nodes if (state.key, node) in faults]
    if not messages:
        return
    if len(messages) == len(nodes):
        state.verdict, state.by = "Invalid", ()
        state.invalid, state.invalid_code, state.invalid_pointer = messages[0], "shared-port", ("spec",)
    elif state.verdict == "Enforced":
        state.verdict = "PartiallyEnforced"


def _voided(state: PolicyState, world: World) -> Target | None:
    """Return the first target of a BackendTLSPolicy that verifies nothing (§7), None without one."""
    from policylint.implementations.envoy_gateway.backend_tls import is_voided

    targets = (target for target in state.targets if any(is_voided(world, node) for node in target.nodes))
    return next(targets, None)


def _open_streams(kept: Attachments, topology: Topology) -> frozenset[tuple[Node, Node]]:
    """Return the edges to TCP routes on which no policy authorizes: nothing else of one acts on a connection.

    Source: internal/gatewayapi/securitypolicy.go, translateSecurityPolicyForListeners.
    """
    authorizing = {
        node
        for node, attachments in kept.items()
        for attachment in attachments
        if any("authorization" in declared.proper for declared in attachment.declared)
    }
    edges = set()
    for route in topology.routes:
        if route.route.key.kind not in merging.L4_ROUTES:
            continue
        below = {whole(route.route.key), *(rule.node for rule in rules(route.route))}
        for parent in route.parents:
            for listener in parent.attached:
                above = {listener, whole(listener.key)} | ({whole(parent.gateway)} if parent.gateway else set())
                if authorizing.isdisjoint(above | below):
                    edges.add((listener, whole(route.route.key)))
    return frozenset(edges)


def _is_stream(target: Target) -> bool:
    return target.key.kind in merging.L4_ROUTES
