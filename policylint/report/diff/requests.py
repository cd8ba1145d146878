"""What a change does to requests, as text, Markdown and data: what opens and closes, with an example of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policylint.compare.requests import (
    OPENED,
    RequestChange,
    RequestChanges,
    RequestSet,
    Said,
    difference_in_words,
    doors_in_words,
    example_in_words,
    sets_in_words,
)
from policylint.model.words import count, leading
from policylint.report.kit.display import one_line, short_place
from policylint.report.kit.identity import Names
from policylint.trace.request import arguments, claims_of

if TYPE_CHECKING:
    from policylint.compare.change import EnvironmentChange, SubjectChange
    from policylint.model import Finding
    from policylint.report.diff.report import DiffReport

MARKS = {"opened": "+", "less-asked": "+", "rerouted": "~", "changed": "~", "more-asked": "-", "closed": "-"}
WORDS = {
    "opened": "opened",
    "less-asked": "less asked",
    "rerouted": "other backend",
    "changed": "different response",
    "more-asked": "more asked",
    "closed": "closed",
}
AS_BEFORE = "answers all requests as before"
BESIDE_REQUESTS = frozenset({"GWP304", "GWP325"})
"""What a change takes away, or alters at the ends of requests, where comparing requests shows nothing."""


def parts(report: DiffReport) -> list[str]:
    """Return what a verdict says of requests: `more of them reach 2 hosts`, or that all are answered as before.

    That is said of both ends: not where what is behind a backend is another one (GWP325), or is checked with less care.
    """
    environments = report.comparison.environments
    known = [environment.requests for environment in environments if environment.requests is not None]
    said = []
    for change, words in (("opened", "more"), ("closed", "fewer")):
        hosts = {
            host for requests in known for entry in requests.changes if entry.change == change for host in entry.hosts
        }
        if hosts:
            said.append(f"{words} requests reach {count(len(hosts), 'host')}")
    same = known and all(requests.same for requests in known)
    has_other_ends = any(finding.rule in BESIDE_REQUESTS for finding in report.known("new"))
    return said or ([AS_BEFORE] if same and not has_other_ends else [])


def is_of_commits(span: str) -> bool:
    """Tell whether both sides are commits: what is not committed is nowhere else."""
    return re.fullmatch(r"[0-9a-f]{7}\.\.[0-9a-f]{7}", span) is not None


def command(report: DiffReport, change: RequestChange) -> str:
    """Return the command that shows an example on both sides, where both are revisions."""
    words = [*arguments(change.example)]
    if revisions := report.readers or (report.span if is_of_commits(report.span) else ""):
        words += ["--at", revisions]
    return one_line(f"policylint trace {shlex.join(words)}")


def severities(report: DiffReport) -> dict[tuple[str, str], str]:
    """Return `warning[GWP324]` for each environment and change of which a finding is more than a note."""
    return {
        (name, finding.notes[0]): f"{finding.severity}[{OPENED}]"
        for finding in report.known("new")
        if finding.rule == OPENED and finding.severity != "note" and finding.notes
        for name in finding.environments
    }


def kind(change: RequestChange, found: Mapping[tuple[str, str], str]) -> str:
    """Return `opened`, with the finding that says so where there is one: `opened, warning[GWP324]`."""
    severity = found.get((change.environment, example_in_words(change)))
    return WORDS[change.change] + (f", {severity}" if severity else "")


def beside(findings: Iterable[Finding], shown: Iterable[RequestChange]) -> list[Finding]:
    """Return the findings that stand beside what is said of requests: those that say the same are left out."""
    told = {example_in_words(change) for change in shown}
    return [
        finding
        for finding in findings
        if finding.rule != OPENED or not (finding.severity == "note" or not told.isdisjoint(finding.notes))
    ]


def text(report: DiffReport, requests: RequestChanges, most: int) -> Iterator[tuple[str, str]]:
    """Yield a mark and a line for what is said of requests, details with no mark."""
    found = severities(report)
    for change in requests.changes[:most]:
        yield MARKS[change.change], f"{kind(change, found)}: {sets_in_words(change)}, {doors_in_words(change)}"
        yield "", difference_in_words(change)
        by = [f"{who.policy}" + (f" ({short_place(who.location)})" if who.location else "") for who in change.by]
        if by:
            yield "", f"by {leading(by, 3)}"
        if change.example.can_be_sent:
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
            **({"client": request.client, "service": request.service} if request.service else {}),
            **({"client": request.client, "pod": request.pod} if request.pod else {}),
            **({"address": request.address} if request.address else {}),
            **({"clientCertificate": request.client_certificate} if request.client_certificate else {}),
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
        "before": _said(requests.before),
        "after": _said(requests.after),
    }


def _said(said: Said) -> dict[str, Any]:
    purposes = {"login": said.login, "authorization": said.authorization}
    return {"end": said.end or None, **{name: given._asdict() for name, given in purposes.items() if given.state}}
