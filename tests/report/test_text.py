"""What the terminal shows: never wider than the page, carets under the token, untrusted text made harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policylint.model import Finding, Location, Related, Spot
from policylint.report.findings import Options, write
from policylint.report.kit.display import one_line, printable, spread, width
from tests.report.sample import findings, sample

FILE = "a.yaml"


def shown(line: str, column: int, *, label: str = "", page: int = 100, message: str = "a message") -> list[str]:
    finding = Finding("GWP101", "error", message, Location(Spot(FILE, 1, column)), label=label)
    text = write("text", sample(findings=[finding], source_lines=lambda _: [line], options=Options(width=page)))
    return text.split("\n")


def marked(lines: list[str]) -> str:
    """What stands above the carets."""
    source = next(each for each in lines if each.startswith("1 |"))
    carets = next(each for each in lines if "^" in each)
    start, end = carets.index("^"), carets.rindex("^") + 1
    columns = "".join(char + "\0" * (width(char) - 1) for char in source if width(char))
    return columns[start:end].replace("\0", "")


@pytest.mark.parametrize(
    ("line", "column", "token"),
    [
        ("name: checkout", 7, "checkout"),
        ("名前: 価格表", 5, "価格表"),
        ("{a:\tb, c:\td}", 11, "d"),
        ("e\u0301te\u0301: x", 8, "x"),
        ("x" * 300 + ": yes", 303, "yes"),
    ],
)
def test_carets_stand_under_the_token(line: str, column: int, token: str) -> None:
    assert marked(shown(line, column)) == token


@given(
    st.text(st.characters(codec="utf-8"), max_size=250),
    st.integers(1, 260),
    st.text(st.sampled_from("ab 名"), max_size=200),
    st.integers(60, 100),
)
def test_never_wider_than_the_page(line: str, column: int, label: str, page: int) -> None:
    text = shown(line.replace("\n", " "), column, label=label, page=page)
    longest_word = max((width(word) for word in one_line(label).split()), default=0)
    for each in text:
        assert width(each) <= max(page, longest_word + 2 + 4), each


def test_a_long_message_is_wrapped_with_the_name_at_the_edge() -> None:
    lines = shown("a: b", 1, message="word " * 40)
    assert all(len(each) <= 100 for each in lines)
    assert any(each.endswith("target-not-found") and len(each) == 100 for each in lines)


@pytest.mark.parametrize("text", ["\x1b[31mred", "a\rb", "bell\x07", "\u202egnp.exe", "\x9b31m", "\ud800"])
def test_manifests_cannot_disturb_the_terminal(text: str) -> None:
    assert all(char.isprintable() or char == "\ufffd" for char in one_line(text))
    finding = findings()[0]._replace(message=text, label=text, help=(text,))
    shown = write("text", sample(findings=[finding], source_lines=lambda _: [text] * 20))
    assert "\x1b" not in shown and "\u202e" not in shown and "\r" not in shown


@given(st.text())
def test_printable_keeps_columns(text: str) -> None:
    assert len(printable(text)) == len(text)
    assert "\t" not in spread(text)


def test_many_related_places_are_capped() -> None:
    spots = [Related(f"place {number}", Location(Spot(FILE, number))) for number in range(1, 12)]
    text = write("text", sample(findings=[findings()[1]._replace(related=tuple(spots))]))
    assert text.count(":::") == 4
    assert "and 7 more places" in text


def test_notes_are_listed_when_asked_for() -> None:
    assert "note[GWP203]" not in write("text", sample())
    text = write("text", sample(options=Options(min_severity="note")))
    assert "note[GWP203]" in text and "--min-severity" not in text


def test_errors_only() -> None:
    text = write("text", sample(options=Options(min_severity="error")))
    assert "warning[" not in text
    assert "2 errors, 2 warnings · 1 note (--min-severity note shows them)" in text


def test_uncertain_findings_are_counted_and_shown_when_asked_for() -> None:
    unknown = findings()[0]._replace(confidence="unknown")
    hidden = write("text", sample(findings=[unknown]))
    assert "GWP201" not in hidden and "1 uncertain (--show-unknown)" in hidden
    assert "error[GWP201]" in write("text", sample(findings=[unknown], options=Options(show_unknown=True)))


def test_environments_are_named_where_there_are_several() -> None:
    text = write(
        "text", sample(environments=("prod", "staging"), findings=[findings()[0]._replace(environments=("prod",))])
    )
    assert "= note: in prod" in text


def test_the_rule_page_is_pointed_at_once_per_rule() -> None:
    text = write("text", sample(findings=[findings()[1]] * 3))
    assert text.count("policylint rule GWP101") == 1


def test_a_label_is_shown_though_the_file_is_gone() -> None:
    text = write("text", sample(findings=findings()[:1], source_lines=lambda _: []))
    assert "= this policy replaces the Gateway's policy completely\n" in text
    assert "edge-jwt.yaml:9:3 this no longer applies" in text
