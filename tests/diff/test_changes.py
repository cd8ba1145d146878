"""Real commits (../shared/changes) give the answers that their README states, in every format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.diff.history import MAKE, SHARED, run

CHANGES = SHARED / "changes"
FORMATS = ("text", "concise", "markdown", "summary", "github", "junit", "codeclimate", "sarif")
pytestmark = pytest.mark.skipif(not CHANGES.is_dir(), reason="no ../shared/changes")


def repository(tmp_path: Path, name: str) -> Path:
    """Before and after as two commits."""
    directory = tmp_path / name
    directory.mkdir()
    MAKE.git(directory, "init", "-q", "-b", "main")
    for side in ("before", "after"):
        for each in directory.iterdir():
            if each.name != ".git":
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        shutil.copytree(CHANGES / name / side, directory, dirs_exist_ok=True)
        MAKE.git(directory, "add", "-A", "-f")
        MAKE.git(directory, "commit", "-q", "-m", side, date="2026-01-01T00:00:00Z")
    return directory


def settings(route: dict[str, Any], change: str) -> list[str]:
    return sorted(each["setting"] for each in route["settings"] if each["change"] == change)


CASES = [
    (
        "route-policy-replaces-gateway-policy",
        "HTTPRoute home-automation/home-assistant",
        "changed",
        ["compressor", "retry", "tcpKeepalive", "timeout"],
        ["healthCheck"],
        [],
    ),
    ("route-timeout-policy-added", "HTTPRoute ai/lattice", "changed", ["compression", "tcpKeepalive"], ["timeout"], []),
    ("app-with-policy-added", "HTTPRoute default/calibre", "added", [], ["requestBuffer"], ["compression"]),
]


@pytest.mark.parametrize(
    ("name", "route", "change", "gone", "come", "not_reached"), CASES, ids=lambda each: str(each)[:20]
)
def test_answer(
    tmp_path: Path, name: str, route: str, change: str, gone: list[str], come: list[str], not_reached: list[str]
) -> None:
    directory = repository(tmp_path, name)
    outputs = [f"--output={form}={tmp_path / form}" for form in FORMATS]
    code, out, _ = run(directory, "diff", "HEAD~1..HEAD", "-o", "json-v1", *outputs)
    shown = {form: (tmp_path / form).read_text(encoding="utf-8") for form in FORMATS}
    found = json.loads(out)
    assert code == 0
    (only,) = found["routes"]
    assert (only["object"], only["change"]) == (route, change)
    assert (settings(only, "removed"), settings(only, "added")) == (gone, come)
    assert [each["setting"] for each in only["does_not_apply"]] == not_reached
    new = [each for each in found["findings"] if each["state"] == "new"]
    # Its health check does not count what it seems to; a new route opens its hostname.
    rules = [*(["GWP526"] if "healthCheck" in come else []), "GWP201", *(["GWP324"] if change == "added" else [])]
    assert [(each["rule"], each["severity"]) for each in new] == [(rule, "note") for rule in rules]
    assert found["summary"]["fixed"] == 0

    for form in ("text", "concise", "markdown", "summary", "github"):
        assert route.partition(" ")[2] in shown[form]
        assert all(each in shown[form] for each in (*gone, *come, *not_reached))
    annotations = [line for line in shown["github"].splitlines() if line.startswith("::")]
    assert [line.partition(" ")[0] for line in annotations] == ["::notice"] * len(rules)
    junit = ElementTree.fromstring(shown["junit"])
    cases = [(case.attrib["name"].partition(" ")[0], case.find("failure")) for case in junit.iter("testcase")]
    assert (cases, junit.attrib["failures"]) == ([(rule, None) for rule in rules], "0")
    issues = [(issue["check_name"][:6], issue["severity"]) for issue in json.loads(shown["codeclimate"])]
    assert issues == [(rule, "info") for rule in rules]
    results = [(result["ruleId"], result["level"]) for result in json.loads(shown["sarif"])["runs"][0]["results"]]
    ids = [rule if rule == "GWP526" else f"{rule}/note" for rule in rules]  # the severity where it is not the usual one
    assert results[: len(rules)] == [(each, "note") for each in ids], "the new ones first, then the state"
    assert run(directory, "diff", "HEAD~1..HEAD", "--exit-code")[0] == 1
    assert run(directory, "diff", "HEAD..HEAD", "--exit-code")[0] == 0
