"""The conditions of Kuadrant's policies: which requests they are about, and those that do not compile.

The operator makes actions of the proxy of them (internal/controller, buildWasmActionsForAuth and
wasmActionFromLimit); an action is skipped where a predicate does not hold, and left out where one is no CEL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.cel.syntax import called, free_names, tree
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
        *("request", "source", "destination", "connection", "auth"),
        *("metadata", "response"),  # the proxy knows them, and another release of the operator may
        *("bool", "bytes", "double", "duration", "dyn", "google", "int", "list", "map", "null_type", "string"),
        *("timestamp", "type", "uint"),
    }
)
"""What the predicates of policies may refer to: the attributes of a request, what logins before say, and types."""
_OF_LIMITS = frozenset({"ratelimit"})
"""What those of limits may refer to as well: they come after logins."""
_CALLABLE = frozenset(
    {
        *("all", "exists", "existsOne", "exists_one", "filter", "has", "map"),
        *("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"),
        *("contains", "endsWith", "matches", "size", "startsWith"),
        *("getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds"),
        *("getMinutes", "getMonth", "getSeconds"),
        *("charAt", "format", "indexOf", "join", "lastIndexOf", "lowerAscii", "quote", "replace", "reverse", "split"),
        *("substring", "trim", "upperAscii"),
        *("requestBodyJSON", "responseBodyJSON"),
        *("decodeQueryString", "getHostProperty", "queryMap"),  # the proxy knows them, and another release may
    }
)
"""What the predicates of policies may call: CEL's own, the strings extension of cel-go, and the operator's."""
_NOBODY: Mapping[str, Any] = {"nobody": {}}
"""What is left of authentication where no way in is open: it is asked for, and nothing will do."""


def _is_closed(way: Mapping[str, Any], patterns: Patterns) -> bool:
    return "anonymous" in way and patterns.all(way.get("when")) is False


def broken(spec: Mapping[str, Any], kind: str) -> Pointer:
    """Return where the first predicate that does not compile stands in a spec proper of a kind, () where all do."""
    return next((place for place, text in _predicates(spec) if fault(text, kind)), ())


def fault(predicate: str, kind: str) -> str:
    """Return why a predicate of a kind does not compile, as the end of a sentence about it; "" where it does or may.

    Source: kuadrant-operator v1.5.1, internal/cel/kuadrant_validator.go, NewRootValidatorBuilder: the names;
    internal/controller/istio_extension_reconciler.go, buildWasmConfigs: those of policies, in their order.
    """
    if holds_variable(predicate):
        return ""
    parsed = tree(predicate)
    if parsed is None:
        return "is no CEL expression"
    undeclared = sorted(free_names(parsed) - _DECLARED - (_OF_LIMITS if kind != "AuthPolicy" else frozenset()))
    if undeclared:
        return f"refers to {undeclared[0]!r}, which is not declared"
    unknown = sorted(called(parsed) - _CALLABLE)
    return f"calls {unknown[0]!r}, which is no function there" if unknown else ""


def _predicates(spec: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Yield the predicates of a policy and of its limits; those inside of rules are Authorino's."""
    limits = mapping(spec.get("limits"))
    holders = [((), spec), *((("limits", name), mapping(limit)) for name, limit in limits.items())]
    for place, holder in holders:
        for number, entry in enumerate(sequence(holder.get("when"))):
            predicate = mapping(entry).get("predicate")
            if isinstance(predicate, str):
                yield (*place, "when", number, "predicate"), predicate
