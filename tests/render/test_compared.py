"""Files that tests of Chainsaw and KUTTL compare a cluster with are no objects of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.render.trees import ROUTE, written

GATEWAY = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: class
  listeners: [{name: http, port: 80, protocol: HTTP}]
"""
EXPECTED = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: other, namespace: shop}
spec:
  (length(listeners)): 1
"""
KUTTL = "apiVersion: kuttl.dev/v1beta1\nkind: TestStep\nassert: [seen.yaml]\nerror: [gone.yaml]\n"


def chainsaw(*operations: str, kind: str = "Test") -> str:
    steps = "".join(f"    - {each}\n" for each in operations)
    return f"apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: {kind}\nspec:\n  steps:\n  - try:\n{steps}"


def said(tmp_path: Path, files: dict[str, str], *, strict: bool = False) -> list[str]:
    found = open_workspace([str(written(tmp_path, {"a/gateway.yaml": GATEWAY, **files}))], strict=strict)
    return sorted({f"{each.rule} {Path(each.location.file).name}" for each in found.findings()})


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "files",
    [
        {"a/chainsaw-test.yaml": chainsaw("assert: {file: expected.yaml}"), "a/expected.yaml": EXPECTED},
        {"a/chainsaw-test.yaml": chainsaw("error: {timeout: 1s, file: ./x/../gone.yaml}"), "a/gone.yaml": EXPECTED},
        {"a/chainsaw-test.yaml": chainsaw("assert: {file: 'states/*.yaml'}"), "a/states/one.yaml": EXPECTED},
        {"a/chainsaw-test.yaml": chainsaw("patch: {file: ../b/change.yaml}"), "b/change.yaml": EXPECTED},
        {"a/step.yaml": chainsaw("assert: {file: late.yaml}", kind="StepTemplate"), "a/late.yaml": EXPECTED},
        {"a/01-assert.yaml": EXPECTED, "a/02-errors.yaml": EXPECTED, "a/03-assert-edge.yml": EXPECTED},
        {
            "a/00-step.yaml": KUTTL,
            "a/seen.yaml": EXPECTED,
            "a/gone.yaml": EXPECTED,
        },
    ],
)
def test_what_a_test_compares_with_is_no_object(tmp_path: Path, files: dict[str, str], strict: bool) -> None:
    assert {each.partition(" ")[0] for each in said(tmp_path, files, strict=strict)} == {"GWP409"}  # no route


@pytest.mark.parametrize(
    "files",
    [
        {"a/other.yaml": EXPECTED},
        {"a/assert.yaml": EXPECTED},
        {"a/chainsaw-test.yaml": chainsaw("apply: {file: other.yaml}"), "a/other.yaml": EXPECTED},
        {
            "a/chainsaw-test.yaml": chainsaw("create: {file: other.yaml}", "assert: {file: other.yaml}"),
            "a/other.yaml": EXPECTED,
        },
        {
            "a/test.yaml": chainsaw("assert: {file: other.yaml}").replace("chainsaw.kyverno.io", "tests.example.com"),
            "a/other.yaml": EXPECTED,
        },
    ],
)
def test_whatever_else_a_file_is_called_and_what_is_applied_as_well_is_one(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert {each.partition(" ")[0] for each in said(tmp_path, files)} >= {"GWP501"}


def test_nothing_of_it_is_deployed_beside_a_kustomization(tmp_path: Path) -> None:
    files = {
        "a/kustomization.yaml": "resources: [gateway.yaml]\n",
        "suite/chainsaw-test.yaml": chainsaw("assert: {file: route.yaml}"),
        "suite/route.yaml": ROUTE,
    }
    found = open_workspace([str(written(tmp_path, {"a/gateway.yaml": GATEWAY, **files}))])
    assert {key.kind for each in found.simulations for key in each.world.resources} == {"Gateway"}


RESULTS = (
    "results: [{policy: named, rule: it, resource: other, kind: Gateway, result: fail, patchedResource: changed.yaml}]"
)
OLD = f"name: named\npolicies: [policy.yaml]\nresources: [held.yaml, ../more/]\n{RESULTS}\n"
NEW = f"apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {{name: named}}\n{OLD.partition(chr(10))[2]}"
HELD = {"b/held.yaml": EXPECTED, "more/held.yaml": EXPECTED, "b/changed.yaml": EXPECTED}


@pytest.mark.parametrize(
    "test",
    [{"b/kyverno-test.yaml": OLD}, {"b/kyverno-test.yml": OLD}, {"b/kyverno-test.yaml": NEW}, {"b/own.yaml": NEW}],
)
def test_what_is_held_against_policies_is_no_object(tmp_path: Path, test: dict[str, str]) -> None:
    """nirmata/kyverno-policies: the form of before 1.12 is no object, and known by its name."""
    assert {each.partition(" ")[0] for each in said(tmp_path, {**HELD, **test})} == {"GWP409"}


@pytest.mark.parametrize(
    "test",
    [
        {"b/own.yaml": OLD},
        {"b/kyverno-test.yaml": OLD.replace(RESULTS, "")},
        {"b/kyverno-test.yaml": OLD.replace("policy.yaml", "held.yaml")},
        {},
    ],
)
def test_what_no_test_holds_is_an_object(tmp_path: Path, test: dict[str, str]) -> None:
    assert "GWP501 held.yaml" in said(tmp_path, {"b/held.yaml": EXPECTED, **test})
