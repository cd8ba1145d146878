"""By what objects beside Gateway API name ports of Services, as their controllers look for them; GWP415 and `trace`
say the same of each.

Source: ingress-nginx internal/ingress/controller/controller.go, serviceEndpoints; haproxy-ingress
pkg/converters/utils/services.go; AGIC pkg/appgw/backendhttpsettings.go; traefik pkg/provider/kubernetes/{ingress,crd};
openshift/router pkg/router/template/{plugin,template_helper}.go; istio pilot/pkg/networking/core/route/route.go.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.simulation import Simulation
from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

URL = "http://shop.example.com/"
PODS = "selector: {app: web}"
PORTS = "[{name: web, port: 80, targetPort: 8080}, {name: admin, port: 81, targetPort: http}]"


def told(world: Simulation) -> list[str]:
    return [each.message for each in run(world, select={"GWP415"})]


def check(world: Simulation, end: str) -> None:
    """Hold that a request ends so, and that lint tells what does not get to the Service."""
    assert answer(world, URL)[0] == end
    assert bool(told(world)) is (end != "web")


@pytest.mark.parametrize(
    ("of_class", "targets", "without"),
    [
        ("nginx", True, "503"),
        ("haproxy-ingress", True, "404"),
        ("azure-application-gateway", True, "None"),
        ("traefik", False, "404"),
        ("haproxy-tech", False, "404"),
        ("kong", False, "None"),
        ("anything", True, "None"),  # nobody knows what such a controller does
    ],
)
@pytest.mark.parametrize(
    ("port", "by"),
    [
        ("number: 80", "its own"),
        ("name: web", "its own"),
        ("number: 8080", "target"),
        ("name: http", "target"),
        ("number: 9090", "nothing"),
        ("name: other", "nothing"),
    ],
)
def test_of_ingresses(of_class: str, targets: bool, without: str, port: str, by: str) -> None:
    prefix = {"haproxy-ingress": "haproxy-ingress.github.io/", "haproxy-tech": "haproxy.org/"}.get(of_class, "")
    named = ingress(of_class=of_class.replace("haproxy-ingress", "haproxy").replace("haproxy-tech", "haproxy"))
    if prefix:
        named = named.replace("annotations: {}", f"annotations: {{{prefix}timeout-client: 5s}}")
    world = simulated(service("web", ports=PORTS, more=PODS), named.replace("number: 80", port))
    gets_there = by == "its own" or (by == "target" and targets)
    check(world, "web" if gets_there else without)


@pytest.mark.parametrize(
    ("ports", "more"),
    [
        ("[{name: web, port: '${PORT}'}]", PODS),
        ("'${PORTS}'", PODS),
        ("[{name: '${NAME}', port: 81}]", PODS),
        ("[{port: 81}]", "type: ExternalName, externalName: web.example.com"),
    ],
)
def test_ports_that_nobody_can_read_are_not_told(ports: str, more: str) -> None:
    named = ingress().replace("number: 80", "name: other")
    assert told(simulated(service("web", ports=ports, more=more), named)) == []


@pytest.mark.parametrize(
    ("port", "end"),
    [("80", "web"), ("web", "web"), ("other", "404"), ("8080", "404"), ("http", "404"), ('"80"', "404")],
)
def test_of_ingress_routes(port: str, end: str) -> None:
    """A text is the name of a port there, whatever its digits."""
    rule = f"{{match: 'Host(`shop.example.com`)', kind: Rule, services: [{{name: web, port: {port}}}]}}"
    router = manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", f"spec: {{routes: [{rule}]}}")
    check(simulated(service("web", ports=PORTS, more=PODS), router), end)


@pytest.mark.parametrize(
    ("port", "end"),
    [("web", "web"), ("8080", "web"), ('"8080"', "web"), ("admin", "web"), ("http", "503"), ('"81"', "503")],
)
def test_of_routes_of_openshift(port: str, end: str) -> None:
    """The router writes both as texts: the name of the Service's port, and the number at the pods."""
    ports = PORTS.replace("targetPort: http", "targetPort: 9090")
    body = f"spec: {{host: shop.example.com, to: {{kind: Service, name: web}}, port: {{targetPort: {port}}}}}"
    route = manifest("route.openshift.io/v1", "Route", "web", "shop", body)
    check(simulated(service("web", ports=ports, more=PODS), route), end)
    assert told(simulated(service("web", ports=ports), route)) == []  # who writes its endpoints says their ports


ENTRY = manifest(
    *("networking.istio.io/v1", "ServiceEntry", "web", "shop"),
    "spec: {hosts: [web.shop.svc.cluster.local], ports: [{number: 9090, name: http, protocol: HTTP}], resolution: DNS}",
)


@pytest.mark.parametrize(
    ("port", "more", "end"),
    [
        ("80", PODS, "web"),
        ("9090", PODS, "503"),
        ("9090", "type: ExternalName, externalName: web.example.com", "web"),
        ("9090", "clusterIP: None", "503"),  # a cluster is made for each port that it states
        ("'${PORT}'", PODS, "web"),
    ],
)
def test_of_destinations_of_istio(port: str, more: str, end: str) -> None:
    server = "{port: {number: 80, name: http, protocol: HTTP}, hosts: [shop.example.com]}"
    gateway = manifest(
        "networking.istio.io/v1", "Gateway", "edge", "shop", f"spec: {{servers: [{server}], selector: {{istio: a}}}}"
    )
    to = f"route: [{{destination: {{host: web, port: {{number: {port}}}}}}}]"
    virtual = manifest(
        *("networking.istio.io/v1", "VirtualService", "web", "shop"),
        f"spec: {{hosts: [shop.example.com], gateways: [edge], http: [{{{to}}}]}}",
    )
    check(simulated(service("web", ports=PORTS, more=more), gateway, virtual), end)
    check(simulated(service("web", ports=PORTS, more=more), gateway, virtual, ENTRY), "web")  # has that port as well


def test_a_destination_without_a_port_is_that_of_the_server() -> None:
    """Of a Service with several ports; where it does not have that one there is no cluster."""
    for port, end in ((80, "web"), (8000, "503")):
        server = f"{{port: {{number: {port}, name: http, protocol: HTTP}}, hosts: [shop.example.com]}}"
        gateway = manifest(
            *("networking.istio.io/v1", "Gateway", "edge", "shop"),
            f"spec: {{servers: [{server}], selector: {{istio: a}}}}",
        )
        virtual = manifest(
            *("networking.istio.io/v1", "VirtualService", "web", "shop"),
            "spec: {hosts: [shop.example.com], gateways: [edge], http: [{route: [{destination: {host: web}}]}]}",
        )
        world = simulated(service("web", ports=PORTS, more=PODS), gateway, virtual)
        assert answer(world, f"http://shop.example.com:{port}/")[0] == end


def test_a_name_for_a_host_has_every_port() -> None:
    outside = service("web", ports="[{port: 80}]", more="type: ExternalName, externalName: web.example.com")
    check(simulated(outside, ingress().replace("number: 80", "number: 8443")), "web")
    rule = "{match: 'Host(`shop.example.com`)', kind: Rule, services: [{name: web, port: 8443}]}"
    router = manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", f"spec: {{routes: [{rule}]}}")
    allowed = manifest(
        *("apps/v1", "Deployment", "traefik", "traefik"),
        "spec: {selector: {matchLabels: {app.kubernetes.io/name: traefik}}, template: {metadata: {labels: "
        "{app.kubernetes.io/name: traefik}}, spec: {containers: [{name: traefik, image: traefik:v3.3, args: "
        "[--providers.kubernetescrd, --providers.kubernetescrd.allowexternalnameservices=true]}]}}}",
    )
    assert answer(simulated(outside, router, allowed), URL)[0] == "web"
