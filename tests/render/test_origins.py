"""Values of objects that another program rendered are located in the files a person edits, where those are here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.trees import KUSTOMIZATION, ROUTE, deployed, place, written

kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")

OVERLAY = {
    "base/kustomization.yaml": KUSTOMIZATION + "resources: [route.yaml]\n",
    "base/route.yaml": ROUTE,
    "overlay/kustomization.yaml": KUSTOMIZATION
    + "resources: [../base]\nbuildMetadata: [originAnnotations]\nnamePrefix: a-\nnamespace: web\n",
}


@kubectl
def test_an_origin_annotation_leads_back_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kustomize build overlay > rendered.yaml`, and the same through a pipe."""
    written(tmp_path, OVERLAY)
    monkeypatch.chdir(tmp_path)
    output = subprocess.run(["kubectl", "kustomize", "overlay"], capture_output=True, check=True).stdout
    Path("rendered.yaml").write_bytes(output)
    world = open_workspace(["rendered.yaml"]).simulations[0].world
    route = world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert str(route.key) == "HTTPRoute web/a-shop"
    assert place(route.location("spec", "parentRefs", 0, "name"), tmp_path) == "base/route.yaml:8"
    assert place(route.location("metadata", "name"), tmp_path).startswith("rendered.yaml:")


ANNOTATED = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: shop
  annotations:
    config.kubernetes.io/origin: |
      SAID
spec:
  hostnames: [a.example.com]
"""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("path: base/route.yaml", "base/route.yaml:6"),
        ("path: ../../base/route.yaml", "base/route.yaml:6"),
        ("path: gone.yaml", "rendered.yaml:9"),
        ("path: /etc/passwd", "rendered.yaml:9"),
        ("path: base/kustomization.yaml", "rendered.yaml:9"),
        ("{path: base/route.yaml, repo: 'https://git.example.com/else'}", "rendered.yaml:9"),
        ("[", "rendered.yaml:9"),
        ("5", "rendered.yaml:9"),
    ],
)
def test_what_an_origin_may_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, expected: str) -> None:
    written(tmp_path, {**OVERLAY, "rendered.yaml": ANNOTATED.replace("SAID", said)})
    monkeypatch.chdir(tmp_path)
    world = open_workspace(["rendered.yaml"]).simulations[0].world
    route = world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert place(route.location("spec", "hostnames", 0), tmp_path) == expected


TRANSFORMED = {
    "kustomization.yaml": "resources: [r.yaml]\ntransformers: [t.yaml]\n",
    "r.yaml": ROUTE,
    "t.yaml": """
apiVersion: builtin
kind: PatchTransformer
metadata: {name: x}
target: {kind: HTTPRoute}
patch: |-
  - {op: replace, path: /spec/hostnames/0, value: changed.example.com}
  - {op: replace, path: /metadata/name, value: shop-two}
options: {allowNameChange: true}
""",
}


@kubectl
def test_what_kubectl_rendered_for_lack_of_coverage_is_located_by_its_values(tmp_path: Path) -> None:
    found = open_workspace([str(written(tmp_path, TRANSFORMED))], render="external")
    assert deployed(found) == {"default": ["HTTPRoute default/shop-two"]}
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert [
        place(route.location("spec", "parentRefs", 0, "name"), tmp_path),
        place(route.location("spec", "hostnames", 0), tmp_path),
        place(route.name_location, tmp_path),
    ] == ["r.yaml:8", "kustomization.yaml:2", "kustomization.yaml:2"]
