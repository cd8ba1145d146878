"""Markdown from manifests that are not trusted, within the size of a comment."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from policylint.report.findings import write
from policylint.report.findings.markdown import BUDGET, SUMMARY_BUDGET
from policylint.report.kit.escape import code, escape, html, spoken
from tests.report.sample import findings, sample

NASTY = st.text(st.sampled_from("a|`<>@#[]()*_~\\\n\r&:/ wWhHtTpPsS.!"), max_size=60)
CELL_BREAK = re.compile(r"(?<!\\)(?:\\\\)*\|")


@given(NASTY)
def test_no_pipe_ends_a_table_cell(text: str) -> None:
    for shown in (escape(text), code(text), spoken(text)):
        assert not CELL_BREAK.search(shown), shown
        assert "\n" not in shown and "\r" not in shown


@given(NASTY)
def test_no_mention_tag_or_link(text: str) -> None:
    for shown in (escape(text), html(text)):
        assert "<" not in shown
        assert not re.search(r"(?<!&)[@#](?!&#8203;)", shown)
        assert not re.search(r"(?i)\bhttps?:/", shown)
    assert not re.search(r"(?<!\\)(\\\\)*[\[\]`*_~]", escape(text))


@given(NASTY)
def test_code_spans_cannot_be_left(text: str) -> None:
    shown = code(text, table=False)
    fence = re.match(r"`+", shown)
    assert fence is not None
    inside = shown[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall(r"`+", inside)
    assert not inside.startswith("`") and not inside.endswith("`")


def test_every_row_has_four_cells() -> None:
    rows = [line for line in write("markdown", sample()).split("\n") if line.startswith("| ")]
    assert len(rows) > 4
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 5, row


def test_a_comment_is_never_too_long() -> None:
    many = [each._replace(message=f"{each.message} {number}") for number in range(900) for each in findings()]
    text = write("markdown", sample(findings=many))
    assert len(text) <= BUDGET
    assert text.count("<details>") == text.count("</details>") > 1
    assert re.search(r"\n\d+ more: `policylint lint` lists them\.\n", text)
    assert "<sub>Not seen:" in text


def test_one_huge_finding_is_left_out_but_counted() -> None:
    huge = findings()[0]._replace(message="x" * BUDGET)
    text = write("markdown", sample(findings=[huge, findings()[1]]))
    assert len(text) <= BUDGET
    assert "### policylint: 2 errors" in text


def test_a_job_summary_is_whole_where_it_fits_and_has_limits_where_not() -> None:
    def of(number: int) -> str:
        many = [
            finding._replace(message=f"{finding.message} {index}") for index in range(number) for finding in findings()
        ]
        return write("summary", sample(findings=many))

    whole = of(300)
    assert len(whole) > BUDGET
    assert not re.search(r"\d+ more\b", whole)
    for index in range(300):
        assert f"GWP201: {html(findings()[0].message)} {index}</summary>" in whole
    limited = of(1000)
    assert len(limited) <= SUMMARY_BUDGET
    assert re.search(r"\n\d+ more: `policylint lint` lists them\.\n", limited)
