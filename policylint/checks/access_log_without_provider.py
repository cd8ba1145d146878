"""GWP522: a Telemetry that sets up access logging for nobody: no provider is named, here or above (IST0157)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policylint.checks.kit.locations import path
from policylint.checks.kit.mesh_policies import TELEMETRY, is_wide
from policylint.model import Finding, Resource, mapping, sequence, text
from policylint.policy.results import PolicyState

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP522"


def check(world: Simulation) -> Iterator[Finding]:
    settings = world.catalog.settings("istio")
    if mapping(settings.get("defaultProviders")).get("accessLogging"):
        return
    root = text(settings.get("rootNamespace"))
    of_kind = [state for state in world.policies.values() if (state.key.group, state.key.kind) == TELEMETRY]
    for state in of_kind:
        index = _without(state.policy)
        if index is None or state.invalid_code or any(_names(each.policy) for each in _above(state, of_kind, root)):
            continue
        pointer = ("spec", "accessLogging", index)
        yield Finding(
            RULE,
            "warning",
            f"{state.key} sets up access logging without a provider, so the entry is ignored",
            state.policy.location(*pointer),
            resources=(state.key,),
            label="no provider here, none in a Telemetry above, none by default in the mesh configuration",
            help=(
                "fix: name one: `providers: [{name: envoy}]`",
                "note: a default of the mesh is told by `implementations: {istio: {defaultProviders: ...}}`",
            ),
            confidence="assumed",  # the mesh configuration stands in no manifest
            field=path(pointer),
        )


def _without(policy: Resource) -> int | None:
    """The first entry that enables logging and has no provider, nor one before it that has."""
    for index, each in enumerate(sequence(policy.spec.get("accessLogging"))):
        entry = mapping(each)
        if _providers(entry):
            return None
        if entry.get("disabled") is not True:
            return index
    return None


def _providers(entry: object) -> list[object]:
    return sequence(mapping(entry).get("providers"))


def _names(policy: Resource) -> bool:
    return any(_providers(each) for each in sequence(policy.spec.get("accessLogging")))


def _above(state: PolicyState, of_kind: list[PolicyState], root: str) -> Iterator[PolicyState]:
    """The policies it may inherit providers from: those of the mesh and its namespace, and what else meets it."""
    met = {each.key for group in state.groups for each in group.effective.stack}
    for other in of_kind:
        wide = is_wide(other.policy) and other.key.namespace in (root, state.key.namespace)
        if other.key != state.key and (wide or other.key in met):
            yield other
