"""Plain files that exclude each other: directories that write the same object are variants, not one cluster.

Where nothing says what is deployed together (`k8s/{dev,test,prod}`, the labs of a tutorial, examples side by side), two
directories that hold an object of one identity are two answers to one question. So are the directories in one that is
called `labs`, `demos` or the like, whatever they hold, and the numbered steps of a tutorial of which some write the
same object, and the files of a directory of examples. Where kustomizations arrange a part of a tree, the same is true
of the files beside them (overlays.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from policylint.model import ResourceKey, is_symbolic
from policylint.namedtuple import NamedTuple
from policylint.render.lessons import lessons, number_of

_SAMPLES = 3
"""Files of one directory that write one object, at least, where each of them is an example."""
LIMIT = 400
"""Variants at most: more are taken together, as if nothing were written twice. Courses have a hundred lessons."""


class Variants(NamedTuple):
    """Directories that exclude each other.

    Args:
        files: those of each, and those beside it that belong to it.
        shared: the files outside of all of them.
        rivals: the objects of a file that another directory writes, too, for each file with such objects.
    """

    files: dict[str, set[str]]
    shared: set[str]
    rivals: Mapping[str, set[ResourceKey]]


def variants(written: Sequence[tuple[str, ResourceKey]], is_subject: Callable[[str, str], bool]) -> Variants:
    """Return the variants among plain files; none where they are one, or too many.

    Args:
        written: files with the identities of their objects.
        is_subject: whether an object of a group and kind, written in two directories, is evidence: a Namespace, which
            many directories repeat, is not.
    """
    files: dict[ResourceKey, set[str]] = defaultdict(set)
    for file, key in written:
        if is_subject(key.group, key.kind) and not key.unplaced and not is_symbolic(key.name):
            files[key].add(file)
    repeated = {key: owners for key, owners in files.items() if len({_directory(file) for file in owners}) > 1}
    rivals: dict[str, set[ResourceKey]] = defaultdict(set)
    for key, owners in repeated.items():
        for file in owners:
            rivals[file].add(key)
    every_file = {file for file, _ in written}
    contested = _contested(repeated.values())
    contested |= _series(written, rivals, contested)
    contested |= lessons(every_file).keys()
    own = _own(every_file, contested | _samples(files.values(), written)) or _own(every_file, contested)
    if len(own) > LIMIT:
        own = {}
    return Variants(own, every_file.difference(*own.values()), rivals)


def _samples(rivalling: Iterable[set[str]], written: Iterable[tuple[str, ResourceKey]]) -> set[str]:
    """Return files beside each other of which each is an example by itself: three or more of their directory write an
    object of one identity, and each of them one that another one writes, too. Two that do may be a mistake (GWP503),
    and a file of a single object is a piece that needs others.

    Args:
        rivalling: the files that write an object of one identity, for each identity.
        written: files with the identities of their objects.
    """
    whole = {file for file, number in Counter(file for file, _ in written).items() if number > 1}
    beside: dict[str, set[str]] = defaultdict(set)
    collections: set[str] = set()
    for files in {frozenset(whole & each) for each in rivalling}:
        for directory, number in Counter(map(_directory, files)).items():
            if number > 1:
                beside[directory].update(file for file in files if _directory(file) == directory)
            if number >= _SAMPLES:
                collections.add(directory)
    return set().union(*(beside[directory] for directory in collections))


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
    written: Sequence[tuple[str, ResourceKey]], rivals: Mapping[str, set[ResourceKey]], contested: Collection[str]
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
            if place in contested and number_of(place) is not None:
                kinds[_directory(place)].update((key.group, key.kind) for key in keys)
    steps: dict[str, dict[str, set[tuple[str, str]]]] = {above: defaultdict(set) for above in kinds}
    for file, key in written if steps else ():
        for place in _directories(file):
            if _directory(place) in steps and number_of(place) is not None:
                steps[_directory(place)][place].add((key.group, key.kind))
    series = {
        place
        for above, held in steps.items()
        if any(2 * sum(kind in own for own in held.values()) > len(held) for kind in kinds[above])
        for place in held
        if number_of(place)
    }
    return series if len(series.union(contested)) <= LIMIT else set()


def _own(files: Iterable[str], contested: Collection[str]) -> dict[str, set[str]]:
    """Return the files of each directory that rivals another, or a file beside it; a file may be a rival, too. Where
    such directories lie in each other, the files beside the inner ones belong to each of those, and may be meant to
    stand by themselves."""
    own: dict[str, set[str]] = defaultdict(set)
    for file in files:
        innermost = next((place for place in (file, *_directories(file)) if place in contested), None)
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
