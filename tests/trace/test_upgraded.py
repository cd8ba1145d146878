"""Timeouts of rules and connections that are upgraded (envoyproxy/envoy#41068, #41075)."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.trace.test_sessions import EG, gateway, service
from tests.worlds import simulated

ENVOY = (
    EG,
    "kgateway.dev/kgateway",
    "istio.io/gateway-controller",
    "io.cilium/gateway-controller",
    "projectcontour.io/c",
)
OTHERS = ("example.com/unknown", "haproxy-ingress.github.io/c")
UNTIL = ", until the connection is upgraded"


@pytest.mark.parametrize(
    ("controller", "header", "until"),
    [
        *((each, ["Upgrade: websocket"], UNTIL) for each in ENVOY),
        *((each, ["Upgrade: websocket"], "") for each in OTHERS),
        (EG, [], ""),
        (EG, ["Connection: keep-alive"], ""),
    ],
)
def test_how_long_a_request_may_take(controller: str, header: list[str], until: str) -> None:
    timed = gateway(controller).replace("backendRefs", "timeouts: {request: 15s, backendRequest: 5s}, backendRefs")
    trace = Tracer(simulated(timed, service())).trace(from_url("GET", "http://shop.example.com/", header))
    assert [step.what for step in trace.steps] == [f"request timeout 15s{until}", f"timeout of each try 5s{until}"]
