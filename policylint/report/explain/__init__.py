"""Explanations in every format; those of several environments that say the same are shown once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from policylint.explain.explanation import Explanation
from policylint.report.explain.radius import Radius
from policylint.report.kit.display import Paint, one_line
from policylint.report.kit.identity import Names
from policylint.report.kit.yaml_text import yaml_text

FORMATS = ("text", "json", "yaml", "markdown")
Explained = tuple[Explanation, Radius | None]


def write(form: str, found: Sequence[Explained], names: Names, paint: Paint, room: int, field: str) -> Iterator[str]:
    """The pieces of the document in one of FORMATS."""
    if form in ("json", "yaml"):
        yield _data(form, found, names, field)
        return
    for number, (environments, explanation, radius) in enumerate(_folded(found, names, field)):
        if number:
            yield "\n"
        if form == "markdown":
            from policylint.report.explain.markdown import page

            if len(found) > 1:
                yield f"_{', '.join(environments)}_\n\n"
            yield from page(explanation, radius, names, field)
            continue
        from policylint.report.explain.text import Page

        if len(found) > 1:
            word = "environment" if len(environments) == 1 else "environments"
            yield paint("faint", f"{word} {one_line(', '.join(environments))}") + "\n"
        yield from Page(names, paint, room, field).write(explanation, radius)


def _folded(
    found: Sequence[Explained], names: Names, field: str
) -> Iterator[tuple[list[str], Explanation, Radius | None]]:
    """Environments with the same answer together."""
    from policylint.report.explain.explain_v1 import entry

    if len(found) == 1:
        explanation, radius = found[0]
        yield [explanation.environment], explanation, radius
        return
    seen: dict[str, list[Explained]] = {}
    for explanation, radius in found:
        key = repr(entry(explanation, names, field, radius, several=False))
        seen.setdefault(key, []).append((explanation, radius))
    for same in seen.values():
        yield [each.environment for each, _ in same], *same[0]


def _data(form: str, found: Sequence[Explained], names: Names, field: str) -> str:
    from policylint.report.explain.explain_v1 import VERSION, entry

    entries = [entry(each, names, field, radius, several=len(found) > 1) for each, radius in found]
    document: dict[str, Any] = {"version": VERSION, "explanations": entries}
    return dumped(form, document)


def dumped(form: str, document: dict[str, Any]) -> str:
    """A document as JSON or YAML."""
    if form == "json":
        import json

        return json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
    return yaml_text(document)
