"""What a proxy knows of the token that a request brings: where it looks for one, whose it takes, what it passes on.

Source: pilot/pkg/security/authn/policy_applier.go, convertToEnvoyJwtConfig (1.28); Envoy's jwt_authn filter, which
looks into `Authorization: Bearer` and the parameter `access_token` where a rule names no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from policylint.implementations.istio import labels
from policylint.model import Resource, ResourceKey, is_symbolic, mapping, sequence, text, texts
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.results import Group

_DEFAULT_PLACE = {"fromHeaders": [{"name": "Authorization", "prefix": "Bearer "}], "fromParams": ["access_token"]}
_PLACES = ("fromHeaders", "fromParams", "fromCookies")
_Rule = Mapping[str, Any]
Outputs = Mapping[str, tuple[str, "list[_Rule]"]]
"""The claim that a proxy writes into a header, by the header's name in lower case, and the rules of its tokens."""


def rules_of(group: Group | None) -> list[_Rule]:
    """Return the rules for tokens of a context."""
    return [] if group is None else [mapping(rule) for rule in sequence(group.effective.spec.get("jwtRules"))]


def brings(call: RequestFacts, rules: Iterable[_Rule]) -> bool:
    """Tell whether a request has anything where rules look for tokens."""
    if call.claims is not None:
        return bool(call.claims)
    parameters = parse_qs(call.path.partition("?")[2], keep_blank_values=True)
    cookies = {pair.partition("=")[0].strip() for pair in call.headers.get("cookie", "").split(";")}
    for rule in rules:
        places = rule if any(sequence(rule.get(name)) for name in _PLACES) else _DEFAULT_PLACE
        for header in map(mapping, sequence(places.get("fromHeaders"))):
            value = call.headers.get(text(header.get("name")).lower())
            if value is not None and value.lower().startswith(text(header.get("prefix")).lower()):
                return True
        if any(name in parameters for name in texts(places.get("fromParams"))):
            return True
        if any(name in cookies for name in texts(places.get("fromCookies"))):
            return True
    return False


def refusal(call: RequestFacts, group: Group | None) -> Decision | None:
    """Return the refusal of a token whose issuer no rule names; a request without a token passes."""
    rules = rules_of(group)
    issuers = [value for name, value in call.claims or () if name == "iss"]
    if group is None or call.blank or call.stream or not issuers or not all(text(rule.get("issuer")) for rule in rules):
        return None
    if any(text(rule.get("issuer")) in issuers or is_symbolic(text(rule.get("issuer"))) for rule in rules):
        return None
    why = f"it takes no tokens of {issuers[0]}"
    policy = group.effective.stack[-1].policy
    return Decision("denied", ("spec", "jwtRules"), why, status=401, by=policy)


def headers_of(client: Resource, groups: Sequence[Group]) -> Outputs:
    """Return the headers that a Gateway or a waypoint adds to the requests that it passes on."""
    found: dict[str, tuple[str, list[_Rule]]] = {}
    for group in groups:
        if group.kind.kind == labels.REQUEST_AUTHENTICATION:
            rules = rules_of(group)
            outputs = [each for rule in rules for each in map(mapping, sequence(rule.get("outputClaimToHeaders")))]
            if outputs and _acts_at(group, client.key):
                found |= {text(each.get("header")).lower(): (text(each.get("claim")), rules) for each in outputs}
    return found


def _acts_at(group: Group, key: ResourceKey) -> bool:
    return any(path[0].key == key for path in group.contexts())
