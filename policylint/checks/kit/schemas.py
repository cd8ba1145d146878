"""Objects that their schemas refuse: for GWP501 and GWP505."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policylint.model import Location, Resource
from policylint.namedtuple import NamedTuple
from policylint.schema.known import GROUPS, Known, Schemas
from policylint.simulation import Simulation

if TYPE_CHECKING:
    from policylint.schema import Checker
    from policylint.schema.explain import Violation


class BrokenObject(NamedTuple):
    """An object that its schema refuses, with the violations."""

    resource: Resource
    schema: Known
    violations: list[Violation]


@lru_cache(maxsize=1)
def broken_objects(simulation: Simulation) -> tuple[BrokenObject, ...]:
    """Return every object that its schema refuses; cached for the latest simulation, as two rules need it."""
    broken: list[BrokenObject] = []
    world = simulation.world
    schemas = Schemas(world.definitions)
    for group, kind in world.kinds():
        if group not in GROUPS and "." not in group:
            continue  # built-in kinds have no CRD
        for resource in world.of_kind(group, kind):
            known = schemas.of(resource)
            if known and not any(_is_valid(schema.checker, resource.body) for schema in known):
                from policylint.schema.explain import explain

                violations = min((explain(schema.schema, resource.body) for schema in known), key=len)
                if violations:
                    broken.append(BrokenObject(resource, known[0], violations))
    return tuple(broken)


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


def written_text(simulation: Simulation, location: Location) -> str:
    """Return the text of a plain scalar or key as its file has it, "" for a quoted one or where it cannot be read."""
    from policylint.documents.tokens import token_at

    lines = simulation.world.lines(location.file)
    token = token_at("\n".join(lines), *location.at()) if lines else None
    return token.value if token is not None and token.form == "scalar" and not token.style else ""


def read_as(value: object) -> str:
    """Return a scalar as the cluster reads it, in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def is_surprising(text: str, value: object) -> bool:
    """Return whether a plain scalar says one thing to people and another to the cluster: `on`, `010`, `1e3`, `1.10`."""
    return isinstance(value, (bool, int, float)) and bool(text) and text != read_as(value)
