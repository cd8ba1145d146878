"""Every question that several readers answer has one answer, in every world that there is (docs/design/reach.md)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import pytest

from policylint.reach import EntryPoint, Stated, WayIn, ways
from policylint.simulation import Simulation
from policylint.trace import Tracer
from policylint.workspace import open_workspace
from tests import worlds
from tests.contract.environment import Answers, Change, Environment, contradictions
from tests.contract.own import CHANGES, WORLDS
from tests.contract.questions import OF_CHANGES, QUESTIONS
from tests.implementations.test_predicted import WORLDS as PREDICTED
from tests.implementations.test_predicted import simulated
from tests.nightly import NIGHTLY, sampled

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
Told = tuple[str, str]
"""A question, and what its readers say."""
_Ask = TypeVar("_Ask")
_SAMPLE, _SEED = 25, 20261123
_MOST_REGIONS = 2_000
at_night = pytest.mark.skipif(not NIGHTLY, reason="POLICYLINT_NIGHTLY is not 1")


@pytest.fixture(autouse=True, scope="module")
def regions_are_found_once() -> Iterator[None]:
    """Of one environment a dozen readers ask for the regions of each entry, which are the same however often they are
    computed: what is compared is what each reader makes of them."""
    compute = ways._ways
    known: dict[object, tuple[Simulation, list[WayIn], int]] = {}

    def once(tracer: Tracer, entry: EntryPoint, also: Stated, **how: bool) -> Iterator[WayIn]:
        asked = tuple((name, frozenset(predicates)) for name, predicates in also.predicates.items())
        place = (id(tracer.simulation), entry, asked, *also[1:], *sorted(how.items()))
        if place not in known:
            if len(known) >= _MOST_REGIONS:
                known.clear()
            before = tracer.contended
            found = list(compute(tracer, entry, also, **how))
            known[place] = tracer.simulation, found, tracer.contended - before  # the first keeps its id its own
        else:
            tracer.contended += known[place][2]
        return iter(known[place][1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ways, "_ways", once)
        yield


def disagreements(simulation: Simulation) -> list[Told]:
    """Return what readers of one environment answer differently."""
    world = Environment(simulation)
    return list(_differing(QUESTIONS, lambda ask: ask(world)))


def disagreements_of(before: Simulation, after: Simulation) -> list[Told]:
    """Return what readers of one change answer differently."""
    change = Change(before, after)
    return list(_differing(OF_CHANGES, lambda ask: ask(change)))


def _differing(questions: Mapping[str, Mapping[str, _Ask]], answer: Callable[[_Ask], Answers]) -> Iterator[Told]:
    for name, readers in questions.items():
        answers = {reader: answer(ask) for reader, ask in readers.items()}
        for subject, both in contradictions(answers):
            yield name, f"{subject}: {both}"


@pytest.mark.parametrize("name", WORLDS)
def test_in_worlds_of_our_own(name: str, tmp_path: Path) -> None:
    assert disagreements(worlds.opened(tmp_path, *WORLDS[name])) == []


@pytest.mark.parametrize("name", CHANGES)
def test_of_changes_of_our_own(name: str, tmp_path: Path) -> None:
    sides = []
    for side, manifests in zip(("before", "after"), CHANGES[name], strict=True):
        (tmp_path / side).mkdir()
        sides.append(worlds.opened(tmp_path / side, *manifests))
    assert disagreements_of(*sides) == []


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda place: place.name)
def test_in_fixtures(fixture: Path, apart: Path) -> None:
    for simulation in open_workspace([str(apart / "fixtures" / fixture.name)]).simulations:
        assert disagreements(simulation) == []


@pytest.mark.parametrize("world", sampled(list(PREDICTED), "contract", 2))
def test_in_predicted_worlds(world: str) -> None:
    assert disagreements(simulated(world)) == []


def of_file(file: Path) -> list[Told]:
    return [told for each in open_workspace([str(file)]).simulations for told in disagreements(each)]


def of_pair(place: Path) -> list[Told]:
    before, after = (open_workspace([str(place / side)]).simulations for side in ("before", "after"))
    if len(before) != 1 or len(after) != 1:
        return []
    return disagreements_of(before[0], after[0])


def sample(places: list[Path]) -> list[Path]:
    return random.Random(_SEED).sample(places, min(_SAMPLE, len(places)))


def test_in_a_sample_of_shared_worlds() -> None:
    found = {str(file.relative_to(SHARED)): of_file(file) for file in sample(SINGLE)}
    found |= {str(place.relative_to(SHARED)): of_pair(place) for place in sample(PAIRS)}
    assert {name: words for name, words in found.items() if words} == {}


@at_night
@pytest.mark.parametrize(
    "file", SINGLE if NIGHTLY else SINGLE[:1], ids=lambda file: str(file.relative_to(SHARED).parent)
)
def test_in_shared_worlds(file: Path) -> None:
    assert of_file(file) == []


@at_night
@pytest.mark.parametrize("place", PAIRS if NIGHTLY else PAIRS[:1], ids=lambda place: str(place.relative_to(SHARED)))
def test_of_shared_changes(place: Path) -> None:
    assert of_pair(place) == []


@at_night
@pytest.mark.parametrize("tree", TREES if NIGHTLY else TREES[:1], ids=lambda tree: tree.name)
def test_in_real_trees(tree: Path) -> None:
    for simulation in open_workspace([str(tree)]).simulations:
        assert disagreements(simulation) == []
