"""What Contour refuses of the conditions of a route or an include, of where it leads, and of the providers of tokens.

Source: projectcontour/contour, internal/dag/conditions.go (pathMatchConditionsValid, headerMatchConditionsValid,
queryParameterMatchConditionsValid), internal/dag/httpproxy_processor.go (computeHTTPProxy, computeRoutes,
processHTTPProxyTCPProxy, redirectRoutePolicy), internal/dag/policy.go (localRateLimitPolicy,
prefixReplacementsAreValid).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from policylint.documents import Pointer
from policylint.model import is_symbolic, mapping, sequence, text

_OPPOSITES = (("present", "notpresent"), ("exact", "notexact"), ("contains", "notcontains"))
_VERSIONS = ("1.2", "1.3")
_AT_ONCE = ("Random", "Cookie", "RequestHash")
"""The strategies for which there is no slow start."""
_OF_PARAMETERS = ("exact", "prefix", "suffix", "regex", "contains", "present")


def fault_of_conditions(conditions: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong with a block of conditions; "" where nothing is."""
    return _fault_of_paths(conditions) or _fault_of_headers(conditions) or _fault_of_parameters(conditions)


def _fault_of_paths(conditions: Sequence[Mapping[str, Any]]) -> str:
    paths = [text(each[name]) for each in conditions for name in ("prefix", "exact", "regex") if each.get(name)]
    if len(paths) > 1:
        return "more than one path (`prefix`, `exact`, `regex`)"
    odd = next((each for each in paths if not each.startswith("/") and not is_symbolic(each)), "")
    return f"a path that does not begin with a slash (`{odd}`)" if odd else ""


def _fault_of_headers(conditions: Sequence[Mapping[str, Any]]) -> str:
    """Two values of one header, or a condition and its opposite, are asked of no request; that is refused."""
    stated: dict[tuple[str, str], list[Any]] = {}
    for header in (mapping(each.get("header")) for each in conditions):
        for word in (name for pair in _OPPOSITES for name in pair if header.get(name)):
            stated.setdefault((text(header.get("name")).lower(), word), []).append(header[word])
    for (name, word), values in stated.items():
        if word == "exact" and len(values) > 1:
            return f"two exact values for header {name}"
        opposite = next((other for this, other in _OPPOSITES if this == word), "")
        if opposite and any(value in stated.get((name, opposite), ()) for value in values):
            return f"both `{word}` and `{opposite}` for header {name}"
    return ""


def _fault_of_parameters(conditions: Sequence[Mapping[str, Any]]) -> str:
    exact: set[str] = set()
    for parameter in (mapping(each["queryParameter"]) for each in conditions if each.get("queryParameter")):
        name = text(parameter.get("name")).lower()
        words = [word for word in _OF_PARAMETERS if parameter.get(word)]
        if len(words) != 1:
            many = " and ".join(f"`{word}`" for word in words)
            return f"{many} for query parameter {name}" if words else f"nothing that query parameter {name} must be"
        if words == ["exact"] and name in exact:
            return f"two exact values for query parameter {name}"
        exact |= {name} if words == ["exact"] else set()
    return ""


def faults_of_providers(host: Mapping[str, Any], at: Pointer) -> Iterator[tuple[bool, Pointer, str]]:
    """Yield what may be wrong with the providers of tokens of a host: whether it is, where, and what."""
    names: set[str] = set()
    standard = ""
    for number, provider in enumerate(map(mapping, sequence(host.get("jwtProviders")))):
        place: Pointer = (*at, "jwtProviders", number)
        name = text(provider.get("name"))
        yield name in names, (*place, "name"), f"two providers of tokens are called {name}"
        names.add(name)
        if provider.get("default") is True:
            yield bool(standard), (*place, "default"), f"providers {standard} and {name} are both the default"
            standard = name
        address = text(mapping(provider.get("remoteJWKS")).get("uri"))
        secret = text(mapping(provider.get("localJWKS")).get("secretName"))
        yield bool(address and secret), place, f"provider {name} has both `remoteJWKS` and `localJWKS`"
        yield not (address or secret), place, f"provider {name} has no keys (`remoteJWKS` or `localJWKS`)"
        odd = bool(address) and not is_symbolic(address) and urlsplit(address).scheme not in ("http", "https")
        yield odd, (*place, "remoteJWKS", "uri"), f"the keys of provider {name} are at no URL of http or https"


def are_versions_crossed(tls: Mapping[str, Any]) -> bool:
    """Return whether the greatest version of TLS lies below the smallest one; 1.2 and 1.3 are the defaults."""
    smallest, greatest = (
        version if (version := str(tls.get(name))) in _VERSIONS else default
        for name, default in (("minimumProtocolVersion", "1.2"), ("maximumProtocolVersion", "1.3"))
    )
    return bool(tls.get("secretName")) and greatest < smallest


def fault_of_ends(stated: object) -> str:
    """Return what is wrong with where connections go; "" where nothing is."""
    proxy = mapping(stated)
    included = next((name for name in ("include", "includes") if proxy.get(name)), "")
    if proxy.get("services") and included:
        return f"`tcpproxy` with both `services` and `{included}`"
    is_empty = isinstance(stated, dict) and not proxy.get("services") and not included
    return "`tcpproxy` with nothing to send connections to" if is_empty else ""


def fault_of_services(route: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return which field of a route is wrong with where it leads, and how; None where nothing is."""
    mirrors = [each for each in map(mapping, sequence(route.get("services"))) if each.get("mirror") is True]
    if len(mirrors) > 1:
        return "services", "a route has more than one mirror"
    redirect = mapping(route.get("requestRedirectPolicy"))
    if "path" in redirect and "prefix" in redirect:
        return "requestRedirectPolicy", "a redirect has both `path` and `prefix`"
    limit = mapping(mapping(route.get("rateLimitPolicy")).get("local"))
    requests = limit.get("requests")
    if limit and isinstance(requests, int) and requests <= 0:
        return "rateLimitPolicy", f"a limit of {requests} requests"
    replaced = [text(each.get("prefix")) for each in map(mapping, sequence(_rewriting(route).get("replacePrefix")))]
    twice = next((each for number, each in enumerate(replaced) if each in replaced[:number]), None)
    if twice is not None:
        return "pathRewritePolicy", f"prefix `{twice or '/'}` is replaced twice"
    strategy = text(mapping(route.get("loadBalancerPolicy")).get("strategy"))
    if strategy in _AT_ONCE and any(mapping(each).get("slowStartPolicy") for each in sequence(route.get("services"))):
        return "loadBalancerPolicy", f"`slowStartPolicy` where requests are balanced by {strategy}"
    return None


def _rewriting(route: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(route.get("pathRewritePolicy"))
