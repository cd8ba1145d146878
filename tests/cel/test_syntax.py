"""Texts of CEL as trees: precedence, chains, constants."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.cel.syntax import called, free_names, tree


def field(*steps: str) -> Any:
    return steps[0] if len(steps) == 1 else [".", field(*steps[:-1]), steps[-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a || b || c", ["||", "a", "b", "c"]),
        ("a || b && !c", ["||", "a", ["&&", "b", ["!", "c"]]]),
        ("a - b - c", ["-", ["-", "a", "b"], "c"]),
        ("a + b * -2 == 1", ["==", ["+", "a", ["*", "b", ["=", -2]]], ["=", 1]]),
        ("-a.b", ["-", field("a", "b")]),
        ("a ? b : c ? d : e", ["?", "a", "b", ["?", "c", "d", "e"]]),
        ("(a ? b : c) ? d : e", ["?", ["?", "a", "b", "c"], "d", "e"]),
        ("has(self.a.b)", ["f", "has", None, field("self", "a", "b")]),
        ("self.a.all(x, x > 0x10)", ["f", "all", field("self", "a"), "x", [">", "x", ["=", 16]]]),
        ("a[0]['b'].c()", ["f", "c", ["[]", ["[]", "a", ["=", 0]], ["=", "b"]]]),
        ("a.?b.orValue([1.5])", ["f", "orValue", [".?", "a", "b"], ["list", ["=", 1.5]]]),
        ("{'a': true, 'b': false}", ["map", ["=", "a"], ["=", True], ["=", "b"], ["=", False]]),
        (r"'\x41\u0042\n\'' + r'\d'", ["+", ["=", "AB\n'"], ["=", r"\d"]]),
        ("null", ["=", None]),
        ("source.identity.namespace", field("source", "identity", "namespace")),
        ("a.package.?import.loop()", ["f", "loop", [".?", field("a", "package"), "import"]]),
        ("b'a'", ["unknown"]),
        ("[?a]", ["unknown"]),
        ("9" * 5000, ["unknown"]),
    ],
)
def test_trees(text: str, expected: Any) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize("text", ["namespace", "namespace.a", "package()", "a.in", "a.true", "a.null", "in.a"])
def test_reserved_words_name_fields_and_nothing_else(text: str) -> None:
    """As cel-go has it: `as they *are* valid field names`; constants and `in` are none."""
    assert tree(text) is None


@pytest.mark.parametrize(
    "text", ["a" + ".a" * 20_000, "a" + " + a" * 20_000, "a" + "[0]" * 20_000, "a" + ".b()" * 9_000]
)
def test_what_is_too_deep_for_a_tree_is_unknown(text: str) -> None:
    """Whoever walks a tree calls itself at each level: one text of a stranger ended the simulation."""
    assert tree(text) == ["unknown"]
    assert not free_names(tree(text)) and not called(tree(text))


def test_a_chain_is_flat_however_long_it_is() -> None:
    long = tree(" || ".join(["a"] * 20_000))
    assert len(long) == 20_001 and set(long[1:]) == {"a"}
