"""The Applications that Argo CD's own library makes of generated ApplicationSets, and those that policylint makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.load.reading import load
from policylint.render.argo.application_sets import applications
from policylint.render.journal import Journal
from policylint.render.provenance import manifests_of
from policylint.render.tree import Tree
from policylint.sources import open_source
from policylint.workspace import known_groups
from tests.witness.deployed import BUILD, BUILT, FAILED, by_fact, digest_of, judged, versions, written
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import texts

ABOUT = (
    "Argo CD's own library: every Application that an ApplicationSet makes of a generated tree, whole, or that it makes"
    " none; git itself lists the files. Finalizers are left out. Answers that policylint does not claim to know (a text"
    " that stays a template) are not counted."
)
_NOT_COMPARED = ("creationTimestamp", "finalizers")


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return a tree as the program reads it."""
    return {"files": texts(files), "owner": files[0]["documents"][0]}


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says; `answer` as in `judged`."""
    made, journal = _made(files)
    claimed = by_fact(plain(each) for each in made)
    unknown = {fact for fact, body in claimed.items() if "{{" in str(body) and digest_of(body) != real.get(fact)}
    is_open = bool(unknown) or any(note.code != "not-generated" for note in journal.notes)
    if real[BUILD] == FAILED:
        if claimed and is_open:
            return {}, {}
        return real, {BUILD: BUILT if claimed else FAILED}
    return judged(real, claimed, unknown, answer, is_open=is_open)


def plain(application: Manifest) -> Manifest:
    """Return an Application without its status and finalizers, and without what is empty."""
    body = {key: value for key, value in application.items() if key != "status"}
    body["metadata"] = {key: value for key, value in body.get("metadata", {}).items() if key not in _NOT_COMPARED}
    return dict(_filled(body))


def _filled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    made = {key: _filled(inner) for key, inner in value.items()}
    return {key: inner for key, inner in made.items() if inner not in ("", None, {}, [], False)}


def _made(files: Sequence[Manifest]) -> tuple[list[Manifest], Journal]:
    journal = Journal()
    with written(files) as place:
        source = open_source([place])
        tree = Tree(source, load(source, known_groups()))
        (owner,) = manifests_of(tree.documents(files[0]["metadata"]["name"]) or ())
        made = [each.body for each in applications(owner, tree, journal)]
    return made, journal


def head() -> dict[str, Any]:
    """Return the first line of a record."""
    (release,) = versions("github.com/argoproj/argo-cd/v3", "argo").values()
    return {"title": "Argo CD", "about": ABOUT, "versions": {"argo-cd": release}}
