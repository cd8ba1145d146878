"""Alternatives among plain manifests, where neither Flux, Argo CD nor kustomize says what is deployed together.

Each variant (`render/variants.py`) is an environment of its own; what lies outside of them belongs to all.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from policylint.model import Resource, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.render.variants import variants

DEFAULT = "default"
"""The environment of plain files that nothing sets apart."""
MAX_OBJECTS, _TIMES = 20_000, 4
"""Objects of all environments together, at most: so many, and each object of the tree so many times. What would be more
is one environment, too: objects that all alternatives share are judged once for each of them."""


class Alternative(NamedTuple):
    """One environment of plain manifests.

    Args:
        name: its directory, as seen from the one in which all of them lie.
        resources: its objects and those that all environments have, in their order.
        elsewhere: the objects of the other environments, by identity.
        is_one_of_several: whether there are others.
    """

    name: str
    resources: list[Resource]
    elsewhere: Mapping[ResourceKey, Resource]
    is_one_of_several: bool = True


class Others(Mapping[ResourceKey, Resource]):
    """The objects of a tree without those of one group of files, and some of these; all groups share the tree's, and
    so do all alternatives the group's.

    Args:
        own: the identities in the group.
        some: the objects of the group that are among the others.
    """

    __slots__ = ("_everything", "_own", "_some")

    def __init__(
        self,
        everything: Mapping[ResourceKey, Resource],
        own: frozenset[ResourceKey],
        some: Mapping[ResourceKey, Resource],
    ) -> None:
        self._everything, self._own, self._some = everything, own, some

    def __getitem__(self, key: ResourceKey) -> Resource:
        if key in self._some or key in self._own:
            return self._some[key]
        return self._everything[key]

    def __iter__(self) -> Iterator[ResourceKey]:
        yield from self._some
        yield from (key for key in self._everything if key not in self._some and key not in self._own)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return any(True for _ in self)


def separate(resources: Sequence[Resource], is_subject: Callable[[str, str], bool]) -> list[Alternative]:
    """Return the environments of manifests that nothing arranges, sorted by name; none where they are one.

    Args:
        is_subject: see `variants`.
    """
    own_files, shared, rivals = variants([(each.document.file, each.key) for each in resources], is_subject)
    if not own_files:
        return []
    common = os.path.commonpath(own_files) if len(own_files) > 1 else os.path.dirname(*own_files)
    names = {os.path.relpath(directory, common or None): own for directory, own in own_files.items()}
    undecided = {file: rivals[file] for file in shared & rivals.keys()}
    worlds = {}
    for name, own in names.items():
        written: set[ResourceKey] = set().union(*(rivals[file] for file in own & rivals.keys()))
        worlds[name] = own | shared.difference(file for file, keys in undecided.items() if not keys.isdisjoint(written))
    if any(not shared <= files for files in worlds.values()):
        worlds[DEFAULT] = shared
    sizes = Counter(resource.document.file for resource in resources)
    if sum(sizes[file] for files in worlds.values() for file in files) > MAX_OBJECTS + _TIMES * len(resources):
        return []
    everything = {resource.key: resource for resource in resources}
    return [_alternative(name, files, resources, everything) for name, files in sorted(worlds.items())]


def _alternative(
    name: str, files: set[str], resources: Sequence[Resource], everything: Mapping[ResourceKey, Resource]
) -> Alternative:
    kept = [resource for resource in resources if resource.document.file in files]
    return Alternative(name, kept, Others(everything, frozenset(resource.key for resource in kept), {}))
