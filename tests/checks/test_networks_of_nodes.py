"""GWP622: networks that are to be the API server, where Cilium has an entity for it (cilium/cilium#20550)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.checks.linting import lint

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web}]}}
---
"""
CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {%s}
---
"""
CHART = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec: {chart: {spec: {chart: cilium}}, values: {%s}}
---
"""
PLAIN, NODES = "enable-policy: default", "policy-cidr-match-mode: nodes"
ADDRESS = "to: [{ipBlock: {cidr: 10.0.0.1/32}}]"


def policy(*rules: str) -> str:
    spec = f"spec: {{podSelector: {{}}, policyTypes: [Egress], egress: [{', '.join(rules)}]}}"
    return (
        f"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: p, namespace: shop}}\n{spec}\n---\n"
    )


def cilium(*rules: str) -> str:
    spec = f"spec: {{endpointSelector: {{}}, egress: [{', '.join(rules)}]}}"
    return f"apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {{name: c, namespace: shop}}\n{spec}\n---\n"


def rule(peers: str = ADDRESS, port: int = 6443) -> str:
    return f"{{{peers}, ports: [{{port: {port}, protocol: TCP}}]}}"


BY_CIDR = "{toCIDR: [10.0.0.1/32], toPorts: [{ports: [{port: '6443', protocol: TCP}]}]}"
BY_ENTITY = "{toEntities: [kube-apiserver]}"


@pytest.mark.parametrize(
    ("manifests", "told"),
    [
        ((CONFIG % PLAIN, policy(rule())), 1),
        ((CONFIG % PLAIN, policy(rule("to: [{ipBlock: {cidr: 10.0.0.0/8}}]"))), 1),
        ((CONFIG % PLAIN, cilium(BY_CIDR)), 1),
        ((CHART % "ipam: {mode: kubernetes}", policy(rule())), 1),
        # networks may be nodes; another plugin; another port; other peers; and an entity that is open beside it
        ((CONFIG % NODES, policy(rule())), 0),
        ((CHART % "policyCIDRMatchMode: [nodes]", policy(rule())), 0),
        ((CHART % "policyCIDRMatchMode: nodes", policy(rule())), 0),  # `join` of the chart takes a text as a list of it
        ((CHART % "policyCIDRMatchMode: ''", policy(rule())), 1),
        ((policy(rule()),), 0),
        ((CONFIG % PLAIN, policy(rule(port=443))), 0),
        ((CONFIG % PLAIN, policy(rule("to: [{namespaceSelector: {}}]"))), 0),
        ((CONFIG % PLAIN, policy(rule(), "{to: [{podSelector: {}}]}")), 1),
        ((CONFIG % PLAIN, policy(rule()), cilium(BY_ENTITY)), 0),
    ],
)
def test_networks_at_the_port_of_the_api_server(tmp_path: Path, manifests: tuple[str, ...], told: int) -> None:
    found = [each for each in lint(tmp_path, WEB + "".join(manifests)) if each.rule == "GWP622"]
    assert [each.confidence for each in found] == ["assumed"] * told


BY_ARGO = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: cilium, namespace: argocd}
spec:
  project: default
  destination: {server: "https://kubernetes.default.svc", namespace: kube-system}
  sources:
    - {repoURL: "https://helm.cilium.io/", chart: cilium, targetRevision: 1.18.0, helm: {valueFiles: [%s]%s}}
    - {repoURL: "https://git.example.com/site", targetRevision: main, ref: own}
    - {repoURL: "https://git.example.com/site", targetRevision: main, path: web}
"""


@pytest.mark.parametrize(
    ("files", "inline", "content", "told"),
    [
        ("$own/own.yaml", "", "policyCIDRMatchMode: [nodes]", 0),
        ("$own/own.yaml", "", "policyCIDRMatchMode: ''", 1),
        ("$own/own.yaml", ", valuesObject: {policyCIDRMatchMode: [nodes]}", "policyCIDRMatchMode: ''", 0),
        ("$own/own.yaml", ", valuesObject: {policyCIDRMatchMode: ''}", "policyCIDRMatchMode: [nodes]", 1),
        ("$own/other.yaml, $own/own.yaml", ", values: 'debug: {enabled: true}'", "policyCIDRMatchMode: [nodes]", 0),
    ],
)
def test_values_of_the_chart_in_files(tmp_path: Path, files: str, inline: str, content: str, told: int) -> None:
    written = {"app.yaml": BY_ARGO % (files, inline), "web/web.yaml": WEB + policy(rule())}
    written |= {"own.yaml": f"{content}\n", "other.yaml": "ipam: {mode: kubernetes}\n"}
    for path, text in written.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = [each.rule for each in open_workspace([str(tmp_path)]).findings() if each.severity != "note"]
    assert found.count("GWP622") == told
