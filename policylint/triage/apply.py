"""Apply suppressions to findings, and check the suppressions themselves.

A finding about several resources is suppressed at any of them: at its cause, at a related place, at the name of an
object that it is about. A suppression counts if it has a reason, has not expired and, in a file, its rule is not
locked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from policylint.model import Finding, Resource, ResourceKey
from policylint.model.suppression import Suppression
from policylint.namedtuple import NamedTuple
from policylint.triage.covering import Covering, Place


class Suppressed(NamedTuple):
    """A finding that is not reported, with the suppression that covers it."""

    finding: Finding
    by: Suppression


class SuppressionProblem(NamedTuple):
    """A fault of a suppression: the rule that reports it (GWP901–904), and the rule that it names, as written."""

    rule: str
    suppression: Suppression
    name: str


class TriageResult(NamedTuple):
    """The findings that remain, those that are suppressed, and the problems of suppressions."""

    findings: list[Finding]
    suppressed: list[Suppressed]
    problems: list[SuppressionProblem]


class TriageContext(NamedTuple):
    """The facts that triage needs beside the findings.

    Args:
        rules: every name and id of a rule → its id.
        ran: the ids of the rules that ran; a suppression of another rule cannot be called unused.
        locked: ids that files cannot suppress.
        today: as `2026-11-20`.
        resource: returns the objects of an identity, in all environments.
        below: returns the path of a file, given as shown, as the patterns of the configuration see it.
    """

    rules: Mapping[str, str]
    ran: Collection[str]
    locked: Collection[str]
    today: str
    resource: Callable[[ResourceKey], Sequence[Resource]]
    below: Callable[[str], str]

    def is_locked(self, suppression: Suppression, rule: str) -> bool:
        """Return whether a suppression may not silence a rule: the configuration keeps files from it."""
        return rule in self.locked and suppression.form != "configuration"


def apply_suppressions(
    findings: Iterable[Finding], suppressions: Sequence[Suppression], context: TriageContext
) -> TriageResult:
    """Apply the suppressions."""
    problems: list[SuppressionProblem] = []
    active: dict[str, list[tuple[Suppression, str]]] = {}
    for suppression in suppressions:
        problems += _wrong(suppression, context)
        counts = suppression.reason and not _expired(suppression, context)
        for name in suppression.rules:
            rule = context.rules.get(name.lower(), "")
            if rule and counts and not context.is_locked(suppression, rule):
                active.setdefault(rule, []).append((suppression, name))
    remaining: list[Finding] = []
    suppressed: list[Suppressed] = []
    located = [(finding, _places(finding, context) if finding.rule in active else set()) for finding in findings]
    places: dict[str, set[Place]] = {rule: set() for rule in active}
    for finding, own in located:
        if own:
            places[finding.rule] |= own
    covering = {
        rule: Covering([suppression for suppression, _ in entries], places[rule], context.below)
        for rule, entries in active.items()
    }
    for finding, own in located:
        number = covering[finding.rule].first(finding, own) if finding.rule in covering else None
        if number is None:
            remaining.append(finding)
        else:
            suppressed.append(Suppressed(finding, active[finding.rule][number][0]))
    for rule, entries in active.items():
        used = {entries[number] for number in covering[rule].used}
        problems += [
            SuppressionProblem("GWP901", *entry) for entry in entries if entry not in used and rule in context.ran
        ]
    return TriageResult(remaining, suppressed, problems)


def _wrong(suppression: Suppression, context: TriageContext) -> Iterable[SuppressionProblem]:
    """Yield the problems that show without looking at findings; one per cause."""
    if not suppression.rules:
        yield SuppressionProblem("GWP902", suppression, "")
    known = [name for name in suppression.rules if name.lower() in context.rules]
    for name in suppression.rules:
        if name not in known:
            yield SuppressionProblem("GWP902", suppression, name)
    if not known:
        return
    if not suppression.reason or suppression.cut:
        yield SuppressionProblem("GWP903", suppression, known[0])
    elif _expired(suppression, context):
        yield SuppressionProblem("GWP904", suppression, known[0])
    else:
        for name in known:
            rule = context.rules[name.lower()]
            if context.is_locked(suppression, rule) and rule in context.ran:
                yield SuppressionProblem("GWP901", suppression, name)


def _expired(suppression: Suppression, context: TriageContext) -> bool:
    """Return whether a suppression's last day is over."""
    return bool(suppression.expires) and suppression.expires < context.today


def _places(finding: Finding, context: TriageContext) -> set[Place]:
    """Return the places at which a finding can be suppressed, as file and line."""
    places = [finding.location, *(related.location for related in finding.related)]
    places += [resource.name_location for key in finding.resources for resource in context.resource(key)]
    return {(place.file, place.at()[0]) for place in places}
