"""Places in objects beside Gateway API that send requests to where nothing answers them."""

from __future__ import annotations

from policylint.catalog.kinds import Catalog
from policylint.documents import Pointer
from policylint.model import Resource, ResourceKey, Severity
from policylint.namedtuple import NamedTuple

COPIES = "the copies are lost in silence"
"""What becomes of requests that are mirrored to what is missing."""


class DeadEnd(NamedTuple):
    """A place in an object beside Gateway API that sends requests to where nothing answers them.

    Args:
        does: a clause that follows the name of the object.
        fix: what to write.
        ground: what was not seen and could answer them, "" where nothing could.
        then: what becomes of the requests.
        severity: an error where requests are not answered as is meant.
    """

    holder: Resource
    pointer: Pointer
    does: str
    fix: str
    about: tuple[ResourceKey, ...] = ()
    ground: str = ""
    then: str = "these requests are answered with 503"
    severity: Severity = "error"

    def binds(self, catalog: Catalog) -> bool:
        """Return whether an annotation names a missing object that it binds, as it does at objects of Gateway API."""
        if self.pointer[:2] != ("metadata", "annotations") or not self.about:
            return False
        return any((kind.group, kind.kind) == self.about[0][:2] for kind in catalog.bound_by(str(self.pointer[2])))
