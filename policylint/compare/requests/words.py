"""What is said of requests that are answered otherwise: which they are, through where, and how."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from policylint.compare.requests.changes import RequestChange
from policylint.model.words import count, leading
from policylint.spaces.words import EVERY_REQUEST
from policylint.trace.request import arguments

_MOST_SETS, _MOST_HOSTS = 3, 3


def sets_in_words(change: RequestChange) -> str:
    """Return `shop.example.com /checkout/**; api.example.com and 3 more every request`."""
    doors: dict[tuple[object, ...], list[str]] = {}
    for each in change.requests:
        doors.setdefault((each.words, each.gateway, each.scheme, each.port), []).extend(each.hosts)
    alike = {(tuple(sorted(set(hosts))), str(door[0])): None for door, hosts in doors.items()}
    words = [_set(hosts, requests) for hosts, requests in alike]
    shown = "; ".join(words[:_MOST_SETS])
    if len(words) > _MOST_SETS:
        left = {host for hosts, _ in list(alike)[_MOST_SETS:] for host in hosts}
        shown += f"; and more on {count(len(left), 'host')}"
    return f"some of {shown}" if change.partly else shown


def _set(hosts: Sequence[str], requests: str) -> str:
    named = leading(hosts, _MOST_HOSTS)
    return f"{named}, every request" if requests == EVERY_REQUEST else f"{named} {requests}".lstrip()


def doors_in_words(change: RequestChange) -> str:
    """Return `through Gateway infra/edge (http 80, https 443)`, or `inside the mesh to Service shop/web (http 80)`."""
    ports: dict[str, dict[str, None]] = {}
    for requests in change.requests:
        port = "" if requests.port is None else f"{requests.scheme} {requests.port}"
        ports.setdefault(str(requests.gateway), {})[port] = None
    named = (
        f"{gateway} ({listed})" if (listed := ", ".join(filter(None, at))) else gateway for gateway, at in ports.items()
    )
    inside = all(requests.inside for requests in change.requests)
    return f"{'inside the mesh to' if inside else 'through'} {leading(named, 2)}"


def difference_in_words(change: RequestChange) -> str:
    """Return `login: jwt by infra/edge-jwt -> none`, `404: no matching route -> shop/admin`."""
    if change.before == change.after:
        if change.purpose:
            return f"{purpose_in_words(change.purpose)}: {change.after}, with other values"
        return f"{', '.join(change.settings)} of {change.after} with other values"
    about = f"{subject}: " if (subject := what_differs(change)) else ""
    return f"{about}{change.before} -> {change.after}"


def what_differs(change: RequestChange) -> str:
    """Return what differs: `login`, `filters`; "" where requests end elsewhere."""
    return purpose_in_words(change.purpose) or ", ".join(change.settings)


def purpose_in_words(purpose: str) -> str:
    """Return `login` for authentication; authorization is called so everywhere."""
    return "login" if purpose == "authentication" else purpose


def example_in_words(change: RequestChange) -> str:
    """Return the line of help that shows an example: of changes with one example, all or none are exposed."""
    if not change.example.can_be_sent:
        return f"note: no client can send {change.example}, since the API server refuses the path"
    return f"see: policylint trace {shlex.join(arguments(change.example))}"
