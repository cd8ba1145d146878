"""Clusters that sync themselves and have a base in common, which makes the source and the variables of them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.test_flux import kustomization
from tests.render.trees import ROUTE, deployed, workspace

VARIABLES = "postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}"


def source(kind: str, name: str) -> str:
    return (
        f"apiVersion: source.toolkit.fluxcd.io/v1\nkind: {kind}\n"
        f"metadata: {{name: {name}, namespace: flux-system}}\nspec: {{url: https://git.example.com/r}}\n"
    )


def settings(name: str) -> str:
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: flux-system}}\ndata: {{C: {name}}}\n"
    )


def syncing(name: str, path: str, kind: str, of: str = "own") -> str:
    return kustomization(name, path, VARIABLES, source=of).replace("kind: GitRepository", f"kind: {kind}")


def clusters(kind: str = "GitRepository", base: str = "k8s/base/flux-system/sync.yaml") -> dict[str, str]:
    gateway = ROUTE.replace("HTTPRoute", "Gateway").replace("name: shop", "name: ${C}")
    files = {
        base: source(kind, "own") + "---\n" + syncing("base", "./k8s/base", kind),
        "k8s/base/gateway.yaml": gateway,
        "archive/old/settings.yaml": settings("old"),
    }
    for name in ("one", "two"):
        files |= {
            f"k8s/{name}/system/sync.yaml": syncing(name, f"./k8s/{name}", kind),
            f"k8s/{name}/system/settings.yaml": settings(name),
            f"k8s/{name}/route.yaml": ROUTE.replace("name: shop", "name: of-${C}"),
        }
    return files


def routes(tmp_path: Path, files: dict[str, str]) -> dict[str, list[str]]:
    found = deployed(workspace(tmp_path, files))
    return {name: [key for key in keys if "Route" in key or "Gateway" in key] for name, keys in found.items()}


@pytest.mark.parametrize("kind", ["GitRepository", "OCIRepository", "Bucket"])
@pytest.mark.parametrize("base", ["k8s/base/flux-system/sync.yaml", "k8s/base/sync.yaml"])
def test_a_base_that_makes_the_source_of_clusters_is_on_each_of_them(tmp_path: Path, kind: str, base: str) -> None:
    """Each has the variables that it states itself, and none those of an archive."""
    assert routes(tmp_path, clusters(kind, base)) == {
        "one": ["Gateway default/one", "HTTPRoute default/of-one"],
        "two": ["Gateway default/two", "HTTPRoute default/of-two"],
    }


def test_clusters_that_make_their_own_source_have_nothing_in_common(tmp_path: Path) -> None:
    files = clusters()
    files["k8s/base/settings.yaml"] = settings("base")
    for name in ("one", "two"):
        files[f"k8s/{name}/system/source.yaml"] = source("GitRepository", "own")
    assert routes(tmp_path, files) == {
        "cluster": ["Gateway default/base"],
        "one": ["HTTPRoute default/of-one"],
        "two": ["HTTPRoute default/of-two"],
    }


def test_a_source_that_two_make_is_of_neither(tmp_path: Path) -> None:
    """Which of them is on a cluster beside what syncs itself there, nothing says."""
    files = clusters() | {"k8s/two/system/source.yaml": source("GitRepository", "own")}
    files["k8s/base/settings.yaml"] = settings("base")
    assert routes(tmp_path, files)["one"] == ["HTTPRoute default/of-one"]


def test_where_one_is_called_as_clusters_are_what_syncs_itself_is_one_as_well(tmp_path: Path) -> None:
    files = {
        "flux/one/sync.yaml": kustomization("one", "./flux/one"),
        "flux/one/route.yaml": ROUTE,
        "edge/sync.yaml": kustomization("edge", "./edge"),
        "edge/route.yaml": ROUTE,
        "tried/app.yaml": kustomization("app", "./app"),
        "app/route.yaml": ROUTE,
    }
    assert sorted(routes(tmp_path, files)) == ["edge", "one"]


def patched(place: str, replaced: bool) -> dict[str, str]:
    """Clusters that patch a base's Kustomization of `clusters/${ENVIRONMENT}/${NUMBER}`, as hubs of many do it."""
    of_cluster = kustomization("flux-system", "./clusters/${ENVIRONMENT}/${NUMBER}", source="config")
    shop = kustomization("shop", "./apps/shop/${ENVIRONMENT}", "postBuild: {substitute: {AT: 'n${NUMBER}'}}")
    files = {
        "apps/flux/sync.yaml": of_cluster,
        "apps/shop/app.yaml": shop.replace("    name: flux-system", "    name: config"),
        "apps/crds/sync.yaml": kustomization("crds", "./apps/crds", source="config"),
        "apps/crds/kustomization.yaml": "resources: [map.yaml]\n",
        "apps/crds/map.yaml": settings("crds"),
        "clusters/base/kustomization.yaml": (
            "resources: [../../apps/flux/sync.yaml, ../../apps/shop/app.yaml, ../../apps/crds/sync.yaml]\n"
        ),
    }
    for environment in ("dev", "prod"):
        files[f"apps/shop/{environment}/route.yaml"] = ROUTE.replace("name: shop", f"name: {environment}-${{AT}}")
        files[f"apps/shop/{environment}/kustomization.yaml"] = "resources: [route.yaml]\n"
        for number in ("00", "01"):
            own = f"clusters/{environment}/{number}"
            patch = place.format(own=own, name=f"{environment}-{number}")
            steps = "/".join([".."] * 3)
            files[f"{own}/kustomization.yaml"] = f"resources: [../../base]\npatches: [{{path: {steps}/{patch}}}]\n"
            variables = f"postBuild: {{substitute: {{ENVIRONMENT: {environment}, NUMBER: '{number}'}}}}"
            files[patch] = kustomization("flux-system", f"./{own}", variables, source="config")
            if not replaced:
                files[patch] = files[patch].replace("  sourceRef:\n    kind: GitRepository\n    name: config\n", "")
    return files


@pytest.mark.parametrize("place", ["{own}/sync.yaml", "apps/flux/{name}.yaml"])
@pytest.mark.parametrize("replaced", [True, False])
def test_clusters_that_patch_the_kustomization_of_a_base_are_one_each(
    tmp_path: Path, place: str, replaced: bool
) -> None:
    """A Kustomization that others take in, though it lies in what it deploys, makes that no cluster."""
    assert routes(tmp_path, patched(place, replaced)) == {
        f"{environment}-{number}": [f"HTTPRoute default/{environment}-n{number}"]
        for environment in ("dev", "prod")
        for number in ("00", "01")
    }


def test_clusters_of_one_environment_that_sync_themselves_by_one_name_are_two(tmp_path: Path) -> None:
    files = {f"clusters/prod/{each}/sync.yaml": kustomization("own", f"./clusters/prod/{each}") for each in "ab"}
    files |= {"apps/settings.yaml": settings("x")}
    files |= {f"clusters/prod/{each}/route.yaml": ROUTE.replace("name: shop", f"name: {each}") for each in "ab"}
    assert routes(tmp_path, files) == {"prod-a": ["HTTPRoute default/a"], "prod-b": ["HTTPRoute default/b"]}


def test_those_of_two_names_are_one_cluster(tmp_path: Path) -> None:
    files = {f"clusters/prod/{each}/sync.yaml": kustomization(each, f"./clusters/prod/{each}") for each in "ab"}
    files |= {"apps/settings.yaml": settings("x")}
    files |= {f"clusters/prod/{each}/route.yaml": ROUTE.replace("name: shop", f"name: {each}") for each in "ab"}
    assert routes(tmp_path, files) == {"prod": ["HTTPRoute default/a", "HTTPRoute default/b"]}
