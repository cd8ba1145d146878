"""Small worlds written as YAML, simulated by the real engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from policylint.simulation import Simulation
from policylint.workspace import open_workspace

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

TOPOLOGY = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: example.org/controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: default}
spec:
  gatewayClassName: c
  listeners:
    - {name: one, port: 80, protocol: HTTP}
    - {name: two, port: 8080, protocol: HTTP}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: default}
spec:
  parentRefs: [{name: g}]
  rules:
    - name: first
      backendRefs: [{name: s, port: 80}]
    - backendRefs: [{name: s, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: s, namespace: default}
spec:
  ports: [{name: http, port: 80}]
---
"""


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
    kind, _, rest = target.partition("/")
    object_name, _, section = rest.partition("#")
    group = "" if kind in ("Service", "Namespace") else "gateway.networking.k8s.io"
    stamp = f", creationTimestamp: '{created}'" if created else ""
    at = f", sectionName: {section}" if section else ""
    return (
        "apiVersion: example.org/v1\nkind: ColorPolicy\n"
        f"metadata: {{name: {name}, namespace: default{stamp}}}\n"
        f"spec: {{targetRefs: [{{group: '{group}', kind: {kind}, name: {object_name}{at}}}], {spec}}}\n---\n"
    )
