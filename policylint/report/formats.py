"""The table of formats: in which every document can be written, and who writes findings and changes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

OF_FINDINGS: Mapping[str, str] = {
    "text": "findings.text:write",
    "concise": "findings.concise:write",
    "json-v1": "findings.json_v1:write",
    "json": "findings.json_v1:write",
    "sarif": "findings.sarif:write",
    "markdown": "findings.markdown:write",
    "summary": "findings.markdown:write_summary",
    "github": "findings.github:write",
    "junit": "findings.junit:write",
    "codeclimate": "findings.codeclimate:write",
}
"""Format → the module here and its function, imported when used; `json` is the newest json-vN."""
OF_CHANGES: Mapping[str, str] = {
    "text": "diff.text:write",
    "concise": "diff.concise:write",
    "json-v1": "diff.json_v1:write",
    "json": "diff.json_v1:write",
    "markdown": "diff.markdown:write",
    "summary": "diff.markdown:write_summary",
    "github": "diff.concise:github",
}
"""The same for changes; other formats show new findings, as lint does."""
FORMATS: Mapping[str, tuple[str, ...]] = {
    "lint": tuple(OF_FINDINGS),
    "diff": tuple(OF_FINDINGS),
    "upgrade": ("text", "markdown", "json"),
    "explain": ("text", "json", "yaml", "markdown"),
    "trace": ("text", "json"),
    "reach": ("text", "markdown", "csv", "json"),
    "graph": ("mermaid", "dot", "svg", "html"),
    "list": ("text", "wide", "json"),
    "simulate": ("text", "json", "yaml"),
    "export": ("jsonl", "parquet"),
    "rule": ("text", "json", "markdown"),
    "kinds": ("text", "json", "yaml", "markdown"),
}
"""Command → the formats of its document, the one that is written unasked first."""


def writer(place: str) -> Callable[[Any], str]:
    """Return the function that one of the tables names."""
    from importlib import import_module

    module, _, function = place.partition(":")
    found: Callable[[Any], str] = getattr(import_module(f"policylint.report.{module}"), function)
    return found
