"""The status of requests whose Service is missing is the controller's own, and `lint` and `trace` name the same one."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import ingress
from tests.worlds import manifest, service, simulated

HOST = "shop.example.com"
OWN = (
    """{servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: [shop.example.com]}], selector: {istio: a}}"""
)
VIRTUAL_SERVICE = "{hosts: [shop.example.com], gateways: [web], http: [{route: [{destination: {host: nope}}]}]}"
ROUTER = "{routes: [{match: 'Host(`shop.example.com`)', kind: Rule, services: [{name: nope, port: 80}]}]}"
PROXY = "{virtualhost: {fqdn: shop.example.com}, routes: [{services: [{name: nope, port: 80}]}]}"
SERVER = """{host: shop.example.com, upstreams: [{name: up, service: nope, port: 80}],
  routes: [{path: /, action: {pass: up}}]}"""
OF_OPENSHIFT = "{host: shop.example.com, to: {kind: Service, name: nope}}"
ISTIO = "networking.istio.io/v1"


def of(version: str, kind: str, spec: str) -> str:
    return manifest(version, kind, "web", "shop", f"spec: {spec}")


@pytest.mark.parametrize(
    ("door", "status"),
    [
        ([ingress(paths="/ Prefix nope")], 503),
        ([ingress(paths="/ Prefix nope", of_class="traefik")], 404),
        ([ingress(paths="/ Prefix nope", of_class="alb")], 503),
        ([ingress(paths="/ Prefix nope", of_class="unheard-of")], None),
        ([of(ISTIO, "Gateway", OWN), of(ISTIO, "VirtualService", VIRTUAL_SERVICE)], 503),
        ([of("traefik.io/v1alpha1", "IngressRoute", ROUTER)], 404),
        ([of("projectcontour.io/v1", "HTTPProxy", PROXY)], 503),
        ([of("k8s.nginx.org/v1", "VirtualServer", SERVER)], 502),
        ([of("route.openshift.io/v1", "Route", OF_OPENSHIFT)], 503),
    ],
)
def test_the_status_is_the_controllers_own(door: list[str], status: int | None) -> None:
    simulation = simulated(manifest("v1", "Namespace", "shop", "", ""), service("other", "shop"), *door)
    ended = Tracer(simulation).trace(from_url("GET", f"http://{HOST}/", ())).outcome
    assert (ended.status, ended.refused, ended.unknown, ended.backends) == (status, False, False, {})
    (told,) = (finding for finding in run(simulation) if finding.rule == "GWP415")
    assert f"answered with {status or 'an error'}" in told.label
