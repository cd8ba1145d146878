"""Open the workspace that a command was asked to read, and say what is worth saying about it."""

from __future__ import annotations

import gc
import os
from time import perf_counter

import click

from policylint.cli.commands import say
from policylint.cli.progress import progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from policylint.load.cache import Remembered
    from policylint.model.coverage import Coverage
    from policylint.render.shared import Shared
    from policylint.sources import Source
    from policylint.workspace import Workspace


_ENTERED = "policylint.entered"


def enter(directory: str | None) -> None:
    """-C: everything below is as seen from there, the configuration too; and it names the tree where no PATH does."""
    if directory:
        os.chdir(directory)
        click.get_current_context().meta[_ENTERED] = True


def entered() -> bool:
    """Whether -C named a directory, which then is what is read where no PATH is given."""
    return bool(click.get_current_context().meta.get(_ENTERED))


def opened(
    paths: Sequence[str],
    directory: str | None,
    semantics: str | None,
    snapshot: str | None,
    *,
    strict: bool = False,
    source: Source | None = None,
    remembered: Remembered | None = None,
    shared: Shared | None = None,
) -> Workspace:
    """The workspace of the paths; without any that of the configured ones, else of the git root.

    Args:
        directory: where to go first; None when the command is there already.
        semantics: None leaves it to the configuration.
        source: where the files are if not in the work tree.
        remembered: what is known of contents, shared with another workspace; its maker closes it.
        shared: what was rendered for another workspace.

    Raises:
        click.UsageError: the configuration, a path, the snapshot or the catalog cannot be used.
    """
    from policylint.cli import configured
    from policylint.workspace import UsageError, open_workspace

    enter(directory)
    settings = configured.settings()
    more: dict[str, Any] = {}
    if (said := configured.given(settings)) is not None:
        more["given"] = said
    if stated := configured.environments(settings, _root()):
        more["stated"] = stated
    if names := click.get_current_context().meta.get(configured.ENVIRONMENTS):
        more["env"] = names
    if how := click.get_current_context().meta.get(configured.RENDER) or settings.render:
        more["render"] = how
    if source is not None:
        more["source"] = source
    own = None if remembered is not None else remembering()
    more["remembered"] = remembered or own
    if shared is not None:
        more["shared"] = shared
    here = click.get_current_context().meta.get(_ENTERED)
    paths = [*paths] or [*settings.paths] or ["." if here else top()]
    for path in paths:
        if source is None and path != "-" and not os.path.lexists(path):
            raise click.UsageError(f"no such file or directory: {path!r}")
    try:
        edition = semantics or settings.semantics
        dump = snapshot or configured.snapshot(settings)
        with progress("reading and simulating"):
            workspace = open_workspace(paths, semantics=edition, snapshot=dump, strict=strict, **more)
        if own is not None:
            own.close()
        return workspace
    except UsageError as error:
        if settings.kinds and (number := configured.kind_at_fault(str(error))) is not None:
            raise configured.ConfigurationError(f"{settings.at('kinds', number)}: {error}") from None
        raise click.UsageError(str(error)) from None
    finally:
        if own is not None:
            own.discard()
        gc.freeze()  # what was simulated stays: looking at it for garbage again and again finds none
        gc.enable()


def remembering(*, sharing: bool = False) -> Remembered:
    """What earlier runs know of contents, unless --no-cache or POLICYLINT_NO_CACHE says otherwise."""
    from policylint.cli import configured
    from policylint.load.cache import Remembered

    return Remembered(cache_in_use(), sharing=sharing, jobs=click.get_current_context().meta.get(configured.JOBS))


def cache_in_use() -> str | None:
    """The directory of the cache; None where there is none, or this run is to go without."""
    from policylint.cli import configured

    meta = click.get_current_context().meta
    if meta.get(configured.NO_CACHE) or os.environ.get("POLICYLINT_NO_CACHE"):
        return None
    from policylint.sources.pack import cache_directory

    return cache_directory(meta.get(configured.CACHE))


def _root() -> str | None:
    from policylint.sources.listing import git_root

    return git_root(".")


def top() -> str:
    """The git root as seen from here (`.`, `../..`), or here where there is none."""
    root = _root()
    return os.path.relpath(root, os.path.realpath(".")) if root else "."


def below_root(root: object, file: str) -> str | None:
    """The path of a file below the git root, links resolved; None for stdin and for what is outside."""
    if file.startswith("<") or file == "-" or not file:
        return None
    top = os.path.realpath(str(root)) if root else os.path.realpath(".")
    place = os.path.realpath(file)
    if not place.startswith(top.rstrip(os.sep) + os.sep):
        return None
    return os.path.relpath(place, top).replace(os.sep, "/")


def is_empty(coverage: Coverage) -> bool:
    """Whether there was nothing to check; says so if it was."""
    if coverage.policies or coverage.routes or coverage.gateways:
        return False
    files = "1 file" if coverage.files == 1 else f"{coverage.files} files"
    say_nothing = f"0 Gateway API resources in {files}: nothing was checked"
    templates = coverage.skipped.get("Helm template")
    if templates:
        say_nothing += f" (Helm templates left out: {templates}; --render helm renders charts)"
    click.echo(say_nothing, err=True)
    return True


def describe(coverage: Coverage) -> None:
    """--verbose: what was read and what was skipped."""
    unread = f" ({coverage.unread} of other kinds left unread)" if coverage.unread else ""
    say(f"read {coverage.files} files, {coverage.documents} documents{unread}, {coverage.resources} objects")
    for reason, number in sorted(coverage.skipped.items()):
        say(f"skipped {number} {'file' if number == 1 else 'files'}: {reason}")
    for sentence in coverage.not_rendered:
        say(f"not seen: {sentence}")


class Clock:
    """--timing: how long each part of a run took."""

    def __init__(self) -> None:
        self._start = self._last = perf_counter()
        self._parts: list[tuple[str, float]] = []

    def lap(self, part: str) -> None:
        """Ends a part."""
        now = perf_counter()
        self._parts.append((part, now - self._last))
        self._last = now

    @property
    def seconds(self) -> float:
        return perf_counter() - self._start

    def lines(self) -> Iterator[str]:
        for part, seconds in (*self._parts, ("all", self.seconds)):
            yield f"{seconds:8.3f} s  {part}"
