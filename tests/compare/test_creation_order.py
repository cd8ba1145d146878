"""What only one side of a change has is younger than what both have, whatever its kind and name."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.compare.requests import RequestChange
from tests import worlds
from tests.compare.test_compare import sides
from tests.compare.test_requests import APP, CLASS, EDGE, NEW, rule, web
from tests.worlds import gateway

OLD = web(rule("/"), name="old", hosts="shop.example.com")


def changed(tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...]) -> tuple[RequestChange, ...]:
    around = (CLASS, EDGE, APP, NEW)
    (environment,) = compare([sides(tmp_path, (*around, *before), (*around, *after))])
    assert environment.requests is not None
    return environment.requests.changes


@pytest.mark.parametrize("name", ["a-first-by-name", "z-last-by-name"])
def test_a_new_route_takes_no_requests_of_an_old_one_in_a_tie(tmp_path: Path, name: str) -> None:
    new = web(rule("/", "new"), name=name)
    assert changed(tmp_path, (OLD,), (OLD, new)) == ()


@pytest.mark.parametrize(("name", "says"), [("a-first-by-name", ["rerouted"]), ("z-last-by-name", [])])
def test_of_two_routes_in_a_tie_nobody_knows_which_one_had_the_requests(
    tmp_path: Path, name: str, says: list[str]
) -> None:
    """`trace` of the former revision gives them to the first by name; that the other one had them is not ruled out."""
    tied = (web(rule("/", "new"), name=name), OLD)
    (environment,) = compare([sides(tmp_path, (CLASS, EDGE, APP, NEW, *tied), (CLASS, EDGE, APP, NEW, OLD))])
    assert environment.requests is not None
    assert [each.change for each in environment.requests.changes] == says
    assert environment.requests.same is False
    rows = [each.reason for each in environment.unknown]
    went = "goes; it or HTTPRoute shop/old was in force, whichever was created first"
    assert rows == ([] if says else [went])


@pytest.mark.parametrize(
    "left",
    [
        pytest.param(("parentRefs: [{name: edge", "parentRefs: [{name: other"), id="for another Gateway"),
        pytest.param(("shop.example.com", "new.example.com"), id="for another host"),
        pytest.param(("value: /", "value: /x"), id="for another path"),
    ],
)
def test_a_route_that_leaves_what_it_shares_may_have_had_the_requests(tmp_path: Path, left: tuple[str, str]) -> None:
    tied = web(rule("/", "new"), name="z-last-by-name")
    moved = tied.replace(*left)
    assert moved != tied
    around = (CLASS, EDGE, APP, NEW, OLD)
    (environment,) = compare([sides(tmp_path, (*around, tied), (*around, moved))])
    rows = [each.reason for each in environment.unknown]
    assert "changes; it or HTTPRoute shop/old was in force, whichever was created first" in rows


LOGIN, PAGES, LATER = (
    worlds.policy(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", name, "HTTPRoute/old", spec, "shop", created=created
    )
    for name, spec, created in (
        ("login", "basicAuth: {users: {name: users}}", ""),
        ("pages", "cors: {allowOrigins: ['https://a.example.com']}", ""),
        ("later", "cors: {allowOrigins: ['https://a.example.com']}", "2026-03-01T00:00:00Z"),
    )
)
RENAMED = LOGIN.replace("name: login", "name: zz-login")
WEAKER = LOGIN.replace("basicAuth", "apiKeyAuth")
USERS = worlds.manifest("v1", "Secret", "users", "shop", "type: Opaque")


@pytest.mark.parametrize(
    ("before", "after", "opens", "row"),
    [
        pytest.param((LOGIN, PAGES), (PAGES,), True, "", id="the first by name goes"),
        pytest.param((LOGIN, PAGES), (LOGIN,), False, "goes", id="the other one goes"),
        pytest.param((LOGIN, LATER), (LATER,), False, "goes", id="one without a time goes"),
        pytest.param((LOGIN, LATER), (RENAMED, LATER), False, "is renamed", id="one without a time is renamed"),
        pytest.param((LOGIN, PAGES), (RENAMED, PAGES), True, "", id="the first by name is renamed"),
        pytest.param((LOGIN, LATER), (WEAKER, LATER), False, "changes", id="one without a time changes"),
        pytest.param((LOGIN, LATER), (LOGIN, LATER), False, "", id="nothing changes"),
    ],
)
def test_of_two_policies_in_conflict_nobody_knows_which_one_is_in_force(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], opens: bool, row: str
) -> None:
    around = (CLASS, EDGE, APP, OLD, USERS)
    (environment,) = compare([sides(tmp_path, (*around, *before), (*around, *after))])
    assert environment.requests is not None
    assert [each.change for each in environment.requests.changes] == ["opened"] * opens
    assert [bool(each.ground) for each in environment.requests.changes] == [True] * opens
    assert environment.requests.same is (before == after)
    reasons = [each.reason.partition(";")[0] for each in environment.unknown]
    assert [each.partition(",")[0] for each in reasons] == [row] * bool(row)


@pytest.mark.parametrize(
    "path",
    [rule("/admin", "new"), rule("/", "new", match=", headers: [{name: x-debug, value: '1'}]")],
    ids=["a longer path", "a header more"],
)
def test_a_more_specific_match_does(tmp_path: Path, path: str) -> None:
    (change,) = changed(tmp_path, (OLD,), (OLD, web(path, name="a")))
    assert change.change == "rerouted"


def test_of_two_new_routes_the_first_by_name_gets_them(tmp_path: Path) -> None:
    (change,) = changed(tmp_path, (), (OLD, web(rule("/", "new"), name="a")))
    assert "shop/new" in change.after


def test_a_time_that_is_written_counts(tmp_path: Path) -> None:
    new = web(rule("/", "new"), name="z", created="2020-01-01T00:00:00Z")
    (change,) = changed(tmp_path, (OLD,), (OLD, new))
    assert change.change == "rerouted"
    assert "shop/new" in change.after


def test_a_route_without_hostnames_ties_with_one_that_names_the_listeners(tmp_path: Path) -> None:
    named = (
        "[{name: http, port: 80, protocol: HTTP, hostname: shop.example.com, allowedRoutes: {namespaces: {from: All}}}]"
    )
    edge = gateway("edge", "infra", named, of_class="eg")
    everywhere = web(rule("/", "new"), name="a").replace("hostnames: ['shop.example.com'], ", "")
    around = (CLASS, edge, APP, NEW, OLD)
    (environment,) = compare([sides(tmp_path, around, (*around, everywhere))])
    assert environment.requests is not None
    assert environment.requests.changes == ()
