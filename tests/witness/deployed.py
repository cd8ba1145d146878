"""What deployers make of trees, object by object: the program with their libraries, and how answers are compared."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from unittest.mock import patch

from policylint.model.kinds import CLUSTER_SCOPED
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import links, texts

BUILD = "Build of the tree | ends"
BUILT, FAILED = "built", "fails"


class Witness(Protocol):
    """A module that asks the program about trees, and policylint."""

    def asked(self, files: Sequence[Manifest]) -> dict[str, Any]: ...

    def compared(
        self, files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None
    ) -> tuple[Facts, Facts]: ...

    def head(self) -> dict[str, Any]: ...


@contextmanager
def written(files: Sequence[Manifest]) -> Iterator[str]:
    """Yield a directory with the files of a tree in it."""
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        for path, text in texts(files).items():
            file = Path(place) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for path, target in links(files).items():
            file = Path(place) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.symlink_to(target)
        yield place


@contextmanager
def by_deployer_alone() -> Iterator[None]:
    """Have policylint say what a deployer deploys and nothing beside it: the program knows nothing of a Makefile that
    applies the rest of a tree (docs/design/decisions/0018)."""
    with patch("policylint.render.environments.left_over", lambda _, clusters, *__: dict(clusters)):
        yield


def real_facts(answer: Mapping[str, Any]) -> Facts:
    """Return what the program said: how the build ends, and a digest of every object."""
    if "error" in answer:
        return {BUILD: FAILED}
    return {BUILD: BUILT, **{fact: digest_of(each) for fact, each in by_fact(answer.get("objects") or ()).items()}}


def by_fact(objects: Iterable[Any]) -> dict[str, Any]:
    """Return objects by what they are, without the namespace that kustomize writes into what it does not know to be
    cluster-scoped: the API server ignores it."""
    made = {}
    for each in objects:
        group = each.get("apiVersion", "").rpartition("/")[0]
        if (group, each.get("kind")) in CLUSTER_SCOPED:
            each = {
                **each,
                "metadata": {name: each["metadata"][name] for name in each["metadata"] if name != "namespace"},
            }
        made[f"{named(each)} | content"] = each
    return made


def named(body: Any) -> str:
    metadata = body.get("metadata") or {}
    return f"{body.get('kind')} {body.get('apiVersion')} {metadata.get('namespace', '')}/{metadata.get('name', '')}"


def digest_of(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:10]


def judged(
    real: Facts,
    claimed: Mapping[str, Any],
    unknown: Collection[str],
    answer: Mapping[str, Any] | None,
    *,
    is_open: bool,
) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says.

    Args:
        claimed: its objects by fact.
        unknown: those of them that may be others.
        answer: what the program said, for whoever wants to know what in an object differs.
        is_open: whether there may be more of them.
    """
    bodies = by_fact((answer or {}).get("objects") or ())
    ours: Facts = {BUILD: BUILT}
    for fact, body in claimed.items():
        if fact in unknown:
            continue
        ours[fact] = digest_of(body)
        if fact in bodies and ours[fact] != real[fact]:
            ours[fact] = "other " + " ".join(sorted(_differing(bodies[fact], body))[:3])
    known = {fact: value for fact, value in real.items() if fact not in unknown and (fact in ours or not is_open)}
    return _plain(known, ours, "as built"), _plain(ours, known, "other")


def _plain(facts: Facts, others: Facts, differs: str) -> Facts:
    """Return digests as words, so that differences of one sort look the same."""
    return {fact: _word(value, others.get(fact), differs) for fact, value in facts.items()}


def _word(value: str, other: str | None, differs: str) -> str:
    if value in (BUILT, FAILED) or value.startswith("other"):
        return value
    return "an object" if other in (value, None) else differs


def _differing(real: Any, ours: Any, path: str = "") -> set[str]:
    if isinstance(real, dict) and isinstance(ours, dict):
        return {
            each
            for key in real.keys() | ours.keys()
            for each in _differing(real.get(key), ours.get(key), f"{path}.{key}")
        }
    if isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        return {each for one, two in zip(real, ours, strict=True) for each in _differing(one, two, f"{path}[]")}
    return set() if json.dumps(real, sort_keys=True) == json.dumps(ours, sort_keys=True) else {path}


def versions(modules: str, program: str = "deployers") -> dict[str, str]:
    """Return the versions of some modules of a program, by an expression for their names."""
    module = Path(__file__).parent / program / "go.mod"
    return dict(re.findall(rf"^(?:\t|require )({modules}) (v\S+)", module.read_text(encoding="utf-8"), re.MULTILINE))
