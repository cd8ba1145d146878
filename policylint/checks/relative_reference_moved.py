"""GWP209: a reference without namespace is merged into a policy of another namespace, and looked for there.

GEP-713 merges specs and says nothing of references (docs/design/semantics.md §6, trap 20, envoyproxy/gateway#8197).
Implementations that resolve them before they merge are left alone: the catalog says which (`relativeReferences`).
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path, value_at
from policylint.documents import Pointer
from policylint.model import Finding, Related, ResourceKey
from policylint.patterns import Pattern
from policylint.policy.results import Group
from policylint.simulation import Simulation

RULE = "GWP209"
_REFERENCE = Pattern(r"(?:[rR]efs?|[sS]ecret|[cC]onfigMap)$")


def check(simulation: Simulation) -> Iterator[Finding]:
    reported: set[tuple[ResourceKey, Pointer]] = set()
    for group in simulation.groups:
        keeps = simulation.catalog.relative_references(group.kind.implementation)
        if keeps == "kept" or len(group.effective.stack) < 2:
            continue
        home = group.effective.stack[-1].key
        if home not in group.effective.owners.values():
            continue  # another policy stands as it is, in its own namespace
        for leaf, owner in group.effective.owners.items():
            if not owner.namespace or owner.namespace == home.namespace or owner not in simulation.policies:
                continue
            for pointer in _local(leaf, group.effective.spec):
                if (owner, pointer) in reported:
                    continue
                finding = _finding(group, leaf, pointer, owner, home, lately=keeps == "kept-lately")
                if finding is not None:
                    reported.add((owner, pointer))
                    yield finding


def _local(leaf: Pointer, spec: object) -> Iterator[Pointer]:
    """Yield the names of references without a namespace, at a leaf or (a list is one leaf) inside it."""
    pending = [leaf[:-1] if leaf and leaf[-1] == "name" else leaf]
    while pending:
        pointer = pending.pop()
        value = value_at(spec, pointer)
        if isinstance(value, list):
            pending += [(*pointer, number) for number in range(len(value))]
        elif isinstance(value, dict):
            holder = next((step for step in reversed(pointer) if isinstance(step, str)), "")
            if _REFERENCE.search(holder) and isinstance(value.get("name"), str) and "namespace" not in value:
                yield (*pointer, "name")
            if pointer[: len(leaf)] == leaf:
                pending += [(*pointer, name) for name, inner in value.items() if isinstance(inner, (dict, list))]


def _finding(
    group: Group, leaf: Pointer, pointer: Pointer, owner: ResourceKey, home: ResourceKey, *, lately: bool
) -> Finding | None:
    location = group.effective.location_of(leaf)
    if location is None:
        return None
    location = location._replace(pointer=(*location.pointer, *pointer[len(leaf) :]))
    name = value_at(group.effective.spec, pointer)
    last = group.effective.stack[-1]
    return Finding(
        RULE,
        "note" if lately else "warning",
        f"{owner} refers to {name} without a namespace, and is merged into {home} in another namespace",
        location,
        resources=(owner, home),
        label=f"{owner.namespace}/{name} is meant, {home.namespace}/{name} is looked up",
        related=(Related(f"merged with {home}", last.policy.name_location),),
        help=(
            f"fix: add `namespace: {owner.namespace}` to the reference, and a ReferenceGrant where one is needed",
            *(("note: recent releases look in the right namespace",) if lately else ()),
        ),
        confidence="assumed",
        ground="controllers do not all look in the same namespace, and neither do releases of one",
        field=path(pointer),
    )
