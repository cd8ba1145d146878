"""How Istio ranks matches: calls by their path among those of HTTPRoutes, prefixes without the slash at their end.

Source: pilot/pkg/config/kube/gateway/conversion.go: createURIMatch, createGRPCURIMatch, sortHTTPRoutes. Seen by
tests/witness (istio-routes).
"""

from __future__ import annotations

from policylint.implementations.generic.calls import on_path
from policylint.matches import Match, path_of
from policylint.model import mapping, text
from policylint.spaces.predicates import EXPRESSION, PREFIX

_RANKS = {"Exact": 2, PREFIX: 1, EXPRESSION: 0}
"""As matches of HTTPRoutes rank where expressions come last."""
_WITHOUT_PATH, _WITHOUT_MATCH = -1, -2


def of_call(call: Match) -> Match:
    """Return a match on calls as one on the paths of requests, whatever kind of request it is."""
    method = mapping(call.value.get("method"))
    service, name = text(method.get("service")), text(method.get("method"))
    if not service and not name:
        rank = _WITHOUT_MATCH if call.number is None else _WITHOUT_PATH
        return on_path(call, PREFIX, "/", (rank, 0, 0, call.weights[-1], 0))
    kind, value = EXPRESSION, f"/{service or '[^/]+'}/{name or '.+'}"
    length = len(value)
    if text(method.get("type")) != EXPRESSION and service:
        kind, value = ("Exact", value) if name else (PREFIX, f"/{service}")
        length = len(f"/{service}/{name}")
    return on_path(call, kind, value, (_RANKS[kind], length, 0, call.weights[-1], 0))


def without_slash(match: Match) -> Match:
    """Return a match with the rank of its prefix without a slash at the end."""
    kind, value = path_of(match.value)
    if kind != PREFIX or value == "/" or not value.endswith("/"):
        return match
    order, length, *rest = match.weights
    return match._replace(weights=(order, length - 1, *rest))
