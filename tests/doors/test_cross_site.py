"""Preflights at VirtualServices and HTTPProxies: whose origin is allowed gets an answer, all others go on.

Predicted from istio/istio pilot/pkg/networking/core/route/route.go, TranslateCORSPolicy (exact, prefix, regex; what is
not allowed is passed on by default), projectcontour/contour internal/dag/httpproxy_processor.go, toCORSPolicy (what is
no origin is an expression), and Envoy's cors_filter.cc.
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer, request
from tests.doors.test_istio import gateway, virtual
from tests.worlds import manifest, service, simulated

ORIGIN = "https://app.example.com"


def answered(door: tuple[str, ...], origin: str, method: str = "OPTIONS") -> int | None:
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    asked = {"method": method, "host": "shop.example.com", "path": "/", "headers": headers}
    outcome = Tracer(simulated(service("web"), *door)).trace(request(asked)).outcome
    assert outcome.status is not None or outcome.backends
    return outcome.status


def of_istio(origins: str) -> tuple[str, ...]:
    rule = f"[{{corsPolicy: {{{origins}, allowMethods: [GET]}}, route: [{{destination: {{host: web}}}}]}}]"
    return gateway(), virtual(rule)


def of_contour(*origins: str) -> tuple[str, ...]:
    policy = f"corsPolicy: {{allowOrigin: [{', '.join(origins)}], allowMethods: [GET]}}"
    spec = f"{{virtualhost: {{fqdn: shop.example.com, {policy}}}, routes: [{{services: [{{name: web, port: 80}}]}}]}}"
    return (manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {spec}"),)


@pytest.mark.parametrize(
    ("door", "allowed"),
    [
        (of_istio("allowOrigins: [{exact: 'https://app.example.com'}]"), True),
        (of_istio("allowOrigins: [{exact: 'https://other.example.com'}]"), False),
        (of_istio("allowOrigins: [{exact: '*'}]"), True),
        (of_istio("allowOrigins: [{exact: 'https://*.example.com'}]"), False),
        (of_istio("allowOrigins: [{prefix: 'https://app.'}]"), True),
        (of_istio("allowOrigins: [{prefix: 'app.'}]"), False),
        (of_istio("allowOrigins: [{exact: 'https://a.example'}, {regex: 'https://.*[.]example[.]com'}]"), True),
        (of_istio("allowOrigins: [{regex: 'app[.]example[.]com'}]"), False),
        (of_istio("allowOrigin: ['https://app.example.com']"), True),
        (of_contour("'https://app.example.com'"), True),
        (of_contour("'https://*.example.com'"), False),
        (of_contour("'*'"), True),
        (of_contour(r"'https://.*\.example\.com'"), True),
        (of_contour("'https://.*[.]example[.]com'"), False),  # to Go that is a host
        (of_contour("'https://app.example.com/'"), False),
        (of_contour("'https?://app.example.com'"), True),
    ],
)
def test_who_is_allowed(door: tuple[str, ...], allowed: bool) -> None:
    assert answered(door, ORIGIN) == (200 if allowed else None)
    assert answered(door, ORIGIN, "GET") is None
