"""A variable in the place of a list or an object may be anything, and is not none."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

GATEWAY = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: main, namespace: shop}
spec:
  selector: {istio: ingressgateway}
  servers:
  - port: {number: 80, name: http, protocol: HTTP}
    hosts: HOSTS
"""
VIRTUAL_SERVICE = """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec:
  hosts: [shop.example.com]
  http: HOSTS
"""
PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - host: shop.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
"""
POLICIES = {
    "NetworkPolicy": """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress], ingress: HOSTS}
""",
    "CiliumNetworkPolicy": """
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: web, namespace: shop}
spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: HOSTS}]}
""",
    "GlobalNetworkPolicy": """
apiVersion: crd.projectcalico.org/v1
kind: GlobalNetworkPolicy
metadata: {name: web}
spec: {selector: app == 'web', types: [Ingress], ingress: HOSTS}
""",
    "AdminNetworkPolicy": """
apiVersion: policy.networking.k8s.io/v1alpha1
kind: AdminNetworkPolicy
metadata: {name: web}
spec:
  priority: 10
  subject: {namespaces: {}}
  ingress: [{name: all, action: Deny, from: HOSTS}]
""",
}
NOTHING, VARIABLE = "[]", "${HOSTS}"


def said(folder: Path, text: str, hosts: str, family: str) -> set[str]:
    """How sure the findings are that are more than a note."""
    (folder / "all.yaml").write_text(text.replace("HOSTS", hosts))
    found = open_workspace([str(folder)]).findings()
    return {each.confidence for each in found if each.rule.startswith(family)}


@pytest.mark.parametrize("text", [GATEWAY, VIRTUAL_SERVICE], ids=["Gateway", "VirtualService"])
def test_a_variable_is_no_empty_list(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text, NOTHING, "GWP415") == {"certain"}
    assert said(tmp_path, text, VARIABLE, "GWP415") <= {"unknown"}


@pytest.mark.parametrize("kind", POLICIES)
def test_rules_that_a_variable_stands_for_turn_nobody_away(tmp_path: Path, kind: str) -> None:
    assert said(tmp_path, PODS + POLICIES[kind], VARIABLE, "GWP6") <= {"unknown"}


@pytest.mark.parametrize("kind", sorted(POLICIES.keys() - {"AdminNetworkPolicy"}))
def test_no_rule_turns_everybody_away(tmp_path: Path, kind: str) -> None:
    assert said(tmp_path, PODS + POLICIES[kind], NOTHING, "GWP6") - {"unknown"}


def test_a_variable_in_a_name_opens_nothing(tmp_path: Path) -> None:
    text = GATEWAY.replace("HOSTS", "[]").replace("name: main", "name: main, labels: {app: '${HOSTS}'}")
    assert said(tmp_path, text, "", "GWP415") == {"certain"}
