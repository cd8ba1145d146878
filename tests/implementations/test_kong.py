"""Kong on routes of Gateway API.

Source: Kong/kubernetes-ingress-controller internal/dataplane/kongstate/route.go, overrideStripPath;
developer.konghq.com, «Annotations» (`konghq.com/strip-path`, for HTTPRoutes, too; off where nothing says so).
"""

from __future__ import annotations

import pytest

from policylint.trace import Request, Tracer
from tests.worlds import gateway, gateway_class, manifest, simulated

SERVICE = manifest("v1", "Service", "app", "shop", "spec: {selector: {a: b}, ports: [{port: 80}]}")


def forwarded(path: str, annotation: str, match: str, of_class: str = "kong", more: str = "") -> str:
    controller = {"kong": "konghq.com/kic-gateway-controller", "eg": "gateway.envoyproxy.io/gatewayclass-controller"}
    rule = f"{{matches: [{{path: {match}}}]{more}, backendRefs: [{{name: app, port: 80}}]}}"
    spec = f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], rules: [{rule}]}}"
    route = manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "app", "shop", spec)
    route = route.replace(
        "name: app, namespace: shop}", f"name: app, namespace: shop, annotations: {{{annotation}}}}}", 1
    )
    listeners = "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
    edge = gateway(of_class=of_class, listeners=listeners)
    tracer = Tracer(simulated(gateway_class(of_class, controller[of_class]), edge, route, SERVICE))
    trace = tracer.trace(Request(host="a.example.com", path=path, port=80))
    assert trace.forwarded is not None, trace.outcome
    return trace.forwarded.path


PREFIX = "{type: PathPrefix, value: /app}"
STRIP = "konghq.com/strip-path: 'true'"


@pytest.mark.parametrize(
    ("path", "annotation", "match", "of_class", "sent"),
    [
        ("/app/a", STRIP, PREFIX, "kong", "/a"),
        ("/app", STRIP, PREFIX, "kong", "/"),
        ("/app/a?b=c", STRIP, PREFIX, "kong", "/a?b=c"),
        ("/app/a", "konghq.com/strip-path: 'false'", PREFIX, "kong", "/app/a"),
        ("/app/a", "", PREFIX, "kong", "/app/a"),
        ("/app/a", STRIP, "{type: PathPrefix, value: /}", "kong", "/app/a"),
        ("/app/a", STRIP, PREFIX, "eg", "/app/a"),  # others do not read it
    ],
)
def test_what_is_taken_off_the_path(path: str, annotation: str, match: str, of_class: str, sent: str) -> None:
    assert forwarded(path, annotation, match, of_class) == sent
