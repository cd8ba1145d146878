"""Who is let in on TCP and TLS: policies of every implementation are asked, and `reach` tells apart by what they ask.

Sources: Envoy Gateway's internal/gatewayapi/securitypolicy.go (translateSecurityPolicyForTCPRoute, …ForGateway: of a
policy TCP listeners take the authorization by clientCIDRs) and Istio's pilot/pkg/security/authz/builder (BuildTCP).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.guardrails import guardrails, verdicts
from policylint.reach import all_ways, end_in_words
from policylint.trace import Tracer, request
from tests import worlds
from tests.compare.test_compare import sides
from tests.contract.own import (
    ENVOY_GATEWAY,
    OF_ISTIO,
    SECURITY,
    SERVICE,
    STREAMS,
    TARGET,
    TCP_ROUTE,
    TLS_ROUTE,
    allow_list,
    authorization,
)

STREAM = (ENVOY_GATEWAY, worlds.gateway(listeners=STREAMS), TCP_ROUTE, SERVICE)
OF_GATEWAY = worlds.policy(
    *SECURITY,
    "office",
    "Gateway/edge",
    "authorization: {defaultAction: Allow, rules: [{action: Deny, principal: {clientCIDRs: [203.0.113.0/24]}}]}",
    "infra",
)
ISTIO = (OF_ISTIO, worlds.gateway(of_class="istio", listeners=STREAMS), TCP_ROUTE, TLS_ROUTE, SERVICE)
DENIES = authorization(
    "office", f"{TARGET}, action: DENY, rules: [{{from: [{{source: {{ipBlocks: [203.0.113.0/24]}}}}]}}]"
)
OF_THE_OFFICE = "from 10.0.0.0/8"
ELSEWHERE = "from outside 10.0.0.0/8"


def ended(*manifests: str, address: str = "", scheme: str = "tcp") -> tuple[bool, str]:
    """Whether a connection gets to the backend, and who keeps it out."""
    asks = {"scheme": scheme, "port": 9000 if scheme == "tcp" else 8443, "host": "db.example.com", "address": address}
    trace = Tracer(worlds.simulated(*manifests)).trace(request(asks))
    return bool(trace.outcome.backends), "" if trace.denied is None else str(trace.denied[0])


def regions(*manifests: str) -> dict[str, str]:
    """What `reach` says of the connections: by who opens them."""
    return {way.requests: end_in_words(way.trace) for way in all_ways(worlds.simulated(*manifests)) if way.taken}


@pytest.mark.parametrize(
    ("world", "policy"),
    [(STREAM, allow_list("10.0.0.0/8", "TCPRoute/stream")), (STREAM, OF_GATEWAY), (ISTIO, DENIES)],
    ids=["of the route", "of the Gateway", "of Istio"],
)
def test_who_is_turned_away_is_told_apart(world: tuple[str, ...], policy: str) -> None:
    assert ended(*world, policy, address="10.1.2.3")[0] is True
    assert ended(*world, policy, address="203.0.113.9") == (False, regions_of(policy))
    found = regions(*world, policy)
    assert sorted(end.split(":")[0] for end in found.values()) == ["refused", "shop/checkout"]


def regions_of(policy: str) -> str:
    kind = "AuthorizationPolicy" if "AuthorizationPolicy" in policy else "SecurityPolicy"
    return f"{kind} {'shop' if 'TCPRoute' in policy else 'infra'}/office"


def test_whether_an_unknown_client_is_let_in_depends() -> None:
    trace = Tracer(worlds.simulated(*STREAM, allow_list("10.0.0.0/8", "TCPRoute/stream"))).trace(
        request({"scheme": "tcp", "port": 9000})
    )
    assert [each.decision.why for each in trace.depends] == ["clientCIDRs"]


def test_without_a_policy_all_connections_are_one() -> None:
    (way,) = [way for way in all_ways(worlds.simulated(*STREAM)) if way.taken]
    assert way.dimensions == ()


def test_a_guardrail_about_addresses_sees_connections() -> None:
    (rail,) = guardrails([{"name": "office", "only": {"from": ["10.0.0.0/8"], "to": "Service/shop/checkout"}}])
    states = [
        next(iter(verdicts(worlds.simulated(*STREAM, *more), [rail]))).state
        for more in ((), (allow_list("10.0.0.0/8", "TCPRoute/stream"),), (allow_list("10.0.0.0/7", "TCPRoute/stream"),))
    ]
    assert states == ["broken", "holds", "broken"]


@pytest.mark.parametrize(
    ("before", "after", "opens"),
    [
        ("10.0.0.0/8", "10.0.0.0/7", "from 11.0.0.0/8"),
        ("10.0.0.0/8", "0.0.0.0/0", ELSEWHERE),
        ("10.0.0.0/8", "10.0.0.0/9, 10.128.0.0/9", ""),
    ],
)
def test_an_opened_list_opens_connections(before: str, after: str, opens: str, tmp_path: Path) -> None:
    lists = [(*STREAM, allow_list(networks, "TCPRoute/stream")) for networks in (before, after)]
    (found,) = compare([sides(tmp_path, lists[0], lists[1])])
    assert found.requests is not None
    assert [each.words for change in found.requests.opens for each in change.requests] == ([opens] if opens else [])


def test_tls_is_told_apart_by_addresses_too() -> None:
    office = authorization("office", f"{TARGET}, rules: [{{from: [{{source: {{ipBlocks: [10.0.0.0/8]}}}}]}}]")
    assert ended(*ISTIO, office, address="203.0.113.9", scheme="tls") == (False, "AuthorizationPolicy infra/office")
    assert regions(*ISTIO, office)[OF_THE_OFFICE] == "shop/checkout"
