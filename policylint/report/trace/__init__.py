"""Traced requests as text or JSON, and the verdict of `trace --check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.namedtuple import NamedTuple
from policylint.report.kit.display import Paint
from policylint.report.kit.identity import Names, visible_json
from policylint.report.trace.environments import TracedRequest, trace_requests
from policylint.report.trace.trace_v1 import VERSION, Entry, entry, redirects
from policylint.simulation import Simulation
from policylint.trace import Request, RequestError

Expecting = tuple[Request, Mapping[str, Any]]
"""A request, and what is expected of it."""


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
        cls, simulations: Sequence[Simulation], asked: Sequence[Expecting], *, check: bool = False, absent: bool = False
    ) -> Traced:
        """Trace every request through every environment (`trace_requests`)."""
        requests = trace_requests(simulations, asked, check=check, absent=absent)
        return cls(tuple(simulations), tuple(requests), Names.of(simulations), check)

    @classmethod
    def of_both(
        cls, former: Sequence[Simulation], latter: Sequence[Simulation], asked: Sequence[Expecting], *, check: bool
    ) -> tuple[Traced, Traced]:
        """Trace every request through both sides of a change, of which one may lack what is asked for."""
        try:
            now = cls.of(latter, asked, check=check)
        except RequestError:
            return cls.of(former, asked), cls.of(latter, asked, check=check, absent=True)
        return cls.of(former, asked, absent=True), now

    @property
    def failed(self) -> bool:
        return any(request.failed for request in self.requests)

    @property
    def several(self) -> bool:
        return len(self.simulations) > 1


def write(form: str, traced: Traced, paint: Paint, width: int) -> Iterator[str]:
    """Yield the pieces of the document in a format (formats.py)."""
    if form == "json":
        yield _json(traced)
        return
    from policylint.report.trace import text

    yield from text.verdicts(traced.requests, paint) if traced.checked else text.pages(traced, paint, width)


def _json(traced: Traced) -> str:
    import json

    document: dict[str, Any] = {"version": VERSION, "requests": _entries(traced)}
    if traced.before is not None:
        revision, former = traced.before
        document |= {"revision": revision, "before": _entries(former, checks=False)}
    return visible_json(json.dumps(document, indent=2, ensure_ascii=traced.before is not None, default=str)) + "\n"


def _entries(traced: Traced, *, checks: bool = True) -> list[Entry]:
    entries = []
    for request in traced.requests:
        content = entry(request.trace, traced.names, request.environment if traced.several else "", request.login)
        if request.followed.traces or request.followed.loops:
            content["redirects"] = redirects(request.followed, traced.names)
        if checks and request.checks:
            content["checks"] = [check._asdict() for check in request.checks]
        entries.append(content)
    return entries
