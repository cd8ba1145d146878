"""Routers of Traefik (pkg/provider/kubernetes/gateway/{http,grpc}route.go, buildMatchRule and buildGRPCMatchRule)."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests import worlds

CALLS = "{matches: [{method: {service: shop.Cart, method: Add}}], backendRefs: [{name: calls, port: 80}]}"


def served(url: str, method: str, *routes: tuple[str, str, str]) -> str:
    """Return the Service that a request gets to, "" for none; `routes`: kind, hostnames, rules of each."""
    made = [
        worlds.route(f"r{number}", kind=kind, more=f"{hosts}rules: [{rules}]")
        for number, (kind, hosts, rules) in enumerate(routes)
    ]
    simulation = worlds.simulated(
        worlds.gateway_class("any", "traefik.io/gateway-controller"),
        worlds.gateway(),
        *made,
        *(worlds.service(name) for name in ("calls", "web", "next")),
    )
    outcome = Tracer(simulation).trace(from_url(method, url)).outcome
    return next((key.name for key in outcome.backends), "")


def rule(match: str, service: str) -> str:
    return f"{{matches: [{match}], backendRefs: [{{name: {service}, port: 80}}]}}"


@pytest.mark.parametrize("url", ["http://shop.example/shop.Cart/Add", "http://shop.example/api/shop.Cart/Add"])
def test_a_call_is_an_expression_that_is_looked_for_anywhere(url: str) -> None:
    assert served(url, "GET", ("GRPCRoute", "", CALLS)) == "calls"


def test_a_prefix_comes_before_calls() -> None:
    prefix = rule("{path: {type: PathPrefix, value: /shop.Cart}}", "web")
    calls = ("GRPCRoute", "", CALLS)
    assert served("grpc://shop.example/shop.Cart/Add", "POST", calls, ("HTTPRoute", "", prefix)) == "web"
    everything = rule("{path: {type: PathPrefix, value: /}}", "web")
    assert served("grpc://shop.example/shop.Cart/Add", "POST", calls, ("HTTPRoute", "", everything)) == "calls"


def test_a_method_counts_for_ten_characters_of_a_path() -> None:
    method = rule("{path: {type: PathPrefix, value: /api}, method: GET}", "web")
    longer = rule("{path: {type: PathPrefix, value: /api/v1/a}}", "next")
    longest = rule("{path: {type: PathPrefix, value: /api/v1/a/catalog}}", "next")
    url = "http://shop.example/api/v1/a/catalog"
    assert served(url, "GET", ("HTTPRoute", "", f"{method}, {longer}")) == "web"
    assert served(url, "GET", ("HTTPRoute", "", f"{method}, {longest}")) == "next"


def test_a_longer_path_of_a_wider_host_comes_first() -> None:
    wide = ("HTTPRoute", "hostnames: ['*.example'], ", rule("{path: {type: PathPrefix, value: /api}}", "web"))
    narrow = ("HTTPRoute", "hostnames: [shop.example], ", rule("{path: {type: PathPrefix, value: /}}", "next"))
    assert served("http://shop.example/api", "GET", wide, narrow) == "web"
    assert served("http://shop.example/", "GET", wide, narrow) == "next"


def test_an_expression_ranks_by_its_length_among_prefixes() -> None:
    expression = rule("{path: {type: RegularExpression, value: 'v1'}}", "web")
    prefix = rule("{path: {type: PathPrefix, value: /api}}", "next")
    assert served("http://shop.example/api/v1", "GET", ("HTTPRoute", "", f"{expression}, {prefix}")) == "next"
    assert served("http://shop.example/a/v1", "GET", ("HTTPRoute", "", f"{expression}, {prefix}")) == "web"
