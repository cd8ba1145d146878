"""What one deployer of a tree does not take in is deployed somehow, where it is the larger part."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.test_argo import application
from tests.render.test_charts import CHART
from tests.render.trees import KUSTOMIZATION, ROUTE, SERVICE, deployed, workspace
from tests.worlds import manifest


def route(name: str) -> str:
    return ROUTE.replace("name: shop", f"name: {name}")


def routes(*names: str, namespace: str = "default") -> list[str]:
    return [f"HTTPRoute {namespace}/{name}" for name in names]


DEMO = {"argo/demo.yaml": application("demo", "{path: apps/demo}"), "apps/demo/route.yaml": route("demo")}
CHARTED = {
    "argo/demo.yaml": application("demo", "{path: charts/shop}"),
    **CHART,
}
"""An Application whose source is a chart of the tree: what it makes is part of what lands in the cluster."""
BASE = {
    "config/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml, b.yaml, c.yaml]\n",
    **{f"config/{name}.yaml": route(name) for name in "abc"},
}
PLAIN = {f"manifests/{name}.yaml": route(name) for name in "abc"}
SYNC = {
    "clusters/prod/gotk-sync.yaml": (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        "metadata: {name: flux-system, namespace: flux-system}\n"
        "spec: {path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}\n"
    ),
    "clusters/prod/demo.yaml": route("demo"),
}


@pytest.mark.parametrize("others", [BASE, PLAIN, {f"deploy/{key}": text for key, text in BASE.items()}])
@pytest.mark.parametrize(
    ("deployer", "name", "own"),
    [
        (DEMO, "in-cluster", routes("demo", namespace="web")),
        (CHARTED, "in-cluster", ["HTTPRoute web/demo-web", "Service web/demo-web"]),
        (SYNC, "prod", routes("demo")),
    ],
    ids=["argo", "a chart", "flux"],
)
def test_what_others_apply_is_beside_it(
    tmp_path: Path, deployer: dict[str, str], name: str, own: list[str], others: dict[str, str]
) -> None:
    assert deployed(workspace(tmp_path, {**deployer, **others})) == {name: sorted([*routes(*"abc"), *own])}


def test_nothing_of_it_is_an_orphan_then(tmp_path: Path) -> None:
    world = workspace(tmp_path, {**DEMO, **BASE}).simulations[0].world
    assert (dict(world.orphans), world.roots) == ({}, ())


@pytest.mark.parametrize(
    "deployer",
    [DEMO, {**DEMO, **{f"apps/demo/{name}.yaml": route(name) for name in "xyz"}}],
    ids=["others are more", "others are less"],
)
def test_a_few_that_nothing_deploys_are_switched_off(tmp_path: Path, deployer: dict[str, str]) -> None:
    """A repository of a cluster has some applications that are not in use."""
    is_project = len(deployer) == len(DEMO)
    found = workspace(tmp_path, {**deployer, **BASE})
    assert set(routes(*"abc")).issubset(deployed(found)["in-cluster"]) is is_project
    assert bool(found.simulations[0].world.orphans) is not is_project


@pytest.mark.parametrize("place", ["apps/demo/later", "apps/demonstration", "others"])
def test_what_is_left_below_a_deployed_directory_is_switched_off(tmp_path: Path, place: str) -> None:
    """The kustomization of the directory has lines that are commented out: nobody else applies them."""
    inside = f"{place}/".startswith("apps/demo/")
    files = {
        **DEMO,
        "apps/demo/kustomization.yaml": KUSTOMIZATION + "resources: [route.yaml]\n",
        f"{place}/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml, b.yaml, c.yaml]\n",
        **{f"{place}/{name}.yaml": route(name) for name in "abc"},
    }
    found = deployed(workspace(tmp_path, files))
    assert bool(set(routes(*"abc")) & {each for environment in found.values() for each in environment}) is not inside


def test_what_makes_the_same_objects_is_another_environment(tmp_path: Path) -> None:
    """The Application deploys the base, people apply their own variant of it."""
    files = {
        "argo/demo.yaml": application("demo", "{path: base}", "{server: 'https://kubernetes.default.svc'}"),
        "base/kustomization.yaml": KUSTOMIZATION + "resources: [route.yaml]\n",
        "base/route.yaml": ROUTE,
        "mine/kustomization.yaml": KUSTOMIZATION + "resources: [../base, a.yaml, b.yaml, c.yaml]\n",
        **{f"mine/{name}.yaml": route(name) for name in "abc"},
    }
    assert deployed(workspace(tmp_path, files)) == {
        "in-cluster": routes("shop"),
        "default": routes(*"abc", "shop"),
    }


def service(name: str) -> str:
    return manifest("v1", "Service", name, "web", "spec: {ports: [{port: 80}], selector: {app: a}}")


RELEASE = (
    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: ui, namespace: web}\n"
    "spec: {interval: 1h, chart: {spec: {chart: ui, sourceRef: {kind: HelmRepository, name: ui}}}}\n"
)


@pytest.mark.parametrize(
    ("backend", "confidence"), [("shop", ""), ("ui", "unknown"), ("of-cluster", "unknown"), ("nowhere", "certain")]
)
@pytest.mark.parametrize("several", [False, True])
def test_what_the_clusters_have_is_not_missing_in_what_is_left(
    tmp_path: Path, backend: str, confidence: str, several: bool
) -> None:
    """They exclude each other where both make one object, but what is loose may be applied to the same cluster."""
    spec = f"spec: {{rules: [{{backendRefs: [{{name: {backend}, port: 80}}]}}]}}"
    files = {
        **SYNC,
        **({"clusters/prod/release.yaml": RELEASE} if backend == "ui" else {}),
        "clusters/prod/service.yaml": service("of-cluster"),
        "left/demo.yaml": route("demo"),
        "left/a.yaml": manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "a", "web", spec),
        **{f"left/{name}.yaml": route(name) for name in "bc"},
        "left/service.yaml": service("shop"),
    }
    if several:
        files |= {f"left/{name}/one.yaml": route("one") for name in ("x", "y")}
    found = [each for each in workspace(tmp_path, files).findings() if "a.yaml" in each.location.file]
    assert {each.confidence for each in found if each.rule == "GWP406"} == ({confidence} if confidence else set())


def test_alternatives_among_the_others_each_have_what_it_deploys(tmp_path: Path) -> None:
    overlays = {
        f"overlays/{name}/kustomization.yaml": KUSTOMIZATION + "resources: [../../base]\n" for name in ("dev", "prod")
    }
    files = {**DEMO, "base/kustomization.yaml": KUSTOMIZATION + "resources: [a.yaml, b.yaml, c.yaml]\n", **overlays}
    files |= {f"base/{name}.yaml": route(name) for name in "abc"}
    expected = [*routes(*"abc"), *routes("demo", namespace="web")]
    assert deployed(workspace(tmp_path, files)) == {"dev": expected, "prod": expected}


@pytest.mark.parametrize(
    "unseen",
    [
        "{path: '{{.path}}'}",
        "{repoURL: 'https://example.com/elsewhere', path: deploy/other}",
    ],
)
def test_a_source_that_was_not_found_may_be_what_deploys_them(tmp_path: Path, unseen: str) -> None:
    somewhere = application("other", unseen, "{server: 'https://kubernetes.default.svc'}")
    found = workspace(tmp_path, {**DEMO, **BASE, "argo/other.yaml": somewhere})
    assert deployed(found) == {"in-cluster": routes("demo", namespace="web")}
    assert [str(key) for key in found.simulations[0].world.orphans] == [f"HTTPRoute ?/{name}" for name in "abc"]


def test_other_objects_than_those_that_are_checked_make_no_environment(tmp_path: Path) -> None:
    others = {f"tools/{name}.yaml": SERVICE.replace("name: shop", f"name: {name}") for name in "abcdef"}
    assert deployed(workspace(tmp_path, {**DEMO, **others})) == {"in-cluster": routes("demo", namespace="web")}


def test_a_switched_off_route_beside_ingresses_is_no_project(tmp_path: Path) -> None:
    """Who migrates has one route already, and it is not in use."""
    ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: NAME}\nspec: {rules: []}\n"
    files = {
        "argo/demo.yaml": application("demo", "{path: apps/demo}"),
        **{f"apps/demo/{name}.yaml": ingress.replace("NAME", name) for name in "abc"},
        **{f"later/{name}.yaml": route(name) for name in "xyz"},
    }
    assert not any("HTTPRoute" in key for key in deployed(workspace(tmp_path, files))["in-cluster"])


def test_the_configuration_has_the_last_word(tmp_path: Path) -> None:
    files = {**DEMO, **BASE}
    workspace(tmp_path, files)
    found = open_workspace([str(tmp_path)], stated={"here": ["apps/demo"]})
    assert deployed(found) == {"here": routes("demo")}


def test_a_long_text_is_part_of_many_environments_at_no_cost(tmp_path: Path) -> None:
    """Dashboards of a few megabytes beside twenty ways to arrange the rest: nothing looks through them twenty times."""
    generated = "resources: [route.yaml]\nconfigMapGenerator: [{name: board, files: [board.json]}]\n"
    boards = {"apps/demo/kustomization.yaml": KUSTOMIZATION + generated, "apps/demo/board.json": "x" * 2_500_000}
    overlay = KUSTOMIZATION + "resources: [../../config]\n"
    ways = {f"overlays/{number}/kustomization.yaml": overlay for number in range(20)}
    found = workspace(tmp_path, {**DEMO, **boards, **BASE, **ways})
    assert len(found.simulations) == 20
    assert not found.coverage.cut_off
