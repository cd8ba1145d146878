"""GWP526 setting-misleads: settings that do something else than they seem to say, or nothing where they stand.

Which they are says the catalog (`misleads`), with an expression that is false of them, and the implementation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from policylint.catalog.content import places
from policylint.checks.kit.locations import path
from policylint.implementations import implementation
from policylint.model import Finding, mapping
from policylint.model.words import listing
from policylint.policy.results import FaultyPart, PolicyState
from policylint.simulation import Simulation
from policylint.simulation.ranking import stops

if TYPE_CHECKING:
    from policylint.implementations.generic.stops import Stop

RULE = "GWP526"


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _misleading(simulation)
    yield from map(partial(_stopping, simulation), stops(simulation))
    states = [state for state in simulation.policies.values() if state.groups and not state.invalid_code]
    names = {state.kind.implementation for state in states}
    behaviours = {name: implementation(name, simulation.catalog.settings(name)) for name in names}
    for state in states:
        parts = behaviours[state.kind.implementation].without_use(state, simulation.topology)
        yield from (_unused(state, part) for part in parts)


def _unused(state: PolicyState, part: FaultyPart) -> Finding:
    """Return the finding on a setting that nothing takes which its policy is for."""
    return Finding(
        RULE,
        "warning",
        f"{path(part.pointer)} of {state.key} {part.outcome}",
        state.policy.location(*part.pointer, key=True),
        resources=(state.key,),
        label=part.message,
        help=(f"fix: {part.fix}",) if part.fix else (),
        field=path(part.pointer),
    )


def _stopping(simulation: Simulation, stop: Stop) -> Finding:
    """Return the finding on a setting for which Gateways get no new configuration."""
    policy, pointer = simulation.policies[stop.policy].policy, ("spec", *stop.part.pointer)
    holders = [simulation.topology.listener(node) for node in stop.listeners]
    gateways = sorted({each.gateway for each in holders if each is not None and each.gateway is not None})
    return Finding(
        RULE,
        "error",
        f"{path(pointer)} of {stop.policy} stops {listing(gateways, most=3)} from being configured",
        policy.location(*pointer, key=True),
        resources=(stop.policy, *gateways),
        label=stop.consequence,
        help=(f"fix: {stop.part.fix}",),
        field=path(pointer),
    )


def _misleading(simulation: Simulation) -> Iterator[Finding]:
    from policylint.cel.evaluation import is_broken

    for state in simulation.policies.values():
        for misleading in () if state.invalid_code else state.kind.misleads:
            for pointer, value in places(state.policy.spec, misleading.path, ("spec",)):
                is_whole = all(name in mapping(value) for name in misleading.together)
                if is_whole and is_broken(misleading.holds, value):
                    yield Finding(
                        RULE,
                        "note",
                        f"{path(pointer)} of {state.key} does not do what it appears to do",
                        state.policy.location(*pointer, key=isinstance(pointer[-1], str)),
                        resources=(state.key,),
                        label=misleading.says,
                        help=(f"fix: {misleading.repair}",) if misleading.repair else (),
                        field=path(pointer),
                    )
