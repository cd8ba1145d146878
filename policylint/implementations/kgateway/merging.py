"""Merging kgateway policies: lists by weight, levels by field, delegation by the parent's priority.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.2, §2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.kgateway.fields import ACL, DEEP, PROVIDERS, SIDE_BY_SIDE, acl_conflict, fields
from policylint.model import Resource, ResourceKey, mapping, text
from policylint.namedtuple import NamedTuple
from policylint.policy.folding import Folding
from policylint.policy.results import Attachment, Effective

WEIGHT = "kgateway.dev/policy-weight"
PRIORITY = "kgateway.dev/inherited-policy-priority"
PREFER_CHILD = "ShallowMergePreferChild"
_PRIORITIES = (PREFER_CHILD, "ShallowMergePreferParent", "DeepMergePreferChild", "DeepMergePreferParent")


class Level(NamedTuple):
    """The policies of one level, strongest first, and how the level below takes them.

    Args:
        apart: whether Envoy gets it apart from the level below: as settings of a virtual host, or of all of them.
    """

    attachments: tuple[Attachment, ...]
    priority: str = PREFER_CHILD
    apart: bool = False


class _Entry(NamedTuple):
    attachment: Attachment
    value: Any
    joins: bool = False


def weight(policy: Resource) -> int:
    """Return the annotation kgateway.dev/policy-weight; 0 where it is not a number."""
    try:
        return int(str(policy.annotations.get(WEIGHT, 0)))
    except ValueError:
        return 0


def priority(route: Resource | None) -> str:
    """Return the priority that a delegating route's annotation names; the default for anything unknown."""
    name = str(route.annotations.get(PRIORITY)) if route is not None else ""
    return name if name in _PRIORITIES else PREFER_CHILD


def ranked(*lists: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """Make one level of its lists, the stronger list first; the weight sorts inside each list, then age."""

    def position(attachment: Attachment) -> tuple[int, int]:
        return -weight(attachment.policy), attachment.target.filter or 0

    return ranked_once(*(sorted(attachments, key=position) for attachments in lists))


def ranked_once(*lists: Iterable[Attachment]) -> tuple[Attachment, ...]:
    """Return several lists as one, a policy that is there twice where it stands first."""
    first: dict[ResourceKey, Attachment] = {}
    for attachment in chain(*lists):
        first.setdefault(attachment.key, attachment)
    return tuple(first.values())


def rule_lists(attachments: Sequence[Attachment]) -> tuple[list[Attachment], list[Attachment]]:
    """Split the policies of a rule into those its filters name and those that target it."""
    by_filter = [each for each in attachments if each.target.filter is not None]
    return by_filter, [each for each in attachments if each.target.filter is None]


def fold(kind: str, levels: Sequence[Level], joined: Set[str] = frozenset()) -> Folding:
    """Fold levels from the most specific up, each field from the level that prevails.

    Args:
        joined: fields that policies of one level merge deeply, by the controller's setting PolicyMerge (§2.2).
    """
    entries: dict[Pointer, list[_Entry]] = {}
    for level in levels:
        for field, added in _of_level(kind, level.attachments, joined).items():
            entries[field] = _combined(field, entries.get(field, []), added, level)
    folding = Folding()
    for field in sorted(entries, key=str):
        _offer(folding, field, entries[field])
    return folding


def beside(levels: Sequence[Level], effective: Effective) -> frozenset[ResourceKey]:
    """Return the owners of nothing but settings that Envoy gets apart, next to those of a more specific level."""
    places: dict[ResourceKey, int] = {}
    for number, level in reversed([*enumerate(levels, 1)]):
        places.update((attachment.key, number if level.apart else 0) for attachment in level.attachments)
    nearest: dict[Pointer, int] = {}
    owned = [(pointer, owner, places.get(owner, 0)) for pointer, owner in effective.owners.items()]
    for pointer, _, place in owned:
        nearest[pointer[:1]] = min(place, nearest.get(pointer[:1], place))
    of_own = {owner for pointer, owner, place in owned if place == nearest[pointer[:1]]}
    return frozenset(effective.sources) - of_own


def _of_level(kind: str, attachments: Iterable[Attachment], deep: Set[str]) -> dict[Pointer, list[_Entry]]:
    """Return for each field the policies that set it, strongest first; by default only `acl` is merged deeply."""
    entries: dict[Pointer, list[_Entry]] = {}
    for attachment in attachments:
        for field, value in fields(kind, attachment.declared[0].proper):
            before = entries.setdefault(field, [])
            joined = [each.value for each in before if each.joins or each is before[0]]
            joins = field == ACL and bool(before) and not any(acl_conflict(stronger, value) for stronger in joined)
            joins = joins or (bool(before) and len(field) == 1 and field[0] in deep)
            before.append(_Entry(attachment, value, joins))
    return entries


def _combined(field: Pointer, below: list[_Entry], added: list[_Entry], level: Level) -> list[_Entry]:
    """Return the entries of two levels: of those that Envoy gets apart some act side by side, like filters of several
    providers (trafficpolicy/jwt.go, handleJwt), and changes of headers (Envoy, header_mutation)."""
    if not below:
        return added
    deep = field in SIDE_BY_SIDE if level.apart else level.priority.startswith("Deep") and field in DEEP
    if level.priority.endswith("PreferParent"):
        return [*added, *_following(below, deep)]
    return [*below, *_following(added, deep)]


def _following(entries: list[_Entry], deep: bool) -> list[_Entry]:
    """Return entries that come after stronger ones: they join them, or are lost to them whole."""
    if not deep:
        return [entry._replace(joins=False) for entry in entries]
    return [entries[0]._replace(joins=True), *entries[1:]]


def _offer(folding: Folding, field: Pointer, entries: list[_Entry]) -> None:
    """Offer a field from its strongest policy on.

    Of providers that are joined one `disable`, wherever it comes from, switches all off (trafficpolicy/merge.go and
    jwt.go: disableAllProviders).
    """
    acting = [entry for number, entry in enumerate(entries) if entry.joins or not number]
    off = [entry for entry in acting if field in PROVIDERS and "disable" in mapping(entry.value)]
    listed = field in PROVIDERS and not off and len(set(map(_provider, acting))) > 1
    if field in PROVIDERS and not listed:
        first = off[0] if off else entries[0]
        entries = [entry._replace(joins=False) for entry in (first, *(each for each in entries if each != first))]
    seen: list[object] = []
    for entry in entries:
        if listed:
            provider = _provider(entry)
            if entry.joins and provider in seen:
                folding.lose(entry.attachment, field, entry.value, folding.holders(field))
                continue
            seen.append(provider)
        value = [entry.value] if listed else entry.value
        if entry.joins:
            folding.join(entry.attachment, field, value)
        else:
            folding.offer(entry.attachment, field, value)


def _provider(entry: _Entry) -> tuple[str, str]:
    """Return the namespace and the name of the extension that an entry names."""
    reference = mapping(mapping(entry.value).get("extensionRef"))
    return text(reference.get("namespace")) or entry.attachment.key.namespace, text(reference.get("name"))
