"""Kuadrant's own rules: what its CRDs refuse (semantics.md (c)); the merging itself is the catalog's `units`.

Statuses are those of internal/controller/*_status_updater.go and *_policy_discoverability_reconciler.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.implementations.generic import Implementation
from policylint.model import Node, PolicyKind, Resource, ResourceKey, World
from policylint.policy.affected import Mark
from policylint.policy.declared import Reading
from policylint.policy.state import Declared, PolicyState
from policylint.topology import Condition, Topology, whole

CONTROLLER = "kuadrant.io/policy-controller"
_REFUSED = {"Conflicted": "Conflicted", "Invalid": "Invalid", "TargetNotFound": "TargetNotFound"}
"""Verdicts with which a policy is not accepted, and the reason that its condition gives."""


class Kuadrant(Implementation):
    """AuthPolicy, RateLimitPolicy, TokenRateLimitPolicy, DNSPolicy, TLSPolicy."""

    name = "kuadrant"

    def validate(self, policy: Resource, kind: PolicyKind, declared: tuple[Declared, ...], world: World) -> Reading:
        """The CEL rules: no bare setting beside `defaults` or `overrides`, and something to enforce at all.

        AuthPolicy tests every bare field; the limit kinds test `limits` alone, so a bare `when` next to defaults
        passes.
        """
        wrapped = [each.prefix[1] for each in declared if len(each.prefix) > 1]
        if wrapped:
            tested = ("rules", "patterns", "when") if "rules" in kind.merge.empty_without else kind.merge.empty_without
            bare = next((name for name in tested if policy.spec.get(name)), None)
            if bare is not None:
                reason = f"`{bare}` beside `{wrapped[0]}`: settings are either bare or wrapped"
                return Reading(code="bare-and-wrapped", reason=reason, pointer=("spec", bare))
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
            return (Condition("Accepted", "False", _REFUSED[state.verdict], why),)
        accepted = Condition("Accepted", "True", "Accepted", f"{kind} has been accepted")
        return (accepted, _enforced(state)) if "Enforced" in state.kind.conditions else (accepted,)

    def marks(self, states: list[PolicyState], topology: Topology) -> list[Mark]:
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
        found: list[Mark] = []
        for gateway in topology.gateways:
            key = gateway.gateway.key
            for node in (whole(key), *(each.node for each in gateway.listeners)):
                found += _mark(kind, node, (whole(key), node), attached)
        for route in topology.routes:
            gateways = {each.gateway for each in route.parents if each.gateway is not None}
            listeners = {each.node for parent in route.parents for each in parent.candidates}
            node = whole(route.route.key)
            path = (node, *listeners, *map(whole, gateways))
            for key in sorted(gateways):
                marks = _mark(kind, node, path, attached)
                found += [each._replace(controller=CONTROLLER, gateway=key) for each in marks]
        return found


def _mark(kind: PolicyKind, node: Node, path: Iterable[Node], attached: dict[Node, set[ResourceKey]]) -> Iterator[Mark]:
    keys = sorted({key for each in path for key in attached.get(each, ())})
    if keys:
        message = f"Object affected by {kind.kind} {_paths(keys)}"
        yield Mark(node, Condition(kind.target_condition, "True", "Accepted", message), tuple(keys))


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
