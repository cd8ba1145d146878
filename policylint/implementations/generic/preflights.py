"""Requests by which browsers ask whether a script may call another site, and what settings for that answer.

Proxies ask these settings before logins: a preflight of an allowed origin is answered, any other goes on and meets the
logins like all requests. Source: Envoy's documentation, «CORS», and source/extensions/filters/http/cors/cors_filter.cc;
agentgateway crates/agentgateway/src/http/cors.rs, and its pull request 1020 on the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import mapping, sequence, text, texts
from policylint.policy.authorizing import Decision, RequestFacts
from policylint.spaces.predicates import EXPRESSION, Predicate


def answers(place: str, spec: Mapping[str, Any], message: RequestFacts) -> Iterator[Decision]:
    """Yield what settings for other origins answer a preflight; nothing for requests that go on.

    Args:
        place: of the settings in a spec, `traffic.cors`; "" for kinds without any.
    """
    headers = message.headers
    if not place or message.blank or message.method != "OPTIONS" or "access-control-request-method" not in headers:
        return
    settings, pointer = spec, tuple(place.split("."))
    for step in pointer:
        settings = mapping(settings.get(step))
    origin = headers.get("origin", "")
    if origin and allowed_origin(settings, origin):
        why = f"it is a preflight of {origin}, which `cors` answers before any login is asked for"
        yield Decision("denied", pointer, why, status=200, direct=True)


def allowed_origin(cors: Mapping[str, Any], origin: str) -> str:
    """Return the value of Access-Control-Allow-Origin for an origin, "" where it is not allowed.

    An entry of `allowOrigins` may be an expression of whole origins: `{regex: …}`.
    """
    expressions = (text(mapping(each).get("regex")) for each in sequence(cors.get("allowOrigins")))
    if any(Predicate(EXPRESSION, each).takes(origin) for each in expressions if each):
        return origin
    for pattern in texts(cors.get("allowOrigins")):
        if pattern == "*":
            return origin if cors.get("allowCredentials") is True else "*"
        if pattern == origin or _wildcard(pattern, origin):
            return origin
    return ""


def _wildcard(pattern: str, origin: str) -> bool:
    """Return whether a pattern such as `https://*.example.com` covers an origin.

    The `*` covers any number of labels; a port must be the same on both sides.
    """
    head, star, tail = pattern.partition("*")
    return bool(star) and len(origin) > len(head) + len(tail) and origin.startswith(head) and origin.endswith(tail)


def in_full(cors: Mapping[str, Any]) -> dict[str, Any]:
    """Return a CORS filter with its defaults, lists of which the order says nothing sorted (HTTPCORSFilter)."""
    stated = {name: sorted(map(str, value)) if isinstance(value, list) else value for name, value in cors.items()}
    return {"allowCredentials": False, "allowMethods": ["GET", "HEAD", "POST"], "maxAge": 5, **stated}
