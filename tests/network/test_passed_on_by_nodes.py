"""Clients whom nodes pass on to pods with their own address, which no block holds for Cilium (cilium/cilium#18746)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

PODS = manifest(
    "apps/v1", "Deployment", "web", "shop",
    "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {"
    "containers: [{name: web, image: 'web:1', ports: [{containerPort: 80}]}]}}}",
)  # fmt: skip


def cilium(values: str = "{}") -> str:
    spec = f"spec: {{chart: {{spec: {{chart: cilium, version: 1.18.2}}}}, values: {values}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "cilium", "kube-system", spec)


def published(kind: str = "LoadBalancer", more: str = "") -> str:
    return service("web", "shop", more=f"selector: {{app: web}}, type: {kind}{more}")


def policy(*peers: str) -> str:
    spec = f"spec: {{podSelector: {{}}, policyTypes: [Ingress], ingress: [{{from: [{', '.join(peers)}]}}]}}"
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "shop", spec)


def entities(*names: str) -> str:
    spec = f"spec: {{endpointSelector: {{}}, ingress: [{{fromEntities: [{', '.join(names)}]}}]}}"
    return manifest("cilium.io/v2", "CiliumNetworkPolicy", "own", "shop", spec)


EVERYBODY, SPACES = "{ipBlock: {cidr: 0.0.0.0/0}}", "{namespaceSelector: {}}"


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ((cilium(), published(), policy(EVERYBODY)), True),
        ((cilium(), published("NodePort", ", ports: [{port: 80, nodePort: 30080}]"), policy(EVERYBODY, SPACES)), True),
        ((cilium(), published(), entities("world")), True),
        ((cilium(), published(), entities("world", "remote-node")), False),
        ((cilium(), published(), entities("all")), False),
        ((cilium(), published(more=", externalTrafficPolicy: Local"), policy(EVERYBODY)), False),
        ((cilium("{loadBalancer: {mode: dsr}}"), published(), policy(EVERYBODY)), False),
        ((published(), policy(EVERYBODY)), False),  # another plugin
        ((cilium(), published()), False),
    ],
)
def test_who_comes_by_another_node_is_turned_away(objects: tuple[str, ...], told: bool) -> None:
    world = simulated(PODS, *objects)
    assert [each.rule for each in run(world, select={"GWP604"})] == (["GWP604"] if told else [])
    port = 30080 if "30080" in objects[-2] else 80
    ended = Tracer(world).trace(from_url("GET", f"http://a.example:{port}/", client="203.0.113.9"))
    assert any(hop.by_node for way in [ended.network] if way is not None for hop in way.hops) == told
    named = Tracer(world).trace(from_url("GET", "http://web.shop/", client="203.0.113.9", service="web"))
    assert any(hop.by_node for way in [named.network] if way is not None for hop in way.hops) == told


def parameters(kept: str) -> str:
    spec = f"spec: {{provider: {{type: Kubernetes, kubernetes: {{envoyService: {{externalTrafficPolicy: {kept}}}}}}}}}"
    return manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "own", "infra", spec)


PARAMETERS = "infrastructure: {parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: own}}"


@pytest.mark.parametrize(("kept", "told"), [("Cluster", True), ("Local", False), ("", False)])
def test_proxies_of_gateways_are_pods_too(kept: str, told: bool) -> None:
    """Envoy Gateway's Service keeps the addresses of clients where nothing says otherwise."""
    spec = f"spec: {{podSelector: {{}}, policyTypes: [Ingress], ingress: [{{from: [{EVERYBODY}]}}]}}"
    at_proxies = manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "envoy-gateway-system", spec)
    objects = [
        cilium(),
        gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway(of_class="eg", more=PARAMETERS if kept else ""),
        at_proxies,
    ]
    objects += [route(), service(), parameters(kept or "Local")]
    found = list(run(simulated(*objects), select={"GWP604"}))
    assert [each.severity for each in found] == (["note"] if told else [])
    assert all("the clients of Gateway infra/edge" in each.message for each in found)
