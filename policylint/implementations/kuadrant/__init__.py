"""Kuadrant's own rules: the refusals of its CRDs; the merging itself is the catalog's `units`.

Source: docs/design/semantics.md §5.

Statuses are those of internal/controller/*_status_updater.go and *_policy_discoverability_reconciler.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.documents import Pointer
from policylint.implementations.generic import Attachments, Implementation, fault_of, walk
from policylint.implementations.kuadrant import action_sets, authorization, conditions, hostnames, keys
from policylint.implementations.kuadrant.listeners import (
    idle,
    named_listeners,
    passed_over,
    shared_secrets,
    with_gateways,
)
from policylint.model import (
    Node,
    PolicyKind,
    Resource,
    ResourceKey,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
    value_at,
)
from policylint.patterns import Pattern
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.declared import Reading
from policylint.policy.folding import Stack
from policylint.policy.results import Declared, Effective, FaultyPart, Group, Losses, Lost, PolicyState
from policylint.policy.target_conditions import TargetCondition
from policylint.topology import Condition, Topology, whole
from policylint.topology.ports import HostsServed

CONTROLLER = "kuadrant.io/policy-controller"
_BY_LISTENER = ("DNSPolicy", "TLSPolicy")
_LIMITS = ("RateLimitPolicy", "TokenRateLimitPolicy")
_WITH_CONDITIONS = ("AuthPolicy", *_LIMITS)
_AUTH = Pattern(r"\bauth\.")
_RULES = ("authentication", "metadata", "authorization", "callbacks")
_CERT_MANAGER = "cert-manager.io"
_NO_CEL = "predicate"
_NO_CIDR = "address"
"""Faults that the controller reports in Enforced, and with reason Unknown."""
_REFUSED = {"Conflicted": "Conflicted", "Invalid": "Invalid", "TargetNotFound": "TargetNotFound"}
"""Verdicts with which a policy is not accepted, and the reason that its condition gives."""


class Kuadrant(Implementation):
    """AuthPolicy, RateLimitPolicy, TokenRateLimitPolicy, DNSPolicy, TLSPolicy."""

    name = "kuadrant"

    def __init__(self) -> None:
        self._shadowed: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
        """Per policy the refused policies of its listeners, to which it loses them."""
        self._passed_over: frozenset[tuple[Node, Node]] = frozenset()
        """The listeners, each with a route under it, at which no policy acts on requests."""

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Group DNS and TLS policies by listener, token limits on HTTPRoutes alone (docs/design/semantics.md §5).

        Up to 1.4 the others are on HTTPRoutes alone as well.
        """
        if kind.kind not in _BY_LISTENER:
            self._passed_over = hostnames.passed_over(topology)
            idle = _to_listener_sets(topology) | self._passed_over
            if kind.kind == "TokenRateLimitPolicy" or self.catalog.unread(self.name, "GRPCRoute"):
                idle |= _to_grpc(topology)
            return self.effects(kind, kept, topology, idle).groups()
        groups = super().groups(kind, self._by_listener(kind, kept, topology), topology)
        return [with_gateways(group) for group in groups]

    def taken(self, groups: Sequence[Group], topology: Topology, served: Callable[[], HostsServed]) -> Sequence[Group]:
        """Return effective policies with the paths on which the filter, which knows none, makes them act."""
        return action_sets.taken(groups, topology, self.name, served)

    def choosing(self, groups: Sequence[Group], topology: Topology) -> action_sets.ActionSets | None:
        """Return the action sets of Gateways; None where there are none."""
        sets = action_sets.ActionSets(groups, topology, self.name)
        return sets if any(sets.gateways) else None

    def phases(
        self,
        kind: PolicyKind,
        spec: Mapping[str, Any],
        gateway: ResourceKey | None,
        topology: Topology,
        catalog: Catalog,
    ) -> Mapping[str, int]:
        """Return the catalog's places; limits that read who was authenticated act after the AuthPolicy.

        Source: internal/controller/istio_extension_reconciler.go, specsHaveAuthAccess.
        """
        places = super().phases(kind, spec, gateway, topology, catalog)
        last = 2 * len(catalog.order(self.name))
        late = kind.kind in _LIMITS and _reads_auth(spec.get("limits"))
        return {field: last - place if late else place for field, place in places.items()}

    def concerning(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Mapping[str, Any]:
        """Return what of an effective spec is about a request: nothing where its `when` does not hold."""
        return conditions.concerning(spec, message) if kind.kind in _WITH_CONDITIONS else spec

    def merge(self, stack: Stack) -> Effective:
        """Return the effective policy of a stack; one with a predicate that is no CEL does nothing (buildWasmConfigs).

        So do all policies that it merges, and those that it replaces do not come back.
        """
        effective = super().merge(stack)
        place = conditions.broken(effective.spec, stack.kind.kind) if stack.kind.kind in _WITH_CONDITIONS else ()
        return effective if not place else _switched_off(effective, place)

    def decisions(self, kind: PolicyKind, spec: Mapping[str, Any], message: RequestFacts) -> Iterable[Decision]:
        """Return what the authorization of an AuthPolicy answers, and to tokens of others; under `when` it depends."""
        if kind.kind != "AuthPolicy":
            return []
        answers = (authorization.refused_token(spec, message), authorization.decide(spec, message))
        hangs = bool(spec.get("when"))
        return [
            each._replace(answer="depends", why="when") if hangs and each.answer == "denied" else each
            for each in answers
            if each is not None
        ]

    def _by_listener(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> Attachments:
        """Return the policies on every listener that they do not pass over.

        A policy of the listener's own takes it from the Gateway's, even if it is refused (docs/design/semantics.md §6,
        trap 9).
        """
        by_listener: Attachments = {}
        claimed = named_listeners(kind, topology)
        for key in sorted({node.key for node in kept}):
            gateway = topology.gateway(key)
            wide = kept.get(whole(key), [])
            for listener in gateway.listeners if gateway is not None else ():
                own = kept.get(listener.node, [])
                if passed_over(kind.kind, listener) is not None:
                    continue
                refused = claimed.get((key, listener.name), set()) - {policy.key for policy in own}
                if own or not refused:
                    by_listener[listener.node] = [*wide, *own]
                    continue
                for policy in wide:
                    self._shadowed[policy.key].update(refused)
        return by_listener

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set the generic verdicts; a policy that loses a listener to a refused one is not fully enforced."""
        super().judge(states, topology)
        for state in states:
            by = self._shadowed.get(state.key)
            if by and state.verdict in ("Enforced", "NoEffect", "PartiallyEnforced"):
                state.verdict = "PartiallyEnforced" if state.groups else "Overridden"
                state.by = tuple(sorted({*state.by, *by}))
            if state.kind.kind in _WITH_CONDITIONS and any(not group.effective.owners for group in state.groups):
                _refuse_predicates(state)
            if state.verdict == "NoEffect" and state.kind.kind in _BY_LISTENER:
                state.idle = next(idle(state, topology), None)
            elif state.kind.kind in _WITH_CONDITIONS and state.verdict not in (*_REFUSED, "Unknown"):
                state.idle = next(hostnames.idle(state, topology, self._passed_over), None)
        shared = shared_secrets(states, topology) if states and states[0].kind.kind == "TLSPolicy" else {}
        for state in states:
            if state.key in shared and state.verdict not in _REFUSED:
                fix = "name a Secret of its own in each listener"
                state.faults = (FaultyPart(("spec", "targetRef"), shared[state.key], fix=fix),)

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """Return the first refusal of the CRDs' CEL rules, then of the validators (internal/controller/*_validator.go).

        No bare setting may stand beside `defaults` or `overrides`, and an empty one counts as set. AuthPolicy tests
        every bare field; the limit kinds test `limits` alone, so that a bare `when` next to defaults passes.
        """
        wrapped = [spec.prefix[1] for spec in declared if len(spec.prefix) > 1]
        if wrapped:
            tested = ("rules", "patterns", "when") if kind.kind == "AuthPolicy" else kind.merge.empty_without
            bare = next((name for name in tested if policy.spec.get(name) is not None), None)
            if bare is not None:
                reason = f"`{bare}` and `{wrapped[0]}`: settings are either bare or wrapped"
                return Reading(code="bare-and-wrapped", reason=reason, pointer=("spec", bare))
        if kind.kind == "AuthPolicy":
            stated = ((spec, spec.proper.get("rules")) for spec in declared)
            idle = next(
                (spec for spec, rules in stated if not (is_symbolic(rules) or _has_rules(mapping(rules)))), None
            )
            if idle is not None:
                reason = f"`{'.'.join(map(str, (*idle.prefix, 'rules')))}` defines no rule"
                return Reading(code="required", reason=reason, pointer=idle.prefix)
        if kind.kind == "TLSPolicy" and _no_issuer(policy, world):
            return Reading(code="no-issuer", reason="unable to find issuer", pointer=("spec", "issuerRef"))
        if kind.kind == "DNSPolicy":
            for index, address in enumerate(sequence(policy.spec.get("excludeAddresses"))):
                if isinstance(address, str) and "/" in address and not _is_cidr(address):
                    reason = f"could not parse the CIDR from the excludeAddresses field invalid CIDR address: {address}"
                    return Reading(code=_NO_CIDR, reason=reason, pointer=("spec", "excludeAddresses", index))
        return super().validate(policy, kind, declared, world)

    def without_use(self, state: PolicyState, topology: Topology) -> Iterator[FaultyPart]:
        """Return the logins of AuthPolicies whose keys Authorino does not find, or does not watch, and limits that are
        never reached."""
        if state.kind.kind == "AuthPolicy":
            yield from keys.unfound(state, topology.world)
        elif state.kind.kind in ("RateLimitPolicy", "TokenRateLimitPolicy"):
            from policylint.implementations.kuadrant.limits import unreached

            yield from unreached(state.policy)

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Return Accepted, and Enforced only where that is True; nothing where the targets are not known."""
        if state.kind.status != "conditions" or state.verdict == "Unknown":
            return ()
        kind = state.kind.kind
        if state.verdict in _REFUSED and state.invalid_code != _NO_CEL:
            why = f"{kind} is conflicted by {_paths(state.by)}" if state.verdict == "Conflicted" else fault_of(state)
            reason = "Unknown" if state.invalid_code == _NO_CIDR else _REFUSED[state.verdict]
            return (Condition("Accepted", "False", reason, why),)
        accepted = Condition("Accepted", "True", "Accepted", f"{kind} has been accepted")
        return (accepted, _enforced(state)) if "Enforced" in state.kind.conditions else (accepted,)

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:
        """Return `<Kind>Affected` for every accepted policy on the way, whether it prevails or not.

        Gateways have it for what targets them, listeners for that and their own, routes for their own, their listeners'
        and their Gateways'.
        """
        attached: dict[Node, set[ResourceKey]] = defaultdict(set)
        for state in states:
            if state.verdict not in (*_REFUSED, "Unknown"):
                for target in state.targets:
                    for node in target.nodes:
                        attached[node].add(state.key)
        if not attached:
            return []
        kind = states[0].kind
        conditions: list[TargetCondition] = []
        for gateway in topology.gateways:
            key = gateway.gateway.key
            for node in (whole(key), *(listener.node for listener in gateway.listeners)):
                conditions += _written_on(kind, node, (whole(key), node), attached)
        for route in topology.routes:
            gateways = {parent.gateway for parent in route.parents if parent.gateway is not None}
            listeners = {candidate.node for parent in route.parents for candidate in parent.candidates}
            node = whole(route.route.key)
            path = (node, *listeners, *map(whole, gateways))
            for key in sorted(gateways):
                for condition in _written_on(kind, node, path, attached):
                    conditions.append(condition._replace(controller=CONTROLLER, gateway=key))
        return conditions


def _has_rules(rules: Mapping[str, Any]) -> bool:
    """Tell whether an AuthPolicy's rules hold any: empty maps are none, an empty answer to a refusal is one."""
    response = mapping(rules.get("response"))
    success = mapping(response.get("success"))
    return (
        any(rules.get(name) for name in _RULES)
        or any(response.get(name) is not None for name in ("unauthenticated", "unauthorized"))
        or any(success.get(name) for name in ("headers", "filters"))
    )


def _no_issuer(policy: Resource, world: World) -> bool:
    """Tell whether the issuer is missing although others of its kind are in sight, not in another repository."""
    reference = mapping(policy.spec.get("issuerRef"))
    name, kind = text(reference.get("name")), text(reference.get("kind")) or "Issuer"
    if not name or not world.of_kind(_CERT_MANAGER, kind):
        return False
    namespace = "" if kind == "ClusterIssuer" else policy.key.namespace
    return world.resolve_inner(ResourceKey(_CERT_MANAGER, kind, namespace, name)).missing


def _is_cidr(value: str) -> bool:
    """Tell whether Go reads a value as a CIDR: host bits are fine, a netmask instead of a length is not."""
    from ipaddress import ip_network

    try:
        ip_network(value, strict=False)
    except ValueError:
        return False
    return value.partition("/")[2].isdigit()


def _to_grpc(topology: Topology) -> frozenset[tuple[Node, Node]]:
    """Return listeners and other parents, paired with the GRPCRoutes under them."""
    return frozenset(
        (candidate.node, whole(route.route.key))
        for route in topology.routes
        if route.route.key.kind == "GRPCRoute"
        for parent in route.parents
        for candidate in parent.candidates
    )


def _switched_off(effective: Effective, place: Pointer) -> Effective:
    """Return an effective policy of which nothing acts, because of what stands at a place."""
    by = tuple({owner for at, owner in effective.owners.items() if at == place[: len(at)]})
    lost = [
        Lost(at, owner, by, location)
        for at, owner in effective.owners.items()
        if owner not in by and (location := effective.location_of(at)) is not None
    ]
    return effective._replace(spec={}, owners={}, lost=Losses((*effective.lost, *lost)))


def _refuse_predicates(state: PolicyState) -> None:
    """Make a policy invalid that has a predicate which does not compile. It keeps its place, and does nothing."""
    for spec in state.declared:
        place = conditions.broken(spec.proper, state.kind.kind)
        if place:
            state.invalid_pointer = (*spec.prefix, *place)
            predicate = value_at(state.policy.body, state.invalid_pointer)
            fault = conditions.fault(predicate, state.kind.kind)
            state.invalid, state.invalid_code = f"the predicate {predicate!r} {fault}", _NO_CEL
            state.verdict, state.by = "Invalid", ()


def _written_on(
    kind: PolicyKind, node: Node, path: Iterable[Node], attached: dict[Node, set[ResourceKey]]
) -> Iterator[TargetCondition]:
    keys = sorted({key for above in path for key in attached.get(above, ())})
    if keys:
        message = f"Object affected by {kind.kind} {_paths(keys)}"
        yield TargetCondition(node, Condition(kind.target_condition, "True", "Accepted", message), tuple(keys))


def _enforced(state: PolicyState) -> Condition:
    kind = state.kind.kind
    if state.invalid_code == _NO_CEL:
        return Condition("Enforced", "False", "InvalidCelExpression", f"CEL validation has errors: {state.invalid}")
    if state.faults:
        return Condition("Enforced", "False", "Unknown", f"{kind} waits: {state.faults[0].message}")
    match state.verdict:
        case "Overridden":
            return Condition("Enforced", "False", "Overridden", f"{kind} is overridden by {_paths(state.by)}")
        case "NoEffect" if kind not in _BY_LISTENER:  # these are enforced where all listeners are passed over
            return Condition("Enforced", "False", "Unknown", f"{kind} is not in the path to any existing routes")
    if kind == "TokenRateLimitPolicy" and state.verdict == "PartiallyEnforced" and state.by:
        return Condition(
            "Enforced", "False", "Unknown", f"{kind} has encountered some issues: policy rule(s) overridden"
        )
    extent = "partially" if state.verdict == "PartiallyEnforced" else "successfully"
    return Condition("Enforced", "True", "Enforced", f"{kind} has been {extent} enforced")


def _paths(keys: Iterable[ResourceKey]) -> str:
    """Return a list of namespaced names as Go prints it."""
    return f"[{' '.join(key.path for key in keys)}]"


def _to_listener_sets(topology: Topology) -> frozenset[tuple[Node, Node]]:
    """Return the edges from Gateways to their ListenerSets, which Kuadrant's topology does not have.

    Source: internal/controller/state_of_the_world.go links Gateways, their listeners, and routes.
    """
    return frozenset((whole(state.parent), whole(state.listener_set.key)) for state in topology.listener_sets)


def _reads_auth(limits: object) -> bool:
    """Return whether an expression in limits reads what the AuthPolicy found out."""
    return any(isinstance(value, str) and _AUTH.search(value) for _, value in walk(limits))
