"""A variable within what a rule takes leaves open whether it takes a request; what is written around it is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.reach import entries, ways_in
from policylint.simulation import Simulation
from policylint.trace import Tracer
from tests.doors.asking import answer, ingress
from tests.worlds import gateway, gateway_class, manifest, opened, service

HOST = "shop.example.com"
CONTROLLERS = {
    "Envoy Gateway": "gateway.envoyproxy.io/gatewayclass-controller",
    "NGINX Gateway Fabric": "gateway.nginx.org/nginx-gateway-controller",
    "Istio": "istio.io/gateway-controller",
    "Traefik": "traefik.io/gateway-controller",
    "Cilium": "io.cilium/gateway-controller",
    "Kong": "konghq.com/kic-gateway-controller",
    "kgateway": "kgateway.dev/kgateway",
}


def routed(controller: str, match: str) -> list[str]:
    first, last = (f"backendRefs: [{{name: {name}, port: 80}}]" for name in ("other", "web"))
    rules = f"[{{matches: [{match}], {first}}}, {{{last}}}]"
    body = f"spec: {{parentRefs: [{{name: edge}}], hostnames: [{HOST}], rules: {rules}}}"
    edge = gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]")
    made = manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "app", "shop", body)
    return [gateway_class(controller=CONTROLLERS[controller]), edge, made]


def proxy(conditions: str) -> list[str]:
    first, last = (f"services: [{{name: {name}, port: 80}}]" for name in ("other", "web"))
    routes = f"[{{conditions: [{conditions}], {first}}}, {{{last}}}]"
    body = f"spec: {{virtualhost: {{fqdn: {HOST}}}, routes: {routes}}}"
    return [manifest("projectcontour.io/v1", "HTTPProxy", "app", "shop", body)]


def ingress_route(match: str) -> list[str]:
    rule = "{{kind: Rule, match: 'Host(`{host}`){more}', services: [{{name: {to}, port: 80}}]}}"
    rules = (rule.format(host=HOST, more=f" && {match}", to="other"), rule.format(host=HOST, more="", to="web"))
    body = f"spec: {{entryPoints: [web], routes: [{', '.join(rules)}]}}"
    return [manifest("traefik.io/v1alpha1", "IngressRoute", "app", "shop", body)]


def virtual_service(match: str) -> list[str]:
    to = "{{destination: {{host: {}, port: {{number: 80}}}}}}"
    rules = f"[{{match: [{match}], route: [{to.format('other')}]}}, {{route: [{to.format('web')}]}}]"
    servers = "[{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]"
    door = f"spec: {{selector: {{istio: ingressgateway}}, servers: {servers}}}"
    return [
        manifest("networking.istio.io/v1", "Gateway", "door", "shop", door),
        manifest(
            "networking.istio.io/v1",
            "VirtualService",
            "app",
            "shop",
            f"spec: {{hosts: [{HOST}], gateways: [door], http: {rules}}}",
        ),
    ]


def virtual_server(path: str) -> list[str]:
    upstreams = "[{name: web, service: web, port: 80}, {name: other, service: other, port: 80}]"
    routes = f"[{{path: '{path}', action: {{pass: other}}}}, {{path: /, action: {{pass: web}}}}]"
    body = f"spec: {{host: {HOST}, upstreams: {upstreams}, routes: {routes}}}"
    return [manifest("k8s.nginx.org/v1", "VirtualServer", "app", "shop", body)]


def ingresses(path: str, kind: str, of_class: str) -> list[str]:
    return [ingress("app", f"{path} {kind} other, / Prefix web", HOST, of_class=of_class)]


PREFIXES = {
    **{name: routed(name, "{path: {value: '/api/${V}'}}") for name in CONTROLLERS},
    "Contour": proxy("{prefix: '/api/${V}'}"),
    "IngressRoute": ingress_route("PathPrefix(`/api/${V}`)"),
    "VirtualService": virtual_service("{uri: {prefix: '/api/${V}'}}"),
    "VirtualServer": virtual_server("/api/${V}"),
    **{f"Ingress of {name}": ingresses("/api/${V}", "Prefix", name) for name in ("nginx", "kong", "traefik", "alb")},
}
EXACT = {
    **{name: routed(name, "{path: {type: Exact, value: '/api/${V}'}}") for name in CONTROLLERS},
    "Contour": proxy("{exact: '/api/${V}'}"),
    "IngressRoute": ingress_route("Path(`/api/${V}`)"),
    "VirtualService": virtual_service("{uri: {exact: '/api/${V}'}}"),
    "VirtualServer": virtual_server("=/api/${V}"),
    **{f"Ingress of {name}": ingresses("/api/${V}", "Exact", name) for name in ("nginx", "kong", "traefik", "alb")},
}
EXPRESSIONS = {
    **{
        name: routed(name, "{path: {type: RegularExpression, value: '/api/${V}'}}")
        for name in CONTROLLERS
        if name != "Istio"  # which ranks prefixes before expressions, that of `/` too
    },
    "Contour": proxy("{regex: '/api/${V}'}"),
    "IngressRoute": ingress_route("PathRegexp(`^/api/${V}`)"),
    "VirtualService": virtual_service("{uri: {regex: '/api/${V}'}}"),
    "VirtualServer": virtual_server("~ ^/api/${V}"),
}
HEADERS = {
    **{name: routed(name, "{headers: [{name: h, value: 'pre-${V}'}]}") for name in CONTROLLERS},
    "Contour": proxy("{header: {name: h, exact: 'pre-${V}'}}"),
    "IngressRoute": ingress_route("Header(`h`, `pre-${V}`)"),
    "VirtualService": virtual_service("{headers: {h: {exact: 'pre-${V}'}}}"),
    "VirtualService, prefix": virtual_service("{headers: {h: {prefix: 'pre-${V}'}}}"),
}
QUERIES = {
    **{
        name: routed(name, "{queryParams: [{name: q, value: 'pre-${V}'}]}") for name in CONTROLLERS if name != "Traefik"
    },
    "Contour": proxy("{queryParameter: {name: q, exact: 'pre-${V}'}}"),
    "IngressRoute": ingress_route("Query(`q`, `pre-${V}`)"),
    "VirtualService": virtual_service("{queryParams: {q: {exact: 'pre-${V}'}}}"),
}


def world(folder: Path, manifests: list[str]) -> Simulation:
    simulation = opened(folder, *(service(name, "shop", "[{port: 80}]") for name in ("web", "other")), *manifests)
    tracer = Tracer(simulation)
    for entry in entries(tracer):
        for way in ways_in(tracer, entry):
            assert "$" not in way.trace.request.path + str(way.trace.request.headers)
    return simulation


def ends(simulation: Simulation, path: str, *headers: str) -> str:
    return answer(simulation, f"http://{HOST}{path}", headers=headers)[0]


@pytest.mark.parametrize("door", PREFIXES)
def test_a_prefix(tmp_path: Path, door: str) -> None:
    simulation = world(tmp_path, PREFIXES[door])
    assert [ends(simulation, path) for path in ("/api/v1/x", "/api/v1", "/apis/v1", "/")] == [
        *("not known", "not known", "web", "web")
    ]


@pytest.mark.parametrize("door", EXACT)
def test_an_exact_path(tmp_path: Path, door: str) -> None:
    simulation = world(tmp_path, EXACT[door])
    assert [ends(simulation, path) for path in ("/api/v1", "/apis/v1", "/")] == ["not known", "web", "web"]


@pytest.mark.parametrize("door", EXPRESSIONS)
def test_an_expression(tmp_path: Path, door: str) -> None:
    simulation = world(tmp_path, EXPRESSIONS[door])
    assert [ends(simulation, path) for path in ("/api/v1", "/web/v1", "/")] == ["not known", "web", "web"]


@pytest.mark.parametrize("door", HEADERS)
def test_a_header(tmp_path: Path, door: str) -> None:
    simulation = world(tmp_path, HEADERS[door])
    found = [ends(simulation, "/", *sent) for sent in (("h: pre-a",), ("h: post",), ())]
    assert found == ["not known", "web", "web"]


@pytest.mark.parametrize("door", QUERIES)
def test_a_query_parameter(tmp_path: Path, door: str) -> None:
    simulation = world(tmp_path, QUERIES[door])
    assert [ends(simulation, f"/{query}") for query in ("?q=pre-a", "?q=post", "")] == ["not known", "web", "web"]
