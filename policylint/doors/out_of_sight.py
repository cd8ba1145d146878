"""The listeners of Gateways that were not seen, as far as the routes that name them show.

A route stands at the listener that it names, or at all of them. One that sends every request on to https would do so
for ever at a listener of HTTPS: where it stands is plain HTTP, and what names another listener is elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from policylint.model import Node, ResourceKey, mapping, sequence
from policylint.topology import RouteState, Topology
from policylint.topology.routes import rules

if TYPE_CHECKING:
    from policylint.trace.precedence import RuleCandidate
    from policylint.trace.request import Request

_HTTPS = 443
_REQUESTS = ("http", "https")
_CONNECTIONS = {"TLSRoute": "tls", "TCPRoute": "tcp", "UDPRoute": "udp"}
_NOWHERE_ELSE = frozenset({"scheme", "statusCode", "port"})
Naming = list[tuple[RouteState, Node]]
"""Routes, each with what it names of a Gateway."""


class OutOfSight:
    """The routes that name Gateways which were not seen, by Gateway."""

    def __init__(self, topology: Topology) -> None:
        self._naming: dict[ResourceKey, list[tuple[RouteState, Node, int | None]]] = defaultdict(list)
        self._plain: dict[ResourceKey, set[str]] = defaultdict(set)
        for state in topology.routes:
            for parent in state.parents:
                if parent.unseen is not None:
                    self._naming[parent.unseen.key].append((state, parent.unseen, parent.port))
                    if parent.unseen.section and _goes_on_to_https(state):
                        self._plain[parent.unseen.key].add(parent.unseen.section)

    def doors(self, gateway: ResourceKey) -> Iterator[tuple[str, int | None]]:
        """Yield the schemes and ports at which requests come in; None for a port that nothing names."""
        found: dict[tuple[str, int | None], None] = {}
        for state, _, port in sorted(self._naming.get(gateway, ()), key=lambda each: each[2] or 0):
            plain = "https" if port == _HTTPS else "http"
            found[_CONNECTIONS.get(state.route.key.kind, plain), port] = None
        if gateway in self._plain and ("http", None) in found:
            found["https", None] = None
        yield from found

    def at(self, gateway: ResourceKey, scheme: str, port: int | None) -> Naming:
        """Return the routes that may serve requests of a scheme and a port there."""
        plain = self._plain.get(gateway, ()) if scheme in _REQUESTS else ()
        return [
            (state, node)
            for state, node, number in self._naming.get(gateway, ())
            if number in (None, port)
            and (_CONNECTIONS.get(state.route.key.kind) == (None if scheme in _REQUESTS else scheme))
            and (not (plain and node.section) or (node.section in plain) == (scheme == "http"))
        ]

    def naming(self, gateway: ResourceKey, request: Request, kind: str) -> Naming:
        """Return the routes of a kind that may serve a request there."""
        found = self.at(gateway, request.scheme, request.port)
        return [(state, node) for state, node in found if state.route.key.kind == kind]

    def rivals(
        self, naming: Naming, request: Request, first: RuleCandidate, others: Iterable[RuleCandidate]
    ) -> Iterator[RuleCandidate]:
        """Yield those of some matches that count instead of the first one where another listener takes a request.

        Whether they take this one is not asked: others that the first one takes they may take.
        """
        sections: dict[ResourceKey, set[str]] = defaultdict(set)
        for state, node in naming:
            sections[state.route.key].add(node.section)
        here = sections[first.route.key]
        if "" in here:
            return
        is_plain = request.scheme == "http" and any(node.key in self._plain for _, node in naming)
        for other in others:
            if other.route.key != first.route.key and sections[other.route.key] - here - ({""} if is_plain else set()):
                yield other


def _goes_on_to_https(state: RouteState) -> bool:
    """Tell whether a route sends requests to the same host and path, but over TLS."""
    redirects = (
        mapping(mapping(each).get("requestRedirect"))
        for rule in rules(state.route)
        for each in sequence(rule.body.get("filters"))
    )
    return any(
        to.get("scheme") == "https" and to.keys() <= _NOWHERE_ELSE and to.get("port") in (None, _HTTPS)
        for to in redirects
    )
