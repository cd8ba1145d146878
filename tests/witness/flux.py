"""What Flux applies of generated trees, by its own libraries, and what policylint takes for deployed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from policylint.workspace import open_workspace
from tests.witness.deployed import BUILD, by_deployer_alone, by_fact, digest_of, judged, versions, written
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import texts

ABOUT = (
    "The libraries of Flux's controllers: which files are fetched, what a Kustomization builds of them, which variables"
    " are filled in, and what is applied: every object, whole. Answers that policylint does not claim to know (a text"
    " with a variable that stays one, what was not seen) are not counted."
)


_OPEN = frozenset({"missing-path", "missing-file", "remote-base"})
"""Codes of notes on what was not seen."""


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return a tree as the program reads it."""
    source, owner = files[0]["documents"]
    return {"files": texts(files), "owner": owner, "ignore": source["spec"].get("ignore", "")}


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says; `answer` as in `judged`."""
    with written(files) as place, by_deployer_alone():
        found = open_workspace([place]).simulations
    if len(found) != 1:
        return real, {BUILD: f"{len(found)} environments"}
    world = found[0].world
    claimed = by_fact(resource.body for resource in world.resources.values())
    unknown = set(by_fact(each.body for each in world.resources.values() if each.provisional))
    unknown |= {
        fact for fact, body in claimed.items() if "${" in json.dumps(body) and digest_of(body) != real.get(fact)
    }
    is_open = any(note.code in _OPEN for note in world.notes) or any("${" in fact for fact in claimed)
    return judged(real, claimed, unknown, answer, is_open=is_open)


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    return {"title": "Flux", "about": ABOUT, "versions": versions(r"github.com/fluxcd/pkg/\w+")}
