"""Explanations in every format; those of several environments that say the same are shown once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.explain.explanation import Explanation
from policylint.report.explain.content import Content
from policylint.report.explain.radius import Radius
from policylint.report.kit.display import Paint, one_line
from policylint.report.kit.identity import Names, json_text
from policylint.report.kit.yaml_text import yaml_text

_IN_MARKDOWN = 80
"""Letters of a value."""

Explained = tuple[Explanation, Radius | None]


def write(form: str, listed: Sequence[Explained], names: Names, paint: Paint, room: int, field: str) -> Iterator[str]:
    """Yield the pieces of the document in a format (formats.py)."""
    several = len(listed) > 1
    if form in ("json", "yaml"):
        from policylint.report.explain.explain_v1 import VERSION, entry

        entries = [entry(explanation, names, field, radius, several) for explanation, radius in listed]
        document = {"version": VERSION, "explanations": entries}
        yield json_text(document) if form == "json" else yaml_text(document)
        return
    for number, (environments, explanation, radius) in enumerate(_folded(listed, names, field)):
        if number:
            yield "\n"
        name = ", ".join(environments)
        if form == "markdown":
            from policylint.report.explain.markdown import page, title
            from policylint.report.kit.escape import escape

            yield f"_{escape(name)}_\n\n" if several else ""
            yield from title(explanation, names)
            yield from page(Content(explanation, radius, names, field, _IN_MARKDOWN).blocks(), names)
            continue
        from policylint.report.explain.text import ExplanationText

        if several:
            word = "environment" if len(environments) == 1 else "environments"
            yield paint("faint", f"{word} {one_line(name)}") + "\n"
        text = ExplanationText(names, paint, room)
        yield text.title(explanation)
        yield from text.write(Content(explanation, radius, names, field, max(40, room - 60)).blocks())


def _folded(
    explained: Sequence[Explained], names: Names, field: str
) -> Iterator[tuple[list[str], Explanation, Radius | None]]:
    """Put environments with the same answer together."""
    from policylint.report.explain.explain_v1 import entry

    alike: dict[str, list[Explained]] = {}
    for explanation, radius in explained:
        key = repr(entry(explanation, names, field, radius, several=False)) if len(explained) > 1 else ""
        alike.setdefault(key, []).append((explanation, radius))
    for same in alike.values():
        yield [explanation.environment for explanation, _ in same], *same[0]
