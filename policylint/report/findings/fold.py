"""What people read of findings that are not certain: after the certain ones, and those that are alike as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policylint.model import SEVERITIES, Finding, ResourceKey
from policylint.model.words import count, leading, verb

FEWEST = 3
"""Findings that are alike from which on they are one."""
MOST_EXAMPLES = 5
NOT_SEEN = ", which is not among these manifests"
"""The end of a message on a reference to an object of which nobody knows whether it is there."""
_NOT_RENDERED = ("its chart is not rendered", "charts are not rendered")
_NAMING = ("chart", "namespace")
"""Words after which a name stands, as it does after the kind of an object."""
_CONFIDENCES = ("certain", "assumed", "unknown")


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """Return the certain findings as they stand, then those assumed, then those unknown, the worst first.

    Of those that are not certain, the findings of one rule about one kind that rest on the same ground are one, which
    says how many there are and names a few.
    """
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(number if finding.confidence == "certain" else _likeness(finding), []).append(finding)
    shown = [one for group in groups.values() for one in ([_fold(group)] if len(group) >= FEWEST else group)]
    return sorted(shown, key=_rank)


def _rank(finding: Finding) -> tuple[int, int]:
    severity = 0 if finding.confidence == "certain" else SEVERITIES.index(finding.severity)
    return _CONFIDENCES.index(finding.confidence), severity


def _likeness(finding: Finding) -> tuple[str, ...]:
    """Return what findings have in common that are told as one."""
    kind = finding.resources[-1].kind if finding.resources else ""
    return finding.rule, finding.severity, finding.confidence, kind, *_without_names(_ground(finding))


def _ground(finding: Finding) -> str:
    """Return what a finding rests on; of a reference that cannot be judged, the label says why."""
    return finding.ground or finding.label


def _without_names(sentence: str) -> list[str]:
    """Return the words of a sentence, "" for those that name something: `cart` in `HelmRelease cart may create it`."""
    words = sentence.split()
    return [
        "" if _is_path(word) or '"' in word or before[:1].isupper() or before in _NAMING else word
        for before, word in zip(["", *words], words, strict=False)
    ]


def _is_path(word: str) -> bool:
    return "/" in word or "." in word.strip(".,;")


def _fold(group: Sequence[Finding]) -> Finding:
    """Return one finding, at the place of the first, for all of a group."""
    first = group[0]
    ground = _ground(first)
    if any(_ground(finding) != ground for finding in group):
        ground = f"for example, {ground}"
    objects = _distinct(finding.resources[-1] for finding in group if finding.resources)
    subjects = _distinct(finding.resources[0] for finding in group if finding.resources)
    named = objects if first.message.endswith(NOT_SEEN) else subjects
    one_kind = len({key.kind for key in named}) == 1
    names = [key.path if one_kind else str(key) for key in named]
    examples = (f"note: for example {leading(names, MOST_EXAMPLES)}",) if len(named) > 1 else ()
    return first._replace(
        message=_message(group, subjects, objects),
        label="" if first.label == _ground(first) else first.label,
        related=(),
        help=(
            *(line for line in first.help if all(line in other.help for other in group)),
            *examples,
            f"note: these are {len(group)} findings: `-o concise` lists each with its place, as does `-o json`",
        ),
        ground=ground,
        environments=tuple(dict.fromkeys(name for finding in group for name in finding.environments)),
        fixes=(),
    )


def _message(group: Sequence[Finding], subjects: Sequence[ResourceKey], objects: Sequence[ResourceKey]) -> str:
    """Return `18 Services that 20 HTTPRoutes name may come from charts that are not rendered`, or the like."""
    if not all(finding.message.endswith(NOT_SEEN) for finding in group):
        return f"{group[0].message} (and {len(group) - 1} more like this)"
    charts = all(_ground(finding).endswith(_NOT_RENDERED) for finding in group)
    unseen = "was not seen" if len(objects) == 1 else "were not seen"
    predicate = "may come from charts that are not rendered" if charts else unseen
    return f"{_these(objects)} that {_these(subjects)} {verb(len(subjects), 'names')} {predicate}"


def _these(keys: Sequence[ResourceKey]) -> str:
    """Return the one object, or how many of which kind there are."""
    if len(keys) == 1:
        return str(keys[0])
    kinds = {key.kind for key in keys}
    shared = "route" if all(kind.endswith("Route") for kind in kinds) else "object"
    kind = kinds.pop() if len(kinds) == 1 else shared
    many = f"{kind}es" if kind.endswith("s") else f"{kind[:-1]}ies" if kind.endswith("cy") else f"{kind}s"
    return count(len(keys), kind, many)


def _distinct(keys: Iterable[ResourceKey]) -> list[ResourceKey]:
    return list(dict.fromkeys(keys))
