"""Requests that scripts of other sites may send, as Envoy's filter for them tells them (envoy.filters.http.csrf).

Only what changes something is asked: of POST, PUT, DELETE and PATCH the host and port of `Origin`, or where that is
missing of `Referer`, must be those of the request, or fit one of some patterns. Their scheme is not looked at.

Source: Envoy's documentation, «CSRF», and source/extensions/filters/http/csrf/csrf_filter.cc @ 1.40.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.patterns import Pattern
from policylint.policy.authorizing import SITE, Decision, RequestFacts, exactly
from policylint.spaces.predicates import EXPRESSION, Predicate

_SCHEME, _REST = Pattern(r"^[A-Za-z][A-Za-z0-9+.-]*://"), Pattern("[/?#]")
_CHANGING = exactly(["POST", "PUT", "DELETE", "PATCH"])


def decisions(message: RequestFacts, patterns: Sequence[str], percentage: float, why: str) -> Iterator[Decision]:
    """Yield what the filter answers a request: nothing where it passes.

    Args:
        patterns: regular expressions of the hosts, with ports, that may send requests besides the request's own.
        percentage: of the requests that are turned away, and not merely counted.
        why: says so where it is not all of them.
    """
    if percentage <= 0:
        return
    changes = message.has_method(*_CHANGING)
    own = [message.host] if message.dialled is None else [message.host, f"{message.host}:{message.dialled}"]
    sent = message.headers.get("origin") or message.headers.get("referer") or ""
    site = _REST.split(_SCHEME.sub("", sent), maxsplit=1)[0]
    fits = message.has(SITE, site or None, *exactly(own), *(Predicate(EXPRESSION, pattern) for pattern in patterns))
    if changes is False or fits:
        return
    denied = Decision("denied", ("csrf",), "it is sent from another site")
    if fits is None or changes is None:
        yield denied.if_so("the site that it is sent from")
    else:
        yield denied if percentage >= 100 else denied.if_so(why)
