"""The examples of a rule page: the manifests of its section Example, and what each must yield."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

import yaml

from policylint.report.rule_page import RulePage

_BLOCK = re.compile(r"^```yaml (bad|good)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"# <- (GWP\d{3})\s*$")


class Example(NamedTuple):
    """A manifest of a page: what the rule reports, or how to do it right.

    Args:
        expected: rule and line (1-based, of the block) of each finding that it must yield, by its marks `# <- GWPnnn`,
            or by `line:` in the front matter where a mark would change what the manifest is.
        also: other rules that may report it too.
    """

    label: Literal["bad", "good"]
    text: str
    expected: tuple[tuple[str, int], ...]
    also: frozenset[str]


def required(page: RulePage) -> list[dict[str, Any]]:
    """Return the guardrails for which the examples of a page are, from `require:` in its front matter."""
    head: dict[str, Any] = yaml.safe_load(page.path.read_text(encoding="utf-8").split("---\n")[1])
    return list(head.get("require", ()))


def examples(page: RulePage) -> list[Example]:
    """Return the examples of a page in their order."""
    head: dict[str, Any] = yaml.safe_load(page.path.read_text(encoding="utf-8").split("---\n")[1])
    return [
        Example(label, text, _expected(page.id, text, head) if label == "bad" else (), frozenset(head.get("also", ())))
        for label, text in _BLOCK.findall(page.body)
    ]


def _expected(rule: str, text: str, head: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    marks = [(mark[1], number) for number, line in enumerate(text.splitlines(), 1) if (mark := _MARK.search(line))]
    return tuple(marks) if marks or "line" not in head else ((rule, head["line"]),)
