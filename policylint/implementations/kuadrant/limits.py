"""Limits of RateLimitPolicies that are never reached, since a smaller one counts all of their requests as well.

Limitador asks every limit that a request meets, and the first one that is full ends it.
Source: docs.kuadrant.io, «RateLimitPolicy»; Kuadrant/kuadrant-operator#499; documentation of Limitador, «How it works».
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Resource, integer, mapping, sequence, text, value_at
from policylint.patterns import Pattern
from policylint.policy.results import FaultyPart

_PINNED = Pattern(r"(\S+) == (?:'[^'\\]*'|\"[^\"\\]*\")")
_SPAN = Pattern(r"(\d+)(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SECTIONS: tuple[Pointer, ...] = (("spec",), ("spec", "defaults"), ("spec", "overrides"))


def unreached(policy: Resource) -> Iterator[FaultyPart]:
    """Yield the limits that another one of the policy makes idle."""
    for section in _SECTIONS:
        stated = mapping(value_at(policy.body, (*section, "limits")))
        limits = {str(name): mapping(limit) for name, limit in stated.items()}
        for name, limit in limits.items():
            wider = next((each for each, other in limits.items() if each != name and _covers(other, limit)), None)
            if wider is not None:
                why = f"{wider} counts all of these requests as well, allows fewer, and is full first"
                fix = f"keep them out of {wider} with a `when`, or allow fewer here"
                yield FaultyPart((*section, "limits", name), why, fix=fix, outcome="is never reached")


def _covers(wide: Mapping[str, Any], narrow: Mapping[str, Any]) -> bool:
    """Return whether a limit counts every request of another one in one counter, and is smaller."""
    asked, own = _predicates(wide), _predicates(narrow)
    if not asked <= own:
        return False
    pinned = {match[1] for each in own if (match := _PINNED.fullmatch(each))}
    if not _counters(wide) <= pinned | _counters(narrow):
        return False
    rates = [_rate(each) for each in sequence(wide.get("rates"))]
    others = [_rate(each) for each in sequence(narrow.get("rates"))]
    return bool(others) and all(
        other is not None and any(rate is not None and _is_smaller(rate, other) for rate in rates) for other in others
    )


def _is_smaller(rate: tuple[int, float], other: tuple[int, float]) -> bool:
    return rate != other and rate[0] <= other[0] and rate[1] >= other[1]


def _predicates(limit: Mapping[str, Any]) -> set[str]:
    return {_plain(text(mapping(each).get("predicate"))) for each in sequence(limit.get("when"))}


def _counters(limit: Mapping[str, Any]) -> set[str]:
    return {_plain(text(mapping(each).get("expression"))) for each in sequence(limit.get("counters"))}


def _plain(written: str) -> str:
    return re.sub(r"\s*==\s*", " == ", written.strip())


def _rate(rate: object) -> tuple[int, float] | None:
    """Return how many requests a rate allows, and in how many seconds."""
    stated = mapping(rate)
    limit, window = integer(stated.get("limit")), text(stated.get("window"))
    spans = list(_SPAN.finditer(window))
    if limit is None or not spans or "".join(each[0] for each in spans) != window:
        return None
    return limit, sum(int(each[1]) * _SECONDS[each[2]] for each in spans)
