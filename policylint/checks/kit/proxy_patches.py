"""The patches of EnvoyFilters, for GWP520 and GWP521.

Source: docs/design/implementations/istio-analyzers.md §2, EnvoyPatchAnalyzer.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.model import Resource, mapping, sequence, text
from policylint.model.kinds import PROXY_PATCH
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation


class ProxyPatch(NamedTuple):
    """One entry of spec.configPatches.

    Args:
        holder: the EnvoyFilter.
        pointer: where its operation is written.
        versioned: whether it applies to some versions of the proxy only.
    """

    holder: Resource
    pointer: Pointer
    applies_to: str
    operation: str
    versioned: bool


def patches(simulation: Simulation) -> Iterator[list[ProxyPatch]]:
    """Yield the patches of every EnvoyFilter that is not refused."""
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) == PROXY_PATCH and not state.invalid_code:
            yield list(_read(state.policy))


def _read(holder: Resource) -> Iterator[ProxyPatch]:
    for index, written in enumerate(sequence(holder.spec.get("configPatches"))):
        entry = mapping(written)
        proxy = mapping(mapping(entry.get("match")).get("proxy"))
        yield ProxyPatch(
            holder,
            ("spec", "configPatches", index, "patch", "operation"),
            text(entry.get("applyTo")),
            text(mapping(entry.get("patch")).get("operation")),
            bool(proxy.get("proxyVersion")),
        )
