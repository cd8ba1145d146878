"""Label selectors: matchLabels and the four operators, as the API server evaluates them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.model.selectors import Labelled, is_empty, matches, unmet

NAMES = st.sampled_from("abc")
VALUES = st.sampled_from(["", "x", "y"])
LABELS = st.dictionaries(NAMES, VALUES)
EXPRESSIONS = st.fixed_dictionaries(
    {
        "key": NAMES,
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
        "values": st.lists(VALUES, min_size=1, max_size=2),
    }
)
SELECTORS = st.fixed_dictionaries({"matchLabels": LABELS, "matchExpressions": st.lists(EXPRESSIONS, max_size=3)})


def naive(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """apimachinery's rules, one requirement at a time."""
    for name, value in selector["matchLabels"].items():
        if labels.get(name) != value:
            return False
    for each in selector["matchExpressions"]:
        held = {
            "In": each["key"] in labels and labels[each["key"]] in each["values"],
            "NotIn": not (each["key"] in labels and labels[each["key"]] in each["values"]),
            "Exists": each["key"] in labels,
            "DoesNotExist": each["key"] not in labels,
        }[each["operator"]]
        if not held:
            return False
    return True


@given(SELECTORS, LABELS)
def test_selectors_agree_with_a_requirement_by_requirement_reading(
    selector: dict[str, Any], labels: dict[str, str]
) -> None:
    assert matches(selector, labels) == naive(selector, labels)
    assert matches(selector, labels) == (unmet(selector, labels) == [])


ANY_VALUE = st.one_of(VALUES, st.just(1), st.just(True), st.just(["x"]), st.none())


@given(st.lists(st.dictionaries(NAMES, ANY_VALUE)), SELECTORS, st.dictionaries(NAMES, ANY_VALUE, max_size=2))
def test_an_index_finds_what_a_scan_finds(
    things: list[dict[str, Any]], selector: dict[str, Any], wanted: dict[str, Any]
) -> None:
    labelled = Labelled(enumerate(things), lambda thing: thing[1])
    for asked in (selector, {"matchLabels": wanted}, {**selector, "matchLabels": wanted}, selector):
        scanned = tuple(thing for thing in enumerate(things) if matches(asked, thing[1]))
        assert labelled.matching(asked) == scanned


def test_an_empty_selector_selects_everything() -> None:
    assert is_empty({}) and matches({}, {}) and matches({"matchLabels": None}, {"a": "b"})


@pytest.mark.parametrize("operator", ["in", "Equals", None, 3])
def test_an_operator_that_kubernetes_does_not_know_selects_nothing(operator: object) -> None:
    assert not matches({"matchExpressions": [{"key": "a", "operator": operator, "values": ["x"]}]}, {"a": "x"})


def test_what_is_unmet_says_what_stands_there_instead() -> None:
    selector = {
        "matchLabels": {"tier": "web", "app": "shop"},
        "matchExpressions": [{"key": "team", "operator": "Exists"}],
    }
    assert unmet(selector, {"tier": "db", "app": "shop"}) == ["tier=web (is tier=db)", "team Exists"]
