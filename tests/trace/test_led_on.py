"""What a rule leads on to and was not seen: whose rules take its requests is not known, and nothing else is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.doors import with_doors
from policylint.trace import Tracer, request
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, manifest, route, service

HOST = "shop.example.com"
ROUTES = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: team, namespace: team}"
LABELS = "{group: delegation.kgateway.dev, kind: label, name: team, namespace: team}"
SERVERS = "{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}"
ELSE = "route: [{destination: {host: checkout, port: {number: 80}}}]"


def delegating(to: str) -> tuple[str, ...]:
    team = f"{{matches: [{{path: {{value: /team}}}}], backendRefs: [{to}]}}"
    rules = f"{team}, {{backendRefs: [{{name: checkout, port: 80}}]}}"
    return (
        gateway_class("any", "kgateway.dev/kgateway"),
        gateway(),
        route(more=f"hostnames: [{HOST}], rules: [{rules}]"),
    )


def included(conditions: str) -> tuple[str, ...]:
    include = f"{{name: team, namespace: team{conditions}}}"
    spec = (
        f"virtualhost: {{fqdn: {HOST}}}, includes: [{include}], routes: [{{services: [{{name: checkout, port: 80}}]}}]"
    )
    return (manifest("projectcontour.io/v1", "HTTPProxy", "root", "shop", f"spec: {{{spec}}}"),)


LEADING = {
    "a route of Gateway API": (delegating(ROUTES), "HTTPRoute team/team"),
    "routes by their label": (delegating(LABELS), "label team/team"),
    "any route of a namespace": (delegating(ROUTES.replace("name: team", "name: '*'")), "HTTPRoute team/*"),
    "a VirtualService of Istio": (
        (
            manifest(
                "networking.istio.io/v1",
                "Gateway",
                "edge",
                "shop",
                f"spec: {{selector: {{istio: ingressgateway}}, servers: [{SERVERS}]}}",
            ),
            manifest(
                "networking.istio.io/v1",
                "VirtualService",
                "web",
                "shop",
                f"spec: {{hosts: [{HOST}], gateways: [edge], http: [{{match: [{{uri: {{prefix: /team}}}}], "
                f"delegate: {{name: team, namespace: team}}}}, {{{ELSE}}}]}}",
            ),
        ),
        "VirtualService team/team",
    ),
    "an HTTPProxy of Contour": (included(", conditions: [{prefix: /team}]"), "HTTPProxy team/team"),
    "an HTTPProxy of Contour for whatever it says": (included(""), "HTTPProxy team/team"),
    "a VirtualServerRoute of NGINX": (
        (
            manifest(
                "k8s.nginx.org/v1",
                "VirtualServer",
                "root",
                "shop",
                f"spec: {{host: {HOST}, upstreams: [{{name: web, service: checkout, port: 80}}], "
                "routes: [{path: /team, route: team/team}, {path: /, action: {pass: web}}]}",
            ),
        ),
        "VirtualServerRoute team/team",
    ),
}


def traced(place: Path, path: str) -> str:
    (world,) = open_workspace([str(place)]).simulations
    outcome = Tracer(with_doors(world)).trace(request({"host": HOST, "path": path})).outcome
    return outcome.reason if outcome.unknown else ", ".join(key.name for key in outcome.backends) or str(outcome.status)


@pytest.mark.parametrize("what", LEADING)
def test_in_a_directory_it_may_be_elsewhere(tmp_path: Path, what: str) -> None:
    manifests, named = LEADING[what]
    (tmp_path / "world.yaml").write_text("---\n".join([*manifests, service()]))
    assert f"{named} was not seen" in traced(tmp_path, "/team/x")
    others = traced(tmp_path, "/other")
    assert others == "checkout" or ("whatever it says" in what and "was not seen" in others)


@pytest.mark.parametrize("what", LEADING)
def test_a_file_is_all_that_there_is(tmp_path: Path, what: str) -> None:
    """What nothing in it is for, controllers answer by themselves, or leave to the next rule."""
    file = tmp_path / "world.yaml"
    file.write_text("---\n".join([*LEADING[what][0], service()]))
    assert traced(file, "/team/x") in ("500", "502", "404", "checkout")
