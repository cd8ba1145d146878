"""What is said of 52 real repositories, each finding judged by hand: judgements.toml.

A finding that is not judged, or a judged one that is gone, fails: look at the repository, then change the file. The
share of true ones may only go up.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import policylint

SHARED = Path(__file__).parents[3] / "shared"
JUDGED: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("judgements.toml").read_text(encoding="utf-8"))[
    "finding"
]
TREES = sorted(
    path for kind in ("wild", "trees", "field") if (SHARED / kind).is_dir() for path in (SHARED / kind).glob("*/")
)
TRUE_AT_LEAST = 0.97

pytestmark = pytest.mark.skipif(not TREES, reason="../shared is not there")


def said_of(tree: Path) -> Counter[tuple[str, str, int]]:
    """Return rule, file and line of each finding at warning or above."""
    findings = policylint.lint(tree, no_config=True).findings
    loud = [finding for finding in findings if finding.severity != "note"]
    places = [(finding.rule, finding.location.file, finding.location.at()[0]) for finding in loud]
    return Counter((rule, str(Path(file).resolve().relative_to(tree.resolve())), line) for rule, file, line in places)


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_every_finding_is_judged_and_every_true_one_is_there(tree: Path) -> None:
    judged = Counter((each["rule"], each["file"], each["line"]) for each in JUDGED if each["tree"] == tree.name)
    assert said_of(tree) == judged


def test_most_of_what_is_said_is_true() -> None:
    verdicts = Counter(each["verdict"] for each in JUDGED)
    assert set(verdicts) <= {"true", "arguable", "false"}
    assert verdicts["true"] / verdicts.total() >= TRUE_AT_LEAST
