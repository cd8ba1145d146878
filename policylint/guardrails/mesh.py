"""Whether a mesh keeps some clients from the pods of a workload: by who they are, whichever way they come."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from policylint.model import Resource, ResourceKey
from policylint.policy.authorizing import PRINCIPAL
from policylint.reach import Stated, WayIn, entries_at_pods, ways_in
from policylint.spaces.predicates import Predicate
from policylint.trace import Tracer

Entry = Literal["allowed", "denied", "unknown"]
NOBODY = ("",)
"""The identities of who is not in the mesh."""
ANYBODY = ("*/*", "")
"""Those of pods that were not seen."""


class MeshEntry:
    """What the proxies beside pods make of clients, by their identities.

    A client may call pods by their address, past routes and waypoints: what stands there keeps nobody out.
    """

    __slots__ = ("_found", "_tracer")

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._found: dict[tuple[ResourceKey, int | None, tuple[str, ...]], tuple[Entry, str]] = {}

    def of(
        self, target: Resource | None, port: int | None, source: Resource | None, wanted: Collection[str] = ()
    ) -> tuple[Entry, str]:
        """Return whether some clients get any request to a workload, and who keeps them out.

        Args:
            port: of the pods; None for any.
            source: the workload that calls; None for clients with the identities `wanted`.
        """
        if target is None or not self._tracer.admissions.any:
            return "allowed", ""
        clients = tuple(wanted) if source is None else tuple(self._tracer.simulation.clients.shown_by(source))
        place = (target.key, port, clients)
        if place not in self._found:
            self._found[place] = self._judged(target, port, clients)
        return self._found[place]

    def _judged(self, target: Resource, port: int | None, clients: tuple[str, ...]) -> tuple[Entry, str]:
        predicates = {Predicate("Pair", client) for client in clients if client}
        answers: list[Entry] = []
        by: dict[str, None] = {}
        for entry in entries_at_pods(self._tracer, target, port):
            ways = list(ways_in(self._tracer, entry, Stated({PRINCIPAL: predicates})))
            for client in clients:
                met = [way for way in ways if _sends(way, client)]
                by.update((str(denied[0] or "the default"), None) for way in met if (denied := way.trace.denied))
                answers.append(_best(met))
        told = set(answers)
        if not told:
            return "allowed", ""
        return ("unknown" if len(told) > 1 else told.pop()), ", ".join(by)


def _sends(way: WayIn, client: str) -> bool:
    """Return whether a client may send a request of a way."""
    number = next(number for number, dimension in enumerate(way.dimensions) if dimension.name == PRINCIPAL)
    bits = way.dimensions[number].masks[Predicate("Pair", client)] if client else 1
    return any(box[number] & bits for box in way.boxes)


def _best(ways: list[WayIn]) -> Entry:
    """Return what becomes of the requests of a client that get furthest."""
    found: Entry = "denied"
    for way in ways:
        if way.trace.outcome.unknown or any(each.decision.answer == "depends" for each in way.trace.admissions):
            found = "unknown"
        elif way.trace.denied is None:
            return "allowed"
    return found
