"""Two sides of a change in, what it does in effect out: settings, verdicts, findings and their blast radius.

Knows nothing of git: the sides are simulations, however they were come by. Text that means the same (order, comments,
labels nobody selects on) is no change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from policylint.checks import OF_CHANGES
from policylint.compare.change import Comparison, EnvironmentChange, FindingChange
from policylint.compare.contexts import changed_contexts
from policylint.compare.creation_order import with_ages, with_reasons
from policylint.compare.findings import changed_lines, finding_changes, on_changed_lines
from policylint.compare.objects import touched
from policylint.compare.pairing import Pairing
from policylint.compare.policies import policy_changes
from policylint.compare.sides import Sides
from policylint.compare.subjects import subjects
from policylint.compare.unknown import unknown_subjects
from policylint.model import World
from policylint.simulation import simulate

if TYPE_CHECKING:
    from policylint.model import Finding, ResourceKey
    from policylint.simulation import Simulation


def paired(before: Sequence[Simulation], after: Sequence[Simulation]) -> list[Sides]:
    """The environments by name, with the creation order that the change states; a missing side is an empty world."""
    old = {each.world.name: each for each in before}
    new = {each.world.name: each for each in after}
    found = []
    for name in sorted(old.keys() | new.keys()):
        one, other = old.get(name), new.get(name)
        alone = one is None or other is None
        if one is None and other is not None:
            one = simulate(World(name, ()), other.catalog)
        elif other is None and one is not None:
            other = simulate(World(name, ()), one.catalog)
        assert one is not None and other is not None
        if not alone or one.world.resources or other.world.resources:
            pairing = Pairing(one, other)
            found.append(Sides(with_ages(one, pairing.removed), with_ages(other, pairing.added), pairing))
    return found


def compare(sides: Iterable[Sides]) -> list[EnvironmentChange]:
    """What changes in each environment."""
    return [_environment(each) for each in sides]


def _environment(sides: Sides) -> EnvironmentChange:
    before, after, pairing = sides
    contexts = changed_contexts(before, after, pairing)
    found = subjects(sides, contexts.changes)
    known = {each.key for each in found}
    return EnvironmentChange(
        after.world.name,
        _come_or_gone(sides),
        len(after.topology.routes),
        contexts.changes,
        (*found, *unknown_subjects(sides, known)),
        tuple(policy_changes(before, after, pairing)),
        tuple(touched(sides, contexts.changes, found)),
        contexts.truncated,
        pairing.renamed,
    )


def _come_or_gone(sides: Sides) -> Literal["", "added", "removed"]:
    if bool(sides.before.world.resources) == bool(sides.after.world.resources):
        return ""
    return "removed" if sides.before.world.resources else "added"


def removed_protections(
    sides: Sequence[Sides], environments: Sequence[EnvironmentChange], chosen: Collection[str] | None = None
) -> list[Finding]:
    """What GWP302 and GWP304, or the chosen one, have to say, the same finding of several environments once."""
    wanted = OF_CHANGES if chosen is None else OF_CHANGES.intersection(chosen)
    found: list[Finding] = []
    for pair, environment in zip(sides, environments, strict=True):
        if "GWP302" in wanted:
            from policylint.compare.protection.bypass import protection_bypassed
            from policylint.compare.protection.removed import authentication_removed

            found += authentication_removed(pair, environment.contexts)
            found += protection_bypassed(pair)
        if "GWP304" in wanted:
            from policylint.compare.protection.settings import protection_weakened

            found += protection_weakened(pair, environment.contexts)
    return _folded(found)


def compared_findings(
    sides: Sequence[Sides],
    environments: Sequence[EnvironmentChange],
    before: Iterable[Finding],
    after: Iterable[Finding],
    of_after: Callable[[str], str] = str,
) -> list[FindingChange]:
    """Findings of both sides with their states; `of_after` tells what a file of before is called after.

    One cause, one finding: GWP302 and GWP304 are left out where a new GWP201 says the same, GWP301 where a new GWP302
    says more.
    """
    renamed = {key: new for each in environments for key, new in each.renamed.items()}
    new = frozenset(key for each in sides for key in each.pairing.added)
    found = finding_changes(before, with_reasons(after, new), renamed, of_after)
    said = _Said(each.finding for each in found if each.state == "new")
    found = [each for each in found if each.finding.rule not in OF_CHANGES or not said.covers(each.finding)]
    opened = {each.finding.resources[0] for each in found if each.finding.rule == "GWP302"}
    found = [
        each
        for each in found
        if each.finding.rule != "GWP301" or each.state != "new" or each.finding.resources[0] not in opened
    ]
    found.sort(key=lambda each: (each.state, each.finding.location.sort_key(), each.finding.rule, each.finding.message))
    return found


def _folded(findings: Iterable[Finding]) -> list[Finding]:
    """The same finding of several environments once, with their names."""
    found: dict[Finding, list[str]] = {}
    for each in findings:
        found.setdefault(each._replace(environments=()), []).extend(each.environments)
    return [each._replace(environments=tuple(sorted(set(names)))) for each, names in found.items()]


class _Said:
    """New GWP201s by the policies and routes they are about, to tell which rule of changes reports the same loss."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by: dict[ResourceKey, list[tuple[frozenset[ResourceKey], frozenset[str]]]] = defaultdict(list)
        for each in findings:
            if each.rule == "GWP201":
                about = frozenset(each.resources), frozenset(each.field.split(","))
                for key in about[0]:
                    self._by[key].append(about)

    def covers(self, removed: Finding) -> bool:
        """Whether one is about the same policies, with the fields among its own."""
        about, fields = set(removed.resources[1:]), set(removed.field.split(","))
        if len(about) < 2:
            return False
        fewest = min((self._by.get(key, []) for key in about), key=len)
        return any(about <= resources and fields <= lost for resources, lost in fewest)


__all__ = [
    "Comparison",
    "EnvironmentChange",
    "FindingChange",
    "Sides",
    "changed_lines",
    "compare",
    "compared_findings",
    "on_changed_lines",
    "paired",
    "removed_protections",
]
