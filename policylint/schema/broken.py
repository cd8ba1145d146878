"""Objects that break their schemas, and which of them the API server refuses for certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from policylint.model import Resource, World
from policylint.namedtuple import NamedTuple
from policylint.schema.known import GROUPS, Known, Schemas, is_experimental

if TYPE_CHECKING:
    from policylint.documents import Pointer
    from policylint.schema import Checker
    from policylint.schema.explain import Violation

_RETIRED = frozenset({"backendTLS", "frontendValidation"})
"""Fields of Gateways that were experimental up to Gateway API v1.4, and have other names since."""
_LASTING = frozenset({"enum", "required", "type"})
"""Violations of shipped schemas that hold in every release; limits and patterns are loosened from time to time."""


class BrokenObject(NamedTuple):
    """An object that breaks its schema, with the violations.

    Args:
        refusal: the violation for which the API server refuses it whatever its release, None if there is none.
    """

    resource: Resource
    schema: Known
    violations: list[Violation]
    refusal: Violation | None


def broken_objects(world: World) -> tuple[BrokenObject, ...]:
    """Return every object that breaks its schema, where it has several all of them; by kind, sorted."""
    broken: list[BrokenObject] = []
    schemas = Schemas(world.definitions)
    for group, kind in world.kinds():
        if group not in GROUPS and "." not in group:
            continue  # built-in kinds have no CRD
        for resource in world.of_kind(group, kind):
            known = schemas.of(resource)
            if known and not any(_is_valid(schema.checker, resource.body) for schema in known):
                by_schema = _violations(known, resource)
                violations = min(by_schema, key=len)
                if violations:
                    broken.append(BrokenObject(resource, known[0], violations, _refusal(resource, known, by_schema)))
    return tuple(broken)


def _violations(known: tuple[Known, ...], resource: Resource) -> list[list[Violation]]:
    from policylint.schema.explain import explain

    return [explain(schema.schema, resource.body) for schema in known]


def _refusal(resource: Resource, known: tuple[Known, ...], by_schema: list[list[Violation]]) -> Violation | None:
    """Return the first violation for which an object is refused, None where one of the schemas may let it pass."""
    if resource.provisional:
        return None
    refusals = [
        next((violation for violation in violations if _is_refused(schema, violation)), None)
        for schema, violations in zip(known, by_schema, strict=True)
    ]
    return refusals[0] if all(refusals) else None


def _is_refused(schema: Known, violation: Violation) -> bool:
    """Tell whether the API server refuses an object for a violation; an unknown field it drops, and takes the rest.

    Source: Kubernetes, «Field validation» and «Custom Resources: pruning». A CRD of the tree counts whole. The cluster
    may have another release of Gateway API than the one shipped here, in which only `_LASTING` is the same.
    """
    if violation.code == "unknown-field":
        return False
    if schema.origin is not None:
        return True
    return violation.code in _LASTING and not is_passing(schema, violation.pointer)


def is_passing(schema: Known, pointer: Pointer) -> bool:
    """Tell whether a shipped schema's location lies in a field that not every release of Gateway API has."""
    return not _RETIRED.isdisjoint(pointer) or is_experimental(schema.schema, pointer)


def message(violation: Violation) -> str:
    """Return a violation as the API server words it, the path first."""
    from policylint.schema.explain import place

    path = place(violation.pointer)
    if violation.code == "required":
        return f"{path}: Required value"
    if violation.code == "enum":
        return f"{path}: Unsupported value: {_quoted(violation.value)}: supported values: " + ", ".join(
            map(_quoted, violation.wanted)
        )
    return f"{path}: Invalid value: {violation.label}"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


_VALID: dict[int, tuple[Any, Checker]] = {}
"""Valid bodies by identity, with the checker that found them so: the two sides of a diff share nearly all of them."""


def _is_valid(checker: Checker, body: Any) -> bool:
    known = _VALID.get(id(body))
    if known is not None and known[0] is body and known[1] is checker:
        return True
    valid = checker.is_valid(body)
    if valid:
        _VALID[id(body)] = (body, checker)
    return valid
