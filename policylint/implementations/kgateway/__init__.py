"""kgateway: fields from the first policy that sets them, weights, delegation, Attached.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.implementations.generic import Attachments, Implementation, controller_above, resolved_to
from policylint.implementations.generic.detecting import Detection
from policylint.implementations.generic.impossible import impossible_rules
from policylint.implementations.generic.narrower import kept_by_narrower
from policylint.implementations.generic.traffic import ServingMatch
from policylint.implementations.kgateway import authorization, backend_tls, client_addresses, listeners, routes
from policylint.implementations.kgateway.attachment_points import (
    TLS_PROTOCOLS,
    AttachmentPoints,
    MergeOutcome,
    named_by_backends,
    outcomes,
)
from policylint.implementations.kgateway.backend_filters import BackendFilters, has_one_backend, is_of_backend
from policylint.implementations.kgateway.fields import VALIDATION
from policylint.implementations.kgateway.merging import Level, beside, fold, priority, ranked, rule_lists
from policylint.implementations.kgateway.ports import by_port, takes_certificates
from policylint.implementations.kgateway.references import PERMISSIVE, broken_reference
from policylint.implementations.kgateway.validation import broken_template, refused_value
from policylint.implementations.kgateway.weights import weight_of
from policylint.model import GATEWAY_GROUP, Node, PolicyKind, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy import verdict
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.client_addresses import Trust
from policylint.policy.declared import Reading
from policylint.policy.folding import Folding, Stack
from policylint.policy.own_fields import OwnFields, with_own_fields
from policylint.policy.results import (
    Ancestor,
    Attachment,
    Declared,
    Effective,
    FaultyPart,
    Group,
    Losses,
    PolicyState,
    Target,
)
from policylint.topology import Condition, GatewayState, ListenerSetState, ParentState, RouteState, Topology, whole
from policylint.topology.grants import Grants
from policylint.topology.references import is_parent

if TYPE_CHECKING:
    from policylint.catalog.kinds import Catalog

_WORDS = ("Overridden", "Merged", "Attached")
"""The outcomes from the worst on: the worst is reported of a policy that has several."""
_VALID = Condition("Accepted", "True", "Valid", "Policy accepted")
_MESSAGES = {
    "Overridden": "Overridden due to conflict with higher priority policy in target(s)",
    "Merged": "Merged with other policies in target(s) and attached",
    "Attached": "Attached to all targets",
}


_OWN_FIELDS: OwnFields = {"timeouts.request": ("timeouts", "request"), "retry": ("retry",), "cors": ("cors",)}
"""Fields of rules that win: they are built-in policies of the highest priority (pkg/kgateway/extensions2/plugins)."""

_REPORTED_ALONE = ("DirectResponse", "BackendConfigPolicy")
"""Kinds of which each policy is Attached, whatever becomes of it in a merge (proxy_syncer/status.go)."""
_BACKEND = ("gateway.kgateway.dev", "Backend")
_OF_FILTERS = ("TrafficPolicy", "DirectResponse")
"""What ExtensionRef filters name."""
_UNTRANSLATED = frozenset({"broken-reference", "template", "value"})
"""Why the controller does not translate a policy that the API server takes."""


class Kgateway(Implementation):
    """TrafficPolicy, ListenerPolicy, BackendConfigPolicy and DirectResponse."""

    name = "kgateway"
    upgrades_outlast = True
    plain_services = True
    preflights = 200, False
    ends_above = True
    judges_core_kinds = True
    names_core = True  # pkg/krtcollections/policy.go, emptyIfCore
    host_first = True  # one virtual host per hostname (gateway_listener_translator.go, routesByHost)
    hosts_of_port = frozenset({"http"})  # listeners without TLS share the route config of their port
    empty_delegation = 500
    places_wider = True
    flat_delegation = True  # translator/httproute/delegation.go, flattenDelegatedRoutes

    def __init__(self) -> None:
        self._of_listeners: listeners.Fates | None = None
        self._filters: BackendFilters | None = None
        self._kept: Attachments = {}
        self._failing: set[ResourceKey] = set()
        self._outcomes: dict[ResourceKey, dict[Node, list[MergeOutcome]]] = {}
        self._refused: dict[ResourceKey, set[Node]] = {}
        self._named: Mapping[ResourceKey, Set[Node]] = {}
        self._states: list[PolicyState] = []

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Return the catalog's refusals, and of a BackendTLSPolicy that it has no CA."""
        reading = super().validate(policy, kind, declared, world)
        return reading if reading.code or kind.implementation == self.name else backend_tls.validate(policy, world)

    def backend_faults(self, route: RouteState, topology: Topology) -> Mapping[Pointer, tuple[str, str]]:  # noqa: ARG002
        """Refuse references to Backends that state a port (pkg/krtcollections/policy.go, getBackend; 2.2 and later)."""
        return {
            each.pointer: ("BackendNotFound", "a Backend has ports of its own, and is not found by one of the route")
            for each in route.backends
            if each.wanted[:2] == _BACKEND and each.port is not None and each.granted is not False
        }

    def validate_placement(self, state: PolicyState, topology: Topology) -> Reading:
        """Return the first reference or value that the controller refuses; under strict validation templates too."""
        reading = broken_reference(state.policy, topology, text(self.settings.get("referenceGrantMode"), PERMISSIVE))
        reading = reading if reading.code else refused_value(state.policy, topology.world)
        if not reading.code and self.settings.get("validationMode") == "strict":
            return broken_template(state.policy)
        return reading

    def placed(self, found: Sequence[ServingMatch]) -> Iterable[tuple[int, int]] | None:
        """Return the matches by the weights of their routes, where it asks for them (routeutils/sort.go, Less)."""
        weights = [weight_of(each.route) for each in found] if self.settings.get("weightedRoutePrecedence") else []
        return [(number, -weight) for number, weight in enumerate(weights)] if any(weights) else None

    def outplaced(self, place: int, first: int) -> str:
        return f"its route has weight {-place}, the other one {-first}"

    def answers_with_errors(self, state: PolicyState) -> bool:
        """Return whether routes answer 500 for it: every TrafficPolicy that the controller does not translate (§2.2).

        That what it calls fails open (`failOpen`) is the proxy's business, and changes nothing (gateway_extension.go).
        """
        if state.kind.kind != "TrafficPolicy" or state.invalid_code not in _UNTRANSLATED:
            return False
        self._failing.add(state.key)
        return True

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve references in the policy's namespace; the global policy namespace selects in all of them (§2.1)."""
        targets = super().targets(policy, kind, topology, grants)
        if kind.kind == "TrafficPolicy":
            targets = (*targets, *self._backend_filters(topology).targets(policy.key))
        if policy.key.namespace and policy.key.namespace == self.settings.get("globalPolicyNamespace"):
            return tuple(_everywhere(target, topology) for target in targets)
        return targets

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return one group per stack over route rules, listeners or backends; listeners need no routes."""
        translated = {
            node: [attachment for attachment in attachments if attachment.key not in self._failing]
            for node, attachments in kept.items()
        }
        told_of = {
            node: [each for each in attached if not is_of_backend(each)] for node, attached in translated.items()
        }
        self._kept = {node: attachments for node, attachments in told_of.items() if attachments}
        filters = self._backend_filters(topology)
        by_backend = (filters.split(each, self.merge, self._failing) for each in super().groups(kind, kept, topology))
        groups = [self._with_failure(group) for groups in by_backend for group in groups]
        if kind.kind == "ListenerPolicy":
            return [of_port for group in groups for of_port in by_port(group, topology)]
        return with_own_fields(groups, _OWN_FIELDS if kind.kind == "TrafficPolicy" else {}, topology)

    def _with_failure(self, group: Group) -> Group:
        """Return a group marked if any of its policies fails, whatever the others say (runRoutePlugins).

        Nothing of them acts then: an error replaces the whole route (irtranslator/route.go, TypedPerFilterConfig).
        """
        stack = group.effective.stack
        failing = next((each.key for each in reversed(stack) if each.key in self._failing), None)
        return group if failing is None else group._replace(effective=Effective({}, {}, Losses(), stack, failing))

    def merge(self, stack: Stack) -> Effective:
        """Merge routes before listeners before the Gateway, each level as §2.2 and §2.3 say."""
        levels = self._levels(stack.attachments)
        folded = fold(stack.kind.kind, levels, self._joined)
        if stack.kind.kind == "BackendConfigPolicy" and "tls" in folded.spec:
            rival = _tls_policy(stack.attachments[-1].node.key, self.topology)
            if rival is not None:
                _without_tls(folded, stack.attachments, rival)
        effective = folded.effective(stack.attachments)
        return effective._replace(beside=beside(levels, effective))

    def client_certificates(self, kind: PolicyKind, spec: Mapping[str, Any]) -> tuple[Pointer, bool]:
        """Return the validation of a ListenerPolicy."""
        validation = mapping(spec.get(VALIDATION)) if kind.kind == "ListenerPolicy" else {}
        return ((VALIDATION,) if validation else ()), validation.get("mode") == "Require"

    def forgeable_address(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Trust | None:
        """Return what a ListenerPolicy says of a listener's clients."""
        return client_addresses.forgeable(spec) if kind.kind == "ListenerPolicy" else None

    def detection(self, gateway: Resource, kind: PolicyKind | None, spec: Mapping[str, Any]) -> Detection | None:  # noqa: ARG002
        """Return what a ListenerPolicy says of proxies in front."""
        return client_addresses.detection(spec) if kind is not None and kind.kind == "ListenerPolicy" else None

    def address_rule(self, kind: PolicyKind, spec: Mapping[str, Any]) -> Pointer:
        """Return the `acl` of a TrafficPolicy."""
        return client_addresses.rule(spec) if kind.kind == "TrafficPolicy" else ()

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:
        """Return what `rbac`, `acl` and `csrf` of a TrafficPolicy answer."""
        return authorization.decisions(spec, message) if kind.kind == "TrafficPolicy" else ()

    def written_out(
        self, kind: PolicyKind, effective: Effective, spec: Mapping[str, Any], world: World
    ) -> Mapping[str, Any]:
        """Return a spec with what its extension says of tokens."""
        if kind.kind != "TrafficPolicy" or "jwtAuth" not in spec:
            return spec
        from policylint.implementations.kgateway.extensions import with_providers

        return with_providers(effective, spec, world)

    @property
    def _joined(self) -> frozenset[str]:
        """Return the fields that TrafficPolicies of one level merge deeply."""
        how = mapping(mapping(self.settings.get("policyMerge")).get("trafficPolicy"))
        return frozenset(name for name, strategy in how.items() if strategy == "DeepMerge")

    def _levels(self, attachments: tuple[Attachment, ...]) -> list[Level]:
        """Return the levels of a path from its most specific end: its routes, its listener, its Gateway."""
        routes: dict[ResourceKey, list[Attachment]] = {}
        above: Attachments = {}
        for attachment in attachments:
            if attachment.node.key.kind.endswith("Route"):
                routes.setdefault(attachment.node.key, []).append(attachment)
            else:
                above.setdefault(attachment.node, []).append(attachment)
        levels = []
        for key, of_route in reversed(routes.items()):
            of_rule = [each for each in of_route if each.node.section]
            of_backend = [each for each in of_rule if is_of_backend(each)]
            filters, rule = rule_lists([each for each in of_rule if not is_of_backend(each)])
            state = self.topology.route(key)
            whole_route = [each for each in of_route if not each.node.section]
            lists = [filters, rule, whole_route]
            single = bool(of_backend) and has_one_backend(of_backend[0].node, self.topology)
            lists = [*lists, of_backend] if single else [of_backend, *lists]
            levels.append(Level(ranked(*lists), priority(state.route if state else None)))
        lists = list(reversed(above.values()))
        if any(self._terminates(node) for node in above):
            return [*levels, Level(ranked(*lists), apart=True)]
        return [*levels, *(Level(ranked(attachments), apart=True) for attachments in lists)]

    def _terminates(self, node: Node) -> bool:
        listener = self.topology.listener(node)
        return listener is not None and listener.protocol in TLS_PROTOCOLS

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set Overridden where the controller does; a Gateway's policy that a route replaces is not (§2.2).

        The controller says it as soon as one target is lost; where others are not, the verdict is PartiallyEnforced.
        It says nothing of fields of rules, which go before every policy; a route's policy that they replace is lost.
        """
        self._outcomes = defaultdict(lambda: defaultdict(list))
        if self._kept:
            points = AttachmentPoints(topology, self._kept, self._fates(topology)).all()
            for outcome in outcomes(states[0].kind.kind, points, self._joined):
                self._outcomes[outcome.policy][outcome.ancestor].append(outcome)
        self._refused = _refused(states, topology, self._fates(topology))
        self._states = states
        self._named = named_by_backends(topology) if states and states[0].kind.kind in _OF_FILTERS else {}
        for state in states:
            verdict.judge(state)
            by_ancestor = self._outcomes.get(state.key, {})
            lost = [each for merges in by_ancestor.values() for each in merges if each.word == "Overridden"]
            if lost and state.kind.kind != "DirectResponse":
                survives = any(group.effective.survives(state.key) for group in state.groups)
                state.verdict = "PartiallyEnforced" if survives else "Overridden"
                state.by = tuple(sorted({key for outcome in lost for key in outcome.by}))
                continue
            losses = [loss for group in state.groups for loss in group.effective.lost_by(state.key)]
            beaters = {key for loss in losses for key in loss.by} - {state.key}
            state.by = tuple(sorted(beaters)) or state.by
            whole = all(is_parent(node.key) for target in state.targets for node in target.nodes)
            by_rules = bool(beaters) and all(key.kind.endswith("Route") for key in beaters)
            if state.verdict == "Overridden" and (whole or not by_rules):
                state.verdict = "PartiallyEnforced"

    def without_use(self, state: PolicyState, topology: Topology) -> Iterator[FaultyPart]:
        """Yield expressions that hold for no request, and the validation of client certificates where it is not looked
        at: for whole Gateways, without TLS."""
        yield from impossible_rules(state, ("rbac",), authorization.ATTRIBUTES)
        if state.kind.kind != "ListenerPolicy" or VALIDATION not in mapping(state.policy.spec.get("default")):
            return
        nodes = [node for target in state.targets for node in target.nodes]
        taking = [node for node in nodes if takes_certificates(node)]
        why, fix = "kgateway reads this of policies for single listeners only", "name each listener with `sectionName`"
        if taking:
            why, fix = "no listener here terminates TLS", ""
        listeners_of = [topology.listener(node) for node in taking]
        if nodes and all(each is not None and each.protocol not in TLS_PROTOCOLS for each in listeners_of):
            yield FaultyPart(("spec", "default", VALIDATION), f"no client is asked for a certificate: {why}", fix=fix)

    def with_conditions(self, state: GatewayState, topology: Topology, catalog: Catalog) -> GatewayState:  # noqa: ARG002
        return state if state.class_resolution.missing else listeners.of_gateway(state, self._fates(topology), topology)

    def with_conditions_of_set(
        self,
        state: ListenerSetState,
        topology: Topology,
        catalog: Catalog,  # noqa: ARG002
    ) -> ListenerSetState:
        return listeners.of_set(state, self._fates(topology), topology)

    def _fates(self, topology: Topology) -> listeners.Fates:
        """Return what becomes of listeners, found once for the topology that this instance is for."""
        if self._of_listeners is None:
            self._of_listeners = listeners.Fates(topology)
        return self._of_listeners

    def withheld(self, topology: Topology) -> Mapping[tuple[Node, Node], frozenset[str]]:
        return kept_by_narrower(topology)

    def reports_on(self, route: RouteState, parent: ParentState, topology: Topology) -> bool:
        """Return whether kgateway writes an entry for a parent of a route (§2.8)."""
        told = routes.is_told_of(route.route, parent, self._fates(topology), topology)
        return told and super().reports_on(route, parent, topology)

    def _backend_filters(self, topology: Topology) -> BackendFilters:
        if self._filters is None:
            self._filters = BackendFilters(topology)
        return self._filters

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """Return the topology's conditions, with kgateway's reasons (§2.8)."""
        return routes.conditions(route, parent, self._fates(topology), topology)

    def ancestors(self, state: PolicyState, topology: Topology) -> tuple[Ancestor, ...]:
        """Return how the policy fared per Gateway, ListenerSet or backend; nothing where it reached none (§2.5)."""
        if state.kind.implementation != self.name:
            return backend_tls.ancestors(state, self._states, self._fates(topology), topology)
        if state.invalid_code:
            accepted = Condition("Accepted", "False", "Invalid", state.invalid)
            refused = self._refused.get(state.key, set()) | self._named.get(state.key, set())
            return self._pending(refused, accepted, topology)
        merged = self._outcomes.get(state.key, {})
        ancestors = [*self._pending(self._named.get(state.key, set()) - merged.keys(), _VALID, topology)]
        for node, merges in sorted(merged.items()):
            if self.is_foreign(node.key):
                continue
            words = {outcome.word for outcome in merges}
            word = next(word for word in _WORDS if word in words)
            if state.kind.kind in _REPORTED_ALONE:
                word = "Attached"
            conditions = [
                _VALID,
                Condition("Attached", "False" if word == "Overridden" else "True", word, _MESSAGES[word]),
            ]
            of_backend = state.kind.kind == "BackendConfigPolicy" and "tls" in state.policy.spec
            if of_backend and _tls_policy(node.key, topology) is not None:
                message = "a BackendTLSPolicy targets this backend; `tls` is ignored"
                conditions.append(Condition("Overridden", "True", "ConflictedWithBackendTLSPolicy", message))
            ancestors.append(Ancestor(node, controller_above(topology, node.key), tuple(conditions)))
        return tuple(ancestors)

    def _pending(self, nodes: Set[Node], accepted: Condition, topology: Topology) -> tuple[Ancestor, ...]:
        """Return the ancestors at which a policy is attached to nothing."""
        conditions = (accepted, Condition("Attached", "False", "Pending"))
        own = (node for node in sorted(nodes) if not self.is_foreign(node.key))
        return tuple(Ancestor(node, controller_above(topology, node.key), conditions) for node in own)


def _everywhere(target: Target, topology: Topology) -> Target:
    """Resolve a selector of the global policy namespace, which looks at the objects of all namespaces."""
    if target.selector is None or target.problem not in ("", "no-match") or target.section:
        return target
    kind = target.key.group, target.key.kind
    chosen = tuple(whole(each.key) for each in topology.world.selected(*kind, target.selector))
    if not chosen:
        return target
    return resolved_to(target, *chosen)


def _refused(states: list[PolicyState], topology: Topology, fates: listeners.Fates) -> dict[ResourceKey, set[Node]]:
    """Return for each invalid policy the ancestors where it would have been merged."""
    kept: Attachments = defaultdict(list)
    for state in states:
        if state.invalid_code:
            for target in state.targets:
                for node in target.nodes:
                    kept[node].append(Attachment(state.policy, node, target, state.declared))
    ancestors: dict[ResourceKey, set[Node]] = defaultdict(set)
    for point in AttachmentPoints(topology, kept, fates).all() if kept else ():
        for attachment in point.attachments:
            ancestors[attachment.key].add(point.ancestor)
    return ancestors


def _tls_policy(backend: ResourceKey, topology: Topology) -> ResourceKey | None:
    """Return the BackendTLSPolicy that targets a backend and so replaces `tls` (§2.4), None without one."""
    for policy in topology.world.in_namespace(GATEWAY_GROUP, "BackendTLSPolicy", backend.namespace):
        for reference in map(mapping, sequence(policy.spec.get("targetRefs"))):
            if (reference.get("kind"), reference.get("name")) == (backend.kind, backend.name):
                return policy.key
    return None


def _without_tls(folded: Folding, attachments: tuple[Attachment, ...], rival: ResourceKey) -> None:
    folded.clear(("tls",), rival)
    for attachment in attachments:
        tls = attachment.declared[0].proper.get("tls")
        if tls is not None:
            folded.lose(attachment, ("tls",), tls, {rival})
