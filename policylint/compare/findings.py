"""Findings that are new, fixed or unchanged: matched by rule, resources and field, never by line or wording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from policylint.compare.change import FindingChange
from policylint.model import SEVERITIES, Finding, Location, Related, ResourceKey

_Identity = tuple[str, tuple[ResourceKey, ...], str]


def finding_changes(
    before: Iterable[Finding],
    after: Iterable[Finding],
    renamed: Mapping[ResourceKey, ResourceKey],
    of_after: Callable[[str], str] = str,
) -> list[FindingChange]:
    """Return every finding of both sides with its state, in the order of `after`, then the fixed ones.

    A finding that has become worse is new.

    Args:
        of_after: returns the name on the side after of a file of the side before.
    """
    unmatched: dict[_Identity, list[Finding]] = defaultdict(list)
    for finding in before:
        unmatched[_identity(finding, renamed, of_after)].append(finding)
    changes = []
    for finding in after:
        twins = unmatched.get(_identity(finding, {}), [])
        twin = next((twin for twin in twins if _rank(twin) <= _rank(finding)), None)
        if twin is None:
            changes.append(FindingChange(finding, "new"))
        else:
            twins.remove(twin)
            changes.append(FindingChange(finding, "unchanged"))
    worse = {_identity(change.finding, {}) for change in changes if change.state == "new"}
    for identity, twins in unmatched.items():
        changes += [FindingChange(twin, "fixed") for twin in twins if identity not in worse]
    return changes


def _identity(
    finding: Finding, renamed: Mapping[ResourceKey, ResourceKey], of_after: Callable[[str], str] = str
) -> _Identity:
    """Return what makes two findings the same finding."""
    resources = tuple(renamed.get(key, key) for key in finding.resources)
    about = finding.field if resources else f"{of_after(finding.location.file)} {finding.field} {finding.label}"
    return finding.rule, resources, about


def _rank(finding: Finding) -> int:
    """Return the rank of a finding's severity; a higher one is worse."""
    return SEVERITIES.index(finding.severity)


def on_changed_lines(finding: Finding, lines: Callable[[str], Collection[int]]) -> Finding:
    """Return a finding with a place that the change touches as its primary one, if it has any: GitHub shows no others.

    Args:
        lines: file → its lines that are new or changed, from 1.
    """
    if _touches(finding.location, lines):
        return finding
    for number, related in enumerate(finding.related):
        if _touches(related.location, lines):
            remaining = [other_related for position, other_related in enumerate(finding.related) if position != number]
            first = Related(finding.label or finding.message, finding.location)
            return finding._replace(location=related.location, label=related.message, related=(first, *remaining))
    return finding


def _touches(location: Location, lines: Callable[[str], Collection[int]]) -> bool:
    """Return whether a location lies on a changed line."""
    changed = lines(location.file)
    return bool(changed) and location.at()[0] in changed


def changed_lines(before: list[str], after: list[str]) -> frozenset[int]:
    """Return the lines of `after`, from 1, that are not in `before`."""
    from difflib import SequenceMatcher

    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    same = 0
    while same < most - start and before[-1 - same] == after[-1 - same]:
        same += 1
    old, new = before[start : len(before) - same], after[start : len(after) - same]
    if not old or not new:
        return frozenset(range(start + 1, start + 1 + len(new)))
    inserted = _inserted(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    return frozenset(start + line for line in inserted)


def _inserted(codes: Iterable[tuple[str, int, int, int, int]]) -> Iterator[int]:
    """Yield the lines, from 1, that the opcodes of a SequenceMatcher insert or replace."""
    for code, _, _, start, end in codes:
        if code in ("replace", "insert"):
            yield from range(start + 1, end + 1)
