"""The three answers to "is it there?": found, missing, unknown, always with a reason."""

from __future__ import annotations

from typing import Literal

from policylint.model.resource import Resource
from policylint.namedtuple import NamedTuple

State = Literal["found", "missing", "unknown"]


class Resolution(NamedTuple):
    """The outcome of looking up a reference.

    `unknown` is an answer: the object may come from a chart, an operator, another repository or an unresolved variable.
    Only `missing` can be an error (docs/design/architecture.md §3).
    """

    state: State
    reason: str = ""
    resource: Resource | None = None

    @property
    def found(self) -> bool:
        """Whether the object is there."""
        return self.state == "found"

    @property
    def missing(self) -> bool:
        """Whether the object is certainly not there."""
        return self.state == "missing"

    @property
    def unknown(self) -> bool:
        """Whether the object may be there without having been seen."""
        return self.state == "unknown"
