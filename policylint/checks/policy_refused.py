"""GWP111: the controller of a policy refuses it as it stands, or a part of it, so that nothing of that takes effect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.catalog.releases import OLDER
from policylint.checks import cluster_scope_target, conflicting_merge_directives, duplicate_target
from policylint.checks.kit.locations import deepest_written, path
from policylint.checks.kit.suggestions import Nearby
from policylint.documents import Pointer
from policylint.model import Finding, Location, ResourceKey
from policylint.model.words import count
from policylint.policy.connections import STREAM_ROUTES
from policylint.policy.content import content_references
from policylint.policy.results import FaultyPart, Group, PolicyState
from policylint.policy.validity import SCHEMA, SWITCHED_OFF
from policylint.simulation import Simulation

RULE = "GWP111"
_REPORTED = frozenset({*duplicate_target.CODES, *conflicting_merge_directives.CODES, cluster_scope_target.CODE, SCHEMA})
"""Codes that other rules report."""


def check(simulation: Simulation) -> Iterator[Finding]:
    yield from _refused(simulation)
    for state in simulation.policies.values():
        yield from (_part(simulation, state, fault) for fault in state.told_faults)


def _refused(simulation: Simulation) -> Iterator[Finding]:
    invalid = [state for state in simulation.policies.values() if state.verdict == "Invalid"]
    refused = [state for state in invalid if not _is_reported(state)]
    if not refused:
        return
    from policylint.checks import schema_violation

    broken = {key for finding in schema_violation.check(simulation) for key in finding.resources}
    groups: dict[ResourceKey | None, list[Group]] = defaultdict(list)
    for group in simulation.groups:
        groups[group.effective.refused].append(group)
    for state in refused:
        if state.key not in broken:  # the API server refuses it first
            prevailing = groups.get(state.key, ())
            failing = len({key for group in prevailing for key in group.routes() if key.kind not in STREAM_ROUTES})
            named = simulation.catalog.told.get(state.kind.implementation, "")
            yield _finding(simulation, state, failing, named if state.invalid_code == SWITCHED_OFF else "")


def _is_reported(state: PolicyState) -> bool:
    """Return whether another rule says why: by its code, for one of its targets (GWP101 to GWP104), or GWP106."""
    if state.idle is not None or _is_never_looked_at(state):
        return True
    if state.invalid_code:
        return state.invalid_code in _REPORTED
    return any(target.problem for target in state.targets)


def _is_never_looked_at(state: PolicyState) -> bool:
    """Tell whether a policy selects nothing, and its controller judges it at what it selects: GWP105 says so."""
    selecting = all(target.problem == "no-match" and target.selector is not None for target in state.targets)
    return state.kind.status == "ancestors" and bool(state.targets) and selecting


def _finding(simulation: Simulation, state: PolicyState, failing: int, told: str) -> Finding:
    """Return the finding about a refused policy.

    Args:
        failing: how many routes of requests fail with it.
        told: what names the release whose defaults switch off what it needs; "" where that is stated.
    """
    reason, label = _reason(state), "no part of this policy takes effect"
    missing = _missing(simulation, state, reason, state.invalid_pointer)
    if reason and missing is not None and str(missing) not in reason:
        reason = f"{reason} ({missing} is missing)"
    if any(state.key in group.effective.owners.values() for group in state.groups):
        label = "this part of the policy does not take effect"
    elif failing:
        label = f"every request of {count(failing, 'route')} is answered with an error"
    return Finding(
        RULE,
        "error",
        f"{state.key} is refused{f': {reason}' if reason else ''}",
        _place(state, state.invalid_pointer),
        resources=(state.key,),
        label=label,
        confidence="assumed" if told else "certain",
        ground=f"{told.removesuffix(OLDER)} names a release whose default that is" if told else "",
        help=(*_other_target(state), *_nearby(simulation, missing)),
        field=path(state.invalid_pointer),
    )


def _other_target(state: PolicyState) -> tuple[str, ...]:
    """Return what else a policy may target that its controller refuses for its only target."""
    if len(state.targets) != 1 or state.invalid_pointer[:2] not in (("spec", "targetRef"), ("spec", "targetRefs")):
        return ()
    others = {each.kind for each in state.kind.targets} - {state.targets[0].key.kind}
    return (f"note: {state.kind.kind} may target a {others.pop()}, too",) if len(others) == 1 else ()


def _part(simulation: Simulation, state: PolicyState, fault: FaultyPart) -> Finding:
    """Return the finding about a part of a policy that its controller accepts all the same."""
    label, routes = "this part of the policy does not take effect", set[ResourceKey]()
    for group in state.groups:
        for failure in group.effective.failing.values():
            if (failure.by, failure.why) == (state.key, fault.message):
                routes.update(group.routes())
                whose, verb = ("every request", "is") if failure.certain else ("some requests", "are")
                label = f"{whose} of {count(len(routes), 'route')} {verb} answered with {failure.status}"
    missing = _missing(simulation, state, fault.message, fault.pointer)
    return Finding(
        RULE,
        "warning",
        f"{state.key} is accepted in part: {fault.message}",
        _place(state, fault.pointer),
        resources=(state.key,),
        label=label,
        help=(*([f"fix: {fault.fix}"] if fault.fix else ()), *_nearby(simulation, missing)),
        field=path(fault.pointer),
    )


def _missing(simulation: Simulation, state: PolicyState, reason: str, place: Pointer) -> ResourceKey | None:
    """Return the missing object for which a policy is refused: its reason names it, or stands where it is named."""
    for reference in content_references(state.policy, simulation.world, state.kind.refers or None):
        length = min(len(place), len(reference.pointer))
        is_meant = str(reference.wanted) in reason or (length > 1 and place[:length] == reference.pointer[:length])
        if is_meant and reference.resolution.missing:
            return reference.wanted
    return None


def _nearby(simulation: Simulation, missing: ResourceKey | None) -> tuple[str, ...]:
    """Return what the tree shows in place of a missing object."""
    nearby = Nearby(simulation.world)
    return (f"note: {nearby.describe(missing)}",) if missing is not None and nearby.is_shown(missing) else ()


def _reason(state: PolicyState) -> str:
    """Return the words of the check that refused it, else of the first condition that says so."""
    if state.invalid:
        return state.invalid.rstrip(".")
    conditions = [*state.conditions, *(condition for ancestor in state.ancestors for condition in ancestor.conditions)]
    refusals = (each.message for each in conditions if each.type == "Accepted" and each.status == "False")
    return next(refusals, "").rstrip(".")


def _place(state: PolicyState, fault: Pointer) -> Location:
    """Return where the value at fault is, as far down as something is written; else where the name is."""
    pointer = deepest_written(state.policy.body, fault)
    if not pointer:
        return state.policy.name_location
    return state.policy.location(*pointer, key=isinstance(pointer[-1], str))
