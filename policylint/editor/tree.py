"""The tree of an editor: read again after each change, where only what changed is parsed and rendered anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from policylint.editor.overlay import Disk, Overlay
from policylint.editor.state import StaleError, State
from policylint.load.shared_facts import SharedFacts
from policylint.render.shared import Shared
from policylint.schema.broken import forget_valid
from policylint.session.lint import lint
from policylint.session.open import open_tree
from policylint.session.rules import chosen
from policylint.session.settings import RunOptions, Setup

if TYPE_CHECKING:
    from policylint.sources import Source

_MOST_READINGS = 200
"""Readings after which everything is read anew: what was known of earlier texts is kept until then."""
_LONGEST_UNSEEN = 10.0
"""Seconds for which nobody need look at the disk that an editor watches: it watches manifests, not every file."""


class EditedTree:
    """A directory that an editor works in, and what is known of the contents of its files.

    Args:
        options: the options of the run; paths are as seen from the working directory.
    """

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._disk, self._seen_as, self._seen_at = Disk(), -1, 0.0
        self._forget()

    def _forget(self) -> None:
        self._facts, self._shared, self._readings = SharedFacts(), Shared(), 0
        forget_valid()

    def read(
        self, texts: Mapping[str, bytes], is_stale: Callable[[], bool] = lambda: False, on_disk: int = -1
    ) -> State:
        """Return the state of the tree with some texts laid over it.

        Args:
            texts: by path as shown.
            is_stale: asked between the stages, whether the result is still wanted.
            on_disk: the number of changes on disk that the editor told of; -1 where it tells of none.

        Raises:
            StaleError: it is not.
            UsageError: the configuration, or what it names, cannot be used.
        """

        def stage(_doing: str) -> AbstractContextManager[None]:
            if is_stale():
                raise StaleError
            return nullcontext()

        self._readings += 1
        if self._readings > _MOST_READINGS:
            self._forget()
        now = time.monotonic()
        if on_disk < 0 or on_disk != self._seen_as or now - self._seen_at > _LONGEST_UNSEEN:
            self._disk, self._seen_as, self._seen_at = Disk(), on_disk, now
        setup = Setup.of(self._options._replace(progress=stage))

        def listing(paths: Sequence[str] | None) -> Source:
            return Overlay(paths or [setup.top], setup.exclude, texts, self._disk)

        workspace = open_tree(setup, listing=listing, shared_facts=self._facts, shared=self._shared)
        return State(workspace, lint(setup, workspace, chosen(setup)), is_stale)
