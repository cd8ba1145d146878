"""What gRPC calls meet of matches on paths: a call that no GRPCRoute takes is a request like any other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from policylint.matches import Term
from policylint.spaces.predicates import Predicate
from policylint.trace.precedence import RuleCandidate

UNTOLD = "which calls the paths of HTTPRoutes are for"
"""What is not known where a path says something else than a service and a method."""


def met_by_calls(candidates: Iterable[RuleCandidate]) -> tuple[list[RuleCandidate], bool]:
    """Return the matches on paths that calls may satisfy, as matches on calls, and whether those are all.

    Of the others no call satisfies them, or it is not known which ones do.
    """
    found, is_whole = [], True
    for candidate in candidates:
        terms = [_met(condition) for condition in candidate.match.conditions]
        if any(each is None for each in terms):
            is_whole = False
        elif False not in terms:
            told = tuple(term for several in terms if isinstance(several, tuple) for term in several)
            found.append(candidate._replace(match=candidate.match._replace(conditions=told)))
    return found, is_whole


def _met(condition: Term) -> tuple[Term, ...] | Literal[False] | None:
    """Return what a condition asks of calls; False where none satisfies it, None where that is not told."""
    predicate = condition.predicate
    if condition.name == "method":
        taken = None if condition.fault else predicate.takes("POST")
        return None if taken is None else () if taken is not condition.negated else False
    if condition.name != "path":
        return (condition,)
    if condition.fault or not (predicate.type == "Exact" or predicate.is_prefix):
        return None
    steps = [step for step in predicate.value.strip("/").split("/") if step]
    takes_all = predicate.is_prefix and not steps
    is_of_none = predicate.type == "Exact" and (len(steps) != 2 or predicate.value.endswith("/"))
    if takes_all or is_of_none or len(steps) > 2:
        return () if takes_all is not condition.negated else False
    if condition.negated and len(steps) == 2:
        return None
    told = zip(("service", "call"), steps, strict=False)
    return tuple(condition._replace(name=name, predicate=Predicate("Exact", step)) for name, step in told)
