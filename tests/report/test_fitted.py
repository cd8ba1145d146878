"""Tables on a terminal: each fits its columns, whatever the width, and nothing of a cell is lost."""

from __future__ import annotations

import pytest

from policylint.report.kit.display import Paint, width

ROWS = [
    ["HOST", "REQUESTS", "GOES TO"],
    ["*", "every request", "shop/web"],
    ["a-very-long-name.of-a-host.example.com", "GET /checkout/** from 10.1.0.0/16", "shop/checkout-canary (10%)"],
    ["\u4e2d\u6587.example.com", "x" * 90, ""],
]  # fmt: skip


@pytest.mark.parametrize("room", [60, 80, 120])
def test_a_table_fits_and_loses_nothing(room: int) -> None:
    table = Paint(on=False, room=room).table(ROWS)
    for row, lines in zip(ROWS, table, strict=True):
        assert all(width("  ".join(line).rstrip()) <= room for line in lines)
        for column, cell in enumerate(row):
            shown = "".join(line[column].strip() for line in lines)
            assert shown.replace(" ", "") == cell.replace(" ", "")


def test_what_is_piped_has_one_line_for_each_row() -> None:
    assert [len(lines) for lines in Paint(on=False).table(ROWS)] == [1] * len(ROWS)
