"""`load`: what is kept of a tree, and what is read again when something names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.load.reading import Loaded, load
from policylint.sources import open_source
from policylint.workspace import known_groups, open_workspace

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec:
  chartRef: {kind: OCIRepository, name: app-template}
  values:
    controllers: {web: {containers: {app: {image: {repository: web}}}}}
  interval: 1h
"""


def loaded(directory: Path, **files: str) -> Loaded:
    for name, text in files.items():
        (directory / name.replace("_yaml", ".yaml")).write_text(text, encoding="utf-8")
    return load(open_source([str(directory)]), known_groups())


def test_values_and_dashboards_are_counted_and_not_kept(tmp_path: Path) -> None:
    found = loaded(
        tmp_path,
        values_yaml="replicas: 2\n---\nimage: web\n",
        kustomization_yaml="resources: [values.yaml]\n",
        service_yaml="apiVersion: v1\nkind: Service\nmetadata: {name: web}\n",
        sync_yaml="instance: {sync: {path: clusters/prod}}\n",
    )
    assert {Path(each).name for each in found.idle} == {"values.yaml"}
    assert found.idle_documents == 2
    kept = sorted(Path(each.file).name for each in found.documents)
    assert kept == ["kustomization.yaml", "service.yaml", "sync.yaml"]


def test_what_is_not_kept_is_read_when_a_kustomization_names_it(tmp_path: Path) -> None:
    loaded(
        tmp_path,
        kustomization_yaml="resources: [route.yaml]\npatches: [{path: patch.yaml, target: {kind: HTTPRoute}}]\n",
        patch_yaml="- {op: replace, path: /spec/hostnames/0, value: patched.example.com}\n",
        route_yaml="apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web, namespace: apps}\n"
        "spec: {hostnames: [web.example.com]}\n",
    )
    (simulation,) = open_workspace([str(tmp_path)]).simulations
    (route,) = simulation.world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    assert route.body["spec"]["hostnames"] == ["patched.example.com"]


@pytest.mark.parametrize("rendered", [True, False])
def test_values_of_releases_are_kept_only_to_be_rendered(tmp_path: Path, rendered: bool) -> None:
    (tmp_path / "release.yaml").write_text(RELEASE, encoding="utf-8")
    (document,) = load(open_source([str(tmp_path)]), known_groups(), rendered=rendered).documents
    assert bool(document.value["spec"]["values"]) is rendered
    assert document.position(("spec", "interval")).line == 8
