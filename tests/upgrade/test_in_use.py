"""The release in use, as the tree tells."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from policylint.catalog.releases import product, shown
from policylint.render.in_use import in_use
from policylint.workspace import open_workspace

GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
"""


def releases(name: str, folder: Path) -> list[str]:
    workspace = open_workspace([str(folder)])
    (simulation,) = workspace.simulations
    return [shown(use.release) for use in in_use(product(name), simulation.world, workspace.kustomizations)]


OBJECTS = {
    ("envoy-gateway", "a HelmRelease"): (
        """
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: eg, namespace: a}
        spec: {chart: {spec: {chart: gateway-helm, version: v1.8.2, sourceRef: {kind: HelmRepository, name: e}}}}
        """,
        ["1.8"],
    ),
    ("envoy-gateway", "an OCIRepository"): (
        """
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: OCIRepository
        metadata: {name: eg, namespace: a}
        spec: {url: "oci://docker.io/envoyproxy/gateway-helm", ref: {tag: v1.7.0}}
        """,
        ["1.7"],
    ),
    ("envoy-gateway", "an Application"): (
        """
        apiVersion: argoproj.io/v1alpha1
        kind: Application
        metadata: {name: eg, namespace: argocd}
        spec:
          source: {chart: gateway-helm, repoURL: docker.io/envoyproxy, targetRevision: 1.6.x}
          destination: {namespace: a}
        """,
        ["1.6"],
    ),
    ("envoy-gateway", "an image"): (
        """
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: envoy-gateway, namespace: a}
        spec: {template: {spec: {containers: [{name: g, image: "docker.io/envoyproxy/gateway:v1.5.1@sha256:00"}]}}}
        """,
        ["1.5"],
    ),
    ("gateway-api", "a GitRepository"): (
        """
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: GitRepository
        metadata: {name: g, namespace: a}
        spec: {url: "https://github.com/kubernetes-sigs/gateway-api.git", ref: {tag: v1.2.1}}
        """,
        ["1.2"],
    ),
    ("gateway-api", "a CRD"): (
        """
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata:
          name: gateways.gateway.networking.k8s.io
          annotations:
            gateway.networking.k8s.io/bundle-version: v1.3.0
        spec:
          group: gateway.networking.k8s.io
          names:
            kind: Gateway
            plural: gateways
          scope: Namespaced
          versions: []
        """,
        ["1.3"],
    ),
    ("istio", "an Istio of Sail"): (
        """
        apiVersion: sailoperator.io/v1
        kind: Istio
        metadata: {name: default}
        spec: {version: v1.28-latest, namespace: istio-system}
        """,
        ["1.28"],
    ),
    ("istio", "an IstioOperator"): (
        """
        apiVersion: install.istio.io/v1alpha1
        kind: IstioOperator
        metadata: {name: mesh, namespace: istio-system}
        spec: {profile: default, tag: 1.27.3-distroless}
        """,
        ["1.27"],
    ),
    ("istio", "an IstioOperator that states a number"): (
        """
        apiVersion: install.istio.io/v1alpha1
        kind: IstioOperator
        metadata: {name: mesh, namespace: istio-system}
        spec: {profile: default, tag: 1.27}
        """,
        ["1.27"],
    ),
    ("istio", "a control plane of OpenShift Service Mesh"): (
        """
        apiVersion: maistra.io/v2
        kind: ServiceMeshControlPlane
        metadata: {name: basic, namespace: istio-system}
        spec: {version: v2.5}
        """,
        ["1.18"],
    ),
    ("istio", "a control plane that leaves the release to its operator"): (
        """
        apiVersion: maistra.io/v2
        kind: ServiceMeshControlPlane
        metadata: {name: basic, namespace: istio-system}
        spec: {profiles: [default]}
        """,
        [],
    ),
    ("envoy-gateway", "nothing of it"): (
        """
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: other, namespace: a}
        spec: {chart: {spec: {chart: podinfo, version: 1.8.2, sourceRef: {kind: HelmRepository, name: e}}}}
        """,
        [],
    ),
}


@pytest.mark.parametrize("case", OBJECTS, ids=" ".join)
def test_objects_tell(case: tuple[str, str], tmp_path: Path) -> None:
    manifest, expected = OBJECTS[case]
    (tmp_path / "all.yaml").write_text(GATEWAY + dedent(manifest))
    assert releases(case[0], tmp_path) == expected


def test_kustomizations_tell(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(
        "resources:\n- gateway.yaml\n"
        "- https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.4.0/standard-install.yaml\n"
        "helmCharts:\n- {name: gateway-helm, version: v1.9.0, repo: 'oci://docker.io/envoyproxy'}\n"
    )
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    assert releases("gateway-api", tmp_path) == ["1.4"]
    assert releases("envoy-gateway", tmp_path) == ["1.9"]
