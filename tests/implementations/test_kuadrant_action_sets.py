"""Kuadrant's filter chooses by host and match alone: docs/design/semantics.md §6, trap 26.

Each answer was predicted from the operator's and the filter's source; the operator's own sets are asked in
tests/witness.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from policylint.compare import compare, pair_sides
from policylint.guardrails import guardrails, verdicts
from policylint.reach import all_ways, asked
from policylint.report.list.listing import ListRequest, entries
from policylint.simulation import Simulation
from policylint.trace import Requirements, Tracer
from policylint.trace.request import from_url
from tests import worlds
from tests.contract.test_contract import disagreements
from tests.worlds import gateway, gateway_class, policy, route, service

ISTIO = gateway_class("istio", "istio.io/gateway-controller")
ALL = "allowedRoutes: {namespaces: {from: All}}"
EDGE = gateway(
    of_class="istio",
    listeners=f"[{{name: http, port: 80, protocol: HTTP, {ALL}}}, {{name: api, port: 8080, protocol: HTTP, {ALL}}}]",
)
TO = "backendRefs: [{name: checkout, port: 80}]"
SHOP = "hostnames: [shop.example.com]"
ID = "https://id.example.com"
JWT = f"jwt: {{issuerUrl: '{ID}'}}"


def login(name: str, target: str, namespace: str = "infra", way: str = JWT) -> str:
    rules = f"rules: {{authentication: {{{name}: {{{way}}}}}}}"
    return policy("kuadrant.io/v1", "AuthPolicy", name, target, rules, namespace, field="targetRef")


def limit(target: str, namespace: str = "shop") -> str:
    limits = "limits: {few: {rates: [{limit: 5, window: 1m}]}}"
    return policy("kuadrant.io/v1", "RateLimitPolicy", "few", target, limits, namespace, field="targetRef")


def at(listener: str) -> str:
    return f"[{{name: edge, namespace: infra, sectionName: {listener}}}]"


def rules(*matches: str) -> str:
    return f"rules: [{', '.join(f'{{{match}, {TO}}}' for match in matches)}]"


def path(value: str, kind: str = "PathPrefix", more: str = "") -> str:
    return f"matches: [{{path: {{type: {kind}, value: {value}}}{more}}}]"


ONE = route(more=f"{SHOP}, {rules(path('/'))}")
OPEN_BESIDE = route(more=f"{SHOP}, {rules(path('/public'), 'name: rest, ' + path('/'))}")
NARROW = (
    route("narrow", parents=at("http"), more=f"hostnames: [api.example.com], {rules(path('/x'))}"),
    route("wide", parents=at("api"), more=f"hostnames: ['*.example.com'], {rules(path('/'))}"),
)
BY_METHOD = route(more=f"{SHOP}, {rules('name: any, ' + path('/x'), 'name: get, ' + path('/x', more=', method: GET'))}")
BY_TEXT = route(more=f"{SHOP}, {rules('name: pub, ' + path('/pub'), 'name: rest, ' + path('/'))}")
PREDICTED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "a listener without policies meets those of another one": (
        (ONE, login("a", "Gateway/edge#api")),
        "http://shop.example.com/",
        "authentication by infra/a",
    ),
    "the same for another host is asked nothing": (
        (
            ONE,
            route("other", more=f"hostnames: [other.example.com], {rules(path('/'))}"),
            login("a", "HTTPRoute/other", "shop"),
        ),
        "http://shop.example.com/",
        "none",
    ),
    "of two policies at two listeners one acts, whichever": (
        (ONE, login("a", "Gateway/edge#api"), login("b", "Gateway/edge#http", way="apiKey: {selector: {}}")),
        "http://shop.example.com/",
        "authentication by infra/a and authentication by infra/b",
    ),
    "one that lets everybody in may be the one that acts": (
        (ONE, login("a", "Gateway/edge#api"), login("b", "Gateway/edge#http", way="anonymous: {}")),
        "http://shop.example.com/",
        "unknown",
    ),
    "a limit at one listener takes the login of the other one away, or not": (
        (ONE, login("a", "Gateway/edge#api"), limit("Gateway/edge#http", "infra")),
        "http://shop.example.com/",
        "unknown",
    ),
    "a rule without policies meets that of a wider one": (
        (OPEN_BESIDE, login("a", "HTTPRoute/checkout#rest", "shop")),
        "http://shop.example.com/public",
        "authentication by shop/a",
    ),
    "a rule with another policy does not": (
        (OPEN_BESIDE, login("a", "HTTPRoute/checkout#rest", "shop"), limit("HTTPRoute/checkout#rule-1")),
        "http://shop.example.com/public",
        "none",
    ),
    "a narrower host at another listener takes a login away": (
        (*NARROW, login("a", "HTTPRoute/wide", "shop"), limit("HTTPRoute/narrow")),
        "http://api.example.com:8080/y",
        "none",
    ),
    "and leaves it to other hosts": (
        (*NARROW, login("a", "HTTPRoute/wide", "shop"), limit("HTTPRoute/narrow")),
        "http://else.example.com:8080/y",
        "authentication by shop/a",
    ),
    "a match without a method comes before one with": (
        (
            BY_METHOD,
            login("a", "HTTPRoute/checkout#any", "shop", "anonymous: {}"),
            login("b", "HTTPRoute/checkout#get", "shop"),
        ),
        "http://shop.example.com/x",
        "authentication by shop/a (optional)",
    ),
    "a prefix is one of the text": (
        (BY_TEXT, login("a", "HTTPRoute/checkout#pub", "shop"), limit("HTTPRoute/checkout#rest")),
        "http://shop.example.com/publication",
        "authentication by shop/a",
    ),
}


def opened(tmp_path: Path, *manifests: str) -> Simulation:
    return worlds.opened(tmp_path, ISTIO, EDGE, service(), *manifests)


@pytest.mark.parametrize("of_class", [ISTIO, ""], ids=["", "whose class is elsewhere"])
@pytest.mark.parametrize("name", PREDICTED)
def test_the_filter_chooses_by_host_and_match(name: str, of_class: str, tmp_path: Path) -> None:
    manifests, url, login_asked = PREDICTED[name]
    simulation = worlds.opened(tmp_path, of_class, EDGE, service(), *manifests)
    tracer = Tracer(simulation)
    given = Requirements(tracer).of(tracer.trace(from_url("GET", url)), "authentication")
    assert str(given).startswith(login_asked), str(given)


@pytest.mark.parametrize("name", PREDICTED)
def test_every_reader_says_so(name: str, tmp_path: Path) -> None:
    assert disagreements(opened(tmp_path, *PREDICTED[name][0])) == []


def test_reach_tells_the_hosts_of_other_listeners_apart(tmp_path: Path) -> None:
    simulation = opened(tmp_path, *NARROW, login("a", "HTTPRoute/wide", "shop"), limit("HTTPRoute/narrow"))
    requirements = Requirements(Tracer(simulation))
    ways = [way for way in all_ways(simulation) if way.entry.port == 8080 and way.taken]
    said = {way.requests: asked(requirements, way, "authentication").state for way in ways}
    assert set(said.values()) == {"open", "asked"}, said
    assert [requests for requests, state in said.items() if state == "asked"] == ["host: not api.example.com"]


@pytest.mark.parametrize(
    ("issuer", "state"), [("https://other.example.com", "broken"), ("https://id.example.com", "holds")]
)
def test_policies_that_ask_alike_are_told_apart(tmp_path: Path, issuer: str, state: str) -> None:
    wide = route("wide", parents=at("http"), more=f"hostnames: ['*.example.com'], {rules(path('/'))}")
    narrow = route("narrow", parents=at("api"), more=f"hostnames: [api.example.com], {rules(path('/'))}")
    logins = login("a", "HTTPRoute/wide", "shop"), login("b", "HTTPRoute/narrow", "shop", JWT.replace(ID, issuer))
    simulation = opened(tmp_path, wide, narrow, *logins)
    requirements = Requirements(Tracer(simulation))
    ways = [each for each in all_ways(simulation) if each.entry.port == 80 and each.taken]
    said = {each.requests: str(asked(requirements, each, "authentication")) for each in ways}
    assert said == {
        "host: not api.example.com": "authentication by shop/a",
        "host: api.example.com": "authentication by shop/b",
    }
    rail = f"{{name: x, ask: {{issuer: '{ID}'}}, requests: {{route: shop/wide}}}}"
    (verdict,) = verdicts(simulation, guardrails([yaml.safe_load(rail)]))
    assert verdict.state == state
    assert disagreements(simulation) == []


def test_what_acts_on_others_is_listed_there(tmp_path: Path) -> None:
    other = route("public", more=f"{SHOP}, {rules(path('/public'))}")
    simulation = opened(tmp_path, ONE, other, login("a", "HTTPRoute/checkout", "shop"))
    rows = {row["route"]: row["acting"] for row in entries("routes", [simulation], ListRequest())}
    assert rows["HTTPRoute shop/public"] == ["AuthPolicy shop/a"]


def test_a_diff_names_the_listener_that_meets_the_policy_of_another_one(tmp_path: Path) -> None:
    sides = []
    for side, more in (("before", ()), ("after", (login("a", "Gateway/edge#api"),))):
        (tmp_path / side).mkdir()
        sides.append(opened(tmp_path / side, ONE, *more))
    (pair,) = pair_sides(sides[:1], sides[1:])
    changed = {
        node.section
        for each in compare([pair])[0].contexts
        for node in each.path
        if node.key.kind == "Gateway" and node.section
    }
    assert changed == {"http", "api"}
