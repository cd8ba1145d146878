"""Effective policies: one per context, computed once per distinct stack of policies.

Source: docs/design/semantics.md §3 steps 4-6.

A context is a path from a root to where the topology, or the kind, ends. Paths are never enumerated to compute: a walk
from the roots carries the stack of attachments met so far and visits every (vertex, stack) once, so that ten thousand
routes under one Gateway-wide policy are one group. Paths are spelled out only when somebody asks for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from policylint.model import Node, PolicyKind, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.folding import Merger, Stack
from policylint.policy.level import level
from policylint.policy.paths import Fixed, Paths, State
from policylint.policy.results import Attachment, Group
from policylint.policy.units import leaves
from policylint.topology import Topology, whole

_Entry = Attachment | ResourceKey
"""What a stack holds, by number: attachments and, in the 2023 edition, objects with values of their own."""
_NOBODY: frozenset[ResourceKey] = frozenset()


class _Walk(NamedTuple):
    """What a walk found: for every state its predecessors (None for a root), and the states where contexts end."""

    previous: dict[State, list[State | None]]
    ends: list[State]


class Effects:
    """Computes the groups of one kind of policy."""

    def __init__(
        self,
        topology: Topology,
        kind: PolicyKind,
        kept: Mapping[Node, list[Attachment]],
        merger: Merger,
        *,
        ends_above: bool = False,
        idle: frozenset[tuple[Node, Node]] = frozenset(),
    ) -> None:
        """`ends_above`: a path that ends before the kind's level is a context too (a Gateway without routes, whose
        listeners are configured all the same). `idle`: pairs of nodes between which no request passes, though the
        topology links them; no context of an inherited kind leads along there."""
        self.topology = topology
        self.kind = kind
        self.entries: list[_Entry] = []
        self.kept = {node: tuple(map(self._number, each)) for node, each in kept.items() if each}
        self.objects: dict[ResourceKey, int] = {}
        self.merger = merger
        self.ends_above = ends_above
        self.idle = {
            (above, below)
            for parent, child in idle
            for above in topology.vertices_of(parent)
            for below in topology.vertices_of(child)
        }
        self.edition_2023 = kind.merge.strategy == "field"
        self.stacks: list[tuple[int, ...]] = [()]
        self.stack_ids: dict[tuple[int, ...], int] = {(): 0}
        self.namespaces = {node.key.name: each for node, each in self.kept.items() if _is_namespace(node)}
        self.wanted = self._wanted_pointers() if self.edition_2023 else []

    def groups(self) -> list[Group]:
        """All groups of the kind, sorted by their first policy and target."""
        found: list[Group] = []
        if self.kind.policy_class == "Direct":
            for key in sorted({node.key for node in self.kept}):
                found += self._collect(self._walk_direct(key))
        else:
            found += self._collect(self._walk_inherited())
        return found + self._alone()

    def _number(self, entry: _Entry) -> int:
        self.entries.append(entry)
        return len(self.entries) - 1

    def attachments(self, stack: Iterable[int]) -> tuple[Attachment, ...]:
        """The attachments among the entries of a stack."""
        entries = (self.entries[number] for number in stack)
        return tuple(each for each in entries if isinstance(each, Attachment))

    def objects_among(self, stack: Iterable[int]) -> list[ResourceKey | None]:
        """The objects among the entries of a stack, None for attachments."""
        entries = (self.entries[number] for number in stack)
        return [None if isinstance(each, Attachment) else each for each in entries]

    # Inherited kinds: everything at or below a target.

    def _walk_inherited(self) -> _Walk:
        topology = self.topology
        attached = {vertex for node in self.kept for vertex in topology.vertices_of(node)}
        if self.namespaces:
            attached |= {
                number
                for number, vertex in enumerate(topology.vertices)
                if vertex.nodes[0].key.namespace in self.namespaces
            }
        relevant = _closure(attached, topology.parents) | _closure(attached, topology.children)
        previous: dict[State, list[State | None]] = {}
        ends: list[State] = []
        queue: list[tuple[int, State | None]] = [(root, None) for root in topology.roots if root in relevant]
        while queue:
            vertex, origin = queue.pop()
            stack = self._push(vertex, 0 if origin is None else origin[1])
            state = (vertex, stack)
            if state in previous:
                previous[state].append(origin)
                continue
            previous[state] = [origin]
            ends_here, following = self._course(vertex)
            if ends_here and stack:
                ends.append(state)
            queue.extend(
                (child, state) for child in following if child in relevant and (vertex, child) not in self.idle
            )
        return _Walk(previous, ends)

    def _course(self, vertex: int) -> tuple[bool, list[int]]:
        """Whether a context ends at a vertex, and where paths go on: below a rule to the routes it delegates to."""
        children = self.topology.children[vertex]
        if not self.kind.effective_at:
            return not children, children
        here = level(self.topology.vertices[vertex].nodes)
        if here != self.kind.effective_at:
            return self.ends_above and not children, children
        if here != "rule":
            return True, []
        routes = [each for each in children if level(self.topology.vertices[each].nodes) == "route"]
        return not routes or len(routes) < len(children), routes

    def _push(self, vertex: int, stack: int) -> int:
        """The stack after a vertex: its Namespace's policies if met for the first time, its own, its object's
        values."""
        entries: list[int] = []
        nodes = self.topology.vertices[vertex].nodes
        before = self.stacks[stack]
        if self._meets_namespace(nodes[0]):
            entries += [each for each in self.namespaces[nodes[0].key.namespace] if each not in before]
        for node in nodes:
            entries += self.kept.get(node, ())
            if self.wanted and not node.section and (before or entries) and self._has_own(node.key):
                entries.append(self._object(node.key))
        if not entries:
            return stack
        after = (*before, *entries)
        return self._intern(after)

    def _object(self, key: ResourceKey) -> int:
        if key not in self.objects:
            self.objects[key] = self._number(key)
        return self.objects[key]

    def _intern(self, entries: tuple[int, ...]) -> int:
        number = self.stack_ids.get(entries)
        if number is None:
            number = self.stack_ids[entries] = len(self.stacks)
            self.stacks.append(entries)
        return number

    def _meets_namespace(self, node: Node) -> bool:
        """Whether a node brings its Namespace's policies in: in the 2023 edition only a Gateway does."""
        if not node.key.namespace or node.key.namespace not in self.namespaces:
            return False
        return not self.edition_2023 or (node.key.kind == "Gateway" and not node.section)

    def _wanted_pointers(self) -> list[tuple[str | int, ...]]:
        maps = frozenset(tuple(path.split(".")) for path in self.kind.merge.maps)
        return sorted(
            {
                unit.pointer
                for each in self.kept.values()
                for attachment in self.attachments(each)
                for declared in attachment.declared
                for unit in leaves(declared.proper, maps)
            },
            key=str,
        )

    def _has_own(self, key: ResourceKey) -> bool:
        resource = self.topology.world.get(key)
        if resource is None:
            return False
        for pointer in self.wanted:
            here: object = resource.spec
            for step in pointer:
                here = here.get(step) if isinstance(here, dict) else None
            if here not in (None, "", [], {}):
                return True
        return False

    # Direct kinds: the target and its sections, never further.

    def _walk_direct(self, key: ResourceKey) -> _Walk:
        topology = self.topology
        targets = topology.vertices_of(whole(key))
        above = _closure(targets, topology.parents) - set(targets)
        previous: dict[State, list[State | None]] = {}
        ends: list[State] = []
        goal = set(targets)
        queue: list[tuple[int, State | None]] = [(root, None) for root in topology.roots if root in above | goal]
        while queue:
            vertex, origin = queue.pop()
            nodes = topology.vertices[vertex].nodes
            own = nodes[0].key == key and (vertex in goal or bool(nodes[0].section))
            stack = 0 if origin is None else origin[1]
            entries = tuple(each for node in nodes for each in self.kept.get(node, ())) if own else ()
            if entries:
                stack = self._intern((*self.stacks[stack], *entries))
            state = (vertex, stack)
            if state in previous:
                previous[state].append(origin)
                continue
            previous[state] = [origin]
            if vertex in goal:
                below = [child for child in topology.children[vertex] if topology.vertices[child].nodes[0].key == key]
            elif own:
                below = []
            else:
                below = [child for child in topology.children[vertex] if child in above or child in goal]
            queue.extend((child, state) for child in below)
            if own and not below and stack:
                ends.append(state)
        return _Walk(previous, ends)

    # From states to groups.

    def _collect(self, walk: _Walk) -> list[Group]:
        ends: dict[int, list[State]] = defaultdict(list)
        for state in walk.ends:
            ends[state[1]].append(state)
        found = []
        for stack, states in ends.items():
            entries = self.stacks[stack]
            attachments = self.attachments(entries)
            keys = (self.entries[number] for number in entries)
            objects = tuple(self.topology.world.resources[each] for each in keys if isinstance(each, ResourceKey))
            effective = self.merger(Stack(self.kind, attachments, objects))
            found.append(
                Group(self.kind, effective, Paths(self, walk.previous, tuple(states)), self._nodes(walk, states))
            )
        found.sort(key=lambda group: [(each.key, each.node) for each in group.effective.stack])
        return found

    def _nodes(self, walk: _Walk, states: Iterable[State]) -> dict[Node, frozenset[ResourceKey]]:
        """Per node at or below a target the policies attached at it or above it, on the way to these states."""
        found: dict[Node, frozenset[ResourceKey]] = {}
        by_stack: dict[int, frozenset[ResourceKey]] = {}
        pending, seen = list(states), set(states)
        while pending:
            state = pending.pop()
            vertex, stack = state
            keys = by_stack.get(stack)
            if keys is None:
                attachments = self.attachments(self.stacks[stack])
                keys = by_stack[stack] = frozenset([each.key for each in attachments])
                for entry in attachments:
                    if _is_namespace(entry.node):
                        found[entry.node] = found.get(entry.node, _NOBODY) | {entry.key}
            for node in self.topology.vertices[vertex].nodes:
                found[node] = found[node] | keys if node in found else keys
            for origin in walk.previous[state]:
                if origin is not None and origin[1] and origin not in seen:
                    seen.add(origin)
                    pending.append(origin)
        return found

    def _alone(self) -> list[Group]:
        """Targets outside the topology (a workload, a backend that nothing refers to) are a context by themselves."""
        found = []
        for node in sorted(self.kept):
            if _is_namespace(node) or self.topology.vertices_of(whole(node.key)) or self.kind.effective_at:
                continue
            above = self.kept.get(whole(node.key), ()) if node.section else ()
            attachments = self.attachments((*above, *self.kept[node]))
            path = (whole(node.key), node) if node.section else (node,)
            keys = frozenset(each.key for each in attachments)
            found.append(
                Group(self.kind, self.merger(Stack(self.kind, attachments)), Fixed(path), dict.fromkeys(path, keys))
            )
        return found


def _closure(start: Iterable[int], edges: list[list[int]]) -> set[int]:
    seen = set(start)
    pending = list(seen)
    while pending:
        for following in edges[pending.pop()]:
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return seen


def _is_namespace(node: Node) -> bool:
    return node.key.group == "" and node.key.kind == "Namespace"
