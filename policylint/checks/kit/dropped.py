"""What policies lose because a more specific one replaces them as a whole: for GWP201, 203, 204 and 205."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from policylint.model import Location, Node, PolicyKind, Resource, ResourceKey, Severity
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Attachment, Group, Lost

if TYPE_CHECKING:
    from policylint.simulation import Simulation


class Drop(NamedTuple):
    """One policy that takes settings away from another one above it, over all contexts.

    Args:
        kind: of both policies.
        winner, loser: the attachments, the first of each.
        fields: the top-level settings that are gone, each with where the loser writes it.
        severity: error when authentication goes and nothing takes its place, warning for other settings that protect.
        routes: the routes concerned, each with its rules concerned (empty where the kind does not reach rules).
        empty: the winner sets nothing at all.
    """

    kind: PolicyKind
    winner: Attachment
    loser: Attachment
    fields: dict[str, Location]
    severity: Severity
    routes: dict[ResourceKey, list[Node]]
    empty: bool


@lru_cache(maxsize=1)
def drops(simulation: Simulation) -> dict[tuple[ResourceKey, ResourceKey], Drop]:
    """Every drop by (winner, loser), sorted. The last simulation's answer is kept: four rules ask."""
    found: dict[tuple[ResourceKey, ResourceKey], Drop] = {}
    for group in simulation.groups:
        if not group.effective.lost:
            continue
        standing = {str(pointer[0]) for pointer in group.effective.owners if pointer}
        for winner, loser, lost in _pairs(group):
            kept = standing.union(*(each.proper for each in winner.declared))  # a null there removes it on purpose
            gone = {str(each.pointer[0]): each for each in lost if each.pointer and str(each.pointer[0]) not in kept}
            if gone:
                _add(found, group, winner, loser, gone, standing)
    return dict(sorted(found.items()))


def _pairs(group: Group) -> list[tuple[Attachment, Attachment, list[Lost]]]:
    """Who lost what to a more specific policy: one under `overrides` of a parent has not been dropped."""
    stack = group.effective.stack
    place = {each.key: number for number, each in enumerate(stack)}
    first = {each.key: number for number, each in reversed(list(enumerate(stack)))}
    pairs: dict[tuple[int, int], list[Lost]] = defaultdict(list)
    for lost in group.effective.lost:
        winners = [place[key] for key in lost.by if key in place] or [len(stack) - 1]
        winner, loser = max(winners), first.get(lost.policy, len(stack))
        if winner > loser and stack[winner].node != stack[loser].node:
            pairs[winner, loser].append(lost)
    return [(stack[winner], stack[loser], lost) for (winner, loser), lost in sorted(pairs.items())]


def _add(
    found: dict[tuple[ResourceKey, ResourceKey], Drop],
    group: Group,
    winner: Attachment,
    loser: Attachment,
    gone: dict[str, Lost],
    standing: set[str],
) -> None:
    pair = winner.key, loser.key
    drop = found.get(pair)
    if drop is None:
        # An empty mapping may well say something: `http3: {}` switches HTTP/3 on.
        empty = all(value is None for each in winner.declared for value in each.proper.values())
        drop = found[pair] = Drop(group.kind, winner, loser, {}, "note", {}, empty)
    for name, lost in sorted(gone.items()):
        drop.fields.setdefault(name, _key_of(lost, loser.policy))
    severity = _severity(group, set(gone), standing)
    if ("error", "warning", "note").index(severity) < ("error", "warning", "note").index(drop.severity):
        found[pair] = drop._replace(severity=severity)
    for node in group.nodes:
        if node.key.kind.endswith("Route") and _below(node, winner):
            rules = drop.routes.setdefault(node.key, [])
            if node.role.endswith("Rule") and node not in rules:
                rules.append(node)


def _below(node: Node, winner: Attachment) -> bool:
    """Whether a route's node is one that the winner acts on: where it targets one rule, only that."""
    target = winner.node
    return not (target.section and target.role.endswith("Rule")) or node == target


def _severity(group: Group, gone: set[str], standing: set[str]) -> Severity:
    settings = group.kind.settings
    if gone & set(settings.authentication) and not standing & set(settings.authentication):
        return "error"
    return "warning" if gone & settings.security else "note"


def _key_of(lost: Lost, policy: Resource) -> Location:
    """The key of the top-level setting that a lost leaf belongs to."""
    pointer = lost.location.pointer
    whole = pointer[: len(pointer) - len(lost.pointer) + 1]
    return Location(policy.document, whole, key=True)
