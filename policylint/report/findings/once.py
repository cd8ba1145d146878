"""Findings that have one cause, told once: where it stands, with all that it affects as related places.

One cause has one sentence. Thirteen routes that name one missing Gateway, or one base that thirteen environments deploy
under names of their own, are thirteen findings for whoever suppresses, mends or accepts them one by one, and one for
whoever reads a report.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from policylint.model import Finding
from policylint.model.words import leading
from policylint.patterns import Pattern

if TYPE_CHECKING:
    from policylint.model.fix import Fix

FEWEST = 3
"""Findings of one cause from which on they are told once."""
_MOST_NAMES = 5
_NUMBER = Pattern(r"\[\d+\]")


def once(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those of one cause as one, in the place of the first.

    Of one cause are findings of one rule at one place that say the same of other objects, and findings of one rule that
    say the same of other subjects, word for word: what else they name, why, and what they rest on.
    """
    if len(findings) < FEWEST:
        return list(findings)
    at_places = _grouped((_place(finding), [finding]) for finding in findings)
    return [
        one
        for group in _grouped((_sentence(group[0]), group) for group in at_places)
        for one in ([_told(group)] if len(group) >= FEWEST else group)
    ]


def _grouped(keyed: Iterable[tuple[Hashable, list[Finding]]]) -> list[list[Finding]]:
    groups: dict[Hashable, list[Finding]] = {}
    for key, findings in keyed:
        groups.setdefault(key, []).extend(findings)
    return list(groups.values())


def _place(finding: Finding) -> Hashable:
    """Return where a finding stands and what it says there, whatever its objects are called."""
    said = finding.message
    for key in sorted(finding.resources, key=lambda key: -len(key.path)):
        said = said.replace(str(key), key.kind)
    return (*finding[:2], finding.confidence, finding.field, said, *finding.location.sort_key())


def _sentence(finding: Finding) -> Hashable:
    """Return what a finding says of its subject, without the name of that and without numbers in lists."""
    parts = [finding.message, finding.label, *finding.notes]
    if finding.resources:
        subject = finding.resources[0]
        parts = [part.replace(str(subject), subject.kind) for part in parts]
    return (*finding[:2], finding.confidence, *(_NUMBER.sub("[]", part) for part in parts))


def _told(group: Sequence[Finding]) -> Finding:
    """Return one finding, at the place of the first, for all of a group."""
    from policylint.model.finding import Related

    first, *others = group
    subjects = list(dict.fromkeys(finding.resources[0] for finding in group if finding.resources))
    affected = [f"note: it concerns {leading(subjects, _MOST_NAMES)}"] if len(subjects) > 1 else []
    related = [Related(_about(finding), finding.location) for finding in others]
    return first._replace(
        message=f"{first.message} (and {len(others)} more like this)",
        related=(*first.related, *dict.fromkeys(related)),
        resources=(*first.resources, *(key for key in subjects if key not in first.resources)),
        help=(*first.help, *affected),
        environments=tuple(dict.fromkeys(name for finding in group for name in finding.environments)),
        fixes=_fixes(group),
    )


def _about(finding: Finding) -> str:
    """Return what is said at the place of a finding that another one tells: of which object and field it is."""
    words = [str(key) for key in finding.resources[:1]]
    return ": ".join([*words, finding.field] if finding.field else words)


def _fixes(group: Sequence[Finding]) -> tuple[Fix, ...]:
    """Return the first fix of all of them as one, if each has one of the same name."""
    from policylint.model.fix import Fix

    firsts = [finding.fixes[0] for finding in group if finding.fixes]
    if len(firsts) < len(group) or len({fix.title for fix in firsts}) > 1:
        return ()
    changes = tuple(dict.fromkeys(change for fix in firsts for change in fix.changes))
    return (Fix(firsts[0].title, changes, all(fix.safe for fix in firsts)),)
