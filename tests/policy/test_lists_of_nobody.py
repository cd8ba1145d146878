"""Lists of addresses that no client has turn everybody away, also where the proxies see other addresses than theirs."""

from __future__ import annotations

import pytest

from policylint.policy.authorizing import RequestFacts
from policylint.spaces.addresses import OF_NOBODY, address_set
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.contract.own import ENVOY_GATEWAY, ISTIO, ROUTE, SERVICE, allow_list, authorization
from tests.contract.own import TARGET as AT_EDGE
from tests.doors.test_traefik import SHOP, ingress_route, middleware, to
from tests.worlds import gateway, simulated


def test_who_they_are() -> None:
    assert address_set(("127.0.0.0/8", "::1/128", "0.0.0.0/32", "::/128", "240.0.0.0/4")) == OF_NOBODY


@pytest.mark.parametrize(
    ("networks", "unknown", "client", "itself"),
    [
        (("127.0.0.1/32",), False, False, True),
        (("127.0.0.0/8", "::1"), False, False, True),
        (("255.255.255.255",), False, False, False),
        (("127.0.0.1", "10.0.0.0/8"), None, False, True),
        (("127.0.0.1", "office"), None, None, True),
        (("0.0.0.0/0",), True, True, True),
        ((), False, False, False),
    ],
)
def test_who_is_listed(
    networks: tuple[str, ...], unknown: bool | None, client: bool | None, itself: bool | None
) -> None:
    facts = [RequestFacts("GET", "a", "/", {}, address=each) for each in ("", "203.0.113.9", "127.0.0.1")]
    assert [each.is_from(networks) for each in facts] == [unknown, client, itself]


def listed(networks: str) -> dict[str, tuple[str, ...]]:
    blocks = f"{AT_EDGE}, rules: [{{from: [{{source: {{remoteIpBlocks: [{networks}]}}}}]}}]"
    return {
        "Envoy Gateway": (ENVOY_GATEWAY, gateway(), ROUTE, SERVICE, allow_list(networks)),
        "Istio": (*ISTIO, authorization("office", blocks)),
        "Traefik": (
            ingress_route(to(SHOP, "checkout", "middlewares: [{name: m}]")),
            SERVICE,
            middleware(f"{{ipAllowList: {{sourceRange: [{networks}]}}}}"),
        ),
    }


@pytest.mark.parametrize("who", listed(""))
@pytest.mark.parametrize(
    ("networks", "answer"), [("127.0.0.1/32", "denied"), ("127.0.0.1/32, 192.0.2.0/24", "depends")]
)
def test_nobody_is_let_in_by_one(who: str, networks: str, answer: str) -> None:
    """Whoever asks from an address that nobody knows."""
    trace = Tracer(simulated(*listed(networks)[who])).trace(from_url("GET", "http://shop.example.com/"))
    told = "denied" if trace.denied else "depends" if trace.depends or trace.authorization == "depends" else "let in"
    assert told == answer
