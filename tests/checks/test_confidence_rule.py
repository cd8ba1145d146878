"""One rule of confidence, held over all rules: nothing is surer or worse than what it rests on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import policylint
from policylint.checks import ON_REQUEST, RULES, run
from policylint.model import Confidence, Finding, Severity
from policylint.report.rule_page import all_pages
from policylint.simulation import Simulation, simulate
from policylint.workspace import open_workspace
from tests.rules.examples import examples
from tests.rules.test_pages import written

PACKAGE = Path(policylint.__file__).parent
OF_STATES = sorted(rule for rule, entry in RULES.items() if entry.runs in ("always", "on request"))


def simulations(directory: Path) -> Iterator[Simulation]:
    """Yield the environments of the bad example of every page."""
    for page in all_pages():
        bad = next(example for example in examples(page) if example.label == "bad")
        place = directory / page.id
        place.mkdir()
        written(bad, place)
        yield from open_workspace([str(place)], strict=True).simulations


def is_allowed(finding: Finding) -> bool:
    return finding.confidence != "assumed" or (finding.severity != "error" and bool(finding.ground))


def test_what_is_assumed_is_a_warning_at_most_and_says_on_what_it_rests(tmp_path: Path) -> None:
    found = [finding for simulation in simulations(tmp_path) for finding in run(simulation, select=RULES)]
    of_named_files = {"GWP706", "GWP913"}  # a directory leaves sets of clusters, and targets, to other repositories
    assert {finding.rule for finding in found} >= set(OF_STATES) - ON_REQUEST - of_named_files
    assert [finding for finding in found if not is_allowed(finding)] == []


def test_nothing_is_known_of_what_was_not_built_whole(tmp_path: Path) -> None:
    """The same worlds, each object of which may be deployed with other values."""
    for simulation in simulations(tmp_path):
        world = simulation.world
        opened = {key: resource.replaced(provisional="a patch is missing") for key, resource in world.resources.items()}
        for finding in run(simulate(world.with_resources(opened), simulation.catalog), select=RULES):
            touched = [key for key in finding.resources if key in opened]
            assert not touched or finding.confidence == "unknown", finding


def test_every_rule_that_assumes_something_says_what() -> None:
    """A call of Finding that may be "assumed" names its ground."""
    silent = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "Finding(" in source or "finding._replace(" in source else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Finding", "finding._replace"):
                words = {word.arg: ast.unparse(word.value) for word in node.keywords}
                if "assumed" in words.get("confidence", "") and "ground" not in words:
                    silent.append(f"{path.name}:{node.lineno}")
    assert silent == []


@pytest.mark.parametrize(
    ("confidence", "severity"), [("certain", "error"), ("assumed", "warning"), ("unknown", "note")]
)
def test_every_output_shows_what_a_finding_rests_on(tmp_path: Path, confidence: Confidence, severity: Severity) -> None:
    """The ground stands among the notes, which all writers show."""
    (simulation, *_) = simulations(tmp_path)
    (finding, *_) = run(simulation)
    finding = finding._replace(confidence=confidence, severity=severity, ground="the mesh was not seen")
    said = f"note: this is {confidence}: the mesh was not seen"
    assert (said in finding.notes) == (confidence != "certain")
    for path in sorted((PACKAGE / "report").rglob("*.py")):
        assert "finding.help" not in path.read_text(encoding="utf-8"), f"{path.name} leaves it out"
