"""kgateway: the weights of HTTPRoutes (kgateway-dev/kgateway#11522)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.implementations.kgateway.weights import weight_of
from policylint.trace import Tracer, request
from policylint.workspace import open_workspace
from tests.worlds import gateway, gateway_class, manifest, opened, resources, route, service

OFF = manifest(
    "helm.toolkit.fluxcd.io/v2",
    "HelmRelease",
    "kgateway",
    "kgateway-system",
    "spec: {chart: {spec: {chart: kgateway, version: v2.4.0, sourceRef: {kind: HelmRepository, name: kgateway}}}, "
    "values: {controller: {logLevel: debug}}}",
)
ON = OFF.replace("logLevel: debug", "extraEnv: {KGW_WEIGHTED_ROUTE_PRECEDENCE: 'true'}")
BASE = (gateway_class("any", "kgateway.dev/kgateway"), gateway(), service("wide"), service("narrow"))


def weighted(name: str, path: str, weight: str = "", host: str = "shop.example.com", more: str = "") -> str:
    rule = more or f"rules: [{{matches: [{{path: {{value: {path}}}}}], backendRefs: [{{name: {name}, port: 80}}]}}]"
    annotations = weight and f"kgateway.dev/route-weight: '{weight}'"
    return route(name, more=f"{host and f'hostnames: [{host}], '}{rule}", annotations=annotations)


@pytest.mark.parametrize(
    ("wide", "narrow", "taker"),
    [
        ("", "", "narrow"),
        ("10", "", "wide"),
        ("10", "10", "narrow"),
        ("", "-1", "wide"),
        ("-1", "", "narrow"),
        ("many", "", "narrow"),
        (str(2**31), "", "narrow"),
    ],
)
def test_the_greater_weight_comes_first(tmp_path: Path, wide: str, narrow: str, taker: str) -> None:
    world = opened(tmp_path, *BASE, weighted("wide", "/a", wide), weighted("narrow", "/a/b", narrow))
    trace = Tracer(world).trace(request({"host": "shop.example.com", "path": "/a/b"}))
    assert [key.name for key in trace.outcome.backends] == [taker]
    never = [each.message for each in run(world, select={"GWP408"})]
    assert [message.partition(" can never win")[0] for message in never] == (
        ["HTTPRouteRule shop/narrow#rule-1"] if taker == "wide" else []
    )


def test_a_weight_counts_among_the_routes_for_one_host(tmp_path: Path) -> None:
    """They are in virtual hosts of their own."""
    wide = weighted("wide", "/a", "10", "'*.example.com'")
    world = opened(tmp_path, *BASE, wide, weighted("narrow", "/a/b"))
    trace = Tracer(world).trace(request({"host": "shop.example.com", "path": "/a/b"}))
    assert [key.name for key in trace.outcome.backends] == ["narrow"]
    assert list(run(world, select={"GWP408"})) == []


def test_the_reason_is_the_weight(tmp_path: Path) -> None:
    world = opened(tmp_path, *BASE, weighted("wide", "/a", "10"), weighted("narrow", "/a/b", "-2"))
    trace = Tracer(world).trace(request({"host": "shop.example.com", "path": "/a/b"}))
    assert [each.because for each in trace.considered] == ["its route has weight -2, the other one 10"]


@pytest.mark.parametrize(("child", "taker"), [("5", "wide"), ("", "narrow")])
def test_children_have_their_own_weight(tmp_path: Path, child: str, taker: str) -> None:
    """They do not inherit that of the route that delegates to them."""
    below = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: '*', namespace: shop}"
    delegating = f"rules: [{{matches: [{{path: {{value: /a}}}}], backendRefs: [{below}]}}]"
    parent = route(
        "parent",
        "infra",
        more=f"hostnames: [shop.example.com], {delegating}",
        annotations="kgateway.dev/route-weight: '9'",
    )
    children = [
        weighted("wide", "/a", child, host="").replace("parentRefs: [{name: edge, namespace: infra}], ", ""),
        weighted("narrow", "/a/b", host="").replace("parentRefs: [{name: edge, namespace: infra}], ", ""),
    ]
    world = opened(tmp_path, *BASE, parent, *children)
    trace = Tracer(world).trace(request({"host": "shop.example.com", "path": "/a/b"}))
    assert [key.name for key in trace.outcome.backends] == [taker]


@pytest.mark.parametrize(("install", "taker", "told"), [("", "wide", 0), (ON, "wide", 0), (OFF, "narrow", 1)])
def test_where_the_controller_is_not_told_so(tmp_path: Path, install: str, taker: str, told: int) -> None:
    """A tree that has weights is taken to be meant for a controller that reads them, unless it says otherwise."""
    (tmp_path / "world.yaml").write_text(
        "---\n".join([*BASE, weighted("wide", "/a", "10"), weighted("narrow", "/a/b")])
    )
    if install:
        (tmp_path / "release.yaml").write_text(install)
    (world,) = open_workspace([str(tmp_path)]).simulations
    trace = Tracer(world).trace(request({"host": "shop.example.com", "path": "/a/b"}))
    assert [key.name for key in trace.outcome.backends] == [taker]
    assert len(list(run(world, select={"GWP114"}))) == told


def test_other_kinds_have_none() -> None:
    (calls,) = resources(route("calls", kind="GRPCRoute", annotations="kgateway.dev/route-weight: '3'"))
    assert weight_of(calls) == 0
