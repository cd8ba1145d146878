"""Atoms of a dimension: every value lies in one of them, and a predicate says the same of all values of an atom."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.regex import expression
from policylint.spaces import ABSENT, Dimension, Predicate, paths, values
from policylint.spaces.samples import literal_start, sample, takes_all_below

STEPS = ("a", "b", "ab", "other")
PATHS = [
    "/",
    *("/" + "/".join(steps) + end for size in (1, 2, 3) for steps in product(STEPS, repeat=size) for end in ("", "/")),
]
EXPRESSIONS = ["/a.*", "/(a|b)/.+", "/[ab]+", ".*", "/a/[^/]+", "/b/.*", "/ab", ".*b"]
path_predicates = st.lists(
    st.builds(Predicate, st.sampled_from(["Exact", "PathPrefix"]), st.sampled_from(PATHS))
    | st.builds(Predicate, st.just("RegularExpression"), st.sampled_from(EXPRESSIONS)),
    max_size=8,
)


def holds(predicate: Predicate, value: str | None) -> bool:
    """What a predicate says of a value, in the words of Gateway API."""
    if value is None:
        return False
    match predicate.type:
        case "Exact":
            return value == predicate.value
        case "PathPrefix":
            steps, own = predicate.value.rstrip("/").split("/"), value.split("/")
            return own[: len(steps)] == steps
        case "RegularExpression":
            return bool(expression(predicate.value).is_whole(value))
        case _:
            return True


def said(dimension: Dimension, number: int) -> set[Predicate]:
    return {predicate for predicate, mask in dimension.masks.items() if mask >> number & 1}


@given(path_predicates)
def test_predicates_say_of_an_atom_what_they_say_of_its_witness(predicates: list[Predicate]) -> None:
    dimension = paths(predicates)
    for number, witness in enumerate(dimension.witnesses):
        assert said(dimension, number) == {predicate for predicate in predicates if holds(predicate, witness)}


@given(path_predicates)
def test_every_path_lies_in_an_atom(predicates: list[Predicate]) -> None:
    dimension = paths(predicates)
    known = [said(dimension, number) for number in range(len(dimension.witnesses))]
    assert all(known.count(atom) == 1 for atom in known)
    for path in PATHS:
        expected = {predicate for predicate in predicates if holds(predicate, path)}
        doubtful = {predicate for predicate in expected if predicate.value in dimension.undecided}
        assert expected in known or doubtful or dimension.undecided


def test_prefixes_and_exact_paths_are_always_decided() -> None:
    dimension = paths([Predicate("PathPrefix", "/a"), Predicate("PathPrefix", "/a/"), Predicate("Exact", "/a/")])
    assert (set(dimension.witnesses), dimension.undecided) == ({"/", "/a", "/a/"}, ())
    assert dimension.masks[Predicate("PathPrefix", "/a")] == dimension.masks[Predicate("PathPrefix", "/a/")]


@pytest.mark.parametrize(
    ("predicates", "undecided"),
    [
        ([("PathPrefix", "/a"), ("RegularExpression", "/b/v[0-9]+")], ()),
        ([("PathPrefix", "/a"), ("RegularExpression", "/a/.*")], ()),
        ([("PathPrefix", "/a"), ("RegularExpression", r"/a/.*\.png")], ()),
        ([("PathPrefix", "/a"), ("RegularExpression", r".*/users/\d{3}")], ()),
        ([("RegularExpression", "/a/[0-9]+"), ("RegularExpression", "/a/1.*")], ("/a/1.*", "/a/[0-9]+")),
        ([("RegularExpression", "/a/.*"), ("RegularExpression", "/b/.*")], ()),
        ([("RegularExpression", "(")], ()),
    ],
    ids=str,
)
def test_what_samples_decide(predicates: list[tuple[str, str]], undecided: tuple[str, ...]) -> None:
    assert paths([Predicate(kind, value) for kind, value in predicates]).undecided == undecided  # type: ignore[arg-type]


def test_a_header_may_be_absent() -> None:
    dimension = values("header x", [Predicate("Exact", "1"), Predicate("Exact", "2")])
    assert dimension.witnesses == (ABSENT, "1", "2"), "any other value means what none means"
    present = values("header x", [Predicate("Exact", "1"), Predicate("Present")])
    assert present.witnesses == (ABSENT, "1", "other")


def test_a_method_is_always_there() -> None:
    dimension = values("method", [Predicate("Exact", "POST")], "GET")
    assert dimension.witnesses == ("GET", "POST")
    assert dimension.witness(dimension.all) == "GET"


@pytest.mark.parametrize(
    "pattern", ["/a", "/api/v[0-9]+/.*", r"/(x|y)/\d{3}\.png", "^/a$", "[^/a]+", "(?:ab)+c?", "a|b", r"[\d]+", "(?i)ab"]
)
def test_samples_are_matched(pattern: str) -> None:
    assert expression(pattern).is_whole(sample(pattern))


@pytest.mark.parametrize(
    ("pattern", "start"),
    [("/a/[0-9]", "/a/"), ("/ab?", "/a"), (r"/a\.b.*", "/a.b"), ("a|b", ""), ("^/a$", "/a"), (r"/a\d", "/a"), ("", "")],
)
def test_how_all_matches_begin(pattern: str, start: str) -> None:
    assert literal_start(pattern) == start


@pytest.mark.parametrize(
    ("pattern", "beginning", "takes"),
    [
        ("/.*", "/", True),
        ("/a/.*", "/a/b/", True),
        ("/a/.+", "/a/", False),
        ("/a/.*", "/", False),
        ("/a/[0-9]+", "/a/", False),
    ],
)
def test_what_takes_all_below(pattern: str, beginning: str, takes: bool) -> None:
    assert takes_all_below(pattern, beginning) is takes
