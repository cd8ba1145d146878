"""The timeouts, retries and sessions of a rule in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policylint.documents import Pointer
from policylint.model import mapping, sequence


def limits(rule: Mapping[str, object], pointer: Pointer) -> Iterator[tuple[str, Pointer]]:
    """Yield the timeouts and retries of a rule in words (HTTPRouteTimeouts, HTTPRouteRetry, SessionPersistence)."""
    timeouts = mapping(rule.get("timeouts"))
    for name, words in (("request", "request timeout"), ("backendRequest", "timeout of each try")):
        if name in timeouts:
            never = "none" if str(timeouts[name]).strip("hms") == "0" else str(timeouts[name])
            yield (f"{words} {never}", (*pointer, "timeouts", name))
    retry = mapping(rule.get("retry"))
    if retry:
        codes = ", ".join(map(str, sequence(retry.get("codes"))))
        attempts = f" {retry['attempts']} times" if "attempts" in retry else ""
        backoff = f", {retry['backoff']} apart" if "backoff" in retry else ""
        yield (f"retry{attempts}{f' on {codes}' if codes else ''}{backoff}", (*pointer, "retry"))
    session = mapping(rule.get("sessionPersistence"))
    if session:
        name = f" {session['sessionName']}" if "sessionName" in session else ""
        yield (f"keep the session by {session.get('type', 'Cookie')}{name}", (*pointer, "sessionPersistence"))
