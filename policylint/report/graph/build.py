"""The Graph of a Simulation: the vertices that matter, the policies, what is named and not there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from policylint.doors import is_door, with_doors
from policylint.model import Node, Resolution, Resource, ResourceKey
from policylint.policy.level import level
from policylint.policy.results import Group, PolicyState, Refusal, Target
from policylint.report.graph.model import Effect, Graph, GraphEdge, GraphNode, fields_by_policy
from policylint.report.kit.display import place
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation
from policylint.topology import RouteState, whole
from policylint.topology.routes import rules

_MOST_FIELDS = 4
_GONE = {"kind-not-allowed", "section-not-allowed", "other-namespace", "not-granted", "malformed"}


def build(simulation: Simulation, names: Names) -> Graph:
    """Build the whole graph of one environment."""
    return _Drawing(simulation, names).graph()


class _Drawing:
    """A graph in the making: boxes by what they stand for, lines in the order in which they are found."""

    def __init__(self, simulation: Simulation, names: Names) -> None:
        self.simulation = simulation
        self.topology = simulation.topology
        self.environment = simulation.world.name
        self.names = names
        self.nodes: list[GraphNode] = []
        self.edges: dict[tuple[int, int, str], GraphEdge] = {}
        self.of_vertex: dict[int, int] = {}
        self.alone: dict[Node, int] = {}
        self.absent: dict[str, int] = {}
        self.of_policy: dict[ResourceKey, int] = {}
        targets = (target for state in simulation.policies.values() for target in state.targets)
        self.attached = {node for target in targets for node in target.nodes}
        self.effects = _Effects(simulation.groups)

    def graph(self) -> Graph:
        self._vertices()
        self._policies()
        self._targets()
        self._namespaces()
        for state in self.topology.routes:
            self._parents(state)
            self._backends(state)
        self._doors()
        edges = sorted(self.edges.values())
        return Graph(tuple(self.nodes), tuple(edges))

    # What there is.

    def _vertices(self) -> None:
        """Add every vertex but Services that nothing names and no policy touches or reaches."""
        topology = self.topology
        reached = {node for group in self.simulation.groups if group.effective.owners for node in group.nodes}
        touched = self.attached | reached
        for number, vertex in enumerate(topology.vertices):
            idle = not topology.children[number] and not topology.parents[number]
            if not idle or level(vertex.nodes) not in ("service", "workload") or not touched.isdisjoint(vertex.nodes):
                self.of_vertex[number] = self._add(vertex.nodes)
        for parent, children in enumerate(topology.children):
            for child in children:
                if parent in self.of_vertex and child in self.of_vertex:
                    self._line(self.of_vertex[parent], self.of_vertex[child])

    def _policies(self) -> None:
        for key, state in self.simulation.policies.items():
            self.of_policy[key] = len(self.nodes)
            box = self._box((whole(key),), self.simulation.policies[key].policy)
            self.nodes.append(box._replace(role="policy", level="policy", state=state.verdict))

    def _add(self, nodes: tuple[Node, ...]) -> int:
        self.nodes.append(self._box(nodes, self.simulation.world.resources.get(nodes[0].key)))
        return len(self.nodes) - 1

    def _box(self, nodes: tuple[Node, ...], resource: Resource | None) -> GraphNode:
        node = nodes[-1]
        key = node.key
        label = self.names.node(node)
        kind, title = self.names.kind(key.group, key.kind), key.path
        if node.section:
            kind, title = node.role or key.kind, f"{key.path}#{node.section}"
        stands = "namespace" if key.kind == "Namespace" and not key.group else level(nodes)
        where = "" if resource is None else place(resource.name_location)
        namespace = "?" if key.unplaced else key.namespace
        if key in self.topology.unseen:
            return GraphNode(label, kind, title, namespace, self.environment, "absent", stands, "unknown", where, nodes)
        return GraphNode(label, kind, title, namespace, self.environment, "object", stands, "", where, nodes)

    # What policies name.

    def _targets(self) -> None:
        for state in self.simulation.policies.values():
            refused = {refusal.attachment.node: refusal for refusal in state.refused}
            for target in state.targets:
                for node in target.nodes:
                    for box in self._boxes_of(node):
                        self._attach(state, node, box, refused.get(node))
                if not target.nodes:
                    self._astray(state, target)

    def _boxes_of(self, node: Node) -> list[int]:
        """Return the boxes of a node: a Service may have one per port."""
        boxes = [self.of_vertex[vertex] for vertex in self.topology.vertices_of(node) if vertex in self.of_vertex]
        if boxes:
            return boxes
        if node not in self.alone:
            self.alone[node] = self._add((node,))
        return [self.alone[node]]

    def _attach(self, state: PolicyState, node: Node, box: int, refusal: Refusal | None) -> None:
        start = self.of_policy[state.key]
        if state.invalid_code:
            self._line(start, box, "refused", "invalid", state.invalid)
        elif refusal is not None:
            by = self.names.key(refusal.by)
            self._line(start, box, "refused", "conflicted", f"{refusal.reason}: {by} claimed it first")
        else:
            effect, label = self.effects.of(state.key, node)
            by = ", ".join(self.names.keys(state.by)) if effect in ("partial", "overridden") else ""
            self._line(start, box, effect, label, f"by {by}" if by else "")

    def _astray(self, state: PolicyState, target: Target) -> None:
        """Draw a reference that attaches to nothing."""
        start = self.of_policy[state.key]
        if target.resolution.found or target.problem in _GONE:
            node = self.topology.node_for(target.key, target.section) or whole(target.key)
            if target.resolution.found and target.key in self.simulation.world.resources:
                for box in self._boxes_of(node):
                    self._line(start, box, "refused", target.problem.replace("-", " "), target.detail)
                return
        box = self._ghost(self.names.target(target), target.key, target.resolution)
        self._vain(start, box, target.resolution, target.detail)

    def _ghost(self, label: str, key: ResourceKey, resolution: Resolution) -> int:
        """Return the box of what is not there."""
        if label not in self.absent:
            self.absent[label] = len(self.nodes)
            namespace = "?" if key.unplaced else key.namespace
            kind, _, title = label.partition(" ")
            stands, state = level((whole(key),)), "unknown" if resolution.unknown else "missing"
            box = GraphNode(label, kind, title or label, namespace, self.environment, "absent", stands, state)
            self.nodes.append(box)
        return self.absent[label]

    def _vain(self, start: int, end: int, resolution: Resolution, why: str = "") -> None:
        """Draw the line of a reference to what is not there."""
        effect: Effect = "unknown" if resolution.unknown else "dangling"
        self._line(start, end, effect, "not known" if resolution.unknown else "not found", why or resolution.reason)

    def _namespaces(self) -> None:
        """Put a Namespace with policies above the highest objects in it."""
        for node, box in sorted(self.alone.items()):
            if node.key.kind != "Namespace" or node.key.group:
                continue
            inside = {number for number in self.of_vertex if self.topology.vertices[number].namespace == node.key.name}
            for number in sorted(inside):
                if inside.isdisjoint(self.topology.parents[number]):
                    self._line(box, self.of_vertex[number], "namespace")

    # What routes name in vain.

    def _parents(self, state: RouteState) -> None:
        end = self._boxes_of(whole(state.route.key))[0]
        for parent in state.parents:
            if parent.unseen is not None:
                continue
            if parent.resolution.missing or parent.resolution.unknown:
                ghost = self._ghost(self.names.parent(parent), parent.wanted, parent.resolution)
                self._vain(ghost, end, parent.resolution)
            elif parent.mesh or parent.attached:
                continue
            elif parent.candidates:
                for candidate in parent.candidates[:_MOST_FIELDS]:
                    for box in self._boxes_of(candidate.node)[:1]:
                        self._line(box, end, "refused", _spaced(candidate.failure), candidate.message)
            elif parent.section_found is False and self.topology.vertices_of(whole(parent.wanted)):
                holder = self._boxes_of(whole(parent.wanted))[0]
                self._line(holder, end, "dangling", "no such listener", parent.text)

    def _backends(self, state: RouteState) -> None:
        of_rule = {rule.number: rule.node for rule in rules(state.route)}
        for backend in state.backends:
            if backend.role != "backend" or backend.rule not in of_rule:
                continue
            start = self._boxes_of(of_rule[backend.rule])[0]
            if backend.resolution.found:
                if backend.granted is False:
                    for end in self._boxes_of(whole(backend.wanted))[:1]:
                        self._line(start, end, "refused", "no ReferenceGrant", backend.message)
            elif backend.reason != "InvalidKind":
                ghost = self._ghost(self.names.key(backend.wanted), backend.wanted, backend.resolution)
                self._vain(start, ghost, backend.resolution)

    # Ways in that are no Gateways.

    def _doors(self) -> None:
        """Draw doors, what lets requests in at them, and where these go; what is asked stands on the line."""
        opened = with_doors(self.simulation)
        if opened is self.simulation:
            return
        asked: dict[ResourceKey, set[str]] = defaultdict(set)
        for group in opened.groups[len(self.simulation.groups) :]:
            for node in group.nodes:
                asked[node.key].update(map(str, group.effective.spec))
        boxes = {
            state.gateway.key: self._door(state.gateway, "gateway")
            for state in opened.topology.gateways
            if is_door(state.gateway.key)
        }
        for state in opened.topology.routes:
            key = state.route.key
            if self.topology.route(key) is not None:
                continue
            if key not in boxes:
                boxes[key] = self._door(state.route, "route")
            box = boxes[key]
            for parent in state.parents:
                if parent.gateway in boxes and boxes[parent.gateway] != box:
                    settings = asked.get(key, ())
                    self._line(boxes[parent.gateway], box, "effective" if settings else "link", _fields(settings))
            for backend in state.backends:
                if backend.resolution.found:
                    for end in self._boxes_of(whole(backend.wanted))[:1]:
                        self._line(box, end)
                else:
                    self._vain(
                        box,
                        self._ghost(self.names.key(backend.wanted), backend.wanted, backend.resolution),
                        backend.resolution,
                    )

    def _door(self, holder: Resource, stands: str) -> int:
        self.nodes.append(self._box((whole(holder.key),), holder)._replace(level=stands))
        return len(self.nodes) - 1

    def _line(self, start: int, end: int, effect: Effect = "link", label: str = "", why: str = "") -> None:
        self.edges.setdefault((start, end, effect), GraphEdge(start, end, effect, label, why))


class _Effects:
    """The effects of each attachment, over all contexts that it takes part in."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.kept: dict[tuple[ResourceKey, Node], set[str]] = defaultdict(set)
        self.lost: dict[tuple[ResourceKey, Node], set[str]] = defaultdict(set)
        for group in groups:
            kept, lost = fields_by_policy(group.effective)
            for attachment in group.effective.stack:
                self.kept[attachment.key, attachment.node] |= kept.get(attachment.key, set())
                self.lost[attachment.key, attachment.node] |= lost.get(attachment.key, set())

    def of(self, policy: ResourceKey, node: Node) -> tuple[Effect, str]:
        """Return the effect of a policy on what it is attached to, and the settings concerned."""
        kept, lost = self.kept.get((policy, node), set()), self.lost.get((policy, node), set())
        if not kept and not lost:
            return "attached", ""
        if not lost:
            return "effective", _fields(kept)
        if not kept:
            return "overridden", f"{_fields(lost)} lost"
        parts = [_fields(kept - lost), f"{_fields(kept & lost)} in part" if kept & lost else ""]
        parts.append(f"{_fields(lost - kept)} lost" if lost - kept else "")
        return "partial", "; ".join(part for part in parts if part)


def _fields(names: Iterable[str]) -> str:
    listed = sorted(name for name in names if name)
    more = f" +{len(listed) - _MOST_FIELDS}" if len(listed) > _MOST_FIELDS else ""
    return ", ".join(listed[:_MOST_FIELDS]) + more


def _spaced(reason: str) -> str:
    """Return `NoMatchingListenerHostname` as `no matching listener hostname`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in reason).strip()
