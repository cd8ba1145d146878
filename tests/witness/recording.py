"""The answers of real programs as lines of JSON, one world each: which one it is, and what was said of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.witness.facts import Facts

RECORDED = Path(__file__).parent / "recorded"


class Answer(NamedTuple):
    """What a real program said of one world.

    Args:
        seed, number: which world of the grammar it is.
        digest: of its objects; another one means that the grammar has changed and the program is to be asked again.
        facts: grouped by what they are about, to spare space: about -> what -> value.
        refused: the objects that the API server does not take, where the facts do not say it.
    """

    seed: str
    number: int
    digest: str
    facts: Facts
    refused: tuple[str, ...] = ()


def written(path: Path, head: dict[str, Any], answers: Iterable[Answer], *, append: bool = False) -> None:
    """Write a record: a first line about the run, then one per world.

    Args:
        append: to the worlds of other seeds that are recorded already, with the same release.
    """
    path.parent.mkdir(exist_ok=True)
    lines = path.read_text(encoding="utf-8").splitlines() if append else []
    if append and json.loads(lines[0]) != head:
        raise ValueError(f"{path} is of another release: record all worlds again")
    lines = lines or [json.dumps(head, sort_keys=True)]
    for answer in answers:
        told: dict[str, dict[str, str]] = {}
        for fact, value in answer.facts.items():
            about, _, what = fact.rpartition(" | ")
            told.setdefault(about, {})[what] = value
        line: list[Any] = [answer.seed, answer.number, answer.digest, told]
        lines.append(json.dumps([*line, answer.refused] if answer.refused else line, separators=(",", ":")))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def head_of(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8") as lines:
        return dict(json.loads(next(lines)))


def read(path: Path) -> Iterator[Answer]:
    """Yield the answers of a record."""
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            seed, number, digest, told, *refused = json.loads(line)
            facts = {f"{about} | {what}": value for about, whats in told.items() for what, value in whats.items()}
            yield Answer(seed, number, digest, facts, tuple(*refused))
