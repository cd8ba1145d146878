"""GatewayClass > Gateway > [ListenerSet >] Listener > route > rule > Service > ServicePort, with integer ids.

Paths run along `children` from a root. A Service that a rule reaches by a port is a vertex of its own with two nodes
(Service, ServicePort), so that «which port» belongs to the rule, not to the Service (docs/design/interfaces.md §3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, TypeVar

from policylint.model import Node, Resource, ResourceKey, World
from policylint.namedtuple import NamedTuple
from policylint.topology.references import is_listener_set
from policylint.topology.routes import extension_refs
from policylint.topology.state import Delegation, Detached, GatewayState, ListenerSetState, ListenerState, RouteState

if TYPE_CHECKING:
    from _typeshed import SupportsGetItem

_Place = TypeVar("_Place")


class Vertex(NamedTuple):
    """One step of a path: usually one node; for a Service reached by a named port, the Service and its port."""

    nodes: tuple[Node, ...]

    @property
    def key(self) -> ResourceKey:
        return self.nodes[0].key

    @property
    def namespace(self) -> str:
        """ "" for cluster-scoped objects."""
        return self.nodes[0].key.namespace

    def __str__(self) -> str:
        return " > ".join(map(str, self.nodes))


class Topology:
    """Vertices and edges of one environment, and the states of its Gateways and routes.

    Attributes:
        vertices, children, parents: by integer id, in an order that depends on the objects only. Acyclic.
        roots: where contexts begin. A mesh route is a root even when a listener is above it, and a Service that only
            detached routes name is one although it has parents.
        detached: vertices of routes and ListenerSets that hang on nothing, with why; the unknown ones are roots.
        reachable: by id, whether a root leads there.
        routes, gateways, listener_sets: states, sorted by kind, namespace and name.
        unseen: the Gateways and ListenerSets that something hangs on and that were not seen, sorted; what their
            listeners are, and which policies of other repositories act on them, is unknown.
        delegations: every hand-over from a rule to another route, those that close a cycle included.
        further: those that lead further down than is followed.
        above: what `gateways_above` has found, by object.
    """

    def __init__(
        self,
        world: World,
        routes: list[RouteState],
        gateways: list[GatewayState],
        listener_sets: list[ListenerSetState],
        delegations: list[Delegation],
        sections: Mapping[ResourceKey, dict[str, Node]],
        synthetic: Mapping[ResourceKey, dict[str, Node]],
        unseen: Iterable[ResourceKey] = (),
        further: Sequence[Delegation] = (),
    ) -> None:
        self.world = world
        self.routes = routes
        self.gateways = gateways
        self.listener_sets = listener_sets
        self.delegations = delegations
        self.further = further
        self.vertices: list[Vertex] = []
        self.children: list[list[int]] = []
        self.parents: list[list[int]] = []
        self.roots: list[int] = []
        self.detached: dict[int, Detached] = {}
        self.reachable = bytearray()
        self.above: dict[ResourceKey, tuple[ResourceKey, ...]] = {}
        self._by_node: dict[Node, list[int]] = {}
        self._filters: dict[ResourceKey, list[tuple[Node, int]]] | None = None
        self._sections = sections
        self._synthetic = synthetic
        self._routes: dict[ResourceKey, RouteState] = {state.route.key: state for state in routes}
        self._apart: dict[Resource, RouteState] = {}
        self._gateways: dict[ResourceKey, GatewayState] = {state.gateway.key: state for state in gateways}
        self._listener_sets = {state.listener_set.key: state for state in listener_sets}
        holders: list[GatewayState | ListenerSetState] = [*gateways, *listener_sets]
        self.unseen = sorted(unseen)
        self._listeners = {listener.node: listener for holder in holders for listener in holder.listeners}

    def vertices_of(self, node: Node) -> list[int]:
        """Return the vertices of a node; a Service has one per port it is reached by, and one for no port."""
        return self._by_node.get(node if node.role else whole(node.key), [])

    def node_for(self, key: ResourceKey, section: str = "") -> Node | None:
        """Return the node of an object, or of a section of it: listener, rule or port by name, or a synthetic `rule-N`.

        None where the object or the section does not exist. What was not seen may have any listener.
        """
        if section:
            if key in self.unseen:
                return listener_node(key, section)
            named = self._sections.get(key, {}).get(section)
            return named or self._synthetic.get(key, {}).get(section)
        node = whole(key)
        return node if node in self._by_node or self.world.get(key) is not None else None

    def sections(self, key: ResourceKey) -> Mapping[str, Node]:
        """Return the named sections of an object; the synthetic names of unnamed rules are not among them."""
        return self._sections.get(key, {})

    def synthetic_sections(self, key: ResourceKey) -> Mapping[str, Node]:
        """Return the `rule-N` nodes of a route's unnamed rules."""
        return self._synthetic.get(key, {})

    def is_synthetic(self, node: Node) -> bool:
        """Return whether a node is a rule without a name."""
        return self._synthetic.get(node.key, {}).get(node.section) == node

    def route(self, key: ResourceKey) -> RouteState | None:
        return self._routes.get(key)

    def state_of(self, route: Resource) -> RouteState | None:
        """Return the state of a route as it is served at one place: its rules there have numbers of their own."""
        return self._apart.get(route) or self._routes.get(route.key)

    def gateway(self, key: ResourceKey) -> GatewayState | None:
        return self._gateways.get(key)

    def listener_set(self, key: ResourceKey) -> ListenerSetState | None:
        return self._listener_sets.get(key)

    def listener(self, node: Node) -> ListenerState | None:
        """Return the state of a listener of a Gateway or ListenerSet."""
        return self._listeners.get(node)

    def filters_naming(self, key: ResourceKey) -> list[tuple[Node, int]]:
        """Return the rules whose ExtensionRef filters name an object, and the position of each filter in its rule."""
        if self._filters is None:
            self._filters = {}
            for state in self.routes:
                for node, position, target in extension_refs(state.route):
                    self._filters.setdefault(target, []).append((node, position))
        return self._filters.get(key, [])

    def revise(self, routes: list[RouteState]) -> None:
        """Replace the states of the same routes, in the same order: implementations have conditions of their own."""
        self.routes = routes
        self._routes = {state.route.key: state for state in routes}

    def revise_holders(self, gateways: list[GatewayState], listener_sets: list[ListenerSetState]) -> None:
        """Replace the states of the same Gateways and ListenerSets, in the same order, as `revise` does for routes."""
        self.gateways, self.listener_sets = gateways, listener_sets
        self._gateways = {state.gateway.key: state for state in gateways}
        self._listener_sets = {state.listener_set.key: state for state in listener_sets}
        holders: list[GatewayState | ListenerSetState] = [*gateways, *listener_sets]
        self._listeners = {listener.node: listener for holder in holders for listener in holder.listeners}

    def opened(
        self,
        gateways: Sequence[GatewayState],
        routes: Sequence[RouteState],
        whole_routes: Mapping[ResourceKey, RouteState],
    ) -> Topology:
        """Return the same topology with further ways in, which no context leads through.

        Args:
            routes: several of one object where its hosts have different rules, and `whole_routes` all of each object.
        """
        opened = copy(self)
        opened.routes = [*self.routes, *routes]
        opened.revise_holders([*self.gateways, *gateways], self.listener_sets)
        opened._routes = {**self._routes, **whole_routes}
        opened._apart = {state.route: state for state in opened.routes}
        return opened

    def add(self, *nodes: Node) -> int:
        """Return the id of the vertex with these nodes, adding it if needed. For `build`, like `link` and `root`."""
        for vertex in self._by_node.get(nodes[0], ()):
            if self.vertices[vertex].nodes == nodes:
                return vertex
        vertex = len(self.vertices)
        self.vertices.append(Vertex(nodes))
        self.children.append([])
        self.parents.append([])
        self.reachable.append(0)
        for node in nodes:
            self._by_node.setdefault(node, []).append(vertex)
        return vertex

    def link(self, parent: int, child: int) -> None:
        """Add an edge unless it exists. Searches the shorter side, as a listener may have thousands of routes."""
        below, above = self.children[parent], self.parents[child]
        if child not in below if len(below) < len(above) else parent not in above:
            below.append(child)
            above.append(parent)

    def root(self, vertex: int) -> None:
        """Let contexts begin at a vertex, and mark everything it leads to as reachable."""
        self.roots.append(vertex)
        stack = [vertex]
        while stack:
            reached = stack.pop()
            if not self.reachable[reached]:
                self.reachable[reached] = 1
                stack.extend(self.children[reached])


def walk(edges: SupportsGetItem[_Place, Iterable[_Place]], starts: Iterable[_Place]) -> set[_Place]:
    """Return the vertices that edges (`children` or `parents`) lead to, those where the walk starts included."""
    reached = set(starts)
    pending = list(reached)
    while pending:
        following = set(edges[pending.pop()]) - reached
        reached |= following
        pending += following
    return reached


def whole(key: ResourceKey) -> Node:
    """Return the node of a whole object."""
    return Node(key, "", key.kind)


def listener_node(holder: ResourceKey, name: str) -> Node:
    """Return the node of a listener of a Gateway or ListenerSet; the whole without a name."""
    role = holder.kind if not name or is_listener_set(holder.group, holder.kind) else "Listener"
    return Node(holder, name, role)


Sections = dict[ResourceKey, dict[str, Node]]
