"""Status of BackendTrafficPolicy, SecurityPolicy and EnvoyExtensionPolicy.

Source: docs/design/implementations/envoy-gateway.md §3 to §5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from policylint.implementations.envoy_gateway import content
from policylint.implementations.envoy_gateway.claims import ClaimLedger, TargetClaim, invalid, of_states
from policylint.implementations.envoy_gateway.cluster_dump import lacks_namespace
from policylint.implementations.envoy_gateway.managed import Fleet, Scope, parent_scope
from policylint.implementations.envoy_gateway.overrides import Overrides, overridden
from policylint.implementations.envoy_gateway.policy_status import PolicyStatus
from policylint.model import Node, ResourceKey
from policylint.policy.results import PolicyState
from policylint.topology import Condition, ParentState

PLURALS: Mapping[str, str] = {
    "BackendTrafficPolicy": "backendTrafficPolicies",
    "SecurityPolicy": "securityPolicies",
    "EnvoyExtensionPolicy": "envoyExtensionPolicies",
}
"""The kinds that this module judges, as the controller's messages call them."""
MERGE_TYPES = ("StrategicMerge", "JSONMerge")
_AT_ONCE: Mapping[str, tuple[str, ...]] = {
    "SecurityPolicy": ("basicAuth", "apiKeyAuth", "authorization"),
    "EnvoyExtensionPolicy": ("wasm",),
}
"""Settings that are translated once per route, by kind; others (of a BackendTrafficPolicy none) once per parentRef that
has a listener for the route: without one nothing refuses them."""


def statuses(fleet: Fleet, states: list[PolicyState]) -> Mapping[ResourceKey, PolicyStatus]:
    """Return the statuses of all policies of one kind, by policy."""
    return _Passes(fleet, states).run() if states else {}


class _Passes:
    """The passes over all policies in order: rules, routes, then listeners and their holders from the narrow end."""

    def __init__(self, fleet: Fleet, states: list[PolicyState]) -> None:
        self.fleet = fleet
        self.ledger = ClaimLedger(fleet, of_states(states))
        self.overrides = Overrides(fleet)
        self.rules: dict[ResourceKey, set[str]] = defaultdict(set)
        """Per route the rules that a policy has taken."""
        self.kind = states[0].kind.kind
        self.kinds = PLURALS[self.kind]
        self.bases: dict[Scope, TargetClaim] = {}
        """The first policy per scope that is no route's: what route policies merge with, even when it is refused."""
        for claim in self.ledger.claims:
            if not claim.on_route:
                self.bases.setdefault(claim.scope, claim)

    def run(self) -> Mapping[ResourceKey, PolicyStatus]:
        for sections in (True, False):
            for claim in self.ledger.of_sections("Route", sections=sections):
                self._route(claim)
        for kind in ("ListenerSet", "Gateway"):
            for sections in (True, False):
                for claim in self.ledger.of_sections(kind, sections=sections):
                    self._holder(claim)
        return self.ledger.statuses

    def _route(self, claim: TargetClaim) -> None:
        """Process a policy on a route or on one of its rules; a route that is not ours gives no status (§8)."""
        parents = self.fleet.routes.get(claim.scope.key, ())
        ancestors = [parent_scope(parent) for parent in parents]
        for ancestor in ancestors:
            self.overrides.by_route(ancestor, claim.scope.key)
        if not ancestors or not self.ledger.take(claim, ancestors):
            return
        early = content.refused_early(claim.policy, claim.scope.key.kind).reason
        if early:
            self.ledger.say(claim, ancestors, invalid(early))
            return
        shut_out = lacks_namespace(self.fleet.world, claim.scope.key.namespace)
        listeners = [] if shut_out else list(self._listeners(parents))
        if claim.policy.spec.get("mergeType") in MERGE_TYPES:
            for listener, base in listeners:
                self._merge(claim, listener, base)
        elif claim.refusal and (listeners or claim.setting in _AT_ONCE.get(self.kind, (claim.setting,))):
            self.ledger.say(claim, ancestors, invalid(claim.refusal))
        self.ledger.accept(claim, ancestors)
        rules = self.rules[claim.scope.key]
        if claim.scope.section:
            rules.add(claim.scope.section)
        elif rules:
            kinds = "backendTrafficPolicy" if self.kind == "BackendTrafficPolicy" else self.kinds
            self.ledger.say(claim, ancestors, overridden(kinds, f"these route rules: [{' '.join(sorted(rules))}]"))

    def _merge(self, claim: TargetClaim, listener: Scope, base: TargetClaim | None) -> None:
        """Say of a listener that a policy was merged with the one above it, or that one of them is refused."""
        refusal = claim.refusal
        if base is not None and base.setting not in claim.policy.spec:
            refusal = refusal or base.refusal
        if refusal:
            self.ledger.say(claim, [listener], invalid(refusal))
        elif base is not None:
            self.overrides.merged(base.scope, claim.scope.key)
            message = f"Merged with policy {base.policy.key.path}"
            self.ledger.say(claim, [listener], Condition("Merged", "True", "Merged", message))

    def _holder(self, claim: TargetClaim) -> None:
        """Process a policy on a Gateway, a ListenerSet, or a listener of either."""
        key = claim.scope.key
        if key not in self.fleet.gateways and key not in self.fleet.listener_sets:
            return
        if not self.ledger.take(claim, [claim.scope]):
            return
        self.overrides.by_scope(claim.scope)
        if claim.refusal:
            self.ledger.say(claim, [claim.scope], invalid(claim.refusal))
        self.ledger.accept(claim, [claim.scope])
        self.ledger.say(claim, [claim.scope], self.overrides.merging(claim.scope, self.kinds))
        self.ledger.say(claim, [claim.scope], self.overrides.overridden(claim.scope, self.kinds))

    def _listeners(self, parents: tuple[ParentState, ...]) -> Iterator[tuple[Scope, TargetClaim | None]]:
        """Yield each listener that the route may use with the nearest policy above it (§5); hostnames do not count."""
        for parent in parents:
            for candidate in parent.candidates:
                if candidate.failure != "NotAllowedByListeners":
                    yield Scope(candidate.node.key, candidate.node.section), self._base(candidate.node)

    def _base(self, listener: Node) -> TargetClaim | None:
        key = listener.key
        scopes = [Scope(key, listener.section), Scope(key), Scope(self.fleet.gateway_of(key))]
        return next((self.bases[scope] for scope in scopes if scope in self.bases), None)
