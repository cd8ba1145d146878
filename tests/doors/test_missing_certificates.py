"""Certificates of doors whose Secrets nothing deploys: `trace` says what is assumed, as it does for listeners."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import ingress
from tests.doors.test_missing_services import ISTIO, of
from tests.worlds import manifest, service, simulated

SECRET = manifest("v1", "Secret", "cert", "shop", "type: kubernetes.io/tls")
INGRESS = [ingress(paths="/ Prefix checkout", tls=True)]
ISSUED = [ingress(paths="/ Prefix checkout", tls=True, prefix="cert-manager.io/", cluster_issuer="ca")]
OWN = """{selector: {istio: a}, servers: [{port: {number: 443, name: https, protocol: HTTPS},
  hosts: [shop.example.com], tls: {mode: SIMPLE, credentialName: cert}}]}"""
VIRTUAL_SERVICE = "{hosts: [shop.example.com], gateways: [web], http: [{route: [{destination: {host: checkout}}]}]}"
OF_ISTIO = [of(ISTIO, "Gateway", OWN), of(ISTIO, "VirtualService", VIRTUAL_SERVICE)]
PODS = manifest(
    "apps/v1",
    "Deployment",
    "gw",
    "shop",
    "spec: {selector: {matchLabels: {istio: a}}, template: {metadata: {labels: {istio: a}}, spec: {containers: []}}}",
)
ROUTES = "routes: [{match: 'Host(`shop.example.com`)', kind: Rule, services: [{name: checkout, port: 80}]}]"
ROUTER = [of("traefik.io/v1alpha1", "IngressRoute", f"{{tls: {{secretName: cert}}, {ROUTES}}}")]
VIRTUAL_HOST = "virtualhost: {fqdn: shop.example.com, tls: {secretName: cert}}"
PROXY = [
    of(
        "projectcontour.io/v1",
        "HTTPProxy",
        f"{{{VIRTUAL_HOST}, routes: [{{services: [{{name: checkout, port: 80}}]}}]}}",
    )
]
SERVER = [
    of(
        "k8s.nginx.org/v1",
        "VirtualServer",
        "{host: shop.example.com, tls: {secret: cert}, upstreams: [{name: up, service: checkout, port: 80}],"
        " routes: [{path: /, action: {pass: up}}]}",
    )
]
ASSUMED = ["Secret shop/cert is taken to be there: nothing in the tree deploys it"]
PLACE_UNKNOWN = ["Secret cert is taken to be there, where the proxies of Gateway shop/web are: these were not seen"]


@pytest.mark.parametrize(
    ("door", "notes"),
    [
        (INGRESS, ASSUMED),
        ([*INGRESS, SECRET], []),
        (ISSUED, []),
        (OF_ISTIO, PLACE_UNKNOWN),
        ([*OF_ISTIO, PODS], ASSUMED),
        ([*OF_ISTIO, PODS, SECRET], []),
        (ROUTER, ASSUMED),
        (PROXY, ASSUMED),
        (SERVER, ASSUMED),
        ([*SERVER, SECRET], []),
    ],
)
def test_what_was_not_seen_is_said(door: list[str], notes: list[str]) -> None:
    simulation = simulated(manifest("v1", "Namespace", "shop", "", ""), service(), *door)
    trace = Tracer(simulation).trace(from_url("GET", "https://shop.example.com/", ()))
    assert [str(key) for key in trace.outcome.backends] == ["Service shop/checkout"]
    assert [note for note in trace.notes if "Secret" in note] == notes


BASIC = {"auth_type": "basic", "auth_secret": "users"}
USERS = ["Secret shop/users is taken to be there: nothing in the tree deploys it"]
AUTHORITY = ["Secret shop/ca is taken to be there: nothing in the tree deploys it"]


@pytest.mark.parametrize(
    ("annotations", "url", "notes"),
    [
        (BASIC, "http", USERS),
        ({"auth_secret": "users"}, "http", []),  # no type, nothing is asked
        ({**BASIC, "auth_secret": "${USERS}"}, "http", []),
        ({**BASIC, "auth_secret": "here"}, "http", []),
        ({"auth_tls_secret": "shop/ca"}, "https", AUTHORITY),
        ({"auth_tls_secret": "shop/ca", "auth_tls_verify_client": "off"}, "https", []),
    ],
)
def test_what_a_login_needs_and_was_not_seen_is_said(annotations: dict[str, str], url: str, notes: list[str]) -> None:
    here = [manifest("v1", "Secret", name, "shop", "type: Opaque") for name in ("cert", "here")]
    door = ingress(paths="/ Prefix checkout", tls=url == "https", **annotations)
    simulation = simulated(manifest("v1", "Namespace", "shop", "", ""), service(), *here, door)
    trace = Tracer(simulation).trace(from_url("GET", f"{url}://shop.example.com/", ()))
    assert [note for note in trace.notes if "Secret" in note] == notes
