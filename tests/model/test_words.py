"""Lists and numbers of things in sentences."""

from __future__ import annotations

from policylint.model.words import count, leading, listing, quoted, series, verb


def test_numbers() -> None:
    assert [count(number, "route") for number in (0, 1, 2)] == ["0 routes", "1 route", "2 routes"]
    assert [count(number, "policy", "policies") for number in (1, 2)] == ["1 policy", "2 policies"]
    assert [verb(number, "loses") for number in (1, 2)] == ["loses", "lose"]


def test_lists() -> None:
    assert [listing(letters) for letters in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert listing("abc", word="or") == "a, b or c"
    assert listing(range(9), most=4) == "0, 1, 2 and 6 more"
    assert listing(range(4), most=4) == "0, 1, 2 and 3"
    assert series(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7 and 8"
    assert quoted(["a", "b"]) == '"a" and "b"'


def test_the_first_of_a_list() -> None:
    assert [leading(letters, 2) for letters in ("", "a", "ab", "abcd")] == ["", "a", "a, b", "a, b and 2 more"]
