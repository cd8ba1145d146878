"""Where a redirect leads: the requests that a client makes because of it, until one ends, or asks the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policylint.namedtuple import NamedTuple
from policylint.policy.handling import Redirect
from policylint.trace.filters import WELL_KNOWN
from policylint.trace.request import Request
from policylint.trace.result import Trace

if TYPE_CHECKING:
    from policylint.trace.tracing import Tracer

MOST: Final = 20
"""Redirects that clients follow before they give up (curl follows 50, browsers 20)."""
_SCHEMES: Final = frozenset({"http", "https"})


class Followed(NamedTuple):
    """What comes of a redirect.

    Args:
        traces: of the requests after the one that was redirected, as far as the Gateways here serve them.
        again: which request the last of them leads back to, 0 for the first: no client ever gets an answer. None where
            the redirects end.
    """

    traces: tuple[Trace, ...] = ()
    again: int | None = None

    @property
    def loops(self) -> bool:
        """Whether the redirects go round in circles."""
        return self.again is not None


def followed(tracer: Tracer, first: Trace) -> Followed:
    """Return what a client meets that follows the redirect of a request; nothing for what is not redirected.

    Source: RFC 9110, section 15.4 (redirection). Requests inside a mesh are not followed: their clients name Services.
    """
    traces: list[Trace] = []
    trace, seen = first, [_target(first.request)]
    while trace.outcome.redirect is not None and not (first.request.service or first.request.pod):
        if trace.outcome.redirect.scheme.lower() not in _SCHEMES:
            break  # what no Gateway serves: a client may open another program
        request = _next(trace.request, trace.outcome.redirect)
        if _target(request) in seen:
            return Followed(tuple(traces), seen.index(_target(request)))
        seen.append(_target(request))
        trace = tracer.trace(request)
        if trace.listener is None or len(traces) == MOST:
            break  # what is elsewhere answers this one
        traces.append(trace)
    return Followed(tuple(traces))


def _next(request: Request, to: Redirect) -> Request:
    """Return the request that a client makes of a Location; it goes to whichever Gateway serves that."""
    scheme = to.scheme.lower()  # RFC 3986, section 3.1: case does not matter
    return request._replace(
        scheme=scheme,
        host=to.host or request.host,
        path=to.path,
        port=to.port or WELL_KNOWN.get(scheme),
        sni=to.host or request.host if scheme == "https" else "",
        gateway="",
    )


def _target(request: Request) -> tuple[str, str, int | None, str]:
    return request.scheme, request.host, request.port or WELL_KNOWN.get(request.scheme), request.path
