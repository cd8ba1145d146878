"""Places as an editor counts them: lines from 0, columns in units of the encoding that both sides agreed on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from lsprotocol.types import Position, Range

from policylint.edit.text import Edit
from policylint.model import Location
from policylint.report.kit.token import token_end

_UNITS: Final[dict[str, Callable[[str], int]]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}


class EditorPositions:
    """Turns our lines and columns (from 1, columns in code points) into an editor's, and back.

    Args:
        encoding: utf-8, utf-16 or utf-32.
        lines: returns the lines of a file.
    """

    def __init__(self, encoding: str, lines: Callable[[str], Sequence[str]]) -> None:
        self._units = _UNITS[encoding]
        self._lines = lines

    def position(self, file: str, line: int, column: int) -> Position:
        """Return a place of a file as the editor counts it."""
        return Position(line - 1, self._units(self._line(file, line)[: column - 1]))

    def column(self, file: str, position: Position) -> int:
        """Return the column, in code points, of an editor's place."""
        text = self._line(file, position.line + 1)
        if text.isascii():
            return position.character + 1
        return next((at for at in range(len(text)) if self._units(text[:at]) >= position.character), len(text)) + 1

    def token(self, location: Location) -> Range:
        """Return the token at a location."""
        line, column = location.at()
        end = token_end(self._line(location.file, line), column)
        return self._range(location.file, (line, column), (line, end))

    def edited(self, edit: Edit) -> Range:
        """Return what an edit replaces."""
        return self._range(edit.file, (edit.line, edit.column), (edit.end_line, edit.end_column))

    def _range(self, file: str, start: tuple[int, int], end: tuple[int, int]) -> Range:
        return Range(self.position(file, *start), self.position(file, *end))

    def _line(self, file: str, line: int) -> str:
        lines = self._lines(file)
        return lines[line - 1] if 0 < line <= len(lines) else ""
