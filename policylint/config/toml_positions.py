"""The positions of values in a configuration file: exact in YAML, as near as text search comes in TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from policylint.documents import Pointer, Position
from policylint.namedtuple import NamedTuple


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
        line, column = self._head(r"tool\.policylint\b")
        for step in pointer:
            if not isinstance(step, str):
                continue
            name = rf"[\"']?{re.escape(step)}[\"']?"
            head = self._head(rf"tool\.policylint\.(?:.*\.)?{name}\s*\]")
            key_place = self._below(line, rf"\s*({name})\s*[.=]") or (head if head[0] >= line else None)
            key_place = key_place or self._within(line, step)
            if key_place is None:
                break
            line, column = key_place
        return Position(line, column)

    def _head(self, pattern: str) -> tuple[int, int]:
        """Return the place of the first table header that matches a pattern, else the first line."""
        for number, text in enumerate(self.lines, 1):
            if match := re.match(rf"\s*\[\[?\s*({pattern})", text):
                return number, match.start(1) + 1
        return 1, 1

    def _below(self, line: int, pattern: str) -> tuple[int, int] | None:
        """Return the place of a key in the table that is open on a line."""
        for number in range(line, len(self.lines) + 1):
            text = self.lines[number - 1]
            if number > line and re.match(r"\s*\[\[?\s*[\w\"'.-]+\s*\]", text):
                return None
            if match := re.match(pattern, text):
                return number, match.start(1) + 1
        return None

    def _within(self, line: int, step: str) -> tuple[int, int] | None:
        """Return the place of a key of an inline table on the line."""
        match = re.search(rf"[\"']?\b{re.escape(step)}[\"']?\s*=", self.lines[line - 1])
        return (line, match.start() + 1) if match else None
