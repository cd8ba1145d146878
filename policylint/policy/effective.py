"""Effective policies: one per context, computed once per distinct stack of policies.

Source: docs/design/semantics.md §3 steps 4-6.

A context is a path from a root to where the topology, or the kind, ends. Paths are never enumerated to compute: a walk
from the roots carries the stack of attachments met so far and visits every (vertex, stack) once, so that ten thousand
routes under one Gateway-wide policy are one group. Paths are spelled out only when somebody asks for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from policylint.documents import Pointer
from policylint.model import Node, PolicyKind, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.folding import Merger, Stack
from policylint.policy.level import level
from policylint.policy.paths import ListedPaths, Path, Paths
from policylint.policy.results import Attachment, Group
from policylint.topology import Topology, graph, whole
from policylint.topology.graph import Vertex

_Entry = Attachment | ResourceKey
"""The contents of a stack, by number: attachments and, in the 2023 edition, objects with values of their own."""
State = tuple[int, int]
"""The position of a walk: a vertex, and the number of the stack after it."""
_NOBODY: frozenset[ResourceKey] = frozenset()
_FEW = 8
"""Below, a list is searched faster than a set is made of it."""


class _Walk(NamedTuple):
    """For every state of a walk its predecessors (None for a root), and the states in which contexts end."""

    previous: dict[State, list[State | None]]
    ends: dict[State, None]


class Effects:
    """Computes the groups of one kind of policy.

    Entries of stacks are known by number, and stacks too: a state of a walk is two integers.
    """

    def __init__(
        self,
        topology: Topology,
        kind: PolicyKind,
        kept: Mapping[Node, list[Attachment]],
        merger: Merger,
        *,
        ends_above: bool = False,
        idle: frozenset[tuple[Node, Node]] = frozenset(),
        unread: frozenset[int] = frozenset(),
    ) -> None:
        """Take what is attached where.

        Args:
            topology: what the paths run along.
            kind: of the policies.
            kept: by node the attachments that no other policy has refused, in creation order.
            merger: the strategy of the kind.
            ends_above: a path that ends before the kind's level is a context too (a Gateway without routes, whose
                listeners are configured all the same).
            idle: pairs of nodes between which no request passes, though the topology links them; no context of an
                inherited kind leads along there.
            unread: vertices of Gateways whose controllers do not read the kind: no context leads through them.
        """
        self.topology = topology
        self.kind = kind
        self.entries: list[_Entry] = []
        self.kept = {node: tuple(map(self._number, attached)) for node, attached in kept.items() if attached}
        self.places = {number: node for node, numbers in self.kept.items() for number in numbers}
        self.objects: dict[ResourceKey, int] = {}
        self.merger = merger
        self.ends_above = ends_above
        self.unread = unread
        self.idle = {
            (above, below)
            for parent, child in idle
            for above in topology.vertices_of(parent)
            for below in topology.vertices_of(child)
        }
        self.edition_2023 = kind.merge.strategy == "field"
        self.stacks: list[tuple[int, ...]] = [()]
        self.stack_ids: dict[tuple[int, ...], int] = {(): 0}
        self.namespaces = {node.key.name: numbers for node, numbers in self.kept.items() if _is_namespace(node)}
        self.wanted: list[Pointer] = []
        if self.edition_2023:
            from policylint.policy.strategies import settings_2023

            self.wanted = settings_2023((attachment for at_node in kept.values() for attachment in at_node), kind)

    def groups(self, *, alone: bool = True) -> list[Group]:
        """Return all groups of the kind: those in the topology and, unless another walk does, targets alone."""
        groups: list[Group] = []
        if self.kind.policy_class == "Direct":
            for key in sorted({node.key for node in self.kept}):
                groups += self._collect(self._walk_direct(key))
        else:
            groups += self._collect(self._walk_inherited())
        return groups + self._alone() if alone else groups

    def _number(self, entry: _Entry) -> int:
        self.entries.append(entry)
        return len(self.entries) - 1

    def attachments(self, stack: Iterable[int]) -> tuple[Attachment, ...]:
        """Return the attachments among the entries of a stack."""
        entries = (self.entries[number] for number in stack)
        return tuple(entry for entry in entries if isinstance(entry, Attachment))

    def objects_among(self, stack: Iterable[int]) -> list[ResourceKey | None]:
        """Return the objects among the entries of a stack, None for each attachment."""
        entries = (self.entries[number] for number in stack)
        return [None if isinstance(entry, Attachment) else entry for entry in entries]

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
        relevant = (graph.walk(topology.parents, attached) | graph.walk(topology.children, attached)) - self.unread
        previous: dict[State, list[State | None]] = {}
        ends: dict[State, None] = {}
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
                ends[state] = None
            queue.extend(
                (child, state) for child in following if child in relevant and (vertex, child) not in self.idle
            )
        return _Walk(previous, ends)

    def _course(self, vertex: int) -> tuple[bool, list[int]]:
        """Return whether a context ends at a vertex, and where paths go on: below a rule to routes it delegates to."""
        children = self.topology.children[vertex]
        if not self.kind.effective_at:
            return not children, children
        here = level(self.topology.vertices[vertex].nodes)
        if here != self.kind.effective_at:
            return self.ends_above and not children, children
        if here != "rule":
            return True, []
        routes = [child for child in children if level(self.topology.vertices[child].nodes) == "route"]
        return not routes or len(routes) < len(children), routes

    def _push(self, vertex: int, stack: int) -> int:
        """Return the stack after a vertex.

        It grows by the policies of the vertex's Namespace if it is met for the first time, by its own, and by its
        object's values.
        """
        entries: list[int] = []
        nodes = self.topology.vertices[vertex].nodes
        before = self.stacks[stack]
        if self._meets_namespace(nodes[0]):
            entries += [number for number in self.namespaces[nodes[0].key.namespace] if number not in before]
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

    def _has_own(self, key: ResourceKey) -> bool:
        """Whether an object has a value of its own where a policy sets one (2023 edition)."""
        resource = self.topology.world.get(key)
        if resource is None or not self.wanted:
            return False
        from policylint.policy.strategies import own_value

        return any(own_value(resource.spec, pointer) is not None for pointer in self.wanted)

    # Direct kinds: the target and its sections, never further.

    def _walk_direct(self, key: ResourceKey) -> _Walk:
        topology = self.topology
        targets = topology.vertices_of(whole(key))
        above = graph.walk(topology.parents, targets) - set(targets) - self.unread
        previous: dict[State, list[State | None]] = {}
        ends: dict[State, None] = {}
        goal = set(targets) - self.unread
        around = above | goal
        queue: list[tuple[int, State | None]] = [(root, None) for root in topology.roots if root in around]
        while queue:
            vertex, origin = queue.pop()
            nodes = topology.vertices[vertex].nodes
            own = nodes[0].key == key and (vertex in goal or bool(nodes[0].section))
            stack = 0 if origin is None else origin[1]
            entries = tuple(number for node in nodes for number in self.kept.get(node, ())) if own else ()
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
                below = [child for child in topology.children[vertex] if child in around]
            queue.extend((child, state) for child in below)
            if own and not below and stack:
                ends[state] = None
        return _Walk(previous, ends)

    # From states to groups.

    def _collect(self, walk: _Walk) -> list[Group]:
        """Merge every stack with which contexts end, once, and return the groups in the order of their stacks."""
        ends: dict[int, list[State]] = defaultdict(list)
        for state in walk.ends:
            ends[state[1]].append(state)
        resources = self.topology.world.resources
        groups = []
        for stack, states in ends.items():
            entries = self.stacks[stack]
            objects = tuple(resources[key] for key in self.objects_among(entries) if key is not None)
            effective = self.merger(Stack(self.kind, self.attachments(entries), objects))
            paths = ContextPaths(self, walk, tuple(states))
            groups.append(Group(self.kind, effective, paths, self._nodes(walk, states)))
        groups.sort(key=lambda group: [(attachment.key, attachment.node) for attachment in group.effective.stack])
        return groups

    def _nodes(self, walk: _Walk, states: Iterable[State]) -> dict[Node, frozenset[ResourceKey]]:
        """Return, for every node at or below a target on the way to these states, the policies at or above it."""
        acting: dict[Node, frozenset[ResourceKey]] = {}
        by_stack: dict[int, frozenset[ResourceKey]] = {}
        pending, seen = list(states), set(states)
        while pending:
            state = pending.pop()
            vertex, stack = state
            keys = by_stack.get(stack)
            if keys is None:
                attachments = self.attachments(self.stacks[stack])
                keys = by_stack[stack] = frozenset([attachment.key for attachment in attachments])
                for attachment in attachments:
                    if _is_namespace(attachment.node):
                        acting[attachment.node] = acting.get(attachment.node, _NOBODY) | {attachment.key}
            for node in self.topology.vertices[vertex].nodes:
                acting[node] = acting[node] | keys if node in acting else keys
            for origin in walk.previous[state]:
                if origin is not None and origin[1] and origin not in seen:
                    seen.add(origin)
                    pending.append(origin)
        return acting

    def _alone(self) -> list[Group]:
        """Return the groups of targets outside the topology (a workload, a backend that nothing refers to).

        Each is a context by itself.
        """
        groups = []
        for node in sorted(self.kept):
            if _is_namespace(node) or self.topology.vertices_of(whole(node.key)) or self.kind.effective_at:
                continue
            above = self.kept.get(whole(node.key), ()) if node.section else ()
            attachments = self.attachments((*above, *self.kept[node]))
            path = (whole(node.key), node) if node.section else (node,)
            keys = frozenset(attachment.key for attachment in attachments)
            effective = self.merger(Stack(self.kind, attachments))
            groups.append(Group(self.kind, effective, ListedPaths((path,)), dict.fromkeys(path, keys)))
        return groups


class ContextPaths(Paths):
    """The contexts of a group: the paths that end in given states.

    They are spelled out, sorted, only when somebody asks for them, and compared without.
    """

    def __init__(self, effects: Effects, walk: _Walk, states: tuple[State, ...]) -> None:
        self.effects = effects
        self.previous = walk.previous
        self.last = walk.ends
        self.states = states

    def __call__(self) -> Iterator[Path]:
        return iter(sorted(path for state in self.states for path in self._to(state)))

    def ending(self, end: Node, nodes: set[Node]) -> Iterator[Path]:
        topology, stack = self.effects.topology, self.states[0][1]
        for vertex in topology.vertices_of(end):
            if (vertex, stack) in self.last and self._nodes(topology.vertices[vertex])[-1] == end:
                yield from self._to((vertex, stack), nodes)

    def ends(self) -> Iterable[Node]:
        vertices = self.effects.topology.vertices
        for vertex, _ in self.states:
            yield self._nodes(vertices[vertex])[-1]

    def common(self) -> Path:
        # A stack grows on the way, at the nodes to which its policies are attached.
        places = self.effects.places
        met = (places[number] for number in self.effects.stacks[self.states[0][1]] if number in places)
        return tuple(node for node in met if not _is_namespace(node) and node.role != "ServicePort")

    def open_nodes(self, bars: Callable[[Node | None, Node], bool]) -> set[Node]:
        """Return the nodes of the paths along which nothing bars a node to what comes from the one above it."""
        vertices = self.effects.topology.vertices
        onward: dict[State, list[State]] = defaultdict(list)
        starts, pending, seen = [], list(self.states), set(self.states)
        while pending:
            state = pending.pop()
            first = vertices[state[0]].nodes[0]
            for origin in self.previous[state]:
                if bars(None if origin is None else vertices[origin[0]].nodes[-1], first):
                    continue
                if origin is None:
                    starts.append(state)
                    continue
                onward[origin].append(state)
                if origin not in seen:
                    seen.add(origin)
                    pending.append(origin)
        return {node for vertex, _ in graph.walk(onward, starts) for node in vertices[vertex].nodes}

    def equals(self, other: ContextPaths, counterpart: Mapping[int, int]) -> bool:
        """Return whether another group has the same paths: the same ends, and the same ways there.

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

        pending = [(state, (counterpart[state[0]], stacks[len(heights[state[1]])])) for state in self.states]
        if {twin for _, twin in pending} != set(other.states):
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
                twin = (counterpart[origin[0]], stacks[len(heights[origin[1]])])
                if twin not in known:
                    return False
                if origin not in seen:
                    seen.add(origin)
                    pending.append((origin, twin))
        return True

    def _to(self, state: State, nodes: set[Node] | None = None) -> Iterator[Path]:
        """Yield the paths that end in a state, all of them or those that lie within some nodes."""
        pending: list[tuple[State, Path]] = [(state, ())]
        while pending:
            here, below = pending.pop()
            for origin in self.previous[here]:
                steps = self._steps(here, origin)
                if nodes is not None and not nodes.issuperset(steps):
                    continue
                path = (*steps, *below)
                if origin is None:
                    yield path
                else:
                    pending.append((origin, path))

    def _steps(self, state: State, origin: State | None) -> Path:
        """Return the nodes that a state adds to a path: a Namespace whose policies come in, then the vertex."""
        effects = self.effects
        nodes = self._nodes(effects.topology.vertices[state[0]])
        first = nodes[0]
        if not first.key.namespace or not (effects.namespaces or effects.edition_2023):
            return nodes  # no policy of the kind is attached to any Namespace
        namespace = whole(ResourceKey("", "Namespace", "", first.key.namespace))
        if effects.edition_2023:
            inherited = effects.kind.policy_class == "Inherited"
            return (namespace, *nodes) if inherited and first.key.kind == "Gateway" and not first.section else nodes
        before = effects.stacks[origin[1]] if origin is not None else ()
        after = effects.stacks[state[1]]
        met = any(attachment.node == namespace for attachment in effects.attachments(after[len(before) :]))
        return (namespace, *nodes) if met else nodes

    def _nodes(self, vertex: Vertex) -> tuple[Node, ...]:
        if self.effects.kind.effective_at == "service":
            return tuple(node for node in vertex.nodes if node.role != "ServicePort")
        return vertex.nodes


def _alike(one: PolicyKind, other: PolicyKind) -> bool:
    """Whether the paths of two kinds, or of two states of one kind, are spelled alike and end alike."""
    decisive = ("policy_class", "effective_at", "merge")
    return one is other or all(getattr(one, field) == getattr(other, field) for field in decisive)


def _is_namespace(node: Node) -> bool:
    return node.key.group == "" and node.key.kind == "Namespace"
