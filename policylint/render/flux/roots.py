"""Where Flux clusters begin: FluxInstances, `flux bootstrap`, or Kustomizations that no other one deploys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.load.objects import objects_of
from policylint.model import mapping, text
from policylint.namedtuple import NamedTuple
from policylint.render.flux.deployment import GROUP, Sync, is_kustomization
from policylint.render.provenance import Manifest, Trace
from policylint.render.tree import Tree, metadata

_GENERIC = frozenset(
    {"cluster", "clusters", "flux", "flux-system", "kubernetes", "k8s", "config", "base", "apps", "app", "manifests"}
    | {"deploy", "gitops", "infra", "sync", "bootstrap", "instance", "components"}
)
_NOT_LIVE = frozenset(
    {"archive", "archived", "_archive", "deprecated", "disabled", "examples", "example", "samples", "sample", "docs"}
    | {"doc", "test", "tests", "testdata", "fixtures", "template", "templates", "hack", "scripts"}
)
ENVIRONMENT_MARKERS = ("clusters", "cluster", "overlays", "overlay", "environments", "envs", "stages")
"""Directories whose subdirectories are named as environments."""
_MARKS = frozenset({"clusters", "cluster", "flux", "flux-system"})


class ClusterRoot(NamedTuple):
    """One cluster: its name, the directories Flux syncs first, where its artifact begins in the tree, and what
    FluxInstances say of the first directories."""

    name: str
    directories: tuple[str, ...]
    prefix: str
    syncs: Mapping[str, Sync]


class _Found(NamedTuple):
    """A Flux Kustomization as it stands in a file."""

    file: str
    path: str
    prefix: str


def is_live(path: str) -> bool:
    """Whether a file may be deployed at all, to judge by the names of its directories."""
    above = ""
    for step in path.split("/")[:-1]:
        if step.startswith(".") or (step in _NOT_LIVE and above not in ENVIRONMENT_MARKERS):
            return False
        above = step
    return True


def cluster_roots(tree: Tree) -> list[ClusterRoot]:
    """The clusters of a tree, sorted by name; none if nothing in it is Flux's."""
    syncs = dict(_synced(tree))
    stated = set(syncs) or _uncovered(list(_kustomizations(tree)))
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for directory, prefix in stated:
        groups[cluster_name(tree.below_base(directory)), prefix].add(directory)
    names: dict[str, int] = defaultdict(int)
    roots = []
    for (name, prefix), directories in sorted(groups.items()):
        names[name] += 1
        outer = {each for each in directories if not any(is_below(each, other) for other in directories - {each})}
        unique = name if names[name] == 1 else f"{name}-{names[name]}"
        said = {each: syncs[each, prefix] for each in outer if (each, prefix) in syncs}
        roots.append(ClusterRoot(unique, tuple(sorted(outer)), prefix, said))
    return roots


def cluster_name(directory: str) -> str:
    """What people call the cluster whose root is at a path: the last step that says something."""
    steps = [each for each in directory.split("/") if each]
    for marker in ENVIRONMENT_MARKERS:
        if marker in steps[:-1] and steps[steps.index(marker) + 1] not in _GENERIC:
            return steps[steps.index(marker) + 1]
    return next((each for each in reversed(steps) if each not in _GENERIC), "cluster")


def is_below(path: str, directory: str) -> bool:
    """Whether a file or directory lies in a directory."""
    return path != directory and (not directory or path.startswith(f"{directory}/"))


def _synced(tree: Tree) -> Iterator[tuple[tuple[str, str], Sync]]:
    """Directories that FluxInstances sync, as objects or as values of their chart, with what they say of them."""
    for path, document in tree.all_documents():
        if not is_live(tree.below_base(path)):
            continue
        for body, root in objects_of(document.value):
            for instance, place in _instances(body, Trace(document, root)):
                sync = mapping(instance.get("sync"))
                found = tree.placed(path, text(sync.get("path"))) if text(sync.get("path")) else None
                if found is not None:
                    patches = mapping(instance.get("kustomize"))
                    yield found, Sync(_sync_kustomization(sync, place.child("sync")), patches, place.child("kustomize"))


def _instances(body: Any, trace: Trace) -> Iterator[tuple[Any, Trace]]:
    """The spec of a FluxInstance that an object is, or holds as values for the chart that makes one."""
    spec = mapping(body.get("spec"))
    if body.get("kind") == "FluxInstance":
        yield spec, trace.child("spec")
    elif "instance" in body:
        yield mapping(body["instance"]), trace.child("instance")
    elif body.get("kind") == "HelmRelease" and "instance" in mapping(spec.get("values")):
        yield mapping(spec["values"]["instance"]), trace.at(("spec", "values", "instance"))


def _sync_kustomization(sync: Any, place: Trace) -> Manifest:
    """The Kustomization that the Flux Operator makes of `sync`, each value where the instance says it."""
    name = text(sync.get("name")) or "flux-system"
    spec = {
        "path": sync["path"],
        "prune": True,
        "sourceRef": {"kind": text(sync.get("kind"), "GitRepository"), "name": name},
    }
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": "flux-system"},
        "spec": spec,
    }
    here = Trace(place.document, place.pointer, {"path": place.child("path")})
    return Manifest(body, Trace(place.document, place.pointer, {"spec": here}))


def _kustomizations(tree: Tree) -> Iterator[_Found]:
    for path, document in tree.all_documents():
        if not is_live(tree.below_base(path)):
            continue
        for body, _ in objects_of(document.value):
            spec = mapping(body.get("spec"))
            if is_kustomization(body) and spec.get("sourceRef") and metadata(body).get("name"):
                found = tree.placed(path, text(spec.get("path")))
                if found is not None:
                    yield _Found(path, *found)


def _uncovered(found: list[_Found]) -> set[tuple[str, str]]:
    """The directories of Kustomizations that no other one's path takes in."""
    roots: set[tuple[str, str]] = set()
    marked: set[tuple[str, str]] = set()
    covers = sorted({each.path for each in found})
    for each in found:
        own = is_below(each.file, each.path)
        others = (path for path in covers if path != each.path)
        if any(is_below(each.file, path) and not (own and is_below(path, each.path)) for path in others):
            continue
        directory = each.path if own else each.file.rpartition("/")[0]
        roots.add((directory, each.prefix))
        if _MARKS & set(each.file.split("/")[:-1]):
            marked.add((directory, each.prefix))
    return marked or roots
