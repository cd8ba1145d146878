"""HTTPRoute and GRPCRoute on one hostname of one listener: exactly one is accepted."""

from __future__ import annotations

import pytest

from policylint.topology import build
from tests.worlds import conditions, gateway, gateway_class, route, topology, world

OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
OF_BOTH = gateway_class(controller="example.com/both")


@pytest.mark.parametrize(
    ("http", "grpc", "accepted"),
    [
        (("a", OLD, "[x.com]"), ("b", NEW, "[x.com]"), {"a"}),
        (("a", NEW, "[x.com]"), ("b", OLD, "[x.com]"), {"b"}),
        (("a", "", "[x.com]"), ("b", "", "[x.com]"), {"a"}),
        (("b", "", "[x.com]"), ("a", "", "[x.com]"), {"a"}),
        (("a", OLD, "['*.x.com']"), ("b", NEW, "[g.x.com]"), {"a"}),
        (("a", OLD, "[]"), ("b", NEW, "[g.x.com]"), {"a"}),
        (("a", OLD, "[h.x.com]"), ("b", NEW, "[g.x.com]"), {"a", "b"}),
        (("a", OLD, "['*.x.com']"), ("b", NEW, "[x.com]"), {"a", "b"}),
    ],
)
def test_the_older_then_the_first_by_name(
    http: tuple[str, str, str], grpc: tuple[str, str, str], accepted: set[str]
) -> None:
    found = topology(
        gateway(),
        route(http[0], created=http[1], more=f"hostnames: {http[2]}"),
        route(grpc[0], created=grpc[1], more=f"hostnames: {grpc[2]}", kind="GRPCRoute"),
    )
    assert {each.route.key.name for each in found.routes if each.parents[0].accepted} == accepted
    assert found.gateways[0].listeners[0].attached_routes == len(accepted)


def test_the_refused_route_names_its_rival() -> None:
    found = topology(gateway(), route("a"), route("b", kind="GRPCRoute"))
    refused = next(each for each in found.routes if each.route.key.kind == "GRPCRoute").parents[0]
    assert conditions(refused.conditions)[0] == "Accepted=False/RouteConflict"
    assert str(refused.candidates[0].rival) == "HTTPRoute shop/a"


def test_what_is_not_certain_neither_wins_nor_loses() -> None:
    found = topology(
        gateway(), route("a", more="hostnames: ['${D}']"), route("b", kind="GRPCRoute", more="hostnames: ['${D}']")
    )
    assert all(each.parents[0].accepted for each in found.routes)
    selector = "allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {a: b}}}}"
    edge = gateway(listeners=f"[{{name: http, port: 80, protocol: HTTP, {selector}}}]")
    assert all(each.parents[0].accepted for each in topology(edge, route("a"), route("b", kind="GRPCRoute")).routes)


def test_routes_of_one_kind_share_a_hostname() -> None:
    found = topology(gateway(), route("a"), route("b"))
    assert found.gateways[0].listeners[0].attached_routes == 2


def test_different_listeners_do_not_clash() -> None:
    listeners = "[{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}]"
    found = topology(
        gateway(namespace="shop", listeners=listeners),
        route("a", parents="[{name: edge, sectionName: a}]"),
        route("b", parents="[{name: edge, sectionName: b}]", kind="GRPCRoute"),
    )
    assert all(each.parents[0].accepted for each in found.routes)


def test_controllers_that_take_both_kinds_refuse_neither() -> None:
    shop = world(OF_BOTH, gateway(), route("a"), route("b", kind="GRPCRoute"))
    found = build(shop, shares_hostnames=lambda controller, name: (controller, name) == ("example.com/both", "any"))
    assert all(each.parents[0].accepted for each in found.routes)
    assert found.gateways[0].listeners[0].attached_routes == 2
    strict = build(shop, shares_hostnames=lambda controller, name: controller != "example.com/both" or name != "any")
    assert strict.gateways[0].listeners[0].attached_routes == 1
