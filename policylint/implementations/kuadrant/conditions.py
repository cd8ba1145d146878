"""The conditions of Kuadrant's policies: which requests they are about, and those that do not compile.

The operator makes actions of the proxy of them (internal/controller, buildWasmActionsForAuth and
wasmActionFromLimit); an action is skipped where a predicate does not hold, and left out where one is no CEL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.cel.syntax import free_names, tree
from policylint.documents import Pointer
from policylint.implementations.kuadrant.patterns import Patterns
from policylint.model import holds_variable, mapping, sequence
from policylint.policy.authorizing import RequestFacts


def concerning(spec: Mapping[str, Any], message: RequestFacts) -> Mapping[str, Any]:
    """Return what of an effective spec concerns a request: nothing where its `when` does not hold.

    Where it holds, it is gone from the spec. Anonymous access under conditions that do not hold is nobody's.
    """
    if not spec.get("when") and "rules" not in spec:
        return spec
    patterns = Patterns(spec, message)
    when = patterns.all(spec.get("when"))
    if when is False:
        return {}
    rules = mapping(spec.get("rules"))
    ways_in = mapping(rules.get("authentication"))
    kept = {name: way for name, way in ways_in.items() if not _is_closed(mapping(way), patterns)}
    if len(kept) < len(ways_in):
        spec = {**spec, "rules": {**rules, "authentication": kept or _NOBODY}}
    return {name: value for name, value in spec.items() if name != "when"} if when else spec


_DECLARED = frozenset(
    {
        *("request", "source", "destination", "connection", "auth", "ratelimit"),
        *("metadata", "response"),  # the proxy knows them, and another release of the operator may
        *("bool", "bytes", "double", "duration", "dyn", "google", "int", "list", "map", "null_type", "string"),
        *("timestamp", "type", "uint"),
    }
)
"""What the predicates of policies may refer to: the attributes of a request, what policies before say, and types."""
_NOBODY: Mapping[str, Any] = {"nobody": {}}
"""What is left of authentication where no way in is open: it is asked for, and nothing will do."""


def _is_closed(way: Mapping[str, Any], patterns: Patterns) -> bool:
    return "anonymous" in way and patterns.all(way.get("when")) is False


def broken(spec: Mapping[str, Any]) -> Pointer:
    """Return where the first predicate that does not compile stands in a spec proper, () where all do."""
    return next((place for place, text in _predicates(spec) if fault(text)), ())


def fault(predicate: str) -> str:
    """Return why a predicate does not compile, as the end of a sentence about it; "" where it does or may.

    Source: kuadrant-operator @ faec72c9, internal/cel/kuadrant_validator.go, NewRootValidatorBuilder: the names.
    """
    if holds_variable(predicate):
        return ""
    parsed = tree(predicate)
    if parsed is None:
        return "is no CEL expression"
    undeclared = sorted(free_names(parsed) - _DECLARED)
    return f"refers to {undeclared[0]!r}, which is not declared" if undeclared else ""


def _predicates(spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Yield the predicates of a policy and of its limits; those inside of rules are Authorino's."""
    limits = mapping(spec.get("limits"))
    holders = [((), spec), *((("limits", name), mapping(limit)) for name, limit in limits.items())]
    for place, holder in holders:
        for number, entry in enumerate(sequence(holder.get("when"))):
            predicate = mapping(entry).get("predicate")
            if isinstance(predicate, str):
                yield (*place, "when", number, "predicate"), predicate
