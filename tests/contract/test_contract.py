"""Every question that several readers answer has one answer, in every world that there is (docs/design/reach.md)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from policylint.simulation import Simulation
from policylint.workspace import open_workspace
from tests import worlds
from tests.contract.environment import Change, Environment, contradictions
from tests.contract.known import ELSEWHERE, KNOWN
from tests.contract.own import CHANGES, WORLDS
from tests.contract.questions import OF_CHANGES, QUESTIONS
from tests.implementations.test_predicted import WORLDS as PREDICTED
from tests.implementations.test_predicted import simulated
from tests.nightly import NIGHTLY

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
FIXTURES = sorted(place for place in (ROOT / "fixtures").iterdir() if place.is_dir())
TREES = sorted(place for room in ("trees", "wild", "field") for place in (SHARED / room).glob("*") if place.is_dir())
SINGLE = sorted(file for room in ("cases", "worlds", "people") for file in SHARED.glob(f"{room}/**/manifests.yaml"))
PAIRS = sorted(
    place.parent
    for room in ("weakenings", "worlds", "people")
    for place in SHARED.glob(f"{room}/**/before")
    if (place.parent / "after").is_dir()
)
_SAMPLE, _SEED = 25, 20261123
_MOST_TOLD = 12
at_night = pytest.mark.skipif(not NIGHTLY, reason="POLICYLINT_NIGHTLY is not 1")
Told = tuple[str, str]
"""A question, and what its readers say."""


def disagreements(simulation: Simulation) -> Iterator[Told]:
    """Yield what readers of one environment answer differently."""
    world = Environment(simulation)
    for name, question in QUESTIONS.items():
        answers = {reader: ask(world) for reader, ask in question.items()}
        for subject, both in contradictions(answers):
            yield name, f"{name}: {subject}: {both}"


def disagreements_of(before: Simulation, after: Simulation) -> Iterator[Told]:
    """Yield what readers of one change answer differently."""
    change = Change(before, after)
    for name, question in OF_CHANGES.items():
        answers = {reader: ask(change) for reader, ask in question.items()}
        for subject, both in contradictions(answers):
            yield name, f"{name}: {subject}: {both}"


def told(found: Iterator[Told]) -> list[str]:
    """Return what readers say where no question is known to have several answers."""
    return [words for question, words in found if question not in ELSEWHERE][:_MOST_TOLD]


def judge(world: str, found: Iterator[Told]) -> None:
    """Hold that those questions have several answers in a world of which it is known, and no others."""
    known = KNOWN.get(world, frozenset())
    seen = list(found)
    left_out = known if world in WORLDS or world in CHANGES else ELSEWHERE
    assert [words for question, words in seen if question not in left_out][:_MOST_TOLD] == []
    assert known - {question for question, _ in seen} == set(), "one answer now: take them out of KNOWN"


@pytest.mark.parametrize("name", WORLDS)
def test_in_worlds_of_our_own(name: str, tmp_path: Path) -> None:
    judge(name, disagreements(worlds.opened(tmp_path, *WORLDS[name])))


@pytest.mark.parametrize("name", CHANGES)
def test_of_changes_of_our_own(name: str, tmp_path: Path) -> None:
    sides = []
    for side, manifests in zip(("before", "after"), CHANGES[name], strict=True):
        (tmp_path / side).mkdir()
        sides.append(worlds.opened(tmp_path / side, *manifests))
    judge(name, disagreements_of(*sides))


def test_what_is_known_is_of_a_world_here() -> None:
    assert KNOWN.keys() <= {*WORLDS, *CHANGES, *PREDICTED}
    assert {*QUESTIONS, *OF_CHANGES} >= ELSEWHERE


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda place: place.name)
def test_in_fixtures(fixture: Path) -> None:
    for simulation in open_workspace([str(fixture)]).simulations:
        judge(fixture.name, disagreements(simulation))


@pytest.mark.parametrize("world", PREDICTED)
def test_in_predicted_worlds(world: str) -> None:
    judge(world, disagreements(simulated(world)))


def of_file(file: Path) -> list[str]:
    return [words for each in open_workspace([str(file)]).simulations for words in told(disagreements(each))]


def of_pair(place: Path) -> list[str]:
    before, after = (open_workspace([str(place / side)]).simulations for side in ("before", "after"))
    if len(before) != 1 or len(after) != 1:
        return []
    return told(disagreements_of(before[0], after[0]))


def sample(places: list[Path]) -> list[Path]:
    return random.Random(_SEED).sample(places, min(_SAMPLE, len(places)))


def test_in_a_sample_of_shared_worlds() -> None:
    found = {str(file.relative_to(SHARED)): of_file(file) for file in sample(SINGLE)}
    found |= {str(place.relative_to(SHARED)): of_pair(place) for place in sample(PAIRS)}
    assert {name: words for name, words in found.items() if words} == {}


@at_night
@pytest.mark.parametrize("file", SINGLE, ids=lambda file: str(file.relative_to(SHARED).parent))
def test_in_shared_worlds(file: Path) -> None:
    assert of_file(file) == []


@at_night
@pytest.mark.parametrize("place", PAIRS, ids=lambda place: str(place.relative_to(SHARED)))
def test_of_shared_changes(place: Path) -> None:
    assert of_pair(place) == []


@at_night
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_in_real_trees(tree: Path) -> None:
    for simulation in open_workspace([str(tree)]).simulations:
        assert told(disagreements(simulation)) == []
