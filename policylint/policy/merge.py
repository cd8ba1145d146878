"""Merge strategies with provenance: from a stack of policies to one effective spec and the story of every leaf.

The reduction runs from the most specific policy upwards (docs/design/semantics.md §3 step 6 and §6, trap 1): the
accumulated spec is the challenger, the next less specific policy is the established one, whose mode and granularity
decide unless the kind's directive is read on the challenger (Envoy Gateway's mergeType).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import Location, PolicyKind, ResourceKey
from policylint.policy import units
from policylint.policy.declared import is_empty
from policylint.policy.results import Attachment, Declared, Effective, Lost
from policylint.policy.units import Unit
from policylint.records import NamedTuple

Merger = Callable[["Stack"], Effective]
"""A custom strategy: from a stack to its effective policy."""


class Stack(NamedTuple):
    """The input of a merge.

    Args:
        kind: of the policies.
        attachments: from least to most specific, those of one node by creation order.
        objects: in the 2023 edition the objects on the path at or below a target, least specific first, whose own
            values
            count; otherwise empty.
    """

    kind: PolicyKind
    attachments: tuple[Attachment, ...]
    objects: tuple[tuple[ResourceKey, Mapping[str, Any]], ...] = ()


class Story:
    """Who owned which unit, and who lost it to whom, while the merge goes on."""

    def __init__(self, stack: Stack) -> None:
        self.kind = stack.kind
        self.by_name = bool(stack.kind.merge.units) and not any(
            each.granularity == "patch" for attachment in stack.attachments for each in attachment.declared
        )
        self.lost: dict[tuple[ResourceKey, Pointer], tuple[ResourceKey, ...]] = {}
        self.places: dict[tuple[ResourceKey, Pointer], tuple[Pointer, Location]] = {}
        for attachment in stack.attachments:
            for declared in attachment.declared:
                for unit in self.units(declared.proper):
                    location = attachment.policy.location(*declared.prefix, *unit.pointer)
                    self.places.setdefault((attachment.key, unit.id), (unit.pointer, location))

    def units(self, spec: Mapping[str, Any]) -> list[Unit]:
        return units.named_units(spec, self.kind.merge.units) if self.by_name else units.leaves(spec)

    def lose(self, policy: ResourceKey, unit: Pointer, by: tuple[ResourceKey, ...]) -> None:
        if by != (policy,):
            self.lost[policy, unit] = tuple(sorted(set(by)))

    def effective(self, spec: Mapping[str, Any], owners: Mapping[Pointer, ResourceKey], stack: Stack) -> Effective:
        """The finished value; `owners` is by unit id. A leaf that was lost on the way and stands in the end is not
        lost."""
        final = self.units(spec)
        standing = {unit.pointer: owners[unit.id] for unit in final if unit.id in owners}
        taken = {unit.id for unit in final}
        standing.update((place, owner) for place, owner in owners.items() if _is_item(place) and place not in taken)
        lost = []
        for (policy, unit), by in self.lost.items():
            if owners.get(unit) == policy or (policy, unit) not in self.places:
                continue
            pointer, location = self.places[policy, unit]
            winner = owners.get(unit)
            replaced = unit in taken or any(units.conflicts(unit, other) for other in taken)
            lost.append(Lost(pointer, policy, (winner,) if winner is not None else by, location, replaced))
        lost.sort(key=lambda each: (each.policy, [str(step) for step in each.pointer]))
        return Effective(spec, standing, tuple(lost), stack.attachments)


def merge(stack: Stack) -> Effective:
    """The effective policy of a stack, by the strategy of its kind (GEP-713 «Merge strategies»)."""
    if stack.kind.merge.strategy == "field":
        return _by_field(stack)
    story = Story(stack)
    last = stack.attachments[-1]
    spec: Mapping[str, Any] = last.declared[0].proper
    owners: dict[Pointer, ResourceKey] = {unit.id: last.key for unit in story.units(spec)}
    challenger_empty = is_empty(last.declared[0], stack.kind)
    for index in range(len(stack.attachments) - 2, -1, -1):
        established = stack.attachments[index]
        declared = established.declared[0]
        granularity = _granularity(stack.kind, declared, stack.attachments[index + 1].declared[0])
        step = _Step(story, established.key, declared.proper, spec, owners, stack.attachments[index + 1].key)
        if granularity in ("atomic", "none"):
            if declared.mode == "overrides" or challenger_empty:
                spec, owners = step.replace_by_established()
                challenger_empty = is_empty(declared, stack.kind)
            else:
                step.drop_established()
            continue
        if granularity == "units":
            spec, owners = step.by_units(declared.mode == "overrides")
        elif granularity == "custom":
            spec, owners = step.by_top_level_field()
        elif granularity == "union":
            spec, owners = step.patch(declared.mode == "overrides", append=True)
        else:
            spec, owners = step.patch(declared.mode == "overrides", keyed=granularity == "strategic")
        challenger_empty = challenger_empty and is_empty(declared, stack.kind)
    return story.effective(spec, owners, stack)


def _granularity(kind: PolicyKind, established: Declared, challenger: Declared) -> str:
    on_challenger = kind.merge.directive is not None and kind.merge.directive.on == "challenger"
    return challenger.granularity if on_challenger else established.granularity


class _Step:
    """One step of the reduction: an established policy against the accumulated challenger."""

    def __init__(
        self,
        story: Story,
        key: ResourceKey,
        established: Mapping[str, Any],
        challenger: Mapping[str, Any],
        owners: dict[Pointer, ResourceKey],
        against: ResourceKey,
    ) -> None:
        self.story = story
        self.key = key
        self.against = against
        self.established = established
        self.challenger = challenger
        self.owners = owners
        self.mine = {unit.id: key for unit in story.units(established)}

    def replace_by_established(self) -> tuple[Mapping[str, Any], dict[Pointer, ResourceKey]]:
        """Atomic overrides, or atomic defaults against an empty challenger."""
        for unit, owner in self.owners.items():
            self.story.lose(owner, unit, (self.key,))
        return self.established, dict(self.mine)

    def drop_established(self) -> None:
        """Atomic defaults: the challenger stays as it is."""
        winners = tuple(sorted(set(self.owners.values()))) or (self.against,)
        for unit in self.mine:
            self.story.lose(self.key, unit, winners)

    def by_units(self, override: bool) -> tuple[Mapping[str, Any], dict[Pointer, ResourceKey]]:
        """Named rules: the lower policy's units stay and the missing ones are added, or, as overrides, are replaced
        in place."""
        lower = {unit.id: unit for unit in self.story.units(self.challenger)}
        upper = {unit.id: unit for unit in self.story.units(self.established)}
        owners = dict(self.owners)
        chosen: dict[Pointer, Unit] = {}
        for identity, unit in lower.items():
            if override and identity in upper:
                self.story.lose(owners[identity], identity, (self.key,))
                owners[identity] = self.key
                chosen[identity] = upper[identity]
            else:
                chosen[identity] = unit
        for identity, unit in upper.items():
            if identity not in lower:
                owners[identity] = self.key
                chosen[identity] = unit
            elif not override:
                self.story.lose(self.key, identity, (owners[identity],))
        return _rebuild(chosen.values()), owners

    def by_top_level_field(self) -> tuple[Mapping[str, Any], dict[Pointer, ResourceKey]]:
        """Each top-level field whole, from the most specific policy that sets it."""
        spec = {**self.established, **self.challenger}
        owners = dict(self.owners)
        for unit in self.mine:
            if unit[0] in self.challenger:
                by = tuple(sorted({owner for other, owner in self.owners.items() if other[0] == unit[0]}))
                self.story.lose(self.key, unit, by)
            else:
                owners[unit] = self.key
        return spec, owners

    def patch(
        self, override: bool, *, append: bool = False, keyed: bool = False
    ) -> tuple[Mapping[str, Any], dict[Pointer, ResourceKey]]:
        """RFC 7386: the challenger patches the established spec, or, as overrides, the other way round.

        `append` joins lists instead of replacing them (kinds that add up); `keyed` merges the lists that the kind's
        entry names by their key (strategic merge).
        """
        keys = self.story.kind.merge.lists if keyed else {}
        patcher = _Patcher(self.story, append, {tuple(path.split(".")): name for path, name in keys.items()})
        if override:
            return patcher.apply(self.challenger, self.owners, self.established, self.mine)
        return patcher.apply(self.established, self.mine, self.challenger, self.owners)


class _Patcher:
    def __init__(self, story: Story, append: bool, keys: Mapping[Pointer, str]) -> None:
        self.story = story
        self.append = append
        self.keys = keys
        self.owners: dict[Pointer, ResourceKey] = {}
        self.base: Mapping[Pointer, ResourceKey] = {}
        self.over: Mapping[Pointer, ResourceKey] = {}

    def apply(
        self,
        base: Mapping[str, Any],
        base_owners: Mapping[Pointer, ResourceKey],
        patch: Mapping[str, Any],
        patch_owners: Mapping[Pointer, ResourceKey],
    ) -> tuple[Mapping[str, Any], dict[Pointer, ResourceKey]]:
        self.base, self.over = base_owners, patch_owners
        return self._members(base, patch, ()), self.owners

    def _members(self, base: Mapping[str, Any], patch: Mapping[str, Any], pointer: Pointer) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, value in base.items():
            here = (*pointer, name)
            if name not in patch:
                result[name] = value
                self._keep(value, here, self.base)
                continue
            over = patch[name]
            if isinstance(over, dict) and isinstance(value, dict):
                result[name] = self._members(value, over, here)
            elif isinstance(over, list) and isinstance(value, list) and (self.append or here in self.keys):
                result[name] = self._lists(value, over, here)
            else:
                if not (self.append and value == over):  # kinds that add up: who says the same loses nothing
                    self._lose(value, here, over)
                self._set(result, name, over, here)
        for name, over in patch.items():
            if name not in base:
                self._set(result, name, over, (*pointer, name))
        return result

    def _set(self, result: dict[str, Any], name: str, value: Any, pointer: Pointer) -> None:
        if value is None:  # RFC 7386: null removes the member; who wrote it has had its way
            if pointer in self.over:
                self.owners[pointer] = self.over[pointer]
            return
        result[name] = _without_nulls(value)
        self._keep(value, pointer, self.over)

    def _lists(self, base: list[Any], over: list[Any], pointer: Pointer) -> list[Any]:
        """Join two lists: appended, each item its policy's, or item by item where the list has a key, when it stays one
        unit, owned by the patch."""
        key = self.keys.get(pointer)
        if key is None:
            items = [(each, _owner(self.base, pointer, index)) for index, each in enumerate(base)]
            items += [(each, _owner(self.over, pointer, index)) for index, each in enumerate(over) if each not in base]
            self.owners.update(
                ((*pointer, index), owner) for index, (_, owner) in enumerate(items) if owner is not None
            )
            return [each for each, _ in items]
        self._keep(over, pointer, self.over)
        named = {each.get(key): each for each in over if isinstance(each, dict)}
        joined = []
        for each in base:
            other = named.pop(each.get(key), None) if isinstance(each, dict) else None
            joined.append(each if other is None else {**each, **other})
        return [*joined, *named.values()]

    def _keep(self, value: Any, pointer: Pointer, owners: Mapping[Pointer, ResourceKey]) -> None:
        for unit in _leaves_at(value, pointer):
            if unit in owners:
                self.owners[unit] = owners[unit]
            elif self.append:
                self.owners.update((place, owner) for place, owner in owners.items() if place[:-1] == unit)

    def _lose(self, value: Any, pointer: Pointer, over: Any) -> None:
        winners = {self.over[unit] for unit in _leaves_at(over, pointer) if unit in self.over}
        for unit in _leaves_at(value, pointer):
            if unit in self.base:
                self.story.lose(self.base[unit], unit, tuple(sorted(winners)))


def _is_item(place: Pointer) -> bool:
    """Whether a place is that of an item of a list that was joined."""
    return bool(place) and isinstance(place[-1], int)


def _owner(owners: Mapping[Pointer, ResourceKey], pointer: Pointer, index: int) -> ResourceKey | None:
    """Whose an item of a list is: by itself where the list was joined before, else with the list."""
    return owners.get((*pointer, index)) or owners.get(pointer)


def _leaves_at(value: Any, pointer: Pointer) -> list[Pointer]:
    if isinstance(value, dict) and value:
        return [(*pointer, *unit.id) for unit in units.leaves(value)]
    return [pointer]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return value


def _rebuild(chosen: Any) -> dict[str, Any]:
    """A spec from units: mappings by key, lists in the order of the units."""
    spec: dict[str, Any] = {}
    for unit in chosen:
        here: Any = spec
        steps = unit.pointer
        for index, step in enumerate(steps[:-1]):
            below: Any = [] if isinstance(steps[index + 1], int) else {}
            here = here.setdefault(step, below)
        if isinstance(here, list):
            here.append(unit.value)
        else:
            here[steps[-1]] = unit.value
    return spec


def _by_field(stack: Stack) -> Effective:
    """The 2023 edition: every scalar by itself; lists and string maps whole; overrides from the top down, then the
    object's own value, then defaults from the bottom up; on one level the oldest policy first.

    Source: docs/design/semantics.md §1, rules 28-37.
    """
    maps = frozenset(tuple(path.split(".")) for path in stack.kind.merge.maps)
    layers: list[tuple[ResourceKey, Attachment | None, Declared | None, list[Unit]]] = []
    levels = by_node(stack.attachments)
    for level in levels:
        layers += _layers(level, "overrides", maps)
    wanted = [
        unit.pointer
        for each in stack.attachments
        for declared in each.declared
        for unit in units.leaves(declared.proper, maps)
    ]
    for key, spec in reversed(stack.objects):
        own = [Unit(pointer, pointer, value) for pointer in wanted if (value := _own(spec, pointer)) is not None]
        layers.append((key, None, None, own))
    for level in reversed(levels):
        layers += _layers(level, "defaults", maps)

    spec_: dict[str, Any] = {}
    owners: dict[Pointer, ResourceKey] = {}
    lost: list[Lost] = []
    for key, attachment, declared_, leaves in layers:
        for unit in leaves:
            taken = [pointer for pointer in owners if units.conflicts(pointer, unit.pointer)]
            if not taken:
                units.place(spec_, unit.pointer, unit.value)
                owners[unit.pointer] = key
            elif attachment is not None and declared_ is not None:
                by = tuple(sorted({owners[pointer] for pointer in taken}))
                if by != (key,):
                    location = attachment.policy.location(*declared_.prefix, *unit.pointer)
                    lost.append(Lost(unit.pointer, key, by, location, replaced=True))
    lost.sort(key=lambda each: (each.policy, [str(step) for step in each.pointer]))
    return Effective(spec_, owners, tuple(lost), stack.attachments)


def by_node(attachments: tuple[Attachment, ...]) -> list[list[Attachment]]:
    """The attachments of a stack, those of one node together, in the order of the stack."""
    levels: list[list[Attachment]] = []
    for each in attachments:
        if levels and levels[-1][0].node == each.node:
            levels[-1].append(each)
        else:
            levels.append([each])
    return levels


def _layers(
    level: list[Attachment], mode: str, maps: frozenset[Pointer]
) -> list[tuple[ResourceKey, Attachment | None, Declared | None, list[Unit]]]:
    return [
        (each.key, each, declared, units.leaves(declared.proper, maps))
        for each in level
        for declared in each.declared
        if declared.mode == mode
    ]


def _own(spec: Mapping[str, Any], pointer: Pointer) -> Any:
    """The object's own value at a pointer; an empty list or string counts as unset."""
    here: Any = spec
    for step in pointer:
        if not isinstance(here, dict) or step not in here:
            return None
        here = here[step]
    return None if here in ("", [], {}) else here
