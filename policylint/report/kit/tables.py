"""Tables in Markdown; those of text are in display.py."""

from __future__ import annotations


def table_head(*columns: str) -> str:
    """Return the two lines above the rows; columns may have no name."""
    return f"|{''.join(f' {column} |' if column else ' |' for column in columns)}\n|{'---|' * len(columns)}"


def table_row(*cells: str) -> str:
    """Return one row of cells, each of which is Markdown that holds no line break and no bare `|`."""
    return f"| {' | '.join(cells)} |"
