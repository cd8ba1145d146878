"""The rules for readers and programs: what `policylint rule` prints, and docs/rules.md."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from policylint.report.kit.display import Paint, wrapped
from policylint.report.kit.identity import json_text
from policylint.report.kit.tables import table_head, table_row

if TYPE_CHECKING:
    from policylint.report.rule_page import RulePage

_WIDTH = 100
_ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
FAMILIES = {
    "GWP1": "Attachment: does the policy reach anything",
    "GWP2": "Precedence: what survives",
    "GWP3": "Exposure",
    "GWP4": "Routing and grants: the topology the policies hang on",
    "GWP5": "Form",
    "GWP6": "Network policies",
    "GWP7": "Cluster policies",
    "GWP9": "The tool itself",
}
_HEAD = """\
# Rules

Every rule has a page with an example and its fix: `policylint rule GWP201` shows it in the terminal. Rules are selected
and configured by id (`GWP201`), name (`parent-setting-dropped`) or family (`GWP2`). The severity given is the worst
that a rule reports; [severity-and-confidence.md](severity-and-confidence.md) says what the words mean.

This page is generated: `policylint rule -o markdown > docs/rules.md`.
"""
_FIELDS = ("id", "name", "severity", "confidence", "tags", "since", "title", "what", "why", "fix", "references")
_COLUMNS = table_head("id", "name", "severity", "confidence", "what it reports")


def write(form: str, pages: Sequence[RulePage], paint: Paint, *, whole: bool) -> str:
    """Return the pages as text, json or markdown, ending in a newline.

    Args:
        whole: each page in full; a line each otherwise.
    """
    match form:
        case "json":
            return as_json(pages)
        case "markdown":
            return markdown(pages, whole=whole)
        case _:
            return "".join(_page(page, paint) for page in pages) if whole else _list(pages, paint)


def _list(pages: Sequence[RulePage], paint: Paint) -> str:
    rows = [[page.id, page.severity, page.name, page.title.removeprefix("Reports ").rstrip(".")] for page in pages]
    lines = []
    for page, row in zip(pages, paint.table(rows), strict=True):
        for identity, severity, *words in row:
            lines.append("  ".join((identity, paint(page.severity, severity), *words)).rstrip() + "\n")
    return "".join(lines)


def _page(page: RulePage, paint: Paint) -> str:
    """The head, then the page: paragraphs wrapped, examples indented, headings in bold where there are colours."""
    severity = paint(page.severity, page.severity)
    facts = [severity, page.confidence, f"since {page.since}", *(f"#{tag}" for tag in page.tags)]
    lines = [f"{paint('strong', page.id)} {paint('strong', page.name)}", " · ".join(facts), ""]
    fenced = False
    paragraph: list[str] = []
    for line in [*page.body.strip().splitlines(), ""]:
        is_item = _ITEM.match(line) is not None
        prose = line and not fenced and not line.startswith(("#", "|", ">", "```"))
        if prose and not is_item and (paragraph or not line.startswith(" ")):
            paragraph.append(line.lstrip())
            continue
        lines += _filled(paragraph, min(_WIDTH, paint.room or _WIDTH))
        paragraph = [line] if prose and is_item else []
        if paragraph:
            continue
        if line.startswith("```"):
            fenced = not fenced
        elif fenced:
            lines.append(f"    {line}".rstrip())
        else:
            lines.append(paint("strong", line.lstrip("# ")) if line.startswith("#") else line)
    return "\n".join(lines).rstrip() + "\n"


def _filled(paragraph: Sequence[str], room: int) -> list[str]:
    """Return a paragraph, or an entry of a list, in lines of a width; those of an entry hang."""
    if not paragraph:
        return []
    item = _ITEM.match(paragraph[0])
    mark = item[0] if item is not None else ""
    first, *others = wrapped(" ".join(paragraph)[len(mark) :], room - len(mark))
    return [f"{mark}{first}", *(" " * len(mark) + line for line in others)]


def markdown(pages: Sequence[RulePage], *, whole: bool) -> str:
    """Return the index, or whole pages."""
    if whole:
        return "\n".join(f"# {page.id} {page.name}\n\n{page.body.strip()}\n" for page in pages)
    sections: dict[str, list[str]] = {}
    for page in pages:
        link = f"[{page.id}](../rules/{page.id}-{page.name}.md)"
        title = page.title.replace("|", "\\|")
        row = table_row(link, page.name, page.severity, page.confidence, title)
        sections.setdefault(page.id[:4], []).append(row)
    text = _HEAD
    for family, rows in sections.items():
        text += f"\n## {FAMILIES.get(family, family)}\n\n{_COLUMNS}\n" + "\n".join(rows) + "\n"
    return text


def as_json(pages: Sequence[RulePage]) -> str:
    """Return the pages for programs."""
    rules = [{name: getattr(page, name) for name in _FIELDS} for page in pages]
    return json_text({"version": "rules-v1", "rules": rules})
