"""What objects break in their schemas: for GWP501 and GWP505."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policylint.model import Resource
from policylint.namedtuple import NamedTuple
from policylint.schema.known import GROUPS, Known, Schemas

if TYPE_CHECKING:
    from policylint.model import Location
    from policylint.schema import Checker
    from policylint.schema.explain import Violation
    from policylint.simulation import Simulation


class Broken(NamedTuple):
    """An object with what its schema refuses of it."""

    resource: Resource
    schema: Known
    faults: list[Violation]


@lru_cache(maxsize=1)
def broken(simulation: Simulation) -> tuple[Broken, ...]:
    """Every object that its schema refuses. The last simulation's answer is kept: two rules ask."""
    return tuple(_broken(simulation))


def _broken(simulation: Simulation) -> Iterator[Broken]:
    world = simulation.world
    schemas = Schemas(world.definitions)
    for group, kind in world.kinds():
        if group not in GROUPS and "." not in group:
            continue  # built-in kinds have no CRD
        for resource in world.of_kind(group, kind):
            known = schemas.of(resource)
            if known and not any(_is_valid(each.checker, resource.body) for each in known):
                from policylint.schema.explain import explain

                faults = min((explain(each.schema, resource.body) for each in known), key=len)
                if faults:
                    yield Broken(resource, known[0], faults)


_VALID: dict[int, tuple[Any, Checker]] = {}
"""Bodies by their identity, with what found them valid: the two sides of a diff share nearly all of them."""


def _is_valid(checker: Checker, body: Any) -> bool:
    known = _VALID.get(id(body))
    if known is not None and known[0] is body and known[1] is checker:
        return True
    if not checker.is_valid(body):
        return False
    _VALID[id(body)] = (body, checker)
    return True


def written(simulation: Simulation, location: Location) -> str:
    """The text of a plain scalar or key as it stands in its file, "" for a quoted one or where it cannot be read."""
    from policylint.documents.tokens import token_at

    lines = simulation.world.lines(location.file)
    found = token_at("\n".join(lines), *location.at()) if lines else None
    return found.value if found is not None and found.form == "scalar" and not found.style else ""


def read_as(value: object) -> str:
    """A scalar as the cluster sees it, in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def is_surprising(text: str, value: object) -> bool:
    """Whether a plain scalar says one thing to people and another to the cluster: `on`, `010`, `1e3`, `1.10`."""
    return isinstance(value, (bool, int, float)) and bool(text) and text != read_as(value)
