"""Alternatives among plain manifests: directories that write the same object are variants, not one cluster.

Where neither Flux, Argo CD nor kustomize says what is deployed together (`k8s/{dev,test,prod}`, the labs of a tutorial,
examples side by side), two directories that hold an object of one identity are two answers to one question. Each is an
environment of its own; what lies outside of them belongs to all.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from policylint.model import Resource, ResourceKey, is_symbolic
from policylint.namedtuple import NamedTuple

LIMIT = 50
"""Environments at most: more are one environment, as if nothing were written twice."""


class Alternative(NamedTuple):
    """One environment of plain manifests.

    Args:
        name: its directory, as seen from the one in which all of them lie.
        resources: its objects and those that all environments have, in their order.
        elsewhere: the objects of the other alternatives, by identity.
    """

    name: str
    resources: list[Resource]
    elsewhere: Mapping[ResourceKey, Resource]


def separate(resources: Sequence[Resource], is_subject: Callable[[str, str], bool]) -> list[Alternative]:
    """Return the environments of manifests that nothing arranges, sorted by name; none where they are one.

    Args:
        is_subject: whether an object of a group and kind, written in two directories, is evidence: a Namespace, which
            many directories repeat, is not.
    """
    files: dict[ResourceKey, set[str]] = defaultdict(set)
    for resource in resources:
        key = resource.key
        if is_subject(key.group, key.kind) and not key.unplaced and not is_symbolic(key.path):
            files[key].add(resource.document.file)
    repeated = {key: owners for key, owners in files.items() if len({_directory(file) for file in owners}) > 1}
    if not repeated:
        return []
    rivals: dict[str, set[ResourceKey]] = defaultdict(set)
    for key, owners in repeated.items():
        for file in owners:
            rivals[file].add(key)
    every_file = {resource.document.file for resource in resources}
    variants = _variants(every_file, 0, rivals)
    if not variants or len(variants) > LIMIT:
        return []
    common = os.path.commonpath(variants) if len(variants) > 1 else os.path.dirname(*variants)
    names = {os.path.relpath(directory, common or None): own for directory, own in variants.items()}
    shared = every_file.difference(*variants.values())
    worlds = {name: own | {file for file in shared if not _clash(file, own, rivals)} for name, own in names.items()}
    if any(not shared <= files for files in worlds.values()):
        worlds["default"] = shared
    return [_alternative(name, files, resources) for name, files in sorted(worlds.items())]


def _alternative(name: str, files: set[str], resources: Sequence[Resource]) -> Alternative:
    kept = [resource for resource in resources if resource.document.file in files]
    known = {resource.key for resource in kept}
    return Alternative(name, kept, {resource.key: resource for resource in resources if resource.key not in known})


def _clash(file: str, own: set[str], rivals: Mapping[str, set[ResourceKey]]) -> bool:
    """Return whether a file writes an object that one of the files of a variant writes, too."""
    keys = rivals.get(file, set())
    return any(not keys.isdisjoint(rivals.get(other, ())) for other in own) if keys else False


def _variants(files: Iterable[str], depth: int, rivals: Mapping[str, set[ResourceKey]]) -> dict[str, set[str]]:
    """Return the files of each directory that rivals another, or a file beside it; where rivals lie in it, of those.

    Args:
        depth: how many steps of the paths the files have in common.
        rivals: the repeated identities of each file that has some.
    """
    children: dict[str | None, set[str]] = defaultdict(set)  # None holds the files beside the directories
    for file in files:
        steps = file.split("/")
        children["/".join(steps[: depth + 1]) if len(steps) > depth + 1 else None].add(file)
    makers: dict[ResourceKey, set[str | None]] = defaultdict(set)
    for child, below in children.items():
        for file in below & rivals.keys():
            for key in rivals[file]:
                makers[key].add(child)
    contested = {child for rivalling in makers.values() if len(rivalling) > 1 for child in rivalling}
    variants: dict[str, set[str]] = {}
    for directory, below in children.items():
        if directory is None:
            continue
        inner = _variants(below, depth + 1, rivals) if below & rivals.keys() else {}
        if inner:
            beside = below.difference(*inner.values()) if directory in contested else set()
            variants |= {name: own | beside for name, own in inner.items()}
            if beside:
                variants[directory] = beside  # it may be meant to stand by itself
        elif directory in contested:
            variants[directory] = below
    return variants


def _directory(file: str) -> str:
    return file.rpartition("/")[0]
