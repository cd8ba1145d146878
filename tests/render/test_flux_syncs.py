"""How a cluster's first directory is synced: by `flux bootstrap`'s own Kustomization or by a FluxInstance; both may
amend what lies in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.compare.repositories import diff
from tests.diff.history import commit
from tests.render.test_flux import SYNC, cluster, kustomization
from tests.render.trees import ROUTE, SERVICE, codes, deployed, place, workspace

INSTANCE = """
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata:
  name: flux
  namespace: flux-system
spec:
  sync:
    kind: OCIRepository
    path: clusters/prod
    url: oci://ghcr.io/example/manifests
  kustomize:
    patches:
      - target: {kind: Kustomization}
        patch: |
          - op: add
            path: /spec/targetNamespace
            value: web
      - target: {kind: Deployment, name: source-controller}
        patch: |
          - op: add
            path: /spec/template/spec/containers/0/args/-
            value: --concurrent=20
"""
HELD = {
    "as an object": {"flux/instance.yaml": INSTANCE},
    "as values of its chart": {
        "flux/values.yaml": "instance:\n" + INSTANCE.partition("spec:\n")[2],
    },
    "as values of a release": {
        "flux/release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
        "metadata: {name: flux-instance, namespace: flux-system}\nspec:\n  values:\n    instance:\n"
        + "".join(f"    {line}\n" for line in INSTANCE.partition("spec:\n")[2].splitlines()),
    },
}


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_patches_of_a_flux_instance_change_the_kustomization_that_syncs(tmp_path: Path, held: dict[str, str]) -> None:
    """The other objects of the Flux Operator, which they may be for as well, are nothing that is looked at here."""
    app = kustomization("app", "./app")
    found = workspace(
        tmp_path, {**held, "clusters/prod/route.yaml": ROUTE, "clusters/prod/a.yaml": app, "app/s.yaml": SERVICE}
    )
    assert deployed(found) == {"prod": ["HTTPRoute web/shop", "Service default/shop"]}
    assert codes(found) == []


def test_what_a_flux_instance_patches_is_located_in_it(tmp_path: Path) -> None:
    found = workspace(tmp_path, {**HELD["as an object"], "clusters/prod/route.yaml": ROUTE})
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert place(route.location("metadata", "namespace"), tmp_path) == "flux/instance.yaml:17"


def test_a_patch_of_a_flux_instance_may_add_patches_for_all_kustomizations(tmp_path: Path) -> None:
    inner = (
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: _},"
        " spec: {targetNamespace: given}}"
    )
    patch = (
        "          - op: add\n            path: /spec/patches\n            value:\n"
        f'              - {{target: {{kind: Kustomization}}, patch: "{inner}"}}\n'
    )
    start, _, _ = INSTANCE.partition("          - op: add")
    files = {
        "flux/instance.yaml": start + patch,
        "clusters/prod/app.yaml": kustomization("app", "./app"),
        "app/route.yaml": ROUTE,
        "app/service.yaml": SERVICE,
    }
    assert deployed(workspace(tmp_path, files)) == {"prod": ["HTTPRoute given/shop", "Service given/shop"]}


def test_patches_of_a_flux_instance_that_cannot_be_read_are_noted(tmp_path: Path) -> None:
    start, _, _ = INSTANCE.partition("        patch: |")
    files = {"flux/instance.yaml": f"{start}        patch: '{{'\n", "clusters/prod/route.yaml": ROUTE}
    found = workspace(tmp_path, files)
    assert (deployed(found), codes(found)) == ({"prod": ["HTTPRoute default/shop"]}, ["patch-not-read"])


def test_the_kustomization_of_a_bootstrap_amends_the_directory_that_it_lies_in(tmp_path: Path) -> None:
    files = cluster(kustomization("app", "./app"))
    files["clusters/prod/route.yaml"] = ROUTE.replace("name: shop", "name: '${WHO}'")
    files[SYNC] = kustomization(
        "flux-system", "./clusters/prod", "postBuild: {substitute: {WHO: me}}", "commonMetadata: {labels: {a: b}}"
    )
    found = workspace(tmp_path, files)
    assert deployed(found) == {"prod": ["HTTPRoute default/me", "HTTPRoute default/shop", "Service default/shop"]}
    routes = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    assert {each.key.name: dict(each.labels) for each in routes} == {"me": {"a": "b"}, "shop": {}}
    assert [each.message for each in found.findings() if each.rule == "GWP503"] == []


def test_patches_of_a_bootstrap_are_inherited(tmp_path: Path) -> None:
    inner = "[{op: add, path: /spec/targetNamespace, value: given}]"
    files = cluster(kustomization("app", "./app"))
    files[SYNC] = kustomization(
        "flux-system",
        "./clusters/prod",
        f"patches:\n- target: {{kind: Kustomization, name: app}}\n  patch: '{inner}'\n",
    )
    assert deployed(workspace(tmp_path, files)) == {"prod": ["HTTPRoute given/shop", "Service given/shop"]}


def test_kustomizations_that_wait_for_each_other_are_noted_and_those_behind_them_are_not(tmp_path: Path) -> None:
    files = cluster(
        kustomization("one", "./app", "dependsOn: [{name: two}]"),
        **{
            "clusters/prod/two.yaml": kustomization("two", "./app", "dependsOn: [{name: one, namespace: flux-system}]"),
            "clusters/prod/last.yaml": kustomization("last", "./app", "dependsOn: [{name: one}, {name: unseen}]"),
        },
    )
    found = workspace(tmp_path, files)
    assert sorted(each.message for each in found.simulations[0].world.notes if each.code == "depends-cycle") == [
        "Kustomization flux-system/one depends on itself through others",
        "Kustomization flux-system/two depends on itself through others",
    ]


OTHERS = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: elsewhere, namespace: flux-system}
spec: {url: 'oci://ghcr.io/example/elsewhere'}
---
apiVersion: image.toolkit.fluxcd.io/v1beta2
kind: ImagePolicy
metadata: {name: shop, namespace: flux-system}
spec: {imageRepositoryRef: {name: shop}, policy: {semver: {range: '>=1'}}}
---
apiVersion: image.toolkit.fluxcd.io/v1beta2
kind: ImageUpdateAutomation
metadata: {name: all, namespace: flux-system}
spec: {update: {path: ./app, strategy: Setters}}
"""


def test_paths_of_other_sources_are_noted_and_are_no_error(tmp_path: Path) -> None:
    other = kustomization("crds", "./deploy/crds").replace(
        "GitRepository\n    name: flux-system", "OCIRepository\n    name: elsewhere"
    )
    files = cluster(kustomization("app", "./app"), **{"clusters/prod/o.yaml": OTHERS, "clusters/prod/c.yaml": other})
    found = workspace(tmp_path, files)
    assert codes(found) == ["remote-base"]
    assert {each.severity for each in found.findings()} == {"note"}
    assert not found.simulations[0].policies
    assert "1 remote base" in found.coverage.not_rendered


def test_a_path_that_is_a_variable_is_what_each_cluster_states(tmp_path: Path) -> None:
    """One release for all clusters syncs what the ConfigMap of each says; a cluster whose ConfigMap is not here lies
    where the others lie. Never is it the first directory that happens to be there."""
    of_one = "metadata: {name: settings, namespace: flux-system}\ndata: {SYNC: clusters/%s}\n"
    files = {
        "apps/flux/instance.yaml": INSTANCE.partition("  kustomize:")[0].replace("clusters/prod", "${SYNC}"),
        "apps/shop/route.yaml": ROUTE,
    }
    for cluster_of_three in ("one", "two", "three"):
        files[f"clusters/{cluster_of_three}/apps.yaml"] = kustomization("apps", "./apps/shop")
        if cluster_of_three != "three":
            files[f"clusters/{cluster_of_three}/settings.yaml"] = (
                f"apiVersion: v1\nkind: ConfigMap\n{of_one % cluster_of_three}"
            )
    found = deployed(workspace(tmp_path, files))
    assert {name: [each for each in keys if "Route" in each] for name, keys in found.items()} == {
        "one": ["HTTPRoute default/shop"],
        "three": ["HTTPRoute default/shop"],
        "two": ["HTTPRoute default/shop"],
    }


def test_what_is_there_twice_is_said_once(tmp_path: Path) -> None:
    """kustomize stops at the first; that it would stop in the namespace that Flux gives, too, says nothing new."""
    files = cluster(kustomization("app", "./app", "targetNamespace: given"))
    files["app/kustomization.yaml"] = "resources: [a.yaml, b.yaml]\n"
    files["app/a.yaml"] = files["app/b.yaml"] = ROUTE
    found = [each.message for each in workspace(tmp_path, files).findings() if each.rule == "GWP914"]
    assert len(found) == 1
    assert "there twice" in found[0]


@pytest.mark.parametrize(("place", "found"), [("elsewhere", set()), ("app", {"GWP501"})], ids=["elsewhere", "deployed"])
def test_a_crd_that_is_not_deployed_does_not_decide_alone(tmp_path: Path, place: str, found: set[str]) -> None:
    """What another directory installs may be of another release: an object that the shipped schema takes is right."""
    crd = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: httproutes.gateway.networking.k8s.io}
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names:
    kind: HTTPRoute
    plural: httproutes
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [sides]}}}}
"""
    files = cluster(kustomization("app", "./app"), **{f"{place}/crd.yaml": crd, "app/route.yaml": ROUTE})
    assert {each.rule for each in workspace(tmp_path, files).findings() if each.rule == "GWP501"} == found


NEXT = {
    "clusters/next/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: next}\n",
    "clusters/hollow/kustomization.yaml": "resources: []\n",
}
OF_INSTANCE = INSTANCE.partition("  kustomize:")[0].replace("OCIRepository", "GitRepository")


def of_bootstrap(path: str) -> dict[str, str]:
    return {**cluster(kustomization("app", "./app")), **NEXT, SYNC: kustomization("flux-system", f"./{path}")}


def of_operator(path: str) -> dict[str, str]:
    files = {name: text for name, text in of_bootstrap(path).items() if name != SYNC}
    return {**files, "clusters/prod/flux-system/instance.yaml": OF_INSTANCE.replace("clusters/prod", path)}


@pytest.mark.parametrize("synced", [of_bootstrap, of_operator])
@pytest.mark.parametrize("path", ["clusters/next", "clusters/hollow"])
def test_what_a_cluster_syncs_no_more_is_gone(
    tmp_path: Path, synced: Callable[[str], dict[str, str]], path: str
) -> None:
    """Flux prunes what the new path does not have; that the old directory still holds Kustomizations says nothing."""
    said = diff(tmp_path, synced("clusters/prod"), synced(path))
    assert "prod: 1 route gone" in said
    assert "- HTTPRoute default/shop" in said


def test_a_path_that_leads_nowhere_stops_the_cluster(tmp_path: Path) -> None:
    source = (
        "\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n"
        "metadata: {name: flux-system, namespace: flux-system}\nspec: {url: https://git.example.com/r}\n"
    )
    files = of_bootstrap("clusters/nowhere")
    files[SYNC] += source
    commit(tmp_path, files)
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP914"]
    assert [each.message.partition(": ")[2] for each in found] == [
        "path ./clusters/nowhere of Kustomization flux-system/flux-system does not exist"
    ]


def test_a_cluster_that_holds_the_instance_of_another_one_is_one_as_well(tmp_path: Path) -> None:
    files = {
        **of_bootstrap("clusters/prod"),
        "clusters/prod/edge.yaml": OF_INSTANCE.replace("clusters/prod", "clusters/edge"),
        "clusters/edge/app.yaml": kustomization("app", "./app"),
    }
    assert {
        name: [key for key in keys if "Route" in key] for name, keys in deployed(workspace(tmp_path, files)).items()
    } == {
        "edge": ["HTTPRoute default/shop"],
        "prod": ["HTTPRoute default/shop"],
    }
