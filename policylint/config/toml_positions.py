"""The positions of values in a configuration file: exact in YAML, as near as text search comes in TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from policylint.documents import Pointer, Position
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern


class Positions(Protocol):
    """The part of a document that findings and messages need (model.resource.Written)."""

    @property
    def file(self) -> str: ...

    def position(self, pointer: Pointer, *, key: bool = False) -> Position: ...


class TomlPositions(NamedTuple):
    """The lines of `[tool.policylint]`: of the key a pointer begins with, since tomllib keeps no positions."""

    file: str
    lines: tuple[str, ...]
    table: Mapping[str, Any]

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:  # noqa: ARG002 - one place for both
        """Return the line of the innermost key of the pointer that can be found, else that of the table's head."""
        line, column = self._head("")
        for step in pointer:
            if not isinstance(step, str):
                continue
            head = self._head(step)
            key_place = self._below(line, step) or (head if head[0] >= line else None) or self._within(line, step)
            if key_place is None:
                break
            line, column = key_place
        return Position(line, column)

    def _head(self, step: str) -> tuple[int, int]:
        """Return the place of the first header of our tables, or of those whose name ends in a key; else the first
        line."""
        for number, text in enumerate(self.lines, 1):
            match = _HEAD.match(text)
            if match and (not step or match["below"].rstrip().endswith(tuple(f".{key}" for key in _spellings(step)))):
                return number, match.start("name") + 1
        return 1, 1

    def _below(self, line: int, step: str) -> tuple[int, int] | None:
        """Return the place of a key in the table that is open on a line."""
        for number in range(line, len(self.lines) + 1):
            text = self.lines[number - 1]
            if number > line and _ANY_HEAD.match(text):
                return None
            written = text.lstrip()
            for key in _spellings(step):
                if written.startswith(key) and written[len(key) :].lstrip().startswith((".", "=")):
                    return number, len(text) - len(written) + 1
        return None

    def _within(self, line: int, step: str) -> tuple[int, int] | None:
        """Return the place of a key of an inline table on the line."""
        text = self.lines[line - 1]
        for match in _KEY.finditer(text):
            if match["key"].strip("\"'") == step:
                return line, match.start("key") + 1
        return None


_HEAD = Pattern(r"\s*\[\[?\s*(?P<name>tool\.policylint\b)(?P<below>[^\]]*)")
_ANY_HEAD = Pattern(r"\s*\[\[?\s*[\w\"'.-]+\s*\]")
_KEY = Pattern(r"(?P<key>\"[^\"]*\"|'[^']*'|[\w-]+)\s*=")


def _spellings(key: str) -> tuple[str, ...]:
    return key, f'"{key}"', f"'{key}'"
