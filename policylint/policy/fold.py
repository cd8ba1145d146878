"""Folding settings by rank, with provenance: the strongest policy that sets a field keeps it, or all add to it.

What kgateway, Gloo, agentgateway and NGINX Gateway Fabric have in common
(docs/design/implementations/kgateway-nginx-gloo.md): policies in an order, fields of a size that the implementation
decides, and each field from the first policy that sets it. Implementations say who comes first and what a field is; the
story of who lost what to whom is told here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.model import ResourceKey
from policylint.policy import units
from policylint.policy.results import Attachment, Effective, Lost


class Fold:
    """An effective spec in the making. Offers are made from the strongest to the weakest policy of each field."""

    def __init__(self) -> None:
        self.spec: dict[str, Any] = {}
        self.owners: dict[Pointer, ResourceKey] = {}
        self.lost: dict[tuple[ResourceKey, Pointer], Lost] = {}
        self._taken: dict[Pointer, set[ResourceKey]] = {}

    def holders(self, field: Pointer) -> set[ResourceKey]:
        """The policies that have something in a field."""
        return self._taken.get(field, set())

    def origins(self) -> dict[Pointer, set[ResourceKey]]:
        """Per field the policies that have something in it."""
        return self._taken

    def offer(self, attachment: Attachment, field: Pointer, value: Any) -> bool:
        """A whole field of a policy: taken if no stronger policy has set it, or what it stands in, else lost."""
        taken = [other for other in self._taken if units.conflicts(field, other)]
        if taken:
            self.lose(attachment, field, value, set().union(*(self._taken[other] for other in taken)))
            return False
        self._put(attachment.key, field, value)
        self._taken[field] = {attachment.key}
        return True

    def join(self, attachment: Attachment, field: Pointer, value: Any) -> bool:
        """A field that policies fill together: lists are joined, mappings merged, of two scalars the first stays.

        Whether anything of the value was taken.
        """
        if field not in self._taken:
            return self.offer(attachment, field, value)
        here: Any = self.spec
        for step in field[:-1]:
            here = here[step]
        if self._join(attachment, here, field, value):
            self._taken[field].add(attachment.key)
            return True
        return False

    def lose(self, attachment: Attachment, field: Pointer, value: Any, by: set[ResourceKey]) -> None:
        """Record a value that has no effect because of others."""
        others = tuple(sorted(by - {attachment.key}))
        if not others:
            return
        prefix = attachment.declared[0].prefix
        for pointer in _leaves(value, field):
            location = attachment.policy.location(*prefix, *pointer)
            replaced = any(units.conflicts(pointer, owned) for owned in self.owners)
            self.lost.setdefault((attachment.key, pointer), Lost(pointer, attachment.key, others, location, replaced))

    def effective(self, stack: tuple[Attachment, ...]) -> Effective:
        """The finished value; what a policy lost in one place of the stack and won in another is not lost."""
        lost = [each for each in self.lost.values() if self.owners.get(each.pointer) != each.policy]
        lost.sort(key=lambda each: (each.policy, [str(step) for step in each.pointer]))
        return Effective(self.spec, self.owners, tuple(lost), stack)

    def _put(self, owner: ResourceKey, field: Pointer, value: Any) -> None:
        units.place(self.spec, field, _copied(value))
        for pointer in _leaves(value, field):
            self.owners[pointer] = owner

    def _join(self, attachment: Attachment, holder: Any, pointer: Pointer, value: Any) -> bool:
        name = pointer[-1]
        present = holder.get(name)
        if present is None:
            holder[name] = _copied(value)
            for leaf in _leaves(value, pointer):
                self.owners[leaf] = attachment.key
            return True
        if isinstance(present, dict) and isinstance(value, dict):
            taken = [self._join(attachment, present, (*pointer, inner), each) for inner, each in value.items()]
            return any(taken)
        if isinstance(present, list) and isinstance(value, list):
            self._append(attachment.key, present, pointer, value)
            return bool(value)
        if present == value:
            return False
        winners = {owner for owned, owner in self.owners.items() if units.conflicts(owned, pointer)}
        self.lose(attachment, pointer, value, winners)
        return False

    def _append(self, owner: ResourceKey, present: list[Any], pointer: Pointer, value: list[Any]) -> None:
        """Join two lists; from then on every item has its own owner."""
        before = self.owners.pop(pointer, None)
        if before is not None:
            self.owners.update({(*pointer, index): before for index in range(len(present))})
        self.owners.update({(*pointer, len(present) + index): owner for index in range(len(value))})
        present.extend(value)


def _leaves(value: Any, pointer: Pointer) -> list[Pointer]:
    if isinstance(value, dict) and value:
        return [(*pointer, *unit.id) for unit in units.leaves(value)]
    return [pointer]


def _copied(value: Any) -> Any:
    """Mappings and lists anew, so that joining never writes into a manifest."""
    if isinstance(value, Mapping):
        return {name: _copied(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, list) else value
