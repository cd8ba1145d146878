"""A match is asked in one place: what it takes, what lies within it, what it shares with another, which is first."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policylint.matches import Match, match_of, matches
from policylint.trace import Request


def http(text: str, **how: bool) -> Match:
    written: dict[str, Any] = yaml.safe_load(f"{{{text}}}")
    return match_of(written, **how)


def lacks(match: Match, request: Request) -> list[str]:
    return [miss.needs for miss in match.misses(request)]


PREFIX, EXACT = "path: {value: /shop}", "path: {type: Exact, value: /shop}"
EVERYTHING = "path: {type: RegularExpression, value: '/.*'}"


@pytest.mark.parametrize(
    ("match", "request_", "lacking"),
    [
        (PREFIX, Request(path="/shop/cart?a=1"), []),
        (PREFIX, Request(path="/shopping"), ["PathPrefix /shop"]),
        (EXACT, Request(path="/shop/"), ["path /shop"]),
        ("method: POST", Request(), ["method POST"]),
        ("headers: [{name: X-Canary, value: '1'}]", Request(headers=(("x-canary", "1"),)), []),
        ("headers: [{name: x-canary, value: '1'}]", Request(), ["header x-canary: 1"]),
        ("queryParams: [{name: page, value: '1'}]", Request(path="/?page=2"), ["query parameter page=1"]),
        ("cookies: [{name: user, value: a}]", Request(headers=(("Cookie", "theme=b; user=a"),)), []),
        ("cookies: [{name: user, value: a}]", Request(headers=(("Cookie", "user=ab"),)), ["cookie user=a"]),
        (
            "path: {type: RegularExpression, value: '('}",
            Request(),
            ["RegularExpression (, which is no expression of RE2 (missing ): ()"],
        ),
    ],
)
def test_what_a_request_lacks(match: str, request_: Request, lacking: list[str]) -> None:
    assert lacks(http(match), request_) == lacking


@pytest.mark.parametrize(
    "match",
    [
        "path: {type: Fuzzy, value: /shop}",
        "headers: [{name: x-canary, type: Fuzzy, value: '1'}]",
        "queryParams: [{name: page, type: Fuzzy, value: '1'}]",
    ],
)
def test_a_type_that_nobody_knows_takes_nothing(match: str) -> None:
    request = Request(path="/shop?page=1", headers=(("x-canary", "1"),))
    (miss,) = http(match).misses(request)
    assert not miss.undecided
    assert http(match).overlaps(http("")) is False
    (miss,) = http(match.replace("Fuzzy", "'${TYPE}'")).misses(request)
    assert miss.undecided.endswith("stands in a variable")


@pytest.mark.parametrize(
    ("one", "other", "within", "overlaps"),
    [
        (EXACT, PREFIX, True, True),
        (PREFIX, EXACT, False, True),
        (PREFIX, "path: {value: /shop/}", True, True),
        (PREFIX, "path: {value: /shopping}", False, False),
        (PREFIX, EVERYTHING, True, True),
        (EVERYTHING, "path: {value: /}", True, True),
        (EVERYTHING, PREFIX, False, True),
        ("path: {type: RegularExpression, value: '/shop/v[0-9]+'}", PREFIX, True, True),
        (f"{PREFIX}, method: GET", PREFIX, True, True),
        (f"{PREFIX}, method: GET", f"{PREFIX}, method: POST", False, False),
        (f"{PREFIX}, headers: [{{name: X, value: a}}]", f"{PREFIX}, headers: [{{name: x, value: a}}]", True, True),
        (
            f"{PREFIX}, headers: [{{name: x, value: a}}]",
            f"{PREFIX}, headers: [{{name: x, type: RegularExpression, value: a|b}}]",
            True,
            True,
        ),
        (f"{PREFIX}, headers: [{{name: x, value: a}}]", f"{PREFIX}, queryParams: [{{name: x, value: a}}]", False, True),
        (
            "path: {type: RegularExpression, value: '/[ab]+x'}",
            "path: {type: RegularExpression, value: '/[cb]x'}",
            False,
            None,
        ),
    ],
)
def test_how_two_relate(one: str, other: str, within: bool | None, overlaps: bool | None) -> None:
    assert http(one).within(http(other)) is within
    assert http(one).overlaps(http(other)) is overlaps
    assert http(other).overlaps(http(one)) is overlaps


@pytest.mark.parametrize(
    ("first", "second", "certain"),
    [
        (EXACT, PREFIX, True),
        ("path: {value: /shop/cart}", PREFIX, True),
        (f"{PREFIX}, method: GET", PREFIX, True),
        (EXACT, EVERYTHING, True),
        (EVERYTHING, PREFIX, False),
        ("path: {value: /shop/}", PREFIX, False),
    ],
)
def test_which_comes_first(first: str, second: str, certain: bool) -> None:
    assert http(first).weights > http(second).weights
    assert http(first).before(http(second)) is (True if certain else None)
    assert http(second).before(http(first)) is (False if certain else None)


def test_expressions_come_last_where_they_do() -> None:
    assert http(EVERYTHING, regex_last=True).weights < http(PREFIX, regex_last=True).weights


def test_calls() -> None:
    (every,) = matches({}, grpc=True)
    cart = http("method: {service: shop.Cart, method: Add}", grpc=True)
    assert lacks(cart, Request(path="/shop.Cart/Add", grpc=True)) == []
    assert lacks(cart, Request(path="/shop.Cart/Get", grpc=True)) == ["gRPC method Add"]
    assert cart.within(every) is True
    assert every.within(cart) is False
    assert str(every) == "every request"
