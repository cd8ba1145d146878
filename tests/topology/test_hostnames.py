"""Hostnames: matching, intersection and the index of clashes (docs/design/request-precedence.md §1)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.model import ResourceKey
from policylint.topology.hostnames import (
    HostnameIndex,
    covers,
    matches,
    narrowed,
    patterns,
    specificity,
)

LABELS = st.sampled_from(["a", "b", "c"])
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
PATTERNS = st.one_of(HOSTS, HOSTS.map("*.{}".format), st.just(""))
LISTS = st.lists(PATTERNS, min_size=1, max_size=4)
UNIVERSE = [".".join(labels) for size in range(1, 6) for labels in product("abc", repeat=size)]


@pytest.mark.parametrize(
    ("host", "pattern", "matched"),
    [
        ("example.com", "example.com", True),
        ("example.com", "*.example.com", False),
        ("a.example.com", "*.example.com", True),
        ("a.b.example.com", "*.example.com", True),
        (".example.com", "*.example.com", False),
        ("aexample.com", "*.example.com", False),
        ("a.example.com", "b.example.com", False),
        ("anything", "", True),
        ("anything", "*", True),
        ("a.example.com:8080", "a.example.com", True),
        ("A.Example.COM", "a.example.com", True),
    ],
)
def test_a_host_under_a_pattern(host: str, pattern: str, matched: bool) -> None:
    assert matches(host, pattern) is matched


@pytest.mark.parametrize(
    ("listener", "route", "common"),
    [
        ([], [], ("",)),
        (["very.specific.com"], [], ("very.specific.com",)),
        ([], ["*.specific.com"], ("*.specific.com",)),
        (["very.specific.com"], ["*.specific.com", "non.matching.com"], ("very.specific.com",)),
        (
            ["*.wildcard.io"],
            ["foo.bar.wildcard.io", "wildcard.io", "*.foo.wildcard.io"],
            ("*.foo.wildcard.io", "foo.bar.wildcard.io"),
        ),
        (["*.example.com"], ["*.example.com"], ("*.example.com",)),
        (["a.example.com"], ["b.example.com"], ()),
    ],
)
def test_the_intersection_of_listener_and_route(listener: list[str], route: list[str], common: tuple[str, ...]) -> None:
    route_patterns = patterns(route)
    found = {each for pattern in patterns(listener) for each in narrowed(pattern, route_patterns)}
    assert tuple(sorted(found)) == common


def test_what_is_no_hostname_is_left_out() -> None:
    assert patterns([None, 3, "A.b", {}]) == ("a.b",)
    assert patterns([None]) == ("",)


def test_exact_names_are_more_specific_than_wildcards_than_nothing() -> None:
    ordered = ["", "*.com", "*.example.com", "*.a.example.com", "example.com"]
    assert sorted(ordered, key=specificity) == ordered


@given(PATTERNS, PATTERNS)
def test_meeting_is_symmetric(one: str, other: str) -> None:
    assert narrowed(one, (other,)) == narrowed(other, (one,))


@given(PATTERNS)
def test_meeting_itself_changes_nothing(pattern: str) -> None:
    assert narrowed(pattern, (pattern,)) == (pattern,)


@given(PATTERNS, PATTERNS)
def test_what_is_common_is_covered_by_both(one: str, other: str) -> None:
    assert all(covers(one, common) and covers(other, common) for common in narrowed(one, (other,)))


@given(PATTERNS, PATTERNS)
def test_meeting_agrees_with_trying_every_host(one: str, other: str) -> None:
    both = [host for host in UNIVERSE if matches(host, one) and matches(host, other)]
    common = narrowed(one, (other,))
    assert both == [host for host in UNIVERSE if any(matches(host, pattern) for pattern in common)]


@given(LISTS, PATTERNS)
def test_the_index_finds_an_owner_exactly_when_some_pattern_meets(held: list[str], asked: str) -> None:
    index = HostnameIndex()
    for number, each in enumerate(held):
        index.add(each, ResourceKey("", "HTTPRoute", "n", str(number)))
    owner = index.owner(asked)
    meeting = [number for number, each in enumerate(held) if narrowed(each, (asked,))]
    assert (owner is not None) == bool(meeting)
    assert owner is None or int(owner.name) in meeting
