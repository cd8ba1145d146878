"""What is said of 52 real repositories, each finding judged by hand: judgements.toml. The environments of 38 of them,
each checked by hand against what its own files say: worlds.toml. Answers of `reach` about some, judged by reading the
manifests: tests/reach/answers.toml and doors.toml.

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
from policylint.checks import backend_not_found, gateway_class_not_found, missing_reference_grant
from policylint.doors import is_door
from policylint.model import ResourceKey
from policylint.reach import end_in_words
from policylint.report.reach import Question, find
from policylint.session.session import Session
from policylint.trace import Asked

SHARED = Path(__file__).parents[3] / "shared"
REACH = Path(__file__).parents[1] / "reach"
JUDGED: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("judgements.toml").read_text(encoding="utf-8"))[
    "finding"
]
WORLDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("worlds.toml").read_text(encoding="utf-8"))
ANSWERS = [
    (tree, answer)
    for name in ("answers.toml", "doors.toml")
    for tree, judged in tomllib.loads((REACH / name).read_text(encoding="utf-8")).items()
    for answer in judged["answers"]
]
"""What `reach` says of a tree, and why that is so."""
TREES = sorted(
    path for kind in ("wild", "trees", "field") if (SHARED / kind).is_dir() for path in (SHARED / kind).glob("*/")
)
TRUE_AT_LEAST = 0.97

pytestmark = pytest.mark.skipif(not TREES, reason="../shared is not there")


def said_of(tree: Path, opened: Session) -> Counter[tuple[str, str, int]]:
    """Return rule, file and line of each finding at warning or above."""
    loud = [finding for finding in opened.lint().findings if finding.severity != "note"]
    places = [(finding.rule, finding.location.file, finding.location.at()[0]) for finding in loud]
    return Counter((rule, str(Path(file).resolve().relative_to(tree.resolve())), line) for rule, file, line in places)


@pytest.fixture(scope="module", params=TREES, ids=lambda tree: tree.name)
def tree(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture(scope="module")
def opened(tree: Path) -> Session:
    """A tree, opened once for all that is asked of it."""
    return policylint.open(tree, no_config=True)


@pytest.mark.slow
def test_the_environments_are_those_that_the_repository_has(tree: Path, opened: Session) -> None:
    """An environment is given with its routes and Gateways, which is what an environment lost or merged with another
    would change. Of the long lists of independent overlays, catalogs and collections of examples, only the number is
    held."""
    if tree.name not in WORLDS:
        return
    known = {
        simulation.world.name: [len(simulation.topology.routes), len(simulation.topology.gateways)]
        for simulation in opened.simulations
    }
    expected = WORLDS[tree.name]
    if "number" in expected:
        assert len(known) == expected["number"]
        known = {name: counted for name, counted in known.items() if name in expected["worlds"] or any(counted)}
    assert known == expected["worlds"]


@pytest.mark.slow
def test_what_a_tree_certainly_lacks_is_a_certain_finding(opened: Session) -> None:
    """Every class, grant and backend for want of which `trace` refuses requests is reported, and not as unknown."""
    for simulation in opened.simulations:
        reported = {
            key
            for rule in (backend_not_found, gateway_class_not_found, missing_reference_grant)
            for finding in rule.check(simulation)
            if finding.confidence != "unknown"
            for key in finding.resources
        }
        topology = simulation.topology
        lacking = {state.class_key for state in topology.gateways if state.class_resolution.missing}
        for backend in (backend for state in topology.routes for backend in state.backends):
            if backend.resolution.missing or backend.granted is False:
                lacking.add(backend.wanted)
        assert {key for key in lacking if key.name} <= reported


@pytest.mark.slow
def test_every_finding_is_judged_and_every_true_one_is_there(tree: Path, opened: Session) -> None:
    judged = Counter((each["rule"], each["file"], each["line"]) for each in JUDGED if each["tree"] == tree.name)
    assert said_of(tree, opened) == judged


@pytest.mark.slow
def test_answers_of_reach_are_as_judged(tree: Path, opened: Session) -> None:
    judged = [tuple(answer[:-1]) for of, answer in ANSWERS if of == f"{tree.parent.name}/{tree.name}"]
    if not judged:
        return
    found = find(opened.simulations, Question())
    answers = {
        (
            row.simulation.world.name if found.several else "",
            _named(row.way.entry.gateway),
            row.way.entry.port or 0,
            row.way.entry.hosts,
            row.way.requests,
            end_in_words(row.way.trace),
            _said(row.answers["authentication"]) if row.serves else "",
        )
        for row in found.rows
    }
    assert judged == [answer for answer in judged if answer in answers]


def _named(gateway: ResourceKey) -> str:
    """Return the name of a Gateway; that of a door with what it is."""
    return f"{gateway.kind} {gateway.path}" if is_door(gateway) else gateway.path


def _said(login: Asked) -> str:
    """Return an answer and whether it is certain; how many sources were not seen is not judged."""
    return f"{login._replace(ground='', why='')}{', as far as seen' if login.ground else ''}"


def test_the_trees_that_were_judged_are_there() -> None:
    assert {tree for tree, _ in ANSWERS} <= {f"{tree.parent.name}/{tree.name}" for tree in TREES}


def test_most_of_what_is_said_is_true() -> None:
    verdicts = Counter(each["verdict"] for each in JUDGED)
    assert set(verdicts) <= {"true", "arguable", "false"}
    assert verdicts["true"] / verdicts.total() >= TRUE_AT_LEAST
