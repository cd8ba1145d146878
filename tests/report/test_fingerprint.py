"""Line hashes are GitHub's, by its definition; `policylint/v1` does not move with lines.

The definition (github/codeql-action `src/fingerprints.ts`): a window rolls over 100 UTF-16 units, hash' = 37·hash +
unit − 37^100·leaving unit (mod 2^64), which is the polynomial Σ unit[i]·37^(99−i) over the window. Vectors that follow
from it by hand: an empty file is the unit 65535 and 99 zeros, so 65535·37^99; one LF before it adds 10·37^99 and shifts
the rest by one.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policylint.report.findings.fingerprint import fingerprint, fingerprints, line_hashes
from tests.report.sample import findings, sample

MODULUS = 1 << 64


def hashes(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [f"{value}:{nth}" for value, nth, _ in line_hashes(lines, range(1, len(lines) + 1)).values()]


def rolling(text: str) -> list[str]:
    """The definition, unit by unit, as an independent second reading."""
    units: list[int] = []
    starts = []
    fresh, after_cr = True, False
    raw = text.encode("utf-16-le", "surrogatepass")
    for unit in [*(raw[at] | raw[at + 1] << 8 for at in range(0, len(raw), 2)), 65535]:
        if unit in (32, 9) or (after_cr and unit == 10):
            after_cr = False
            continue
        after_cr = unit == 13
        if fresh:
            starts.append(len(units))
        units.append(10 if after_cr else unit)
        fresh = units[-1] == 10
    units += [0] * 100
    seen: dict[int, int] = {}
    result = []
    window = [0] * 100
    value = 0
    for at, unit in enumerate(units):
        value = (37 * value + unit - pow(37, 100) * window[0]) % MODULUS
        window = [*window[1:], unit]
        if at - 99 in starts:
            seen[value] = seen.get(value, 0) + 1
            result.append(f"{value:x}:{seen[value]}")
    return result


def test_empty_file() -> None:
    assert hashes("") == [f"{65535 * 37**99 % MODULUS:x}:1"]


def test_one_line_end() -> None:
    end = f"{65535 * 37**99 % MODULUS:x}:1"
    assert hashes("\n") == [f"{(10 * 37**99 + 65535 * 37**98) % MODULUS:x}:1", end]


def test_spaces_tabs_and_kinds_of_line_ends_do_not_matter() -> None:
    assert hashes("a: b\n\tc\n") == hashes("  a:b\r\nc \r\n") == hashes("a:b\rc\r")


def test_lines_with_the_same_hundred_characters_are_numbered() -> None:
    found = hashes("- name: a line that is repeated\n" * 9)
    first = found[0].partition(":")[0]
    assert found[:6] == [f"{first}:{number}" for number in range(1, 7)]


@given(st.text(st.sampled_from("ab:- \t\n\r名😀"), max_size=300))
def test_same_as_the_rolling_form(text: str) -> None:
    assert hashes(text) == rolling(text)


def test_only_lines_that_are_there() -> None:
    assert line_hashes(["a"], [0, 2]) == {}
    assert line_hashes([], [1]) == {}


def test_fingerprint_does_not_move_with_lines() -> None:
    finding = findings()[0]
    moved = finding._replace(location=finding.location._replace(pointer=("spec",)), message="other words")
    assert fingerprint(sample(), finding) == fingerprint(sample(), moved)


def test_fingerprint_tells_fields_objects_and_rules_apart() -> None:
    finding = findings()[0]
    others = [
        finding._replace(field="cors"),
        finding._replace(rule="GWP203"),
        finding._replace(resources=finding.resources[:1]),
    ]
    assert len({fingerprint(sample(), each) for each in [finding, *others]}) == 4


def test_without_an_object_the_file_counts() -> None:
    broken = findings()[2]
    assert fingerprint(sample(), broken) != fingerprint(sample(), broken._replace(location=findings()[1].location))


def test_equal_fingerprints_are_numbered() -> None:
    finding = findings()[1]
    first, second = fingerprints(sample(), [finding, finding])
    assert second == f"{first}:2"
