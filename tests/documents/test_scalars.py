"""Scalars resolve as the API server's reader does: docs/design/performance.md §2e, row by row, with kubectl 1.32."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from typing import Any

import pytest

from policylint.documents import read
from policylint.documents.scalars import through_json

PLAIN: list[tuple[str, Any]] = [
    *((text, True) for text in ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")),
    *((text, False) for text in ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")),
    *((text, text) for text in ("oN", "tRue", "yEs", "nULL", "yess")),
    *((text, None) for text in ("~", "null", "Null", "NULL", "")),
    ("010", 8),
    ("0o10", 8),
    ("0O17", 15),
    ("08", 8),
    ("0_7", 7),
    ("0b11", 3),
    ("-0b11", -3),
    ("0b-11", -3),
    ("0b2", "0b2"),
    ("0x1F", 31),
    ("+0x1F", 31),
    ("0x", "0x"),
    ("1_000", 1000),
    ("1__0", 10),
    ("1_", 1),
    ("_1", "_1"),
    ("+12", 12),
    ("-0", 0),
    ("++1", "++1"),
    ("1e3", 1000),
    ("12e03", 12000),
    ("1.e3", 1000),
    ("1.0", 1),
    ("5.", 5),
    (".5", 0.5),
    ("-.5", -0.5),
    (".5e3", 500),
    ("._5", "._5"),
    (".", "."),
    ("1e-7", 1e-7),
    ("1e21", 1e21),
    ("1e400", "1e400"),
    ("9223372036854775807", 9223372036854775807),
    ("-9223372036854775808", -9223372036854775808),
    ("9223372036854775808", 9.223372036854775808e18),
    ("18446744073709551615", 1.8446744073709552e19),
    ("123456789012345678901234567890", 1.2345678901234568e29),
    ("0777777777777777777777777777777", 7.777777777777778e29),
    ("1:30", "1:30"),
    ("12:30:45", "12:30:45"),
    ("2024-01-01", "2024-01-01"),
    ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
    ("=", "="),
    ("<<", "<<"),
    (".inf1", ".inf1"),
    ("1.2.3", "1.2.3"),
    ("5m", "5m"),
    ("0x1p-2", "0x1p-2"),
    ("١٢", "١٢"),
]
TAGGED: list[tuple[str, Any]] = [
    ("'yes'", "yes"),
    ('"010"', "010"),
    ("! 5", "5"),
    ('! "5"', "5"),
    ("!foo 5", "5"),
    ("!!str yes", "yes"),
    ("!!str", ""),
    ("!!int '5'", 5),
    ("!!float 5", 5),
    ("!!float 1.5", 1.5),
    ("!!bool yes", True),
    ("!!null ''", None),
    ("!!binary aGVsbG8=", "hello"),
]
KEYS: list[tuple[str, str]] = [
    ("1", "1"),
    ("0x10", "16"),
    ("1.5", "1.5"),
    ("0.1", "0.1"),
    ("1e3", "1000"),
    ("1e6", "1e+06"),
    ("1e-5", "1e-05"),
    ("123456789.0", "1.2345679e+08"),
    ("12345678", "12345678"),
    ("y", "true"),
    ("off", "false"),
    (".inf", ".inf"),
    ("2024-01-01", "2024-01-01"),
    ("'y'", "y"),
    ("=", "="),
]


def value_of(text: str) -> Any:
    (document,) = read(f"v: {text}\n".encode(), "f.yaml").documents
    return document.value["v"]


@pytest.mark.parametrize(("text", "value"), [*PLAIN, *TAGGED])
def test_value(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


@pytest.mark.parametrize(("text", "key"), [*KEYS, ("~", "null")])
def test_key_becomes_a_string(text: str, key: str) -> None:
    (document,) = read(f"{text}: v\n".encode(), "f.yaml").documents
    assert document.value == {key: "v"}


@pytest.mark.parametrize("text", [".inf", "-.Inf", "+.INF"])
def test_infinity_and_nan_are_floats(text: str) -> None:
    assert math.isinf(value_of(text))
    assert math.isnan(value_of(".NaN"))


@pytest.mark.parametrize("text", ["!!int abc", "!!bool 5", "!!null x", "!!binary '?'", "!!float yes"])
def test_tag_and_text_that_do_not_go_together_are_a_problem(text: str) -> None:
    reading = read(f"a: 1\nv: {text}\n".encode(), "f.yaml")
    assert not reading.documents
    assert [(problem.code, problem.line) for problem in reading.problems] == [("yaml-syntax", 2)]


def test_endless_digits_stay_text() -> None:
    assert value_of("9" * 100_000) == "9" * 100_000


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_agrees() -> None:
    """Every row above in one object, through kubectl and through `read`."""
    rows = [text for text, _ in (*PLAIN, *TAGGED)]
    manifest = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\nspec:\n  values:\n"
    manifest += "".join(f"  - {text}\n" for text in rows)
    manifest += "  keys:\n" + "".join(f"  - {text}: v\n" for text, _ in KEYS)
    manifest += "  base: &base {a: 1, b: 2}\n  more: &more {a: 3, c: 4}\n"
    manifest += "  before: {<<: *base, a: 9}\n  after: {a: 9, <<: *base}\n  list: {<<: [*base, *more]}\n"
    manifest += "  twice: {a: 1, a: 2}\n  both: {y: 1, on: 2}\n"
    done = subprocess.run(
        ["kubectl", "label", "--local", "-f", "-", "x=y", "-o", "json"],
        input=manifest.encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    (document,) = read(manifest.encode(), "f.yaml").documents
    # What kubectl holds beyond int64 is a float; it prints it without a point.
    spec = json.loads(done.stdout, parse_int=lambda digits: through_json(int(digits)))["spec"]
    for text, ours, theirs in zip(rows, document.value["spec"]["values"], spec["values"], strict=True):
        assert ours == theirs, text
        assert isinstance(ours, bool) == isinstance(theirs, bool), text
    assert document.value["spec"] == spec
