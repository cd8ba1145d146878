"""GWP104: a reference into another namespace that the kind does not allow, or that no ReferenceGrant allows."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.fixes import add_grant
from policylint.checks.kit.locations import at, path, targets
from policylint.checks.kit.routing import describe_grant
from policylint.model import Finding, ResourceKey
from policylint.model.fix import Fix
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation

RULE = "GWP104"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state, target in targets(simulation):
        if target.problem == "other-namespace":
            yield _finding(state, target, _move(state, target))
        elif target.problem == "not-granted":
            fixes = add_grant(simulation.world.get(target.key), state.key)
            yield _finding(state, target, (f"fix: {describe_grant(state.key, target.key)}",), fixes)
        for key in target.denied:
            yield _left_out(state, target, key)


def _left_out(state: PolicyState, target: Target, key: ResourceKey) -> Finding:
    """Return a note: grants may be meant to choose among what a selector finds, and the controller says nothing."""
    return Finding(
        RULE,
        "note",
        f"{state.key} selects {key}, but does not act on it",
        at(state.policy, target.pointer, "namespaces", "kind"),
        resources=(state.key, key),
        label=f"no ReferenceGrant in namespace {key.namespace} allows it",
        help=(f"fix: {describe_grant(state.key, key)}, if it should",),
        field=path(target.pointer),
    )


def _finding(state: PolicyState, target: Target, help_: tuple[str, ...], fixes: tuple[Fix, ...] = ()) -> Finding:
    return Finding(
        RULE,
        "error",
        f"{state.key} may not target {target.key} in another namespace",
        at(state.policy, target.pointer, "namespace", "name"),
        resources=(state.key, target.key),
        label=f"{state.kind.kind} may only target its own namespace, {state.key.namespace}"
        if target.problem == "other-namespace"
        else f"no ReferenceGrant in namespace {target.key.namespace} allows it",
        help=help_,
        field=path(target.pointer),
        fixes=fixes,
    )


def _move(state: PolicyState, target: Target) -> tuple[str, ...]:
    fix = f"fix: move the policy to namespace {target.key.namespace}"
    fine = [str(other) for other in state.targets if other.nodes and not other.problem]
    return (fix, f"note: split it then, as {listing(fine)} stays where it is") if fine else (fix,)
