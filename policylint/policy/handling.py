"""What an object that a filter of a route names does with a request, for the request engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.namedtuple import NamedTuple
from policylint.policy.authorizing import Decision


class Redirect(NamedTuple):
    """Where a response redirects to; `port` is None where the Location header names none."""

    status: int
    scheme: str
    host: str
    port: int | None
    path: str


class Handling(NamedTuple):
    """What one object does with a request.

    Args:
        filters: what it changes, in the words of an HTTPRoute's filters.
        path: the path without its query that it makes of the path, which may be empty until it is sent on.
        redirect: its response, if it redirects the request.
        status: of its response, if it answers otherwise; `why` it does so.
        unknown: why it is not known what it does.
        decision: whether it lets the request in, where it is for that.
    """

    filters: Sequence[Mapping[str, Any]] = ()
    path: str | None = None
    redirect: Redirect | None = None
    status: int | None = None
    why: str = ""
    unknown: str = ""
    decision: Decision | None = None

    @property
    def ends(self) -> bool:
        """Whether no filter behind it sees the request."""
        is_denied = self.decision is not None and self.decision.answer == "denied"
        return self.redirect is not None or self.status is not None or bool(self.unknown) or is_denied


PASSES = Handling()
"""A request goes on as it came."""
