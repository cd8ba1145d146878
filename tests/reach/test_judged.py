"""Answers about real repositories that somebody judged by reading the manifests (answers.toml, doors.toml)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from policylint.doors import is_door
from policylint.model import ResourceKey
from policylint.reach import end_in_words
from policylint.report.reach import Question, find
from policylint.trace import Asked
from policylint.workspace import open_workspace

SHARED = Path(__file__).parents[3] / "shared"
JUDGED = [
    (tree, judged["answers"])
    for name in ("answers.toml", "doors.toml")
    for tree, judged in tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")).items()
]


@pytest.mark.slow
@pytest.mark.parametrize(("tree", "said"), JUDGED)
def test_answers_are_as_judged(tree: str, said: list[list[Any]]) -> None:
    if not (SHARED / tree).is_dir():
        pytest.skip("no ../shared")
    found = find(open_workspace([str(SHARED / tree)]).simulations, Question())
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
    judged = [tuple(answer[:-1]) for answer in said]
    assert judged == [answer for answer in judged if answer in answers]


def _named(gateway: ResourceKey) -> str:
    """Return the name of a Gateway; that of a door with what it is."""
    return f"{gateway.kind} {gateway.path}" if is_door(gateway) else gateway.path


def _said(login: Asked) -> str:
    """Return an answer and whether it is certain; how many sources were not seen is not judged."""
    return f"{login._replace(ground='', why='')}{', as far as seen' if login.ground else ''}"
