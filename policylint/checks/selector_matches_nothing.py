"""GWP105: a label selector that selects no object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policylint.checks.kit.locations import entry, path
from policylint.model import Finding, Location, Related, Resource, mapping
from policylint.model.selectors import matches, unmet
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.topology.workloads import is_workload, pod_labels

if TYPE_CHECKING:
    from policylint.simulation import Simulation

RULE = "GWP105"
_MOST_COMPARED = 2_000


def check(world: Simulation) -> Iterator[Finding]:
    for state in world.policies.values():
        for target in state.targets:
            if target.selector is not None and "namespaces" in entry(state.policy, target):
                continue  # other namespaces are the business of the implementations that look into them
            if target.problem == "no-match":
                if target.key.kind == "Pod":
                    yield _no_workload(world, state, target)
                    continue
                candidates = world.world.in_namespace(target.key.group, target.key.kind, target.key.namespace)
                yield _finding(state, target, candidates[:_MOST_COMPARED])
            elif target.selector is not None and target.resolution.unknown:
                yield _unknown(state, target)


def _finding(state: PolicyState, target: Target, candidates: list[Resource]) -> Finding:
    selector = target.selector or {}
    where = f" in namespace {target.key.namespace}" if target.key.namespace else ""
    nearest = min(candidates, key=lambda each: (len(unmet(selector, each.labels)), each.key), default=None)
    related: tuple[Related, ...] = ()
    if nearest is None:
        label = f"there is no {target.key.kind}{where}"
    else:
        label = f"no {target.key.kind}{where} has these labels"
        missing = listing(unmet(selector, nearest.labels), most=3)
        place = nearest.location("metadata", "labels", key=True) if nearest.labels else nearest.name_location
        related = (Related(f"the nearest, {nearest.key}, lacks {missing}", place),)
    return Finding(
        RULE,
        "warning",
        f"{state.key} selects no {target.key.kind}",
        _place(state, target, nearest.labels if nearest is not None else {}),
        resources=(state.key,),
        label=label,
        related=related,
        field=path(target.pointer),
    )


def _no_workload(world: Simulation, state: PolicyState, target: Target) -> Finding:
    """Offline there are hardly Pods: what is compared are the templates of what makes them."""
    selector = target.selector or {}
    workloads = [each for each in world.world.resources.values() if is_workload(each.key.group, each.key.kind)]
    inside = [each for each in workloads if each.key.namespace == target.key.namespace][:_MOST_COMPARED]
    elsewhere = [
        each for each in workloads if each.key.namespace != target.key.namespace and matches(selector, pod_labels(each))
    ]
    nearest = min(inside, key=lambda each: (len(unmet(selector, pod_labels(each))), each.key), default=None)
    related: tuple[Related, ...] = ()
    help_: tuple[str, ...] = ()
    if elsewhere:
        found = min(elsewhere, key=lambda each: each.key)
        related = (Related(f"{found.key} has them, in another namespace", found.name_location),)
        help_ = (f"fix: move the policy to namespace {found.key.namespace}",)
    elif nearest is not None and "waypoint" not in target.detail:
        missing = listing(unmet(selector, pod_labels(nearest)), most=3)
        related = (Related(f"the nearest, {nearest.key}, lacks {missing}", nearest.name_location),)
    return Finding(
        RULE,
        "warning",
        f"{state.key} selects no workload",
        _place(state, target, pod_labels(nearest) if nearest is not None else {}),
        resources=(state.key,),
        label=target.detail,
        related=related,
        help=help_,
        field=path(target.pointer),
    )


def _place(state: PolicyState, target: Target, labels: Mapping[str, Any]) -> Location:
    """The first label that the nearest object lacks, else the labels, else the entry."""
    written = entry(state.policy, target)
    pointer = (*target.pointer, "selector") if isinstance(written.get("selector"), dict) else target.pointer
    selector = target.selector or {}
    for name, value in mapping(selector.get("matchLabels")).items():
        if labels.get(name) != value:
            return state.policy.location(*pointer, "matchLabels", name)
    if "matchExpressions" in selector:
        return state.policy.location(*pointer, "matchExpressions", key=True)
    return state.policy.location(*target.pointer, "kind")


def _unknown(state: PolicyState, target: Target) -> Finding:
    return Finding(
        RULE,
        "note",
        f"{state.key} selects {target.key.kind}s that are not in the tree",
        _place(state, target, {}),
        resources=(state.key,),
        label=target.resolution.reason,
        confidence="unknown",
        field=path(target.pointer),
    )
