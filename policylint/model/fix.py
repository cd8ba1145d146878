"""A fix: an edit that puts a finding right, symbolic until it is applied or printed (like a Location).

The actions of a `Change`, for a document as it is read:

* `set`: the scalar at the location, which reads `old`, is to read `new`.
* `number`: the number at the location, written `old`, is to be the whole number `new`.
* `quote`: the plain scalar at the location, written `old`, is to be that text and nothing else.
* `rename`: the key at the location, `old`, is to be `new`.
* `list`: the key at the location, `old`, is to be `new`, and its value the one entry of a list.
* `insert`: the mapping at the location is to have one more entry, `old: new`, before its others.
* `entry`: the same, where `new` is JSON: a number, a list or a mapping as well.
* `document`: behind the document of the location there is to be another one, `new` (YAML without `---`).
"""

from __future__ import annotations

from typing import Literal

from policylint.model.resource import Location
from policylint.namedtuple import NamedTuple

Action = Literal["set", "number", "quote", "rename", "list", "insert", "entry", "document"]


class Change(NamedTuple):
    """One change of one document."""

    action: Action
    location: Location
    old: str
    new: str


class Fix(NamedTuple):
    """An edit that would put a finding right.

    Args:
        title: what it does: `write name: checkout`.
        changes: all of them or none.
        safe: whether it can only be what was meant; the others change what the cluster does, and need --unsafe-fixes.
    """

    title: str
    changes: tuple[Change, ...]
    safe: bool = True
