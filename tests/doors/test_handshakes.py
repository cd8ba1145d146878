"""Ingresses of NGINX Ingress Controller whose certificate is of a type that it does not take: no handshake ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from tests.doors.asking import answer
from tests.worlds import manifest, opened, service

PATHS = "http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: checkout, port: {number: 80}}}}]}"


def shop(kind: str, *, controller: str = "nginx.org/ingress-controller") -> tuple[str, ...]:
    """An Ingress for two hosts, one of which has a Secret of a type."""
    tls = "tls: [{hosts: [a.example.com], secretName: one}, {hosts: [b.example.com], secretName: other}]"
    rules = ", ".join(f"{{host: {name}.example.com, {PATHS}}}" for name in "ab")
    return (
        manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", f"spec: {{controller: {controller}}}"),
        manifest(
            "networking.k8s.io/v1",
            "Ingress",
            "web",
            "shop",
            f"spec: {{ingressClassName: nginx, {tls}, rules: [{rules}]}}",
        ),
        manifest("v1", "Secret", "one", "shop", f"{kind and f'type: {kind}'}\ndata: {{tls.crt: YQ==, tls.key: YQ==}}"),
        service(),
    )


@pytest.mark.parametrize(
    ("kind", "is_taken"),
    [("Opaque", False), ("", False), ("nginx.org/ca", False), ("kubernetes.io/tls", True), ("${TYPE}", True)],
)
def test_a_certificate_of_another_type_is_none(kind: str, is_taken: bool, tmp_path: Path) -> None:
    simulation = opened(tmp_path, *shop(kind))
    ends = [answer(simulation, f"https://{name}.example.com/")[0] for name in "ab"]
    assert ["checkout" in each for each in ends] == [is_taken, True]
    told = [each.message for each in run(simulation, select={"GWP415"})]
    assert ["has no certificate" in each for each in told] == ([] if is_taken else [True])


def test_another_controller_has_a_certificate_of_its_own(tmp_path: Path) -> None:
    """ingress-nginx serves its default certificate then (internal/ingress/controller/store)."""
    simulation = opened(tmp_path, *shop("Opaque", controller="k8s.io/ingress-nginx"))
    assert "checkout" in answer(simulation, "https://a.example.com/")[0]
    assert list(run(simulation, select={"GWP415"})) == []
