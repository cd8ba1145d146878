"""What `diff` says where values of charts replace an Ingress by a route: the chart may be known, or not be rendered."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests.doors.asking import NGINX
from tests.doors.test_moves import EG, compared
from tests.worlds import manifest

HOST = "web.example.com"
ALLOWED = f"{NGINX}whitelist-source-range: 10.0.0.0/8"
LOGIN = f"{NGINX}auth-url: 'http://sso/'"
ROUTED = f"hostnames: [{HOST}], parentRefs: [{{name: edge, namespace: infra}}]"
CONTROLLERS = "controllers: {main: {}}, service: {app: {controller: main, ports: {http: {port: 80}}}}"


def release(values: str, chart: str = "app-template") -> str:
    reference = (
        f"chart: {{spec: {{chart: {chart}, version: 4.0.0, sourceRef: {{kind: HelmRepository, name: charts}}}}}}"
    )
    body = f"spec: {{interval: 1h, {reference}, values: {{{values}}}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "web", "shop", body)


def rendered(directory: Path, *manifests: str) -> Simulation:
    """Return what a kustomization deploys: releases are rendered as far as their charts are known."""
    directory.mkdir()
    (directory / "kustomization.yaml").write_text("resources: [world.yaml]\n", encoding="utf-8")
    (directory / "world.yaml").write_text("---\n".join(manifests), encoding="utf-8")
    (simulation,) = open_workspace([str(directory)]).simulations
    return simulation


def of_app_template(annotation: str) -> str:
    hosts = f"[{{host: {HOST}, paths: [{{path: /, service: {{identifier: app}}}}]}}]"
    return release(
        f"{CONTROLLERS}, ingress: {{app: {{className: nginx, annotations: {{{annotation}}}, hosts: {hosts}}}}}"
    )


def usual(annotation: str) -> str:
    entry = f"enabled: true, className: nginx, annotations: {{{annotation}}}, hosts: [{{host: {HOST}}}]"
    return release(f"ingress: {{{entry}}}", "grafana")


ROUTE_OF_APP_TEMPLATE = release(f"{CONTROLLERS}, route: {{app: {{{ROUTED}}}}}")
ROUTE_OF_GRAFANA = release(f"route: {{main: {{enabled: true, {ROUTED}}}}}", "grafana")
MOVES = {
    "app-template: login lost": (of_app_template(LOGIN), ROUTE_OF_APP_TEMPLATE, {"opened authentication"}),
    "app-template: addresses lost": (of_app_template(ALLOWED), ROUTE_OF_APP_TEMPLATE, {"opened"}),
    "app-template: the same": (of_app_template(""), ROUTE_OF_APP_TEMPLATE, set()),
    "not rendered: login lost": (usual(LOGIN), ROUTE_OF_GRAFANA, {"opened authentication"}),
    "not rendered: addresses lost": (usual(ALLOWED), ROUTE_OF_GRAFANA, {"opened"}),
    "not rendered: the same": (usual(""), ROUTE_OF_GRAFANA, set()),
    "not rendered: an annotation goes": (usual(LOGIN), usual(""), {"opened authentication"}),
}


@pytest.mark.parametrize("move", MOVES)
def test_moves(move: str, tmp_path: Path) -> None:
    before, after, changes = MOVES[move]
    said, found = compared(
        *(rendered(tmp_path / str(side), *EG, values) for side, values in enumerate((before, after)))
    )
    assert said == changes
    assert found == (["error GWP302"] if changes else [])
