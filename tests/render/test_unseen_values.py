"""Values that the tree does not hold whole: variables of Secrets, files of other servers, paths of clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.render.test_flux import cluster, kustomization
from tests.render.trees import ROUTE, codes, deployed, kustomizer, workspace

VARIABLES = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\n"
    "data: {HOST: filled.example.com}\n"
)
EXTERNAL = (
    "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: fetched, namespace: flux-system}\n"
    "spec: {target: {name: secrets, template: {data: {KEY: '{{ .key }}'}}}}\n"
)
SEALED = (
    "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: secrets, namespace: flux-system}\n"
    "spec: {encryptedData: {KEY: Ag}}\n"
)
ENCRYPTED = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: secrets, namespace: flux-system}\n"
    "stringData: {KEY: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: x}\n"
)
IN_ORDER = ("{kind: ConfigMap, name: settings}", "{kind: Secret, name: secrets, optional: true}")


def hostname(directory: Path, sources: tuple[str, ...], secret: str) -> object:
    """The hostname of a route that says `${HOST}`."""
    post_build = f"postBuild: {{substituteFrom: [{', '.join(sources)}]}}"
    files = cluster(kustomization("app", "./app", post_build))
    files |= {"clusters/prod/settings.yaml": VARIABLES, "clusters/prod/secret.yaml": secret}
    files["app/route.yaml"] = ROUTE.replace("a.example.com", '"${HOST}"')
    (route,) = workspace(directory, files).simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    return route.spec["hostnames"][0]


@pytest.mark.parametrize("secret", [EXTERNAL, SEALED, ENCRYPTED], ids=["external", "sealed", "encrypted"])
def test_a_later_secret_with_the_same_key_takes_the_place_of_a_value(tmp_path: Path, secret: str) -> None:
    assert hostname(tmp_path / "same", IN_ORDER, secret.replace("KEY", "HOST")) == "${HOST}"
    assert hostname(tmp_path / "other", IN_ORDER, secret.replace("KEY", "TOKEN")) == "filled.example.com"
    assert hostname(tmp_path / "earlier", IN_ORDER[::-1], secret.replace("KEY", "HOST")) == "filled.example.com"


def test_what_is_encrypted_in_a_config_map_is_not_known(tmp_path: Path) -> None:
    """SOPS encrypts ConfigMaps, too, and Flux decrypts them before it fills in (fluxcd.io/flux/guides/mozilla-sops)."""
    encrypted = VARIABLES.replace("filled.example.com", "'ENC[AES256_GCM,data:x,type:str]'") + "sops: {mac: x}\n"
    assert (
        hostname(tmp_path / "later", ("{kind: ConfigMap, name: hidden}",), encrypted.replace("settings", "hidden"))
        == "${HOST}"
    )
    files = cluster(kustomization("app", "./app"))
    files["app/route.yaml"] = ROUTE.replace("a.example.com", "'a.ENC[AES256_GCM,data:x,type:str]'")
    assert not [each for each in workspace(tmp_path / "in place", files).findings() if each.rule == "GWP501"]


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        (EXTERNAL.replace("KEY", "HOST"), "${HOST:=default.example.com}"),
        (
            EXTERNAL.replace("KEY", "HOST").replace("name: secrets", "name: '${C:=s}ets'"),
            "${HOST:=default.example.com}",
        ),
        (EXTERNAL.replace("KEY", "TOKEN"), "default.example.com"),
        (EXTERNAL.replace("KEY", "HOST").replace("name: secrets", "name: '${C}-others'"), "default.example.com"),
    ],
    ids=["has it", "has it under a variable name", "has another", "another Secret"],
)
def test_a_default_counts_only_where_no_secret_states_the_variable(tmp_path: Path, secret: str, expected: str) -> None:
    files = cluster(kustomization("app", "./app", "postBuild: {substituteFrom: [{kind: Secret, name: secrets}]}"))
    files["clusters/prod/secret.yaml"] = secret
    files["app/route.yaml"] = ROUTE.replace("a.example.com", '"${HOST:=default.example.com}"')
    (route,) = workspace(tmp_path, files).simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    (host,) = route.spec["hostnames"]
    assert host == (expected if expected.startswith("default") else "${HOST}")


INSTANCE = (
    "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n"
    "spec: {sync: {kind: GitRepository, url: https://git.example.com/fleet, path: 'clusters/${CLUSTER}/start'}}\n"
)


def test_an_instance_whose_path_has_a_variable_syncs_a_cluster_for_each_directory(tmp_path: Path) -> None:
    files = {"apps/flux/instance.yaml": INSTANCE, "app/route.yaml": ROUTE}
    for name in ("east", "west"):
        files[f"clusters/{name}/start/apps.yaml"] = kustomization("apps", f"./clusters/{name}/apps")
        files[f"clusters/{name}/apps/app.yaml"] = kustomization("app", "./app")
    assert deployed(workspace(tmp_path, files)) == {name: ["HTTPRoute default/shop"] for name in ("east", "west")}


@pytest.mark.parametrize("written", ["clusters/${CLUSTER:=${NAME}}/start", "clusters/${ZONE}-${NAME}/start"])
def test_an_instance_syncs_the_directory_that_a_config_map_states(tmp_path: Path, written: str) -> None:
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {NAME: east, ZONE: eu}\n"
    name = "east" if ":=" in written else "eu-east"
    files = {"apps/flux/instance.yaml": INSTANCE.replace("clusters/${CLUSTER}/start", written), "app/route.yaml": ROUTE}
    files["apps/flux/settings.yaml"] = settings
    for each in (name, "west"):
        files[f"clusters/{each}/start/apps.yaml"] = kustomization("app", "./app")
    assert deployed(workspace(tmp_path, files))[name] == ["HTTPRoute default/shop"]


def test_a_kustomization_beside_clusters_that_sync_themselves_is_no_cluster(tmp_path: Path) -> None:
    files = cluster(kustomization("app", "./app"))
    files |= {"components/flux/monitor.yaml": kustomization("monitor", "./components/flux/monitor")}
    files |= {"components/flux/monitor/route.yaml": ROUTE.replace("name: shop", "name: monitor")}
    assert list(deployed(workspace(tmp_path, files))) == ["prod"]


def test_a_file_of_another_server_is_fetched_by_a_generator(tmp_path: Path) -> None:
    generator = "configMapGenerator:\n- {name: page, files: ['index.html=https://example.com/x.html']}\n"
    found = workspace(tmp_path, {"kustomization.yaml": f"resources: [route.yaml]\n{generator}", "route.yaml": ROUTE})
    assert codes(found) == []
    assert [key for key in deployed(found)["default"] if key.startswith("ConfigMap")] == [
        "ConfigMap default/page-${hash}"
    ]


def test_a_patch_finds_annotations_on_every_object(tmp_path: Path) -> None:
    patch = "patches:\n- {target: {kind: HTTPRoute}, patch: '[{op: add, path: /metadata/annotations/a, value: b}]'}\n"
    files = {"kustomization.yaml": f"resources: [route.yaml]\n{patch}", "route.yaml": ROUTE}
    built = kustomizer(tmp_path, files).build("")
    assert built.manifests[0].metadata["annotations"] == {"a": "b"}
    assert (built.journal.notes, built.journal.failures) == ([], [])


VALUES = """
controllers: {main: {containers: {main: {image: {repository: x, tag: "1"}}}}}
service: {main: {controller: main, ports: {http: {port: 80}}}}
route: {main: {parentRefs: [{name: edge, namespace: infra}], hostnames: [shop.example.com]}}
"""


def test_app_template_of_a_kustomization_is_made_of_its_files(tmp_path: Path) -> None:
    chart = "helmCharts:\n- {name: app-template, version: 5.1.0, releaseName: shop, namespace: web,"
    inline = "{route: {main: {hostnames: [inline.example.com]}}}"
    files = {
        "kustomization.yaml": f"{chart}\n   valuesFile: values.yaml, valuesInline: {inline}}}\n",
        "values.yaml": VALUES,
    }
    found = workspace(tmp_path, files)
    assert {"HTTPRoute web/shop", "Service web/shop"} <= set(deployed(found)["default"])
    (route,) = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    assert route.spec["hostnames"] == ["inline.example.com"]
    assert codes(found) == []


def test_app_template_of_an_application_is_made_of_the_files_of_another_source(tmp_path: Path) -> None:
    application = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop, namespace: argocd}\n"
        "spec:\n  destination: {server: https://kubernetes.default.svc, namespace: web}\n  sources:\n"
        "  - {repoURL: oci://x, chart: app-template, targetRevision: 5.1.0, helm: {valueFiles: [$values/apps/FILE]}}\n"
        "  - {repoURL: https://git.example.com/r, ref: values}\n"
    )
    files = {"argo/shop.yaml": application.replace("FILE", "shop.yaml"), "apps/shop.yaml": VALUES}
    found = workspace(tmp_path / "there", files)
    assert {"HTTPRoute web/shop", "Service web/shop"} <= set(deployed(found)["in-cluster"])
    assert not any(resource.provisional for resource in found.simulations[0].world.resources.values())
    files["argo/shop.yaml"] = application.replace("FILE", "lost.yaml")
    assert "HTTPRoute web/shop" not in deployed(workspace(tmp_path / "lost", files)).get("in-cluster", [])
