"""Values of a chart beside plain manifests: somebody whom the tree does not show installs it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.trees import workspace
from tests.worlds import ENVOY_EDGE, route, service

KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [route.yaml]\n"


def missing(tmp_path: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    """Return confidence and ground of what is said about backends that are not there."""
    to = "rules: [{backendRefs: [{name: web, port: 80}]}]"
    tree = {
        "edge/edge.yaml": ENVOY_EDGE,
        "apps/shop/route.yaml": f"{route('shop', parents='[{name: edge}]', more=to)}---{service('other')}",
        **files,
    }
    found = workspace(tmp_path, tree).findings()
    return [(each.confidence, each.ground) for each in found if each.rule == "GWP406"]


@pytest.mark.parametrize(
    "kustomization", [{}, {"apps/shop/kustomization.yaml": KUSTOMIZATION}], ids=["plain", "kustomization"]
)
@pytest.mark.parametrize("name", ["values.yaml", "values-prod.yaml", "redis-values.yml", "prod.values.yaml"])
def test_what_is_missing_may_come_of_them(tmp_path: Path, name: str, kustomization: dict[str, str]) -> None:
    values = {f"apps/shop/{name}": "image: {tag: '7'}\n"}
    (said,) = missing(tmp_path, {**values, **kustomization})
    assert said[0] == "unknown"


@pytest.mark.parametrize(
    "files",
    [
        {"apps/other/values.yaml": "image: {tag: '7'}\n"},  # beside nothing of that namespace
        {"apps/shop/values.yaml": ""},
        {"apps/shop/myvalues.yaml": "image: {tag: '7'}\n"},
        {"apps/shop/values.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values}\n"},
    ],
    ids=["elsewhere", "empty", "another name", "an object"],
)
def test_anything_else_is_missing(tmp_path: Path, files: dict[str, str]) -> None:
    (said,) = missing(tmp_path, files)
    assert said[0] == "certain"


def test_those_of_a_chart_in_the_tree_are_its_own(tmp_path: Path) -> None:
    chart = {"apps/shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n", "apps/shop/values.yaml": "a: 1\n"}
    (said,) = missing(tmp_path, chart)
    assert said[0] == "certain"
