"""GWP412: the Secret of a listener, or of what ends TLS beside Gateway API, is made in another namespace alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint
from tests.worlds import gateway_class

EG = gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
EDGE = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: eg
  listeners:
  - {name: tls, port: 443, protocol: HTTPS, hostname: a.test, tls: {certificateRefs: [{name: web-tls}]}}
"""
INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: infra}
spec: {tls: [{hosts: [a.test], secretName: web-tls}], rules: [{host: a.test}]}
"""
ROUTER = """
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: web, namespace: infra}
spec: {tls: {secretName: web-tls}, routes: [{match: Host(`a.test`), kind: Rule, services: [{name: web, port: 80}]}]}
"""


def made(namespace: str, name: str = "web-tls", more: str = "") -> str:
    return f"""
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {{name: web, namespace: {namespace}}}
spec: {{secretName: {name}, dnsNames: [a.test], issuerRef: {{name: le, kind: ClusterIssuer}}{more}}}
"""


COPIED = ", secretTemplate: {annotations: {reflector.v1.k8s.emberstack.com/reflection-allowed: 'true'}}"


@pytest.mark.parametrize("holder", [EG + "---" + EDGE, INGRESS, ROUTER])
@pytest.mark.parametrize(
    ("makers", "misplaced"),
    [
        ((made("shop"),), True),
        ((made("infra"),), False),
        ((made("shop"), made("infra")), False),
        ((made("shop", "other"),), False),
        ((made("shop", more=COPIED),), False),
        ((made("shop"), made("store")), False),
    ],
)
def test_a_secret_of_another_namespace(tmp_path: Path, holder: str, makers: tuple[str, ...], misplaced: bool) -> None:
    found = [each for each in lint(tmp_path, holder, *makers) if "makes in namespace" in each.message]
    assert [(each.rule, each.severity, each.confidence) for each in found] == (
        [("GWP412", "warning", "assumed")] if misplaced else []
    )


def test_one_that_is_named_there(tmp_path: Path) -> None:
    named = EDGE.replace("{name: web-tls}", "{name: web-tls, namespace: shop}")
    found = lint(tmp_path, EG + "---" + named, made("shop"))
    assert not [each for each in found if "makes in namespace" in each.message]
