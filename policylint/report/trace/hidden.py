"""Requests of clients whose address no proxy sees: a node that passes a connection on shows its own.

Which address that is, and whether a load balancer keeps the client's, stands in no manifest (GWP327).
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.doors.hiding import FIELD, Hiding
from policylint.doors.hiding_entries import hiding_at
from policylint.model import ResourceKey
from policylint.policy.authorizing import CLIENT
from policylint.simulation import Simulation
from policylint.trace.precedence import RuleCandidate
from policylint.trace.request import Request
from policylint.trace.result import Trace
from policylint.trace.tracing import Tracer


class TracerFromOutside(Tracer):
    """Traces requests of clients at the addresses that they have themselves, which proxies may not see."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self._hiding: dict[ResourceKey, Hiding | None] = {}

    def trace(self, request: Request, among: Sequence[RuleCandidate] | None = None) -> Trace:
        """Return the trace of one request; where nodes hide its address, that is not known to what asks for it."""
        trace = super().trace(request, among)
        if not request.address or trace.gateway is None:
            return trace
        hiding = self._at(trace.gateway)
        if hiding is None:
            return trace
        unseen = super().trace(request._replace(address=""), among)
        if unseen.gateway != trace.gateway or not any(each.name == CLIENT for each in unseen.questions):
            return trace
        if unseen.denied is not None:  # whatever its address is
            return unseen._replace(request=request)
        default = "" if hiding.is_stated else ", the default"
        owner = f"{hiding.owner.key} (`{FIELD}: Cluster`{default})"
        note = f"{request.address} is perhaps not what the proxy sees: {owner} shows it the address of a node instead"
        return unseen._replace(request=request, notes=(*unseen.notes, note))

    def _at(self, entry: ResourceKey) -> Hiding | None:
        if entry not in self._hiding:
            self._hiding[entry] = hiding_at(self.simulation, entry)
        return self._hiding[entry]
