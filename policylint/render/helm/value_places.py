"""The places of the values of objects that a chart made: in the values that a template names, else its template.

Helm says which template an object comes from, no more. A template reads almost like the object it makes: the walk goes
down both at once, and where the template says `{{ .Values.a.b }}` and those values hold what the object has, the place
is there, in the line that a person edits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from policylint.documents import Pointer, Position
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.provenance import Provenance

_KEY = Pattern(r"^(?P<indent>(?: |- )*)(?P<key>[\w./$-]+|\"[^\"]+\"|'[^']+'):(?: +(?P<rest>.*?))? *$")
_CONTROL = Pattern(r"^\s*\{\{-?\s*(?:if|else|end|with|range|define|template|include|/\*|\$\w+\s*:?=).*\}\}\s*$")
_OF_VALUES = Pattern(r"\{\{-?[\s(]*(?:(?:tpl|toYaml|quote|required\s+\"[^\"]*\")[\s(]*)*"
                        r"(?P<root>\$?\.Values)\.(?P<path>[\w.]+)[^{}]*\}\}")  # fmt: skip
_WITH = Pattern(r"\{\{-?\s*with\s+\$?\.Values\.(?P<path>[\w.]+)\s*-?\}\}")
_DOT = Pattern(r"\{\{-?\s*(?:toYaml|tpl\s*\(\s*toYaml)\s+\.\s*[^.{}]*\}\}")
MAX_DEPTH = 30
_ABSENT: Any = object()


class HelmValues(NamedTuple):
    """Values, and where they are written."""

    values: Any
    origin: Provenance


class TemplateLine(NamedTuple):
    """A line of a template that makes one value: where its key and where its value begin (the Written protocol).

    Args:
        chart: the chart that was given its own values alone, as nothing says with which it is installed; "" for none.
        by: the file that installs it with values that are not known; "" where nothing does.
    """

    file: str
    line: int
    key_column: int = 1
    value_column: int = 1
    chart: str = ""
    by: str = ""

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:  # noqa: ARG002 - the Written protocol
        return Position(self.line, self.key_column if key else self.value_column)


class _Key(NamedTuple):
    """A key that a line begins with: its column from 0, its name, that of what follows it, and this."""

    column: int
    name: str
    value: int
    rest: str


class Template:
    """A template's file, as shown, and its lines."""

    __slots__ = ("_keys", "file", "lines")

    def __init__(self, file: str, lines: Sequence[str]) -> None:
        self.file = file
        self.lines = lines
        self._keys: list[_Key | None] | None = None

    @property
    def keys(self) -> list[_Key | None]:
        """The key that each line begins with; None for a line without one."""
        if self._keys is None:
            self._keys = [_key(line) for line in self.lines]
        return self._keys

    def at(self, line: int, key: int, value: int, children: dict[Any, Provenance]) -> Provenance:
        """Return the origin of what a line makes."""
        return Provenance(TemplateLine(self.file, line + 1, key, value), (), children)


class _KeyLine(NamedTuple):
    """A key's line in a template, where key and value begin in it, what follows the key, and where its block ends."""

    line: int
    column: int
    value_column: int
    rest: str
    end: int


def placed(body: dict[str, Any], template: Template, part: int, parts: int, layers: Sequence[HelmValues]) -> Provenance:
    """Return the provenance of a rendered object.

    Args:
        part, parts: the index of the object among those that the template made, and how many it made.
        layers: the values that the chart was given, the last one first.
    """
    lines = template.lines
    start, end = _section(lines, str(body.get("kind")), part, parts)
    children = _walk(body, template, start, end, 0, layers, 0)
    head = next((number for number in range(start, end) if lines[number].startswith(("apiVersion:", "kind:"))), start)
    return template.at(head, 1, 1, children)


def _section(lines: Sequence[str], kind: str, part: int, parts: int) -> tuple[int, int]:
    """Return the lines of the template's document that makes an object of a kind."""
    cuts = [-1, *(number for number, line in enumerate(lines) if line.startswith("---")), len(lines)]
    sections = [(start + 1, end) for start, end in pairwise(cuts) if end > start + 1]
    of_kind = [
        section for section in sections if any(line.strip() == f"kind: {kind}" for line in lines[slice(*section)])
    ]
    making = [section for section in sections if any(line.startswith("kind:") for line in lines[slice(*section)])]
    if len(of_kind) > 1 and len(making) == parts and making[part] in of_kind:
        return making[part]
    return of_kind[0] if of_kind else (0, len(lines))


def _walk(
    value: Any, template: Template, start: int, end: int, indent: int, layers: Sequence[HelmValues], depth: int
) -> dict[Any, Provenance]:
    """Return the origins of the entries of a value, whose lines are from start to end and no less indented than
    `indent`."""
    origins: dict[Any, Provenance] = {}
    if depth > MAX_DEPTH:
        return origins
    if isinstance(value, dict):
        lines = _key_lines(template, start, end, indent) if value else {}
        for key, inner in value.items():
            if key in lines:
                number, column, at, rest = lines[key]
                last = _end(template.lines, number, end, column)
                line = _KeyLine(number, column + 1, at + 1, rest, last)
                origins[key] = _traced(inner, template, line, layers, depth)
    elif isinstance(value, list):
        items = _items(template.lines, start, end)
        for index, inner in enumerate(value if items else ()):
            first, last, column = items[index] if len(items) == len(value) else items[0]
            children = _walk(inner, template, first, last, column, layers, depth + 1)
            origins[index] = template.at(first, column + 1, column + 1, children)
    return origins


def _traced(value: Any, template: Template, key: _KeyLine, layers: Sequence[HelmValues], depth: int) -> Provenance:
    """Return the origin of one entry: in the values that it is made of, else in the template."""
    text, first = key.rest, key.line
    if not text or text.startswith("{{-"):
        block = [number for number in range(key.line + 1, key.end) if template.lines[number].strip()]
        plain = [number for number in block if not _CONTROL.match(template.lines[number])]
        if len(plain) == 1 and "{{" in template.lines[plain[0]]:
            text, first = template.lines[plain[0]], plain[0]
    origin = _in_values(value, text, template, first, layers)
    if origin is not None:
        return origin
    children = _walk(value, template, key.line + 1, key.end, key.column, layers, depth + 1)
    return template.at(key.line, key.column, key.value_column, children)


def _in_values(value: Any, text: str, template: Template, line: int, layers: Sequence[HelmValues]) -> Provenance | None:
    """Return where the values hold what a template writes at a line; None if they do not, or it writes more than
    that."""
    written = text.strip().strip("\"'")
    match = _OF_VALUES.fullmatch(written)
    if match is None and _DOT.fullmatch(written):
        match = next(
            (_WITH.search(earlier) for earlier in reversed(template.lines[: line + 1]) if "with" in earlier), None
        )
    if match is None:
        return None
    pointer = tuple(match["path"].split("."))
    for layer in layers:
        held = layer.values
        for step in pointer:
            held = held.get(step, _ABSENT) if isinstance(held, dict) else _ABSENT
        if held is not _ABSENT:
            same = held == value or (not isinstance(held, (dict, list)) and str(held) == str(value))
            return layer.origin.at(*pointer) if same else None
    return None


def _key(line: str) -> _Key | None:
    """Return the key that a line of a template begins with."""
    match = _KEY.match(line)
    if match is None or _CONTROL.match(line):
        return None
    column, rest = len(match["indent"]), match["rest"] or ""
    return _Key(column, match["key"].strip("\"'"), match.start("rest") if rest else column, rest)


def _key_lines(template: Template, start: int, end: int, indent: int) -> dict[str, tuple[int, int, int, str]]:
    """Return the lines of the keys at the least indentation at which there are keys in these lines, and what stands
    there: number, column from 0, column of the value, and this."""
    level: int | None = None
    found: dict[str, tuple[int, int, int, str]] = {}
    for number, key in enumerate(template.keys[start:end], start):
        if key is not None and key.column >= indent:
            if level is None or key.column < level:
                level = key.column
            if key.column == level:
                found.setdefault(key.name, (number, key.column, key.value, key.rest))
    return found


def _end(lines: Sequence[str], line: int, end: int, column: int) -> int:
    """Return where the block of a key ends: at the next line that is no deeper, a list's dashes left out."""
    for number in range(line + 1, end):
        stripped = lines[number].strip()
        if not stripped or stripped.startswith(("#", "{{")):
            continue
        depth = _indentation(lines[number])
        if depth < column or (depth == column and not stripped.startswith("- ")):
            return number
    return end


def _items(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int, int]]:
    """Return the items of a list in these lines: first line, line behind the last, and column of their content."""
    dashes = [number for number in range(start, end) if lines[number].lstrip().startswith("- ")]
    level = min((_indentation(lines[number]) for number in dashes), default=0)
    starts = [number for number in dashes if _indentation(lines[number]) == level]
    return [(first, behind, level + 2) for first, behind in pairwise([*starts, end])]


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
