"""The merge strategies of GEP-713 and of the catalog: functions that fold the next policy into what stands.

The reduction runs from the most specific policy upwards (docs/design/semantics.md §3 step 6 and §6, trap 1): what
stands so far is the
challenger, the next less specific policy is the established one, whose mode and granularity decide unless the kind's
directive is read on the challenger (Envoy Gateway's mergeType).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from policylint.documents import Pointer
from policylint.model import PolicyKind, Resource, ResourceKey
from policylint.policy.declared import is_empty
from policylint.policy.folding import Folding, Stack
from policylint.policy.patching import RFC_7386, Pairing, Rules, base_first, by_key, without_repeats
from policylint.policy.results import Attachment, Declared, Effective, Losses, Lost, holds
from policylint.policy.units import Layer, Leaf, Unit, leaves, named_units

UNION = Rules(lambda _: without_repeats, whole_items=True, agree=True)
"""Policies add up: lists are joined, and whoever says the same loses nothing."""
_BY_UNIT = frozenset({"atomic", "none", "units"})
"""The granularities that leave a named unit whole."""


def merge(stack: Stack) -> Effective:
    """Return the effective policy of a stack, by the strategy of its kind (GEP-713 «Merge strategies»)."""
    kind = stack.kind
    if kind.merge.strategy == "field":
        return edition_2023(stack)
    if kind.merge.strategy == "each" and len(stack.attachments) > 1:
        return side_by_side(stack)
    whole = all(declared.granularity in _BY_UNIT for each in stack.attachments for declared in each.declared)
    patterns = kind.merge.units if whole else ()
    *above, challenger = stack.attachments
    folding = Folding()
    folding.replace(challenger, challenger.declared[0].proper, units_of(challenger.declared[0], patterns))
    empty = is_empty(challenger.declared[0], kind)
    for established in reversed(above):
        declared = established.declared[0]
        overrides = declared.mode == "overrides"
        on_challenger = kind.merge.directive is not None and kind.merge.directive.on == "challenger"
        granularity = (challenger.declared[0] if on_challenger else declared).granularity
        if granularity in ("atomic", "none"):
            # What is empty counts as absent: a challenger even where defaults are established, an override that sets
            # nothing even where it is (docs/design/semantics.md §6, trap 7).
            prevails = empty or (overrides and not is_empty(declared, kind))
            atomic(folding, established, units_of(declared, patterns), prevails=prevails, challenger=challenger)
            empty = is_empty(declared, kind) if prevails else empty
        else:
            if granularity == "units" and patterns:
                by_unit(folding, established, patterns)
            elif granularity == "custom":
                by_top_level_field(folding, established)
            else:
                folding.patch(established, declared.proper, _rules(granularity, kind), over=overrides)
            empty = empty and is_empty(declared, kind)
        challenger = established
    effective = folding.effective(stack.attachments)
    return effective._replace(owners=_owners_by_pointer(folding, patterns)) if patterns else effective


def side_by_side(stack: Stack) -> Effective:
    """Return the fields of all policies, each with the list of its values: every policy acts by itself."""
    spec: dict[str, list[Any]] = {}
    owners: dict[Pointer, ResourceKey] = {}
    for attachment in stack.attachments:
        for field, value in attachment.declared[0].proper.items():
            owners[field, len(spec.setdefault(field, []))] = attachment.key
            spec[field].append(value)
    return Effective(spec, owners, Losses(), stack.attachments)


def _rules(granularity: str, kind: PolicyKind) -> Rules:
    """Return how specs are patched: RFC 7386, unless policies add up or the kind's entry gives its lists keys."""
    if granularity == "union":
        return UNION
    return strategic(kind.merge.lists) if granularity == "strategic" else RFC_7386


def strategic(lists: Mapping[str, str], appended: Iterable[Pointer] = ()) -> Rules:
    """Return the rules of a strategic merge.

    Args:
        lists: by dotted path of a list the field that tells its items apart.
        appended: the pointers of lists that are joined as they are.
    """
    pairings: dict[Pointer, Pairing] = dict.fromkeys(appended, base_first)
    pairings.update((tuple(path.split(".")), by_key(key)) for path, key in lists.items())
    return Rules(pairings.get)


def atomic(
    folding: Folding, established: Attachment, units: Iterable[Unit], *, prevails: bool, challenger: Attachment
) -> None:
    """Put the established policy whole in the place of what stands, or drop it whole."""
    if prevails:
        folding.replace(established, established.declared[0].proper, units)
        return
    everybody = folding.holders() or {challenger.key}
    for unit in units:
        holder = folding.standing.get(unit.id)
        by = everybody if holder is None else {holder.owner}
        folding.lose(established, unit.id, unit.value, by, written=unit.pointer)


def by_unit(folding: Folding, established: Attachment, patterns: tuple[str, ...]) -> None:
    """Named rules: those of the challenger stay and missing ones are added, or, as overrides, are replaced in place."""
    chosen = {unit.id: unit for unit in named_units(folding.spec, patterns)}
    overrides = established.declared[0].mode == "overrides"
    for unit in units_of(established.declared[0], patterns):
        holder = folding.standing.get(unit.id)
        if unit.id in chosen and not overrides:
            folding.lose(established, unit.id, unit.value, folding.holders(unit.id), written=unit.pointer)
            continue
        if holder is not None:
            folding.beat(holder, unit.id, (established.key,))
        chosen[unit.id] = unit
        folding.standing[unit.id] = Leaf(established, unit.pointer)
    folding.spec = _rebuilt(chosen.values())


def by_top_level_field(folding: Folding, established: Attachment) -> None:
    """Each top-level field whole, from the most specific policy that sets it."""
    proper = established.declared[0].proper
    for name, value in proper.items():
        folding.offer(established, (name,), value)
    folding.spec = {**proper, **folding.spec}  # in the order of the broader policy


def edition_2023(stack: Stack) -> Effective:
    """Every scalar by itself, lists and string maps whole (docs/design/semantics.md §1, rules 28-37).

    Overrides prevail from the top down, then the object's own value, then defaults from the bottom up; on one level the
    oldest policy prevails.
    """
    kind = stack.kind
    levels = by_node(stack.attachments)
    folding = Folding()
    for level in levels:
        _offer(folding, level, "overrides", kind)
    pointers = settings_2023(stack.attachments, kind)
    shared: list[tuple[Resource, Pointer]] = []
    for resource in reversed(stack.objects):
        for pointer in pointers:
            value = own_value(resource.spec, pointer)
            compared = list(_items_compared(value, stack.attachments, kind, pointer))
            if not all(compared):
                if any(compared):
                    shared.append((resource, pointer))
                continue
            if value is not None and not folding.holders(pointer):
                folding.offer(Layer(resource, ()), pointer, value, written=pointer)
    for level in reversed(levels):
        _offer(folding, level, "defaults", kind)
    for level in levels:  # no scalar stands in the way of a struct that holds none, nor it in theirs
        _offer(folding, level, "overrides", kind, empty=True)
    for level in reversed(levels):
        _offer(folding, level, "defaults", kind, empty=True)
    effective = folding.effective(stack.attachments)
    lost = [
        Lost(pointer, attachment.key, (resource.key,), attachment.policy.location(*declared.prefix, *pointer), True)
        for resource, pointer in shared  # some items of the list have values of their own
        for attachment in stack.attachments
        for declared in attachment.declared
        if effective.owners.get(pointer) == attachment.key and holds(declared.proper, pointer)
    ]
    return effective._replace(lost=Losses([*effective.lost, *lost])) if lost else effective


def _items_compared(
    value: Any, attachments: Iterable[Attachment], kind: PolicyKind, pointer: Pointer
) -> Iterator[bool]:
    """Yield, for every field that policies set in the items of a list, and every item, whether the item sets it itself.

    Of lists of structs the fields of every item are compared, not the lists (GEP-713 of 2023, «Merging into existing
    spec fields»).
    """
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return
    declared = (declared for attachment in attachments for declared in attachment.declared)
    units = (unit.value for each in declared for unit in _leaves_2023(each, kind) if unit.pointer == pointer)
    wanted = {leaf.pointer for items in units for item in items if isinstance(item, dict) for leaf in leaves(item)}
    for item in value:
        yield from (own_value(item, place) is not None for place in wanted)


def _offer(folding: Folding, level: Iterable[Attachment], mode: str, kind: PolicyKind, *, empty: bool = False) -> None:
    """Offer the leaves that the policies of a level declare in one mode: structs without fields, or all others."""
    maps = {tuple(path.split(".")) for path in kind.merge.maps}
    for attachment in level:
        for declared in attachment.declared:
            if declared.mode == mode:
                layer = Layer(attachment.policy, (declared,))
                for unit in _leaves_2023(declared, kind):
                    if (unit.value == {} and unit.pointer not in maps) is empty:
                        folding.offer(layer, unit.pointer, unit.value, written=unit.pointer)


def _leaves_2023(declared: Declared, kind: PolicyKind) -> list[Unit]:
    """Return the leaves of a spec proper, of which maps are one each."""
    return leaves(declared.proper, frozenset(tuple(path.split(".")) for path in kind.merge.maps))


def settings_2023(attachments: Iterable[Attachment], kind: PolicyKind) -> list[Pointer]:
    """Return the pointers at which policies set something, where an object's own value counts too."""
    declared = (declared for attachment in attachments for declared in attachment.declared)
    return list(dict.fromkeys(unit.pointer for each in declared for unit in _leaves_2023(each, kind)))


def own_value(spec: Mapping[str, Any], pointer: Pointer) -> Any:
    """Return an object's own value at a pointer, None where it is unset, as an empty list or string is."""
    value: Any = spec
    for step in pointer:
        value = value.get(step) if isinstance(value, dict) else None
    return None if value in ("", [], {}) else value


def by_node(attachments: Iterable[Attachment]) -> list[list[Attachment]]:
    """Return the attachments of a stack, those of one node together, in the order of the stack."""
    levels: list[list[Attachment]] = []
    for attachment in attachments:
        if levels and levels[-1][0].node == attachment.node:
            levels[-1].append(attachment)
        else:
            levels.append([attachment])
    return levels


def units_of(declared: Declared, patterns: tuple[str, ...]) -> list[Unit]:
    """Return the named units of a spec proper, its leaves where the kind has none."""
    return named_units(declared.proper, patterns) if patterns else leaves(declared.proper)


def _owners_by_pointer(folding: Folding, patterns: tuple[str, ...]) -> dict[Pointer, ResourceKey]:
    """Return the owners of named units by where the units stand in the effective spec."""
    return {
        unit.pointer: folding.standing[unit.id].owner
        for unit in named_units(folding.spec, patterns)
        if unit.id in folding.standing
    }


def _rebuilt(units: Iterable[Unit]) -> dict[str, Any]:
    """Return a spec of units: mappings by key, lists in the order of the units."""
    spec: dict[str, Any] = {}
    for unit in units:
        here: Any = spec
        for step, following in pairwise(unit.pointer):
            here = here.setdefault(str(step), [] if isinstance(following, int) else {})
        if isinstance(here, list):
            here.append(unit.value)
        else:  # by name also where another policy has a list
            here[str(unit.pointer[-1])] = unit.value
    return spec
