"""Content that passes Envoy Gateway's CRDs and not its translator; it makes a policy Invalid.

Source: docs/design/implementations/envoy-gateway.md §9; internal/gatewayapi/{backendtrafficpolicy,securitypolicy}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, holds_variable, mapping, sequence, text
from policylint.policy.declared import Reading
from policylint.regex import expression

CODE = "content"
"""What a policy is refused for that then answers 500 on the HTTP and gRPC routes which it is for."""
EARLY = "early"
"""What a policy is refused for before it is translated; requests and connections go on as without it."""
_SECONDS = {"Second": 1, "Minute": 60, "Hour": 3600, "Day": 86400, "Month": 2592000, "Year": 31536000}
_HTTP_ONLY = ("cors", "jwt", "oidc", "apiKeyAuth", "basicAuth", "extAuth")
_HTTP_PRINCIPALS = ("jwt", "headers", "clientIPGeoLocations")
_SELECTING = ("headers", "methods", "path", "sourceCIDR", "queryParams")

Fault = tuple[Pointer, str]


def refused(policy: Resource, kind: str) -> Reading:
    """Return the first value that the translator refuses; a Reading without code for none."""
    fault, code = None, CODE
    if kind == "BackendTrafficPolicy":
        fault = next(_rate_limits(policy.spec), None)
    elif kind == "SecurityPolicy":
        fault = next(_providers(policy.spec), None)
        early = next(_combinations(policy.spec), None)
        fault, code = (early, EARLY) if early is not None else (fault, CODE)
    return Reading() if fault is None else Reading(code=code, reason=fault[1], pointer=fault[0])


def refused_on_streams(policy: Resource) -> Reading:
    """Return the first setting of a SecurityPolicy that connections cannot have (validateSecurityPolicyForTCP)."""
    for name in _HTTP_ONLY:
        if policy.spec.get(name) is not None:
            reason = f"`{name}` is for HTTP: of a SecurityPolicy, a TCPRoute takes `authorization` alone"
            return Reading(code=EARLY, reason=reason, pointer=("spec", name))
    rules = sequence(mapping(policy.spec.get("authorization")).get("rules"))
    for number, rule in enumerate(map(mapping, rules)):
        place: Pointer = ("spec", "authorization", "rules", number)
        if rule.get("cel") is not None:
            return Reading(code=EARLY, reason="`cel` is for HTTP, not for connections", pointer=(*place, "cel"))
        for name in _HTTP_PRINCIPALS:
            if mapping(rule.get("principal")).get(name):
                reason = f"`{name}` of a principal is for HTTP, not for connections"
                return Reading(code=EARLY, reason=reason, pointer=(*place, "principal", name))
    return Reading()


def _providers(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what validateJWTProvider refuses."""
    seen: set[str] = set()
    for number, provider in enumerate(map(mapping, sequence(mapping(spec.get("jwt")).get("providers")))):
        name = text(provider.get("name"))
        if name in seen:
            yield ("spec", "jwt", "providers", number, "name"), f"two JWT providers have the name {name!r}"
        seen.add(name)


def _combinations(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what validateSecurityPolicy refuses."""
    sources = sequence(mapping(spec.get("apiKeyAuth")).get("extractFrom"))
    for number, source in enumerate(map(mapping, sources)):
        if sum(bool(source.get(name)) for name in ("headers", "params", "cookies")) > 1:
            yield (
                ("spec", "apiKeyAuth", "extractFrom", number),
                "an API key is taken from headers, params or cookies, not from several of them",
            )
    if mapping(spec.get("oidc")).get("passThroughAuthHeader") is True:
        place = ("spec", "oidc", "passThroughAuthHeader")
        providers = sequence(mapping(spec.get("jwt")).get("providers"))
        extractors = [mapping(provider).get("extractFrom") for provider in providers]
        if not any(extractor is None or mapping(extractor).get("headers") for extractor in extractors):
            yield place, "passThroughAuthHeader needs a JWT provider that reads from a header"


def _rate_limits(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the building of local and global rate limits refuses."""
    limit = mapping(spec.get("rateLimit"))
    kind = text(limit.get("type"))
    if kind in ("", "Local") and isinstance(limit.get("local"), dict):
        yield from _defaults(sequence(limit["local"].get("rules")))
    for scope in ("local", "global"):
        rules = sequence(mapping(limit.get(scope)).get("rules")) if kind.lower() in ("", scope) else ()
        for number, rule in enumerate(map(mapping, rules)):
            place: Pointer = ("spec", "rateLimit", scope, "rules", number, "clientSelectors")
            for index, selector in enumerate(map(mapping, sequence(rule.get("clientSelectors")))):
                yield from _selector(selector, (*place, index))


def _defaults(rules: list[Any]) -> Iterator[Fault]:
    """Yield a second default limit, and limits whose unit is no multiple of the default's (per second without one)."""
    place: Pointer = ("spec", "rateLimit", "local", "rules")
    defaults = [number for number, rule in enumerate(rules) if not sequence(mapping(rule).get("clientSelectors"))]
    if len(defaults) > 1:
        yield (*place, defaults[1]), "a local rate limit has at most one rule without clientSelectors"
        return
    units = [text(mapping(mapping(rule).get("limit")).get("unit")) for rule in rules]
    unit = units[defaults[0]] if defaults else "Second"
    for number, name in enumerate(units):
        if name in _SECONDS and unit in _SECONDS and _SECONDS[name] % _SECONDS[unit]:
            reason = f"limits per {name} stand beside a default limit per {unit}, of which they must be multiples"
            yield (*place, number, "limit", "unit"), reason


def _selector(selector: Mapping[str, Any], place: Pointer) -> Iterator[Fault]:
    """Yield what buildRateLimitRule refuses of one client selector."""
    if not any(selector.get(name) for name in _SELECTING):
        yield place, "a client selector selects by nothing"
    for field in ("headers", "queryParams"):
        for number, match in enumerate(map(mapping, sequence(selector.get(field)))):
            kind = text(match.get("type"), "Exact")
            if kind == "RegularExpression" and (fault := _expression(match.get("value"))):
                yield (*place, field, number, "value"), fault
            if kind == "Distinct" and match.get("invert") is True:
                yield (*place, field, number, "invert"), "a Distinct match cannot be inverted"
    path = mapping(selector.get("path"))
    if text(path.get("type")) == "RegularExpression" and (fault := _expression(path.get("value"))):
        yield (*place, "path", "value"), fault
    source = mapping(selector.get("sourceCIDR")).get("value")
    if source is not None and not holds_variable(source) and (fault := _network(text(source))):
        yield (*place, "sourceCIDR", "value"), fault


def _expression(value: object) -> str:
    """Return why RE2 refuses a regular expression, "" if it takes it or a variable hides it."""
    if not isinstance(value, str) or holds_variable(value):
        return ""
    refusal = expression(value).refusal
    return f"{value!r} is {refusal}" if refusal else ""


def _network(value: str) -> str:
    """Return why a text is no network, "" if it is one; an address needs its prefix length."""
    from ipaddress import ip_interface

    try:
        ip_interface(value)
    except ValueError:
        return f"{value!r} is no network"
    return "" if "/" in value else f"{value!r} is an address, not a network: write its prefix length"
