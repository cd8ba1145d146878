"""What a change does to requests, as text, Markdown and data: what opens and closes, with an example of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policylint.compare.requests import RequestChange, RequestChanges, RequestSet
from policylint.model.words import count, leading
from policylint.report.kit.display import one_line, short_place
from policylint.report.kit.identity import Names
from policylint.trace.request import arguments, claims_of

if TYPE_CHECKING:
    from policylint.compare.change import EnvironmentChange, SubjectChange
    from policylint.report.diff.report import DiffReport

MARKS = {"opened": "+", "less-asked": "+", "rerouted": "~", "changed": "~", "more-asked": "-", "closed": "-"}
WORDS = {
    "opened": "opened",
    "less-asked": "less asked",
    "rerouted": "other backend",
    "changed": "answered otherwise",
    "more-asked": "more asked",
    "closed": "closed",
}
AS_BEFORE = "answers all requests as before"
_MOST_SETS, _MOST_HOSTS = 3, 3


def parts(environments: Iterable[EnvironmentChange]) -> list[str]:
    """Return what a verdict says of requests: `opens requests to 2 hosts`, or that all are answered as before."""
    known = [environment.requests for environment in environments if environment.requests is not None]
    said = []
    for change, words in (("opened", "opens"), ("closed", "closes")):
        hosts = {
            host for requests in known for entry in requests.changes if entry.change == change for host in entry.hosts
        }
        if hosts:
            said.append(f"{words} requests to {count(len(hosts), 'host')}")
    return said or ([AS_BEFORE] if known and all(requests.same for requests in known) else [])


def sets_in_words(change: RequestChange) -> str:
    """Return `shop.example.com /checkout/**; api.example.com and 3 more every request`."""
    alike: dict[tuple[tuple[str, ...], str], None] = {(each.hosts, each.words): None for each in change.requests}
    words = [_set(hosts, requests) for hosts, requests in alike]
    shown = "; ".join(words[:_MOST_SETS])
    if len(words) > _MOST_SETS:
        left = {host for hosts, _ in list(alike)[_MOST_SETS:] for host in hosts}
        shown += f"; and more on {count(len(left), 'host')}"
    return f"some of {shown}" if change.partly else shown


def _set(hosts: Sequence[str], requests: str) -> str:
    named = leading(hosts, _MOST_HOSTS)
    return f"{named}, every request" if requests == "every request" else f"{named} {requests}"


def doors_in_words(change: RequestChange) -> str:
    """Return `through Gateway infra/edge (http 80, https 443)`."""
    ports: dict[str, dict[str, None]] = {}
    for requests in change.requests:
        port = "" if requests.port is None else f"{requests.scheme} {requests.port}"
        ports.setdefault(str(requests.gateway), {})[port] = None
    named = (
        f"{gateway} ({listed})" if (listed := ", ".join(filter(None, at))) else gateway for gateway, at in ports.items()
    )
    return f"through {leading(named, 2)}"


def difference_in_words(change: RequestChange) -> str:
    """Return `authentication: jwt by infra/edge-jwt -> nothing`, `no rule takes them -> shop/admin`."""
    purpose = f"{change.purpose}: " if change.purpose else ""
    if change.before == change.after:
        return f"{purpose}{', '.join(change.settings)} of {change.after} with other values"
    return f"{purpose}{change.before} -> {change.after}"


def command(report: DiffReport, change: RequestChange) -> str:
    """Return the command that shows an example on both sides, where both are revisions."""
    words = [*arguments(change.example)]
    if re.fullmatch(r"[0-9a-f]{7}\.\.[0-9a-f]{7}", report.span):
        words += ["--at", report.span]
    return one_line(f"policylint trace {shlex.join(words)}")


def text(report: DiffReport, requests: RequestChanges, most: int) -> Iterator[tuple[str, str]]:
    """Yield a mark and a line for what is said of requests, details with no mark."""
    for change in requests.changes[:most]:
        yield MARKS[change.change], f"{WORDS[change.change]}: {sets_in_words(change)}, {doors_in_words(change)}"
        yield "", difference_in_words(change)
        by = [f"{who.policy}" + (f" ({short_place(who.location)})" if who.location else "") for who in change.by]
        if by:
            yield "", f"by {leading(by, 3)}"
        yield "", f"e.g. {command(report, change)}"
    if len(requests.changes) > most:
        yield "", f"and {len(requests.changes) - most} more (--format json-v1 lists all)"
    for why, hosts in requests.unknown:
        yield "!", f"not known for {count(hosts, 'host')}: {why}"


def told(environment: EnvironmentChange, weakened: Collection[tuple[object, str]]) -> dict[int, RequestChange]:
    """Return the changes that rows about protections tell, by id: those of the same settings of the same routes.

    Args:
        weakened: subjects with the settings that they lose or of which they are asked less.
    """
    changes = () if environment.requests is None else environment.requests.changes
    return {
        id(change): change
        for change in changes
        if change.purpose
        and change.change in ("opened", "less-asked")
        and change.routes
        and all(
            any((route, setting.partition(".")[0]) in weakened for setting in change.settings)
            for route in change.routes
        )
    }


def of_row(
    changes: Iterable[RequestChange], subjects: Collection[SubjectChange], settings: Collection[str]
) -> list[RequestChange]:
    """Return the changes that a row about some settings of some subjects tells."""
    keys = {subject.key for subject in subjects}
    return [
        change
        for change in changes
        if not keys.isdisjoint(change.routes)
        and any(setting.partition(".")[0] in settings for setting in change.settings)
    ]


def entry(report: DiffReport, environment: EnvironmentChange, names: Names) -> dict[str, Any]:
    """Return what is said of requests in an environment, as data."""
    requests = environment.requests or RequestChanges()
    return {
        "environment": environment.name,
        "hosts": requests.hosts,
        "as_before": requests.same,
        "unknown": [{"because": why, "hosts": hosts} for why, hosts in requests.unknown],
        "changes": [_change(report, change, names) for change in requests.changes],
    }


def _change(report: DiffReport, change: RequestChange, names: Names) -> dict[str, Any]:
    request = change.example
    return {
        "change": change.change,
        "purpose": change.purpose or None,
        "settings": list(change.settings),
        "before": change.before,
        "after": change.after,
        "by": [{"object": names.key(who.policy), "location": report.place(who.location)} for who in change.by],
        "routes": names.keys(change.routes),
        "partly": change.partly,
        "requests": [_requests(requests, names) for requests in change.requests],
        "example": {
            "method": request.method,
            "scheme": request.scheme,
            "host": request.host,
            "port": request.port,
            "path": request.path,
            "headers": dict(request.headers),
            "gateway": request.gateway,
            "grpc": request.grpc,
            **({"address": request.address} if request.address else {}),
            **({} if request.claims is None else {"claims": claims_of(request)}),
        },
    }


def _requests(requests: RequestSet, names: Names) -> dict[str, Any]:
    return {
        "gateway": names.key(requests.gateway),
        "scheme": requests.scheme,
        "port": requests.port,
        "hosts": list(requests.hosts),
        "requests": requests.words,
    }
