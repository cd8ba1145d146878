"""Effective specs whose shape is Istio's own, with the story of every setting: who owns it, who lost it to whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.labels import is_wide
from policylint.model import ResourceKey
from policylint.policy import units
from policylint.policy.results import Attachment, Effective, Lost

Slot = tuple[str, ...]
"""A place in the effective spec; the policies write the same thing at places of their own."""


class Ledger:
    """Settings written one after the other; the last one in a slot stands."""

    def __init__(self) -> None:
        self._standing: dict[Slot, tuple[Any, Attachment, Pointer]] = {}
        self._history: list[tuple[Slot, Attachment, Pointer]] = []
        self._removed: dict[Slot, Attachment] = {}
        self._dropped: list[Lost] = []

    def put(self, slot: Slot, value: Any, attachment: Attachment, pointer: Pointer) -> None:
        """A policy sets a slot; `pointer` is where it does so, below its spec proper."""
        self._standing[slot] = (value, attachment, pointer)
        self._history.append((slot, attachment, pointer))
        self._removed.pop(slot, None)

    def clear(self, prefix: Slot, attachment: Attachment) -> None:
        """A policy takes away what stands at or below a slot and puts nothing there."""
        for slot in [each for each in self._standing if each[: len(prefix)] == prefix]:
            del self._standing[slot]
            self._removed[slot] = attachment

    def keep_only(self, prefix: Slot, name: str) -> None:
        """What stands in one slot makes all beside it void."""
        _, attachment, _ = kept = self._standing[(*prefix, name)]
        self.clear(prefix, attachment)
        self._standing[(*prefix, name)] = kept

    def drop(self, attachment: Attachment, by: Attachment) -> None:
        """All that a policy sets has no effect, because of another one."""
        for declared in attachment.declared[:1]:
            for unit in units.leaves(declared.proper):
                location = attachment.policy.location(*declared.prefix, *unit.pointer)
                self._dropped.append(Lost(unit.pointer, attachment.key, (by.key,), location, replaced=True))

    def __contains__(self, slot: Slot) -> bool:
        return slot in self._standing

    def get(self, slot: Slot) -> Any:
        """What stands in a slot, None without anything."""
        return self._standing[slot][0] if slot in self._standing else None

    def owner(self, slot: Slot) -> ResourceKey | None:
        """Whose value stands in a slot."""
        return self._standing[slot][1].key if slot in self._standing else None

    def below(self, prefix: Slot) -> dict[Slot, Any]:
        """What stands below a slot, by the rest of its place."""
        size = len(prefix)
        return {slot[size:]: value for slot, (value, _, _) in self._standing.items() if slot[:size] == prefix}

    def owners_below(self, prefix: Slot) -> dict[Slot, ResourceKey]:
        """Who owns what stands below a slot."""
        size = len(prefix)
        return {slot[size:]: each.key for slot, (_, each, _) in self._standing.items() if slot[:size] == prefix}

    def lost(self) -> tuple[Lost, ...]:
        """Every setting that stands in no slot any more; what a policy replaces of its own is not lost."""
        survivors = {(each.key, pointer) for _, each, pointer in self._standing.values()}
        found: dict[tuple[ResourceKey, Pointer], Lost] = {}
        for slot, attachment, pointer in self._history:
            winner = self._standing[slot][1] if slot in self._standing else self._removed.get(slot)
            if winner is None or winner.key == attachment.key or (attachment.key, pointer) in survivors:
                continue
            prefix = attachment.declared[0].prefix if attachment.declared else ()
            location = attachment.policy.location(*prefix, *pointer)
            lost = Lost(pointer, attachment.key, (winner.key,), location, slot in self._standing)
            found.setdefault((attachment.key, pointer), lost)
        return sorted_lost((*self._dropped, *found.values()))


def sorted_lost(lost: Iterable[Lost]) -> tuple[Lost, ...]:
    """In the order in which reports print them."""
    return tuple(sorted(lost, key=lambda each: (each.policy, [str(step) for step in each.pointer])))


def nested(slots: dict[Slot, Any]) -> dict[str, Any]:
    """A spec from its leaves."""
    spec: dict[str, Any] = {}
    for slot, value in slots.items():
        units.place(spec, slot, value)
    return spec


def singletons(stack: tuple[Attachment, ...]) -> tuple[list[Attachment], list[tuple[Attachment, Attachment]]]:
    """Of several policies for one namespace (or the mesh) only the first counts: those that count, and the rest with
    who is before them.

    Policies with a selector or targetRefs all count here.
    """
    first: dict[str, Attachment] = {}
    counting: list[Attachment] = []
    dropped: list[tuple[Attachment, Attachment]] = []
    for each in stack:
        if not is_wide(each.policy):
            counting.append(each)
        elif each.key.namespace in first:
            dropped.append((each, first[each.key.namespace]))
        else:
            first[each.key.namespace] = each
            counting.append(each)
    return counting, dropped


def listing(fields: dict[str, list[Attachment]], stack: tuple[Attachment, ...]) -> Effective:
    """Kinds whose policies all act: per field the policies in order, each owning its place in the list."""
    spec = {name: [str(each.key) for each in inside] for name, inside in fields.items() if inside}
    owners: dict[Pointer, ResourceKey] = {
        (name, index): each.key for name, inside in fields.items() for index, each in enumerate(inside)
    }
    return Effective(spec, owners, (), stack)
