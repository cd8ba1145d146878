"""Every writer's whole output, to be read in review."""

from __future__ import annotations

import pytest

from policylint.report.findings import Options, write
from policylint.report.formats import FORMATS
from tests.conftest import Golden
from tests.report.sample import clean, sample

FILES = {
    "text": "txt",
    "concise": "concise.txt",
    "json-v1": "json",
    "sarif": "sarif",
    "markdown": "md",
    "github": "github.txt",
    "junit": "junit.xml",
    "codeclimate": "codeclimate.json",
}


@pytest.mark.parametrize("name", FILES)
def test_findings(name: str, golden: Golden) -> None:
    golden(f"findings.{FILES[name]}", write(name, sample()))


@pytest.mark.parametrize("name", FILES)
def test_clean(name: str, golden: Golden) -> None:
    golden(f"clean.{FILES[name]}", write(name, clean()))


def test_colour_only_adds() -> None:
    import re

    plain = write("text", sample())
    coloured = write("text", sample(options=Options(color=True)))
    assert coloured != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_json_is_the_newest_json() -> None:
    assert write("json", sample()) == write("json-v1", sample())


@pytest.mark.parametrize("name", FORMATS["lint"])
def test_all_end_in_one_newline(name: str) -> None:
    text = write(name, sample())
    assert text.endswith("\n") and not text.endswith("\n\n")
