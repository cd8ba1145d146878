"""GWP313: DestinationRules by whose subsets pods of the mesh, or Gateways, show no certificate where one is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint

WORLD = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, version: v1}}
    spec: {containers: [{name: app, ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: strict, namespace: shop}
spec: {mtls: {mode: MODE}}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [web], http: [{route: [{destination: {host: web, subset: CALLED}}]}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec:
  host: web
  subsets:
    - {name: one, labels: {version: v1}, trafficPolicy: {POLICY}}
    - {name: two, labels: {app: web}}
"""


@pytest.mark.parametrize(
    ("policy", "called", "mode", "told"),
    [
        ("tls: {mode: DISABLE}", "one", "STRICT", True),
        ("portLevelSettings: [{port: {number: 80}, tls: {mode: SIMPLE}}]", "one", "STRICT", True),
        ("tls: {mode: ISTIO_MUTUAL}", "one", "STRICT", False),
        ("tls: {mode: DISABLE}", "two", "STRICT", False),
        ("tls: {mode: DISABLE}", "one", "PERMISSIVE", False),
    ],
)
def test_subsets_that_show_no_certificate(tmp_path: Path, policy: str, called: str, mode: str, told: bool) -> None:
    world = WORLD.replace("POLICY", policy).replace("CALLED", called).replace("MODE", mode)
    found = [each.message for each in lint(tmp_path, world) if each.rule == "GWP313"]
    assert ["(version: v1)" in message for message in found] == ([True] if told else [])
