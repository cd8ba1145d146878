"""Which port of a Service leads to a program that asks for a login, where its pods run others beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import ResourceKey
from policylint.topology.login_proxies import is_proxy
from tests.worlds import manifest, opened, service

PROXY = "{name: p, image: 'quay.io/oauth2-proxy/oauth2-proxy:v7.6.0'%s}"
APP = "{name: a, image: 'app:1'%s}"
DECLARED = ", ports: [{name: login, containerPort: 4180}]"
OF_APP = ", ports: [{name: http, containerPort: 8080}]"


def asks(tmp_path: Path, containers: str, target: object, more: str = "") -> bool:
    deployment = manifest(
        "apps/v1", "Deployment", "web", "shop",
        "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {"
        f"containers: [{containers}]{more}}}}}}}",
    )  # fmt: skip
    ports = f"[{{name: web, port: 80, targetPort: {target}}}, {{name: other, port: 81, targetPort: 9999}}]"
    web = service("web", ports=ports, more="selector: {app: web}")
    return is_proxy(opened(tmp_path, web, deployment).world, ResourceKey("", "Service", "shop", "web"), 80)


@pytest.mark.parametrize(
    ("containers", "target", "expected"),
    [
        (f"{PROXY % DECLARED}, {APP % OF_APP}", 4180, True),
        (f"{PROXY % DECLARED}, {APP % OF_APP}", "login", True),
        (f"{PROXY % DECLARED}, {APP % OF_APP}", 8080, False),
        (f"{PROXY % DECLARED}, {APP % OF_APP}", "http", False),
        (f"{PROXY % ''}, {APP % OF_APP}", 4180, True),  # the only one that names none
        (f"{PROXY % DECLARED}, {APP % ''}", 8080, False),
        (f"{PROXY % ', args: [--http-address=0.0.0.0:4180]'}, {APP % ''}", 4180, True),
        (f"{PROXY % ', env: [{name: OAUTH2_PROXY_HTTP_ADDRESS, value: 0:4180}]'}, {APP % ''}", 4180, True),
        (f"{PROXY % ', args: [--http-address=0.0.0.0:4180]'}, {APP % ''}", 8080, False),
        (f"{PROXY % ''}, {APP % ''}", 4180, False),  # either may serve it
        (PROXY % "", 8080, True),  # whatever the port
    ],
)
def test_the_container_that_serves_the_port(tmp_path: Path, containers: str, target: object, expected: bool) -> None:
    assert asks(tmp_path, containers, target) is expected


@pytest.mark.parametrize("target", [4180, 8080])
def test_a_sidecar_among_the_containers_that_start_first(tmp_path: Path, target: int) -> None:
    sidecar = PROXY % f"{DECLARED}, restartPolicy: Always"
    assert asks(tmp_path, APP % OF_APP, target, f", initContainers: [{sidecar}]") is (target == 4180)
