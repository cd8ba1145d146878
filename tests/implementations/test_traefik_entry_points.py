"""Listeners of Traefik are served by the entry point of their port (provider/kubernetes/gateway, entryPointName)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace import Tracer, request
from policylint.trace.request import from_url
from tests import worlds

GATEWAY_PROVIDER = "--providers.kubernetesgateway"
WEB, SECURE, STREAM = (
    "--entrypoints.web.address=:8000",
    "--entryPoints.websecure.address=:8443/tcp",
    "--entrypoints.db.address=:1000/tcp",
)
HTTP, HTTPS, TCP = (
    "{name: plain, port: 8000, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}",
    "{name: secure, port: 8443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}",
    "{name: stream, port: 1000, protocol: TCP}",
)


def traefik(*arguments: str, environment: str = "") -> str:
    container = f"name: traefik, image: traefik, args: [{', '.join(repr(each) for each in arguments)}]"
    pod = f"containers: [{{{container}{', env: [{name: ' + environment + '}]' if environment else ''}}}]"
    template = f"template: {{metadata: {{labels: {{app: traefik}}}}, spec: {{{pod}}}}}"
    return worlds.manifest(
        "apps/v1",
        "Deployment",
        "traefik",
        "infra",
        f"spec: {{selector: {{matchLabels: {{app: traefik}}}}, {template}}}",
    )


@pytest.mark.parametrize(
    ("deployed", "listeners", "unserved"),
    [
        ([traefik(GATEWAY_PROVIDER, WEB)], [HTTP, TCP], ["stream"]),
        ([traefik(GATEWAY_PROVIDER, WEB, STREAM)], [HTTP, TCP], []),
        ([traefik(GATEWAY_PROVIDER, WEB, SECURE)], [HTTP, HTTPS], []),
        ([traefik(GATEWAY_PROVIDER, WEB, "--entrypoints.web.http.tls=true")], [HTTP], ["plain"]),
        ([traefik(GATEWAY_PROVIDER, SECURE, "--entrypoints.websecure.http.tls=true")], [HTTPS], []),
        ([traefik(GATEWAY_PROVIDER, WEB, "--configfile=/etc/traefik.yaml")], [TCP], []),
        ([traefik(GATEWAY_PROVIDER, WEB, environment="TRAEFIK_ENTRYPOINTS_DB_ADDRESS")], [TCP], []),
        ([traefik("--providers.kubernetescrd", WEB)], [TCP], []),
        ([traefik(GATEWAY_PROVIDER)], [TCP], []),
        ([], [TCP], []),
    ],
)
def test_a_listener_wants_an_entry_point_of_its_port(
    deployed: list[str], listeners: list[str], unserved: list[str]
) -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("any", "traefik.io/gateway-controller"),
        worlds.gateway(listeners=f"[{', '.join(listeners)}]"),
        *deployed,
    )
    told = [finding.message.split("#")[1].split()[0] for finding in run(simulation, select={"GWP403"})]
    assert told == unserved


@pytest.mark.parametrize(("points", "reached"), [([SECURE], False), ([WEB], True)])
def test_nothing_comes_through_a_listener_without_one(points: list[str], reached: bool) -> None:
    simulation = worlds.simulated(
        worlds.gateway_class("any", "traefik.io/gateway-controller"),
        worlds.gateway(listeners=f"[{HTTP}]"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        traefik(GATEWAY_PROVIDER, *points),
    )
    outcome = Tracer(simulation).trace(request({"host": "shop.test", "path": "/", "port": 8000})).outcome
    assert bool(outcome.backends) == reached


@pytest.mark.parametrize(("tls", "answer"), [("", None), (", tls: {}", 404)])
def test_entry_points_of_rules_are_no_listeners(tls: str, answer: int | None) -> None:
    """What takes requests for IngressRoutes is called by a port of Traefik's Service, not of its container."""
    rule = "{kind: Rule, match: Host(`shop.example.com`), services: [{name: web, port: 80}]}"
    spec = f"spec: {{entryPoints: [web, websecure], routes: [{rule}]{tls}}}"
    simulation = worlds.simulated(
        traefik(GATEWAY_PROVIDER, "--providers.kubernetescrd", WEB, SECURE),
        worlds.service("web"),
        worlds.manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", spec),
    )
    trace = Tracer(simulation).trace(from_url("GET", "http://shop.example.com/"))
    assert (trace.outcome.status, trace.outcome.refused) == (answer, False)
