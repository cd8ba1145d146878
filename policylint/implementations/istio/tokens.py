"""What a proxy knows of the token that a request brings: where it looks for one, whose it takes, what it passes on.

Source: pilot/pkg/security/authn/policy_applier.go, convertToEnvoyJwtConfig (1.28); Envoy's jwt_authn filter, which
looks into `Authorization: Bearer` and the parameter `access_token` where a rule names no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from policylint.implementations.istio import labels
from policylint.model import ResourceKey, is_symbolic, mapping, sequence, text, texts
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.policy.results import Group

_DEFAULT_PLACE = {"fromHeaders": [{"name": "Authorization", "prefix": "Bearer "}], "fromParams": ["access_token"]}
_PLACES = ("fromHeaders", "fromParams", "fromCookies")
_Rule = Mapping[str, Any]
Outputs = Mapping[str, tuple[str, "list[_Rule]"]]
"""The claim that a proxy writes into a header, by the header's name in lower case, and the rules of its tokens; "" for
all claims. Whatever clients write there it takes off (istio/istio#53212)."""


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


def is_kept(call: RequestFacts, before: Sequence[_Rule], here: Sequence[_Rule]) -> bool:
    """Tell whether the proxy before keeps the token that rules look for: it sends on what it is told to forward."""
    issuers = None if call.claims is None or call.blank else [value for name, value in call.claims if name == "iss"]
    taking = [rule for rule in before if issuers is None or text(rule.get("issuer")) in issuers]
    if not taking or any(rule.get("forwardOriginalToken") for rule in taking):
        return False
    read = {place for rule in taking for place in _places(rule)}
    return all(place in read for rule in here for place in _places(rule))


def _places(rule: _Rule) -> Iterator[tuple[str, str]]:
    """Yield the places in which a rule looks for tokens: headers, parameters and cookies by name."""
    places = rule if any(sequence(rule.get(name)) for name in _PLACES) else _DEFAULT_PLACE
    for header in map(mapping, sequence(places.get("fromHeaders"))):
        yield "fromHeaders", text(header.get("name")).lower()
    for field in ("fromParams", "fromCookies"):
        for name in texts(places.get(field)):
            yield field, name


def refusal(call: RequestFacts, group: Group | None) -> Decision | None:
    """Return the refusal of a token whose issuer no rule names, or that is for others; without a token all pass."""
    rules = rules_of(group)
    issuers = [value for name, value in call.claims or () if name == "iss"]
    if group is None or call.blank or call.stream or not issuers or not all(text(rule.get("issuer")) for rule in rules):
        return None
    taking = [rule for rule in rules if text(rule.get("issuer")) in issuers or is_symbolic(text(rule.get("issuer")))]
    if taking:
        return _for_others(call, taking, group)
    why = f"it takes no tokens of {issuers[0]}"
    policy = group.effective.stack[-1].policy
    return Decision("denied", ("spec", "jwtRules"), why, status=401, by=policy)


def _for_others(call: RequestFacts, rules: Sequence[_Rule], group: Group) -> Decision | None:
    """Return the refusal of a token that no rule for its issuer takes, as each wants another audience."""
    own = {_bare(value) for name, value in call.claims or () if name == "aud"}
    for rule in rules:
        wanted = texts(rule.get("audiences"))
        if not wanted or any(is_symbolic(audience) or _bare(audience) in own for audience in wanted):
            return None
    why = f"it takes tokens for {', '.join(sorted({each for rule in rules for each in texts(rule.get('audiences'))}))}"
    return Decision("denied", ("spec", "jwtRules"), why, by=group.effective.stack[-1].policy)


def _bare(audience: str) -> str:
    """Return an audience as Envoy compares it: without scheme and final slash (jwt_verify_lib, CheckAudience)."""
    return audience.removeprefix("http://").removeprefix("https://").removesuffix("/")


def rules_at(key: ResourceKey, groups: Sequence[Group]) -> tuple[_Rule, ...]:
    """Return the rules for tokens of a Gateway or a waypoint."""
    checking = (group for group in groups if group.kind.kind == labels.REQUEST_AUTHENTICATION)
    return tuple(rule for group in checking if _acts_at(group, key) for rule in rules_of(group))


def headers_of(key: ResourceKey, groups: Sequence[Group]) -> Outputs:
    """Return the headers that a Gateway or a waypoint writes into the requests that it passes on."""
    found: dict[str, tuple[str, list[_Rule]]] = {}
    for group in groups:
        if group.kind.kind == labels.REQUEST_AUTHENTICATION:
            outputs = outputs_of(rules_of(group))
            if outputs and _acts_at(group, key):
                found |= outputs
    return found


def outputs_of(rules: Sequence[_Rule], *, read: bool = True) -> Outputs:
    """Return the headers that rules for tokens write, with no rules where no token is `read`."""
    found: dict[str, tuple[str, list[_Rule]]] = {}
    for rule in rules:
        named = [(text(rule.get("outputPayloadToHeader")), "")]
        written = map(mapping, sequence(rule.get("outputClaimToHeaders")))
        named += [(text(each.get("header")), text(each.get("claim"))) for each in written]
        found |= {header.lower(): (claim, list(rules) if read else []) for header, claim in named if header}
    return found


def _acts_at(group: Group, key: ResourceKey) -> bool:
    return any(path[0].key == key for path in group.contexts())
