"""Errors of policylint's own that must not end a run: what they stopped, which object was at hand, and where.

The guards around files, CRDs, renderings, simulations and rules are the last resort, and call `fault_of`.

Source: docs/design/decisions/0008-a-broken-file-is-one-finding.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from policylint.errors import AbsentError, UsageError
from policylint.model.keys import ResourceKey
from policylint.model.resource import Resource
from policylint.namedtuple import NamedTuple

NOT_OURS = (UsageError, AbsentError, OSError, MemoryError)
"""Exceptions that say enough by themselves: guards let them pass."""


class Fault(NamedTuple):
    """One error of policylint's own.

    Args:
        stopped: what was not done, or not to its end: `rule GWP201`.
        error: its class and place, `TypeError at routes.py:12`; its text may hold what manifests keep secret.
        about: the object that was at hand, as far as that can be told.
        file: that was at hand, where no object is.
        traceback: for whoever mends it.
    """

    stopped: str
    error: str
    about: Resource | None = None
    file: str = ""
    traceback: str = ""

    def __str__(self) -> str:
        about = f" at {self.about.key}" if self.about is not None else f" at {self.file}" if self.file else ""
        return f"{self.stopped} was stopped{about} by an internal error ({self.error})"


def fault_of(
    error: Exception,
    stopped: str,
    known: Mapping[ResourceKey, Resource] | None = None,
    about: Resource | None = None,
    file: str = "",
) -> Fault:
    """Return what an exception stopped.

    Args:
        known: objects among which the one at hand is looked for.
        about: the object at hand, where that is known.
        file: the file at hand.
    """
    said, traceback = described(error)
    return Fault(stopped, said, about or _at_hand(error, known or {}), file, traceback)


def described(error: Exception) -> tuple[str, str]:
    """Return class and place of an exception, and its traceback; tests have it raised again (tests/conftest.py)."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""  # noqa: PTH119
    return f"{type(error).__name__}{place}", "".join(traceback.format_exception(error))


def _at_hand(error: Exception, known: Mapping[ResourceKey, Resource]) -> Resource | None:
    """Return the object that the innermost function was given or had come to."""
    frames = []
    step = error.__traceback__
    while step is not None:
        frames.append(step.tb_frame)
        step = step.tb_next
    for frame in reversed(frames):
        for value in reversed(list(frame.f_locals.values())):
            key = _key(value)
            if key is not None and key in known:
                return known[key]
    return None


def _key(value: Any) -> ResourceKey | None:
    """Return the identity of an object, or of what stands for one: a node, the state of a policy or route."""
    if isinstance(value, ResourceKey):
        return value
    for name in ("key", "resource", "policy", "route"):
        inner = getattr(value, name, None) if type(value).__module__.startswith("policylint.") else None
        if isinstance(inner, ResourceKey):
            return inner
        if isinstance(inner, Resource):
            return inner.key
    return None
