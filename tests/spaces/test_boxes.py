"""Boxes against sets of points, and what the first rule that matches leaves for the next."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.spaces.boxes import Box, intersect, is_empty, meetings, merged, regions, subtract, widened
from policylint.spaces.dimension import paths, values
from policylint.spaces.predicates import Predicate
from policylint.spaces.words import described, words

ALL = (0b111, 0b1111, 0b11)
boxes = st.tuples(st.integers(0, ALL[0]), st.integers(0, ALL[1]), st.integers(0, ALL[2]))


def points(box: Box) -> set[tuple[int, ...]]:
    return set(product(*([number for number in range(4) if bits >> number & 1] for bits in box)))


def all_points(several: list[Box]) -> list[tuple[int, ...]]:
    return [point for box in several for point in points(box)]


@given(boxes, boxes)
def test_difference_and_intersection(left: Box, right: Box) -> None:
    rest = all_points(list(subtract(left, right)))
    assert set(rest) == points(left) - points(right)
    assert len(rest) == len(set(rest)), "disjoint"
    assert points(intersect(left, right)) == points(left) & points(right)
    assert is_empty(left) == (not points(left))


@given(st.lists(boxes, max_size=6))
def test_the_first_rule_that_matches_wins(rules: list[Box]) -> None:
    found = regions(rules, ALL, 10_000)
    assert found is not None
    gained, left = found
    for point in points(ALL):
        winner = next((number for number, rule in enumerate(rules) if point in points(rule)), None)
        owners = [number for number, own in enumerate(gained) if point in all_points(own)]
        assert owners == ([] if winner is None else [winner])
        assert all_points(left).count(point) == (winner is None)


@given(st.lists(boxes.filter(lambda box: not is_empty(box)), max_size=6))
def test_widened_boxes_hold_the_same_and_none_holds_another(several: list[Box]) -> None:
    wide = widened(several, ALL)
    assert set(all_points(wide)) == set(all_points(several))
    assert len(wide) <= len(several)
    assert not any(points(one) <= points(other) for one in wide for other in wide if one is not other)


@given(st.lists(boxes, max_size=5), st.lists(boxes, max_size=5))
def test_meetings_are_all_that_two_boxes_have_in_common(some: list[Box], others: list[Box]) -> None:
    common = [intersect(left, right) for left in some for right in others]
    assert list(meetings(some, others)) == [box for box in common if not is_empty(box)]


@given(st.lists(boxes, max_size=6))
def test_merged_boxes_hold_the_same(several: list[Box]) -> None:
    assert set(all_points(merged(several))) == set(all_points(several))


def test_regions_end_where_they_cost_too_much() -> None:
    assert regions([(1, 1, 1)] * 100, ALL, 50) is None


PATHS = paths(
    [
        Predicate("PathPrefix", "/shop"),
        Predicate("PathPrefix", "/"),
        Predicate("Exact", "/shop/login"),
        Predicate("PathPrefix", "/img"),
    ]
)
SHOP, LOGIN, IMG = (
    PATHS.masks[Predicate("PathPrefix", "/shop")],
    PATHS.masks[Predicate("Exact", "/shop/login")],
    PATHS.masks[Predicate("PathPrefix", "/img")],
)


@pytest.mark.parametrize(
    ("bits", "said"),
    [
        (SHOP, "/shop/**"),
        (SHOP & ~LOGIN, "/shop/** except /shop/login"),
        (LOGIN, "/shop/login"),
        (PATHS.all & ~SHOP, "/** except /shop/**"),
        (SHOP | IMG, "/img/** or /shop/**"),
        (PATHS.all & ~(SHOP | IMG) | LOGIN, "/** in part"),
        (PATHS.all, ""),
    ],
)
def test_paths_in_words(bits: int, said: str) -> None:
    assert words(PATHS, bits) == said


def test_boxes_in_words() -> None:
    method = values("method", [Predicate("Exact", "POST"), Predicate("Exact", "PUT")], "GET")
    header = values("header x-canary", [Predicate("Exact", "1")])
    dimensions = (method, PATHS, header)
    post, one = method.masks[Predicate("Exact", "POST")], header.masks[Predicate("Exact", "1")]
    assert described(dimensions, (post, SHOP, one)) == "POST /shop/** x-canary: 1"
    assert described(dimensions, (method.all & ~post, PATHS.all, header.all & ~one)) == "not POST x-canary: not 1"
    assert described(dimensions, (method.all, PATHS.all, header.all)) == "every request"
