"""Objects with what the API server and their controllers fill in: a default that one side of a change states and the
other leaves out is no change.

Source: Kubernetes, «Defaulting» of structural schemas: on requests, and when an object is read from storage.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from policylint.catalog.content import places
from policylint.compare.sameness import encoded, same_value
from policylint.model import PolicyKind, Resource, ResourceKey, mapping
from policylint.model.weakness import Weakness
from policylint.schema.defaults import left_out
from policylint.schema.known import Schemas
from policylint.simulation import Simulation, simulate


def with_defaults(before: Simulation, after: Simulation) -> tuple[Simulation, Simulation]:
    """Return two sides on which objects that are stored alike are written alike: as on the side that states less."""
    changed: tuple[dict[ResourceKey, Resource], dict[ResourceKey, Resource]] = ({}, {})
    old, new = before.world.resources, after.world.resources
    left_schemas, right_schemas = (
        Schemas(side.world.definitions, side.world.is_deployed_with) for side in (before, after)
    )
    for key in old.keys() & new.keys():
        was, now = old[key], new[key]
        if was.body is now.body or was.version != now.version or same_value(was.spec, now.spec):
            continue  # or what differs needs no default to be the same
        kind = after.catalog.get(*key[:2])
        if not same_value(filled_in(kind, was, left_schemas), filled_in(kind, now, right_schemas)):
            continue
        if len(encoded(was.spec)) <= len(encoded(now.spec)):
            changed[1][key] = now.replaced(body={**now.body, "spec": was.spec})
        else:
            changed[0][key] = was.replaced(body={**was.body, "spec": now.spec})
    left, right = (
        simulate(side.world.with_resources(stored), side.catalog) if stored else side
        for side, stored in zip((before, after), changed, strict=True)
    )
    return left, right


def filled_in(kind: PolicyKind | None, resource: Resource, schemas: Schemas) -> Any:
    """Return the spec of an object with the defaults that it leaves out: those of its schema, and of its controller as
    far as the catalog has them."""
    known = schemas.of(resource)
    filled = deepcopy(resource.spec)
    if len(known) == 1:  # else nothing says, or CRDs of the tree say different things
        for field in left_out(mapping(mapping(known[0].schema.get("properties")).get("spec")), resource.spec):
            holder: Any = filled
            for step in field.pointer:
                holder = holder[step]
            holder[field.field] = field.value
    for weak in () if kind is None else kind.weaker:
        if weak.order and weak.unset is not None and "." in weak.path:
            _unset(weak, filled)
    return filled


def _unset(weak: Weakness, spec: Any) -> None:
    """State what the controller takes a field for that is left out, and the older one that it stands in place of."""
    above, _, field = weak.path.rpartition(".")
    alike = next((step for step in weak.order if weak.unset in step), ())
    older = [each for each in alike if isinstance(each, bool)]
    beside, _, former = weak.instead.rpartition(".")
    for _, holder in places(spec, above, ()):
        if isinstance(holder, dict):
            holder.setdefault(field, weak.unset)
            if former and beside == above and older:
                holder.setdefault(former, older[0])
