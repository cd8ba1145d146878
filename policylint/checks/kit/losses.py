"""Settings that policies lose to more specific ones, and who overrides them: for GWP201 and GWP203 to GWP205."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from functools import lru_cache

from policylint.checks.kit.locations import target_at
from policylint.model import Finding, Location, Node, PolicyKind, Related, Resource, ResourceKey, Severity
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.policy.asking import SEVERITY_OF_LOSS, asks, conditions, lets_all_pass, strongest
from policylint.policy.results import Attachment, Group, Lost, PolicyState
from policylint.simulation import Simulation


class Drop(NamedTuple):
    """One policy that takes settings away from another one above it, over all contexts.

    Args:
        kind: of both policies.
        winner, loser: the attachments, the first of each.
        fields: the top-level settings that are lost → where the loser writes each.
        severity: error when authentication goes and nothing takes its place, warning for other settings that protect, a
            note where that is meant.
        routes: the routes affected → the affected rules of each (empty where the kind does not reach rules).
        empty: whether the winner sets nothing at all.
        deliberate: whether the winner says nothing but that everybody may pass.
    """

    kind: PolicyKind
    winner: Attachment
    loser: Attachment
    fields: dict[str, Location]
    severity: Severity
    routes: dict[ResourceKey, list[Node]]
    empty: bool
    deliberate: bool = False


@lru_cache(maxsize=1)
def drops(simulation: Simulation) -> dict[tuple[ResourceKey, ResourceKey], Drop]:
    """Return every drop by (winner, loser), sorted; cached for the latest simulation, as several rules need it."""
    by_pair: dict[tuple[ResourceKey, ResourceKey], Drop] = {}
    for group in simulation.groups:
        if not group.effective.lost or group.effective.refused is not None:
            continue  # where a refused policy prevails, GWP111 says what requests get
        standing = {str(pointer[0]) for pointer in group.effective.owners if pointer}
        for winner, loser, lost in _pairs(group):
            kept = standing.union(*(declared.proper for declared in winner.declared))  # a null removes it on purpose
            kept.update(conditions(group.kind))
            gone = {str(leaf.pointer[0]): leaf for leaf in lost if leaf.pointer and str(leaf.pointer[0]) not in kept}
            if gone:
                _add(by_pair, group, winner, loser, gone, standing)
    return dict(sorted(by_pair.items()))


def _pairs(group: Group) -> list[tuple[Attachment, Attachment, list[Lost]]]:
    """Pair winners and losers with what was lost; a policy under `overrides` of a parent has not been dropped."""
    stack = group.effective.stack
    last = {attachment.key: number for number, attachment in enumerate(stack)}
    first = {attachment.key: number for number, attachment in reversed(list(enumerate(stack)))}
    pairs: dict[tuple[int, int], list[Lost]] = defaultdict(list)
    for lost in group.effective.lost:
        if not lost.by:
            continue
        winners = [last[key] for key in lost.by if key in last] or [len(stack) - 1]
        winner, loser = max(winners), first.get(lost.policy, len(stack))
        if winner > loser and stack[winner].node != stack[loser].node:
            pairs[winner, loser].append(lost)
    return [(stack[winner], stack[loser], lost) for (winner, loser), lost in sorted(pairs.items())]


def _add(
    by_pair: dict[tuple[ResourceKey, ResourceKey], Drop],
    group: Group,
    winner: Attachment,
    loser: Attachment,
    gone: dict[str, Lost],
    standing: set[str],
) -> None:
    pair = winner.key, loser.key
    drop = by_pair.get(pair)
    if drop is None:
        # An empty mapping may well say something: `http3: {}` switches HTTP/3 on.
        empty = all(value is None for declared in winner.declared for value in declared.proper.values())
        deliberate = not empty and all(lets_all_pass(group.kind, declared.proper) for declared in winner.declared)
        drop = by_pair[pair] = Drop(group.kind, winner, loser, {}, "note", {}, empty, deliberate)
    for name, lost in sorted(gone.items()):
        drop.fields.setdefault(name, _key_of(lost, loser.policy))
    severity = "note" if drop.deliberate else _severity(group, loser, set(gone), standing)
    if ("error", "warning", "note").index(severity) < ("error", "warning", "note").index(drop.severity):
        by_pair[pair] = drop._replace(severity=severity)
    for node in group.nodes:
        if node.key.kind.endswith("Route") and _below(node, winner):
            rules = drop.routes.setdefault(node.key, [])
            if node.role.endswith("Rule") and node not in rules:
                rules.append(node)


def _below(node: Node, winner: Attachment) -> bool:
    """Return whether a route's node is one that the winner acts on: where it targets one rule, only that."""
    target = winner.node
    return not (target.section and target.role.endswith("Rule")) or node == target


def _severity(group: Group, loser: Attachment, gone: set[str], standing: set[str]) -> Severity:
    settings = group.kind.settings
    login = gone & set(settings.authentication)
    if login and not standing & set(settings.authentication):
        asking = [ask for spec in loser.declared for ask in asks(group.kind, spec.proper) if ask.path in login]
        return SEVERITY_OF_LOSS[strongest(asking)] if asking else "error"
    return "warning" if gone & settings.security else "note"


def _key_of(lost: Lost, policy: Resource) -> Location:
    """Return where the top-level setting that a lost leaf belongs to is written, as a key."""
    pointer = lost.location.pointer
    whole = pointer[: len(pointer) - len(lost.pointer) + 1]
    return Location(policy.document, whole, key=True)


def superseders(simulation: Simulation, state: PolicyState) -> tuple[ResourceKey, ...]:
    """Return the policies that supersede another one, without those that other rules report.

    Of those that `by` names, some only set something else beside it (docs/design/interfaces.md §4): no finding says
    that they override it. GWP201 and GWP205 report drops, GWP202 refusals, GWP206 what depends on creation order.
    """
    refusing = {refusal.by for refusal in state.refused}
    reported = drops(simulation)
    beaters = {key for group in state.groups for loss in group.effective.lost_by(state.key) for key in loss.by}
    named = [key for key in state.by if key in beaters] or state.by
    rest = [key for key in named if key not in refusing and (key, state.key) not in reported]
    unordered = _unordered(simulation).get(state.key, set()) if rest else set()
    return tuple(key for key in rest if key == state.key or key not in unordered)


@lru_cache(maxsize=1)
def _unordered(simulation: Simulation) -> dict[ResourceKey, set[ResourceKey]]:
    """Return for each policy those whose order with it decides and is not stated; cached as `drops`."""
    by_policy: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
    for dependence in simulation.order_dependent:
        for key in dependence.policies:
            by_policy[key].update(dependence.policies)
    return by_policy


def names(state: PolicyState, by: tuple[ResourceKey, ...]) -> str:
    """Join the names of superseders; the kind is left out where it is the policy's own."""
    return listing([key.path if key.kind == state.key.kind else str(key) for key in by], most=4)


def overridden(
    rule: str,
    severity: Severity,
    message: str,
    label: str,
    simulation: Simulation,
    state: PolicyState,
    by: tuple[ResourceKey, ...],
) -> Finding:
    """Return a finding on an overridden policy, related to where its superseders are attached."""
    target = next((target for target in state.targets if target.nodes), state.targets[0])
    winners = [simulation.policies[key] for key in by[:3] if key in simulation.policies]
    return Finding(
        rule,
        severity,
        message,
        target_at(state.policy, target),
        resources=(state.key, *by[:3]),
        label=label,
        related=tuple(
            Related(f"{winner.key} prevails", target_at(winner.policy, winner.targets[0]))
            for winner in winners
            if winner.targets
        ),
    )


def lost_fields(state: PolicyState, by: Container[ResourceKey] | None = None) -> list[str]:
    """Return the top-level settings of a policy that are lost somewhere, to some policies or any, sorted."""
    return sorted(
        {
            str(lost.pointer[0])
            for group in state.groups
            for lost in group.effective.lost_by(state.key)
            if lost.pointer and (by is None or any(key in by for key in lost.by))
        }
    )
