"""TLS to backends that a change takes away, or no longer verifies, whatever says so; told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.test_weakening import weakened
from tests.trace import test_sessions as worlds
from tests.trace.test_sessions import EG, ISTIO, NGINX, OWN, A, N, backend, gateway, ingress, policy, service

GKE, KONG, ALB = "networking.gke.io/gateway", "ingress-controllers.konghq.com/kong", "ingress.k8s.aws/alb"
ROUTE, DOOR = "HTTPRoute shop/web", "Ingress shop/web"
READ = "what is sent there can be read and changed on the way"
HEARD = "what is behind it is reached in plain text"
PLAIN_443 = worlds.router("name: web, port: 443, scheme: http")
SECURE = worlds.router("name: web, port: 443, serversTransport: own", worlds.transport("serverName: a.io"))
VERIFYING = ", protocol: tls, validation: {caSecret: ca, subjectName: a.io}"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            [gateway(GKE), service(more=", appProtocol: HTTPS")],
            [gateway(GKE), service()],
            [(ROUTE, "TLS of Service shop/web is gone", READ)],
        ),
        (
            [gateway(GKE), service(more=", appProtocol: HTTPS")],
            [gateway(GKE), service(more=", appProtocol: HTTP2")],
            [],
        ),
        ([gateway(GKE), service()], [gateway(GKE), service(more=", appProtocol: HTTPS")], []),
        (
            [gateway(EG, OWN), backend(", tls: {insecureSkipVerify: true}")],
            [gateway(EG, OWN), backend("")],
            [(ROUTE, "TLS of Backend shop/own is gone", READ)],
        ),
        (  # what a policy said, the backend says now
            [gateway(EG, OWN), backend(""), policy("hostname: a.io, wellKnownCACertificates: System", OWN)],
            [gateway(EG, OWN), backend(", tls: {sni: a.io, wellKnownCACertificates: System}")],
            [],
        ),
        (
            [ingress(KONG), service(annotations="konghq.com/protocol: https")],
            [ingress(KONG), service()],
            [("Service shop/web", "protocol of Service shop/web goes from https to http", HEARD)],
        ),
        (
            [ingress(ALB), service(annotations=f"{A}backend-protocol: HTTPS")],
            [ingress(ALB), service()],
            [("Service shop/web", "backend-protocol of Service shop/web goes from HTTPS to http", HEARD)],
        ),
        (  # the words of the catalog tell it
            [ingress(NGINX, f"{N}backend-protocol: HTTPS"), service()],
            [ingress(NGINX, f"{N}backend-protocol: HTTP"), service()],
            [(DOOR, "backend-protocol of Ingress shop/web goes from HTTPS to HTTP", HEARD)],
        ),
        (
            [worlds.proxy(VERIFYING), service()],
            [worlds.proxy(""), service()],
            [
                ("HTTPProxy shop/web", "TLS to Service shop/web of HTTPProxy shop/web is gone", READ),
                (
                    "HTTPProxy shop/web",
                    "spec.routes[0].services[0].validation.caSecret of HTTPProxy shop/web is gone",
                    "nothing is checked by it any more",
                ),
            ],
        ),
        (
            [worlds.proxy(", protocol: tls"), service()],
            [worlds.proxy(""), service()],
            [("HTTPProxy shop/web", "TLS to Service shop/web of HTTPProxy shop/web is gone", READ)],
        ),
        (
            [SECURE, worlds.AT_443],
            [worlds.router("name: web, port: 443", worlds.transport("serverName: a.io")), worlds.AT_443],
            [
                (
                    "IngressRoute shop/web",
                    "TLS to Service shop/web of IngressRoute shop/web may no longer verify the certificate",
                    "only the controller's own settings say whether it does",
                ),
            ],
        ),
        (
            [SECURE, worlds.AT_443],
            [PLAIN_443, worlds.AT_443],
            [("IngressRoute shop/web", "TLS to Service shop/web of IngressRoute shop/web is gone", READ)],
        ),
        (
            [worlds.server(", tls: {enable: true}"), service()],
            [worlds.server(""), service()],
            [("VirtualServer shop/web", "TLS to Service shop/web of VirtualServer shop/web is gone", READ)],
        ),
        (
            [worlds.openshift("termination: reencrypt"), service()],
            [worlds.openshift("termination: edge"), service()],
            [
                (
                    "Route shop/web",
                    "spec.tls.termination of Route shop/web goes from reencrypt to edge",
                    "what is behind the router is reached in plain text",
                ),
            ],
        ),
        (
            [ISTIO, service(), worlds.rule("tls: {mode: SIMPLE}")],
            [ISTIO, service(), worlds.rule("tls: {mode: DISABLE}")],
            [
                (
                    "DestinationRule shop/web",
                    "spec.trafficPolicy.tls.mode of DestinationRule shop/web goes from SIMPLE to DISABLE",
                    "clients prove less to it, or send plain text",
                ),
            ],
        ),
    ],
)
def test_tls_to_backends(
    before: list[str], after: list[str], expected: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    found = weakened(tmp_path, tuple(before), tuple(after))
    told = [f"{who} is less protected: {what}, {means}" for who, what, means in expected]
    assert sorted(each.message for each in found) == sorted(told)
