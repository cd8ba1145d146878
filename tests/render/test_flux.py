"""What Flux deploys: from the roots down, with everything a Kustomization may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.trees import KUSTOMIZATION, ROUTE, SERVICE, codes, deployed, place, workspace, written

MORE = SERVICE.replace("name: shop", "name: more")
SYNC = "clusters/prod/flux-system/gotk-sync.yaml"


def kustomization(name: str, path: str, *more: str, source: str = "flux-system") -> str:
    """A Flux Kustomization; `more` are further lines of its spec."""
    lines = "".join(f"  {line}\n" for each in more for line in each.splitlines())
    return (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        f"metadata:\n  name: {name}\n  namespace: flux-system\n"
        f"spec:\n  path: {path}\n  sourceRef:\n    kind: GitRepository\n    name: {source}\n{lines}"
    )


def cluster(app: str, **files: str) -> dict[str, str]:
    """A tree as `flux bootstrap` leaves it, with one Kustomization `app`."""
    root = {SYNC: kustomization("flux-system", "./clusters/prod"), "clusters/prod/app.yaml": app}
    return {**root, "app/route.yaml": ROUTE, "app/service.yaml": SERVICE, **files}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ((), "HTTPRoute default/shop"),
        (("targetNamespace: web",), "HTTPRoute web/shop"),
        (("namePrefix: a-", "nameSuffix: -b"), "HTTPRoute default/a-shop-b"),
        (
            ("patches:\n- target: {kind: HTTPRoute}\n  patch: '[{op: add, path: /metadata/namespace, value: p}]'",),
            "HTTPRoute p/shop",
        ),
        (("suspend: true",), "HTTPRoute default/shop"),
    ],
)
def test_what_a_kustomization_asks_for(tmp_path: Path, more: tuple[str, ...], expected: str) -> None:
    found = workspace(tmp_path, cluster(kustomization("app", "./app", *more)))
    assert [key for key in deployed(found)["prod"] if key.startswith("HTTPRoute")] == [expected]


def test_a_target_namespace_beats_the_kustomization_and_points_at_itself(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./app", "targetNamespace: web"),
        **{"app/kustomization.yaml": KUSTOMIZATION + "namespace: other\nresources: [route.yaml]\n"},
    )
    found = workspace(tmp_path, files)
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert route.key.namespace == "web"
    assert place(route.location("metadata", "namespace"), tmp_path) == "clusters/prod/app.yaml:11"


def test_a_path_without_a_kustomization_takes_in_what_lies_below(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./app"),
        **{
            "app/deep/er/service.yaml": SERVICE.replace("name: shop", "name: deep"),
            "app/own/kustomization.yaml": "namespace: own\nresources: [service.yaml]\n",
            "app/own/service.yaml": SERVICE.replace("name: shop", "name: own"),
            "app/own/unused.yaml": SERVICE.replace("name: shop", "name: unused"),
        },
    )
    assert deployed(workspace(tmp_path, files))["prod"] == [
        "HTTPRoute default/shop",
        "Service default/deep",
        "Service default/shop",
        "Service own/own",
    ]


def test_patches_for_kustomizations_are_inherited(tmp_path: Path) -> None:
    """The usual way to give every HelmRelease its defaults: a patch that adds patches."""
    inner = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: _}, spec: {hostnames: [h]}}"
    patch = (
        "patches:\n- target: {kind: Kustomization}\n  patch: |\n"
        "    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {name: _}\n"
        f"    spec:\n      patches:\n      - target: {{kind: HTTPRoute}}\n        patch: '{inner}'\n"
    )
    files = cluster(
        kustomization("app", "./apps", patch),
        **{"apps/shop.yaml": kustomization("shop", "./app", "targetNamespace: shop")},
    )
    found = workspace(tmp_path, files)
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert route.spec["hostnames"] == ["h"]
    assert place(route.location("spec", "hostnames"), tmp_path) == "clusters/prod/app.yaml:20"


def test_variables_come_from_the_kustomization_and_from_config_maps(tmp_path: Path) -> None:
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, namespace: flux-system}\ndata: {A: map, B: map}\n"
    more = "postBuild:\n  substitute: {B: own}\n  substituteFrom:\n"
    more += "  - {kind: ConfigMap, name: s}\n  - {kind: Secret, name: t}\n"
    files = cluster(kustomization("app", "./app", more), **{"clusters/prod/s.yaml": settings})
    files["app/route.yaml"] = ROUTE.replace("a.example.com", '"${A}.${B}.${C:=default}", "${SECRET}.example.com"')
    route = workspace(tmp_path, files).simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert route.spec["hostnames"] == ["map.own.default", "${SECRET}.example.com"]


def test_an_artifact_may_begin_below_the_top(tmp_path: Path) -> None:
    """Of an OCI artifact made of `kubernetes/`, `./apps` is `kubernetes/apps`."""
    files = {
        "kubernetes/clusters/prod/ks.yaml": kustomization("apps", "./apps"),
        "kubernetes/apps/route.yaml": ROUTE,
        "apps-elsewhere/route.yaml": ROUTE.replace("name: shop", "name: other"),
    }
    assert deployed(workspace(tmp_path, files)) == {"prod": ["HTTPRoute default/shop"]}


REPLACED = """
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../base]
configMapGenerator: [{name: cluster, literals: [provider=PROVIDER], options: {disableNameSuffixHash: true}}]
replacements:
- source: {kind: ConfigMap, name: cluster, fieldPath: data.provider}
  targets:
  - {select: {kind: Kustomization}, fieldPaths: [spec.path], options: {delimiter: /, index: 1}}
"""


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("OCIRepository", ["ConfigMap default/cluster", "HTTPRoute default/shop"]),
        ("GitRepository", ["ConfigMap default/cluster"]),
    ],
    ids=["oci", "git"],
)
def test_so_may_one_whose_paths_only_the_build_says(tmp_path: Path, source: str, found: list[str]) -> None:
    """An artifact holds the directory around the Kustomizations that deploy it; a checkout begins at the top."""
    files = {
        "k8s/clusters/base/kustomization.yaml": KUSTOMIZATION + "resources: [ks.yaml]\n",
        "k8s/clusters/base/ks.yaml": kustomization("apps", "providers/__PROVIDER__/apps").replace(
            "GitRepository", source
        ),
        "k8s/providers/aws/apps/route.yaml": ROUTE,
        "k8s/providers/kind/apps/route.yaml": ROUTE,
    }
    for name, provider in (("local", "kind"), ("prod", "aws")):
        files[f"k8s/clusters/{name}/kustomization.yaml"] = REPLACED.replace("PROVIDER", provider)
    assert deployed(workspace(tmp_path, files)) == {"local": found, "prod": found}


def test_two_clusters_with_the_same_names_never_meet(tmp_path: Path) -> None:
    files = {
        f"clusters/{name}/app.yaml": kustomization("app", "./app", f"targetNamespace: {name}") for name in ("a", "b")
    }
    found = workspace(tmp_path, {**files, "app/route.yaml": ROUTE})
    assert deployed(found) == {"a": ["HTTPRoute a/shop"], "b": ["HTTPRoute b/shop"]}


NOTED = {
    "a path that is not there": (kustomization("app", "./gone"), "missing-path"),
    "another repository": (kustomization("app", "./gone", source="elsewhere"), "remote-base"),
    "another repository's top": (kustomization("app", "./", source="elsewhere"), "remote-base"),
    "a suspended Kustomization": (kustomization("app", "./app", "suspend: true"), "suspended"),
    "one that waits for itself": (kustomization("app", "./app", "dependsOn: [{name: app}]"), "depends-cycle"),
    "a component that is not there": (kustomization("app", "./app", "components: [../gone]"), "missing-file"),
}


@pytest.mark.parametrize(("app", "code"), NOTED.values(), ids=NOTED)
def test_what_is_noted(tmp_path: Path, app: str, code: str) -> None:
    assert codes(workspace(tmp_path, cluster(app))) == [code]


def test_kustomizations_that_deploy_each_other_end(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./one"),
        **{"one/ks.yaml": kustomization("two", "./two"), "two/ks.yaml": kustomization("app", "./one")},
    )
    assert sorted(key.name for key in workspace(tmp_path, files).simulations[0].world.resources) == [
        "app",
        "flux-system",
        "two",
    ]


def test_what_nothing_deploys_is_an_orphan(tmp_path: Path) -> None:
    files = cluster(
        kustomization("app", "./app"),
        **{"app/kustomization.yaml": "resources: [service.yaml]\n", "app/archive/old.yaml": ROUTE},
    )
    found = workspace(tmp_path, files).simulations[0].world
    assert [str(key) for key in found.orphans] == ["HTTPRoute ?/shop"]


def test_a_resource_set_deploys_what_it_holds(tmp_path: Path) -> None:
    resource_set = (
        "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: s, namespace: web}\nspec:\n"
        "  inputs: [{app: a}, {app: b}]\n  resources:\n  - apiVersion: v1\n    kind: Service\n"
        "    metadata: {name: << inputs.app >>}\n"
    )
    files = cluster(kustomization("app", "./sets"), **{"sets/set.yaml": resource_set})
    assert deployed(workspace(tmp_path, files))["prod"] == ["Service web/a", "Service web/b"]


CHART = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: chart, namespace: default}}
spec:
  chart: {{spec: {{chart: something, sourceRef: {{kind: HelmRepository, name: x}}}}}}
  values: {values}
"""


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ("{}", "missing"),
        ("{replicas: 2, route: {enabled: false}}", "missing"),
        ("{httpRoute: {enabled: true}}", "unknown"),
        ("{extraObjects: [{kind: HTTPRoute}]}", "unknown"),
        ("{server: {route: {main: {hostnames: [a]}}}}", "unknown"),
    ],
)
def test_a_chart_may_create_routes_only_if_its_values_speak_of_them(tmp_path: Path, values: str, state: str) -> None:
    from policylint.model import GATEWAY_GROUP, ResourceKey

    files = cluster(kustomization("app", "./app"), **{"app/chart.yaml": CHART.format(values=values)})
    world = workspace(tmp_path, files).simulations[0].world
    assert world.resolve(ResourceKey(GATEWAY_GROUP, "HTTPRoute", "default", "chart")).state == state
    assert world.resolve(ResourceKey("", "Service", "default", "chart")).state == "unknown"


def test_what_lies_outside_the_paths_given_is_followed(tmp_path: Path) -> None:
    """`policylint lint clusters/prod` in a repository: the root is there, the apps are beside it."""
    files = cluster(kustomization("app", "./app", "targetNamespace: web"), **{"app/deep/more.yaml": MORE})
    (written(tmp_path, files) / ".git").mkdir()
    found = open_workspace([str(tmp_path / "clusters" / "prod")])
    assert deployed(found) == {"prod": ["HTTPRoute web/shop", "Service web/more", "Service web/shop"]}


def test_a_variable_that_nothing_fills_in_is_noted_once(tmp_path: Path) -> None:
    files = cluster(kustomization("app", "./app"))
    files["app/route.yaml"] = ROUTE.replace("a.example.com", '"a.${DOMAIN}", "b.${DOMAIN}"')
    notes = workspace(tmp_path, files).simulations[0].world.notes
    assert [(note.rule, note.code, place(note.location, tmp_path)) for note in notes] == [
        ("GWP912", "unresolved-variable", "app/route.yaml:6")
    ]


def test_a_route_that_only_the_values_of_an_undeployed_release_speak_of_is_an_orphan(tmp_path: Path) -> None:
    release = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: player}\nspec:\n"
        "  chart: {spec: {chart: app-template}}\n  values: {route: {app: {parentRefs: [{name: edge}]}}}\n"
    )
    files = cluster(
        kustomization("app", "./app"),
        **{"app/kustomization.yaml": "resources: [route.yaml]\n", "app/player.yaml": release},
    )
    world = workspace(tmp_path, files).simulations[0].world
    assert [str(key) for key in world.orphans] == ["HTTPRoute ?/player", "Service ?/shop"]


def generator(source: str, *copies: tuple[str, str]) -> str:
    """An ArtifactGenerator of the artifact `shop`."""
    steps = "".join(f"        - {{from: '{origin}', to: '{to}'}}\n" for origin, to in copies)
    return (
        "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\n"
        "metadata: {name: shop, namespace: flux-system}\nspec:\n"
        f"  sources: [{{alias: repo, kind: GitRepository, name: {source}}}]\n"
        f"  artifacts:\n    - name: shop\n      copy:\n{steps}"
    )


@pytest.mark.parametrize(
    ("path", "copies"),
    [
        ("./", [("@repo/app/**", "@artifact/")]),
        ("./app", [("@repo/app", "@artifact/")]),
        ("./here", [("@repo/app/**", "@artifact/here/")]),
        ("./here", [("@repo/app", "@artifact/here")]),
        ("./in/app", [("@repo/clusters/**", "@artifact/in/app/"), ("@repo/app/**", "@artifact/in/app/")]),
    ],
)
def test_an_artifact_is_copied_from_the_tree(tmp_path: Path, path: str, copies: list[tuple[str, str]]) -> None:
    """fluxcd/source-watcher: what a Kustomization deploys is what the generator copies there."""
    app = kustomization("app", path, source="shop").replace("kind: GitRepository", "kind: ExternalArtifact")
    files = cluster(app, **{"clusters/prod/shop.yaml": generator("flux-system", *copies)})
    found = workspace(tmp_path, files)
    assert [key for key in deployed(found)["prod"] if "shop" in key and "default" in key] == [
        "HTTPRoute default/shop",
        "Service default/shop",
    ]


def test_a_path_that_is_all_variable_is_no_directory_of_this_tree(tmp_path: Path) -> None:
    app = kustomization("app", "./${CONTEXT}", source="orders")
    files = {"clusters/prod/app.yaml": app, "scripts/a.yaml": SERVICE, "scripts/kustomization.yaml": KUSTOMIZATION}
    found = workspace(tmp_path, {SYNC: kustomization("flux-system", "./clusters/prod"), **files})
    assert "Service default/shop" not in deployed(found)["prod"]
