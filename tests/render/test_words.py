"""Which files may hold a word that kustomize and the API server read differently: told by their text."""

from __future__ import annotations

import pytest

from policylint.load.facts import WORDS, facts_of
from policylint.load.reading import ReadSet


def may_hold_words(text: str) -> bool:
    return facts_of(text.encode(), "a.yaml", None, ReadSet()).with_words


@pytest.mark.parametrize("word", sorted(WORDS))
@pytest.mark.parametrize(
    "text",
    [
        *("a: {}", "a: {}\n", "a: {}\r\nb: 1\n", "a: {} # so\n", "- {}\n", "{}: 1\n", "a: [{}]\n", "a: [1,{} ]\n"),
        *("{}", "  {}\t\n", "a:\t{}\n", "a: [{}, 1]\n", '{{"a":{}}}', '{{{}: 1}}'),
    ],
)  # fmt: skip
def test_a_word_is_seen_wherever_it_may_stand(text: str, word: str) -> None:
    assert may_hold_words(f"kind: Service\n{text.format(word)}")


@pytest.mark.parametrize(
    "text", ["name: money", "path: /on", "a: online", "port: 80", "a: noon", "a: oneway", "a-b: c"]
)
def test_parts_of_words_are_none(text: str) -> None:
    assert not may_hold_words(f"kind: Service\n{text}\n")
