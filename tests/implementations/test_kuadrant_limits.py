"""GWP526: limits of Kuadrant that another one of the policy makes idle (Kuadrant/kuadrant-operator#499)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests import worlds

USER, BOB = "counters: [{expression: auth.identity.userid}]", "when: [{predicate: \"auth.identity.userid == 'bob'\"}]"
LISTENER = "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
GATEWAY, RULES = worlds.gateway(listeners=LISTENER), "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
CLASS = worlds.gateway_class("any", "istio.io/gateway-controller")


def rates(*each: str) -> str:
    pairs = (one.split("/") for one in each)
    return f"rates: [{', '.join(f'{{limit: {limit}, window: {window}}}' for limit, window in pairs)}]"


@pytest.mark.parametrize("section", ["", "defaults", "overrides"])
@pytest.mark.parametrize(
    ("wide", "narrow", "told"),
    [
        (f"{rates('5/10s')}, {USER}", f"{rates('8/10s')}, {BOB}", True),
        (f"{rates('5/1m')}, {USER}", f"{rates('8/10s')}, {BOB}", True),
        (f"{rates('5/10s')}", f"{rates('8/10s')}, {BOB}", True),
        (f"{rates('5/10s')}, {USER}", f"{rates('8/10s')}, {USER}", True),
        (f"{rates('5/10s', '100/1h')}", f"{rates('8/10s', '200/1h')}, {BOB}", True),
        # fewer, as many, or in a longer time: it ends requests by itself
        (f"{rates('5/10s')}, {USER}", f"{rates('3/10s')}, {BOB}", False),
        (f"{rates('5/10s')}, {USER}", f"{rates('8/1m')}, {BOB}", False),
        (f"{rates('5/10s')}", f"{rates('8/10s', '20/1h')}, {BOB}", False),
        # what bob sends is not in one counter of the other one
        (f"{rates('5/10s')}, counters: [{{expression: request.path}}]", f"{rates('8/10s')}, {BOB}", False),
        # others are meant
        (
            f"{rates('5/10s')}, {USER}, when: [{{predicate: \"auth.identity.userid != 'bob'\"}}]",
            f"{rates('8/10s')}, {BOB}",
            False,
        ),
        (f"{rates('5/soon')}, {USER}", f"{rates('8/10s')}, {BOB}", False),
    ],
)
def test_limits_that_are_never_reached(section: str, wide: str, narrow: str, told: bool) -> None:
    limits = f"limits: {{everybody: {{{wide}}}, bob: {{{narrow}}}}}"
    spec = f"{section}: {{{limits}}}" if section else limits
    target = "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}"
    policy = worlds.manifest("kuadrant.io/v1", "RateLimitPolicy", "limits", "shop", f"spec: {{{target}, {spec}}}")
    world = worlds.simulated(CLASS, GATEWAY, worlds.route(more=RULES), worlds.service(), policy)
    found = [each.message for each in run(world, select={"GWP526"})]
    place = ".".join(filter(None, ("spec", section, "limits")))
    assert found == [f"{place}.bob of RateLimitPolicy shop/limits is never reached"] * told
