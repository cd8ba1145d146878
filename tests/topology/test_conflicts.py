"""Listeners that are not distinct (docs/design/request-precedence.md §2 and §9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.topology.hostnames import narrowed
from tests.worlds import gateway, listener_set, topology

ALLOW = "allowedListeners: {namespaces: {from: All}}"


def listeners(*written: str) -> str:
    """`a 80 HTTP a.com` per listener: name, port, protocol and, where it has one, hostname."""
    flow = []
    for each in written:
        name, port, protocol, *hostname = each.split()
        flow.append(f"{{name: {name}, port: {port}, protocol: {protocol}, hostname: '{''.join(hostname)}'}}")
    return f"[{', '.join(flow)}]"


@pytest.mark.parametrize(
    ("written", "conflicts"),
    [
        (["a 80 HTTP a.com", "b 80 HTTP b.com"], {}),
        (["a 80 HTTP", "b 81 HTTP"], {}),
        (["a 80 HTTP", "b 80 HTTP b.com"], {}),
        (["a 80 HTTP", "b 80 HTTP"], {"a": "HostnameConflict", "b": "HostnameConflict"}),
        (["a 443 HTTPS a.com", "b 443 TLS b.com"], {}),
        (["a 443 HTTPS a.com", "b 443 TLS a.com"], {"a": "ProtocolConflict", "b": "ProtocolConflict"}),
        (
            ["a 443 HTTPS a.com", "b 443 TLS a.com", "c 443 TLS a.com"],
            {"a": "ProtocolConflict", "b": "HostnameConflict", "c": "HostnameConflict"},
        ),
        (["a 443 HTTPS a.com", "b 443 HTTP b.com"], {"a": "ProtocolConflict", "b": "ProtocolConflict"}),
        (
            ["a 80 HTTP a.com", "b 80 HTTP b.com", "t 80 TCP"],
            {"a": "ProtocolConflict", "b": "ProtocolConflict", "t": "ProtocolConflict"},
        ),
        (["a 53 UDP", "b 53 TCP"], {}),
        (["a 53 UDP", "b 53 UDP"], {"a": "ProtocolConflict", "b": "ProtocolConflict"}),
        (["a 80 HTTP ${A}", "b 80 HTTP ${A}"], {}),
        (["a '${PORT}' HTTP", "b '${PORT}' HTTP"], {}),
    ],
)
def test_inside_one_gateway_nobody_wins(written: list[str], conflicts: dict[str, str]) -> None:
    found = topology(gateway(listeners=listeners(*written))).gateways[0]
    assert {each.name: each.conflict for each in found.listeners if each.conflict} == conflicts
    for each in found.listeners:
        status = "True" if each.name in conflicts else "False"
        assert next(one.status for one in each.conditions if one.type == "Conflicted") == status


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["HTTPS", "TLS", "HTTP"]),
            st.sampled_from([1, 2]),
            st.sampled_from(["", "a.b", "c.a.b", "b", "*.b", "*.a.b", "*.c.a.b", "xa.b"]),
        ),
        max_size=6,
    )
)
def test_hostnames_that_overlap_do_so_pair_by_pair(written: list[tuple[str, int, str]]) -> None:
    text = listeners(*(f"l{at} {port} {protocol} {host}".strip() for at, (protocol, port, host) in enumerate(written)))
    found = topology(gateway(listeners=text)).gateways[0].listeners if written else ()
    told = {each.name for each in found if any(one.type == "OverlappingTLSConfig" for one in each.conditions)}
    secure = [(at, *entry) for at, entry in enumerate(written) if entry[0] != "HTTP"]
    assert told == {
        f"l{at}"
        for at, _, port, host in secure
        for other, _, other_port, other_host in secure
        if at != other and port == other_port and narrowed(host, (other_host,))
    }


def test_a_conflict_names_the_others() -> None:
    found = topology(gateway(listeners=listeners("a 80 HTTP", "b 80 HTTP"))).gateways[0].listeners[0]
    assert list(map(str, found.conflicts_with)) == ["Listener infra/edge#b"]


def test_across_listener_sets_the_gateway_wins_then_the_older_then_the_name() -> None:
    both = listeners("p 80 HTTP p.com", "q 81 HTTP")
    found = topology(
        gateway(listeners=listeners("p 80 HTTP p.com"), more=ALLOW),
        listener_set("newer", "a", both, created="2026-02-01T00:00:00Z"),
        listener_set("older", "z", both, created="2026-01-01T00:00:00Z"),
        listener_set("unstated", "a", both),
    )
    assert not any(each.conflict for each in found.gateways[0].listeners)
    lost = {
        each.listener_set.key.name: [listener.name for listener in each.listeners if listener.conflict]
        for each in found.listener_sets
    }
    assert lost == {"older": ["p"], "newer": ["p", "q"], "unstated": ["p", "q"]}


def test_what_lost_to_the_gateway_does_not_hold_the_port_against_its_own_set() -> None:
    found = topology(
        gateway(listeners=listeners("g 80 HTTP g.com"), more=ALLOW),
        listener_set("extra", "a", listeners("t 80 TCP", "h 80 HTTP h.com")),
    )
    conflicts = {each.name: each.conflict for each in found.listener_sets[0].listeners}
    assert conflicts == {"t": "ProtocolConflict", "h": ""}
