"""GWP327 at sidecars behind a Gateway that is told of proxies in front (istio/istio#30166)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.checks import run
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, manifest, route, service

COUNTED = "proxy.istio.io/config: '{gatewayTopology: {numTrustedProxies: %d}}'"
LISTED = "from: [{source: {remoteIpBlocks: [203.0.113.7]}}]"


def deployment(name: str, namespace: str, labels: str, annotations: str = "") -> str:
    template = f"metadata: {{labels: {{{labels}}}, annotations: {{{annotations}}}}}"
    pod = "spec: {containers: [{name: main, image: a}]}"
    spec = f"spec: {{selector: {{matchLabels: {{{labels}}}}}, template: {{{template}, {pod}}}}}"
    return manifest("apps/v1", "Deployment", name, namespace, spec)


def rule(text: str, action: str = "ALLOW", selector: str = "app: checkout", namespace: str = "shop") -> str:
    spec = f"spec: {{selector: {{matchLabels: {{{selector}}}}}, action: {action}, rules: [{{{text}}}]}}"
    return manifest("security.istio.io/v1", "AuthorizationPolicy", "office", namespace, spec)


def own(annotations: str) -> list[str]:
    """A Gateway of Istio's own, its pods, and a VirtualService to shop/checkout."""
    server = "{port: {number: 80, name: http, protocol: HTTP}, hosts: [a.example.com]}"
    host = "hosts: [a.example.com], gateways: [infra/edge], http: [{route: [{destination: {host: checkout}}]}]"
    return [
        deployment("edge", "infra", "istio: ingressgateway", annotations),
        manifest(
            "networking.istio.io/v1",
            "Gateway",
            "edge",
            "infra",
            f"spec: {{selector: {{istio: ingressgateway}}, servers: [{server}]}}",
        ),
        manifest("networking.istio.io/v1", "VirtualService", "checkout", "shop", f"spec: {{{host}}}"),
    ]


def of_api(annotations: str) -> list[str]:
    """The same of Gateway API."""
    return [
        gateway_class("any", "istio.io/gateway-controller"),
        gateway(more=f"infrastructure: {{annotations: {{{annotations}}}}}"),
        route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
    ]


SHOP = [
    manifest("v1", "Namespace", "shop", "", "", more="labels: {istio-injection: enabled}"),
    deployment("checkout", "shop", "app: checkout"),
    service(more="selector: {app: checkout}"),
]


def fields(directory: Path, *manifests: str, **settings: Any) -> list[str | None]:
    (directory / "all.yaml").write_text("---\n".join([*SHOP, *manifests]))
    simulation = open_workspace([str(directory)], settings={"istio": settings}).simulations[0]
    return [each.field for each in run(simulation, select={"GWP327"})]


@pytest.mark.parametrize("made", [own, of_api])
@pytest.mark.parametrize(
    ("text", "field"),
    [
        (LISTED, "spec.rules[0].from[0].source.remoteIpBlocks"),
        (LISTED.replace("remote", "notRemote"), "spec.rules[0].from[0].source.notRemoteIpBlocks"),
        ("when: [{key: remote.ip, values: [203.0.113.7]}]", "spec.rules[0].when[0]"),
    ],
)
def test_a_sidecar_takes_the_last_proxy_for_the_client(tmp_path: Path, made: Any, text: str, field: str) -> None:
    assert fields(tmp_path, *made(COUNTED % 1), rule(text, "DENY")) == [field]


@pytest.mark.parametrize("made", [own, of_api])
def test_what_the_mesh_counts_holds_for_gateways_as_well(tmp_path: Path, made: Any) -> None:
    assert fields(tmp_path, *made(""), rule(LISTED), numTrustedProxies=2)
    assert not fields(tmp_path, *made(COUNTED % 0), rule(LISTED), numTrustedProxies=2)


@pytest.mark.parametrize("made", [own, of_api])
@pytest.mark.parametrize(
    "policy",
    [
        rule(LISTED.replace("remoteIpBlocks", "ipBlocks")),
        rule("from: [{source: {remoteIpBlocks: [203.0.113.7], requestPrincipals: ['*']}}]"),
        rule(LISTED, selector="istio: ingressgateway", namespace="infra"),  # at the Gateway it counts
        rule(LISTED, selector="app: other"),
    ],
)
def test_who_decides_elsewhere_or_by_more(tmp_path: Path, made: Any, policy: str) -> None:
    assert not fields(tmp_path, *made(COUNTED % 1), policy)


def test_no_proxies_in_front_and_no_way_in(tmp_path: Path) -> None:
    assert not fields(tmp_path, *own(""), rule(LISTED))
    assert not fields(tmp_path, *own(COUNTED % 1)[:2], rule(LISTED))
    ambient = SHOP[0].replace("istio-injection: enabled", "istio.io/dataplane-mode: ambient")
    assert not fields(tmp_path, ambient, *own(COUNTED % 1), rule(LISTED))
