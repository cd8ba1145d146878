"""GWP528: weights that Argo Rollouts writes and Argo CD takes back (argo-rollouts docs, «Integrating with GitOps»)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import Finding
from policylint.report.trace.environments import trace_requests
from policylint.trace import Request
from policylint.workspace import open_workspace
from tests import worlds

TWO = "[{name: stable, port: 80, weight: 100}, {name: canary, port: 80, weight: 0}]"
ROUTE = worlds.route("cart", more=f"rules: [{{backendRefs: {TWO}}}]")
SHARES = "[{destination: {host: stable}, weight: 100}, {destination: {host: canary}, weight: 0}]"
VIRTUAL = worlds.manifest(
    "networking.istio.io/v1", "VirtualService", "cart", "shop", f"spec: {{hosts: [cart], http: [{{route: {SHARES}}}]}}"
)
PLUGIN = "plugins: {argoproj-labs/gatewayAPI: %s}"


def rollout(routing: str, namespace: str = "shop") -> str:
    pods = "template: {metadata: {labels: {app: cart}}, spec: {containers: [{name: cart}]}}"
    canary = f"strategy: {{canary: {{trafficRouting: {{{routing}}}}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: cart}}}}, {pods}, {canary}}}"
    return worlds.manifest("argoproj.io/v1alpha1", "Rollout", "cart", namespace, spec)


def application(policy: str = "automated: {selfHeal: true}", ignored: str = "", path: str = "shop") -> str:
    return f"""apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd}}
spec:
  source: {{repoURL: https://git.example.com/x.git, path: {path}, targetRevision: HEAD}}
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  syncPolicy: {{{policy}}}
  ignoreDifferences: [{ignored}]
"""


def found(folder: Path, owner: str, *deployed: str) -> list[Finding]:
    for name, text in {"apps/shop.yaml": owner, "shop/all.yaml": "---\n".join(deployed)}.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
    return [each for each in open_workspace([str(folder)]).findings() if each.rule == "GWP528"]


@pytest.mark.parametrize(
    ("route", "routing"),
    [
        (ROUTE, PLUGIN % "{httpRoute: cart, namespace: shop}"),
        (ROUTE, PLUGIN % "{httpRoute: cart}"),
        (ROUTE, PLUGIN % "{httpRoutes: [{name: other}, {name: cart}]}"),
        (ROUTE.replace("HTTPRoute", "GRPCRoute"), PLUGIN % "{grpcRoutes: [{name: cart}]}"),
        (VIRTUAL, "istio: {virtualService: {name: cart}}"),
        (VIRTUAL, "istio: {virtualServices: [{name: cart, routes: [primary]}]}"),
    ],
)
def test_routes_that_a_rollout_names(tmp_path: Path, route: str, routing: str) -> None:
    [said] = found(tmp_path, application(), route, rollout(routing))
    assert (said.severity, said.confidence) == ("warning", "assumed")
    assert said.message.startswith("Application argocd/shop takes back the weights that Rollout shop/cart gives to ")


HTTP = PLUGIN % "{httpRoute: cart, namespace: shop}"
OF_ROUTES = "group: gateway.networking.k8s.io, kind: HTTPRoute"


@pytest.mark.parametrize(
    ("owner", "severities"),
    [
        (application("automated: {}"), ["note"]),
        (application(""), ["note"]),
        (application("automated: {selfHeal: true, enabled: false}"), ["note"]),
        (application(path="other"), []),
        (application(ignored=f"{{{OF_ROUTES}, jqPathExpressions: ['.spec.rules']}}"), []),
        (application(ignored="{group: '*', kind: '*', managedFieldsManagers: [rollouts-controller]}"), []),
        (application(ignored=f"{{{OF_ROUTES}, name: other, jsonPointers: [/spec/rules]}}"), ["warning"]),
        (application(ignored="{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}"), ["warning"]),
    ],
)
def test_who_leaves_them_alone(tmp_path: Path, owner: str, severities: list[str]) -> None:
    assert [each.severity for each in found(tmp_path, owner, ROUTE, rollout(HTTP))] == severities


def test_a_route_of_another_namespace(tmp_path: Path) -> None:
    assert not found(tmp_path, application(), ROUTE, rollout(PLUGIN % "{httpRoute: cart}", "elsewhere"))


def test_trace_says_whose_weights_they_are() -> None:
    base = worlds.gateway_class(), worlds.gateway(), ROUTE, worlds.service("stable"), worlds.service("canary")
    request = Request(host="shop.example.com", port=80)
    for writers, said in (((rollout(HTTP),), True), ((), False)):
        [traced] = trace_requests([worlds.simulated(*base, *writers)], [(request, {})])
        assert ("Rollout shop/cart writes these weights during a release" in traced.trace.notes) == said
