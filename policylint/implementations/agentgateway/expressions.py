"""The CEL expressions of an AgentgatewayPolicy, and those that do not parse (CRD fields of 16384 letters)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policylint.cel.syntax import is_expression
from policylint.documents import Pointer
from policylint.implementations.generic import walk
from policylint.model import holds_variable
from policylint.patterns import Pattern

_SCALARS = frozenset(
    {
        *("bodyExpression", "condition", "cost", "expression", "filter", "limitOverride", "precondition"),
        *("clientSampling", "randomSampling", "sessionNameExpression", "unhealthyCondition"),
    }
)
_MAPS = frozenset(
    {
        *("requestAttributes", "requestMetadata", "responseAttributes", "responseMetadata"),
        *("addRequestHeaders", "additionalParams"),
    }
)
_TIMES = (("cache", "ttl"), ("delay", "duration"))
"""Fields that hold a duration (`5m`) or an expression."""
_DURATION = Pattern(r"([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+")
_ITEM = "[]"
_MUTATIONS = ((_ITEM, "add"), (_ITEM, "set"))
_UNREPORTED = frozenset({"openAIModeration", "bedrockGuardrails", "googleModelArmor"})


def is_unreported(pointer: Pointer) -> bool:
    """Tell whether a field is in a block of a prompt guard whose faults the controller only logs (ai_policies.go)."""
    return "promptGuard" in pointer and not _UNREPORTED.isdisjoint(pointer[pointer.index("promptGuard") :])


def invalid_expressions(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the place and the fault of every expression inside a value that does not parse."""
    for place, inner in walk(value, pointer):
        if isinstance(inner, str) and _holds_cel(place) and is_unreadable(inner):
            duration = place[-2:] in _TIMES and _DURATION.fullmatch(inner)
            if not duration and not is_unreported(place):
                yield place, f"{inner!r} is not a valid CEL expression"


def is_unreadable(value: object) -> bool:
    """Tell whether an expression does not parse: the proxy keeps it, and it never holds."""
    return isinstance(value, str) and not _is_variable(value) and not is_expression(value)


def _is_variable(value: str) -> bool:
    """Tell whether a value is `${VAR}` or `<placeholder>`; `{{` alone can be part of a bad expression."""
    return "${" in value or (holds_variable(value) and "{{" not in value and value.startswith("<"))


def _holds_cel(pointer: Pointer) -> bool:
    path = ["", "", *(_ITEM if isinstance(step, int) else step for step in pointer)]
    above, holder, last = path[-3:]
    if last == _ITEM:
        return holder == "matchExpressions" or (holder, above) == ("key", "cache")
    if last in _SCALARS or (holder, last) in _TIMES or holder in _MAPS or "metadataContext" in path:
        return True
    if "transformation" in path:
        return last == "body" or (last == "value" and (holder, above) in _MUTATIONS) or holder == "metadata"
    if holder == "http" and above in ("extAuth", "policy"):
        return last in ("body", "path", "redirect")
    if "directResponse" in path:
        return last == "value" and (holder, above) == (_ITEM, "headers")
    return (holder, above) in (("metadata", "remote"), ("headers", "webhook"))
