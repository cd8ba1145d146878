"""A suppression: a user's statement, with a reason, that findings of some rules are fine in some place."""

from __future__ import annotations

from typing import Literal

from policylint.model.keys import ResourceKey
from policylint.model.resource import Location
from policylint.namedtuple import NamedTuple

Form = Literal["comment", "annotation", "configuration"]


class Suppression(NamedTuple):
    """One comment, annotation or entry of the configuration (docs/design/conventions.md §9).

    Args:
        form: how it is written.
        rules: ids or names, as written.
        reason: why; without one it does not count.
        location: where it is written.
        expires: the day (`2027-01-31`) after which it no longer counts, "" for never.
        cut: the part of an unquoted reason that YAML took for a comment.
        file, first, last: the lines that a comment covers.
        keys: the objects that an annotation stands on, one per environment at most.
        resource, path: what an entry of the configuration covers: `Kind/namespace/name` with wildcards, a pattern.
    """

    form: Form
    rules: tuple[str, ...]
    reason: str
    location: Location
    expires: str = ""
    cut: str = ""
    file: str = ""
    first: int = 0
    last: int = 0
    keys: frozenset[ResourceKey] = frozenset()
    resource: str = ""
    path: str = ""
