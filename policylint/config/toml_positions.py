"""Where in a configuration file a value is written: exactly in YAML, as near as text search comes in TOML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from policylint.documents import Pointer, Position
from policylint.namedtuple import NamedTuple


class Places(Protocol):
    """The part of a document that findings and messages need (model.resource.Written)."""

    @property
    def file(self) -> str: ...

    def position(self, pointer: Pointer, *, key: bool = False) -> Position: ...


class TomlPlaces(NamedTuple):
    """Lines of `[tool.policylint]`: of the key a pointer begins with, since tomllib keeps no positions.

    Args:
        file: as shown.
        lines: of the file.
        table: the content of the table.
    """

    file: str
    lines: tuple[str, ...]
    table: Mapping[str, Any]

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:  # noqa: ARG002 - one place for both
        """The line of the innermost key of the pointer that can be found, else that of the table's head."""
        line, column = self._head(r"tool\.policylint\b")
        for step in pointer:
            if not isinstance(step, str):
                continue
            name = rf"[\"']?{re.escape(step)}[\"']?"
            head = self._head(rf"tool\.policylint\.(?:.*\.)?{name}\s*\]")
            found = self._below(line, rf"\s*({name})\s*[.=]") or (head if head[0] >= line else None)
            found = found or self._within(line, step)
            if found is None:
                break
            line, column = found
        return Position(line, column)

    def _head(self, pattern: str) -> tuple[int, int]:
        for number, text in enumerate(self.lines, 1):
            if match := re.match(rf"\s*\[\[?\s*({pattern})", text):
                return number, match.start(1) + 1
        return 1, 1

    def _below(self, line: int, pattern: str) -> tuple[int, int] | None:
        """A key in the table that is open on a line."""
        for number in range(line, len(self.lines) + 1):
            text = self.lines[number - 1]
            if number > line and re.match(r"\s*\[\[?\s*[\w\"'.-]+\s*\]", text):
                return None
            if match := re.match(pattern, text):
                return number, match.start(1) + 1
        return None

    def _within(self, line: int, step: str) -> tuple[int, int] | None:
        """A key of an inline table on the line."""
        match = re.search(rf"[\"']?\b{re.escape(step)}[\"']?\s*=", self.lines[line - 1])
        return (line, match.start() + 1) if match else None
