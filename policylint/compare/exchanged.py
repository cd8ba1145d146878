"""GWP325 for what policies name: another Secret, Service or key set than before, that does not hold the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policylint.compare.pairing import Sides
from policylint.documents import Pointer
from policylint.model import Finding, PolicyKind, Resource, ResourceKey, World
from policylint.policy.content import ContentReference, content_references
from policylint.simulation import Simulation
from policylint.topology.workloads import workloads_selected

RULE = "GWP325"
_CONTENT = ("data", "stringData", "binaryData", "spec")


def others_named(sides: Sides) -> Iterator[Finding]:
    """Yield the references of policies that lead to something else than before."""
    for resource, kind in holders(sides.after):
        former = sides.before.world.get(sides.pairing.was(resource.key))
        if former is None or former.body is resource.body or former.body == resource.body:
            continue
        old, new = (
            _by_place(each, kind, side.world) for each, side in ((former, sides.before), (resource, sides.after))
        )
        for place, references in new.items():
            was = {sides.pairing.key(key) for key in old.get(place, {})}
            gone = sorted(was - references.keys())
            for key, reference in references.items():
                if key not in was and gone and not any(_is_same(sides, each, key) for each in gone):
                    yield _finding(sides, reference, gone[0])


def holders(side: Simulation) -> Iterator[tuple[Resource, PolicyKind]]:
    """Yield the policies, and the objects through which policies and routes ask."""
    for state in side.policies.values():
        yield state.policy, state.kind
    for group, name in side.world.kinds():
        kind = side.catalog.get(group, name)
        if kind is not None and kind.policy_class == "Other" and (kind.weaker or kind.settings.security):
            yield from ((resource, kind) for resource in side.world.of_kind(group, name))


def _by_place(resource: Resource, kind: PolicyKind, world: World) -> Mapping[str, dict[ResourceKey, ContentReference]]:
    """Return what an object names in the settings that protect, by the field, whatever its place in a list."""
    found: dict[str, dict[ResourceKey, ContentReference]] = {}
    settings = {setting.partition("=")[0].split(".*")[0] for setting in kind.settings.security}
    for reference in content_references(resource, world):
        place = _field(reference.pointer)
        if not settings or any(f"{place}.".startswith(f"{setting}.") for setting in settings):
            found.setdefault(place, {})[reference.wanted] = reference
    return found


def _field(pointer: Pointer) -> str:
    return ".".join(step for step in pointer if isinstance(step, str)).removeprefix("spec.")


def _is_same(sides: Sides, former: ResourceKey, now: ResourceKey) -> bool:
    """Return whether two objects hold the same, or stand for the same pods, as far as both are there."""
    was, is_ = sides.before.world.get(sides.pairing.was(former)), sides.after.world.get(now)
    if was is None or is_ is None or former[:2] != now[:2]:
        return False
    if now.kind == "Service":
        behind = {workload.key for workload in workloads_selected(sides.before.world, was)}
        reached = {workload.key for workload in workloads_selected(sides.after.world, is_)}
        return was.spec.get("selector") == is_.spec.get("selector") or (bool(reached) and behind >= reached)
    return all(was.body.get(name) == is_.body.get(name) for name in _CONTENT)


def _finding(sides: Sides, reference: ContentReference, former: ResourceKey) -> Finding:
    holder = reference.holder
    return Finding(
        RULE,
        "warning",
        f"{holder.key} now uses {_called(reference.wanted, former)} instead of {_called(former, reference.wanted)}",
        holder.location(*reference.pointer),
        resources=(holder.key, reference.wanted, former),
        label="its effect on access is not evaluated",
        environments=(sides.after.world.name,),
    )


def _called(key: ResourceKey, other: ResourceKey) -> str:
    """Return an object as it is told from another one: by its group as well where all else is the same."""
    return str(key) if str(key) != str(other) else f"{key} of {key.group or 'the core group'}"


__all__ = ["holders", "others_named"]
