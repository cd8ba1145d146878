"""Settings with what the API server fills in: a default that one side of a change states and the other leaves out is no
change of the policy that controllers see.

Source: Kubernetes, «Defaulting» of structural schemas: on requests, and when an object is read from storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from policylint.catalog.content import places
from policylint.model import PolicyKind, ResourceKey, World, mapping
from policylint.model.weakness import Weakness
from policylint.schema.defaults import left_out
from policylint.schema.known import Schemas

_WRAPPERS = ("defaults", "overrides")
"""Where kinds hold settings that are not right below their spec."""


def filled_in(kind: PolicyKind, name: str, value: Any, world: World, policies: list[ResourceKey]) -> Any:
    """Return the value of a top-level setting with the defaults that it leaves out, as the schema of its policies has
    them."""
    schemas = [_of_setting(world, key, name) for key in policies if key[:2] == (kind.group, kind.kind)]
    schema = next(filter(None, schemas), {})
    filled = deepcopy(value)
    for field in left_out(schema, value):
        holder = filled
        for step in field.pointer:
            holder = holder[step]
        holder[field.field] = field.value
    for weak in kind.weaker:
        if weak.order and weak.unset is not None and weak.path.startswith(f"{name}."):
            _unset(weak, name, filled)
    return filled


def _unset(weak: Weakness, name: str, value: Any) -> None:
    """State what the controller takes a field for that is left out, and the older one that it stands in place of."""
    above, _, field = weak.path.partition(".")[2].rpartition(".")
    alike = next((step for step in weak.order if weak.unset in step), ())
    older = [each for each in alike if isinstance(each, bool)]
    for _, holder in places(value, above, ()):
        if isinstance(holder, dict):
            holder.setdefault(field, weak.unset)
            former = weak.instead.rpartition(".")[2]
            if former and weak.instead == f"{name}.{above}.{former}" and older:
                holder.setdefault(former, older[0])


def _of_setting(world: World, key: ResourceKey, name: str) -> Mapping[str, Any]:
    policy = world.get(key)
    known = () if policy is None else Schemas(world.definitions, world.is_deployed).of(policy)
    if len(known) != 1:  # nothing says, or CRDs of the tree say different things
        return {}
    spec = mapping(mapping(known[0].schema.get("properties")).get("spec"))
    for holder in (spec, *(mapping(mapping(spec.get("properties")).get(wrapper)) for wrapper in _WRAPPERS)):
        if found := mapping(mapping(holder.get("properties")).get(name)):
            return found
    return {}
