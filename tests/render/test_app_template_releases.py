"""Releases of the app-template chart as Flux installs them: its version, its values, and what is not seen of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import Resource, ResourceKey, World
from tests.render.trees import workspace

SYNC = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, targetNamespace: tv, sourceRef: {kind: GitRepository, name: flux-system}}
"""
VALUES = """
    controllers: {main: {containers: {app: {}}}}
    service: {app: {ports: {http: {port: 80}}}}
    route: {app: {parentRefs: [{name: edge}]}}
"""
CHART = "chart: {spec: {chart: app-template, version: 5.1.0, sourceRef: {kind: HelmRepository, name: x}}}"
MAP = """---
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
data:
  values.yaml: |
    service: {app: {ports: {admin: {port: 81}}}}
  disabled: "false"
  port: "8080"
  text: "'8080'"
"""


def world(directory: Path, chart: str = CHART, more: str = "", others: str = "", values: str = VALUES) -> World:
    release = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: plex}\nspec:\n"
        f"  {chart}\n{more}  values:{values}"
    )
    files = {"clusters/prod/sync.yaml": SYNC, "apps/plex.yaml": f"{release}\n{others}"}
    return workspace(directory, files).simulations[0].world


def service(found: World, name: str = "plex") -> Resource:
    return found.resources[ResourceKey("", "Service", "tv", name)]


def values_from(*sources: str) -> str:
    return "  valuesFrom:\n" + "".join(f"  - {{kind: ConfigMap, name: {source}}}\n" for source in sources)


def ports(found: World) -> dict[str, object]:
    return {port["name"]: port["port"] for port in service(found).spec["ports"]}


def test_nothing_of_a_release_whose_values_are_seen_is_open(tmp_path: Path) -> None:
    found = world(tmp_path)
    assert not [str(key) for key, made in found.resources.items() if made.provisional]
    assert found.resolve(ResourceKey("", "Service", "tv", "else")).state == "missing"


def test_what_rests_on_values_that_are_not_seen_is_unknown(tmp_path: Path) -> None:
    found = world(tmp_path, more=values_from("absent"))
    assert service(found).provisional
    assert found.resolve(ResourceKey("", "Service", "tv", "else")).state == "unknown"


def test_values_of_config_maps_of_the_tree_are_known(tmp_path: Path) -> None:
    found = world(tmp_path, more=values_from("shared", "absent, optional: true"), others=MAP)
    assert ports(found) == {"admin": 81, "http": 80}
    assert not service(found).provisional


@pytest.mark.parametrize(
    ("key", "path", "expected"),
    [
        ("port", "service.app.ports.admin.port", {"admin": 8080, "http": 80}),
        ("disabled", "service.app.ports.http.enabled", {}),
        ("text", "service.app.ports.admin.targetPort", {"http": 80}),
    ],
)
def test_single_values_are_read_as_helm_sets_them(
    tmp_path: Path, key: str, path: str, expected: dict[str, object]
) -> None:
    found = world(tmp_path, more=values_from(f"shared, valuesKey: {key}, targetPath: {path}"), others=MAP)
    assert ports(found) == expected


SOURCE = """---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {{name: here}}
spec: {{url: oci://ghcr.io/bjw-s-labs/helm/{}, ref: {{tag: {}}}}}
"""


@pytest.mark.parametrize(("tag", "label"), [("3.7.3", "component"), ("4.6.2", "controller"), ("5.1.0", "controller")])
def test_the_version_of_the_chart_counts(tmp_path: Path, tag: str, label: str) -> None:
    found = world(tmp_path, "chartRef: {kind: OCIRepository, name: here}", others=SOURCE.format("app-template", tag))
    assert service(found).spec["selector"][f"app.kubernetes.io/{label}"] == "main"


def test_another_chart_of_the_family_has_values_that_are_not_seen(tmp_path: Path) -> None:
    found = world(tmp_path, "chartRef: {kind: OCIRepository, name: here}", others=SOURCE.format("memini", "1.0.0"))
    assert service(found, "plex-memini").provisional
    assert found.resolve(ResourceKey("", "Service", "tv", "plex")).state == "unknown"


def test_post_renderers_change_workloads_too(tmp_path: Path) -> None:
    patch = (
        "  postRenderers:\n  - kustomize:\n      patches:\n      - target: {kind: Deployment}\n"
        "        patch: '[{op: add, path: /spec/template/metadata/labels/x, value: z}]'\n"
    )
    found = world(tmp_path, more=patch)
    labels = found.resources[ResourceKey("apps", "Deployment", "tv", "plex")].spec["template"]["metadata"]["labels"]
    assert labels["x"] == "z"


@pytest.mark.parametrize(
    ("version", "values", "made"),
    [
        ("5.1.0", VALUES, True),
        ("6.0.0", VALUES, True),
        ("18.16.14", VALUES, False),
        ("5.1.0", f"{VALUES}    portal: {{open: {{enabled: false}}}}\n", False),
        (
            "5.1.0",
            "\n    workload: {main: {}}\n    service: {main: {ports: {main: {port: 80, protocol: http}}}}\n",
            False,
        ),
    ],
)
def test_another_chart_of_the_name_is_not_rendered_as_this_one(
    tmp_path: Path, version: str, values: str, made: bool
) -> None:
    """TrueCharts has one: trueforge-org/truecharts, charts/library/common (`workload`, protocols in lower case)."""
    found = world(tmp_path, CHART.replace("5.1.0", version), values=values).of_kind("", "Service")
    assert bool(found) is made
