"""Matches on calls as matches on the paths of requests, for proxies that do not tell calls from requests, and the other
way round: matches on paths as calls meet them that no route for calls takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from policylint.matches import ORDER, PATH_TYPES, Match, Term, read
from policylint.model import mapping, text
from policylint.regex import quoted
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate

_ANY_SERVICE: Final = r"(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*"
_ANY_METHOD: Final = "[A-Za-z_][A-Za-z_0-9]*"


def by_path(call: Match) -> Match:
    """Return a match on calls as one on the paths of requests, for proxies that do not tell calls from requests.

    It ranks as one of an HTTPRoute with that path. Source: Envoy Gateway's internal/gatewayapi/route.go @ v1.9.1,
    processGRPCRouteMethod{Exact,RegularExpression}.
    """
    method = mapping(call.value.get("method"))
    service, name = text(method.get("service")), text(method.get("method"))
    kind, value = PREFIX, "/"
    if text(method.get("type")) == EXPRESSION and (service or name):
        kind, value = EXPRESSION, f"/{service or _ANY_SERVICE}/{name or _ANY_METHOD}"
    elif service:
        kind, value = ("Exact", f"/{service}/{name}") if name else (PREFIX, f"/{service}")
    elif name:
        kind, value = EXPRESSION, f".*/{quoted(name)}"
    return on_path(call, kind, value, (ORDER[kind], len(value), 0, call.weights[-1], 0))


def on_path(call: Match, kind: str, value: str, weights: tuple[int, ...]) -> Match:
    """Return a match on calls as one on a path, with its rank among those of HTTPRoutes."""
    path = Term("path", read(kind, value, PATH_TYPES), f"{'path' if kind == 'Exact' else kind} {value}")
    rest = (each for each in call.conditions if each.name not in ("service", "call"))
    return call._replace(
        conditions=(path, *rest), weights=weights, grpc=False, value=_as_written(call.value, kind, value)
    )


def met_by_calls(match: Match) -> Match | Literal[False] | None:
    """Return a match on paths as one on calls; False where no call satisfies it, None where it is not told which do."""
    terms = [_met(condition) for condition in match.conditions]
    if False in terms:
        return False
    told = [term for several in terms for term in several or ()]
    return None if None in terms else match._replace(conditions=tuple(told))


def _met(condition: Term) -> tuple[Term, ...] | Literal[False] | None:
    """Return what a condition asks of calls; False where none satisfies it, None where that is not told."""
    predicate = condition.predicate
    if condition.name == "method":
        taken = None if condition.fault else predicate.takes("POST")
        return None if taken is None else () if taken is not condition.negated else False
    if condition.name != "path":
        return (condition,)
    if condition.fault or predicate.is_open or not (predicate.type == "Exact" or predicate.is_prefix):
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


def _as_written(entry: Mapping[str, Any], kind: str, value: str) -> Mapping[str, Any]:
    """Return the entry of a GRPCRoute as an HTTPRoute would have it."""
    rest = {name: part for name, part in entry.items() if name != "method"}
    return {"path": {"type": kind, "value": value}, **rest}
