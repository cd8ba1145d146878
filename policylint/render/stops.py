"""What stops a deployment: builds that certainly fail, so that nothing of them is applied, and what that takes away.

A file that is not there fails a build only where git does not have it, and where neither encryption, a generator, a
submodule nor a sparse checkout can explain that.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from posixpath import join, normpath, relpath

from policylint.load.facts import is_kustomization_path
from policylint.model import GATEWAY_GROUP
from policylint.model.words import listing
from policylint.model.world import Note
from policylint.namedtuple import NamedTuple
from policylint.patterns import Pattern
from policylint.render.adapted import lacked_as_written
from policylint.render.flux.deployment import BY_HAND, Build, Deployed
from policylint.render.made import made
from policylint.render.tree import Tree

STOPPED = "GWP914"
REFUSED = "source-refused"
"""The code of what keeps Argo CD from reading a source: whatever else is in the tree, it would not be of that one."""
_MANY, _PLACES = 3, 2
"""Builds, and places, of which it is no slip that all lack the same."""
_MOST = 3
"""Directories and objects that a sentence names; the others are counted."""
_MADE_LATER = Pattern(
    r"[*?$<>{}\[\]]|/flux-system/$|\b(?:sops|enc|age|gpg|asc|vault)\b|encrypted|secret|credential", re.IGNORECASE
)
"""Paths that are no plain ones, or that say that what they name is not committed as it is, or not by hand: `flux
bootstrap` commits the directory `flux-system` of a cluster before anything there is applied."""


class Stops(NamedTuple):
    """The builds of one environment that fail.

    Args:
        notes: one for each cause.
        causes: the notes that these take the place of.
        files: files, as shown, that cannot be read and without which a build fails → what that takes away, a line each.
    """

    notes: list[Note]
    causes: Collection[Note]
    files: dict[str, tuple[str, ...]]


def lacking(tree: Tree, clusters: Iterable[Deployed]) -> frozenset[str]:
    """Return the paths that builds need and that git certainly does not have; what a script makes, another tree has, or
    a kustomization lacks as it is written alone, before somebody builds by hand, is left out."""
    builds = [build for deployed in clusters for build in deployed.builds]
    by_hand = [build for build in builds if build.by == BY_HAND]
    wanted: dict[bool, set[str]] = {True: set(), False: set()}
    for build in builds:
        wanted[build.by == BY_HAND].update(failure.lacking for failure in build.failures)
    wanted[True] -= _of_another_tree(by_hand, wanted[True]) | lacked_as_written(tree, by_hand)
    plain = {path for paths in wanted.values() for path in paths if path and not _MADE_LATER.search(path)}
    absent = tree.lacking(plain)
    return absent - made(tree.scripts, absent - wanted[False])


def _of_another_tree(builds: Sequence[Build], wanted: Collection[str]) -> set[str]:
    """Return what is not beside builds by hand all of which lack the same directory, each from where it is (`../base`):
    such a tree is put into another one before anything of it is built. One place that all lack is no sign of that."""
    lacks = [
        {relpath(failure.lacking, build.directory or ".") for failure in build.failures if failure.lacking[-1:] == "/"}
        for build in builds
    ]
    common = set[str]().union(*lacks[:1]).intersection(*lacks)
    homes = {normpath(join(build.directory, path, "..")) for build in builds for path in common}
    if len(builds) < _MANY or len(homes) < _PLACES:
        return set()
    return {path for path in wanted if any(home == "." or path.startswith(f"{home}/") for home in homes)}


def stops(
    clusters: Mapping[str, Deployed], absent: Collection[str], unreadable: Mapping[str, str], groups: Collection[str]
) -> dict[str, Stops]:
    """Return the builds that fail by environment, and leave open what comes of them: the cluster keeps what it had.

    One cause is told in the same words wherever it holds.

    Args:
        absent: paths that git does not have.
        unreadable: files that are no YAML: path below the root → as shown.
        groups: API groups of the objects that are worth naming.
    """
    causes: dict[Note, list[Build]] = defaultdict(list)
    files: dict[str, list[Build]] = defaultdict(list)
    told: dict[str, tuple[set[Note], set[Note], set[str]]] = {}
    for name, deployed in clusters.items():
        first, all_notes, broken_files = told[name] = set(), set(), set()
        for build in deployed.builds:
            failing = [failure.note for failure in build.failures if not failure.lacking or failure.lacking in absent]
            broken = [shown for path, shown in unreadable.items() if is_reached(path, build.reached)]
            all_notes.update(failing)
            # One of a kind is enough for a file: kustomize stops at the first.
            for note in {(note.location.file, note.code): note for note in reversed(failing)}.values():
                causes[note].append(build)
                first.add(note)
            for shown in broken:
                files[shown].append(build)
                broken_files.add(shown)
            if failing or broken:
                for manifest in build.manifests:
                    manifest.leave_open(_sentence([build]))
    notes = {
        note: note._replace(rule=STOPPED, message=f"{_sentence(builds)}: {note.message}", help=_lost(builds, groups))
        for note, builds in causes.items()
    }
    said = {shown: (f"note: {_sentence(builds)}", *_lost(builds, groups)) for shown, builds in files.items()}
    return {
        name: Stops([notes[note] for note in notes if note in first], all_notes, {file: said[file] for file in broken})
        for name, (first, all_notes, broken) in told.items()
    }


def explains(note: Note) -> bool:
    """Return whether a build that fails may be why objects of the tree are not deployed."""
    return note.rule == STOPPED and (note.code != REFUSED or bool(note.help))


def is_reached(path: str, reached: Collection[str]) -> bool:
    """Return whether a build reads a file."""
    return path in reached or (is_kustomization_path(path) and path.rpartition("/")[0] in reached)


def _shown(build: Build) -> str:
    return build.directory or "the top directory"


def _sentence(builds: list[Build]) -> str:
    """Return `Flux cannot apply apps/cart and apps/shop`."""
    return f"{builds[0].by} {listing(dict.fromkeys(map(_shown, builds)), most=_MOST)}"


def _lost(builds: list[Build], groups: Collection[str]) -> tuple[str, ...]:
    """Return a line on the routes, Gateways and policies that do not get there, policies first; none for none."""
    objects = {str(manifest): manifest for build in builds for manifest in build.manifests if manifest.group in groups}
    ranked = sorted(objects, key=lambda name: (objects[name].group == GATEWAY_GROUP, name))
    return (f"note: that takes away {listing(ranked, most=_MOST)}",) if ranked else ()
