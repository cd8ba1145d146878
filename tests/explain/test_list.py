"""The tables of `list`: rows, columns, filters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from policylint.cli import main
from tests import worlds

FIXTURES = Path(__file__).parents[2] / "fixtures"
SHOP = "envoy-gateway-shop"


@pytest.fixture(autouse=True)
def _in_the_fixtures(apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(apart / "fixtures")


def run(*words: str) -> Any:
    return CliRunner().invoke(main, ["list", *words], standalone_mode=False)


def rows(what: str, *words: str) -> list[dict[str, Any]]:
    said = json.loads(run(what, *words, "-o", "json").output)
    found: list[dict[str, Any]] = said[what]
    return found


def test_policies_have_targets_verdict_and_reach() -> None:
    by_name = {each["policy"]: each for each in rows("policies", SHOP)}
    jwt = by_name["SecurityPolicy infra/edge-jwt"]
    assert (jwt["class"], jwt["verdict"], jwt["routes"], jwt["namespaces"]) == (
        "Inherited",
        "PartiallyEnforced",
        "1/2",
        1,
    )
    headers = by_name["EnvoyExtensionPolicy shop/headers"]
    assert headers["targets"] == ["HTTPRoute shop/cart", "HTTPRoute shop/chekout (missing)"]


def test_a_policy_of_listeners_reaches_their_routes() -> None:
    world = str(FIXTURES.parent / "tests" / "explain" / "worlds")
    assert {each["policy"]: each["routes"] for each in rows("policies", world)}["SecurityPolicy shop/older"] == 1


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("routes", ["HTTPRoute shop/cart", "HTTPRoute shop/checkout"]),
        ("gateways", ["Gateway infra/edge"]),
        ("listeners", ["Listener infra/edge#https"]),
        ("backends", ["Service shop/cart", "Service shop/checkout", "Service shop/checkout-canary"]),
    ],
)
def test_the_other_tables(what: str, names: list[str]) -> None:
    assert [each[what[:-1]] for each in rows(what, SHOP)] == names


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("-n", "shop"), 2),
        (("-n", "nowhere"), 0),
        (("--kind", "SecurityPolicy"), 2),
        (("--kind", "securitypolicies"), 2),
        (("--kind", "SecurityPolicy.gateway.envoyproxy.io", "-n", "infra"), 1),
        (("-l", "team=shop"), 0),
        (("-l", "!team"), 4),
        (("-l", "team!=shop,other notin (a, b)"), 4),
        (("-l", "team in (shop, infra)"), 0),
    ],
)
def test_filters(words: tuple[str, ...], number: int) -> None:
    assert len(rows("policies", *words, SHOP)) == number


def test_text_and_wide() -> None:
    narrow, wide = run("policies", SHOP).output, run("policies", "-o", "wide", SHOP).output
    assert narrow.splitlines()[0].split() == ["POLICY", "TARGETS", "CLASS", "VERDICT", "ROUTES", "NAMESPACES"]
    assert "LOCATION" in wide.splitlines()[0] and "edge-jwt.yaml:" in wide
    assert run("policies", "-n", "nowhere", SHOP).output == "no policies here\n"


def test_wrong_usage() -> None:
    assert "not a label selector" in str(run("policies", "-l", "a=b=c", SHOP).exception)
    assert run("nonsense", SHOP).exception is not None


PERHAPS = "allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {edge: 'yes'}}}}"
CERTAIN = "allowedRoutes: {namespaces: {from: All}}"


@pytest.mark.parametrize(("allowed", "routes", "words"), [(PERHAPS, None, "perhaps 1 route"), (CERTAIN, 1, "1 route")])
def test_a_route_that_is_perhaps_attached_is_not_counted_as_attached(
    tmp_path: Path, allowed: str, routes: int | None, words: str
) -> None:
    edge = worlds.gateway(listeners=f"[{{name: http, port: 80, protocol: HTTP, {allowed}}}]")
    file = tmp_path / "world.yaml"
    file.write_text("---\n".join((worlds.gateway_class(), edge, worlds.route(), worlds.service())))
    for table in ("listeners", "gateways"):
        (row,) = rows(table, str(file))
        assert (row["routes"], row["perhaps routes"]) == (routes, [] if routes else ["HTTPRoute shop/checkout"])
    said = CliRunner().invoke(main, ["explain", "Gateway/infra/edge", str(file)], standalone_mode=False).output
    assert f"every host:80 HTTP, {words}\n" in said


def test_a_listener_that_takes_no_requests_says_so(tmp_path: Path) -> None:
    edge = worlds.gateway(listeners=f"[{{name: https, port: 443, protocol: HTTPS, {CERTAIN}}}]")
    file = tmp_path / "world.yaml"
    controller = worlds.gateway_class(controller="traefik.io/gateway-controller")
    file.write_text("---\n".join((controller, edge, worlds.route(), worlds.service())))
    for table in ("listeners", "gateways"):
        (row,) = rows(table, str(file))
        assert row["status"] == "takes no requests"
    said = CliRunner().invoke(main, ["explain", "Gateway/infra/edge", str(file)], standalone_mode=False).output
    assert "takes no requests: it is HTTPS and has no tls" in " ".join(said.split())
