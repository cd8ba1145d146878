"""The Gateways, ListenerSets and routes that Envoy Gateway works on.

Source: docs/design/implementations/envoy-gateway.md §2.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from policylint.catalog.kinds import Catalog
from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.topology import (
    Condition,
    GatewayState,
    ListenerSetState,
    ListenerState,
    ParentState,
    RouteState,
    Topology,
)

GROUP = "gateway.envoyproxy.io"
CONTROLLERS = "gateway.envoyproxy.io/*"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
"""The default controllerName, where no GatewayClass in the input says it."""
ADDRESS_TYPES = ("", "IPAddress", "Hostname")


class Scope(NamedTuple):
    """A possible claim of a policy: an object, or a section of it by name, whether or not that section is there.

    Args:
        port: that a parentRef names besides, where what uses it says so.
    """

    key: ResourceKey
    section: str = ""
    port: int | None = None

    @property
    def path(self) -> str:
        """Return `namespace/name` or `namespace/name/section`, as the controller's messages write it."""
        return f"{self.key.path}/{self.section}" if self.section else self.key.path

    @property
    def ancestor(self) -> tuple[Node, int | None]:
        """Return the entry of status.ancestors for it."""
        return Node(self.key, self.section, self.key.kind), self.port


class Fleet:
    """The Gateways, ListenerSets and routes of one environment as Envoy Gateway sees them.

    A Gateway counts when its class's controller is Envoy Gateway, or when no class is in the input and its class is not
    one that another implementation makes itself, and when the controller accepts it: its addresses and its EnvoyProxy
    are usable. Whether its listeners are valid does not matter.
    """

    def __init__(self, topology: Topology, catalog: Catalog) -> None:
        self.topology, self.catalog = topology, catalog
        self.world = topology.world
        self.gateways: dict[ResourceKey, GatewayState] = {
            state.gateway.key: state
            for state in sorted(topology.gateways, key=lambda state: order(state.gateway))
            if _ours(state, catalog) and refusal(state, self.world) is None
        }
        self.listener_sets: dict[ResourceKey, ListenerSetState] = {
            listener_set.listener_set.key: listener_set
            for listener_set in topology.listener_sets
            if listener_set.listener_set.key.group == GATEWAY_GROUP and listener_set.parent in self.gateways
        }
        self.routes: dict[ResourceKey, tuple[ParentState, ...]] = {}
        """Every route that is ours, with its managed parentRefs; whether they accept it does not matter."""
        for route in topology.routes:
            managed = tuple(parent for parent in route.parents if self._manages(parent))
            if managed:
                self.routes[route.route.key] = managed

    def route(self, key: ResourceKey) -> RouteState | None:
        """Return a route that is ours, None for any other."""
        return self.topology.route(key) if key in self.routes else None

    def controller(self, key: ResourceKey) -> str:
        """Return the controllerName above a Gateway or ListenerSet, as status entries carry it."""
        listener_set = self.listener_sets.get(key)
        gateway = self.gateways.get(listener_set.parent if listener_set is not None else key)
        return gateway.controller if gateway is not None and gateway.controller else CONTROLLER

    def merges(self, gateway: GatewayState) -> bool:
        """Tell whether the Gateways of its class share one proxy (EnvoyProxy spec.mergeGateways)."""
        return merges(gateway, self.world)

    def parameters(self, class_key: ResourceKey) -> dict[str, object]:
        """Return the spec of the EnvoyProxy that a GatewayClass names; empty without one."""
        return _parameters(self.world, class_key)

    def merging_classes(self) -> list[ResourceKey]:
        """Return the GatewayClasses of Envoy Gateway whose Gateways share one proxy."""
        return [
            gateway_class.key
            for gateway_class in self.world.of_kind(GATEWAY_GROUP, "GatewayClass")
            if fnmatchcase(text(gateway_class.spec.get("controllerName")), CONTROLLERS)
            and self.parameters(gateway_class.key).get("mergeGateways")
        ]

    def gateway_of(self, key: ResourceKey) -> ResourceKey:
        """Return the Gateway of a ListenerSet; for a Gateway itself."""
        listener_set = self.listener_sets.get(key)
        return key if listener_set is None else listener_set.parent

    def sets_of(self, gateway: ResourceKey) -> list[ListenerSetState]:
        """Return the ListenerSets that a Gateway lets in."""
        return [each for each in self.listener_sets.values() if each.parent == gateway and each.allowed is not False]

    def listeners(self, gateway: ResourceKey) -> list[ListenerState]:
        """Return all listeners of a Gateway: its own, and those of the ListenerSets it lets in."""
        admitted = (listener for listener_set in self.sets_of(gateway) for listener in listener_set.listeners)
        return [*self.gateways[gateway].listeners, *admitted]

    def _manages(self, parent: ParentState) -> bool:
        """Tell whether a parentRef names an accepted Gateway, or a ListenerSet with an admitted listener."""
        if parent.wanted in self.gateways:
            return True
        listener_set = self.listener_sets.get(parent.wanted)
        return listener_set is not None and listener_set.allowed is not False and bool(listener_set.listeners)


def merges(gateway: GatewayState, world: World) -> bool:
    """Tell whether the Gateways of a class share one proxy (EnvoyProxy spec.mergeGateways)."""
    return bool(_parameters(world, gateway.class_key).get("mergeGateways"))


def order(resource: Resource) -> tuple[str, str, str]:
    """Return the sort key of all of Envoy Gateway's lists: creationTimestamp, then namespace, then name (§3)."""
    return (resource.age[0], resource.key.namespace, resource.key.name)


def parent_scope(parent: ParentState) -> Scope:
    """Return the scope of a parentRef as it is spelled."""
    return Scope(parent.wanted, parent.section)


def refusal(state: GatewayState, world: World) -> Condition | None:
    """Return why Envoy Gateway refuses a Gateway, whatever its listeners say; None where it does not.

    Source: internal/provider/kubernetes/controller.go (processGatewayParamsRef), internal/gatewayapi/translator.go.
    """
    shared = _parameters(world, state.class_key)
    own = next((each for each in state.references if each.role == "parameters"), None)
    message = ""
    if own is not None:
        message = own.message if own.reason == "InvalidParameters" else ""
        if own.wanted[:2] != (GROUP, "EnvoyProxy") and not is_symbolic(own.wanted.kind):
            message = f"{own.wanted.kind} is no kind of parameters that Envoy Gateway reads"
        if shared.get("mergeGateways"):
            message = "the Gateways of its class share one proxy (mergeGateways), so that none may name parameters"
    if shared.get("mergeGateways") and shared.get("mergeBackends") is not None:
        message = "mergeGateways and mergeBackends of the EnvoyProxy of its class exclude each other"
    if message:
        return Condition("Accepted", "False", "InvalidParameters", message)
    for address in map(mapping, sequence(state.gateway.spec.get("addresses"))):
        if (kind := text(address.get("type"))) not in ADDRESS_TYPES and not is_symbolic(kind):
            return Condition("Accepted", "False", "UnsupportedAddress", f"address type {kind} is not known")
    return None


def _parameters(world: World, class_key: ResourceKey) -> dict[str, object]:
    gateway_class = world.get(class_key)
    reference = mapping(gateway_class.spec.get("parametersRef")) if gateway_class is not None else {}
    key = ResourceKey(*(text(reference.get(field)) for field in ("group", "kind", "namespace", "name")))
    proxy = world.get(key) if (key.group, key.kind) == (GROUP, "EnvoyProxy") else None
    return dict(proxy.spec) if proxy is not None else {}


def _ours(state: GatewayState, catalog: Catalog) -> bool:
    if state.controller:
        return fnmatchcase(state.controller, CONTROLLERS)
    return not state.class_resolution.missing and catalog.implementation_of_class(state.class_key.name) is None
