"""Effective specs of Istio's own shape, with the provenance of every setting: who owns it, who lost it to whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.istio.labels import is_wide
from policylint.model import ResourceKey
from policylint.policy import units
from policylint.policy.results import Attachment, Effective, Losses, Lost

Slot = tuple[str, ...]
"""A place in the effective spec; the policies write the same thing at places of their own."""


class ProvenanceLedger:
    """Settings written one after the other; the last one in a slot stands.

    Args:
        younger: policies that do not count, each with the older one that does.
    """

    def __init__(self, younger: Iterable[tuple[Attachment, Attachment]]) -> None:
        self._standing: dict[Slot, tuple[Any, Attachment, Pointer]] = {}
        self._history: list[tuple[Slot, Attachment, Pointer]] = []
        self._removed: dict[Slot, Attachment] = {}
        self._dropped: list[Lost] = []
        for attachment, older in younger:
            for declared in attachment.declared[:1]:
                for unit in units.leaves(declared.proper):
                    location = attachment.policy.location(*declared.prefix, *unit.pointer)
                    self._dropped.append(Lost(unit.pointer, attachment.key, (older.key,), location, replaced=True))

    def put(self, slot: Slot, value: Any, attachment: Attachment, pointer: Pointer) -> None:
        """Let a policy set a slot; `pointer` is where it does so, below its spec proper."""
        self._standing[slot] = (value, attachment, pointer)
        self._history.append((slot, attachment, pointer))
        self._removed.pop(slot, None)

    def clear(self, prefix: Slot, attachment: Attachment) -> None:
        """Let a policy take away what stands at or below a slot and put nothing there."""
        for slot in [slot for slot in self._standing if slot[: len(prefix)] == prefix]:
            del self._standing[slot]
            self._removed[slot] = attachment

    def keep_only(self, prefix: Slot, name: str) -> None:
        """Let what stands in one slot void all beside it."""
        _, attachment, _ = kept = self._standing[(*prefix, name)]
        self.clear(prefix, attachment)
        self._standing[(*prefix, name)] = kept

    def __contains__(self, slot: Slot) -> bool:
        return slot in self._standing

    def get(self, slot: Slot) -> Any:
        """Return what stands in a slot, None without anything."""
        return self._standing[slot][0] if slot in self._standing else None

    def below(self, prefix: Slot) -> dict[Slot, Any]:
        """Return what stands below a slot, by the rest of its place."""
        size = len(prefix)
        return {slot[size:]: value for slot, (value, _, _) in self._standing.items() if slot[:size] == prefix}

    def owners_below(self, prefix: Slot) -> dict[Slot, ResourceKey]:
        """Return the owners of what stands below a slot."""
        size = len(prefix)
        return {slot[size:]: owner.key for slot, (_, owner, _) in self._standing.items() if slot[:size] == prefix}

    def lost(self) -> Losses:
        """Return every setting that stands nowhere any more; what a policy replaces of its own is not lost."""
        survivors = {(owner.key, pointer) for _, owner, pointer in self._standing.values()}
        losses: dict[tuple[ResourceKey, Pointer], Lost] = {}
        for slot, attachment, pointer in self._history:
            winner = self._standing[slot][1] if slot in self._standing else self._removed.get(slot)
            if winner is None or winner.key == attachment.key or (attachment.key, pointer) in survivors:
                continue
            prefix = attachment.declared[0].prefix if attachment.declared else ()
            location = attachment.policy.location(*prefix, *pointer)
            lost = Lost(pointer, attachment.key, (winner.key,), location, slot in self._standing)
            losses.setdefault((attachment.key, pointer), lost)
        return sorted_lost((*self._dropped, *losses.values()))


def sorted_lost(lost: Iterable[Lost]) -> Losses:
    """Sort as reports print them."""
    return Losses(sorted(lost, key=lambda leaf: (leaf.policy, [str(step) for step in leaf.pointer])))


def nested(slots: dict[Slot, Any]) -> dict[str, Any]:
    """Return a spec from its leaves."""
    spec: dict[str, Any] = {}
    for slot, value in slots.items():
        units.place(spec, slot, value)
    return spec


def singletons(stack: tuple[Attachment, ...]) -> tuple[list[Attachment], list[tuple[Attachment, Attachment]]]:
    """Return the policies that count, and the rest, each with the one before it.

    Of several policies for one namespace (or the mesh) only the first counts; those with a selector or targetRefs all
    do.
    """
    first: dict[str, Attachment] = {}
    counting: list[Attachment] = []
    dropped: list[tuple[Attachment, Attachment]] = []
    for attachment in stack:
        if not is_wide(attachment.policy):
            counting.append(attachment)
        elif attachment.key.namespace in first:
            dropped.append((attachment, first[attachment.key.namespace]))
        else:
            first[attachment.key.namespace] = attachment
            counting.append(attachment)
    return counting, dropped


def listing(fields: dict[str, list[Attachment]], stack: tuple[Attachment, ...]) -> Effective:
    """Return the effect of kinds whose policies all act: per field the policies in order, each owning its place."""
    spec = {name: [str(policy.key) for policy in inside] for name, inside in fields.items() if inside}
    owners: dict[Pointer, ResourceKey] = {
        (name, index): each.key for name, inside in fields.items() for index, each in enumerate(inside)
    }
    return Effective(spec, owners, Losses(), stack)
