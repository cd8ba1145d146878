"""Where the values of an object that a chart made are written: in the values that a template names, else its template.

Helm says which template an object comes from, no more. A template reads almost like the object it makes: the walk goes
down both at once, and where the template says `{{ .Values.a.b }}` and those values hold what the object has, the place
is there, in the line that a person edits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from policylint.documents import Pointer, Position
from policylint.namedtuple import NamedTuple
from policylint.render.provenance import Trace

_KEY = re.compile(r"^(?P<indent>(?: |- )*)(?P<key>[\w./$-]+|\"[^\"]+\"|'[^']+'):(?: +(?P<rest>.*?))? *$")
_CONTROL = re.compile(r"^\s*\{\{-?\s*(?:if|else|end|with|range|define|template|include|/\*|\$\w+\s*:?=).*\}\}\s*$")
_OF_VALUES = re.compile(r"\{\{-?\s*(?:\(?\s*(?:tpl|toYaml|quote|required\s+\"[^\"]*\")\s*\(?\s*)*"
                        r"(?P<root>\$?\.Values)\.(?P<path>[\w.]+)[^{}]*\}\}")  # fmt: skip
_WITH = re.compile(r"\{\{-?\s*with\s+\$?\.Values\.(?P<path>[\w.]+)\s*-?\}\}")
_DOT = re.compile(r"\{\{-?\s*(?:toYaml|tpl\s*\(\s*toYaml)\s+\.\s*[^.{}]*\}\}")
MAX_DEPTH = 30


class Layer(NamedTuple):
    """Values, and where they are written."""

    values: Any
    trace: Trace


class TemplateLine(NamedTuple):
    """A line of a template that makes one value: where its key and where its value begin (the Written protocol)."""

    file: str
    line: int
    key_column: int = 1
    value_column: int = 1

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:  # noqa: ARG002 - the Written protocol
        return Position(self.line, self.key_column if key else self.value_column)


class Template(NamedTuple):
    """A template's file, as shown, and its lines."""

    file: str
    lines: Sequence[str]

    def at(self, line: int, key: int, value: int, children: dict[str | int, Trace]) -> Trace:
        """The trace of what a line makes."""
        return Trace(TemplateLine(self.file, line + 1, key, value), (), children)


class _Entry(NamedTuple):
    """A key's line in a template, where key and value begin in it, what follows the key, and where its block ends."""

    line: int
    column: int
    value_column: int
    rest: str
    end: int


def placed(body: dict[str, Any], template: Template, part: int, parts: int, layers: Sequence[Layer]) -> Trace:
    """The trace of a rendered object.

    Args:
        part: it is the so-manieth object of its template in the output…
        parts: …of so many.
        layers: the values that the chart was given, the last one first.
    """
    start, end = _section(template.lines, str(body.get("kind")), part, parts)
    found = _walk(body, template, start, end, 0, layers, 0)
    head = _first(template.lines, start, end)
    return template.at(head, 1, 1, found)


def _section(lines: Sequence[str], kind: str, part: int, parts: int) -> tuple[int, int]:
    """The lines of the template's document that makes an object of a kind."""
    cuts = [-1, *(number for number, line in enumerate(lines) if line.startswith("---")), len(lines)]
    sections = [(one + 1, other) for one, other in pairwise(cuts) if other > one + 1]
    fitting = [each for each in sections if any(line.strip() == f"kind: {kind}" for line in lines[each[0] : each[1]])]
    if len(fitting) > 1 and len([each for each in sections if _makes_object(lines, each)]) == parts:
        own = [each for each in sections if _makes_object(lines, each)][part]
        if own in fitting:
            return own
    return fitting[0] if fitting else (0, len(lines))


def _makes_object(lines: Sequence[str], section: tuple[int, int]) -> bool:
    return any(line.startswith("kind:") for line in lines[section[0] : section[1]])


def _first(lines: Sequence[str], start: int, end: int) -> int:
    return next((number for number in range(start, end) if lines[number].startswith(("apiVersion:", "kind:"))), start)


def _walk(
    value: Any, template: Template, start: int, end: int, indent: int, layers: Sequence[Layer], depth: int
) -> dict[str | int, Trace]:
    """The traces of the entries of a value, whose lines are from start to end and no less indented than `indent`."""
    found: dict[str | int, Trace] = {}
    if depth > MAX_DEPTH:
        return found
    if isinstance(value, dict):
        for key, inner in value.items():
            entry = _entry(template.lines, key, start, end, indent)
            if entry is not None:
                found[key] = _traced(inner, template, entry, layers, depth)
    elif isinstance(value, list):
        items = _items(template.lines, start, end)
        for index, inner in enumerate(value):
            if items:
                first, last, column = items[index] if len(items) == len(value) else items[0]
                here = _walk(inner, template, first, last, column, layers, depth + 1)
                found[index] = template.at(first, column + 1, column + 1, here)
    return found


def _traced(value: Any, template: Template, entry: _Entry, layers: Sequence[Layer], depth: int) -> Trace:
    """The trace of one entry: in the values that it is made of, else in the template."""
    text, first = entry.rest, entry.line
    if not text or text.startswith("{{-"):
        block = [number for number in range(entry.line + 1, entry.end) if template.lines[number].strip()]
        plain = [number for number in block if not _CONTROL.match(template.lines[number])]
        if len(plain) == 1 and "{{" in template.lines[plain[0]]:
            text, first = template.lines[plain[0]], plain[0]
    source = _in_values(value, text, template, first, layers)
    if source is not None:
        return source
    inner = _walk(value, template, entry.line + 1, entry.end, entry.column, layers, depth + 1)
    return template.at(entry.line, entry.column, entry.value_column, inner)


def _in_values(value: Any, text: str, template: Template, line: int, layers: Sequence[Layer]) -> Trace | None:
    """Where the values hold what a template writes at a line; None if they do not, or it writes more than that."""
    written = text.strip().strip("\"'")
    match = _OF_VALUES.fullmatch(written)
    path = match["path"] if match else ""
    if not match and _DOT.fullmatch(written):
        around = next(
            (_WITH.search(template.lines[n]) for n in range(line, -1, -1) if "with" in template.lines[n]), None
        )
        path = around["path"] if around else ""
    if not path:
        return None
    pointer = tuple(path.split("."))
    for layer in layers:
        there, held = _held(layer.values, pointer)
        if there:
            same = held == value or (not isinstance(held, (dict, list)) and str(held) == str(value))
            return layer.trace.at(pointer) if same else None
    return None


def _held(values: Any, pointer: Pointer) -> tuple[bool, Any]:
    for step in pointer:
        if not isinstance(values, dict) or step not in values:
            return False, None
        values = values[step]
    return True, values


def _entry(lines: Sequence[str], key: str, start: int, end: int, indent: int) -> _Entry | None:
    """The line of a key at the least indentation at which there are keys in these lines."""
    level: int | None = None
    for number in range(start, end):
        match = _KEY.match(lines[number])
        if match is None or _CONTROL.match(lines[number]):
            continue
        column = len(match["indent"])
        if column < indent:
            continue
        if level is None or column < level:
            level = column
        if column == level and match["key"].strip("\"'") == key:
            value = match.start("rest") if match["rest"] else column
            return _Entry(number, column + 1, value + 1, match["rest"] or "", _end(lines, number, end, column))
    return None


def _end(lines: Sequence[str], line: int, end: int, column: int) -> int:
    """Where the block of a key ends: at the next line that is no deeper, a list's dashes left out."""
    for number in range(line + 1, end):
        text = lines[number]
        stripped = text.strip()
        if not stripped or stripped.startswith(("#", "{{")):
            continue
        depth = len(text) - len(text.lstrip())
        if depth < column or (depth == column and not stripped.startswith("- ")):
            return number
    return end


def _items(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int, int]]:
    """The items of a list written in these lines: first line, line behind the last, and column of their content."""
    dashes = [number for number in range(start, end) if lines[number].lstrip().startswith("- ")]
    if not dashes:
        return []
    level = min(len(lines[number]) - len(lines[number].lstrip()) for number in dashes)
    own = [number for number in dashes if len(lines[number]) - len(lines[number].lstrip()) == level]
    return [(one, other, level + 2) for one, other in zip(own, [*own[1:], end], strict=True)]
