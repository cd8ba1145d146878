"""The rules of a SARIF run: static texts from the rule pages, the same in every run.

Source: docs/design/conventions.md §1, decision 4.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policylint.report.rule_page import RulePage

_LONGEST = 1024
_MOST_TAGS = 10
_PRECISION = {"certain": "high", "assumed": "medium", "unknown": "low"}
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_SECURITY = {"error": "8.1", "warning": "5.0", "note": "2.0"}


def variants(page: RulePage) -> tuple[RulePage, ...]:
    """Return a rule, and for a security rule also its twin `GWP301/note`, to which its notes belong.

    Code scanning takes the severity of an alert from the security-severity of its rule and ignores the result's level:
    a note of a security rule would show as High. The id stays hierarchical, as SARIF 2.1.0, 3.5.4 has it.
    """
    if not is_security(page):
        return (page,)
    tags = tuple(tag for tag in page.tags if tag != "security")
    return page, page._replace(id=f"{page.id}/note", severity="note", tags=tags, security_severity="")


def is_security(page: RulePage) -> bool:
    """Return whether the findings of a rule, but for its notes, are security alerts."""
    return bool(page.security_severity) or "security" in page.tags


def rule_entry(page: RulePage, uri: str) -> dict[str, Any]:
    """Return the reportingDescriptor of a rule, or of the twin for its notes, whose page is at `uri` ("": nowhere)."""
    title = page.heading
    parts = [("Why", page.why), ("Fix", page.fix), ("References", page.references)]
    sections = [_section(name, text.strip()) for name, text in parts if text.strip()]
    link = [f"[{page.id.partition('/')[0]}]({uri})"] if uri else []
    return {
        "id": page.id,
        "name": page.name,
        "shortDescription": {"text": title[:_LONGEST]},
        "fullDescription": {"text": (plain(page.what) or title)[:_LONGEST]},
        "help": {
            "text": plain(page.fix) or title,
            "markdown": "\n\n".join([page.what.strip() or title, *sections, *link]),
        },
        **({"helpUri": uri} if uri else {}),
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
    """Return a section's first paragraph as one line without code marks, nor a last sentence that leads to a list."""
    text = " ".join(markdown.strip().partition("\n\n")[0].split()).replace("`", "")
    return re.sub(r"(?:^|(?<=[.!?])\s)[^.!?]*:$", "", text) or text.rstrip(":")
