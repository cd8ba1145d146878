"""What is read where PATHs are named: the repository in which they lie, or they alone.

PATH says what to report on. What is deployed there hangs on the rest of the repository (the Gateway, the policies on
it, the overlay), so all of it is read; docs/design/decisions/0016-a-path-is-what-is-reported.md has the rule.
"""

# ruff: noqa: PTH112, PTH117, PTH118, PTH120, PTH208 - strings as seen from here; pathlib is not imported for most runs

from __future__ import annotations

import os

from policylint.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from policylint.session.settings import Setup
    from policylint.workspace.scope import ReportScope

_DEPLOYERS = (b"fluxcd.io/", b"controlplane.io/", b"argoproj.io/", b"resources:", b"bases:", b"components:")
"""What stands in every file that has something deployed from a directory."""


class Territory(NamedTuple):
    """The paths to read, and the part of them that is reported on.

    Args:
        each: the paths that were named, each with what it stands for.
    """

    paths: list[str]
    scope: ReportScope
    each: list[tuple[str, ReportScope]]


def territory(setup: Setup, named: Sequence[str]) -> Territory | None:
    """Return what to read for some paths that are to be reported on; None where nothing is read but these.

    That is so for stdin, outside of a repository, for its whole, with `--isolated`, and for directories that by their
    names are examples or tests, unless a file outside of these speaks of them.
    """
    from policylint.outside import git_root

    options = setup.options
    if options.isolated or not named or "-" in named:
        return None
    root = git_root(options.start) or git_root(_directory(named[0]))
    if root is None:
        return None
    places = []
    for path in named:
        place = os.path.realpath(path)
        if place == root or git_root(_directory(place)) != root:
            return None
        places.append(os.path.relpath(place, root).replace(os.sep, "/"))
    top = root if os.path.isabs(named[0]) else os.path.relpath(root, os.path.realpath(os.curdir))
    if not _are_live(setup, root, places, top):
        return None
    from policylint.workspace.scope import ReportScope

    each = [(path, ReportScope(root, [place])) for path, place in zip(named, places, strict=True)]
    return Territory([top], ReportScope(root, places), each)


def _directory(path: str) -> str:
    """Return the directory that a path is, or is in; it need not be there."""
    return path if os.path.isdir(path) else os.path.dirname(path) or os.curdir


def _are_live(setup: Setup, root: str, places: Sequence[str], top: str) -> bool:
    """Tell whether one of some paths may be deployed with the rest of the repository."""
    from policylint.render.live import dead_step

    def beside(directory: str) -> list[str]:
        above = os.path.join(root, directory)
        return os.listdir(above) if os.path.isdir(above) else []

    steps = set()
    for place in places:
        path = f"{place}/" if os.path.isdir(os.path.join(root, place)) else place
        dead = dead_step(path, beside=beside)
        if dead is None:
            return True
        steps.add(path.split("/")[dead])
    return _are_spoken_of(setup, top, sorted(steps))


def _are_spoken_of(setup: Setup, top: str, steps: Sequence[str]) -> bool:
    """Tell whether a file that may be deployed has the name of one of some directories in it, and deploys others."""
    from policylint.render.live import dead_step
    from policylint.sources import SourceError, open_source

    words = [step.encode() for step in steps]
    for file in open_source([top], exclude=setup.exclude).files():
        if dead_step(file.relative) is None:
            try:
                data = file.read()
            except SourceError:
                continue
            if any(word in data for word in words) and any(mark in data for mark in _DEPLOYERS):
                return True
    return False
