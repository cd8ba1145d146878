"""Open the workspace of a run: the paths asked for, or another source, as options and configuration have it."""

from __future__ import annotations

import os

from policylint.boundary import leads_out
from policylint.config import ConfigError
from policylint.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from policylint.load.shared_facts import SharedFacts
    from policylint.render.shared import Shared
    from policylint.session.settings import Setup
    from policylint.sources import Source
    from policylint.workspace import Workspace


def open_tree(
    setup: Setup,
    *,
    source: Source | None = None,
    shared_facts: SharedFacts | None = None,
    shared: Shared | None = None,
) -> Workspace:
    """Return the workspace of the paths of a run.

    Args:
        source: where the files are if not in the work tree below the paths.
        shared_facts: what is known of contents from another workspace of the run.
        shared: what was rendered for another workspace.

    Raises:
        UsageError: a path, the snapshot or the configuration cannot be used.
    """
    from policylint.workspace import open_workspace

    options, settings = setup.options, setup.settings
    more: dict[str, Any] = {"source": source, "shared": shared, "env": options.environments}
    if (assumptions := setup.assumptions) is not None:
        more["given"] = assumptions
    if how := setup.renderer:
        more["render"] = how
    paths = setup.paths if source is None else ["."]
    for path in paths if source is None else ():
        if path != "-" and not os.path.lexists(path):
            raise UsageError(f"no such file or directory: {path!r}")
        if path != "-" and leads_out(path):
            raise UsageError(
                f"{path!r} is a symbolic link out of the repository, and not followed: name the place itself"
            )
    try:
        more |= {"snapshot": setup.snapshot, "stated": setup.environments}
        edition = options.semantics or settings.semantics
        with options.progress("reading and simulating"):
            return open_workspace(paths, semantics=edition, strict=options.strict, shared_facts=shared_facts, **more)
    except UsageError as error:
        if settings.kinds and (number := _kind_at_fault(str(error))) is not None:
            raise ConfigError(f"{settings.at('kinds', number)}: {error}") from None
        raise


def below_root(root: object, file: str) -> str | None:
    """Return the path of a file below the git root, links resolved; None for stdin and for what is outside.

    Args:
        root: None stands for the working directory.
    """
    if file.startswith("<") or file == "-" or not file:
        return None
    top = os.path.realpath(str(root)) if root else os.path.realpath(".")
    place = os.path.realpath(file)
    if not place.startswith(top.rstrip(os.sep) + os.sep):
        return None
    return os.path.relpath(place, top).replace(os.sep, "/")


def _kind_at_fault(message: str) -> int | None:
    """Which of the configured kinds the catalog complains about in `kinds[0].targets: …`."""
    number = message.removeprefix("kinds[").partition("]")[0]
    return int(number) if message.startswith("kinds[") and number.isdigit() else None
