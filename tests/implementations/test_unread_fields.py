"""Fields of routes that the implementation of their Gateway does not read (conformance reports; Azure/AKS#5255)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds

ENVOY, AGC, GKE, AWS, TRAEFIK, NGINX, KONG = (
    "gateway.envoyproxy.io/gatewayclass-controller",
    "alb.networking.azure.io/alb-controller",
    "networking.gke.io/gateway",
    "gateway.k8s.aws/alb",
    "traefik.io/gateway-controller",
    "gateway.nginx.org/nginx-gateway-controller",
    "konghq.com/kic-gateway-controller",
)
BOTH, OF_BACKENDS, AGAIN = "timeouts: {request: 30s}", "timeouts: {backendRequest: 30s}", "retry: {attempts: 3}"


def told(controller: str, *fields: str, others: str = "") -> list[str]:
    rules = ", ".join(f"{{{field}, backendRefs: [{{name: web, port: 80}}]}}" for field in fields)
    parents = f"[{{name: edge, namespace: infra}}{', {name: other, namespace: infra}' if others else ''}]"
    simulation = worlds.simulated(
        worlds.gateway_class("any", controller),
        worlds.gateway(),
        *((worlds.gateway_class("more", others), worlds.gateway("other", of_class="more")) if others else ()),
        worlds.route(parents=parents, more=f"rules: [{rules}]"),
        worlds.service("web"),
    )
    return [each.field for each in run(simulation, select={"GWP526"})]


@pytest.mark.parametrize("controller", [AGC, AWS, TRAEFIK, NGINX])
def test_timeouts_and_retries(controller: str) -> None:
    assert told(controller, BOTH) == ["spec.rules[0].timeouts"]
    assert told(controller, f"{OF_BACKENDS}, {AGAIN}") == ["spec.rules[0].timeouts", "spec.rules[0].retry"]


def test_those_of_a_whole_request_alone() -> None:
    assert told(KONG, BOTH) == ["spec.rules[0].timeouts.request"]
    assert told(KONG, OF_BACKENDS) == []


def test_who_reads_them_is_passed_over() -> None:
    assert told(ENVOY, f"{BOTH}, {AGAIN}") == []
    assert told("gateway.example.com/own", BOTH) == []
    assert told(AGC, BOTH, others=ENVOY) == []


def test_gke_accepts_no_route_with_timeouts() -> None:
    """kserve/kserve#5311: Accepted False, UnsupportedValue."""
    simulation = worlds.simulated(
        worlds.gateway_class("any", GKE),
        worlds.gateway(),
        worlds.route(more=f"rules: [{{{BOTH}, backendRefs: [{{name: web, port: 80}}]}}]"),
        worlds.service("web"),
    )
    [found] = run(simulation, select={"GWP416", "GWP526"})
    assert (found.rule, "timeouts are not supported" in found.message) == ("GWP416", True)
    assert told(GKE, AGAIN) == ["spec.rules[0].retry"]


def test_a_route_is_told_once() -> None:
    assert told(AGC, AGAIN, BOTH, BOTH) == ["spec.rules[0].retry", "spec.rules[1].timeouts"]
