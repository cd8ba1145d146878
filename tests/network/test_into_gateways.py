"""Workloads that ask for hosts of Gateways in their cluster, behind policies for what they send.

Source: cilium/cilium#39959.
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.worlds import gateway, gateway_class, manifest, route, service, simulated

CILIUM = manifest(
    "helm.toolkit.fluxcd.io/v2", "HelmRelease", "cilium", "kube-system",
    "spec: {chart: {spec: {chart: cilium, version: 1.18.2}}, values: {gatewayAPI: {enabled: true}}}",
)  # fmt: skip


def pods(name: str, namespace: str) -> str:
    template = f"template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: []}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, {template}}}"
    return manifest("apps/v1", "Deployment", name, namespace, spec)


def policy(egress: str) -> str:
    spec = f"spec: {{endpointSelector: {{}}, egress: [{egress}]}}"
    return manifest("cilium.io/v2", "CiliumNetworkPolicy", "own", "apps", spec)


DNS = (
    "{toEndpoints: [{matchLabels: {io.kubernetes.pod.namespace: kube-system, k8s-app: kube-dns}}], "
    'toPorts: [{ports: [{port: "53", protocol: ANY}]}]}'
)
PODS = DNS + ", {toEndpoints: [{matchLabels: {io.kubernetes.pod.namespace: shop}}]}"


@pytest.mark.parametrize(
    ("egress", "hostnames", "refused"),
    [
        (PODS, "[shop.example.com]", True),
        (PODS, "['*.example.com']", True),
        (PODS, "[other.example.com]", False),
        (PODS, "[]", False),  # a route for all hosts makes none of them the Gateway's
        (f"{PODS}, {{toEntities: [ingress]}}", "[shop.example.com]", False),
        ("{toEntities: [world]}", "[shop.example.com]", False),
        ("{toCIDR: [192.0.2.0/24]}", "[shop.example.com]", False),  # may be the load balancer's
    ],
)
def test_who_is_let_out_to_no_proxy(egress: str, hostnames: str, refused: bool) -> None:
    world = simulated(
        CILIUM, pods("client", "apps"), pods("checkout", "shop"),
        gateway_class("cilium", "io.cilium/gateway-controller"), gateway(of_class="cilium"),
        route(more=f"hostnames: {hostnames}"), service(more="selector: {app: checkout}"), policy(egress),
    )  # fmt: skip
    asked = from_url("GET", "http://shop.example.com/", client="Deployment/apps/client")
    ended = Tracer(world).trace(asked).outcome
    assert ended.refused == refused
    assert ("the proxies of Gateway infra/edge" in ended.reason) == refused
