"""Routes of a mesh in a group of their own: those with a Service as parent are routes like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.worlds import opened

WORLD = """
apiVersion: v1
kind: Namespace
metadata: {name: NAME, annotations: {linkerd.io/inject: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAME}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAME}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web}]}}
"""
ROUTE = """
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: over, namespace: HOME}
spec:
  parentRefs: [{group: GROUP, kind: KIND, name: web, namespace: shop}]
  rules: [{backendRefs: [{name: web, namespace: HOME, port: 80}]}]
"""


@pytest.mark.parametrize(
    ("home", "group", "kind", "client", "reached"),
    [
        ("desk", "core", "Service", "desk", "desk/web"),
        ("desk", '""', "Service", "desk", "desk/web"),
        ("desk", "core", "Service", "till", "shop/web"),
        ("shop", "core", "Service", "till", "shop/web"),
        ("desk", "policy.linkerd.io", "Server", "desk", "shop/web"),
    ],
    ids=["of the client", "core written as nothing", "of another client", "of the Service", "of a Server"],
)
def test_a_route_in_the_group_of_the_mesh(
    tmp_path: Path, home: str, group: str, kind: str, client: str, reached: str
) -> None:
    around = "\n---\n".join(WORLD.replace("NAME", name) for name in ("shop", "desk", "till"))
    route = ROUTE.replace("HOME", home).replace("GROUP", group).replace("KIND", kind)
    simulation = opened(tmp_path, around, route)
    asked = from_url("GET", "http://web.shop/", client=f"Deployment/{client}/web")
    trace = Tracer(simulation).trace(asked)
    assert trace.outcome.shares[0].key.path == reached
