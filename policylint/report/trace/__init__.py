"""Traced requests as text or JSON, and the verdict of `trace --check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.namedtuple import NamedTuple
from policylint.report.kit.display import Paint
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation
from policylint.trace import Request
from policylint.trace.environments import TracedRequest, trace_requests

FORMATS = ("text", "json")


class Traced(NamedTuple):
    """Requests in environments, in the order in which they were asked."""

    simulations: tuple[Simulation, ...]
    requests: tuple[TracedRequest, ...]
    names: Names
    checked: bool
    before: tuple[str, Any] | None = None
    """A revision to compare with, and the same requests there."""

    @classmethod
    def of(
        cls,
        simulations: Sequence[Simulation],
        asked: Sequence[tuple[Request, Mapping[str, Any]]],
        *,
        check: bool = False,
    ) -> Traced:
        """Trace every request through every environment (`trace_requests`)."""
        requests = trace_requests(simulations, asked, check=check)
        names = Names(key for each in simulations for key in each.world.resources)
        return cls(tuple(simulations), tuple(requests), names, check)

    @property
    def failed(self) -> bool:
        return any(each.failed for each in self.requests)

    @property
    def several(self) -> bool:
        return len(self.simulations) > 1


def write(form: str, traced: Traced, paint: Paint, width: int) -> Iterator[str]:
    """The pieces of the document in one of FORMATS."""
    if form == "json":
        yield _json(traced)
    else:
        from policylint.report.trace import text

        if traced.checked:
            yield from text.verdicts(traced.requests, paint)
        else:
            former = () if traced.before is None else traced.before[1].requests
            name = "" if traced.before is None else traced.before[0]
            yield from text.pages(traced.requests, traced.names, paint, width, traced.several, (name, former))


def _json(traced: Traced) -> str:
    import json

    from policylint.report.trace.trace_v1 import document, entry

    entries = []
    for one in traced.requests:
        found = entry(one.trace, traced.names, one.environment if traced.several else "")
        if one.checks:
            found["checks"] = [each._asdict() for each in one.checks]
        entries.append(found)
    if traced.before is not None:
        name, former = traced.before
        listed = [
            entry(each.trace, former.names, each.environment if former.several else "") for each in former.requests
        ]
        return json.dumps({**document(entries), "revision": name, "before": listed}, indent=2, default=str) + "\n"
    return json.dumps(document(entries), indent=2, ensure_ascii=False, default=str) + "\n"
