"""Which documents hold a word that kustomize and the API server read differently: told as they are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.documents import read, read_unread
from policylint.documents.scalars import WORDS


def hold_words(text: str) -> list[bool]:
    return [document.with_words for document in read(text.encode(), "a.yaml").documents]


@pytest.mark.parametrize("word", sorted(WORDS))
@pytest.mark.parametrize(
    "text",
    [
        *("a: {}", "a: {}\n", "a: {}\r\nb: 1\n", "a: {} # so\n", "- {}\n", "{}: 1\n", "a: [{}]\n", "a: [1,{} ]\n"),
        *("{}", "  {}\t\n", "a:\t{}\n", "a: [{}, 1]\n", "a: &b {}\nc: *b\n", "a: !x 1\nb: {}\n", "? {}\n: 1\n"),
        *("&a {}: 1\n", "a: &b {{c: {}}}\nd: {{<<: *b}}\n"),
    ],
)  # fmt: skip
def test_a_word_is_seen_wherever_it_may_stand(text: str, word: str) -> None:
    assert hold_words(text.format(word)) == [True]
    assert hold_words(text.format(word)) == [True]  # whatever was read before


@pytest.mark.parametrize(
    "text",
    [
        *("name: money", "path: /on", "a: online", "port: 80", "a: noon", "a: oneway", "a-b: c", "a: true", "a: ~"),
        *("a: 'yes'", '"on": 1', "a: b # yes", "a: |\n  yes\n", "a: yes and no"),
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert hold_words(f"kind: Service\n{text}\n") == [False]


def test_each_document_is_told_by_itself() -> None:
    assert hold_words("a: yes\n---\na: 1\n---\na: [off]\n") == [True, False, True]


def test_one_that_is_read_later_is_told_as_well() -> None:
    data = b"kind: A\napiVersion: v1\nb: 1\n---\nkind: B\napiVersion: v1\nb: on\n"
    unread = read(data, "a.yaml", wanted=lambda version, kind: False).unread  # noqa: ARG005
    assert [read_unread(data, each).documents[0].with_words for each in unread] == [False, True]


@pytest.mark.parametrize("options", [(), ("--isolated",)])
def test_a_file_that_is_only_named_is_read_the_same(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / ".git").mkdir()
    for path, text in (
        (
            "base/service.yaml",
            "kind: Service\napiVersion: v1\nmetadata: {name: web, labels: {public: yes}}\nspec: {}\n",
        ),
        ("overlay/kustomization.yaml", "namespace: shop\nresources: [../base/service.yaml]\n"),
    ):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["lint", *options, str(tmp_path / "overlay"), "-o", "concise"])
    assert (result.exit_code, "GWP505" in result.output) == (0, False), result.output
