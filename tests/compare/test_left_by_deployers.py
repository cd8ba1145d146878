"""What a deployer takes in on one side and not on the other comes or goes, though its files stay where they are.

Files that no deployer takes in are arranged as if there were none where they are the larger part of a tree (a project
with one Application to try it out). Asked for each side alone, that made a cluster of all that was taken out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.compare.repositories import diff
from tests.render.test_argo import application
from tests.render.trees import ROUTE, SERVICE

APPS = {
    f"apps/{name}/{file}": text.format(name=name)
    for name in ("shop", "blog")
    for file, text in (
        ("route.yaml", ROUTE),
        ("service.yaml", SERVICE),
        ("kustomization.yaml", "namespace: {name}\nresources: [route.yaml, service.yaml]\n"),
    )
}


def of_flux(name: str, path: str) -> str:
    return f"""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec: {{interval: 10m, path: {path}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""


def of_argo(path: str) -> str:
    return f"{{repoURL: 'https://git.example.com/platform.git', path: {path}}}"


FLUX = {
    "clusters/prod/flux-system/gotk-sync.yaml": of_flux("flux-system", "./clusters/prod"),
    "clusters/prod/apps/shop.yaml": of_flux("shop", "./apps/shop"),
    "clusters/prod/apps/blog.yaml": of_flux("blog", "./apps/blog"),
}
ARGO = {
    "argo/root.yaml": application("root", of_argo("argo/apps")),
    "argo/apps/shop.yaml": application("shop", of_argo("apps/shop")),
    "argo/apps/blog.yaml": application("blog", of_argo("apps/blog")),
}


def listed(directory: str, *files: str) -> dict[str, str]:
    return {f"{directory}/kustomization.yaml": f"resources: [{', '.join(files)}]\n"}


SYNC = "flux-system/gotk-sync.yaml"
ALL_OUT = [
    ({**FLUX, **listed("clusters/prod", SYNC, "apps/shop.yaml", "apps/blog.yaml")}, listed("clusters/prod", SYNC)),
    ({**ARGO, **listed("argo/apps", "shop.yaml", "blog.yaml")}, listed("argo/apps")),
]


@pytest.mark.parametrize(("before", "change"), ALL_OUT)
def test_all_that_a_cluster_has_is_taken_out(
    tmp_path: Path, before: Mapping[str, str], change: Mapping[str, str]
) -> None:
    said = diff(tmp_path, {**APPS, **before}, change)
    assert "2 routes gone" in said
    assert "- HTTPRoute shop/" in said


@pytest.mark.parametrize(("before", "change"), ALL_OUT)
def test_all_that_a_cluster_has_is_taken_in(
    tmp_path: Path, before: Mapping[str, str], change: Mapping[str, str]
) -> None:
    said = diff(tmp_path, {**APPS, **before, **change}, before)
    assert "2 new routes" in said


@pytest.mark.parametrize(("before", "change"), ALL_OUT)
def test_what_is_left_over_on_both_sides_is_compared_as_it_is(
    tmp_path: Path, before: Mapping[str, str], change: Mapping[str, str]
) -> None:
    route = APPS["apps/shop/route.yaml"]
    said = diff(tmp_path, {**APPS, **before, **change}, {"apps/shop/route.yaml": f"{route}# a remark\n"})
    assert "gone" not in said
    assert "new routes" not in said
