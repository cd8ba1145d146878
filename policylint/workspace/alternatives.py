"""Alternatives among plain manifests: directories that write the same object are variants, not one cluster.

Where neither Flux, Argo CD nor kustomize says what is deployed together (`k8s/{dev,test,prod}`, the labs of a tutorial,
examples side by side), two directories that hold an object of one identity are two answers to one question. Each is an
environment of its own; what lies outside of them belongs to all. So are the directories in one that is called `labs`,
`demos` or the like, whatever they hold, and the numbered steps of a tutorial of which some write the same object.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from policylint.model import Resource, ResourceKey, is_symbolic
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.live import lessons

DEFAULT = "default"
"""The environment of plain files that nothing sets apart."""
LIMIT = 50
"""Environments at most: more are one environment, as if nothing were written twice."""
_NUMBERED = Pattern(r"(\d{1,3})[-_.]")
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
    """The objects of a tree without those of one group of files, and some of these; all groups share the tree's.

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


def separate(resources: Sequence[Resource], is_subject: Callable[[str, str], bool]) -> list[Alternative]:
    """Return the environments of manifests that nothing arranges, sorted by name; none where they are one.

    Args:
        is_subject: whether an object of a group and kind, written in two directories, is evidence: a Namespace, which
            many directories repeat, is not.
    """
    files: dict[ResourceKey, set[str]] = defaultdict(set)
    for resource in resources:
        key = resource.key
        if is_subject(key.group, key.kind) and not key.unplaced and not is_symbolic(key.name):
            files[key].add(resource.document.file)
    repeated = {key: owners for key, owners in files.items() if len({_directory(file) for file in owners}) > 1}
    rivals: dict[str, set[ResourceKey]] = defaultdict(set)
    for key, owners in repeated.items():
        for file in owners:
            rivals[file].add(key)
    every_file = {resource.document.file for resource in resources}
    contested = _contested(repeated.values())
    contested |= _series(resources, rivals, contested)
    variants = _variants(every_file, contested | lessons(every_file).keys())
    if not variants or len(variants) > LIMIT:
        return []
    common = os.path.commonpath(variants) if len(variants) > 1 else os.path.dirname(*variants)
    names = {os.path.relpath(directory, common or None): own for directory, own in variants.items()}
    shared = every_file.difference(*variants.values())
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
    return [_alternative(name, files, resources) for name, files in sorted(worlds.items())]


def _alternative(name: str, files: set[str], resources: Sequence[Resource]) -> Alternative:
    kept = [resource for resource in resources if resource.document.file in files]
    known = {resource.key for resource in kept}
    return Alternative(name, kept, {resource.key: resource for resource in resources if resource.key not in known})


def _contested(rivalling: Iterable[set[str]]) -> set[str]:
    """Return each directory that holds one of some rivals while another one lies beside it.

    Args:
        rivalling: the files that write an object of one identity, for each identity that several write.
    """
    contested: set[str] = set()
    for files in set(map(frozenset, rivalling)):
        below: Counter[str] = Counter()
        for file in files:
            below.update(_directories(file))
        contested.update(place for place, held in below.items() if place and held < below[_directory(place)])
    return contested


def _series(
    resources: Sequence[Resource], rivals: Mapping[str, set[ResourceKey]], contested: Collection[str]
) -> set[str]:
    """Return the steps of each tutorial: numbered directories beside contested ones (`01-hello`, `02-tls`), where most
    of them have an object of the kind that two of them write twice, so that each is complete in itself.

    A step of the number 0 sets up what the others need; it is none. Nor is any where all of them would be too many.

    Args:
        rivals: the objects that a file and another one write, by file.
        contested: see `_contested`.
    """
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for file, keys in rivals.items():
        for place in _directories(file):
            if place in contested and _number(place) is not None:
                kinds[_directory(place)].update((key.group, key.kind) for key in keys)
    steps: dict[str, dict[str, set[tuple[str, str]]]] = {above: defaultdict(set) for above in kinds}
    for resource in resources if steps else ():
        for place in _directories(resource.document.file):
            if _directory(place) in steps and _number(place) is not None:
                steps[_directory(place)][place].add((resource.key.group, resource.key.kind))
    series = {
        place
        for above, held in steps.items()
        if any(2 * sum(kind in own for own in held.values()) > len(held) for kind in kinds[above])
        for place in held
        if _number(place)
    }
    return series if len(series.union(contested)) <= LIMIT else set()


def _number(directory: str) -> int | None:
    """Return the number that the name of a directory begins with, None where it has none."""
    written = _NUMBERED.match(directory.rpartition("/")[2])
    return None if written is None else int(written[1])


def _variants(files: Iterable[str], contested: Collection[str]) -> dict[str, set[str]]:
    """Return the files of each directory that rivals another, or a file beside it. Where such directories lie in each
    other, the files beside the inner ones belong to each of those, and may be meant to stand by themselves."""
    own: dict[str, set[str]] = defaultdict(set)
    for file in files:
        innermost = next((place for place in _directories(file) if place in contested), None)
        if innermost is not None:
            own[innermost].add(file)
            if len(own) > LIMIT:
                return {}
    return {
        directory: set().union(*(own[place] for place in _directories(f"{directory}/") if place in own))
        for directory in list(own)
    }


def _directories(file: str) -> Iterator[str]:
    """Yield the directories in which a file lies, from the innermost one to the top, which is ""."""
    while file:
        file = _directory(file)
        yield file


def _directory(file: str) -> str:
    return file.rpartition("/")[0]
