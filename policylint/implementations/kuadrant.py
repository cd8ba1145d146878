"""Kuadrant's own rules: what its CRDs refuse; the merging itself is the catalog's `units`.

Source: docs/design/semantics.md §5.

Statuses are those of internal/controller/*_status_updater.go and *_policy_discoverability_reconciler.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic import Implementation
from policylint.model import GATEWAY_GROUP, Node, PolicyKind, Resource, ResourceKey, World, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.policy.effective import Effects
from policylint.policy.results import Attachment, Declared, Group, Idle, PolicyState
from policylint.policy.target_conditions import TargetCondition
from policylint.topology import Condition, Topology, whole

CONTROLLER = "kuadrant.io/policy-controller"
_BY_LISTENER = ("DNSPolicy", "TLSPolicy")
_WITH_TLS = ("HTTPS", "TLS")
_RULES = ("authentication", "metadata", "authorization", "callbacks")
_CERT_MANAGER = "cert-manager.io"
_NO_CIDR = "address"
"""The fault that the controller reports with reason Unknown."""
_PORTS = frozenset({80, 443, *range(1024, 49152)})
"""Of health checks."""
_REFUSED = {"Conflicted": "Conflicted", "Invalid": "Invalid", "TargetNotFound": "TargetNotFound"}
"""Verdicts with which a policy is not accepted, and the reason that its condition gives."""


class Kuadrant(Implementation):
    """AuthPolicy, RateLimitPolicy, TokenRateLimitPolicy, DNSPolicy, TLSPolicy."""

    name = "kuadrant"

    def __init__(self) -> None:
        self._shadowed: dict[ResourceKey, set[ResourceKey]] = {}

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """DNSPolicy and TLSPolicy listener by listener, TLSPolicy on those with TLS; TokenRateLimitPolicy on rules of
        HTTPRoutes alone (docs/design/semantics.md §5)."""
        if kind.kind == "TokenRateLimitPolicy":
            return Effects(topology, kind, kept, self.merge, idle=_to_grpc(topology)).groups()
        if kind.kind not in _BY_LISTENER:
            return super().groups(kind, kept, topology)
        found = Effects(topology, kind, self._by_listener(kind, kept, topology), self.merge).groups()
        return [_with_gateways(each) for each in found]

    def _by_listener(
        self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology
    ) -> dict[Node, list[Attachment]]:
        """What stands on every listener: a policy of its own takes it from the Gateway's, even one that is refused
        (docs/design/semantics.md §6, trap 9)."""
        found: dict[Node, list[Attachment]] = {}
        claimed = _sections(kind, topology)
        for key in sorted({node.key for node in kept}):
            gateway = topology.gateway(key)
            wide = kept.get(whole(key), [])
            for listener in gateway.listeners if gateway is not None else ():
                own = kept.get(listener.node, [])
                if kind.kind == "TLSPolicy" and listener.protocol not in _WITH_TLS:
                    continue
                refused = claimed.get((key, listener.name), set()) - {each.key for each in own}
                if own or not refused:
                    found[listener.node] = [*wide, *own]
                    continue
                for each in wide:
                    self._shadowed.setdefault(each.key, set()).update(refused)
        return found

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """As everywhere; who loses a listener to a policy that is refused is not whole any more."""
        super().judge(states, topology)
        for state in states:
            by = self._shadowed.get(state.key)
            if by and state.verdict in ("Accepted", "Enforced", "PartiallyEnforced"):
                state.verdict = "PartiallyEnforced" if state.groups else "Overridden"
                state.by = tuple(sorted({*state.by, *by}))
            if state.verdict == "Accepted" and state.kind.kind == "TLSPolicy":
                plain = [each for each in state.targets if each.nodes and _is_plain(each.nodes[0], topology)]
                why = f"{plain[0].nodes[0]} has no TLS, and a TLSPolicy passes such listeners over" if plain else ""
                state.idle = Idle(plain[0], why, "name a listener with protocol HTTPS or TLS") if plain else None

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """The CEL rules of the CRDs: no bare setting beside `defaults` or `overrides`, something to enforce at all,
        and what DNSPolicy, TLSPolicy and OIDCPolicy ask of single fields; then what the validators of the controller
        ask (internal/controller/*_validator.go).

        What is there but empty is there. AuthPolicy tests every bare field; the limit kinds test `limits` alone, so a
        bare `when` next to defaults passes.
        """
        wrapped = [each.prefix[1] for each in declared if len(each.prefix) > 1]
        if wrapped:
            tested = ("rules", "patterns", "when") if kind.kind == "AuthPolicy" else kind.merge.empty_without
            bare = next((name for name in tested if policy.spec.get(name) is not None), None)
            if bare is not None:
                reason = f"`{bare}` beside `{wrapped[0]}`: settings are either bare or wrapped"
                return Reading(code="bare-and-wrapped", reason=reason, pointer=("spec", bare))
        if kind.kind == "AuthPolicy":
            idle = next((each for each in declared if not _has_rules(mapping(each.proper.get("rules")))), None)
            if idle is not None:
                reason = f"`{'.'.join(map(str, (*idle.prefix, 'rules')))}` defines no rule"
                return Reading(code="required", reason=reason, pointer=idle.prefix)
        fault = next(_faults(kind.kind, policy.spec), None)
        if fault is not None:
            return Reading(code="value", reason=fault[1], pointer=fault[0])
        if kind.kind == "TLSPolicy" and _no_issuer(policy, world):
            return Reading(code="no-issuer", reason="unable to find issuer", pointer=("spec", "issuerRef"))
        if kind.kind == "DNSPolicy":
            for index, each in enumerate(sequence(policy.spec.get("excludeAddresses"))):
                if isinstance(each, str) and "/" in each and not _is_cidr(each):
                    reason = f"could not parse the CIDR from the excludeAddresses field invalid CIDR address: {each}"
                    return Reading(code=_NO_CIDR, reason=reason, pointer=("spec", "excludeAddresses", index))
        return super().validate(policy, kind, declared, world)

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """Accepted, and Enforced only where that is True; nothing where it is not known what the policy targets."""
        if state.kind.status != "conditions" or state.verdict == "Unknown":
            return ()
        kind = state.kind.kind
        if state.verdict in _REFUSED:
            why = state.invalid or next((each.detail for each in state.targets if each.problem), "")
            if state.verdict == "Conflicted":
                why = f"{kind} is conflicted by {_paths(state.by)}"
            reason = "Unknown" if state.invalid_code == _NO_CIDR else _REFUSED[state.verdict]
            return (Condition("Accepted", "False", reason, why),)
        accepted = Condition("Accepted", "True", "Accepted", f"{kind} has been accepted")
        return (accepted, _enforced(state)) if "Enforced" in state.kind.conditions else (accepted,)

    def target_conditions(self, states: list[PolicyState], topology: Topology) -> list[TargetCondition]:
        """`<Kind>Affected` says what is attached on the way, not what prevails: on Gateways what targets them, on
        listeners that too, on routes what targets them, their listeners and Gateways (accepted policies only)."""
        attached: dict[Node, set[ResourceKey]] = {}
        for state in states:
            if state.verdict not in (*_REFUSED, "Unknown"):
                for target in state.targets:
                    for node in target.nodes:
                        attached.setdefault(node, set()).add(state.key)
        if not attached:
            return []
        kind = states[0].kind
        found: list[TargetCondition] = []
        for gateway in topology.gateways:
            key = gateway.gateway.key
            for node in (whole(key), *(each.node for each in gateway.listeners)):
                found += _written_on(kind, node, (whole(key), node), attached)
        for route in topology.routes:
            gateways = {each.gateway for each in route.parents if each.gateway is not None}
            listeners = {each.node for parent in route.parents for each in parent.candidates}
            node = whole(route.route.key)
            path = (node, *listeners, *map(whole, gateways))
            for key in sorted(gateways):
                target_conditions = _written_on(kind, node, path, attached)
                found += [each._replace(controller=CONTROLLER, gateway=key) for each in target_conditions]
        return found


def _has_rules(rules: Mapping[str, Any]) -> bool:
    """Whether an AuthPolicy's rules hold any: empty maps are none, and an empty answer to a refusal is one."""
    response = mapping(rules.get("response"))
    success = mapping(response.get("success"))
    return (
        any(rules.get(name) for name in _RULES)
        or any(response.get(name) is not None for name in ("unauthenticated", "unauthorized"))
        or any(success.get(name) for name in ("headers", "filters"))
    )


def _faults(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """The single fields that CRDs refuse, where they are and why."""
    if kind == "DNSPolicy":
        if spec.get("delegate") is True and spec.get("providerRefs") is not None:
            yield ("spec", "providerRefs"), "delegate=true and providerRefs are mutually exclusive"
        check = mapping(spec.get("healthCheck"))
        threshold, port, protocol = (check.get(name) for name in ("failureThreshold", "port", "protocol"))
        if isinstance(threshold, int) and threshold <= 0:
            yield ("spec", "healthCheck", "failureThreshold"), "Failure threshold must be greater than 0"
        if isinstance(port, int) and port not in _PORTS:
            yield ("spec", "healthCheck", "port"), "Only ports 80, 443, 1024-49151 are allowed"
        if isinstance(protocol, str) and protocol not in ("HTTP", "HTTPS"):
            yield ("spec", "healthCheck", "protocol"), "Only HTTP or HTTPS protocols are allowed"
    elif kind == "TLSPolicy":
        issuer = mapping(spec.get("issuerRef")).get("kind")
        if isinstance(issuer, str) and issuer not in ("Issuer", "ClusterIssuer"):
            why = "Invalid issuerRef.kind. The only supported values are blank, 'Issuer' and 'ClusterIssuer'"
            yield ("spec", "issuerRef", "kind"), why
    elif kind == "OIDCPolicy":
        provider = mapping(spec.get("provider"))
        if provider.get("jwksURL") and provider.get("issuerURL"):
            yield ("spec", "provider", "issuerURL"), "Use one of: jwksURL, issuerURL"
        if provider.get("jwksURL") and not (provider.get("authorizationEndpoint") and provider.get("tokenEndpoint")):
            why = "When jwksURL is set, authorizationEndpoint and tokenEndpoint must also be provided"
            yield ("spec", "provider", "jwksURL"), why


def _no_issuer(policy: Resource, world: World) -> bool:
    """Whether the issuer is missing where others of its kind are in sight; elsewhere another repository has them."""
    reference = mapping(policy.spec.get("issuerRef"))
    name, kind = text(reference.get("name")), text(reference.get("kind")) or "Issuer"
    if not name or not world.of_kind(_CERT_MANAGER, kind):
        return False
    namespace = "" if kind == "ClusterIssuer" else policy.key.namespace
    return world.resolve_inner(ResourceKey(_CERT_MANAGER, kind, namespace, name)).missing


def _is_cidr(value: str) -> bool:
    """As Go reads it: host bits are fine, a netmask instead of a length is not."""
    from ipaddress import ip_network

    try:
        ip_network(value, strict=False)
    except ValueError:
        return False
    return value.partition("/")[2].isdigit()


def _to_grpc(topology: Topology) -> frozenset[tuple[Node, Node]]:
    """Listeners, and whatever else is a parent, with the GRPCRoutes under them."""
    return frozenset(
        (candidate.node, whole(route.route.key))
        for route in topology.routes
        if route.route.key.kind == "GRPCRoute"
        for parent in route.parents
        for candidate in parent.candidates
    )


def _sections(kind: PolicyKind, topology: Topology) -> dict[tuple[ResourceKey, str], set[ResourceKey]]:
    """Per listener, by its Gateway and name, the policies that name it, refused ones among them."""
    found: dict[tuple[ResourceKey, str], set[ResourceKey]] = {}
    for policy in topology.world.of_kind(kind.group, kind.kind):
        reference = mapping(policy.spec.get("targetRef"))
        section = text(reference.get("sectionName"))
        if section:
            gateway = ResourceKey(GATEWAY_GROUP, "Gateway", policy.key.namespace, text(reference.get("name")))
            found.setdefault((gateway, section), set()).add(policy.key)
    return found


def _with_gateways(group: Group) -> Group:
    """The group with the Gateways that its policies target among its nodes."""
    nodes = dict(group.nodes)
    for each in group.effective.stack:
        if not each.node.section:
            nodes[each.node] = nodes.get(each.node, frozenset()) | {each.key}
    return group._replace(nodes=nodes)


def _is_plain(node: Node, topology: Topology) -> bool:
    listener = topology.listener(node)
    return listener is not None and listener.protocol not in _WITH_TLS


def _written_on(
    kind: PolicyKind, node: Node, path: Iterable[Node], attached: dict[Node, set[ResourceKey]]
) -> Iterator[TargetCondition]:
    keys = sorted({key for each in path for key in attached.get(each, ())})
    if keys:
        message = f"Object affected by {kind.kind} {_paths(keys)}"
        yield TargetCondition(node, Condition(kind.target_condition, "True", "Accepted", message), tuple(keys))


def _enforced(state: PolicyState) -> Condition:
    kind = state.kind.kind
    match state.verdict:
        case "Overridden":
            message = f"{kind} is overridden by {_paths(state.by)}"
            return Condition("Enforced", "False", "Overridden", message)
        case "Accepted":
            message = f"{kind} is not in the path to any existing routes"
            return Condition("Enforced", "False", "Unknown", message)
        case "PartiallyEnforced":
            return Condition("Enforced", "True", "Enforced", f"{kind} has been partially enforced")
    return Condition("Enforced", "True", "Enforced", f"{kind} has been successfully enforced")


def _paths(keys: Iterable[ResourceKey]) -> str:
    """As Go prints a list of namespaced names."""
    return f"[{' '.join(each.path for each in keys)}]"
