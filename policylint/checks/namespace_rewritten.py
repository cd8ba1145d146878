"""GWP112: a policy that is written for one namespace, lands in another and reaches nothing there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from policylint.checks.kit.locations import path
from policylint.documents import Document
from policylint.model import Finding, Location, Related, Resource, ResourceKey, is_symbolic, mapping, text
from policylint.model.resource import value_at
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology.workloads import by_pod_labels

RULE = "GWP112"
_PLACE = ("metadata", "namespace")


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        home = _written(state.policy)
        if home in ("", state.key.namespace) or state.invalid_code or state.groups or state.key.unplaced:
            continue
        if is_symbolic(home) or is_symbolic(state.key.namespace) or not simulation.world.deploys(home):
            continue
        if simulation.world.get(state.key._replace(namespace=home)) is not None:
            continue  # one base that is deployed to both
        if not state.targets or not all(map(_is_local, state.targets)) or not _is_rewritten(state.policy):
            continue
        meant = [resource for target in state.targets for resource in _meant(simulation, target, home)]
        if meant or all(target.selector is not None for target in state.targets):
            yield _finding(simulation, state, home, meant)


@lru_cache(maxsize=1)
def reported_policies(simulation: Simulation) -> frozenset[ResourceKey]:
    """Return the policies that this rule reports: GWP105 need not say that they select nothing."""
    return frozenset(finding.resources[0] for finding in check(simulation))


def _written(policy: Resource) -> str:
    """Return the namespace that a policy's own file says, "" where it says none or the policy stands in no file."""
    document = policy.document
    own = mapping(value_at(document.value, policy.root)) if isinstance(document, Document) else {}
    metadata = mapping(own.get("metadata"))
    return text(metadata.get("namespace")) if own.get("kind") == policy.key.kind else ""


def _is_rewritten(policy: Resource) -> bool:
    """Return whether a namespace for many objects overrides the policy's own; a patch of the policy means it."""
    decided = policy.location(*_PLACE).pointer
    return decided == ("namespace",) or decided[-1:] == ("targetNamespace",)


def _is_local(target: Target) -> bool:
    """Return whether a target is its policy's namespace, or what has some labels there, of which nothing is seen."""
    return target.key.kind == "Namespace" or (target.selector is not None and not target.nodes)


def _finding(simulation: Simulation, state: PolicyState, home: str, meant: list[Resource]) -> Finding:
    policy, landing = state.policy, state.key.namespace
    unseen = any(target.resolution.unknown for target in state.targets) or simulation.world.unseen.reason(state.key)
    certain = bool(meant) and not unseen
    return Finding(
        RULE,
        "warning",
        f"{state.key} is written for namespace {home} and lands in {landing}, where it reaches nothing",
        Location(policy.document, (*policy.root, *_PLACE)),
        resources=(state.key, *(resource.key for resource in meant[:1])),
        label=f"deployed to {landing} instead",
        related=(
            Related("what decides the namespace", policy.location(*_PLACE)),
            *(Related(f"{resource.key} is what it was meant for", resource.name_location) for resource in meant[:1]),
        ),
        help=(f"fix: deploy this file together with what goes to namespace {home}",),
        confidence="certain" if certain else "assumed",
        ground="" if certain else f"{landing} may hold what the policy is meant for, in files that were not seen",
        field=path(_PLACE),
    )


def _meant(simulation: Simulation, target: Target, home: str) -> tuple[Resource, ...]:
    """Return what a target would select in the namespace that the policy was written for."""
    kind = target.key.group, target.key.kind
    if target.selector is not None and kind != ("", "Pod"):
        return simulation.world.selected(*kind, target.selector, home)
    return by_pod_labels(simulation.world, home).matching(target.selector or {})
