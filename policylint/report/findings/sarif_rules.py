"""The rules of a SARIF run: static texts from the rule pages, the same in every run.

Source: docs/design/conventions.md §1, decision 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policylint.model.rule_page import RulePage

_LONGEST = 1024
_MOST_TAGS = 10
_PRECISION = {"certain": "high", "assumed": "medium", "unknown": "low"}
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_SECURITY = {"error": "8.1", "warning": "5.0", "note": "2.0"}


def rule_entry(page: RulePage, uri: str) -> dict[str, Any]:
    """Return the reportingDescriptor of a rule whose page is at `uri`."""
    title = plain(page.title).rstrip(".") or page.name
    parts = [("Why", page.why), ("Fix", page.fix), ("References", page.references)]
    sections = [_section(name, text.strip()) for name, text in parts if text.strip()]
    return {
        "id": page.id,
        "name": page.name,
        "shortDescription": {"text": title[:_LONGEST]},
        "fullDescription": {"text": (plain(page.what) or title)[:_LONGEST]},
        "help": {
            "text": plain(page.fix) or title,
            "markdown": "\n\n".join([page.what.strip() or title, *sections, f"[{page.id}]({uri})"]),
        },
        "helpUri": uri,
        "defaultConfiguration": {"level": page.severity},
        "properties": _properties(page),
    }


def _section(name: str, text: str) -> str:
    """Return a section with its name; a list or a code block needs a paragraph of its own."""
    return f"**{name}**:\n\n{text}" if text.startswith(("- ", "* ", "1. ", "```")) else f"**{name}**: {text}"


def _properties(page: RulePage) -> dict[str, Any]:
    tags = list(page.tags)
    number = page.security_severity or (_SECURITY[page.severity] if "security" in tags else "")
    if number and "security" not in tags:
        tags.insert(0, "security")
    properties: dict[str, Any] = {"tags": tags[:_MOST_TAGS], "precision": _PRECISION[page.confidence]}
    if number:
        properties["security-severity"] = number  # a string: a number passes the schema and GitHub refuses it
    else:
        properties["problem.severity"] = _PROBLEM[page.severity]
    return properties


def plain(markdown: str) -> str:
    """Return a section's first paragraph as one line without code marks."""
    return " ".join(markdown.strip().partition("\n\n")[0].split()).replace("`", "")
