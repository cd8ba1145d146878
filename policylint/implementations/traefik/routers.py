"""Routers that Traefik makes of the matches of routes: which requests they take, and which of them comes first.

Each match is a router with a priority of its own, in one table for its entry point: neither do narrower hosts come
first, nor calls before other requests. Source: pkg/provider/kubernetes/gateway/{http,grpc}route.go (buildMatchRule,
buildPathRule, buildGRPCMatchRule) and pkg/muxer/http/matcher.go @ 0a45cf4f8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from policylint.implementations.generic.calls import on_path
from policylint.matches import ORDER, Match, Term, path_of
from policylint.model import Resource, holds_variable, mapping, sequence, text, texts
from policylint.regex import quoted
from policylint.spaces.predicates import EXPRESSION, PREFIX, Predicate

_EXACT, _OTHER, _ALL = 100_000, 10_000, 1
_PER_CHARACTER, _METHOD, _HEADER, _QUERY = 100, 1_000, 100, 10
_PART: Final = "[^/]+"


def read(match: Match) -> Match:
    """Return a match with its expressions as Go's `MatchString` reads them: they are looked for anywhere in a value."""
    return match._replace(conditions=tuple(map(_read, match.conditions))) if match.expressions else match


def of_call(call: Match) -> Match:
    """Return a match on calls as one on paths, which no other one tells from those of any request."""
    method = mapping(call.value.get("method"))
    if "method" not in call.value:
        return on_path(call, PREFIX, "/", (ORDER[PREFIX], 1, 0, call.weights[-1], 0))
    is_expression = text(method.get("type")) == EXPRESSION
    parts = [text(method.get(name)) for name in ("service", "method")]
    value = "/" + "/".join((part if is_expression else quoted(part)) if part else _PART for part in parts)
    return read(on_path(call, EXPRESSION, value, (ORDER[EXPRESSION], len(value), 0, call.weights[-1], 0)))


def priority(route: Resource, rule: int, match: Match, hostname: str) -> int:
    """Return the priority of the router that is made of a match of a rule."""
    names = texts(route.spec.get("hostnames")) or [hostname]
    host, value = max(map(len, names)), match.value
    if route.key.kind == "GRPCRoute":
        return host + len(_rule_of_calls(value))
    kind, path = path_of(value)
    own = _EXACT if kind == "Exact" else _ALL if (kind, path) == (PREFIX, "/") else _OTHER + _PER_CHARACTER * len(path)
    asked = _METHOD * bool(value.get("method"))
    asked += _HEADER * len(sequence(value.get("headers"))) + _QUERY * len(sequence(value.get("queryParams")))
    return host + own + asked + len(sequence(route.spec.get("rules"))) - rule


def _rule_of_calls(value: Mapping[str, Any]) -> str:
    """Return the rule of a router for calls, whose length is its priority, without its hosts."""
    kind, path = path_of(value)
    parts = [f'{PREFIX}("/")' if kind == PREFIX else f"PathRegexp({_in_quotes(path)})"]
    for header in map(mapping, sequence(value.get("headers"))):
        matcher = "HeaderRegexp" if text(header.get("type")) == EXPRESSION else "Header"
        parts.append(f"{matcher}({_in_quotes(text(header.get('name')))},{_in_quotes(str(header.get('value', '')))})")
    return " && ".join(parts)


def _in_quotes(value: str) -> str:
    """Return a text as Go writes it with `%q`."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read(term: Term) -> Term:
    value = term.predicate.value
    if not term.predicate.is_expression or holds_variable(value) or term.predicate.refusal:
        return term
    return term._replace(predicate=Predicate(EXPRESSION, f".*(?:{value}).*"))
