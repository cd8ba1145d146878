"""The patches of EnvoyFilters as the rules about them read them.

Source: docs/design/implementations/istio-analyzers.md §2, EnvoyPatchAnalyzer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from policylint.documents import Pointer
from policylint.model import Resource, mapping, sequence, text

if TYPE_CHECKING:
    from policylint.simulation import Simulation


class Patch(NamedTuple):
    """One entry of spec.configPatches.

    Args:
        holder, pointer: the EnvoyFilter, and the place of the operation in it.
        versioned: whether it is for some versions of the proxy only.
    """

    holder: Resource
    pointer: Pointer
    applies_to: str
    operation: str
    versioned: bool


def patches(world: Simulation) -> Iterator[list[Patch]]:
    """The patches of every EnvoyFilter that is not refused."""
    for state in world.policies.values():
        if (state.key.group, state.key.kind) == ("networking.istio.io", "EnvoyFilter") and not state.invalid_code:
            yield list(_of(state.policy))


def _of(holder: Resource) -> Iterator[Patch]:
    for index, each in enumerate(sequence(holder.spec.get("configPatches"))):
        entry = mapping(each)
        proxy = mapping(mapping(entry.get("match")).get("proxy"))
        yield Patch(
            holder,
            ("spec", "configPatches", index, "patch", "operation"),
            text(entry.get("applyTo")),
            text(mapping(entry.get("patch")).get("operation")),
            bool(proxy.get("proxyVersion")),
        )
