"""Open the workspace of a run: its paths, a revision or another source, as options and configuration have it."""

from __future__ import annotations

import os

from policylint.catalog.content import NOTHING_EDITED, Edited
from policylint.config import ConfigError
from policylint.errors import UsageError
from policylint.outside import leads_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from policylint.load.shared_facts import SharedFacts
    from policylint.render.shared import Shared
    from policylint.session.settings import Setup
    from policylint.sources import Source
    from policylint.sources.revision import Revision
    from policylint.workspace import Workspace
    from policylint.workspace.scope import ReportScope

    Listing = Callable[[Sequence[str] | None], Source]
    """Makes the source of some paths, as seen from here; of everything where there are none."""


def open_tree(
    setup: Setup,
    *,
    source: Source | None = None,
    listing: Listing | None = None,
    shared_facts: SharedFacts | None = None,
    shared: Shared | None = None,
) -> Workspace:
    """Return the workspace of the paths of a run. Where the repository deploys nothing of them, they are read by
    themselves.

    Args:
        source: the files, whatever the paths are.
        listing: makes the source of some paths if that is not the work tree.
        shared_facts: what is known of contents from another workspace of the same paths.
        shared: what was rendered for another one.

    Raises:
        UsageError: a path, the snapshot or the configuration cannot be used.
    """
    from policylint.session.territory import territory

    _check(setup.paths if source is None and listing is None else ())
    around = None if source is not None else territory(setup, setup.asked or ())
    alone, asked = setup.paths, setup.asked
    workspace = None
    if around is not None:
        files = None if listing is None else listing(around.paths)
        workspace = open_workspace_of(
            setup,
            source=files,
            paths=around.paths,
            scope=around.scope,
            shared_facts=shared_facts,
            shared=shared,
            all_environments=setup.is_whole,
        )
        alone = asked = [path for path, scope in around.each if not workspace.has_part(scope)]
        if not alone:
            return workspace
    if source is None and listing is not None:
        source = listing(asked)
    apart = open_workspace_of(setup, source=source, paths=alone, shared_facts=shared_facts, shared=shared)
    if around is None or workspace is None or len(alone) == len(around.each):
        return apart
    return workspace.joined(apart)


def open_workspace_of(
    setup: Setup,
    *,
    source: Source | None,
    paths: Sequence[str],
    scope: ReportScope | None = None,
    shared_facts: SharedFacts | None = None,
    shared: Shared | None = None,
    alternatives: bool = True,
    leftovers: bool = True,
    undeployed: bool = True,
    all_environments: bool = False,
    picking: ReportScope | None = None,
    edited: Edited = NOTHING_EDITED,
) -> Workspace:
    """Return the workspace of some paths, with the options of a run.

    Args:
        source: where the files are if not in the work tree below the paths.
        scope: what is reported on; None for everything.
        shared_facts: what is known of contents from another workspace of the run.
        shared: what was rendered for another workspace.
        alternatives: whether plain directories that write the same objects are environments of their own.
        leftovers: as of `open_workspace`.
        undeployed: whether files are taken as they are where nothing of what is to be checked is deployed.
        all_environments: whether environments that have no part in the scope are simulated as well.
        picking: as of `open_workspace`.
        edited: what a change touches, which is read whoever names it.

    Raises:
        UsageError: a path, the snapshot or the configuration cannot be used.
    """
    from policylint.workspace import open_workspace

    options, settings = setup.options, setup.settings
    more: dict[str, Any] = {"given": setup.assumptions, "source": source, "shared": shared, "env": options.environments}
    more |= {"alternatives": alternatives, "leftovers": leftovers, "undeployed": undeployed}
    more |= {"scope": scope, "all_environments": all_environments, "picking": picking, "edited": edited}
    if renderer := setup.renderer:
        more["render"] = renderer
    if options.rendered:
        if lacking := [place for place in options.rendered if not os.path.isdir(place)]:  # noqa: PTH112
            raise UsageError(f"--rendered takes a directory, and {lacking[0]!r} is none")
        more["rendered"] = options.rendered[0]
    try:
        more |= {"snapshot": setup.snapshot, "stated": setup.environments}
        more["dump"] = setup.files.get(setup.snapshot or "")
        edition = options.semantics or settings.semantics
        with options.progress("reading and simulating"):
            paths = paths if source is None else []
            return open_workspace(paths, semantics=edition, strict=options.strict, shared_facts=shared_facts, **more)
    except UsageError as error:
        if settings.kinds and (number := _kind_at_fault(str(error))) is not None:
            raise ConfigError(f"{settings.at('kinds', number)}: {error}") from None
        raise


def meant(path: str) -> str:
    """Return ` (did you mean 'clusters/prod'?)` where each step that is not there is like one that is."""
    from difflib import get_close_matches

    known = "/" if path.startswith("/") else ""
    for step in filter(None, path.split("/")):
        there = os.path.join(known, step)  # noqa: PTH118 - as everywhere here
        if not os.path.lexists(there):
            try:
                names = os.listdir(known or ".")  # noqa: PTH208 - as everywhere here
            except OSError:
                return ""
            near = get_close_matches(step, names[:5000], n=1)
            if not near:
                return ""
            there = os.path.join(known, near[0])  # noqa: PTH118
        known = there
    return "" if known == path.rstrip("/") else f" (did you mean {known!r}?)"


def _check(paths: Iterable[str]) -> None:
    """Complain about paths that are not there, or lead out of the repository.

    Raises:
        UsageError: one of them does.
    """
    for path in paths:
        if path == "-":
            continue
        if not os.path.lexists(path):
            raise UsageError(f"no such file or directory: {path!r}{meant(path)}")
        if leads_out(path):
            raise UsageError(
                f"{path!r} is a symbolic link out of the repository, which is not followed: name its target instead"
            )


def open_at(setup: Setup, revision: str) -> Workspace:
    """Return the workspace of the paths as a revision has them (`--at REV`); of the work tree where it is "".

    The configuration is that of the setup, whatever the revision holds.

    Raises:
        UsageError: no such revision, or a path that it does not have.
    """
    if not revision:
        return open_tree(setup)
    from policylint.sources.git import Repository
    from policylint.sources.revision import at_revision

    repository = Repository(setup.options.start)

    def listing(paths: Sequence[str] | None) -> Revision:
        return at_revision(repository, revision, paths and [*map(os.path.relpath, paths)], setup.exclude)

    whole = listing(None)
    for path in setup.asked or ():
        if not whole.holds(path):
            raise UsageError(f"no such file or directory in {revision}: {path!r}")
    return open_tree(setup, listing=listing)


def revision_range(text: str) -> tuple[str, str] | None:
    """Split `A..B` in its two revisions; `A..` ends in the work tree (""), `A...B` begins at the merge base.

    Return None for one revision.

    Raises:
        SourceError: there is no merge base, or no such revision.
    """
    if "..." in text:
        from policylint.sources.git import Repository

        before, _, after = text.partition("...")
        return Repository(".").merge_base(before or "HEAD", after or "HEAD"), after or "HEAD"
    before, dots, after = text.partition("..")
    return (before or "HEAD", after) if dots else None


def below_root(root: object, file: str) -> str | None:
    """Return the path of a file below the git root, links resolved; None for stdin and for what is outside.

    Args:
        root: None stands for the working directory.
    """
    if file.startswith("<") or file == "-" or not file:
        return None
    return _below(os.path.realpath(str(root)) if root else os.path.realpath("."), os.path.realpath(file))


def paths_below(root: object) -> Callable[[str], str | None]:
    """Return `below_root` for very many files of one moment: the links of a directory are resolved once."""
    top = os.path.realpath(str(root)) if root else os.path.realpath(".")
    directories: dict[str, str] = {}

    def below(file: str) -> str | None:
        directory, name = os.path.split(file)
        if not name or name in (".", "..") or file.startswith("<") or file == "-" or os.path.islink(file):  # noqa: PTH114
            return below_root(root, file)
        if directory not in directories:
            directories[directory] = os.path.realpath(directory)
        return _below(top, os.path.join(directories[directory], name))  # noqa: PTH118

    return below


def _below(top: str, place: str) -> str | None:
    start = top.rstrip(os.sep) + os.sep
    return place[len(start) :].replace(os.sep, "/") if place.startswith(start) else None


def _kind_at_fault(message: str) -> int | None:
    """Return the number of the configured kind that the catalog complains about in `kinds[0].targets: …`."""
    number = message.removeprefix("kinds[").partition("]")[0]
    return int(number) if message.startswith("kinds[") and number.isdigit() else None
