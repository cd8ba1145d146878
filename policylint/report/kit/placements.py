"""Placements of policies for clusters that change, as diff and explain say it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from policylint.compare.placements import NOWHERE
from policylint.model.words import count, leading
from policylint.namedtuple import NamedTuple
from policylint.report.kit.identity import Names

if TYPE_CHECKING:
    from policylint.compare.placements import PlacementChange
    from policylint.model import ResourceKey

_SENTENCES = {
    "enforced": ("now enforces", "now enforce"),
    "placed": ("is newly placed", "are newly placed"),
    "gone": ("is no longer placed", "are no longer placed"),
    "relaxed": ("no longer enforces", "no longer enforce"),
    "changed": ("changes its action", "change their action"),
}


class FoldedPlacements(NamedTuple):
    """Policies to which the same happens on the same clusters, because of the same."""

    first: PlacementChange
    policies: tuple[ResourceKey, ...]


def folded_placements(changes: Iterable[PlacementChange]) -> list[FoldedPlacements]:
    """Return changes, those that differ in the policy alone as one; what causes them first in line."""
    alike: dict[tuple[object, ...], list[PlacementChange]] = {}
    for change in changes:
        own = tuple(key for key in change.by if key != change.policy)
        alike.setdefault((change.clusters, change.before, change.after, own or change.by), []).append(change)
    return [FoldedPlacements(same[0], tuple(change.policy for change in same)) for same in alike.values()]


def placement_mark(change: PlacementChange) -> str:
    """Return `+` where a policy comes, `-` where it goes and `~` where its action changes."""
    return "+" if change.before == NOWHERE else "-" if change.after == NOWHERE else "~"


def placement_entry(change: PlacementChange, names: Names) -> dict[str, Any]:
    """Return a change of a placement as data."""
    return {
        "environment": change.environment,
        "policy": names.key(change.policy),
        "clusters": list(change.clusters),
        "before": change.before,
        "after": change.after,
        "change": change.change,
        "by": names.keys(change.by),
    }


def placement_in_words(folded: FoldedPlacements) -> str:
    """Return `Policy policies/deny-all: inform -> enforce on prod-eu and prod-us`."""
    change = folded.first
    where = f" on {leading(change.clusters, 5)}" if change.clusters else ""
    return f"{leading(folded.policies, 3)}: {change.before} -> {change.after}{where}"


def causes_in_words(change: PlacementChange) -> str:
    """Return the changed objects that a change is due to, the policy itself left out where there are others."""
    others = [key for key in change.by if key != change.policy]
    return leading(others or change.by, 3)


def placements_in_words(changes: Iterable[PlacementChange]) -> list[str]:
    """Return `3 policies now enforce on 41 clusters` and the like, enforcement first, and what is perhaps so apart."""
    alike: dict[tuple[str, bool], list[PlacementChange]] = {}
    for change in changes:
        perhaps = (change.before if change.change == "gone" else change.after).startswith("perhaps ")
        alike.setdefault((change.change, perhaps), []).append(change)
    parts = []
    for (kind, perhaps), same in sorted(alike.items(), key=lambda item: (list(_SENTENCES).index(item[0][0]), item[0])):
        policies, clusters = {change.policy for change in same}, {name for change in same for name in change.clusters}
        where = f" on {count(len(clusters), 'cluster')}" if clusters else ""
        sentence = _SENTENCES[kind][len(policies) != 1]
        doubt = ", perhaps" if perhaps else ""
        parts.append(f"{count(len(policies), 'policy', 'policies')} {sentence}{where}{doubt}")
    return parts
