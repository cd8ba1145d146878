"""Findings that are new, fixed or unchanged: matched by rule, resources and field, never by line or wording."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from policylint.compare.change import EnvironmentChange, FindingChange
from policylint.model import SEVERITIES, Finding, Location, Related, ResourceKey

_SHORT = 250_000
"""The product of the lengths up to which texts are compared line by line."""
_ABOUT_LOSSES = frozenset({"GWP201", "GWP205"})
"""Rules by which one policy loses what another one gives: the first object is the winner, the last the loser."""
_ABOUT_PROTECTION = ("GWP2", "GWP3")
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
    changes = list(_with_moved(changes, unmatched))
    worse = {_identity(change.finding, {}) for change in changes if change.state == "new"}
    for identity, twins in unmatched.items():
        changes += [FindingChange(twin, "fixed") for twin in twins if identity not in worse]
    return changes


def _with_moved(
    changes: Iterable[FindingChange], unmatched: Mapping[_Identity, list[Finding]]
) -> Iterator[FindingChange]:
    """Yield the changes with notes on no object as unchanged where another file has the same one before: it moved."""
    for change in changes:
        note = change.finding
        elsewhere = (
            twins
            for (rule, resources, _), twins in unmatched.items()
            if rule == note.rule and not resources and any(twin.message == note.message for twin in twins)
        )
        if change.state != "new" or note.severity != "note" or note.resources or not (twins := next(elsewhere, [])):
            yield change
            continue
        twins.remove(next(twin for twin in twins if twin.message == note.message))
        yield change._replace(state="unchanged")


def with_moot(changes: Iterable[FindingChange], environments: Iterable[EnvironmentChange]) -> Iterator[FindingChange]:
    """Yield the findings with those moot that went with the protection that they were about: nobody mended them."""
    lost: set[ResourceKey] = set()
    gone: set[ResourceKey] = set()
    for environment in environments:
        gone.update(touched.key for touched in environment.objects if touched.change == "removed")
        for change in () if environment.requests is None else environment.requests.changes:
            if change.change in ("opened", "less-asked"):
                lost.update(change.routes, (who.policy for who in change.by))
    for each in changes:
        about = each.finding.resources
        is_moot = each.finding.rule in _ABOUT_LOSSES and not gone.isdisjoint(about[1:])
        is_moot |= each.finding.rule.startswith(_ABOUT_PROTECTION) and not lost.isdisjoint(about)
        yield each._replace(state="moot") if each.state == "fixed" and is_moot else each


def _identity(
    finding: Finding, renamed: Mapping[ResourceKey, ResourceKey], of_after: Callable[[str], str] = str
) -> _Identity:
    """Return what makes two findings the same finding."""
    resources = tuple(renamed.get(key, key) for key in finding.resources[:2])  # as `report.findings.fingerprint` has it
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
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    same = 0
    while same < most - start and before[-1 - same] == after[-1 - same]:
        same += 1
    old, new = before[start : len(before) - same], after[start : len(after) - same]
    if not old or not new:
        return frozenset(range(start + 1, start + 1 + len(new)))
    return frozenset(start + line + 1 for line in _inserted(old, new))


def _inserted(old: list[str], new: list[str]) -> Iterator[int]:
    """Yield the lines of `new`, from 0, that a comparison finds inserted.

    Long texts are cut at the lines that both have once, where those stand in one order (patience diff): comparing line
    by line takes the product of the lengths. Of what cannot be cut and is still long, every line counts as changed.
    """
    if not old or not new:
        yield from range(len(new))
    elif len(old) * len(new) <= _SHORT:
        from difflib import SequenceMatcher

        for code, _, _, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if code in ("replace", "insert"):
                yield from range(first, last)
    else:
        after_old = after_new = 0
        for in_old, in_new in (*_anchors(old, new), (len(old), len(new))):
            piece_old, piece_new = old[after_old:in_old], new[after_new:in_new]
            whole = len(piece_old) * len(piece_new) > _SHORT
            lines = range(len(piece_new)) if whole else _inserted(piece_old, piece_new)
            yield from (after_new + line for line in lines)
            after_old, after_new = in_old + 1, in_new + 1


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the longest series of lines that stand once in both texts, in one order in both, by their numbers."""
    count_old, count_new = Counter(old), Counter(new)
    number_in_new = {line: number for number, line in enumerate(new) if count_new[line] == 1 == count_old[line]}
    ends: list[int] = []  # of the best series of each length, the number in `new` of its last line
    best: list[int] = []  # and its position in `pairs`
    pairs = [(number, number_in_new[line]) for number, line in enumerate(old) if line in number_in_new]
    before: list[int] = []
    for position, (_, in_new) in enumerate(pairs):
        length = bisect_left(ends, in_new)
        ends[length : length + 1], best[length : length + 1] = [in_new], [position]
        before.append(best[length - 1] if length else -1)
    series = []
    position = best[-1] if best else -1
    while position >= 0:
        series.append(pairs[position])
        position = before[position]
    return series[::-1]
