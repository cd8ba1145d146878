"""GWP624: what the port of a mesh's tunnel opens beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

PODS = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, %s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web:1}]}}
---
"""
POLICY = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: %s, namespace: shop}
spec: {podSelector: {}, policyTypes: [Ingress], ingress: [%s]}
---
"""
AMBIENT, LINKERD = "labels: {istio.io/dataplane-mode: ambient}", "annotations: {linkerd.io/inject: enabled}"
SIDECARS = "labels: {istio-injection: enabled}"
PEERS = "from: [{podSelector: {}}]"


def rule(port: int, more: str = PEERS) -> str:
    return f"{{{more}, ports: [{{port: {port}}}]}}"


@pytest.mark.parametrize(
    ("around", "rules", "confidence"),
    [
        (AMBIENT, (rule(15008), rule(8080)), ["certain"]),
        (AMBIENT, (f"{rule(8080)}, {rule(15008)}",), ["certain"]),
        (LINKERD, (rule(4143), rule(8080)), ["assumed"]),
        (AMBIENT, (f"{{{PEERS}, ports: [{{port: 8080}}, {{port: 15008}}]}}",), ["certain"]),
        (LINKERD, (rule(15008), rule(8080)), []),
        (AMBIENT, (rule(15008),), []),  # nothing else says that single ports are meant
        (AMBIENT, (f"{{{PEERS}}}", rule(8080)), []),  # opens every port and says so
        (AMBIENT, (f"{{{PEERS}, ports: [{{port: 1, endPort: 20000}}]}}", rule(15008)), []),
        (SIDECARS, (rule(15008), rule(8080)), []),
        ("labels: {}", (rule(15008), rule(8080)), []),
    ],
)
def test_the_port_of_a_tunnel(tmp_path: Path, around: str, rules: tuple[str, ...], confidence: list[str]) -> None:
    policies = "".join(POLICY % (f"p{number}", each) for number, each in enumerate(rules))
    (tmp_path / "all.yaml").write_text(PODS % around + policies)
    found = open_workspace([str(tmp_path)]).findings()
    assert [each.confidence for each in found if each.rule == "GWP624"] == confidence


@pytest.mark.parametrize(
    ("around", "ports", "is_told"),
    [
        (AMBIENT, "{port: 8080}, {port: 15008}", True),
        (LINKERD, "{port: 8080}, {port: 4143}", True),
        (AMBIENT, "{port: 15008}", False),
        ("labels: {}", "{port: 8080}, {port: 15008}", False),
    ],
)
def test_the_port_of_a_tunnel_on_the_way_out(tmp_path: Path, around: str, ports: str, is_told: bool) -> None:
    policy = POLICY % ("out", f"{{to: [{{podSelector: {{}}}}], ports: [{ports}]}}")
    policy = policy.replace("[Ingress], ingress", "[Egress], egress")
    (tmp_path / "all.yaml").write_text(PODS % around + policy)
    found = [each.message for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP624"]
    assert bool(found) is is_told
    assert all("to its pods, with port" in each and "egress[0]" in each for each in found)


def test_the_port_of_a_tunnel_in_a_policy_of_cilium(tmp_path: Path) -> None:
    ports = "{port: '8080', protocol: TCP}, {port: '15008', protocol: TCP}"
    rule = f"{{fromEndpoints: [{{}}], toPorts: [{{ports: [{ports}]}}]}}"
    head = "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: own, namespace: shop}\n"
    (tmp_path / "all.yaml").write_text(PODS % AMBIENT + head + f"spec: {{endpointSelector: {{}}, ingress: [{rule}]}}\n")
    assert [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP624"]
