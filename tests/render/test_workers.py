"""Several processes read what one would, and what they hand over is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policylint.cli import main
from policylint.load import workers
from policylint.load.cache import Remembered
from policylint.load.reading import Loaded, load
from policylint.load.workers import processes
from policylint.sources import open_source
from policylint.workspace import known_groups
from tests.render.trees import FIXTURES, TREES

WORLDS = sorted(each for each in FIXTURES.iterdir() if any(each.rglob("*.yaml")))
REAL = sorted(each for each in TREES.iterdir() if each.is_dir()) if TREES.is_dir() else []
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def loaded(tree: Path, jobs: int, cache: Path | None = None) -> Loaded:
    remembered = Remembered(None if cache is None else str(cache), jobs=jobs)
    found = load(open_source([str(tree)]), known_groups(), remembered=remembered)
    remembered.close()
    return found


def said(found: Loaded) -> object:
    documents = [
        (each.file, each.number, each.line, each.value, *map(list, each.positions()))
        if each.again is None
        else (each.file, each.number, each.line, each.value, each.position(()))
        for each in found.documents
    ]
    return documents, found._replace(documents=[], paths=None), found.paths.known()  # type: ignore[arg-type]


@needs_fork
@pytest.mark.parametrize("tree", [*WORLDS, *REAL], ids=lambda tree: tree.name)
def test_two_processes_find_what_one_finds(tree: Path) -> None:
    assert said(loaded(tree, 2)) == said(loaded(tree, 1))


@needs_fork
def test_what_they_found_is_in_the_cache_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = REAL[0] if REAL else WORLDS[0]
    monkeypatch.setattr("policylint.load.cache.FEWEST", 0)
    first = loaded(tree, 3, tmp_path)
    monkeypatch.setattr("policylint.load.cache.facts_of", lambda *_: pytest.fail("nothing is parsed again"))
    assert said(loaded(tree, 3, tmp_path)) == said(first)


@needs_fork
def test_the_work_of_one_that_fails_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = WORLDS[0]
    expected = said(loaded(tree, 1))
    monkeypatch.setattr(workers, "_work", lambda *_: os._exit(9))
    assert said(loaded(tree, 3)) == expected
    monkeypatch.setattr(workers, "_forked", lambda: None)
    assert said(loaded(tree, 3)) == expected


@pytest.mark.parametrize(
    ("files", "asked", "cores", "count"),
    [(100, None, 8, 1), (1999, None, 8, 1), (2000, None, 8, 2), (50_000, None, 8, 4), (50_000, None, 1, 1),
     (100, 3, 1, 3), (2, 3, 8, 2), (0, 3, 8, 1), (50_000, 1, 8, 1), (50_000, 16, 8, 16)],
)  # fmt: skip
def test_how_many(files: int, asked: int | None, cores: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.os, "fork", lambda: 0, raising=False)
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda _: range(cores), raising=False)
    assert processes(files, asked) == count


@needs_fork
def test_lint_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for jobs in ("1", "2", "5"):
        with pytest.raises(SystemExit) as ended:
            main(["lint", "-o", "json", "--no-cache", "--jobs", jobs, *map(str, WORLDS)])
        outputs.append((ended.value.code, capsys.readouterr().out))
    assert len(outputs[0][1]) > 1000
    assert outputs[0] == outputs[1] == outputs[2]
