"""What only one side of a change has is younger than what both have, whatever its kind and name."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare
from policylint.compare.requests import RequestChange
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
    assert changed(tmp_path, (OLD, new), (OLD,)) == ()


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
