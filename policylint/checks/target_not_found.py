"""GWP101: a targetRef names an object that is not deployed in this environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.checks.kit.locations import path, target_at, targets, unknown_target
from policylint.checks.kit.suggestions import Nearby
from policylint.model import Finding, Related, Resource, ResourceKey, World
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology.references import is_parent

RULE = "GWP101"


def check(simulation: Simulation) -> Iterator[Finding]:
    nearby = Nearby(simulation.world)
    fine: dict[ResourceKey, list[str]] = {}
    for state, target in targets(simulation):
        if target.problem == "not-found":
            elsewhere = simulation.world.elsewhere(target.key)
            orphan = simulation.world.orphan(target.key)
            if elsewhere:
                yield _unknown(state, target, elsewhere)
                continue
            if state.key not in fine:
                fine[state.key] = [str(other) for other in state.targets if other.nodes and not other.problem]
            is_near = orphan is not None or nearby.is_shown(target.key)
            doubt = simulation.world.doubt(target.key) if simulation.world.partial and not is_near else ""
            yield _missing(state, target, nearby, orphan, fine[state.key], doubt)
        elif (
            not target.problem
            and not target.lenient
            and target.resolution.unknown
            and target.selector is None
            and target.key.kind
            and (not target.section or is_elsewhere(target, simulation.world))
        ):
            yield _unknown(state, target, target.resolution.reason)


def is_elsewhere(target: Target, world: World) -> bool:
    """Tell whether the object of a target comes from outside of this tree, so that nothing is said of its section.

    What routes hang on is another matter: a section of a Gateway that was not seen is GWP103's.
    """
    return not is_parent(target.key) and target.resolution.reason == (world.elsewhere(target.key) or None)


def _missing(
    state: PolicyState, target: Target, nearby: Nearby, orphan: Resource | None, fine: Sequence[str], doubt: str
) -> Finding:
    from policylint.checks.kit.fixes import rename

    key = target.key
    homes, guess = nearby.namespaces(key), nearby.name(key)
    help_ = []
    if orphan is not None:
        help_.append("fix: add its file to the `resources:` that should deploy it, or remove the policy as well")
        homes = []
    if homes:
        move = f"move the policy to namespace {homes[0]}"
        if state.kind.cross_namespace in ("grant", "yes", "clients"):
            move = f"add `namespace: {homes[0]}`, or {move}"
        help_.append(f"fix: {key._replace(namespace=homes[0])} exists: {move}")
    elif guess:
        help_.append(f"fix: write `name: {guess}`")
    if fine:
        others = f"its other target, {fine[0]}, is" if len(fine) == 1 else f"its other targets, {listing(fine)}, are"
        help_.append(f"note: {others} fine, so the cluster would report Accepted")
    used = {other.key.name for other in state.targets if other.key[:3] == key[:3]} if guess and not homes else set()
    return Finding(
        RULE,
        "error",
        f"{state.key} points at missing {key}",
        target_at(state.policy, target),
        resources=(state.key, key),
        label=nearby.describe(key),
        related=() if orphan is None else (Related("not deployed", orphan.name_location),),
        help=tuple(help_),
        confidence="assumed" if doubt else "certain",
        ground=doubt,
        field=path(target.pointer),
        fixes=() if homes else rename([target_at(state.policy, target)], key.name, guess, nearby.names(key), used),
    )


def _unknown(state: PolicyState, target: Target, why: str) -> Finding:
    message = f"{state.key} points at {target.key}, which is not among these manifests"
    return unknown_target(RULE, message, state, target, target_at(state.policy, target), why)
