"""SARIF of every real tree and of every fixture: valid by the schema, and by what GitHub demands besides.

What is uncertain is in it, too, so that there is more to check.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from policylint.checks import RULES
from policylint.cli import main
from tests.nightly import sampled
from tests.report.test_fingerprint import rolling
from tests.report.test_sarif import SCHEMA, check_result, check_rule

ROOT = Path(__file__).parents[2]
TREES = ROOT.parent / "shared" / "trees"
FIXTURES = ROOT / "fixtures"
PLACES = [
    *sorted(each for each in FIXTURES.iterdir() if each.is_dir() and any(each.rglob("*.yaml"))),
    *sampled(sorted(each for each in TREES.iterdir() if each.is_dir()) if TREES.is_dir() else (), "sarif"),
]


@cache
def schema() -> Any:
    import jsonschema

    return jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())) if SCHEMA.exists() else None


@cache
def text_of(file: Path) -> str:
    return file.read_bytes().decode()


@cache
def hashes(file: Path) -> list[str]:
    """GitHub's own hash of every line, by the definition, unit by unit."""
    return rolling(text_of(file))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_code_scanning_takes_it(place: Path, apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if place.parent == FIXTURES:
        place = apart / "fixtures" / place.name
    monkeypatch.chdir(place)
    result = CliRunner().invoke(main, ["lint", ".", "--no-config", "--show-unknown", "-o", "sarif"])
    assert result.exit_code in (0, 1), result.output
    content = json.loads(result.stdout)
    if schema() is not None:
        schema().validate(content)
    (run,) = content["runs"]
    ids = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert [rule for rule in ids if "/" not in rule] == sorted(RULES), "all rules, whatever was found"
    for rule in run["tool"]["driver"]["rules"]:
        check_rule(rule)
    seen: set[tuple[str, str, int]] = set()
    taken: set[tuple[str, str, str]] = set()
    for each in run["results"]:
        check_result(run, each)
        physical = each["locations"][0]["physicalLocation"]
        uri, region = unquote(physical["artifactLocation"]["uri"]), physical["region"]
        file = below(place, uri)
        line = region["startLine"]
        lines = text_of(file).replace("\r\n", "\n").split("\n")
        assert line <= len(lines) and region["endColumn"] <= len(lines[line - 1]) + 1
        given = each["partialFingerprints"]["primaryLocationLineHash"]
        if (each["ruleId"], uri, line) not in seen:
            assert given == hashes(file)[line - 1]
        assert given.partition(":")[0] == hashes(file)[line - 1].partition(":")[0]
        assert (each["ruleId"], uri, given) not in taken, "GitHub would take two results for one"
        seen.add((each["ruleId"], uri, line))
        taken.add((each["ruleId"], uri, given))


def below(place: Path, uri: str) -> Path:
    """The file of a URI, which starts at the git root: the project's for fixtures, the tree itself for trees."""
    for root in (place, *place.parents):
        if (root / ".git").exists() or root == place:
            file = root / uri
            if file.is_file():
                return file
    raise AssertionError(f"{uri} is no file below the git root")
