"""Listeners as written: names, roles, supported kinds (ListenerStatus.SupportedKinds)."""

from __future__ import annotations

import pytest

from policylint.topology.listeners import read
from tests.worlds import gateway, listener_set, resources


def test_a_listener_of_a_gateway_and_one_of_a_listener_set_print_apart() -> None:
    one = read(resources(gateway())[0])[0]
    other = read(resources(listener_set("extra", "shop", "[{name: web, port: 81, protocol: HTTP}]"))[0])[0]
    assert (str(one.node), one.node.role) == ("Listener infra/edge#http", "Listener")
    assert (str(other.node), other.node.role) == ("ListenerSet shop/extra#web", "ListenerSet")


@pytest.mark.parametrize(
    ("listener", "kinds", "invalid"),
    [
        ("protocol: HTTP", ("HTTPRoute", "GRPCRoute"), []),
        ("protocol: HTTPS", ("HTTPRoute", "GRPCRoute"), []),
        ("protocol: TLS, tls: {mode: Passthrough}", ("TLSRoute",), []),
        ("protocol: TLS, tls: {mode: Terminate}", ("TLSRoute", "TCPRoute"), []),
        ("protocol: TCP", ("TCPRoute",), []),
        ("protocol: UDP", ("UDPRoute",), []),
        ("protocol: INVALID", (), []),
        ("protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}]}", ("GRPCRoute",), []),
        ("protocol: HTTP, allowedRoutes: {kinds: [{kind: Nonsense}]}", (), ["Nonsense"]),
        ("protocol: HTTP, allowedRoutes: {kinds: [{kind: Nonsense}, {kind: HTTPRoute}]}", ("HTTPRoute",), ["Nonsense"]),
        ("protocol: HTTP, allowedRoutes: {kinds: [{group: wrong.io, kind: HTTPRoute}]}", (), ["HTTPRoute.wrong.io"]),
        (
            "protocol: TLS, tls: {mode: Passthrough}, allowedRoutes: {kinds: [{kind: TCPRoute}, {kind: TLSRoute}]}",
            ("TLSRoute",),
            ["TCPRoute"],
        ),
        ("protocol: HTTP, allowedRoutes: {kinds: null}", ("HTTPRoute", "GRPCRoute"), []),
    ],
)
def test_supported_kinds(listener: str, kinds: tuple[str, ...], invalid: list[str]) -> None:
    found = read(resources(gateway(listeners=f"[{{name: it, port: 1, {listener}}}]"))[0])[0]
    assert found.kinds == kinds
    assert [kind for kind, _ in found.invalid] == invalid


def test_garbage_and_unnamed_listeners_are_no_crash_and_no_section() -> None:
    found = read(resources(gateway(listeners="[null, 3, {port: x}, {name: 7}, {name: a}, {name: a}]"))[0])
    assert [each.node.section for each in found] == ["[2]", "[3]", "a"]
    assert [each.name for each in found] == ["", "", "a"]
