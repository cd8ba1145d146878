"""Findings that are new, fixed or unchanged: matched by rule, resources and field, never by line or wording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

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

    A finding that has become worse is new. `of_after` returns the name on the side after of a file of the side before.
    """
    unmatched: dict[_Identity, list[Finding]] = defaultdict(list)
    for finding in before:
        unmatched[_identity(finding, renamed, of_after)].append(finding)
    changes = []
    for finding in after:
        twins = unmatched.get(_identity(finding, {}), [])
        # Severities are listed from the worst on: a finding that has become worse is new.
        rank = SEVERITIES.index(finding.severity)
        twin = next((twin for twin in twins if SEVERITIES.index(twin.severity) <= rank), None)
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


def on_changed_lines(finding: Finding, lines: Callable[[str], Collection[int]]) -> Finding:
    """Return a finding with a place that the change touches as its primary one, if it has any: GitHub shows no others.

    `lines` returns the lines of a file that are new or changed, from 1.
    """
    if _touches(finding.location, lines):
        return finding
    for number, related in enumerate(finding.related):
        if _touches(related.location, lines):
            first = Related(finding.label or finding.message, finding.location)
            others = (*finding.related[:number], *finding.related[number + 1 :])
            return finding._replace(location=related.location, label=related.message, related=(first, *others))
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
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    inserted = (range(first, last) for code, _, _, first, last in codes if code in ("replace", "insert"))
    return frozenset(start + line + 1 for lines in inserted for line in lines)
