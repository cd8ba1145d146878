"""GWP314: what load balancers ask pods by default, and what their probes say (GKE's and AWS's documentation)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import worlds
from tests.checks.linting import lint

GET = "readinessProbe: {httpGet: {path: %s, port: 80}}"
GKE = "networking.gke.io/gateway"
AWS = "gateway.k8s.aws/alb"
LATTICE = "application-networking.k8s.aws/gateway-api-controller"
AZURE = "alb.networking.azure.io/alb-controller"
TARGET = "targetRef: {group: '', kind: Service, name: web}"


def policy(api: str, kind: str, spec: str) -> str:
    return worlds.manifest(api, kind, "p", "shop", f"spec: {{{spec}}}")


OF_GKE = "networking.gke.io/v1"
REFERENCE = "targetReference: {kind: Service, name: web}"


@pytest.mark.parametrize(
    ("controller", "probes", "policies", "severity"),
    [
        (GKE, GET % "/livez", [], ["note"]),
        (AWS, GET % "/livez", [], ["note"]),
        (LATTICE, GET % "/livez", [], ["note"]),
        (AZURE, GET % "/livez", [], []),
        (GKE, GET % "/", [], []),
        (GKE, f"{GET % '/livez'}, livenessProbe: {{httpGet: {{port: 80}}}}", [], []),
        (GKE, "readinessProbe: {tcpSocket: {port: 80}}", [], []),
        (GKE, "readinessProbe: {grpc: {port: 80}}", [], ["warning"]),
        (GKE, "image: web", [], []),
        (
            GKE,
            GET % "/livez",
            [
                policy(
                    OF_GKE,
                    "HealthCheckPolicy",
                    f"{TARGET}, default: {{config: {{httpHealthCheck: {{requestPath: /a}}}}}}",
                )
            ],
            [],
        ),
        (GKE, GET % "/livez", [policy(OF_GKE, "HealthCheckPolicy", f"{TARGET}, default: {{timeoutSec: 5}}")], ["note"]),
        (
            GKE,
            "readinessProbe: {grpc: {port: 80}}",
            [policy(OF_GKE, "HealthCheckPolicy", f"{TARGET}, default: {{config: {{grpcHealthCheck: {{}}}}}}")],
            [],
        ),
        (
            AWS,
            GET % "/livez",
            [
                policy(
                    "gateway.k8s.aws/v1beta1",
                    "TargetGroupConfiguration",
                    f"{REFERENCE}, defaultConfiguration: {{healthCheckConfig: {{healthCheckPath: /livez}}}}",
                )
            ],
            [],
        ),
        (
            LATTICE,
            GET % "/livez",
            [
                policy(
                    "application-networking.k8s.aws/v1alpha1",
                    "TargetGroupPolicy",
                    f"{TARGET}, healthCheck: {{enabled: true, path: /livez}}",
                )
            ],
            [],
        ),
    ],
)
def test_what_healthy_pods_are_asked(
    tmp_path: Path, controller: str, probes: str, policies: list[str], severity: list[str]
) -> None:
    pods = f"metadata: {{labels: {{app: web}}}}, spec: {{containers: [{{name: web, {probes}}}]}}"
    found = lint(
        tmp_path,
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        worlds.route("web", "shop", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        worlds.manifest("v1", "Service", "web", "shop", "spec: {selector: {app: web}, ports: [{port: 80}]}"),
        worlds.manifest("apps/v1", "Deployment", "web", "shop", f"spec: {{template: {{{pods}}}}}"),
        *policies,
    )
    assert [each.severity for each in found if each.rule == "GWP314"] == severity
