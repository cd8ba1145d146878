"""Rule pages: rules/GWPnnn-name.md, the one source of `policylint rule`, of SARIF help and of the documentation.

A page is front matter of plain scalars and lists, then `## What it does`, `## Why is this bad?`, `## Example` (blocks
fenced as `yaml bad` and `yaml good`), `## Fix` and `## References`. It is read as text: printing help needs no YAML
library.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import cast

from policylint.model.finding import Confidence, Severity
from policylint.model.shipped import shipped
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern

_SENTENCE = Pattern(r".+?[.!?](?=\s|$)", re.DOTALL)


class RulePage(NamedTuple):
    """One rule as its page describes it.

    Args:
        id, name: `GWP201` and `parent-setting-dropped`.
        severity: the worst that the rule reports; single findings may be milder.
        confidence: the confidence of its findings when nothing is unknown.
        since: the version that introduced it.
        security_severity: SARIF's number from 0.0 to 10.0, "" for rules that are not about security.
        heading: a noun phrase that names the problem (`title` in the front matter).
        title: the first sentence of `what`.
        what, why, fix, references: the sections, markdown.
        body: everything below the front matter.
    """

    id: str
    name: str
    severity: Severity
    confidence: Confidence
    tags: tuple[str, ...]
    since: str
    security_severity: str
    heading: str
    title: str
    what: str
    why: str
    fix: str
    references: str
    body: str
    path: Path


def page_directory() -> Path:
    """Return the directory of the pages."""
    return shipped("rules")


@lru_cache(maxsize=1)
def all_pages() -> list[RulePage]:
    """Return every page, sorted by id."""
    return [load_page(path) for path in sorted(page_directory().glob("GWP*.md"))]


def page_of(rule: str) -> RulePage | None:
    """Return the page of a rule by id or name, None when there is none. Reads no other page."""
    if not re.fullmatch(r"[A-Za-z0-9-]+", rule):
        return None
    pattern = f"{rule.upper()}-*.md" if re.fullmatch(r"(?i)GWP\d{3}", rule) else f"GWP*-{rule}.md"
    for path in sorted(page_directory().glob(pattern)):
        page = load_page(path)
        if rule.upper() == page.id or rule == page.name:
            return page
    return None


def load_page(path: Path) -> RulePage:
    """Read one page.

    Raises:
        ValueError: it has no front matter, or lacks a field.
    """
    head, body = _split(path.read_text(encoding="utf-8"), path)
    for field in ("id", "name", "title", "severity", "confidence", "since"):
        if field not in head:
            raise ValueError(f"{path.name}: the front matter has no {field}")
    sections = _sections(body)
    what = sections.get("What it does", "")
    return RulePage(
        id=head["id"],
        name=head["name"],
        severity=cast("Severity", head["severity"]),
        confidence=cast("Confidence", head["confidence"]),
        tags=_list(head.get("tags", "")),
        since=head["since"],
        security_severity=head.get("security-severity", ""),
        heading=head["title"],
        title=_first_sentence(what),
        what=what,
        why=sections.get("Why is this bad?", ""),
        fix=sections.get("Fix", ""),
        references=sections.get("References", ""),
        body=body,
        path=path,
    )


def _split(page: str, path: Path) -> tuple[dict[str, str], str]:
    """Split a page into front matter and body."""
    if not page.startswith("---\n") or "\n---\n" not in page[4:]:
        raise ValueError(f"{path.name}: no front matter")
    head, _, body = page[4:].partition("\n---\n")
    fields = {}
    for line in head.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip()] = value.strip().strip("\"'")
    return fields, body.strip() + "\n"


def _list(value: str) -> tuple[str, ...]:
    """Return the entries of `[a, b]` or `a, b`."""
    return tuple(entry.strip() for entry in value.strip("[]").split(",") if entry.strip())


def _sections(body: str) -> dict[str, str]:
    """Return the text under each `##` heading; a `##` inside a fenced block is no heading."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    fenced = False
    for line in body.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("## ") and not fenced:
            lines = sections.setdefault(line[3:].strip(), [])
        else:
            lines.append(line)
    return {name: "\n".join(text).strip() for name, text in sections.items()}


def _first_sentence(text: str) -> str:
    """Return the first sentence of a text, without code marks."""
    paragraph = " ".join(text.partition("\n\n")[0].split()).replace("`", "")
    match = _SENTENCE.match(paragraph)
    return match.group() if match else paragraph
