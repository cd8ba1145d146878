"""Traced requests as text or JSON, and the verdict of `trace --check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.namedtuple import NamedTuple
from policylint.report.kit.display import Paint
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation
from policylint.trace import Request, Trace, Tracer
from policylint.trace.expecting import Check, checks

FORMATS = ("text", "json")


class One(NamedTuple):
    """A request in one environment, with what came of its `expect`."""

    environment: str
    trace: Trace
    checks: tuple[Check, ...]

    @property
    def failed(self) -> bool:
        return not all(each.holds for each in self.checks)


class Traced(NamedTuple):
    """Requests in environments, in the order in which they were asked."""

    simulations: tuple[Simulation, ...]
    ones: tuple[One, ...]
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
        """Trace every request through every environment.

        Where there are several environments, one that does not hold the Gateway or Service that is asked for is left
        out, as long as another one does.

        Raises:
            RequestError: a request that cannot be asked anywhere.
        """
        from policylint.trace import RequestError

        tracers = [(each.world.name, Tracer(each)) for each in sorted(simulations, key=lambda each: each.world.name)]
        ones: list[One] = []
        for request, expect in asked:
            found: list[One] = []
            complaint: RequestError | None = None
            for name, tracer in tracers:
                try:
                    trace = tracer.trace(request)
                except RequestError as error:
                    complaint = complaint or error
                    continue
                found.append(One(name, trace, tuple(checks(trace, expect)) if check else ()))
            if complaint is not None and not found:
                raise complaint
            ones += found
        names = Names(key for each in simulations for key in each.world.resources)
        return cls(tuple(simulations), tuple(ones), names, check)

    @property
    def failed(self) -> bool:
        return any(each.failed for each in self.ones)

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
            yield from text.verdicts(traced.ones, paint)
        else:
            former = () if traced.before is None else traced.before[1].ones
            name = "" if traced.before is None else traced.before[0]
            yield from text.pages(traced.ones, traced.names, paint, width, traced.several, (name, former))


def _json(traced: Traced) -> str:
    import json

    from policylint.report.trace.trace_v1 import document, entry

    entries = []
    for one in traced.ones:
        found = entry(one.trace, traced.names, one.environment if traced.several else "")
        if one.checks:
            found["checks"] = [each._asdict() for each in one.checks]
        entries.append(found)
    if traced.before is not None:
        name, former = traced.before
        listed = [entry(each.trace, former.names, each.environment if former.several else "") for each in former.ones]
        return json.dumps({**document(entries), "revision": name, "before": listed}, indent=2, default=str) + "\n"
    return json.dumps(document(entries), indent=2, ensure_ascii=False, default=str) + "\n"
