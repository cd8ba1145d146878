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
    """Every finding of both sides with its state, in the order of `after`, then the fixed ones.

    A finding that has become worse is new. `of_after` tells what a file of before is called after.
    """
    left: dict[_Identity, list[Finding]] = defaultdict(list)
    for each in before:
        left[_identity(each, renamed, of_after)].append(each)
    found = []
    for each in after:
        twins = left.get(_identity(each, {}), [])
        twin = next((twin for twin in twins if _rank(twin) <= _rank(each)), None)
        if twin is None:
            found.append(FindingChange(each, "new"))
        else:
            twins.remove(twin)
            found.append(FindingChange(each, "unchanged"))
    worse = {_identity(each.finding, {}) for each in found if each.state == "new"}
    for identity, twins in left.items():
        found += [FindingChange(each, "fixed") for each in twins if identity not in worse]
    return found


def _identity(
    finding: Finding, renamed: Mapping[ResourceKey, ResourceKey], of_after: Callable[[str], str] = str
) -> _Identity:
    resources = tuple(renamed.get(key, key) for key in finding.resources)
    about = finding.field if resources else f"{of_after(finding.location.file)} {finding.field} {finding.label}"
    return finding.rule, resources, about


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def on_changed_lines(finding: Finding, lines: Callable[[str], Collection[int]]) -> Finding:
    """The finding with a place that the change touches as its primary one, if it has any: GitHub shows no others.

    Args:
        lines: file → its lines that are new or changed.
    """
    if _touches(finding.location, lines):
        return finding
    for number, related in enumerate(finding.related):
        if _touches(related.location, lines):
            rest = [each for position, each in enumerate(finding.related) if position != number]
            first = Related(finding.label or finding.message, finding.location)
            return finding._replace(location=related.location, label=related.message, related=(first, *rest))
    return finding


def _touches(location: Location, lines: Callable[[str], Collection[int]]) -> bool:
    changed = lines(location.file)
    return bool(changed) and location.at()[0] in changed


def changed_lines(before: list[str], after: list[str]) -> frozenset[int]:
    """The 1-based lines of `after` that are not in `before`."""
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
    found = _inserted(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    return frozenset(start + line for line in found)


def _inserted(codes: Iterable[tuple[str, int, int, int, int]]) -> Iterator[int]:
    for code, _, _, start, end in codes:
        if code in ("replace", "insert"):
            yield from range(start + 1, end + 1)
