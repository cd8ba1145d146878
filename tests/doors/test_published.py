"""Services that are published by themselves, and pods at their nodes: who gets there, and who is kept out."""

from __future__ import annotations

import pytest

from policylint.doors import with_doors
from tests.doors.asking import answer
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated


def deployment(pod: str = "", ports: str = "[{containerPort: 8080}]") -> str:
    template = f"{{metadata: {{labels: {{app: web}}}}, spec: {{{pod}containers: [{{name: a, ports: {ports}}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: web}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", "web", "shop", spec)


def of_type(kind: str, more: str = "", port: str = "{name: http, port: 80, targetPort: 8080}") -> str:
    return service("web", ports=f"[{port}]", more=f"type: {kind}, selector: {{app: web}}{more and f', {more}'}")


CLOSED = manifest("networking.k8s.io/v1", "NetworkPolicy", "closed", "shop", "spec: {podSelector: {}}")
RANGES = "loadBalancerSourceRanges: [10.0.0.0/8]"


@pytest.mark.parametrize(
    ("manifests", "door", "url", "client", "end"),
    [
        ((of_type("LoadBalancer"),), "LoadBalancer", "http://x/", "", "web"),
        ((of_type("LoadBalancer", RANGES),), "LoadBalancer", "http://x/", "10.1.1.1", "web"),
        ((of_type("LoadBalancer", RANGES),), "LoadBalancer", "http://x/", "203.0.113.9", "refused"),
        (
            (of_type("NodePort", port="{name: http, port: 80, nodePort: 30080}"),),
            "NodePort",
            "http://x:30080/",
            "",
            "web",
        ),
        ((of_type("NodePort", port="{name: http, port: 80}"),), "NodePort", "http://x:0/", "", "web"),
        ((of_type("ClusterIP", "externalIPs: [192.0.2.1]"),), "ExternalIP", "http://x/", "", "web"),
        ((of_type("LoadBalancer", port="{name: mysql, port: 3306}"),), "LoadBalancer", "tcp://x:3306", "", "web"),
        (
            (of_type("LoadBalancer", port="{name: dns, port: 53, protocol: UDP}"),),
            "LoadBalancer",
            "udp://x:53",
            "",
            "web",
        ),
        ((of_type("LoadBalancer", port="{name: mqtt, port: 31883}"),), "LoadBalancer", "tcp://x:31883", "", "web"),
        ((of_type("LoadBalancer", port="{name: db, port: 5432}"),), "LoadBalancer", "tcp://x:5432", "", "web"),
        (
            (of_type("LoadBalancer", port="{port: 31000, targetPort: 6379}"),),
            "LoadBalancer",
            "tcp://x:31000",
            "",
            "web",
        ),
        # a registered number says more than the name that charts give to the first port; appProtocol says most
        ((of_type("LoadBalancer", port="{name: http, port: 25}"),), "LoadBalancer", "tcp://x:25", "", "web"),
        (
            (of_type("LoadBalancer", port="{appProtocol: http, port: 25}"),),
            "LoadBalancer",
            "http://x:25/",
            "",
            "web",
        ),
        ((of_type("LoadBalancer", port="{name: games-tcp, port: 81}"),), "LoadBalancer", "tcp://x:81", "", "web"),
        ((deployment(ports="[{containerPort: 8080, hostPort: 80}]"),), "HostPort", "http://x/", "", "web"),
        ((deployment("hostNetwork: true, "),), "HostNetwork", "http://x:8080/", "", "web"),
        ((of_type("LoadBalancer"), deployment(), CLOSED), "LoadBalancer", "http://x/", "", "refused"),
        ((deployment("hostNetwork: true, "), CLOSED), "HostNetwork", "http://x:8080/", "", "web"),
    ],
)
def test_doors(manifests: tuple[str, ...], door: str, url: str, client: str, end: str) -> None:
    assert answer(simulated(*manifests), url, client, gateway=f"{door}/shop/web") == (end, "")


@pytest.mark.parametrize(
    "manifests",
    [(service("web"), deployment()), (of_type("ClusterIP"),), (of_type("ExternalName", "externalName: a"),)],
)
def test_what_is_no_door_costs_nothing(manifests: tuple[str, ...]) -> None:
    simulation = simulated(*manifests)
    assert with_doors(simulation) is simulation


def test_a_request_that_names_no_door_is_asked_of_gateways() -> None:
    """A Service that is published has an address of its own, which no name of a host tells."""
    routed = route("web", more="hostnames: [shop.example.com], rules: [{backendRefs: [{name: web, port: 80}]}]")
    simulation = simulated(gateway_class(), gateway(), routed, of_type("LoadBalancer"))
    assert answer(simulation, "http://shop.example.com/") == ("web", "")
    assert answer(simulation, "http://other.example.com/") == ("404", "")


def test_the_rules_of_the_linter_see_gateway_api_alone() -> None:
    simulation = simulated(of_type("LoadBalancer"))
    assert simulation.topology.gateways == []
    assert [state.gateway.key.kind for state in with_doors(simulation).topology.gateways] == ["LoadBalancer"]
