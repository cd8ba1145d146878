"""Cilium: its network policies, and the routes that it accepts at none of its Gateways.

Source: operator/pkg/gateway-api/routechecks/httproute.go @ 0913c4388, ValidateHeaderModifier and ValidateMatchRegexps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from policylint.implementations.generic import Implementation
from policylint.matches import matches
from policylint.model import Resource, holds_variable, mapping, sequence
from policylint.network.kinds import CILIUM

if TYPE_CHECKING:
    from policylint.model import World
    from policylint.network.rules import PolicySpec

_FIELDS = {"query": "queryParam"}


class Cilium(Implementation):
    """BackendTLSPolicy is as its catalog entry says; routes are checked as a whole."""

    name = "cilium"
    upgrades_outlast = True
    preflights = 200, False
    relays = True  # Envoy of the client's node, from the entity `ingress` (cilium/cilium#34774)
    balances_equals = True  # operator/pkg/model/translation/envoy_virtual_host.go, envoyHTTPRoutes @ 013bdd595

    def network_policies(self, world: World) -> Iterable[PolicySpec]:
        """Return those of a namespace and those of all; those of Kubernetes it reads as everybody does."""
        from policylint.implementations.cilium.policies import policies

        return (policy for kind in CILIUM for each in world.of_kind(*kind) for policy in policies(each, world))

    def refuses(self, route: Resource) -> str:
        """Refuse routes that set the host as a header, and those with a match that is no regular expression of Go."""
        if route.key.kind != "HTTPRoute":
            return ""
        rules = list(map(mapping, sequence(route.spec.get("rules"))))
        if any(_sets_host(rule) for rule in rules):
            return 'Invalid header modifier: "Host" header is not supported'
        for condition in (found for rule in rules for match in matches(rule) for found in match.expressions):
            predicate = condition.predicate
            if not holds_variable(predicate.value) and predicate.refusal:
                field = _FIELDS.get(condition.what, condition.what)
                return f"Invalid regular expression in {field} match: {predicate.value!r} is {predicate.refusal}"
        return ""


def _sets_host(rule: Any) -> bool:
    return any(
        mapping(header).get("name") == "Host"
        for filter_ in map(mapping, sequence(rule.get("filters")))
        if filter_.get("type") == "RequestHeaderModifier"
        for header in sequence(mapping(filter_.get("requestHeaderModifier")).get("set"))
    )
