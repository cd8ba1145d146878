"""GWP317 for filters of routes: preflights that no rule takes (envoyproxy/gateway#6316)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import gateway, gateway_class, route, service, simulated

CLASSES = {
    "gateway.envoyproxy.io/gatewayclass-controller": True,
    "istio.io/gateway-controller": True,
    "traefik.io/gateway-controller": True,
    "konghq.com/kic-gateway-controller": False,  # GWP416 says that it supports no such filter
}
FILTER = "filters: [{type: CORS, cors: {allowOrigins: ['https://www.example.com'], allowMethods: [GET]}}]"


def fields(controller: str, *rules: str) -> list[str | None]:
    backend = "backendRefs: [{name: checkout, port: 80}]"
    wanted = ", ".join(f"{{{rule}, {backend}}}" for rule in rules)
    simulation = simulated(
        gateway_class("any", controller),
        gateway(),
        service(),
        route(more=f"hostnames: [api.example.com], rules: [{wanted}]"),
    )
    return [each.field for each in run(simulation, select={"GWP317"})]


@pytest.mark.parametrize("controller", CLASSES)
def test_a_filter_of_a_rule_for_other_methods(controller: str) -> None:
    matches = "matches: [{path: {value: /orders}, method: POST}, {path: {value: /orders}, method: GET}]"
    expected = ["spec.rules[0].filters[0].cors"] * CLASSES[controller]
    assert fields(controller, f"{matches}, {FILTER}") == expected


@pytest.mark.parametrize(
    "rules",
    [
        [f"matches: [{{method: POST}}, {{method: OPTIONS}}], {FILTER}"],
        [f"matches: [{{path: {{value: /orders}}}}], {FILTER}"],
        [FILTER],
        [f"matches: [{{path: {{value: /orders}}, method: POST}}], {FILTER}", FILTER],  # the other rule answers it
        ["matches: [{path: {value: /orders}, method: POST}]"],
        [f"matches: [{{path: {{value: /orders}}, method: '${{METHOD}}'}}], {FILTER}"],
    ],
)
def test_preflights_that_some_rule_takes(rules: list[str]) -> None:
    assert not fields(next(iter(CLASSES)), *rules)
