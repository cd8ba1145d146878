"""Routes of OpenShift: where TLS ends, what becomes of requests without it, whose address is let in."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated

PORTS = "[{name: web, port: 80, targetPort: 8080}, {name: admin, port: 81, targetPort: 9090}]"
PODS = "selector: {app: web}"


def route(more: str = "", name: str = "web", path: str = "", to: str = "web", note: str = "") -> str:
    fields = ["host: shop.example.com", path and f"path: {path}", f"to: {{kind: Service, name: {to}}}", more]
    spec = f"spec: {{{', '.join(filter(None, fields))}}}"
    notes = note and f"annotations: {{haproxy.router.openshift.io/{note}}}"
    return manifest("route.openshift.io/v1", "Route", name, "shop", spec, more=notes)


def edge(insecure: str = "") -> str:
    return f"tls: {{termination: edge{insecure and f', insecureEdgeTerminationPolicy: {insecure}'}}}"


HTTP, HTTPS = "http://shop.example.com/", "https://shop.example.com/"


@pytest.mark.parametrize(
    ("routes", "url", "client", "end"),
    [
        ((route(),), HTTP, "", "web"),
        ((route(),), HTTPS, "", "404"),
        ((route(edge()),), HTTPS, "", "web"),
        ((route(edge()),), HTTP, "", "404"),
        ((route(edge("Allow")),), HTTP, "", "web"),
        ((route(edge("Redirect")),), HTTP, "", "302 https://shop.example.com/"),
        ((route(), route(name="admin", path="/admin", to="next")), f"{HTTP}admin/x", "", "next"),
        ((route(), route(name="admin", path="/admin", to="next")), f"{HTTP}administration", "", "web"),
        ((route("alternateBackends: [{name: next, weight: 100}]"),), HTTP, "", "next 50%, web 50%"),
        ((route(note="ip_whitelist: 10.0.0.0/8 192.168.1.1"),), HTTP, "192.168.1.1", "web"),
        ((route(note="ip_allowlist: 10.0.0.0/8 192.168.1.1"),), HTTP, "203.0.113.9", "403"),
        ((route("wildcardPolicy: Subdomain"),), "http://other.example.com/", "", "web"),
        ((route("port: {targetPort: admin}"),), HTTP, "", "web"),
        ((route("port: {targetPort: metrics}"),), HTTP, "", "503"),
        ((route("port: {targetPort: 81}"),), HTTP, "", "503"),  # it is the port of the pods
    ],
)
def test_routes(routes: tuple[str, ...], url: str, client: str, end: str) -> None:
    simulation = simulated(service("web", ports=PORTS, more=PODS), service("next"), *routes)
    assert answer(simulation, url, client) == (end, "")


def test_the_router_makes_up_hosts() -> None:
    named = route("subdomain: shop", "named").replace("host: shop.example.com, ", "")
    simulation = simulated(
        service("web", ports=PORTS, more=PODS), route().replace("host: shop.example.com, ", ""), named
    )
    assert answer(simulation, "http://web-shop.${ROUTER_DOMAIN}/") == ("web", "")
    assert answer(simulation, "http://shop.${ROUTER_DOMAIN}/") == ("web", "")


@pytest.mark.parametrize(
    ("ports", "wanted", "told"),
    [
        (PORTS, "metrics", True),
        (PORTS, "admin", False),
        (PORTS, "9090", False),
        (PORTS, "81", True),
        ("[{port: 80}]", "80", False),
        ("[{port: 80, targetPort: http}]", "8080", False),  # the pods say which number that is
        ("[{name: '${NAME}', port: 80}]", "metrics", False),
    ],
)
def test_ports_that_no_service_has_are_told(ports: str, wanted: str, told: bool) -> None:
    simulation = simulated(service("web", ports=ports, more=PODS), route(f"port: {{targetPort: {wanted}}}"))
    assert [each.rule for each in run(simulation, select={"GWP415"})] == (["GWP415"] if told else [])
