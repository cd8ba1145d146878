"""Fields that indentation put in the wrong place: where they belong, and that the API server drops them."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.documents import read
from policylint.model import ResourceKey
from policylint.schema.explain import explain
from policylint.schema.known import shipped_schema
from policylint.simulation import Simulation
from tests.worlds import GATEWAY_API, simulated

PLACES = {
    "too little, below a key left empty": (
        ("cluster.open-cluster-management.io", "Placement", "v1beta1"),
        "predicates: [{requiredClusterSelector: , claimSelector: {matchExpressions: []}}]",
        ("spec.predicates[0].claimSelector: spec.predicates[0].requiredClusterSelector.claimSelector",),
    ),
    "two levels too little": (
        ("cluster.open-cluster-management.io", "Placement", "v1beta1"),
        "predicates: [{requiredClusterSelector: , labelSelector: , matchLabels: {env: dev}}]",
        (
            "spec.predicates[0].labelSelector: spec.predicates[0].requiredClusterSelector.labelSelector",
            "spec.predicates[0].matchLabels: spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels",
        ),
    ),
    "out of the last entry of a list": (
        (GATEWAY_API, "HTTPRoute", "v1"),
        "parentRefs: [{name: a}, {name: edge}]\n  sectionName: https",
        ("spec.sectionName: spec.parentRefs[1].sectionName",),
    ),
    "too much": (
        ("gateway.envoyproxy.io", "SecurityPolicy", "v1alpha1"),
        "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge, cors: {allowOrigins: ['*']}}",
        ("spec.targetRef.cors: spec.cors",),
    ),
    "of an Istio policy": (
        ("security.istio.io", "AuthorizationPolicy", "v1"),
        "selector: \n  matchLabels: {app: web}",
        ("spec.matchLabels: spec.selector.matchLabels",),
    ),
    "a value that fits nowhere": (
        ("security.istio.io", "AuthorizationPolicy", "v1"),
        "selector: \n  matchLabels: [web]",
        ("spec.matchLabels: ",),
    ),
    "the name is taken there": (
        (GATEWAY_API, "HTTPRoute", "v1"),
        "parentRefs: [{name: edge, sectionName: http}]\n  sectionName: https",
        ("spec.sectionName: ",),
    ),
}


def dotted(pointer: tuple[Any, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in pointer).lstrip(".")


@pytest.mark.parametrize("case", PLACES)
def test_an_unknown_field_belongs_where_its_name_and_form_fit(case: str) -> None:
    (group, kind, version), spec, places = PLACES[case]
    text = f"apiVersion: {group}/{version}\nkind: {kind}\nmetadata: {{name: x}}\nspec:\n  {spec}\n"
    (known,) = shipped_schema(group, kind, version)
    (document,) = read(text.encode(), "a.yaml").documents
    found = [one for one in explain(known.schema, document.value) if one.code == "unknown-field"]
    assert tuple(f"{dotted(one.pointer)}: {dotted(one.belongs)}" for one in found) == places


def test_a_misplaced_setting_does_not_act() -> None:
    """It is beside its own place, so that the API server stores the policy without it."""
    policy = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: open}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge, jwt: {providers: [{name: a}]}}]
"""
    simulation: Simulation = simulated(policy)
    stored = simulation.policies[ResourceKey("gateway.envoyproxy.io", "SecurityPolicy", "default", "open")].policy
    assert "jwt" not in stored.spec["targetRefs"][0]
