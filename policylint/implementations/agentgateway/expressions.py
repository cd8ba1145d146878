"""Where an AgentgatewayPolicy holds CEL expressions, and which of them are none (the CRD's fields of 16384 letters)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from policylint.documents import Pointer
from policylint.model import is_symbolic
from policylint.policy.cel import is_expression

_SCALARS = frozenset(
    {
        "bodyExpression",
        "clientSampling",
        "condition",
        "cost",
        "expression",
        "filter",
        "limitOverride",
        "precondition",
        "randomSampling",
        "sessionNameExpression",
        "unhealthyCondition",
    }
)
_MAPS = frozenset(
    {
        "addRequestHeaders",
        "additionalParams",
        "requestAttributes",
        "requestMetadata",
        "responseAttributes",
        "responseMetadata",
    }
)
_TIMES = (("cache", "ttl"), ("delay", "duration"))
"""Fields that hold a duration (`5m`) or an expression."""
_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+")
ITEM = "[]"
_MUTATIONS = ((ITEM, "add"), (ITEM, "set"))


_UNREPORTED = frozenset({"openAIModeration", "bedrockGuardrails", "googleModelArmor"})


def unreported(name: str, pointer: Pointer) -> bool:
    """Whether a field is a block of a prompt guard whose faults the controller only logs (ai_policies.go)."""
    return name in _UNREPORTED and "promptGuard" in pointer


def invalid_expressions(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Every expression below a value that does not parse."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if not unreported(name, pointer):
                yield from invalid_expressions(inner, (*pointer, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from invalid_expressions(inner, (*pointer, index))
    elif isinstance(value, str) and _holds_cel(pointer) and not _is_variable(value) and not is_expression(value):
        if pointer[-2:] in _TIMES and _DURATION.fullmatch(value):
            return
        yield pointer, f"{value!r} is not a valid CEL expression"


def _is_variable(value: str) -> bool:
    """`${VAR}` and `<placeholder>` stand for anything; braces alone do not, as `{{` can be part of a bad expression."""
    return "${" in value or (is_symbolic(value) and "{{" not in value and value.startswith("<"))


def _holds_cel(pointer: Pointer) -> bool:
    path = [ITEM if isinstance(step, int) else step for step in pointer]
    last, holder, above = (["", "", *path])[-1], (["", "", *path])[-2], (["", "", *path])[-3]
    if last == ITEM:
        return holder == "matchExpressions" or (holder, above) == ("key", "cache")
    if last in _SCALARS or (holder, last) in _TIMES or holder in _MAPS or "metadataContext" in path:
        return True
    if "transformation" in path:
        return last == "body" or (last == "value" and (holder, above) in _MUTATIONS) or holder == "metadata"
    if holder == "http" and above in ("extAuth", "policy"):
        return last in ("body", "path", "redirect")
    if "directResponse" in path:
        return last == "value" and (holder, above) == (ITEM, "headers")
    return (holder, above) in (("metadata", "remote"), ("headers", "webhook"))
