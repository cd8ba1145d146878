"""Merging kgateway policies: lists by weight, levels by field, delegation by the parent's priority.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2, §2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any, Literal

from policylint.documents import Pointer
from policylint.implementations.kgateway.fields import ACL, DEEP, PROVIDERS, acl_conflict, fields
from policylint.model import Resource, mapping
from policylint.namedtuple import NamedTuple
from policylint.policy.folding import Folding
from policylint.policy.results import Attachment

WEIGHT = "kgateway.dev/policy-weight"
PRIORITY = "kgateway.dev/inherited-policy-priority"
Priority = Literal[
    "ShallowMergePreferChild", "ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent"
]
_PRIORITIES: dict[str, Priority] = {
    "ShallowMergePreferChild": "ShallowMergePreferChild",
    "ShallowMergePreferParent": "ShallowMergePreferParent",
    "DeepMergePreferChild": "DeepMergePreferChild",
    "DeepMergePreferParent": "DeepMergePreferParent",
}
PREFER_CHILD: Priority = "ShallowMergePreferChild"


class Level(NamedTuple):
    """Policies that stand on one level, strongest first, and how the level below takes them."""

    attachments: tuple[Attachment, ...]
    priority: Priority = PREFER_CHILD


class _Entry(NamedTuple):
    attachment: Attachment
    value: Any
    joins: bool = False


def weight(policy: Resource) -> int:
    """The annotation kgateway.dev/policy-weight; 0 where it is not a number."""
    try:
        return int(str(policy.annotations.get(WEIGHT, 0)))
    except ValueError:
        return 0


def priority(route: Resource | None) -> Priority:
    """What a delegating route says of its policies; anything unknown is the default."""
    said = route.annotations.get(PRIORITY) if route is not None else None
    return _PRIORITIES.get(str(said), PREFER_CHILD)


def ranked(*lists: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """One level from its lists, the stronger list first; the weight sorts inside each list, then age."""
    found: list[Attachment] = []
    for each in lists:
        ordered = sorted(each, key=lambda attachment: (-weight(attachment.policy), _position(attachment)))
        found += [attachment for attachment in ordered if all(attachment.key != other.key for other in found)]
    return tuple(found)


def rule_lists(attachments: Sequence[Attachment]) -> tuple[list[Attachment], list[Attachment]]:
    """The policies of a rule: those its filters name, and those that target it."""
    by_filter = [each for each in attachments if each.target.filter is not None]
    return by_filter, [each for each in attachments if each.target.filter is None]


def fold(kind: str, levels: Sequence[Level], joined: Set[str] = frozenset()) -> Folding:
    """Levels from the most specific up, each field from the level that prevails.

    Args:
        joined: fields that policies of one level merge deeply, by the controller's setting PolicyMerge (§2.2).
    """
    entries: dict[Pointer, list[_Entry]] = {}
    for level in levels:
        for field, added in _of_level(kind, level.attachments, joined).items():
            entries[field] = _combined(field, entries.get(field, []), added, level.priority)
    result = Folding()
    for field in sorted(entries, key=str):
        _settle(result, field, entries[field])
    return result


def _of_level(kind: str, attachments: Iterable[Attachment], deep: Set[str]) -> dict[Pointer, list[_Entry]]:
    """Per field the policies that set it, strongest first; by default only `acl` is merged deeply on one level."""
    found: dict[Pointer, list[_Entry]] = {}
    for attachment in attachments:
        for field, value in fields(kind, attachment.declared[0].proper):
            before = found.setdefault(field, [])
            joined = [each.value for each in before if each.joins or each is before[0]]
            joins = field == ACL and bool(before) and not any(acl_conflict(each, value) for each in joined)
            joins = joins or (bool(before) and len(field) == 1 and field[0] in deep)
            before.append(_Entry(attachment, value, joins))
    return found


def _combined(field: Pointer, below: list[_Entry], added: list[_Entry], how: Priority) -> list[_Entry]:
    if not below:
        return added
    deep = how.startswith("Deep") and field in DEEP
    if how.endswith("PreferParent"):
        return [*added, *_following(below, deep)]
    return [*below, *_following(added, deep)]


def _following(entries: list[_Entry], deep: bool) -> list[_Entry]:
    """Entries that come after stronger ones: they join them, or are lost to them whole."""
    if not deep:
        return [each._replace(joins=False) for each in entries]
    return [entries[0]._replace(joins=True), *entries[1:]]


def _settle(result: Folding, field: Pointer, entries: list[_Entry]) -> None:
    """Offer a field from its strongest policy on. Of providers that are merged deeply one `disable`, wherever it comes
    from, switches all off (trafficpolicy/merge.go: disableAllProviders)."""
    listed = field in PROVIDERS and any(each.joins for each in entries)
    if listed and (off := [each for each in entries if "disable" in mapping(each.value)]):
        listed = False
        entries = [off[0]._replace(joins=False), *(each._replace(joins=False) for each in entries if each != off[0])]
    seen: list[object] = []
    for each in entries:
        provider = mapping(each.value).get("extensionRef") if listed else None
        if listed and each.joins and provider is not None and provider in seen:
            result.lose(each.attachment, field, each.value, result.holders(field))
            continue
        seen.append(provider)
        value = [each.value] if listed else each.value
        if each.joins:
            result.join(each.attachment, field, value)
        else:
            result.offer(each.attachment, field, value)


def _position(attachment: Attachment) -> int:
    return attachment.target.filter or 0
