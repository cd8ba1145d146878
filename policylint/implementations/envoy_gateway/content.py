"""Content that passes Envoy Gateway's CRDs and not its translator; it makes a policy Invalid.

Source: docs/design/implementations/envoy-gateway.md §9;
internal/gatewayapi/{backendtrafficpolicy,securitypolicy,clustersettings,http}.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from policylint.documents import Pointer
from policylint.matches import typed
from policylint.model import Resource, holds_variable, mapping, sequence, text, texts
from policylint.model.quantities import milliseconds, number_of_bytes
from policylint.patterns import Pattern
from policylint.policy.declared import Reading

CODE = "content"
"""What a policy is refused for that then answers 500 on the HTTP and gRPC routes which it is for."""
EARLY = "early"
"""What a policy is refused for before it is translated; requests and connections go on as without it."""
_SECONDS = {"Second": 1, "Minute": 60, "Hour": 3600, "Day": 86400, "Month": 2592000, "Year": 31536000}
HTTP_ONLY = ("cors", "csrf", "jwt", "oidc", "apiKeyAuth", "basicAuth", "extAuth")
"""The settings of a SecurityPolicy that connections cannot have."""
_HTTP_PRINCIPALS = ("jwt", "headers", "clientIPGeoLocations")
_SELECTING = ("headers", "methods", "path", "sourceCIDR", "queryParams")
_WINDOW = range(65535, 2147483648)
_WINDOWS = ("initialStreamWindowSize", "initialConnectionWindowSize")
_LARGEST_BUFFER = 2**32 - 1
_QUALIFIED = Pattern(r"([a-z0-9.-]+/)?([A-Za-z0-9][A-Za-z0-9_.-]{0,61})?[A-Za-z0-9]")
"""Names as Kubernetes' IsQualifiedName has them."""
_URI = Pattern(r"/|[A-Za-z][A-Za-z0-9+.-]*:")
"""The beginning of what Go's url.ParseRequestURI takes."""
_ADDRESS = Pattern(r"[a-z]+://(\d{1,3}\.){3}\d{1,3}(?![\w.-])")
_REDIRECT = Pattern(r"(https?|%REQ\(x-forwarded-proto\)%)://[^/]+/.+")

HEADER_VALUE = Pattern(r"[!-~]([\t ]?[!-~])*")
_REQUIRED = "RequireAndVerify"
_CIPHERS = frozenset(
    {
        f"{exchange}{rest}"
        for exchange in ("ECDHE-ECDSA-", "ECDHE-RSA-", "")
        for rest in ("AES128-GCM-SHA256", "AES128-SHA", "AES256-GCM-SHA384", "AES256-SHA")
    }
    | {
        f"TLS_{exchange}_WITH_{rest}"
        for exchange in ("ECDHE_ECDSA", "ECDHE_RSA", "RSA")
        for rest in ("AES_128_GCM_SHA256", "AES_128_CBC_SHA", "AES_256_GCM_SHA384", "AES_256_CBC_SHA")
    }
    | {"ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"}
    | {f"TLS_ECDHE_{key}_WITH_CHACHA20_POLY1305_SHA256" for key in ("ECDSA", "RSA")}
)
"""internal/gatewayapi/tls.go, validCipherSuites: the names of OpenSSL and of IANA."""

Fault = tuple[Pointer, str]


def refused(policy: Resource, kind: str) -> Reading:
    """Return the first value that the translator refuses; a Reading without code for none."""
    if kind == "SecurityPolicy":
        early = refused_early(policy, "") if _names_routes(policy.spec) else Reading()
        if early.code:
            return early
    fault = next(faults(policy, kind), None)
    return Reading() if fault is None else Reading(code=CODE, reason=fault[1], pointer=fault[0])


def faults(policy: Resource, kind: str) -> Iterator[Fault]:
    """Yield every value that the translator refuses."""
    if kind == "BackendTrafficPolicy":
        yield from chain(_rate_limits(policy.spec), refused_settings(policy.spec, ("spec",)), _bodies(policy.spec))
    elif kind == "ClientTrafficPolicy":
        yield from chain(_connections(policy.spec, ("spec",)), _headers(policy.spec), _sessions(policy.spec))
    elif kind == "SecurityPolicy":
        yield from chain(_providers(policy.spec), _client(policy.spec), _rules(policy.spec))


def refused_early(policy: Resource, kind: str) -> Reading:
    """Return what is refused of a policy on a kind of route before it is translated (validateSecurityPolicy)."""
    if policy.key.kind != "SecurityPolicy":
        return Reading()
    if kind == "TCPRoute":
        return refused_on_streams(policy)
    fault = next(_combinations(policy.spec), None)
    return Reading() if fault is None else Reading(code=EARLY, reason=fault[1], pointer=fault[0])


def refused_on_streams(policy: Resource) -> Reading:
    """Return the first setting of a SecurityPolicy that connections cannot have (validateSecurityPolicyForTCP)."""
    for name in HTTP_ONLY:
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
        place: Pointer = ("spec", "jwt", "providers", number)
        name = text(provider.get("name"))
        if name in seen:
            yield (*place, "name"), f"two JWT providers have the name {name!r}"
        if name and not _QUALIFIED.fullmatch(name) and not holds_variable(name):
            yield (*place, "name"), f"{name!r} is no name of a JWT provider: letters, digits, `-`, `_` and `.`"
        seen.add(name)
        issuer = text(provider.get("issuer"))
        if ":" in issuer and not _is_uri(issuer):
            yield (*place, "issuer"), f"{issuer!r} has a colon, and is no URI"
        uri = text(mapping(provider.get("remoteJWKS")).get("uri"))
        if uri and not _is_uri(uri):
            yield (*place, "remoteJWKS", "uri"), f"{uri!r} is no URI"


def _rules(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the expressions of an authorization that are none (validCELExpression)."""
    for number, rule in enumerate(map(mapping, sequence(mapping(spec.get("authorization")).get("rules")))):
        written = rule.get("cel")
        if not isinstance(written, str) or holds_variable(written):
            continue
        from policylint.cel.syntax import is_expression

        if not is_expression(written):
            yield ("spec", "authorization", "rules", number, "cel"), f"{written!r} is no expression of CEL"


def _bodies(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what settings of request bodies and bandwidth are refused for (buildRequestBuffer, buildBandwidthLimit)."""
    limit = number_of_bytes(mapping(spec.get("requestBuffer")).get("limit"))
    if limit is not None and limit > _LARGEST_BUFFER:
        yield ("spec", "requestBuffer", "limit"), f"limit must be below 4Gi, not {limit} bytes"
    for direction, settings in mapping(spec.get("bandwidthLimit")).items():
        value = mapping(mapping(settings).get("limit"))
        size, seconds = number_of_bytes(value.get("value")), _SECONDS.get(text(value.get("unit")), 1)
        if size is not None and size < 1024 * seconds:
            yield ("spec", "bandwidthLimit", direction, "limit"), "the limit is below 1 KiB per second"


def _is_uri(value: str) -> bool:
    return _URI.match(value) is not None or holds_variable(value)


def _client(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what buildOIDC refuses, apart from what it reads from Secrets."""
    oidc = mapping(spec.get("oidc"))
    redirect = text(oidc.get("redirectURL"))
    if redirect and not holds_variable(redirect) and not _REDIRECT.fullmatch(redirect):
        yield ("spec", "oidc", "redirectURL"), f"{redirect!r} lacks a scheme, a host or a path of its own"
    endpoint = text(mapping(oidc.get("provider")).get("tokenEndpoint"))
    if _ADDRESS.match(endpoint):
        place = ("spec", "oidc", "provider", "tokenEndpoint")
        yield place, f"{endpoint!r} has an address where a domain name must be"


def _names_routes(spec: Mapping[str, Any]) -> bool:
    """Return whether a policy has a route among its targets: at Gateways nothing is seen before it is translated."""
    entries = (spec.get("targetRef"), *sequence(spec.get("targetRefs")), *sequence(spec.get("targetSelectors")))
    return any(text(mapping(entry).get("kind")).endswith("Route") for entry in entries)


def _connections(settings: Mapping[str, Any], place: Pointer) -> Iterator[Fault]:
    """Yield what settings of connections are refused for, on either side (buildIRHTTP2Settings, buildConnection)."""
    for name in _WINDOWS:
        size = number_of_bytes(mapping(settings.get("http2")).get(name))
        if size is not None and size not in _WINDOW:
            limits = f"{_WINDOW[0]} and {_WINDOW[-1]}"
            yield (*place, "http2", name), f"{name} must be between {limits} bytes, not {size}"
    limit = number_of_bytes(mapping(settings.get("connection")).get("bufferLimit"))
    if limit is not None and limit > _LARGEST_BUFFER:
        yield (*place, "connection", "bufferLimit"), f"bufferLimit must be below 4Gi, not {limit} bytes"


def _headers(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the values of headers of a ClientTrafficPolicy that no header may have (translateHeaderModifier)."""
    for setting in ("earlyRequestHeaders", "lateResponseHeaders"):
        modifier = mapping(mapping(spec.get("headers")).get(setting))
        for action in ("add", "set"):
            for number, header in enumerate(map(mapping, sequence(modifier.get(action)))):
                value = header.get("value")
                if isinstance(value, str) and not HEADER_VALUE.fullmatch(value) and not holds_variable(value):
                    place = ("spec", "headers", setting, action, number, "value")
                    yield place, f"{value!r} is no value of a header"


def _sessions(spec: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what settings of a listener's TLS are refused for (buildListenerTLSParameters).

    Whoever checks the certificates of clients needs CAs, though hashes or names are given.
    """
    tls = mapping(spec.get("tls"))
    for number, cipher in enumerate(texts(tls.get("ciphers"))):
        if cipher not in _CIPHERS and not holds_variable(cipher):
            yield ("spec", "tls", "ciphers", number), f"{cipher} is no cipher suite that Envoy supports"
    validation = tls.get("clientValidation")
    if isinstance(validation, dict) and not sequence(validation.get("caCertificateRefs")):
        mode = text(validation.get("mode")) or ("VerifyIfGiven" if validation.get("optional") is True else _REQUIRED)
        if mode in ("VerifyIfGiven", _REQUIRED):
            yield ("spec", "tls", "clientValidation"), f"mode {mode} needs caCertificateRefs"


def refused_settings(settings: Mapping[str, Any], place: Pointer) -> Iterator[Fault]:
    """Yield what the settings of a backend's cluster are refused for (translateTrafficFeatures)."""
    yield from _connections(settings, place)
    balancer = mapping(settings.get("loadBalancer"))
    size = mapping(balancer.get("consistentHash")).get("tableSize")
    if balancer.get("type") == "ConsistentHash" and isinstance(size, int) and not _is_prime(size):
        yield (*place, "loadBalancer", "consistentHash", "tableSize"), f"tableSize must be a prime, which {size} is not"
    back_off = mapping(mapping(mapping(settings.get("retry")).get("perRetry")).get("backOff"))
    base, largest = (milliseconds(back_off.get(name)) for name in ("baseInterval", "maxInterval"))
    for name, interval in (("baseInterval", base), ("maxInterval", largest)):
        if interval == 0:
            yield (*place, "retry", "perRetry", "backOff", name), f"{name} must not be 0"
    if base and largest and base > largest:
        yield (*place, "retry", "perRetry", "backOff", "maxInterval"), "maxInterval is below baseInterval"


def _is_prime(number: int) -> bool:
    """Return whether a number is a prime; large ones, which the CRD refuses, are not looked at."""
    return number > 5_000_011 or (number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1)))


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
            reason = f"limits per {name} must be multiples of the default limit per {unit}"
            yield (*place, number, "limit", "unit"), reason


def _selector(selector: Mapping[str, Any], place: Pointer) -> Iterator[Fault]:
    """Yield what buildRateLimitRule refuses of one client selector."""
    if not any(selector.get(name) for name in _SELECTING):
        yield place, "a client selector selects by nothing"
    for field in ("headers", "queryParams"):
        for number, match in enumerate(map(mapping, sequence(selector.get(field)))):
            if fault := _expression(match):
                yield (*place, field, number, "value"), fault
            if match.get("type") == "Distinct" and match.get("invert") is True:
                yield (*place, field, number, "invert"), "a Distinct match cannot be inverted"
    if fault := _expression(mapping(selector.get("path"))):
        yield (*place, "path", "value"), fault
    source = mapping(selector.get("sourceCIDR")).get("value")
    if source is not None and not holds_variable(source) and (fault := _network(text(source))):
        yield (*place, "sourceCIDR", "value"), fault


def _expression(match: Mapping[str, Any]) -> str:
    """Return why RE2 refuses the regular expression of a match, "" if it is none or a variable hides it."""
    predicate = typed(match)
    refusal = "" if holds_variable(predicate.value) else predicate.refusal
    return f"{predicate.value!r} is {refusal}" if refusal else ""


def _network(value: str) -> str:
    """Return why a text is no network, "" if it is one; an address needs its prefix length."""
    from ipaddress import ip_interface

    try:
        ip_interface(value)
    except ValueError:
        return f"{value!r} is no network"
    return "" if "/" in value else f"{value!r} is an address, not a network: write its prefix length"
