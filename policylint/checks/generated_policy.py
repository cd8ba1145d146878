"""GWP214: a policy that a controller makes of a route replaces the one of the Gateway, and no file shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.catalog.content import generators
from policylint.checks.kit.locations import target_at
from policylint.model import GATEWAY_GROUP, Finding, Related, Resource, ResourceKey, mapping, sequence, text
from policylint.model.resource import value_at
from policylint.model.words import listing
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation

RULE = "GWP214"


def check(simulation: Simulation) -> Iterator[Finding]:
    for (group, kind), made in generators().items():
        for maker in simulation.world.of_kind(group, kind):
            merges = text(made.get("merges"))
            if not maker.spec.get(made["when"]) or (merges and value_at(maker.spec, tuple(merges.split(".")))):
                continue
            for state in _above(simulation, maker, made):
                lost = _protecting(state)
                if lost:
                    yield _finding(maker, made, state, lost)


def _above(simulation: Simulation, maker: Resource, made: Mapping[str, Any]) -> Iterator[PolicyState]:
    """Yield the policies of the kind that act on a Gateway of the route."""
    name, _, group = text(made["policy"]).partition(".")
    parents = {
        ResourceKey(
            text(parent.get("group"), GATEWAY_GROUP),
            text(parent.get("kind"), "Gateway"),
            text(parent.get("namespace")) or maker.key.namespace,
            text(parent.get("name")),
        )
        for parent in map(mapping, sequence(maker.spec.get(made["parents"])))
    }
    for state in simulation.policies.values():
        nodes = (node for target in state.targets for node in target.nodes)
        is_of_kind = (state.key.group, state.key.kind) == (group, name) and not state.invalid
        if is_of_kind and any(node.key in parents for node in nodes):
            yield state


def _protecting(state: PolicyState) -> list[str]:
    """Return what a policy sets that protects, by its names."""
    purposes = state.kind.settings
    known = {*purposes.authentication, *purposes.authorization, *purposes.protection}
    return [name for name in state.policy.spec if name in known]


def _finding(maker: Resource, made: Mapping[str, Any], state: PolicyState, lost: list[str]) -> Finding:
    when, kind = text(made["when"]), state.key.kind
    how = f"the {kind} generated from its {when} replaces it, and {listing(lost)} is lost"
    target = next(target for target in state.targets if target.nodes)
    merges = text(made.get("merges"))
    fix = (f"fix: set `{merges}`, or repeat these settings in `{when}`",) if merges else ()
    return Finding(
        RULE,
        "warning",
        f"{state.key} does not apply to {maker.key}: {how}",
        maker.location("spec", when, key=True),
        resources=(maker.key, state.key),
        label=f"the controller generates a {kind} from this, for a route of its own",
        related=(Related("this one is replaced there", target_at(state.policy, target)),),
        help=fix,
        confidence="assumed",
        ground=f"it depends on what the controller generates from {maker.key.kind}s",
        field=f"spec.{when}",
    )
