"""TrafficPolicy's `rbac`, `acl`, `csrf` and `jwtAuth` for one request (api/v1alpha1/kgateway/traffic_policy_types.go).

Of the expressions of `rbac` one is enough: with Allow to let a request in, with Deny to keep it out. Of the rules
of `acl` the first one counts that names the client's address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policylint.implementations.generic import cross_site
from policylint.implementations.generic.bearer import claims_of, foreign
from policylint.implementations.generic.impossible import Attribute, Attributes, impossible
from policylint.model import mapping, sequence, text, texts
from policylint.model.ternary import some
from policylint.policy.authorizing import (
    AuthorizationRule,
    Decision,
    RequestFacts,
    first_match,
    holds,
    in_brief,
    otherwise,
)

ATTRIBUTES: Attributes = {
    ("source", "address"): Attribute(
        "Envoy's `source.address` has a port, 10.0.0.1:51234, and equals no address without one and no network",
        "use `acl`, or compare the beginning: source.address.startsWith('10.')",
        lambda value: ":" in value,
        is_text=True,
    )
}
"""What attributes of expressions are, where that is not what it seems (envoyproxy.io, «Attributes»)."""
_TOKEN = ("metadata", "filter_metadata", "envoy.filters.http.jwt_authn", "payload")
"""Where expressions find the claims of a token (trafficpolicy/jwt.go, PayloadInMetadata)."""


def decisions(spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what each setting of an effective policy answers a request."""
    tokens = spec.get("jwtAuth")
    for number, asking in enumerate(tokens if isinstance(tokens, list) else [tokens]):
        place: tuple[str | int, ...] = ("jwtAuth", number) if isinstance(tokens, list) else ("jwtAuth",)
        if refused := foreign(asking, place, message):
            yield refused
    rbac = mapping(spec.get("rbac"))
    expressions = sequence(mapping(rbac.get("policy")).get("matchExpressions"))
    if expressions:
        token = _TOKEN if spec.get("jwtAuth") else ()
        asking = tokens if isinstance(tokens, list) else [tokens]
        providers = (mapping(provider) for each in asking for provider in sequence(mapping(each).get("providers")))
        message = message._replace(claimed=claims_of(providers))
        # Envoy's matcher takes an expression that fails for one that does not hold (seen by tests/witness at v2.4.0)
        held = (
            not impossible(each, ATTRIBUTES) and holds(each, message, token, absent_fails=True) for each in expressions
        )
        matches = some(held)
        denies = rbac.get("action") == "Deny"
        on = "rbac" if matches is None else ""
        place, unmet = ("rbac", "policy", "matchExpressions"), None if matches else partial(in_brief, expressions)
        rule = AuthorizationRule(matches, not denies, place, on, unmet=unmet)
        yield first_match([rule], otherwise(("rbac",), allows=denies))
    acl = mapping(spec.get("acl"))
    if acl:
        rules = (
            _of_addresses(mapping(rule), number, message) for number, rule in enumerate(sequence(acl.get("rules")))
        )
        yield first_match(rules, otherwise(("acl", "defaultAction"), allows=acl.get("defaultAction") != "deny"))
    yield from _of_other_sites(mapping(spec.get("csrf")), message)


def _of_other_sites(csrf: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what is answered to requests of other sites; nothing where no percentage is stated (constructCSRF)."""
    percentage = csrf.get("percentageEnabled")
    enabled = percentage if isinstance(percentage, int) else 0
    patterns = [pattern for each in sequence(csrf.get("additionalOrigins")) if (pattern := _pattern(mapping(each)))]
    yield from cross_site.decisions(message, patterns, enabled, f"it is asked of {enabled} % of requests")


def _pattern(matcher: Mapping[str, Any]) -> str:
    """Return the regular expression of a StringMatcher, "" for one that takes nothing."""
    around = {"exact": ("", ""), "prefix": ("", ".*"), "suffix": (".*", ""), "contains": (".*", ".*")}
    stated = next((name for name in around if isinstance(matcher.get(name), str)), "")
    before, after = around.get(stated, ("", ""))
    pattern = f"{before}{re.escape(matcher[stated])}{after}" if stated else text(matcher.get("safeRegex"))
    return f"(?i:{pattern})" if pattern and stated and matcher.get("ignoreCase") is True else pattern


def _of_addresses(rule: Mapping[str, Any], number: int, message: RequestFacts) -> AuthorizationRule:
    matches = message.is_from(texts(rule.get("cidrs")))
    on = "the client's address" if matches is None else ""
    unmet = partial(in_brief, {"cidrs": rule.get("cidrs")}) if matches is False else None
    return AuthorizationRule(matches, rule.get("action") == "allow", ("acl", "rules", number), on, unmet=unmet)
