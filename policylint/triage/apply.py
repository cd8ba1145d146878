"""Sorts findings into those that stay and those that somebody has answered for, and judges the suppressions themselves.

A finding about several resources is suppressed at any of them: at its cause, at a related place, at the name of an
object that it is about. A suppression counts if it has a reason, has not expired and, in a
file, its rule is not locked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from policylint.model import Finding, Resource, ResourceKey
from policylint.model.suppression import Suppression
from policylint.namedtuple import NamedTuple
from policylint.triage.config_entries import is_meant


class Suppressed(NamedTuple):
    """A finding that is not reported, and why."""

    finding: Finding
    by: Suppression


class Problem(NamedTuple):
    """What is wrong with a suppression: the rule that says so (GWP901–904), and the rule it is about, as written."""

    rule: str
    suppression: Suppression
    name: str


class Sorted(NamedTuple):
    """The outcome: what stays, what was suppressed, what is wrong with suppressions."""

    findings: list[Finding]
    suppressed: list[Suppressed]
    problems: list[Problem]


class Ground(NamedTuple):
    """What is known beside the findings.

    Args:
        rules: every name and id of a rule → its id.
        ran: the ids of the rules that ran; a suppression of another cannot be called unused.
        locked: ids that files cannot suppress.
        today: as `2026-11-20`.
        resource: the objects of an identity, in all environments.
        below: a file as shown → its path as the patterns of the configuration see it.
    """

    rules: Mapping[str, str]
    ran: Collection[str]
    locked: Collection[str]
    today: str
    resource: Callable[[ResourceKey], Sequence[Resource]]
    below: Callable[[str], str]

    def is_locked(self, suppression: Suppression, rule: str) -> bool:
        """Whether a suppression may not silence a rule: the configuration keeps files from it."""
        return rule in self.locked and suppression.form != "configuration"


def sort(findings: Iterable[Finding], suppressions: Sequence[Suppression], ground: Ground) -> Sorted:
    """Apply the suppressions."""
    problems: list[Problem] = []
    active: dict[str, list[tuple[Suppression, str]]] = {}
    for each in suppressions:
        problems += _wrong(each, ground)
        for name in each.rules:
            rule = ground.rules.get(name.lower(), "")
            if rule and each.reason and not _expired(each, ground) and not ground.is_locked(each, rule):
                active.setdefault(rule, []).append((each, name))
    stays: list[Finding] = []
    suppressed: list[Suppressed] = []
    used: set[tuple[Suppression, str]] = set()
    for finding in findings:
        candidates = active.get(finding.rule, [])
        lines = _lines(finding, ground) if candidates else set()
        hits = [each for each in candidates if _covers(each[0], finding, lines, ground)]
        used.update(hits)
        if hits:
            suppressed.append(Suppressed(finding, hits[0][0]))
        else:
            stays.append(finding)
    for rule, entries in active.items():
        problems += [Problem("GWP901", *entry) for entry in entries if entry not in used and rule in ground.ran]
    return Sorted(stays, suppressed, problems)


def _wrong(suppression: Suppression, ground: Ground) -> Iterable[Problem]:
    """What can be said without looking at findings; one problem per cause."""
    if not suppression.rules:
        yield Problem("GWP902", suppression, "")
    known = [name for name in suppression.rules if name.lower() in ground.rules]
    for name in suppression.rules:
        if name not in known:
            yield Problem("GWP902", suppression, name)
    if not known:
        return
    if not suppression.reason or suppression.cut:
        yield Problem("GWP903", suppression, known[0])
    elif _expired(suppression, ground):
        yield Problem("GWP904", suppression, known[0])
    else:
        for name in known:
            rule = ground.rules[name.lower()]
            if ground.is_locked(suppression, rule) and rule in ground.ran:
                yield Problem("GWP901", suppression, name)


def _expired(suppression: Suppression, ground: Ground) -> bool:
    return bool(suppression.expires) and suppression.expires < ground.today


def _lines(finding: Finding, ground: Ground) -> set[tuple[str, int]]:
    """The places at which a finding can be suppressed, as file and line."""
    places = [finding.location, *(each.location for each in finding.related)]
    places += [each.name_location for key in finding.resources for each in ground.resource(key)]
    return {(place.file, place.at()[0]) for place in places}


def _covers(suppression: Suppression, finding: Finding, lines: set[tuple[str, int]], ground: Ground) -> bool:
    if suppression.form == "comment":
        return any(file == suppression.file and suppression.first <= line <= suppression.last for file, line in lines)
    if suppression.form == "annotation":
        return not suppression.keys.isdisjoint(finding.resources)
    if suppression.resource and not is_meant(suppression.resource, finding.resources):
        return False
    if suppression.path:
        from policylint.config.globs import matcher

        matches = matcher([suppression.path])
        return any(matches(ground.below(file)) for file in {file for file, _ in lines})
    return True
