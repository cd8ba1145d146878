"""Routes of which istiod makes nothing at Gateways (docs/design/implementations/istio.md §8)."""

from __future__ import annotations

import pytest

from policylint.trace.request import request
from policylint.trace.tracing import Tracer
from tests import worlds

WORLD = (
    worlds.gateway_class("istio", "istio.io/gateway-controller"),
    worlds.gateway(of_class="istio"),
    worlds.service("web", "shop"),
)
GOOD = "{matches: [{path: {value: /a}}], backendRefs: [{name: web, port: 80}]}"
HEADERS = "{type: RequestHeaderModifier, requestHeaderModifier: {remove: [a]}}"


def answer(rules: str, *beside: str, kind: str = "HTTPRoute") -> tuple[int | None, list[str]]:
    """Return the status and the backends of a request for `/a`."""
    route = worlds.route("web", kind=kind, more=f"rules: [{rules}]")
    outcome = Tracer(worlds.simulated(*WORLD, route, *beside)).trace(request({"host": "x.test", "path": "/a"})).outcome
    return outcome.status, sorted(map(str, outcome.backends))


@pytest.mark.parametrize(
    ("rule", "stops"),
    [
        ("{backendRefs: [{name: gone, port: 80}]}", False),
        ("{backendRefs: [{kind: Odd, group: example.net, name: x, port: 80}]}", False),
        ("{filters: [{type: ExtensionRef, extensionRef: {group: example.net, kind: Odd, name: x}}]}", True),
        ("{backendRefs: [{name: web, port: 80, filters: [{type: URLRewrite, urlRewrite: {hostname: b.test}}]}]}", True),
        (
            "{backendRefs: [{name: web, port: 80, filters: [HEADERS]}]}".replace("HEADERS", HEADERS),
            False,
        ),
        ("{backendRefs: [{name: web.shop, port: 80}]}", True),
    ],
)
def test_one_rule_may_stop_the_whole_route(rule: str, stops: bool) -> None:
    assert answer(f"{GOOD}, {rule}") == ((404, []) if stops else (None, ["Service shop/web"]))


def test_it_is_named_where_nothing_takes_its_requests() -> None:
    route = worlds.route("web", more=f"rules: [{GOOD}, {{backendRefs: [{{name: web.shop, port: 80}}]}}]")
    trace = Tracer(worlds.simulated(*WORLD, route)).trace(request({"host": "x.test", "path": "/a"}))
    needs = ("its hosts served at Listener infra/edge#http: its controller makes nothing of it there",)
    assert [each.needs for each in trace.nearest] == [needs, needs]


def test_other_routes_take_what_a_stopped_one_would() -> None:
    stopped = "{filters: [{type: ExtensionRef, extensionRef: {group: example.net, kind: Odd, name: x}}]}"
    other = worlds.route("other", more="rules: [{backendRefs: [{name: web, port: 80}]}]")
    assert answer(stopped, other) == (None, ["Service shop/web"])


def test_elsewhere_it_does_not() -> None:
    route = worlds.route("web", more=f"rules: [{GOOD}, {{backendRefs: [{{name: web.shop, port: 80}}]}}]")
    elsewhere = (worlds.gateway_class(), worlds.gateway(), WORLD[2], route)
    trace = Tracer(worlds.simulated(*elsewhere)).trace(request({"host": "x.test", "path": "/a"}))
    assert sorted(map(str, trace.outcome.backends)) == ["Service shop/web"]
