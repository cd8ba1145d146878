"""Requests through every environment, and whether they end as their `expect` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.doors.weights import weighed_by
from policylint.namedtuple import NamedTuple
from policylint.report.trace.expecting import Check, checks
from policylint.report.trace.hidden import TracerFromOutside
from policylint.simulation import Simulation
from policylint.trace.redirects import Followed, followed
from policylint.trace.request import Request, RequestError
from policylint.trace.requirements import Asked, Requirements
from policylint.trace.result import Outcome, Trace
from policylint.trace.tracing import Tracer


class TracedRequest(NamedTuple):
    """A request in one environment, and what came of each entry of its `expect`.

    Args:
        login: what it is asked for, where it gets to a backend.
        followed: what a client meets that follows its redirect, each with what it is asked for in `logins`.
    """

    environment: str
    trace: Trace
    login: Asked | None = None
    checks: tuple[Check, ...] = ()
    followed: Followed = Followed()
    logins: tuple[Asked | None, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the request does not do what was expected."""
        return not all(check.holds for check in self.checks)


def _weighed(tracer: Tracer, trace: Trace) -> Trace:
    """Return a trace with a note where the shares of its backends are those of the files between releases alone."""
    writers = weighed_by(tracer.simulation.world) if len(trace.outcome.shares) > 1 else {}
    writer = None if trace.route is None else writers.get(trace.route.key)
    note = f"{writer.key} writes these weights during a release" if writer is not None else ""
    return trace._replace(notes=(*trace.notes, note)) if note else trace


def trace_requests(
    simulations: Sequence[Simulation],
    asked: Sequence[tuple[Request, Mapping[str, Any]]],
    *,
    check: bool = False,
    absent: bool = False,
) -> list[TracedRequest]:
    """Trace every request through every environment, those sorted by name.

    Where there are several environments, one that does not hold the Gateway or Service that is asked for is left out,
    as long as another one does.

    Args:
        asked: requests, each with what is expected of it.
        check: compare with what is expected.
        absent: whether what is asked for may be missing here, as on one side of a change: nothing answers then.

    Raises:
        RequestError: a request that cannot be asked anywhere.
    """
    by_name = sorted(simulations, key=lambda simulation: simulation.world.name)
    tracers = [(simulation.world.name, TracerFromOutside(simulation)) for simulation in by_name]
    requirements = {name: Requirements(tracer) for name, tracer in tracers}
    traced: list[TracedRequest] = []
    for request, expect in asked:
        here: list[TracedRequest] = []
        complaint: RequestError | None = None
        for name, tracer in tracers:
            try:
                trace = tracer.trace(request)
            except RequestError as error:
                complaint = complaint or error
                continue
            trace = _weighed(tracer, trace)
            then = followed(tracer, trace)
            login, *logins = (
                requirements[name].of(each, "authentication") if each.outcome.backends else None
                for each in (trace, *then.traces)
            )
            met = tuple(checks(trace, expect, login)) if check else ()
            here.append(TracedRequest(name, trace, login, met, then, tuple(logins)))
        if complaint is not None and not here:
            if not absent:
                raise complaint
            name, tracer = tracers[0]
            refused = Trace(request, Outcome(refused=True, reason=str(complaint)))
            here.append(TracedRequest(name, refused, None, (), followed(tracer, refused)))
        traced += here
    return traced
