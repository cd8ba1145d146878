"""Compare a trace with the `expect` of its request: the requests of a repository serve as its regression tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.model import mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.trace.request import RequestError
from policylint.trace.requirements import Asked
from policylint.trace.result import Trace

FACTS = (
    "backend",
    "backends",
    "status",
    "redirect",
    "refused",
    "answered",
    "mirror",
    "request",
    "response",
    "listener",
    "route",
    "rule",
    "policies",
    "hasNot",
    "backendTLS",
    "authenticated",
    "authorization",
    "network",
)


class Check(NamedTuple):
    """One expectation of a request, and what was found."""

    fact: str
    want: Any
    got: Any
    holds: bool


def checks(trace: Trace, expect: Mapping[str, Any], login: Asked | None = None) -> Iterator[Check]:
    """Yield one check per entry of `expect`.

    Args:
        login: what the request is asked for, None where it gets to no backend.

    Raises:
        RequestError: an entry that is unknown or malformed.
    """
    for fact, want in expect.items():
        if fact not in FACTS:
            from difflib import get_close_matches

            close = get_close_matches(str(fact), FACTS, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise RequestError(f"`expect` has no {fact!r}{hint}; it knows {', '.join(FACTS)}")
        got, holds = _evaluate(trace, fact, want, login)
        yield Check(fact, want, got, holds)


def _evaluate(trace: Trace, fact: str, want: Any, login: Asked | None) -> tuple[Any, bool]:
    outcome = trace.outcome
    shares = {str(key): share for key, share in outcome.backends.items()}
    match fact:
        case "backend":
            return sorted(shares), sorted(shares) == [want]
        case "backends":
            expected_shares = {str(key): share for key, share in mapping(want).items() if share}
            return shares, set(shares) == set(expected_shares) and all(
                abs(shares[key] - expected_shares[key]) < 0.01 for key in expected_shares
            )
        case "status":
            status = 200 if shares else outcome.redirect.status if outcome.redirect else outcome.status
            return status, status in (want if isinstance(want, list) else [want])
        case "redirect":
            redirect = {} if outcome.redirect is None else outcome.redirect._asdict()
            holds = bool(redirect) and all(
                str(redirect.get(key)) == str(expected) for key, expected in mapping(want).items()
            )
            return redirect, holds
        case "refused":
            return outcome.refused, outcome.refused == want
        case "answered":
            return outcome.answered, outcome.answered == want
        case "mirror":
            names = [str(mirror) for mirror in trace.mirrors]
            wanted_mirrors = [want] if isinstance(want, str) else sequence(want)
            return names, sorted(names) == sorted(map(str, wanted_mirrors))
        case "request":
            message = {} if trace.forwarded is None else trace.forwarded._asdict()
            return message, trace.forwarded is not None and _same(mapping(want), message)
        case "response":
            answer = {"headers": dict(trace.response)}
            return answer, _same(mapping(want), answer)
        case "policies":
            owners = _owners(trace)
            named = _named(want)
            return owners, set(owners) >= named if named else not owners
        case "hasNot":
            owners = _owners(trace)
            if set(mapping(want)) != {"policies"} or not _named(want["policies"]):
                raise RequestError("`hasNot` wants {policies: [Kind namespace/name, …]}")
            return {"policies": owners}, not _named(want["policies"]) & set(owners)
        case "network":
            verdict = "allowed" if trace.network is None else trace.network.verdict
            return verdict, verdict == want
        case "authorization":
            return trace.authorization, trace.authorization == want
        case "backendTLS":
            return trace.backend_tls, trace.backend_tls == want
        case "authenticated":
            required = login is not None and login.state == "asked"
            return required, required == want
        case _:
            listener, route = trace.listener, trace.route
            nodes = {"listener": listener and listener.node, "route": route and route.key, "rule": trace.rule}
            got = None if nodes[fact] is None else str(nodes[fact])
            return got, got == want


def _owners(trace: Trace) -> list[str]:
    """Return the policies of which the request meets a setting."""
    return sorted(map(str, {key for met in trace.policies for key in met.group.effective.sources}))


def _named(policies: Any) -> set[str]:
    """Return the policies that an expectation names, in a list or one alone."""
    return {policies} if isinstance(policies, str) else {str(policy) for policy in sequence(policies)}


def _same(want: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """Return whether the named fields are equal, the named headers have the values, and `absentHeaders` are absent."""
    headers = {str(name).lower(): str(value) for name, value in mapping(got.get("headers")).items()}
    expected_headers = {str(name).lower(): str(value) for name, value in mapping(want.get("headers")).items()}
    return (
        all(got.get(name) == want[name] for name in ("method", "host", "path", "sni") if name in want)
        and all(headers.get(name) == value for name, value in expected_headers.items())
        and not any(str(name).lower() in headers for name in sequence(want.get("absentHeaders")))
    )
