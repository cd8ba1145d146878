"""TrafficPolicy's `rbac` and `acl` for one request (api/v1alpha1/kgateway/traffic_policy_types.go).

Of the expressions of `rbac` one is enough: with Allow to let a request in, with Deny to keep it out. `acl` compares
addresses, which are not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import mapping, sequence
from policylint.model.ternary import some
from policylint.policy.authorizing import AuthorizationRule, Decision, RequestFacts, first_match, holds, otherwise


def decisions(spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what each setting of an effective policy answers a request."""
    rbac = mapping(spec.get("rbac"))
    expressions = sequence(mapping(rbac.get("policy")).get("matchExpressions"))
    if expressions:
        matches = some(holds(expression, message) for expression in expressions)
        denies = rbac.get("action") == "Deny"
        on = "rbac" if matches is None else ""
        rule = AuthorizationRule(matches, not denies, ("rbac", "policy", "matchExpressions"), on)
        yield first_match([rule], otherwise(("rbac",), allows=denies))
    acl = mapping(spec.get("acl"))
    if acl:
        rules = (
            AuthorizationRule(
                None, mapping(rule).get("action") == "allow", ("acl", "rules", number), "the client's address"
            )
            for number, rule in enumerate(sequence(acl.get("rules")))
        )
        yield first_match(rules, otherwise(("acl", "defaultAction"), allows=acl.get("defaultAction") != "deny"))
