"""GWP105: a label selector that selects no object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.checks.kit.locations import entry, path, targets, unknown_target
from policylint.checks.namespace_rewritten import reported_policies
from policylint.documents import Pointer
from policylint.model import Finding, Location, Related, Resource, mapping
from policylint.model.selectors import matches, unmet
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.simulation.selected import LEFT_OUT
from policylint.topology.workloads import is_workload, pod_labels

RULE = "GWP105"
_MOST_COMPARED = 2_000
_Manifest = tuple[object, Pointer]
"""Where a policy is written: its document, and its place there."""


def check(simulation: Simulation) -> Iterator[Finding]:
    acting: dict[_Manifest, PolicyState] | None = None
    for state, target in targets(simulation):
        if target.selector is not None and "namespaces" in entry(state.policy, target):
            continue  # only the implementations that support other namespaces know what is selected there
        if target.selector is not None and not target.nodes and state.key in reported_policies(simulation):
            continue  # it is written for another namespace: GWP112 says it
        if target.problem == "no-match" and target.key.kind == "Pod":
            yield _no_workload(simulation, state, target)
        elif target.problem == "no-match":
            candidates = simulation.world.in_namespace(target.key.group, target.key.kind, target.key.namespace)
            finding = _no_object(state, target, candidates[:_MOST_COMPARED])
            if acting is None:
                acting = {_manifest(each): each for each in simulation.policies.values() if each.groups}
            twin = acting.get(_manifest(state))
            yield finding if twin is None else _in_vain_here(finding, twin)
        elif target.selector is not None and target.resolution.unknown and target.resolution.reason != LEFT_OUT:
            message = f"{state.key} selects {target.key.kind}s that were not seen"
            location = _label_location(state, target, {})
            finding = unknown_target(RULE, message, state, target, location, target.resolution.reason)
            yield finding._replace(resources=(state.key,))


def _manifest(state: PolicyState) -> _Manifest:
    return state.policy.document, state.policy.root


def _in_vain_here(finding: Finding, twin: PolicyState) -> Finding:
    """Return a finding on a policy that stands in one manifest for many places: there its labels choose, elsewhere."""
    note = f"note: {twin.key}, of the same manifest, selects what it is for"
    return finding._replace(severity="note", help=(*finding.help, note))


def _no_object(state: PolicyState, target: Target, candidates: list[Resource]) -> Finding:
    selector = target.selector or {}
    where = f" in namespace {target.key.namespace}" if target.key.namespace else ""
    nearest = min(candidates, key=lambda other: (len(unmet(selector, other.labels)), other.key), default=None)
    related: tuple[Related, ...] = ()
    if nearest is None:
        label = f"there is no {target.key.kind}{where}"
    else:
        label = f"no {target.key.kind}{where} has these labels"
        missing = listing(unmet(selector, nearest.labels), most=3)
        place = nearest.location("metadata", "labels", key=True) if nearest.labels else nearest.name_location
        related = (Related(f"the closest match, {nearest.key}, lacks {missing}", place),)
    location = _label_location(state, target, nearest.labels if nearest is not None else {})
    return _finding(state, target, target.key.kind, location, label, related)


def _no_workload(simulation: Simulation, state: PolicyState, target: Target) -> Finding:
    """Return a finding on workloads: there are hardly any Pods in manifests, so their templates are compared."""
    selector = target.selector or {}
    namespace = target.key.namespace
    workloads = [other for other in simulation.world.resources.values() if is_workload(other.key.group, other.key.kind)]
    inside = [workload for workload in workloads if workload.key.namespace == namespace][:_MOST_COMPARED]
    outside = (workload for workload in workloads if workload.key.namespace != namespace)
    elsewhere = min(
        (workload for workload in outside if matches(selector, pod_labels(workload))),
        key=lambda workload: workload.key,
        default=None,
    )
    nearest = min(inside, key=lambda other: (len(unmet(selector, pod_labels(other))), other.key), default=None)
    related: tuple[Related, ...] = ()
    help_: tuple[str, ...] = ()
    if elsewhere is not None:
        related = (Related(f"{elsewhere.key} has these labels, but is in another namespace", elsewhere.name_location),)
        help_ = (f"fix: move the policy to namespace {elsewhere.key.namespace}",)
    elif nearest is not None and "waypoint" not in target.detail:
        missing = listing(unmet(selector, pod_labels(nearest)), most=3)
        related = (Related(f"the closest match, {nearest.key}, lacks {missing}", nearest.name_location),)
    location = _label_location(state, target, pod_labels(nearest) if nearest is not None else {})
    return _finding(state, target, "workload", location, target.detail, related)._replace(help=help_)


def _finding(
    state: PolicyState, target: Target, noun: str, location: Location, label: str, related: tuple[Related, ...]
) -> Finding:
    return Finding(
        RULE,
        "warning",
        f"{state.key} selects no {noun}",
        location,
        resources=(state.key,),
        label=label,
        related=related,
        field=path(target.pointer),
    )


def _label_location(state: PolicyState, target: Target, labels: Mapping[str, Any]) -> Location:
    """Return where the first label is that the nearest object lacks, else where the labels are, else the entry."""
    written = entry(state.policy, target)
    pointer = (*target.pointer, "selector") if isinstance(written.get("selector"), dict) else target.pointer
    selector = target.selector or {}
    for name, value in mapping(selector.get("matchLabels")).items():
        if labels.get(name) != value:
            return state.policy.location(*pointer, "matchLabels", name)
    if "matchExpressions" in selector:
        return state.policy.location(*pointer, "matchExpressions", key=True)
    return state.policy.location(*target.pointer, "kind")
