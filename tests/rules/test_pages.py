"""Every rule has a page, and what the page shows is what the rule does: its examples run through the whole pipeline."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from policylint.checks import OF_CHANGES, RULES, name_of
from policylint.compare import compare, pair_sides, removed_protections
from policylint.guardrails import broken, guardrails
from policylint.report.rule_page import RulePage, all_pages, load_page, page_of
from policylint.triage import triage
from policylint.workspace import open_workspace
from tests.rules.examples import Example, examples, required

SECTIONS = ("what", "why", "fix", "references")


def labelled(label: str) -> list[object]:
    return [
        pytest.param(page, example, id=f"{page.id}-{number}")
        for page in all_pages()
        for number, example in enumerate(each for each in examples(page) if each.label == label)
    ]


def written(example: Example, folder: Path) -> Path:
    """The example as a file, or as a folder where it says `# file: PATH`; lines keep their numbers."""
    lines = example.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("# file: ")]
    if not starts:
        file = folder / "example.yaml"
        file.write_text(example.text, encoding="utf-8")
        return file
    for start, end in pairwise([*starts, len(lines)]):
        file = folder / lines[start].removeprefix("# file: ")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n" * (start + 1) + "\n".join(lines[start + 1 : end]) + "\n", encoding="utf-8")
    return folder


def findings(page: RulePage, example: Example, tmp_path: Path) -> list[tuple[str, int, str, str]]:
    """(rule, line, severity, message) of what an example yields, without what rests on something unknown."""
    workspace = open_workspace([str(written(example, tmp_path))])
    found, _ = triage(workspace, workspace.findings(set(RULES)))
    if stated := required(page):
        found = [*found, *broken(workspace.simulations, guardrails(stated), None, whole=True)]
    if page.id in OF_CHANGES:  # the page's good example is what was there before
        before = tmp_path / "before.yaml"
        before.write_text(next(each.text for each in examples(page) if each.label == "good"), encoding="utf-8")
        sides = pair_sides(open_workspace([str(before)]).simulations, workspace.simulations)
        found = [*found, *removed_protections(sides, compare(sides))]
    return [
        (each.rule, each.location.at()[0], each.severity, each.message)
        for each in found
        if each.confidence != "unknown"
    ]


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert [page.id for page in all_pages()] == sorted(RULES)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.id)
def test_pages_are_complete(page: RulePage) -> None:
    assert page.path.name == f"{page.id}-{page.name}.md"
    assert page.name == name_of(page.id)
    assert page.id == page.id in str(import_module(RULES[page.id].module).__doc__)
    assert page.title.endswith(".")
    assert len(page.title) <= 120
    assert [each for each in SECTIONS if not getattr(page, each)] == []
    assert {each.label for each in examples(page)} == {"bad", "good"}
    assert page.severity in ("error", "warning", "note")
    assert ("security" in page.tags) == bool(page.security_severity)


@pytest.mark.parametrize(("page", "example"), labelled("bad"))
def test_bad_example_yields_exactly_its_finding(page: RulePage, example: Example, tmp_path: Path) -> None:
    found = findings(page, example, tmp_path)
    own = sorted((rule, line) for rule, line, _, _ in found if rule not in example.also)
    assert own == sorted(example.expected), found
    assert {severity for rule, _, severity, _ in found if rule == page.id} == {page.severity}


@pytest.mark.parametrize(("page", "example"), labelled("good"))
def test_good_example_is_clean(page: RulePage, example: Example, tmp_path: Path) -> None:
    found = findings(page, example, tmp_path)
    assert [each for each in found if each[0] == page.id or each[2] != "note"] == []


def test_a_page_is_found_by_id_and_by_name() -> None:
    page = page_of("GWP101")
    assert page is not None
    assert page_of("gwp101") == page
    assert page_of("target-not-found") == page
    assert page_of("GWP999") is None
    assert page_of("not-found") is None
    assert page_of("../GWP101") is None


def test_a_page_without_front_matter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "GWP999-nothing.md"
    path.write_text("## What it does\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no front matter"):
        load_page(path)
    path.write_text("---\nid: GWP999\n---\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no name"):
        load_page(path)
