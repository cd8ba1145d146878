"""The contexts of a group, spelled out as paths only when somebody asks for them, and compared without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from policylint.model import Node, PolicyKind, ResourceKey
from policylint.topology import whole

if TYPE_CHECKING:
    from policylint.policy.effective import Effects

State = tuple[int, int]
"""A vertex and the number of an interned stack."""
_FEW = 8
"""Below, a list is searched faster than a set is made of it."""


class Fixed:
    """The contexts of a target that stands alone."""

    def __init__(self, path: tuple[Node, ...]) -> None:
        self.path = path

    def __call__(self) -> Iterator[tuple[Node, ...]]:
        yield self.path


class Paths:
    """Spells out the contexts that end in given states, sorted."""

    def __init__(self, effects: Effects, previous: dict[State, list[State | None]], states: tuple[State, ...]) -> None:
        self.effects = effects
        self.previous = previous
        self.states = states

    def __call__(self) -> Iterator[tuple[Node, ...]]:
        return iter(sorted(path for state in self.states for path in self._to(state)))

    def equals(self, other: Paths, counterpart: Mapping[int, int]) -> bool:
        """Whether another group has the same paths, without spelling them out: the same ends, and the same ways there.

        Args:
            other: one with the same policies attached to the same nodes, of this topology or another one.
            counterpart: which vertex there is which of here, -1 where none is.
        """
        mine, theirs = self.effects, other.effects
        own, same = mine.stacks[self.states[0][1]], theirs.stacks[other.states[0][1]]
        if mine.objects_among(own) != theirs.objects_among(same) or not _alike(mine.kind, theirs.kind):
            return False
        # Each stack on the way is the beginning of the last one: its height tells which it is there.
        stacks = [theirs.stack_ids.get(same[:height], -1) for height in range(len(same) + 1)]
        heights = mine.stacks

        pending = [(each, (counterpart[each[0]], stacks[len(heights[each[1]])])) for each in self.states]
        if {each for _, each in pending} != set(other.states):
            return False
        seen = set(self.states)
        while pending:
            here, there = pending.pop()
            origins, others = self.previous[here], other.previous.get(there, [])
            if len(origins) != len(others):
                return False
            known = others if len(others) < _FEW else set(others)
            for origin in origins:
                if origin is None:
                    if None not in known:
                        return False
                    continue
                counter = (counterpart[origin[0]], stacks[len(heights[origin[1]])])
                if counter not in known:
                    return False
                if origin not in seen:
                    seen.add(origin)
                    pending.append((origin, counter))
        return True

    def _to(self, state: State) -> Iterator[tuple[Node, ...]]:
        pending: list[tuple[State, tuple[Node, ...]]] = [(state, ())]
        while pending:
            here, below = pending.pop()
            for origin in self.previous[here]:
                path = (*self._steps(here, origin), *below)
                if origin is None:
                    yield path
                else:
                    pending.append((origin, path))

    def _steps(self, state: State, origin: State | None) -> tuple[Node, ...]:
        effects = self.effects
        nodes: tuple[Node, ...] = effects.topology.vertices[state[0]].nodes
        if effects.kind.effective_at == "service":
            nodes = tuple(node for node in nodes if node.role != "ServicePort")
        first = nodes[0]
        if not first.key.namespace or not (effects.namespaces or effects.edition_2023):
            return nodes  # no policy of the kind is attached to any Namespace
        namespace = whole(ResourceKey("", "Namespace", "", first.key.namespace))
        if effects.edition_2023:
            inherited = effects.kind.policy_class == "Inherited"
            return (namespace, *nodes) if inherited and first.key.kind == "Gateway" and not first.section else nodes
        before = effects.stacks[origin[1]] if origin is not None else ()
        after = effects.stacks[state[1]]
        met = any(each.node == namespace for each in effects.attachments(after[len(before) :]))
        return (namespace, *nodes) if met else nodes


def _alike(one: PolicyKind, other: PolicyKind) -> bool:
    """Whether the paths of two kinds, or of two states of one kind, are spelled alike and end alike."""
    return one is other or all(
        getattr(one, each) == getattr(other, each) for each in ("policy_class", "effective_at", "merge")
    )
