"""Every document that the project cites is in the repository, and every section is a numbered heading of it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
DIRECTORIES = ("policylint", "tests", "bench", "schemas", "rules")
CITED = re.compile(r"(?P<page>[\w.:/-]+\.md)\b|§ ?(?P<section>\d+(?:\.\d+)*[a-z]?)(?![\w])")
HEADING = re.compile(r"^#+ (?P<number>\d+(?:\.\d+)*[a-z]?)\.? ", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`(?P<path>(?:policylint|schemas|tests|bench|fixtures)/(?:[\w-]+/)*(?:[\w-]+\.\w+)?)[`\s]")
LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#]+\.md)")


class Prose(NamedTuple):
    """One docstring, one run of comment lines, or one file of text.

    Attributes:
        line: where it begins, from 1.
        text: what it says.
        page: the document that its sections belong to while it names none itself: that of the module's docstring.
    """

    line: int
    text: str
    page: str | None


def prose_of_python(source: str) -> Iterator[Prose]:
    """Yield the docstrings of modules, classes, functions and attributes, and the comments."""
    tree = ast.parse(source)
    page = last_page(ast.get_docstring(tree) or "")
    for node in _statements(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield Prose(node.lineno, node.value.value, page)
    run: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if run and token.start[0] != run[-1].start[0] + 1:
            yield comments(run, page)
            run = []
        run.append(token)
    if run:
        yield comments(run, page)


def _statements(around: ast.AST) -> Iterator[ast.AST]:
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(around, field, ()):
            yield node
            yield from _statements(node)


def comments(run: list[tokenize.TokenInfo], page: str | None) -> Prose:
    return Prose(run[0].start[0], "\n".join(token.string for token in run), page)


def prose_of(file: Path) -> Iterator[Prose]:
    """Yield the docstrings and comments of code and of manifests, and pages as a whole; nothing of other files."""
    source = file.read_text(encoding="utf-8") if file.suffix in (".py", ".yaml", ".md") else ""
    if "§" not in source and ".md" not in source:
        return  # it cites nothing: four files of five
    if file.suffix == ".py":
        yield from prose_of_python(source)
    elif file.suffix == ".yaml":
        page = last_page(source.partition("\n")[0])
        for number, line in enumerate(source.splitlines(), 1):
            _, sign, comment = line.partition("#")
            if sign:
                yield Prose(number, comment, page)
    elif file.suffix == ".md":
        yield Prose(1, FENCE.sub("", source), None)


def last_page(text: str) -> str | None:
    """Return the last document that a text names."""
    return next((match["page"] for match in reversed(list(CITED.finditer(text))) if match["page"]), None)


@cache
def sections(page: str) -> frozenset[str]:
    return frozenset(match["number"] for match in HEADING.finditer((ROOT / page).read_text(encoding="utf-8")))


def broken(prose: Prose, *, relative_to: Path = ROOT) -> Iterator[str]:
    """Yield what is wrong with the citations of a text: no such file, no such section, or no document at all."""
    page = prose.page
    linked = {match["target"] for match in LINK.finditer(prose.text)}
    for match in CITED.finditer(prose.text):
        line = prose.line + prose.text[: match.start()].count("\n")
        if named := match["page"]:
            if ":" in named or "nnn" in named or prose.text[: match.start()].endswith(("*", "<", ">")):
                continue  # an address, a pattern, a placeholder
            file = ((relative_to if named in linked else ROOT) / named).resolve()
            if file.is_relative_to(ROOT) and file.is_file():
                page = str(file.relative_to(ROOT))
            else:
                yield f"{line}: {named} is not in the repository"
        elif page is None:
            yield f"{line}: §{match['section']} of which document?"
        elif (ROOT / page).is_file() and match["section"] not in sections(page):
            yield f"{line}: {page} has no section {match['section']}"


@pytest.mark.parametrize("directory", DIRECTORIES)
def test_citations_lead_somewhere(directory: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{complaint}"
        for file in sorted((ROOT / directory).rglob("*.*"))
        if file.is_file()
        for prose in prose_of(file)
        for complaint in broken(prose, relative_to=file.parent)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ('"""As docs/design/semantics.md §3 has it."""', None),
        ('"""As docs/design/semantics.md §3 has it."""\nx = 1  # §6, trap 2', None),
        ('"""As semantics.md §3 has it."""', "1: semantics.md is not in the repository"),
        ('"""As ../README.md has it."""', "1: ../README.md is not in the repository"),
        ('"""As docs/design/semantics.md §33 has it."""', "1: docs/design/semantics.md has no section 33"),
        ('"""A module."""\n\nx = 1\n"""As §3 has it."""', "4: §3 of which document?"),
        (
            '"""A module."""\n# one line\n# of docs/design/performance.md §2z',
            "3: docs/design/performance.md has no section 2z",
        ),
    ],
)
def test_a_citation_that_leads_nowhere_is_seen(source: str, complaint: str | None) -> None:
    assert [each for prose in prose_of_python(source) for each in broken(prose)] == ([complaint] if complaint else [])


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    lost = sorted({match["target"] for match in LINK.finditer(text) if not (page.parent / match["target"]).is_file()})
    assert not lost


@pytest.mark.parametrize(
    "page",
    [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "README.md", ROOT / "bench/README.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_paths_that_documents_name_are_there(page: Path) -> None:
    named = {match["path"] for match in NAMED.finditer(FENCE.sub("", page.read_text(encoding="utf-8")))}
    assert not sorted(path for path in named if not (ROOT / path).exists())


def test_tests_that_pages_name_are_there() -> None:
    named = {
        (file, name)
        for page in (ROOT / "docs").rglob("*.md")
        for file, name in re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 15
    assert {f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / file).read_text()} == set()
