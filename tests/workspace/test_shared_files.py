"""What two clusters share names what each of them has: one of two is not missing where the other is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.trees import workspace

CLASS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""
GATEWAY = """\
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: %s, namespace: edge}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP}]
"""
REDIRECT = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: redirect, namespace: edge}
spec:
  parentRefs: %s
  rules: [{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}]
"""
TRAFFIC = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: client, namespace: edge}
spec:
  targetRefs: [%s]
  timeout: {http: {requestReceivedTimeout: 30s}}
"""
OUTSIDE, INSIDE = (
    f"{{group: gateway.networking.k8s.io, kind: Gateway, name: {name}}}" for name in ("outside", "inside")
)
BOTH = "[{name: outside}, {name: inside}]"


def clusters(shared: str, *, home: str = "[../../shared, gateways.yaml]") -> dict[str, str]:
    """Two clusters, of which one alone has the Gateway `inside`."""
    return {
        "shared/kustomization.yaml": "resources: [shared.yaml]\n",
        "shared/shared.yaml": shared,
        "clusters/cloud/kustomization.yaml": "resources: [../../shared, gateways.yaml]\n",
        "clusters/cloud/gateways.yaml": CLASS + GATEWAY % "outside",
        "clusters/home/kustomization.yaml": f"resources: {home}\n",
        "clusters/home/gateways.yaml": CLASS + GATEWAY % "outside" + GATEWAY % "inside",
    }


@pytest.mark.parametrize(
    ("rule", "shared", "is_doubtful"),
    [
        ("GWP401", REDIRECT % BOTH, True),
        ("GWP401", REDIRECT % "[{name: outside, sectionName: http}, {name: inside, sectionName: http}]", True),
        ("GWP401", REDIRECT % "[{name: inside}]", False),
        ("GWP401", REDIRECT % "[{name: outside}, {name: insight}]", False),
        ("GWP101", TRAFFIC % f"{OUTSIDE}, {INSIDE}", True),
        ("GWP101", TRAFFIC % INSIDE, False),
    ],
)
def test_what_the_other_cluster_has_is_not_missing_where_the_object_has_another(
    tmp_path: Path, rule: str, shared: str, is_doubtful: bool
) -> None:
    found = [each for each in workspace(tmp_path, clusters(shared)).findings() if each.rule == rule]
    assert found
    assert {each.confidence == "unknown" for each in found} == {is_doubtful}


def test_what_one_cluster_has_by_itself_is_missing_though_the_other_has_its_like(tmp_path: Path) -> None:
    files = clusters(REDIRECT % BOTH, home="[gateways.yaml]")
    (found,) = (each for each in workspace(tmp_path, files).findings() if each.rule == "GWP401")
    assert (found.severity, found.confidence) == ("error", "certain")
