"""Over which protocol something comes in: a network policy that opens a number for UDP opens it for nothing else.

Asked of pods at their nodes, of published Services with one number for two protocols, and of listeners for UDP: `reach`
and GWP604 must say the same.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.reach.ways import all_ways
from tests.worlds import gateway, gateway_class, manifest, route, simulated

EG = "gateway.envoyproxy.io/gatewayclass-controller"


def pods(ports: str) -> str:
    spec = f"spec: {{containers: [{{name: c, image: 'example.com/a:1', ports: [{ports}]}}]}}"
    selector = "selector: {matchLabels: {app: a}}"
    return manifest(
        "apps/v1",
        "Deployment",
        "a",
        "shop",
        f"spec: {{{selector}, template: {{metadata: {{labels: {{app: a}}}}, {spec}}}}}",
    )


def policy(protocol: str, port: int, namespace: str = "shop") -> str:
    opened = f"ingress: [{{ports: [{{port: {port}, protocol: {protocol}}}]}}]"
    spec = f"spec: {{podSelector: {{}}, policyTypes: [Ingress], {opened}}}"
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "p", namespace, spec)


def service(more: str = "type: LoadBalancer, ") -> str:
    both = "[{name: tcp-dns, port: 53, protocol: TCP}, {name: dns, port: 53, protocol: UDP}]"
    return manifest("v1", "Service", "a", "shop", f"spec: {{{more}selector: {{app: a}}, ports: {both}}}")


AT_NODE = [pods("{containerPort: 5000, hostPort: 5000, protocol: UDP}")]
AT_NODE_TCP = [pods("{containerPort: 5000, hostPort: 5000, name: postgres}")]
BOTH = [pods("{containerPort: 53, protocol: UDP}, {containerPort: 53}"), service()]
LISTENER = [
    gateway_class(controller=EG),
    gateway(listeners="[{name: udp, port: 5353, protocol: UDP, allowedRoutes: {namespaces: {from: All}}}]"),
    manifest(
        "gateway.networking.k8s.io/v1alpha2",
        "UDPRoute",
        "a",
        "shop",
        "spec: {parentRefs: [{name: edge, namespace: infra}], rules: [{backendRefs: [{name: a, port: 53}]}]}",
    ),
    pods("{containerPort: 53, protocol: UDP}, {containerPort: 53}"),
    service(""),
]


@pytest.mark.parametrize(
    ("objects", "opened", "cut_off"),
    [
        (AT_NODE, [policy("UDP", 5000)], []),
        (AT_NODE, [policy("TCP", 5000)], ["udp"]),
        (AT_NODE_TCP, [policy("TCP", 5000)], []),
        (AT_NODE_TCP, [policy("UDP", 5000)], ["tcp"]),
        (BOTH, [policy("UDP", 53)], ["tcp"]),
        (BOTH, [policy("TCP", 53)], ["udp"]),
        (LISTENER, [policy("UDP", 53)], []),
        (LISTENER, [policy("TCP", 53)], ["udp"]),
        (LISTENER, [policy("UDP", 5353, "envoy-gateway-system"), policy("UDP", 5353, "infra")], []),
        (LISTENER, [policy("TCP", 5353, "envoy-gateway-system"), policy("TCP", 5353, "infra")], ["udp"]),
    ],
)
def test_what_is_open_for_one_protocol(objects: list[str], opened: list[str], cut_off: list[str]) -> None:
    simulation = simulated(*objects, *opened, gateway("other"), route(namespace="other"))
    ways = all_ways(simulation)
    found = [way.entry.scheme for way in ways if way.trace.is_cut_off]
    assert sorted(set(found)) == cut_off
    assert bool(list(run(simulation, select={"GWP604"}))) is bool(cut_off)
