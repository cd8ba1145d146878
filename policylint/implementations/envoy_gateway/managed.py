"""Who is there to attach to: Gateways, ListenerSets and routes that Envoy Gateway works on.

Source: docs/design/implementations/envoy-gateway.md §2.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from policylint.catalog.kinds import Catalog
from policylint.model import GATEWAY_GROUP, Node, Resource, ResourceKey, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.policy.order import age
from policylint.topology import GatewayState, ListenerSetState, ListenerState, ParentState, RouteState, Topology

GROUP = "gateway.envoyproxy.io"
CONTROLLERS = "gateway.envoyproxy.io/*"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
"""What the controller calls itself where no GatewayClass in the input says."""
ADDRESS_TYPES = ("", "IPAddress", "Hostname")


class Scope(NamedTuple):
    """What a policy can claim: an object, or a section of it by name, whether or not that section is there."""

    key: ResourceKey
    section: str = ""

    @property
    def path(self) -> str:
        """`namespace/name` or `namespace/name/section`, as the controller's messages write it."""
        return f"{self.key.path}/{self.section}" if self.section else self.key.path

    @property
    def ancestor(self) -> Node:
        """The entry of status.ancestors for it."""
        return Node(self.key, self.section, self.key.kind)


class Fleet:
    """The Gateways, ListenerSets and routes of one environment as Envoy Gateway sees them.

    A Gateway counts when its class's controller is Envoy Gateway, or when no class is in the input and its class is not
    one that another implementation makes itself, and when the controller accepts it: its addresses and its EnvoyProxy
    are usable. Whether its listeners are valid does not matter.
    """

    def __init__(self, topology: Topology, catalog: Catalog) -> None:
        self.topology = topology
        self.world = topology.world
        self.gateways: dict[ResourceKey, GatewayState] = {
            each.gateway.key: each
            for each in sorted(topology.gateways, key=lambda each: order(each.gateway))
            if _ours(each, catalog) and self._accepted(each)
        }
        self.listener_sets: dict[ResourceKey, ListenerSetState] = {
            each.listener_set.key: each
            for each in topology.listener_sets
            if each.listener_set.key.group == GATEWAY_GROUP and each.parent in self.gateways
        }
        self.routes: dict[ResourceKey, tuple[ParentState, ...]] = {}
        """Every route that is ours, with its managed parentRefs; whether they accept it does not matter."""
        for route in topology.routes:
            managed = tuple(each for each in route.parents if self._manages(each))
            if managed:
                self.routes[route.route.key] = managed

    def route(self, key: ResourceKey) -> RouteState | None:
        """A route that is ours."""
        return self.topology.route(key) if key in self.routes else None

    def controller(self, key: ResourceKey) -> str:
        """The controllerName above a Gateway or ListenerSet, as status entries carry it."""
        listener_set = self.listener_sets.get(key)
        gateway = self.gateways.get(listener_set.parent if listener_set is not None else key)
        return gateway.controller if gateway is not None and gateway.controller else CONTROLLER

    def merges(self, gateway: GatewayState) -> bool:
        """Whether the Gateways of its class share one proxy (EnvoyProxy spec.mergeGateways)."""
        return bool(self.parameters(gateway.class_key).get("mergeGateways"))

    def parameters(self, class_key: ResourceKey) -> dict[str, object]:
        """The spec of the EnvoyProxy that a GatewayClass names; empty without one."""
        found = self.world.get(class_key)
        reference = mapping(found.spec.get("parametersRef")) if found is not None else {}
        if (text(reference.get("group")), text(reference.get("kind"))) != (GROUP, "EnvoyProxy"):
            return {}
        proxy = self.world.get(
            ResourceKey(GROUP, "EnvoyProxy", text(reference.get("namespace")), text(reference.get("name")))
        )
        return dict(proxy.spec) if proxy is not None else {}

    def merging_classes(self) -> list[ResourceKey]:
        """The GatewayClasses of Envoy Gateway whose Gateways share one proxy."""
        return [
            each.key
            for each in self.world.of_kind(GATEWAY_GROUP, "GatewayClass")
            if fnmatchcase(text(each.spec.get("controllerName")), CONTROLLERS)
            and self.parameters(each.key).get("mergeGateways")
        ]

    def gateway_of(self, key: ResourceKey) -> ResourceKey:
        """The Gateway of a ListenerSet; of a Gateway itself."""
        listener_set = self.listener_sets.get(key)
        return key if listener_set is None else listener_set.parent

    def sets_of(self, gateway: ResourceKey) -> list[ListenerSetState]:
        """The ListenerSets that a Gateway lets in."""
        return [each for each in self.listener_sets.values() if each.parent == gateway and each.allowed is not False]

    def listeners(self, gateway: ResourceKey) -> list[ListenerState]:
        """All listeners of a Gateway: its own, and those of the ListenerSets it lets in."""
        return [*self.gateways[gateway].listeners, *(each for one in self.sets_of(gateway) for each in one.listeners)]

    def _accepted(self, state: GatewayState) -> bool:
        if any(each.reason == "InvalidParameters" for each in state.references):
            return False
        addresses = map(mapping, sequence(state.gateway.spec.get("addresses")))
        if any(text(each.get("type")) not in ADDRESS_TYPES for each in addresses):
            return False
        parameters = self.parameters(state.class_key)
        return not (parameters.get("mergeGateways") and parameters.get("mergeBackends") is not None)

    def _manages(self, parent: ParentState) -> bool:
        """Whether a parentRef names an accepted Gateway, or a ListenerSet with an admitted listener."""
        if parent.wanted in self.gateways:
            return True
        listener_set = self.listener_sets.get(parent.wanted)
        return listener_set is not None and listener_set.allowed is not False and bool(listener_set.listeners)


def order(resource: Resource) -> tuple[str, str, str]:
    """Sort key of all of Envoy Gateway's lists: creationTimestamp, then namespace, then name (§3)."""
    return (age(resource)[0], resource.key.namespace, resource.key.name)


def parent_scope(parent: ParentState) -> Scope:
    """A parentRef as it is spelled."""
    return Scope(parent.wanted, parent.section)


def _ours(state: GatewayState, catalog: Catalog) -> bool:
    if state.controller:
        return fnmatchcase(state.controller, CONTROLLERS)
    return not state.class_resolution.missing and catalog.implementation_of_class(state.class_key.name) is None
