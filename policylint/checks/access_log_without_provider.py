"""GWP522: a Telemetry that sets up access logging for nobody: no provider is named, here or above (IST0157)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.mesh_policies import is_wide, of_controller
from policylint.model import Finding, Resource, mapping, sequence, text
from policylint.model.kinds import TELEMETRY
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP522"


def check(simulation: Simulation) -> Iterator[Finding]:
    settings = of_controller(simulation, TELEMETRY)
    if mapping(settings.get("defaultProviders")).get("accessLogging"):
        return
    root = text(settings.get("rootNamespace"))
    telemetries = [state for state in simulation.policies.values() if (state.key.group, state.key.kind) == TELEMETRY]
    for state in telemetries:
        index = _first_without_provider(state.policy)
        inherited = _inherited(state, telemetries, root)
        if index is None or state.invalid_code or any(map(_names_provider, inherited)):
            continue
        pointer = ("spec", "accessLogging", index)
        setting = f"implementations: {{{state.kind.implementation}: {{defaultProviders: ...}}}}"
        yield Finding(
            RULE,
            "warning",
            f"{state.key} sets up access logging without a provider, so the entry is ignored",
            state.policy.location(*pointer),
            resources=(state.key,),
            label="no provider here, in a Telemetry above, or by default in the mesh configuration",
            help=(
                "fix: name one in `providers`",
                f"note: if the mesh has a default, say so: `{setting}`",
            ),
            confidence="assumed",
            ground="the mesh configuration may name a provider, and is not in these manifests",
            field=path(pointer),
        )


def _first_without_provider(policy: Resource) -> int | None:
    """Return the index of the first entry that enables logging, None where it or one before it has a provider."""
    for index, entry in enumerate(map(mapping, sequence(policy.spec.get("accessLogging")))):
        if sequence(entry.get("providers")):
            return None
        if entry.get("disabled") is not True:
            return index
    return None


def _names_provider(policy: Resource) -> bool:
    return any(sequence(mapping(entry).get("providers")) for entry in sequence(policy.spec.get("accessLogging")))


def _inherited(state: PolicyState, telemetries: list[PolicyState], root: str) -> Iterator[Resource]:
    """Yield the policies that providers may come from: of the mesh, of the namespace, and in the same stacks."""
    met = {attachment.key for group in state.groups for attachment in group.effective.stack}
    for other in telemetries:
        wide = is_wide(other.policy) and other.key.namespace in (root, state.key.namespace)
        if other.key != state.key and (wide or other.key in met):
            yield other.policy
