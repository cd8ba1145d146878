"""What policies name: whatever in a spec has a name, be it a Service that is asked, a Secret, a script or a key set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from policylint.model import Resource, ResourceKey, text
from policylint.simulation import Simulation

Name = tuple[str, str, str]
"""Kind, namespace and name; the kind is "" where it is not written."""


def names_in(holder: Resource) -> set[Name]:
    """Return what the references of an object name, in its own namespace where they state none."""
    return set(_names(holder.spec, holder.key.namespace))


def _names(value: object, home: str) -> Iterator[Name]:
    if isinstance(value, Mapping):
        if isinstance(name := value.get("name"), str):
            yield text(value.get("kind")), text(value.get("namespace")) or home, name
        for inner in value.values():
            yield from _names(inner, home)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner, home)


def is_named(key: ResourceKey, names: Collection[Name]) -> bool:
    """Return whether an object is among those named, or is a grant that may let them be named."""
    if key.kind == "ReferenceGrant":
        return any(namespace == key.namespace for _, namespace, _ in names)
    return any((kind, key.namespace, key.name) in names for kind in ("", key.kind))


def between(simulation: Simulation, names: Collection[Name]) -> Iterator[Resource]:
    """Yield the objects among those named that act through the policy, and name what they ask themselves."""
    for group, name in simulation.world.kinds():
        kind = simulation.catalog.get(group, name)
        if kind is not None and kind.bound_by == "object":
            yield from (each for each in simulation.world.of_kind(group, name) if is_named(each.key, names))


def naming(simulation: Simulation, keys: Iterable[ResourceKey]) -> dict[ResourceKey, set[ResourceKey]]:
    """Return the policies that name some of these objects, themselves or through others, each with those it names."""
    wanted = [key for key in keys if key not in simulation.policies]
    found: dict[ResourceKey, set[ResourceKey]] = {}
    for state in simulation.policies.values() if wanted else ():
        names = names_in(state.policy)
        for holder in between(simulation, names):
            names |= names_in(holder)
        if hit := {key for key in wanted if is_named(key, names)}:
            found[state.key] = hit
    return found
