"""Kong on routes of Gateway API.

Source: Kong/kubernetes-ingress-controller internal/dataplane/kongstate/route.go, overrideStripPath;
developer.konghq.com, «Annotations» (`konghq.com/strip-path`, for HTTPRoutes, too; off where nothing says so).
"""

from __future__ import annotations

from collections.abc import Callable

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


TLS_ALONE = "konghq.com/protocols: https"
FORCED = "ingress.kubernetes.io/force-ssl-redirect: 'true'"
CODE = "konghq.com/https-redirect-status-code: '%s'"
LISTENERS = (
    "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
    "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c}]}, "
    "allowedRoutes: {namespaces: {from: All}}}]"
)
CONTROLLERS = {"kong": "konghq.com/kic-gateway-controller", "eg": "gateway.envoyproxy.io/gatewayclass-controller"}


def at_gateway(annotations: str, of_class: str = "kong") -> list[str]:
    rule = "{backendRefs: [{name: app, port: 80}]}"
    spec = f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], hostnames: [a.example.com], rules: [{rule}]}}"
    route = manifest(
        "gateway.networking.k8s.io/v1", "HTTPRoute", "app", "shop", spec, more=f"annotations: {{{annotations}}}"
    )
    return [gateway_class(of_class, CONTROLLERS[of_class]), gateway(of_class=of_class, listeners=LISTENERS), route]


def at_ingress(annotations: str, of_class: str = "kong") -> list[str]:
    backend = "backend: {service: {name: app, port: {number: 80}}}"
    rule = f"{{host: a.example.com, http: {{paths: [{{path: /, pathType: Prefix, {backend}}}]}}}}"
    spec = f"spec: {{ingressClassName: {of_class}, tls: [{{hosts: [a.example.com]}}], rules: [{rule}]}}"
    return [
        manifest("networking.k8s.io/v1", "Ingress", "app", "shop", spec, more=f"annotations: {{{annotations}}}"),
    ]


def ended(scheme: str, *manifests: str) -> str:
    port = {"http": 80, "https": 443}[scheme]
    sni = "a.example.com" if scheme == "https" else ""
    asked = Request(scheme=scheme, host="a.example.com", path="/a?b=c", port=port, sni=sni)
    outcome = Tracer(simulated(*manifests, SERVICE)).trace(asked).outcome
    if outcome.redirect is not None:
        return f"{outcome.redirect.status} {outcome.redirect.scheme}"
    return str(outcome.status or "reaches")


@pytest.mark.parametrize("made", [at_gateway, at_ingress])
@pytest.mark.parametrize(
    ("annotations", "ends"),
    [
        (TLS_ALONE, "426"),
        (f"{TLS_ALONE}, {CODE % 301}", "301 https"),
        (f"{TLS_ALONE}, {CODE % 308}", "308 https"),
        (f"{TLS_ALONE}, {CODE % 426}", "426"),
        (f"{TLS_ALONE}, {CODE % 418}", "426"),
        (FORCED, "302 https"),
        (f"{FORCED}, {CODE % 307}", "307 https"),
        (f"{FORCED}, konghq.com/protocols: 'http,https'", "reaches"),
        (FORCED.replace("true", "false"), "reaches"),
        ("konghq.com/protocols: 'https, http'", "reaches"),
        ("konghq.com/protocols: 'http'", "reaches"),
        (CODE % 301, "reaches"),
        ("", "reaches"),
    ],
)
def test_what_takes_tls_alone(made: Callable[[str], list[str]], annotations: str, ends: str) -> None:
    """internal/dataplane/kongstate/route.go, overrideHTTPSRedirectCode and overrideProtocols."""
    assert ended("http", *made(annotations)) == ends
    assert ended("https", *made(annotations)) == "reaches"


def test_others_do_not_read_it() -> None:
    assert ended("http", *at_gateway(f"{TLS_ALONE}, {FORCED}", "eg")) == "reaches"
