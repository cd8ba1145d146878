"""The built-in renderer and the real `kubectl kustomize` give the same objects, on worlds of our own and on real trees.

The real trees are compared whole by `bench/rendering.py --kubectl`; here a sample of each, for the time it takes.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bench.rendering import compare, trees
from policylint.workspace import open_workspace
from tests.nightly import sampled
from tests.render.trees import FIXTURES, KUSTOMIZATION, ROUTE, SERVICE, codes, deployed, written

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
SAMPLE = 12

FEATURES = {
    "app/kustomization.yaml": KUSTOMIZATION
    + """
namespace: shop
namePrefix: p-
nameSuffix: -s
resources: [route.yaml, service.yaml]
labels:
- pairs: {team: a}
- pairs: {tier: b}
  includeSelectors: true
commonAnnotations: {owner: me}
configMapGenerator:
- name: settings
  literals: [a=b, "c=<d>&é"]
- name: from-file
  files: [text.txt, other=text.txt]
secretGenerator:
- name: secret
  literals: [a=b]
patches:
- patch: |
    apiVersion: v1
    kind: Service
    metadata:
      name: shop
    spec:
      ports:
      - name: tls
        port: 443
      - name: web
        port: 80
- target: {kind: HTTPRoute, name: sh.*}
  patch: |
    - op: add
      path: /spec/rules/0
      value: {name: zero}
    - op: replace
      path: /spec/hostnames/0
      value: b.example.com
replacements:
- source: {kind: Service, name: shop, fieldPath: spec.ports.0.port}
  targets:
  - select: {kind: HTTPRoute}
    fieldPaths: [spec.parentRefs.0.port]
    options: {create: true}
""",
    "app/route.yaml": ROUTE,
    "app/service.yaml": SERVICE,
    "app/text.txt": "several\\nlines: of text\\n",
    "part/kustomization.yaml": """
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- patch: |
    apiVersion: gateway.networking.k8s.io/v1
    kind: HTTPRoute
    metadata: {name: shop, annotations: {owner: null}}
    spec: {rules: [{name: only}]}
""",
    "overlay/kustomization.yaml": KUSTOMIZATION
    + """
namespace: other
resources: [../app]
components: [../part]
patches:
- target: {kind: Service, name: p-shop-s}
  patch: |
    - op: add
      path: /spec/type
      value: NodePort
- target: {kind: HTTPRoute, name: shop}
  patch: |
    - op: add
      path: /spec/hostnames/-
      value: c.example.com
""",
}


def differences(directory: Path) -> list[str]:
    rows, refused, _ = compare(directory)
    assert refused == 0
    assert rows
    return [f"{each.directory}: {difference}" for each in rows for difference in each.differences]


def test_every_feature_at_once(tmp_path: Path) -> None:
    assert differences(written(tmp_path, FEATURES)) == []


WORDS = (
    ROUTE
    + """
---
apiVersion: v1
kind: Service
metadata:
  name: off
  namespace: no
  labels: {app: on, yes: y, really: true, number: 1}
  annotations: {port: 8080, scrape: true, wait: NO}
spec: {selector: {on: off}, ports: [{name: y, port: 80}], publishNotReadyAddresses: True}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: n, namespace: shop}
spec: {hostnames: [yes, 'no', "on"], rules: [{matches: [{headers: [{name: x, value: On}, {name: Y, value: false}]}]}]}
"""
)


@pytest.mark.parametrize("more", ["", "namePrefix: p-\n", "nameSuffix: -s\ncommonAnnotations: {a: 'on'}\n"])
def test_words_are_texts_and_annotations_are_written_anew(more: str, tmp_path: Path) -> None:
    files = {"kustomization.yaml": f"{KUSTOMIZATION}\nresources: [a.yaml]\n{more}", "a.yaml": WORDS}
    assert differences(written(tmp_path, files)) == []


@pytest.mark.parametrize("name", ["kustomize-two-clusters", "flux-shop", "app-template-home"])
def test_our_worlds(name: str) -> None:
    assert differences(FIXTURES / name) == []


@pytest.mark.slow
@pytest.mark.skipif(not trees(), reason="../shared/trees is not there")
@pytest.mark.parametrize("tree", sampled(trees(), "kubectl"), ids=lambda tree: tree.name)
def test_real_trees(tree: Path) -> None:
    rows, _, _ = compare(tree, most=SAMPLE)
    assert [f"{each.directory}: {difference}" for each in rows for difference in each.differences] == []


def test_what_is_not_covered_is_rendered_by_kubectl(tmp_path: Path) -> None:
    prefix = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: x}\nprefix: z-\n"
    prefix += "fieldSpecs: [{path: metadata/name}]\n"
    files = {"kustomization.yaml": "resources: [r.yaml]\ntransformers: [t.yaml]\n", "r.yaml": ROUTE, "t.yaml": prefix}
    found = open_workspace([str(written(tmp_path, files))], render="external")
    assert deployed(found) == {"default": ["HTTPRoute default/z-shop"]}
    assert codes(found) == []
    assert deployed(open_workspace([str(tmp_path)])) == {"default": ["HTTPRoute default/shop"]}


def test_without_a_program_what_is_not_covered_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"kustomization.yaml": "resources: [r.yaml]\nvars: [{name: X}]\n", "r.yaml": ROUTE}
    written(tmp_path / "tree", files)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = open_workspace([str(tmp_path / "tree")], render="external")
    assert deployed(found) == {"default": ["HTTPRoute default/shop"]}
    assert (codes(found), found.coverage.not_rendered) == (
        ["not-covered"],
        ("1 kustomization not fully covered",),
    )


def test_a_program_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"kustomization.yaml": "resources: [r.yaml]\nvars: [{name: X}]\n", "r.yaml": ROUTE}
    (tmp_path / "kubectl").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("policylint.render.kustomize.external.TIMEOUT", 0.2)
    found = open_workspace([str(written(tmp_path / "tree", files))], render="external")
    assert (deployed(found), codes(found)) == ({"default": ["HTTPRoute default/shop"]}, ["not-covered"])
