"""GWP420 for the names that BackendTLSPolicies ask for, and the certificates that the pods have.

Source: gateway-api apis/v1/backendtlspolicy_types.go (`hostname`, `subjectAltNames`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint
from tests.worlds import manifest

SERVICE = manifest("v1", "Service", "app", "shop", "spec: {selector: {app: app}, ports: [{port: 443}]}")


def pods(*secrets: str, projected: bool = False) -> str:
    volumes = ", ".join(
        f"{{name: {name}, projected: {{sources: [{{secret: {{name: {name}}}}}]}}}}"
        if projected
        else f"{{name: {name}, secret: {{secretName: {name}}}}}"
        for name in secrets
    )
    inside = f"spec: {{containers: [{{name: c, image: x}}], volumes: [{volumes}]}}"
    template = f"template: {{metadata: {{labels: {{app: app}}}}, {inside}}}"
    return manifest(
        "apps/v1", "Deployment", "app", "shop", f"spec: {{selector: {{matchLabels: {{app: app}}}}, {template}}}"
    )


def certificate(name: str, *hosts: str) -> str:
    listed = f"secretName: {name}, dnsNames: [{', '.join(map(repr, hosts))}], issuerRef: {{name: ca}}"
    return manifest("cert-manager.io/v1", "Certificate", name, "shop", f"spec: {{{listed}}}")


def policy(validation: str, kind: str = "Service") -> str:
    reference = f"targetRefs: [{{group: '', kind: {kind}, name: app}}]"
    spec = f"spec: {{{reference}, validation: {{{validation}, wellKnownCACertificates: System}}}}"
    return manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "app", "shop", spec)


ASKED = "hostname: app.example.com"
INSIDE = certificate("tls", "app.shop.svc")


@pytest.mark.parametrize(
    ("manifests", "told"),
    [
        ((pods("tls"), INSIDE, policy(ASKED)), "app.example.com"),
        ((pods("tls", projected=True), INSIDE, policy(ASKED)), "app.example.com"),
        ((pods("tls"), certificate("tls", "app.example.com"), policy(ASKED)), ""),
        ((pods("tls"), certificate("tls", "*.example.com"), policy(ASKED)), ""),
        # one of several certificates is enough, as is one of several names; what else is mounted says nothing
        ((pods("tls", "more"), INSIDE, certificate("more", "app.example.com"), policy(ASKED)), ""),
        ((pods("tls", "keys"), INSIDE, policy(ASKED)), "app.example.com"),
        ((pods("tls"), INSIDE, policy(f"{ASKED}, subjectAltNames: [{{type: Hostname, hostname: app.shop.svc}}]")), ""),
        ((pods("tls"), certificate("tls", "app.example.com"),
          policy(f"{ASKED}, subjectAltNames: [{{type: Hostname, hostname: other.shop.svc}}]")), "other.shop.svc"),
        ((pods("tls"), INSIDE, policy(f"{ASKED}, subjectAltNames: [{{type: URI, uri: 'spiffe://a/b'}}]")), ""),
        # nobody knows which certificate they have
        ((pods("keys"), INSIDE, policy(ASKED)), ""),
        ((pods(), INSIDE, policy(ASKED)), ""),
        ((pods("tls"), policy(ASKED)), ""),
    ],
)  # fmt: skip
def test_names_of_backends(manifests: tuple[str, ...], told: str, tmp_path: Path) -> None:
    found = [each for each in lint(tmp_path, SERVICE, *manifests) if each.rule == "GWP420"]
    expected = f"Deployment shop/app has a certificate that is not for {told}, which BackendTLSPolicy shop/app asks for"
    assert [each.message for each in found] == ([expected] if told else [])
    assert {each.confidence for each in found} <= {"assumed"}
