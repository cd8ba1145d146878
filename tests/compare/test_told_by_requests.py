"""An object of which the comparison of requests tells is not said to have an effect that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests.compare.test_compare import sides
from tests.worlds import manifest, service

WEB = service("web", "shop")
GATEWAY = manifest(
    "networking.istio.io/v1", "Gateway", "edge", "shop",
    "spec: {selector: {app: gw}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}",
)  # fmt: skip
PROXIES = manifest(
    "apps/v1", "Deployment", "gw", "shop",
    "spec: {selector: {matchLabels: {app: gw}}, template: {metadata: {labels: {app: gw}}, "
    "spec: {containers: [{name: p, image: 'istio/proxyv2:1.24.0'}]}}}",
)  # fmt: skip


def virtual_service(rules: str) -> str:
    spec = f"spec: {{hosts: [a.example], gateways: [edge], http: [{rules}{{route: [{{destination: {{host: web}}}}]}}]}}"
    return manifest("networking.istio.io/v1", "VirtualService", "web", "shop", spec)


def virtual_server(routes: str) -> str:
    spec = (
        "spec: {host: a.example, upstreams: [{name: web, service: web, port: 80}], "
        f"routes: [{routes}{{path: /, action: {{pass: web}}}}]}}"
    )
    return manifest("k8s.nginx.org/v1", "VirtualServer", "web", "shop", spec)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (virtual_service(""), virtual_service("{match: [{uri: {prefix: /old}}], redirect: {uri: /new}}, ")),
        (virtual_server(""), virtual_server("{path: /health, action: {return: {body: ok}}}, ")),
    ],
    ids=["VirtualService", "VirtualServer"],
)
def test_what_requests_tell_is_not_unjudged(tmp_path: Path, before: str, after: str) -> None:
    around = (WEB, GATEWAY, PROXIES)
    pair = sides(tmp_path, (*around, before), (*around, after))
    change = compare([pair])
    assert change[0].requests is not None
    assert [each.change for each in change[0].requests.changes] == ["closed"]
    assert [each.message for each in removed_protections([pair], change, {"GWP304"})] == []
