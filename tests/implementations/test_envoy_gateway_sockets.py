"""Listeners that share a port share its socket (docs/design/implementations/envoy-gateway.md §6)."""

from __future__ import annotations

import pytest

from policylint.simulation import Simulation
from tests.implementations.worlds_envoy_gateway import CLASS, effective, policy
from tests.worlds import gateway, simulated, state

TLS = "protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}"
LISTENERS = (
    f"[{{name: a, port: 443, hostname: a.test, {TLS}}}, {{name: b, port: 443, hostname: b.test, {TLS}}},"
    f" {{name: apart, port: 8443, {TLS}}}]"
)
PROXY, KEEP = "proxyProtocol: {}", "tcpKeepalive: {probes: 3}"


def simulation(*policies: str) -> Simulation:
    return simulated(CLASS, gateway(listeners=LISTENERS), *policies)


def of(listener: str, spec: str) -> str:
    return policy("CTP", listener or "all", f"Gateway/edge#{listener}" if listener else "Gateway/edge", spec, "infra")


@pytest.mark.parametrize("asking", ["a", "b"])
def test_one_listener_asks_all_clients_of_the_port_for_proxy_protocol(asking: str) -> None:
    told = simulation(of(asking, PROXY))
    for listener in ("a", "b"):
        assert effective(told, "CTP", f"Listener infra/edge#{listener}") == ({"proxyProtocol": {}}, [asking], [])
    assert state(told, asking).verdict == "Enforced"
    assert not [group for group in told.groups if any("edge#apart" in str(path[-1]) for path in group.contexts())]


def test_the_first_listener_decides_on_the_socket() -> None:
    """Its own settings and, where it has none, the defaults; what belongs to a filter chain stays each one's own."""
    chain = "timeout: {http: {requestReceivedTimeout: 1s}}, connection: {bufferLimit: 1Mi, connectionLimit: {value: 5}}"
    told = simulation(of("a", "connection: {bufferLimit: 2Mi}"), of("b", f"{KEEP}, {chain}"))
    spec, owners, lost = effective(told, "CTP", "Listener infra/edge#b")
    assert spec == {
        "timeout": {"http": {"requestReceivedTimeout": "1s"}},
        "connection": {"bufferLimit": "2Mi", "connectionLimit": {"value": 5}},
    }
    assert owners == ["a", "b"]
    assert lost == ["tcpKeepalive/probes of b by a", "connection/bufferLimit of b by a"]
    assert [state(told, name).verdict for name in ("a", "b")] == ["Enforced", "PartiallyEnforced"]


def test_a_first_listener_without_a_policy_has_the_defaults() -> None:
    told = simulation(of("b", KEEP))
    assert effective(told, "CTP", "Listener infra/edge#b") == ({}, [], ["tcpKeepalive/probes of b by edge"])
    assert state(told, "b").verdict == "Overridden"


def test_one_policy_for_all_loses_nothing() -> None:
    told = simulation(of("", f"{PROXY}, {KEEP}"))
    assert state(told, "all").verdict == "Enforced"
    assert not any(group.effective.lost for group in told.groups)


def test_a_port_of_its_own_is_a_socket_of_its_own() -> None:
    told = simulation(of("apart", f"{PROXY}, {KEEP}"))
    assert state(told, "apart").verdict == "Enforced"
    assert {str(path[-1]) for group in told.groups for path in group.contexts()} == {"Listener infra/edge#apart"}
