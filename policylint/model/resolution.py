"""The three answers to «is it there?»: found, missing, unknown, always with a reason."""

from __future__ import annotations

from typing import Literal

from policylint.model.resource import Resource
from policylint.namedtuple import NamedTuple

State = Literal["found", "missing", "unknown"]


class Resolution(NamedTuple):
    """What became of a reference.

    `unknown` is an answer: the object may come from a chart, an operator, another repository or an unresolved variable.
    Only `missing` can be an error (docs/design/architecture.md §3).
    """

    state: State
    reason: str = ""
    resource: Resource | None = None

    @property
    def found(self) -> bool:
        return self.state == "found"

    @property
    def missing(self) -> bool:
        return self.state == "missing"

    @property
    def unknown(self) -> bool:
        return self.state == "unknown"
