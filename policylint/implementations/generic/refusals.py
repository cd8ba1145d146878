"""What controllers refuse by the shape of a policy, as the catalog states it of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.content import places
from policylint.model import PolicyKind, holds_variable, mapping
from policylint.model.policy_kind import Refusing
from policylint.policy.declared import Reading
from policylint.regex import expression


def refusals(kind: PolicyKind, spec: Mapping[str, Any]) -> Iterator[Reading]:
    """Yield what is refused of a policy's spec."""
    for refusing in kind.refuses:
        for path in refusing.paths:
            for pointer, value in places(spec, path, ("spec",)):
                if _is_refused(refusing, value):
                    at = tuple(refusing.at.split(".")) if refusing.at else ()
                    reason = refusing.says.replace("{}", repr(value), 1)
                    yield Reading(code=refusing.code, reason=reason, pointer=(*pointer, *at))


def _is_refused(refusing: Refusing, value: Any) -> bool:
    if refusing.holds:
        from policylint.cel.evaluation import is_broken

        return value is not None and not holds_variable(value) and is_broken(refusing.holds, value)
    if refusing.matches or refusing.among:
        fits = value in refusing.among if refusing.among else expression(refusing.matches).is_whole(str(value))
        return value is not None and fits is False and not holds_variable(value)
    return (
        isinstance(value, dict)
        and all(_at(value, field) in values for field, values in refusing.where.items())
        and all(_at(value, field) is not None for field in refusing.states)
        and all(any(_at(value, each) for each in ([one] if isinstance(one, str) else one)) for one in refusing.has)
        and not any(_at(value, field) for field in refusing.lacks)
    )


def _at(value: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a path below an object; None where nothing does."""
    found: Any = value
    for step in path.split("."):
        found = mapping(found).get(step)
    return found
