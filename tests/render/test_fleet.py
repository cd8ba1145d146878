"""Rancher Fleet: kustomizations that patch a chart take in nothing, and fail by themselves only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.test_alternatives import GATEWAY, ROUTE, SERVICE, loud, tree

PATCHES = "patches: [{path: deployment.yaml}]\n"
PATCH = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"
OTHER = {
    "gateway/kustomization.yaml": "resources: [gateway.yaml]\n",
    "gateway/gateway.yaml": GATEWAY.format(listener="a"),
}


@pytest.mark.parametrize(
    "bundle",
    [
        "helm: {chart: web, repo: https://charts.example.com}\nkustomize: {dir: overlays/dev}\n",
        "helm: {chart: web}\ntargetCustomizations: [{name: dev, kustomize: {dir: overlays/dev}}]\n",
        "namespace: web\nkustomize: {dir: ./overlays/dev}\n",
    ],
    ids=["of all clusters", "of one target", "of plain manifests"],
)
def test_what_patches_a_bundle_is_no_kustomization_of_its_own(bundle: str, tmp_path: Path) -> None:
    files = {"web/overlays/dev/kustomization.yaml": PATCHES, "web/overlays/dev/deployment.yaml": PATCH, **OTHER}
    assert "GWP914" in {finding.rule for finding in loud(tree(tmp_path, files))}
    assert loud(tree(tmp_path, {**files, "web/fleet.yaml": bundle})) == []


def test_one_that_no_bundle_names_still_fails(tmp_path: Path) -> None:
    files = {"web/overlays/dev/kustomization.yaml": PATCHES, "web/overlays/dev/deployment.yaml": PATCH, **OTHER}
    bundle = "helm: {chart: web}\nkustomize: {dir: overlays/prod}\n"
    assert "GWP914" in {finding.rule for finding in loud(tree(tmp_path, {**files, "web/fleet.yaml": bundle}))}


def test_the_chart_of_a_bundle_may_make_what_is_missing(tmp_path: Path) -> None:
    route = ROUTE.format(section="").replace("checkout, port", "web, port")
    files = {
        **OTHER,
        "gateway/kustomization.yaml": "resources: [gateway.yaml, route.yaml, service.yaml]\n",
        "gateway/route.yaml": route,
        "gateway/service.yaml": SERVICE.replace("checkout", "cart"),
    }
    assert [finding.rule for finding in loud(tree(tmp_path, files))] == ["GWP406"]
    assert loud(tree(tmp_path, {**files, "web/fleet.yaml": "namespace: shop\nhelm: {chart: web}\n"})) == []
