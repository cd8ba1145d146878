"""Ingresses of AWS that share a load balancer: the order of their rules, and what one of them asks for all.

What is expected was written down from the controller's documentation (IngressGroup, annotations) and pkg/ingress,
model_build_listener_rules.go, first.
"""

from __future__ import annotations

import pytest

from tests.doors.asking import answer, ingress
from tests.worlds import service, simulated

PREFIX = "alb.ingress.kubernetes.io/"
ANY, HOST = "/* ImplementationSpecific web", "shop.example.com"


def alb(name: str, paths: str = ANY, *, host: str = HOST, group: str = "edge", order: str = "", **more: str) -> str:
    grouped = {"group.name": group} if group else {}
    ordered = {"group.order": order} if order else {}
    return ingress(name, paths, host, of_class="alb", prefix=PREFIX, **grouped, **ordered, **more)


TO_NEXT = "/* ImplementationSpecific next"
ORDERS = {
    "as they are written": ((alb("a", f"{ANY}, /api ImplementationSpecific next"),), "/api", "web"),
    "exact ones first": ((alb("a", f"{ANY}, /api Exact next"),), "/api", "next"),
    "prefixes before the others, the longest first": (
        (alb("a", f"{ANY}, / Prefix web, /api Prefix next"),),
        "/api/x",
        "next",
    ),
    "the lower order first": ((alb("a", order="2"), alb("b", TO_NEXT, order="1")), "/", "next"),
    "no order is zero": ((alb("b", TO_NEXT), alb("a", order="1")), "/", "next"),
    "then by name": ((alb("b", TO_NEXT), alb("a")), "/", "web"),
    "a negative order": ((alb("a"), alb("b", TO_NEXT, order="-1")), "/", "next"),
    "a rule for any host is in that order": ((alb("a", order="2"), alb("b", TO_NEXT, host="", order="1")), "/", "next"),
    "one for many hosts as well": ((alb("a"), alb("b", TO_NEXT, host="*.example.com", order="-1")), "/", "next"),
    "a rule for any host comes last": ((alb("a"), alb("b", TO_NEXT, host="", order="1")), "/", "web"),
}


@pytest.mark.parametrize("case", ORDERS)
def test_the_order_of_rules(case: str) -> None:
    objects, path, end = ORDERS[case]
    assert answer(simulated(service("web"), service("next"), *objects), f"http://{HOST}{path}")[0] == end


@pytest.mark.parametrize(
    ("group", "end"), [("edge", ("403", "403")), ("", ("web", "403"))], ids=["of a group", "of its own"]
)
def test_addresses_are_those_of_the_group(group: str, end: tuple[str, str]) -> None:
    objects = alb("a", group=group), alb("b", host="pay.example.com", group=group, inbound_cidrs="10.0.0.0/8")
    simulation = simulated(service("web"), *objects)
    hosts = (HOST, "pay.example.com")
    assert tuple(answer(simulation, f"http://{host}/", "203.0.113.9")[0] for host in hosts) == end


def test_the_redirect_of_one_is_that_of_the_group() -> None:
    simulation = simulated(service("web"), alb("a"), alb("b", host="pay.example.com", ssl_redirect="443"))
    assert answer(simulation, f"http://{HOST}/")[0] == f"301 https://{HOST}/"
