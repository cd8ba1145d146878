"""kustomize's own build of generated trees, object by object, and what policylint renders of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from policylint.load.objects import cluster_scoped_kinds
from policylint.load.reading import load
from policylint.render.kustomize.build import Kustomizer
from policylint.render.tree import Tree
from policylint.sources import open_source
from policylint.workspace import known_groups
from tests.witness.deployed import BUILD, BUILT, FAILED, by_fact, judged, versions, written
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import ADDRESS, texts

ABOUT = (
    "kustomize's own library: every object that a build of a generated tree makes, whole, or that the build fails."
    " Answers that policylint does not claim to know, with what was not seen, are not counted."
)


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return a tree as the program reads it, without what lies elsewhere."""
    elsewhere = re.compile(rf',?\s*"{re.escape(ADDRESS)}"')
    held = {path: elsewhere.sub("", text) for path, text in texts(files).items()}
    return {"files": held, "directory": files[-1]["metadata"]["name"].rpartition("/")[0]}


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says; `answer` as in `judged`."""
    claimed, provisional, is_open, fails = _rendered(files)
    if fails:
        return {BUILD: real[BUILD]}, {BUILD: FAILED}
    if real[BUILD] == FAILED:
        return (real, real if is_open or provisional else {BUILD: BUILT})
    return judged(real, claimed, provisional, answer, is_open=is_open)


def _rendered(files: Sequence[Manifest]) -> tuple[dict[str, Any], set[str], bool, bool]:
    """Return the objects by fact, those that may be others, whether there may be more, and whether the build fails."""
    with written(files) as place:
        source = open_source([place])
        loaded = load(source, known_groups())
        scoped = loaded.cluster_scoped | cluster_scoped_kinds(loaded.documents)
        kustomizer = Kustomizer(Tree(source, loaded), scoped).whole
        built = kustomizer.build(files[-1]["metadata"]["name"].rpartition("/")[0])
    claimed = by_fact(each.body for each in built.manifests)
    provisional = set(by_fact(each.body for each in built.manifests if each.provisional))
    journal = built.journal
    # What is told as missing is: the tree is whole.
    return claimed, provisional, bool(journal.gaps or journal.notes), bool(journal.failures)


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    return {"title": "kustomize", "about": ABOUT, "versions": versions("sigs.k8s.io/kustomize/api")}
