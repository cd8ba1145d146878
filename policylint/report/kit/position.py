"""A finding's place made concrete: file, line, column and the column after the token."""

from __future__ import annotations

from policylint.model import Location
from policylint.namedtuple import NamedTuple
from policylint.report.findings.report import Report
from policylint.report.kit.token import token_end


class Place(NamedTuple):
    """1-based, columns in code points; `end_column` is one past the token's last character."""

    file: str
    line: int
    column: int
    end_column: int


def place_of(report: Report, location: Location) -> Place:
    """Where a location is; a token whose file is not available is taken to be one character long."""
    line, column = location.at()
    lines = report.source_lines(location.file)
    end = token_end(lines[line - 1], column) if 1 <= line <= len(lines) else column + 1
    return Place(location.file, line, column, end)
