"""What the webhook of Istio refuses of what a rule of a VirtualService does: redirects, rewrites, faults, mirrors.

Source: pkg/config/validation/validation.go (validateHTTPRedirect, validateHTTPRewrite, validateHTTPDirectResponse,
validateHTTPFaultInjection, validateHTTPMirrors, validateCORSPolicy) and virtualservice.go (validateHTTPRoute,
validateAuthorityRewrite), 1.31.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import holds_variable, mapping, sequence, text, texts

Wrong = tuple[str, str, str]
"""A field below the rule, what is wrong with it, and what to write."""
_TARGETS = ("uri", "prefixRewrite", "authority", "port", "derivePort", "scheme")
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "*")
_OF_AUTHORITY = ("host", ":authority")


def of_actions(rule: Mapping[str, Any], place: Pointer) -> Iterator[tuple[Pointer, str, str]]:
    """Yield what is wrong with what a rule does, each as where it stands, what it has, and what to write."""
    where = f"{place[0]}[{place[1]}]"
    for field, does, fix in (*_redirects(rule), *_rewrites(rule), *_answers(rule), *_copies(rule), *_origins(rule)):
        yield (*place, field), f"has {does} in {where}", fix


def _redirects(rule: Mapping[str, Any]) -> Iterator[Wrong]:
    redirect = mapping(rule.get("redirect"))
    if not redirect:
        return
    code, scheme = redirect.get("redirectCode"), text(redirect.get("scheme"))
    if redirect.get("uri") and redirect.get("prefixRewrite"):
        yield "redirect", "a redirect with both `uri` and `prefixRewrite`", "keep one of them"
    if not any(redirect.get(field) for field in _TARGETS):
        yield "redirect", "a redirect to where the request was", "state `uri`, `authority`, `scheme` or `port`"
    if isinstance(code, int) and code and not 300 <= code <= 399:
        yield "redirect", f"a redirect with status {code}", "take one from 300 to 399"
    if scheme not in ("", "http", "https") and not holds_variable(scheme):
        yield "redirect", f"a redirect to scheme {scheme}", "`http` or `https`"
    paths = [mapping(mapping(match).get("uri")) for match in sequence(rule.get("match"))]
    if redirect.get("prefixRewrite") and any(path and "prefix" not in path for path in paths):
        yield "redirect", "`prefixRewrite` where a path is not matched by `prefix`", "match the path by `prefix`"


def _rewrites(rule: Mapping[str, Any]) -> Iterator[Wrong]:
    rewrite = mapping(rule.get("rewrite"))
    expression = mapping(rewrite.get("uriRegexRewrite"))
    if rewrite.get("uri") and expression:
        yield "rewrite", "a rewrite with both `uri` and `uriRegexRewrite`", "keep one of them"
    if isinstance(rule.get("rewrite"), dict) and not any((rewrite.get("uri"), expression, rewrite.get("authority"))):
        yield "rewrite", "a rewrite of nothing", "state `uri`, `uriRegexRewrite` or `authority`"
    if expression and not (expression.get("match") and expression.get("rewrite")):
        yield "rewrite", "a `uriRegexRewrite` without `match` or `rewrite`", "state both"
    request = mapping(mapping(rule.get("headers")).get("request"))
    named = [str(name).lower() for field in ("set", "add") for name in mapping(request.get(field))]
    if bool(rewrite.get("authority")) + sum(name in _OF_AUTHORITY for name in named) > 1:
        yield "headers", "the host set in more than one place", "keep `rewrite.authority` alone"


def _answers(rule: Mapping[str, Any]) -> Iterator[Wrong]:
    status = mapping(rule.get("directResponse")).get("status")
    if isinstance(status, int) and not 200 <= status <= 600:
        yield "directResponse", f"an answer with status {status}", "take one from 200 to 599"
    fault = mapping(rule.get("fault"))
    if isinstance(rule.get("fault"), dict) and not any(field in fault for field in ("abort", "delay")):
        yield "fault", "a fault with neither `abort` nor `delay`", "state one of them"
    status = mapping(fault.get("abort")).get("httpStatus")
    if isinstance(status, int) and not 200 <= status <= 600:
        yield "fault", f"a fault with status {status}", "take one from 200 to 599"
    for name in ("abort", "delay"):
        if (part := _beyond(mapping(fault.get(name)).get("percentage"))) is not None:
            yield "fault", f"a fault for {part} % of the requests", "take a percentage from 0 to 100"


def _copies(rule: Mapping[str, Any]) -> Iterator[Wrong]:
    mirrors = [mapping(each) for each in sequence(rule.get("mirrors"))]
    stated = [rule.get("mirrorPercentage"), *(mirror.get("percentage") for mirror in mirrors)]
    part = next((found for each in stated if (found := _beyond(each)) is not None), None)
    if part is not None:
        field = "mirrorPercentage" if "mirrorPercentage" in rule else "mirrors"
        yield field, f"a mirror of {part} % of the requests", "take a percentage from 0 to 100"
    if any("destination" not in mirror for mirror in mirrors):
        yield "mirrors", "a mirror without a `destination`", "name its host"


def _origins(rule: Mapping[str, Any]) -> Iterator[Wrong]:
    policy = mapping(rule.get("corsPolicy"))
    odd = [method for method in texts(policy.get("allowMethods")) if method not in _METHODS]
    if odd and not holds_variable(odd[0]):
        yield "corsPolicy", f"method {odd[0]} in `allowMethods`", "name methods of HTTP in capital letters"
    if any(not any(mapping(each).values()) for each in sequence(policy.get("allowOrigins"))):
        yield "corsPolicy", "an empty entry in `allowOrigins`", "state `exact`, `prefix` or `regex`"


def _beyond(stated: object) -> float | None:
    """Return a percentage that is none; None for others."""
    value = mapping(stated).get("value")
    return value if isinstance(value, int | float) and not 0 <= value <= 100 else None
