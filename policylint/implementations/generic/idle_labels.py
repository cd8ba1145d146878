"""Labels by which objects ask for proxies, and get none."""

from __future__ import annotations

from policylint.model import Resource
from policylint.namedtuple import NamedTuple


class IdleLabel(NamedTuple):
    """A label that its reader can do nothing with.

    Args:
        why: one clause, and `then` what follows of it.
        fix: what to do instead, one clause.
        ground: what was not seen and could heed it, "" where nothing could.
    """

    holder: Resource
    label: str
    why: str
    then: str
    fix: str
    ground: str = ""
