"""GWP314 where a load balancer checks the health of another Gateway's proxies by a request that no route there takes.

Source: kubernetes-sigs/aws-load-balancer-controller#4400; docs of both controllers: the Host of a health check is the
address of the target, unless it is set (GKE, HealthCheckPolicy `host`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import Said, lint
from tests.worlds import gateway_class, manifest

API = "gateway.networking.k8s.io/v1"
CLASSES = {
    "alb": "gateway.k8s.aws/alb",
    "istio": "istio.io/gateway-controller",
    "nginx": "gateway.nginx.org/nginx-gateway-controller",
    "gke-l7-global-external-managed": "networking.gke.io/gateway",
}
GKE = "gke-l7-global-external-managed"


def world(of_class: str, behind: str, matches: str, hosts: str, service: str) -> list[str]:
    listeners = "listeners: [{name: http, port: 80, protocol: HTTP}]"
    inside = f"rules: [{{{matches}backendRefs: [{{name: web, port: 80}}]}}]"
    named = f"hostnames: [{hosts}], " if hosts else ""
    return [
        *(gateway_class(name, CLASSES[name]) for name in (of_class, behind)),
        manifest(API, "Gateway", "front", "shop", f"spec: {{gatewayClassName: {of_class}, {listeners}}}"),
        manifest(API, "Gateway", "mesh", "shop", f"spec: {{gatewayClassName: {behind}, {listeners}}}"),
        manifest(API, "HTTPRoute", "front", "shop", "spec: {parentRefs: [{name: front}], hostnames: [a.example.com], "
                 f"rules: [{{backendRefs: [{{name: {service}, port: 80}}]}}]}}"),
        manifest(API, "HTTPRoute", "web", "shop", f"spec: {{parentRefs: [{{name: mesh}}], {named}{inside}}}"),
        manifest("v1", "Service", "web", "shop", "spec: {selector: {a: b}, ports: [{port: 80}]}"),
    ]  # fmt: skip


def aws(path: str, service: str = "mesh-istio") -> str:
    check = f"healthCheckConfig: {{healthCheckPath: {path}}}"
    spec = f"spec: {{targetReference: {{name: {service}}}, defaultConfiguration: {{targetType: ip, {check}}}}}"
    return manifest("gateway.k8s.aws/v1beta1", "TargetGroupConfiguration", "t", "shop", spec)


def gke(path: str, host: str = "", service: str = "mesh-istio") -> str:
    named = f", host: {host}" if host else ""
    config = f"default: {{config: {{type: HTTP, httpHealthCheck: {{requestPath: {path}{named}}}}}}}"
    target = f"targetRef: {{group: '', kind: Service, name: {service}}}"
    return manifest("networking.gke.io/v1", "HealthCheckPolicy", "t", "shop", f"spec: {{{config}, {target}}}")


def told(directory: Path, *manifests: str) -> list[Said]:
    return [each for each in lint(directory, *manifests) if each.rule == "GWP314" and "finds no pod" in each.message]


PAGE = "matches: [{path: {value: /page}}], "
HOST = "a.example.com"


@pytest.mark.parametrize(
    ("manifests", "asked"),
    [
        ([*world("alb", "istio", PAGE, HOST, "mesh-istio"), aws("/page")], "GET /page without a host gets 404"),
        (world("alb", "istio", "", HOST, "mesh-istio"), "GET / without a host gets 404"),  # its default
        ([*world("alb", "istio", PAGE, "", "mesh-istio"), aws("/other")], "GET /other without a host gets 404"),
        ([*world("alb", "istio", PAGE, "", "mesh-istio"), aws("/page")], ""),
        (world("alb", "istio", "", "", "mesh-istio"), ""),
        ([*world("alb", "nginx", PAGE, HOST, "mesh-nginx"), aws("/page", "mesh-nginx")],
         "GET /page without a host gets 404"),
        ([*world(GKE, "istio", PAGE, HOST, "mesh-istio"), gke("/page")], "GET /page without a host gets 404"),
        ([*world(GKE, "istio", PAGE, HOST, "mesh-istio"), gke("/page", HOST)], ""),
        ([*world(GKE, "istio", PAGE, HOST, "mesh-istio"), gke("/page", "b.example.com")],
         "GET /page for b.example.com gets 404"),
        ([*world("alb", "istio", PAGE, HOST, "web"), aws("/page", "web")], ""),  # no Gateway is behind that
        (world("istio", "nginx", PAGE, HOST, "mesh-nginx"), ""),  # asks nobody for his health
    ],
)  # fmt: skip
def test_what_a_gateway_answers(manifests: list[str], asked: str, tmp_path: Path) -> None:
    found = told(tmp_path, *manifests)
    assert [each.message.partition("healthy: ")[2].removesuffix(" there") for each in found] == (
        [asked] if asked else []
    )
    assert {(each.severity, each.confidence) for each in found} <= {("warning", "certain")}
