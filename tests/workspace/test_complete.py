"""`complete` in the configuration: what is all here is missing where it is not, and charts change no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.model import ResourceKey
from policylint.reach import all_ways, asked
from policylint.trace import Tracer
from policylint.trace.requirements import Requirements
from policylint.workspace import open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.checks.linting import GATEWAY, route
from tests.worlds import manifest

SERVICE = manifest("v1", "Service", "checkout", "shop", "spec: {ports: [{port: 8080}]}")
CLASS = manifest("gateway.networking.k8s.io/v1", "GatewayClass", "envoy", "", "spec: {controllerName: example.com/x}")


def release(chart: str, values: str = "{}", name: str = "other") -> str:
    spec = f"spec: {{chart: {{spec: {{chart: {chart}}}}}, values: {values}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, "shop", spec)


def world(tmp_path: Path, *manifests: str, complete: Any = ()) -> Any:
    (tmp_path / "all.yaml").write_text("---\n".join(manifests))
    opened = open_workspace([str(tmp_path)], given=Assumptions(complete=complete))
    (simulation,) = opened.simulations
    return simulation


def login(simulation: Any) -> str:
    requirements = Requirements(Tracer(simulation))
    (said,) = {
        str(asked(requirements, way, "authentication")) for way in all_ways(simulation) if way.trace.outcome.backends
    }
    return said


UNKNOWN = "none (1 chart not rendered)"


@pytest.mark.parametrize(
    ("chart", "complete", "expected"),
    [
        ("shop-web", [], UNKNOWN),
        ("metrics-server", [], "none"),
        ("argo-cd", [], "none"),
        ("shop-web", ["policies"], "none"),
        ("shop-web", ["all"], "none"),
        ("shop-web", ["HTTPRoute"], UNKNOWN),
        ("shop-web", [{"chart": "shop-web", "makes": []}], "none"),
        ("shop-web", [{"chart": "shop-web", "makes": ["HTTPRoute"]}], "none"),
        ("shop-web", [{"chart": "shop-web", "makes": ["SecurityPolicy"]}], UNKNOWN),
        ("shop-web", [{"chart": "shop-admin", "makes": []}], UNKNOWN),
    ],
)
def test_what_a_chart_beside_a_route_may_ask(tmp_path: Path, chart: str, complete: Any, expected: str) -> None:
    assert login(world(tmp_path, CLASS, GATEWAY, route(), SERVICE, release(chart), complete=complete)) == expected


A_ROUTE = "{extraObjects: [{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute}]}"


@pytest.mark.parametrize(
    ("kind", "chart", "values", "complete", "state"),
    [
        ("HTTPRoute", "shop-web", "{}", [], "unknown"),
        ("HTTPRoute", "metrics-server", "{}", [], "missing"),
        ("HTTPRoute", "podinfo", "{httpRoute: {enabled: true}}", [], "unknown"),
        ("HTTPRoute", "podinfo", "{httpRoute: {enabled: false}}", [], "missing"),
        ("HTTPRoute", "metrics-server", A_ROUTE, [], "unknown"),
        ("HTTPRoute", "shop-web", "{}", ["HTTPRoute"], "missing"),
        ("HTTPRoute", "shop-web", "{}", ["HTTPRoute.gateway.networking.k8s.io"], "missing"),
        ("HTTPRoute", "shop-web", "{}", ["HTTPRoute.example.com", "GRPCRoute"], "unknown"),
        ("HTTPRoute", "shop-web", "{}", [{"chart": "shop-web", "makes": []}], "missing"),
        ("HTTPRoute", "shop-web", "{}", [{"chart": "shop-web", "makes": ["HTTPRoute"]}], "unknown"),
        ("Service", "metrics-server", "{}", [], "unknown"),
        ("Service", "metrics-server", "{}", [{"chart": "metrics-server", "makes": []}], "unknown"),
        ("Service", "metrics-server", "{}", ["Service"], "missing"),
        ("Secret", "metrics-server", "{}", [], "unknown"),
        ("Secret", "metrics-server", "{}", ["Secret"], "missing"),
        ("Secret", "shop-web", "{}", ["all"], "missing"),
    ],
)  # fmt: skip
def test_what_is_not_here(tmp_path: Path, kind: str, chart: str, values: str, complete: Any, state: str) -> None:
    simulation = world(tmp_path, GATEWAY, route(), SERVICE, release(chart, values), complete=complete)
    group = "gateway.networking.k8s.io" if kind == "HTTPRoute" else ""
    assert simulation.world.resolve(ResourceKey(group, kind, "shop", "absent")).state == state


def test_a_gateway_of_another_repository_is_missing_where_all_gateways_are_here(tmp_path: Path) -> None:
    elsewhere = route().replace("name: edge", "name: outer").replace("namespace: infra", "namespace: far")
    key = ResourceKey("gateway.networking.k8s.io", "Gateway", "far", "outer")
    assert world(tmp_path, GATEWAY, elsewhere, SERVICE).world.resolve_parent(key).state == "unknown"
    assert (
        world(tmp_path, GATEWAY, elsewhere, SERVICE, complete=["Gateway"]).world.resolve_parent(key).state == "missing"
    )
