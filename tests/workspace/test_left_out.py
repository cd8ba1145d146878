"""What lies in a tree and was not checked is said, in the last lines and in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from policylint.workspace.left_out import folded
from tests.diff.history import run

ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}]}}
"""
CALICO = "apiVersion: projectcalico.org/v3\nkind: GlobalNetworkPolicy\nmetadata: {name: a}\nspec: {}\n"
KYVERNO = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {rules: []}\n"
VAP = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\nspec: {}\n"


def written(directory: Path, files: dict[str, str]) -> None:
    for path, content in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(content)


def left_out(directory: Path, files: dict[str, str]) -> list[str]:
    written(directory, files)
    return [str(entry) for entry in open_workspace([str(directory)]).coverage.left_out]


def test_what_nothing_deploys_comes_first(tmp_path: Path) -> None:
    files = {
        "kustomization.yaml": "resources: [calico.yaml, kyverno.yaml, vap.yaml]\n",
        "calico.yaml": CALICO,
        "kyverno.yaml": KYVERNO,
        "vap.yaml": VAP,
        "old/a.yaml": ROUTE.format(name="a"),
        "old/kustomization.yaml": "resources: []\n",
        "main.jsonnet": "{}",
        "lib.libsonnet": "{}",
        "shop.cue": "a: 1",
        "main.tf": 'resource "kubernetes_manifest" "a" {}',
        "dns.tf": 'resource "aws_route53_record" "a" {}',
    }
    assert left_out(tmp_path, files) == [
        "1 Gateway API object or policy in a file that nothing deploys",
        "1 Calico network policy",
        "1 Kubernetes admission policy",
        "1 Kyverno admission policy",
        "2 jsonnet files",
        "1 CUE file",
        "1 Terraform file with manifests",
    ]


def test_alternatives_are_checked_each(tmp_path: Path) -> None:
    files = {f"k8s/{name}/route.yaml": ROUTE.format(name="web") for name in ("dev", "prod")}
    assert left_out(tmp_path, files) == []


@pytest.mark.parametrize(("number", "pronoun"), [(1, "it"), (2, "them")])
def test_nothing_was_checked_says_where_there_is_something(tmp_path: Path, number: int, pronoun: str) -> None:
    written(
        tmp_path, {"kustomization.yaml": "resources: [service.yaml]\n", "apps/kustomization.yaml": "resources: []\n"}
    )
    written(tmp_path, {"service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"})
    written(tmp_path, {f"apps/{name}.yaml": ROUTE.format(name=name) for name in "ab"[:number]})
    code, out, err = run(tmp_path, "lint")
    assert (code, "0 Gateway API resources" in err) == (0, False)
    assert f"nothing deploys: nothing was checked (--show-orphans lists {pronoun})" in err
    assert f"not checked: {number} Gateway API" in out
    (entry,) = json.loads(run(tmp_path, "lint", "-o", "json")[1])["coverage"]["left_out"]
    assert (entry["sort"], entry["number"]) == ("orphans", number)


def test_sentences_of_many_environments_are_one() -> None:
    said = ["3 files that are not there", "1 remote base", "1 file that is not there", "4 remote bases", "2 charts"]
    assert folded(said) == ("up to 3 files that are not there", "up to 4 remote bases", "2 charts")
