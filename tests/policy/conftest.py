"""Small worlds written as YAML, simulated by the real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, policy, route, service

World = Callable[..., Simulation]

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: colorpolicies.example.org
  labels: {gateway.networking.k8s.io/policy: LABEL}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: ColorPolicy, plural: colorpolicies}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
"""

RULES = "rules: [{name: first, backendRefs: [{name: s, port: 80}]}, {backendRefs: [{name: s, port: 80}]}]"
TOPOLOGY = "---".join(
    (
        gateway_class("c", "example.org/controller"),
        gateway(
            "g",
            "default",
            "[{name: one, port: 80, protocol: HTTP}, {name: two, port: 8080, protocol: HTTP}]",
            of_class="c",
        ),
        route("r", "default", "[{name: g}]", more=RULES),
        service("s", "default"),
        "\n",
    )
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """`world(policies, label=..., semantics=...)`: simulate a Gateway, a route, a Service and these ColorPolicies."""

    def make(
        policies: str, *, label: str = "Inherited", semantics: str = "gep-713", topology: str = TOPOLOGY
    ) -> Simulation:
        path = tmp_path / "world.yaml"
        path.write_text(CRD.replace("LABEL", label) + topology + policies, encoding="utf-8")
        return open_workspace([str(path)], semantics=semantics).simulations[0]

    return make


def color(name: str, target: str, spec: str, created: str = "") -> str:
    """One ColorPolicy: `target` as `Kind/name` or `Kind/name#section`, `spec` as flow-style YAML."""
    return policy("example.org/v1", "ColorPolicy", name, target, spec, created=created) + "---\n"
