"""Ingresses of Traefik at entry points that end no TLS: what comes in there is plain HTTP.

doc.traefik.io, «EntryPoints» (http.tls), «Kubernetes Ingress» (router.tls; `spec.tls` holds certificates alone).
"""

from __future__ import annotations

import pytest

from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

CLASS = manifest(
    "networking.k8s.io/v1", "IngressClass", "traefik", body="spec: {controller: traefik.io/ingress-controller}"
)
STATED = ("--entryPoints.web.address=:80", "--entryPoints.websecure.address=:443")
SECURED = "--entryPoints.websecure.http.tls=true"
PLAIN, SECURE, CLEAR = (
    f"{scheme}://shop.example.com{port}/" for scheme, port in (("http", ""), ("https", ""), ("http", ":443"))
)


def traefik(*arguments: str) -> str:
    written = ", ".join(map(repr, arguments))
    pod = f"template: {{spec: {{containers: [{{name: traefik, image: 'traefik:v3.4', args: [{written}]}}]}}}}"
    return manifest("apps/v1", "Deployment", "traefik", "traefik", f"spec: {{{pod}}}")


def door(annotations: str, *, tls: bool = False) -> str:
    return ingress(of_class="traefik", tls=tls).replace("annotations: {}", f"annotations: {{{annotations}}}")


AT = "traefik.ingress.kubernetes.io/router.entrypoints: websecure"
TLS = "traefik.ingress.kubernetes.io/router.tls: 'true'"


@pytest.mark.parametrize(
    ("arguments", "annotations", "tls", "reached"),
    [
        (STATED, AT, False, {CLEAR}),
        (STATED, AT, True, {CLEAR}),
        (STATED, f"{AT}, {TLS}", False, {SECURE}),
        ((*STATED, SECURED), AT, False, {SECURE}),
        ((), AT, False, {SECURE}),
        (STATED, "", False, {PLAIN, CLEAR}),
        ((*STATED, SECURED), "", False, {PLAIN, SECURE}),
    ],
)
def test_where_requests_come_in(arguments: tuple[str, ...], annotations: str, tls: bool, reached: set[str]) -> None:
    world = simulated(CLASS, traefik(*arguments), door(annotations, tls=tls), service("web"))
    assert {url for url in (PLAIN, SECURE, CLEAR) if answer(world, url)[0] == "web"} == reached
