"""The style of messages: words that send a reader back to the start of the sentence are in none of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AVOIDED = re.compile(r"(?<![-\w])((?<!because )of which|nobody|whom|beside)\b", re.IGNORECASE)
STILTED = re.compile(r"which was not seen|protected less|goes by it|all the same|not looked at|stands? in no manifest")
"""What messages say otherwise: "was not seen", "is less protected", "relies on", "anyway", "is not evaluated"."""


def is_avoided(text: str) -> bool:
    return AVOIDED.search(text) is not None or STILTED.search(text) is not None


def messages(tree: ast.AST) -> Iterator[ast.Constant]:
    """Every text of several words that is no docstring: identifiers and keys are one word."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip()
        if is_text and id(node) not in docstrings:
            assert isinstance(node, ast.Constant)
            yield node


@pytest.mark.parametrize("room", sorted(each.name for each in (ROOT / "policylint").iterdir() if each.name[0] != "_"))
def test_messages_do_without_words_that_turn_a_sentence_round(room: str) -> None:
    place = ROOT / "policylint" / room
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
        if file.suffix == ".py" and is_avoided(source := file.read_text(encoding="utf-8"))
        for node in messages(ast.parse(source))
        if is_avoided(str(node.value))
    ]
    assert not found


@pytest.mark.parametrize("pages", ["rules/*.md", "docs/*.md", "docs/tasks/*.md", "README.md"])
def test_pages_do_without_them_too(pages: str) -> None:
    """Generated tables quote sources, and examples are output: all else is prose of our own."""
    found = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in sorted(ROOT.glob(pages))
        if page.name != "policy-kinds.md"
        for line in re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S).splitlines()
        if AVOIDED.search(line)
    ]
    assert not found


def test_a_message_is_found() -> None:
    """What the test above would say of a sentence that should not be there."""
    (message,) = messages(
        ast.parse('"""Docs of which nobody speaks."""\nsaid = {"nobody": f"routes of which {1} asks"}')
    )
    assert AVOIDED.search(str(message.value))
