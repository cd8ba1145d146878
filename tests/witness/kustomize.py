"""kustomize's own build of generated trees, object by object, and what policylint renders of them."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from policylint.load.objects import cluster_scoped_kinds
from policylint.load.reading import load
from policylint.model.kinds import CLUSTER_SCOPED
from policylint.render.kustomize.build import Kustomizer
from policylint.render.tree import Tree
from policylint.sources import open_source
from policylint.workspace import known_groups
from tests.witness.facts import Facts
from tests.witness.grammar import Manifest
from tests.witness.kustomize_trees import ADDRESS, texts

SOURCE = Path(__file__).parent / "deployers"
ABOUT = (
    "kustomize's own library: every object that a build of a generated tree makes, whole, or that the build fails."
    " Answers that policylint does not claim to know, with what was not seen, are not counted."
)
_BUILD = "Build of the tree | ends"
BUILT, FAILED = "built", "fails"


class Deployers:
    """The running program; a context manager, so that it ends with what asks it."""

    def __init__(self, program: Path) -> None:
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self._started = subprocess.Popen([program], stdin=pipe, stdout=pipe, stderr=quiet, text=True)

    def __enter__(self) -> Deployers:
        return self

    def __exit__(self, *_: object) -> None:
        self._started.communicate()

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the objects that a deployer makes, or its error."""
        assert self._started.stdin and self._started.stdout
        self._started.stdin.write(json.dumps(question) + "\n")
        self._started.stdin.flush()
        return dict(json.loads(self._started.stdout.readline()))


def asked(files: Sequence[Manifest]) -> dict[str, Any]:
    """Return a tree as the program reads it, without what lies elsewhere."""
    elsewhere = re.compile(rf',?\s*"{re.escape(ADDRESS)}"')
    held = {path: elsewhere.sub("", text) for path, text in texts(files).items()}
    return {"files": held, "directory": files[-1]["metadata"]["name"].rpartition("/")[0]}


def real_facts(answer: Mapping[str, Any]) -> Facts:
    """Return what the program said: how the build ends, and a digest of every object."""
    if "error" in answer:
        return {_BUILD: FAILED}
    return {_BUILD: BUILT, **{fact: _digest(each) for fact, each in by_fact(answer.get("objects") or ()).items()}}


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


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:10]


def compared(files: Sequence[Manifest], real: Facts, answer: Mapping[str, Any] | None = None) -> tuple[Facts, Facts]:
    """Return the facts of which policylint says anything, and what it says.

    Args:
        answer: what the program said, for whoever wants to know what in an object differs.
    """
    bodies = by_fact((answer or {}).get("objects") or ())
    claimed, provisional, is_open, fails = _rendered(files)
    if fails:
        return {_BUILD: real[_BUILD]}, {_BUILD: FAILED}
    if real[_BUILD] == FAILED:
        return (real, real if is_open or provisional else {_BUILD: BUILT})
    ours: Facts = {_BUILD: BUILT}
    for fact, body in claimed.items():
        if fact in provisional:
            continue
        ours[fact] = _digest(body)
        if fact in bodies and ours[fact] != real[fact]:
            ours[fact] = "other " + " ".join(sorted(_differing(bodies[fact], body))[:3])
    known = {fact: value for fact, value in real.items() if fact not in provisional and (fact in ours or not is_open)}
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


def _rendered(files: Sequence[Manifest]) -> tuple[dict[str, Any], set[str], bool, bool]:
    """Return the objects by fact, those that may be others, whether there may be more, and whether the build fails."""
    held = texts(files)
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        for path, text in held.items():
            file = Path(place) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
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
    required = re.findall(r"^\t(sigs.k8s.io/kustomize/api) (v\S+)", (SOURCE / "go.mod").read_text(), re.M)
    return {"title": "kustomize", "about": ABOUT, "versions": dict(required)}
