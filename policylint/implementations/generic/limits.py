"""The timeouts, retries and sessions of a rule in words, as far as who serves it reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from policylint.documents import Pointer
from policylint.model import mapping, sequence
from policylint.model.quantities import milliseconds

_UNITS = (("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))


def limits(
    rule: Mapping[str, object], pointer: Pointer, unread: Collection[str] = (), *, upgraded: bool = False
) -> Iterator[tuple[str, Pointer]]:
    """Yield the timeouts and retries of a rule in words (HTTPRouteTimeouts, HTTPRouteRetry, SessionPersistence).

    Args:
        unread: the fields that who serves the rule does not read: `retry`, `timeouts.request`.
        upgraded: whether the connection is to be upgraded, after which these times hold no more.
    """
    timeouts = mapping(rule.get("timeouts"))
    for name, words in (("request", "request timeout"), ("backendRequest", "timeout of each try")):
        if name in timeouts and not {"timeouts", f"timeouts.{name}"}.intersection(unread):
            until = ", until the connection is upgraded" if upgraded else ""
            yield (f"{words} {_length(timeouts[name])}{until}", (*pointer, "timeouts", name))
    retry = mapping(rule.get("retry")) if "retry" not in unread else {}
    if retry:
        codes = ", ".join(map(str, sequence(retry.get("codes"))))
        attempts = f" {retry['attempts']} times" if "attempts" in retry else ""
        backoff = f", {_length(retry['backoff'])} apart" if "backoff" in retry else ""
        yield (f"retry{attempts}{f' on {codes}' if codes else ''}{backoff}", (*pointer, "retry"))
    session = mapping(rule.get("sessionPersistence")) if "sessionPersistence" not in unread else {}
    if session:
        name = f" {session['sessionName']}" if "sessionName" in session else ""
        yield (f"keep the session by {session.get('type', 'Cookie')}{name}", (*pointer, "sessionPersistence"))


def _length(written: object) -> str:
    """Return a Duration as one writes it: `1m` for `60s`, and what is none as it stands."""
    length = milliseconds(written)
    if not length:
        return "none" if length == 0 else str(written)
    unit, size = next((unit, size) for unit, size in _UNITS if length % size == 0)
    return f"{length // size}{unit}"
