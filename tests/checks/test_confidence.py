"""Kinds whose behaviour could not be verified say so in findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks.confidence import settled
from policylint.model import Finding, Location
from policylint.model.resource import Spot
from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.checks.linting import WORLD, lint, policy


def confidence_of(finding: Finding, simulation: Simulation) -> str:
    (said,) = settled([finding], simulation, {})
    return said.confidence


CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shapings.acme.example, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: acme.example
  names: {kind: ShapingPolicy, plural: shapings}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def shaping(name: str, target: str) -> str:
    return policy("ShapingPolicy", name, target, "rate: 5").replace("gateway.envoyproxy.io/v1alpha1", "acme.example/v1")


CONFIGURED = {
    "group": "acme.example",
    "kind": "ShapingPolicy",
    "class": "Direct",
    "targets": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "sections": True}],
    "merge": {"strategy": "none"},
    "conflict": "same-target",
}
MISTAKE = shaping("a", "kind: HTTPRoute, name: checkout, sectionName: al")


def test_of_a_kind_that_only_a_crd_tells_nothing_is_certain(tmp_path: Path) -> None:
    (said,) = (each for each in lint(tmp_path, *WORLD, CRD, MISTAKE) if each.rule == "GWP103")
    assert said.confidence == "assumed"
    ground = "how ShapingPolicy behaves could not be verified in its implementation's code"
    assert said.help[-1] == f"note: this is assumed: {ground}"


def test_of_a_kind_read_in_its_code_it_is(tmp_path: Path) -> None:
    mistake = policy("SecurityPolicy", "a", "kind: HTTPRoute, name: checkout, sectionName: al", "cors: {}")
    (said,) = (each for each in lint(tmp_path, *WORLD, mistake) if each.rule == "GWP103")
    assert said.confidence == "certain"


@pytest.mark.parametrize(("verified", "confidence"), [("yes", "certain"), ("partly", "certain"), ("no", "assumed")])
@pytest.mark.parametrize(
    "rule", ["GWP102", "GWP103", "GWP104", "GWP201", "GWP202", "GWP203", "GWP204", "GWP205", "GWP206"]
)
def test_the_catalog_says_how_far_a_kind_is_verified(tmp_path: Path, rule: str, verified: str, confidence: str) -> None:
    (tmp_path / "world.yaml").write_text("---\n".join((*WORLD, CRD, MISTAKE)))
    simulation = open_workspace([str(tmp_path)]).simulations[0]
    ((key, state),) = simulation.policies.items()
    state.kind = state.kind._replace(verified=verified, origin="catalog")  # type: ignore[arg-type]
    finding = Finding(rule, "error", "", Location(Spot("world.yaml")), resources=(key,))
    assert confidence_of(finding, simulation) == confidence
    assert confidence_of(finding._replace(rule="GWP101"), simulation) == "certain", "rests on no kind"
    assert confidence_of(finding._replace(confidence="unknown"), simulation) == "unknown"


def test_what_the_configuration_says_of_a_kind_counts(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text("---\n".join((*WORLD, MISTAKE)))
    findings = open_workspace([str(tmp_path)], given=Assumptions(kinds=[CONFIGURED])).findings()
    assert [each.confidence for each in findings if each.rule == "GWP103"] == ["certain"]


def test_whether_policies_of_such_a_kind_conflict_is_a_note(tmp_path: Path) -> None:
    """Kuadrant/accesspolicy-controller adds up the AccessPolicies of one Gateway."""
    both = [shaping(name, "kind: HTTPRoute, name: checkout") for name in ("a", "b")]
    (said,) = (each for each in lint(tmp_path, *WORLD, CRD, *both) if each.rule == "GWP202")
    assert (said.severity, said.confidence) == ("note", "assumed")
    assert said.message.endswith("and may be refused")
    (tmp_path / "told").mkdir()
    (tmp_path / "told" / "world.yaml").write_text("---\n".join((*WORLD, *both)))
    findings = open_workspace([str(tmp_path / "told")], given=Assumptions(kinds=[CONFIGURED])).findings()
    assert [each.severity for each in findings if each.rule == "GWP202"] == ["error"]
