"""GWP604 wherever requests come in, though nothing else of routes or Ingresses is in the tree."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.worlds import manifest, service, simulated

PODS = manifest(
    "apps/v1", "Deployment", "web", "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {"
    "containers: [{name: web, image: 'web:1', ports: [{containerPort: 80}]}]}}}",
)  # fmt: skip
SHUT = manifest(
    "networking.k8s.io/v1", "NetworkPolicy", "shut", "shop", "spec: {podSelector: {}, policyTypes: [Ingress]}"
)
SELECTED = "selector: {app: web}"


def proxies(namespace: str, image: str, args: str = "") -> str:
    spec = f"spec: {{containers: [{{name: p, image: '{image}', args: [{args}]}}]}}"
    template = f"template: {{metadata: {{labels: {{app: p}}}}, {spec}}}"
    return manifest(
        "apps/v1", "Deployment", "p", namespace, f"spec: {{selector: {{matchLabels: {{app: p}}}}, {template}}}"
    )


def at_node(port: str) -> str:
    return PODS.replace("{containerPort: 80}", port)


ROUTER = manifest(
    "traefik.io/v1alpha1", "IngressRoute", "web", "shop",
    "spec: {routes: [{kind: Rule, match: 'Host(`a.example`)', services: [{name: web, port: 80}]}]}",
)  # fmt: skip
VIRTUAL_HOST = manifest(
    "projectcontour.io/v1", "HTTPProxy", "web", "shop",
    "spec: {virtualhost: {fqdn: a.example}, routes: [{services: [{name: web, port: 80}]}]}",
)  # fmt: skip
SERVER = manifest(
    "k8s.nginx.org/v1", "VirtualServer", "web", "shop",
    "spec: {host: a.example, upstreams: [{name: w, service: web, port: 80}], routes: [{path: /, action: {pass: w}}]}",
)  # fmt: skip


STREAM = manifest(
    "k8s.nginx.org/v1", "TransportServer", "web", "shop",
    "spec: {listener: {name: a, protocol: TCP}, upstreams: [{name: w, service: web, port: 80}], action: {pass: w}}",
)  # fmt: skip
CONNECTIONS = manifest(
    "configuration.konghq.com/v1beta1", "TCPIngress", "web", "shop",
    "spec: {rules: [{port: 9000, backend: {serviceName: web, servicePort: 80}}]}",
)  # fmt: skip
FRONTEND = manifest(
    "ingress.v1.haproxy.org/v1", "TCP", "web", "shop",
    "spec: [{name: a, frontend: {name: a, binds: [{port: 9000}]}, service: {name: web, port: 80}}]",
)  # fmt: skip


@pytest.mark.parametrize(
    "objects",
    [
        (PODS, service("web", "shop", more=SELECTED), ROUTER, proxies("traefik", "traefik:v3.3")),
        (
            PODS,
            service("web", "shop", more=SELECTED),
            VIRTUAL_HOST,
            proxies("projectcontour", "ghcr.io/projectcontour/contour:v1.30.0", "envoy, shutdown-manager"),
        ),
        (PODS, service("web", "shop", more=SELECTED), SERVER, proxies("nginx-ingress", "nginx/nginx-ingress:4.0.0")),
        (PODS, service("web", "shop", more=SELECTED), STREAM, proxies("nginx-ingress", "nginx/nginx-ingress:4.0.0")),
        (PODS, service("web", "shop", more=SELECTED), CONNECTIONS, proxies("kong", "kong:3.9")),
        (
            PODS,
            service("web", "shop", more=SELECTED),
            FRONTEND,
            proxies("haproxy", "haproxytech/kubernetes-ingress:3.1.0"),
        ),
        (PODS, service("web", "shop", more=f"{SELECTED}, type: LoadBalancer")),
        (PODS, service("web", "shop", more=f"{SELECTED}, type: NodePort")),
        (at_node("{containerPort: 80, hostPort: 80}"),),
    ],
    ids=[
        "IngressRoute",
        "HTTPProxy",
        "VirtualServer",
        "TransportServer",
        "TCPIngress",
        "TCP",
        "LoadBalancer",
        "NodePort",
        "hostPort",
    ],
)
def test_whatever_they_come_in_by(objects: tuple[str, ...]) -> None:
    assert [each.rule for each in run(simulated(*objects, SHUT), select={"GWP604"})] == ["GWP604"]
    assert [each.rule for each in run(simulated(*objects), select={"GWP604"})] == []


@pytest.mark.parametrize(
    ("peers", "rules"),
    [
        ("[{namespaceSelector: {}}]", []),
        ("[{podSelector: {}}]", []),
        ("[{ipBlock: {cidr: 0.0.0.0/0}}]", []),
        ("", ["GWP604"]),
    ],
)
def test_a_port_at_a_node_keeps_the_clients_address(peers: str, rules: list[str]) -> None:
    """Agents have one for the pods of their node: whoever lets pods in may mean no client."""
    let_in = f", ingress: [{{from: {peers}}}]" if peers else ""
    policy = manifest(
        "networking.k8s.io/v1", "NetworkPolicy", "own", "shop",
        f"spec: {{podSelector: {{}}, policyTypes: [Ingress]{let_in}}}",
    )  # fmt: skip
    world = simulated(at_node("{containerPort: 80, hostPort: 80}"), policy)
    assert [each.rule for each in run(world, select={"GWP604"})] == rules
    ended = Tracer(world).trace(from_url("GET", "http://a.example/", client="203.0.113.9")).outcome
    assert (ended.refused, ended.unknown) == ("0.0.0.0/0" not in peers, False)
