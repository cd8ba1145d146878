"""What people were stuck on at doors: names without a provider, TLS that goes past what was to ask, who takes a name.

Each from a public thread, with siblings; predicted from the sources that the modules and the catalog name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from policylint.checks import run
from policylint.doors import with_doors
from policylint.trace import Request, RequestError, Tracer
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

SHOP = service("web", "shop", ports="[{port: 80}]")
TRAEFIK = manifest(
    "networking.k8s.io/v1", "IngressClass", "traefik", "", "spec: {controller: traefik.io/ingress-controller}"
)
NGINX = manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: k8s.io/ingress-nginx}")
LOGIN = manifest("traefik.io/v1alpha1", "Middleware", "auth", "shop", "spec: {basicAuth: {secret: users}}")


def told(rule: str, *objects: str) -> list[str]:
    return [each.message for each in run(simulated(*objects)) if each.rule == rule]


def named(middlewares: str) -> list[str]:
    door = ingress(of_class="traefik", prefix="traefik.ingress.kubernetes.io/", **{"router.middlewares": middlewares})
    return [TRAEFIK, LOGIN, SHOP, door]


@pytest.mark.parametrize("name", ["auth", "auth@kubernetescrd", "shop-auth"])
def test_a_middleware_of_no_provider_is_nothing(name: str) -> None:
    called = name if "@" in name else f"{name}@kubernetes"
    assert told("GWP415", *named(name)) == [f"Ingress shop/web names Middleware shop/{called}, which is missing"]
    assert answer(simulated(*named(name)), "http://shop.example.com/")[0].startswith("404")


@pytest.mark.parametrize("name", ["shop-auth@kubernetescrd", "auth@file", "auth@kubernetes-other"])
def test_a_middleware_of_a_provider(name: str) -> None:
    assert told("GWP415", *named(name)) == []


def proxy(
    asks: str, tls: str = "passthrough: true", serves: str = "tcpproxy: {services: [{name: web, port: 80}]}"
) -> str:
    spec = f"spec: {{{serves}, virtualhost: {{fqdn: shop.example.com, {asks}tls: {{{tls}}}}}}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", spec)


ASKING = (
    "ipAllowPolicy: [{cidr: 10.0.0.0/8, source: Peer}], ",
    "ipDenyPolicy: [{cidr: 10.0.0.0/8, source: Remote}], ",
    "rateLimitPolicy: {local: {requests: 3, unit: second}}, ",
    "jwtProviders: [{name: a, remoteJWKS: {uri: 'https://a.io/jwks'}}], ",
    "authorization: {extensionRef: {name: a}}, ",
)
NOT_ASKING = (
    "",
    "corsPolicy: {allowOrigin: ['*'], allowMethods: [GET]}, ",
    "authorization: {authPolicy: {disabled: true}}, ",
)


@pytest.mark.parametrize("tls", ["passthrough: true", "secretName: cert"])
@pytest.mark.parametrize("asks", ASKING)
def test_what_a_virtual_host_asks_is_not_asked_of_connections(asks: str, tls: str) -> None:
    said = ["spec of HTTPProxy shop/web does not do what it appears to do"]
    assert told("GWP526", SHOP, proxy(asks, tls)) == said
    assert told("GWP526", SHOP, proxy(asks, tls, "routes: [{services: [{name: web, port: 80}]}]")) == []


@pytest.mark.parametrize("asks", NOT_ASKING)
def test_nothing_asked_is_nothing_lost(asks: str) -> None:
    assert told("GWP526", SHOP, proxy(asks)) == []


def _said(limit: Mapping[str, Any]) -> object:
    """Return the requests of a limit, or by what its first entry tells clients apart."""
    return limit["requests"] if "requests" in limit else next(iter(limit["descriptors"][0]["entries"][0]))


ALL = "global: {descriptors: [{entries: [{remoteAddress: {}}]}]}"
OWN = "global: {descriptors: [{entries: [{genericKey: {value: own}}]}]}"


@pytest.mark.parametrize("included", [False, True])
@pytest.mark.parametrize(
    ("of_host", "of_route", "limits"),
    [
        (f"local: {{requests: 5, unit: second}}, {ALL}", "", {"rateLimit": 5, "globalRateLimit": "remoteAddress"}),
        (f"local: {{requests: 5, unit: second}}, {ALL}", "global: {disabled: true}", {"rateLimit": 5}),
        (ALL, "local: {requests: 9, unit: second}", {"rateLimit": 9, "globalRateLimit": "remoteAddress"}),
        ("local: {requests: 5, unit: second}", "local: {requests: 9, unit: second}", {"rateLimit": 9}),
        (ALL, OWN, {"globalRateLimit": "genericKey"}),
        (ALL, f"{OWN[:-1]}, disabled: true}}", {}),
        ("global: {disabled: true}", "", {}),
        ("", OWN, {"globalRateLimit": "genericKey"}),
    ],
)
def test_the_limits_of_a_proxy(of_host: str, of_route: str, limits: dict[str, object], included: bool) -> None:
    """projectcontour/contour#5685: each sort by itself, and a route's own takes the place of its host's."""
    route = f"routes: [{{services: [{{name: web, port: 80}}], rateLimitPolicy: {{{of_route}}}}}]"
    host = f"virtualhost: {{fqdn: shop.example.com, rateLimitPolicy: {{{of_host}}}}}"
    root, child = ("includes: [{name: child}]", route) if included else (route, "routes: []")
    simulation = simulated(
        SHOP,
        manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{host}, {root}}}"),
        manifest("projectcontour.io/v1", "HTTPProxy", "child", "shop", f"spec: {{{child}}}"),
    )
    trace = Tracer(with_doors(simulation)).trace(Request(host="shop.example.com", port=80))
    met = {name: _said(limit) for policy in trace.policies for name, limit in policy.spec.items()}
    assert met == limits
    assert trace.outcome.backends


def controller(*arguments: str) -> str:
    container = f"{{name: c, image: registry.k8s.io/ingress-nginx/controller:v1.12.1, args: [{', '.join(arguments)}]}}"
    template = f"template: {{metadata: {{labels: {{app: c}}}}, spec: {{containers: [{container}]}}}}"
    return manifest(
        "apps/v1", "Deployment", "c", "nginx", f"spec: {{selector: {{matchLabels: {{app: c}}}}, {template}}}"
    )


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (
            {"whitelist_source_range": "10.0.0.0/8"},
            "whitelist-source-range of Ingress shop/web does not count over TLS",
        ),
        ({"auth_url": "https://auth.io/"}, "auth-url of Ingress shop/web does not count over TLS"),
        ({"backend_protocol": "HTTPS"}, ""),
        ({"auth_signin": "https://auth.io/"}, ""),
    ],
)
def test_what_an_ingress_asks_is_not_asked_where_tls_passes(annotations: dict[str, str], expected: str) -> None:
    door = ingress(ssl_passthrough="true", **annotations)
    passing = controller("/nginx-ingress-controller", "--enable-ssl-passthrough")
    assert told("GWP526", NGINX, SHOP, passing, door) == [f"nginx.ingress.kubernetes.io/{expected}"] * bool(expected)
    assert told("GWP526", NGINX, SHOP, controller("/nginx-ingress-controller"), door) == []
    assert told("GWP526", NGINX, SHOP, passing, ingress(**annotations)) == []


def router(kind: str, match: str, more: str = "tls: {}") -> str:
    rule = f"{{kind: Rule, match: {match}, services: [{{name: web, port: 80}}]}}"
    spec = f"spec: {{entryPoints: [websecure], routes: [{rule}], {more}}}"
    return manifest("traefik.io/v1alpha1", kind, "web", "shop", spec)


HOST, PASSED = "Host(`shop.example.com`)", "tls: {passthrough: true}"


@pytest.mark.parametrize(
    ("requests", "connections", "is_first"),
    [
        (router("IngressRoute", HOST), router("IngressRouteTCP", "HostSNI(`shop.example.com`)", PASSED), True),
        (router("IngressRoute", HOST), router("IngressRouteTCP", "HostSNI(`shop.example.com`)"), True),
        (
            router("IngressRoute", f"{HOST} && PathPrefix(`/a`)"),
            router("IngressRouteTCP", "HostSNI(`Shop.example.com`)", PASSED),
            True,
        ),
        (router("IngressRoute", HOST), router("IngressRouteTCP", "HostSNI(`other.example.com`)", PASSED), False),
        (router("IngressRoute", HOST), router("IngressRouteTCP", "HostSNI(`*`)", PASSED), False),
        (
            router("IngressRoute", "PathPrefix(`/`)"),
            router("IngressRouteTCP", "HostSNI(`shop.example.com`)", PASSED),
            False,
        ),
        (
            router("IngressRoute", HOST).replace("[websecure]", "[other]"),
            router("IngressRouteTCP", "HostSNI(`shop.example.com`)", PASSED),
            False,
        ),
    ],
)
def test_requests_for_a_name_come_before_connections_for_it(requests: str, connections: str, is_first: bool) -> None:
    does = "IngressRouteTCP shop/web is for shop.example.com, whose TLS IngressRoute shop/web takes first"
    said = [each.lower() for each in told("GWP415", SHOP, requests, connections)]
    assert said == [does.lower()] * is_first
    world = simulated(SHOP, requests, connections)
    try:
        end = answer(world, "tls://shop.example.com:443", gateway="EntryPoints/websecure")[0]
    except RequestError:
        end = "none"
    assert (end == "none") == is_first
