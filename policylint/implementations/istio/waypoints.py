"""Which waypoint serves a Service or ServiceEntry.

Source: docs/design/implementations/istio.md §0, «Waypoint binding»; ambient/waypoints.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from policylint.implementations.istio.labels import (
    GATEWAY_CLASS,
    MANAGED,
    SERVICE,
    SERVICE_ENTRY,
    USE_WAYPOINT,
    USE_WAYPOINT_NAMESPACE,
    WAYPOINT_FOR,
)
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.topology.namespaces import admits

_NEVER_BEHIND_ONE = ("istio.io-mesh-controller", "istio.io-eastwest-controller")
"""Who manages a Service that is a gateway of the mesh itself (fetchWaypointForService)."""


class Binding(NamedTuple):
    """What became of an object's wish for a waypoint: the Gateway, or why there is none."""

    waypoint: ResourceKey | None
    reason: str = ""


class Waypoints:
    """The waypoints of a world and the objects bound to them.

    Args:
        gateways: the Gateways that are waypoints.
    """

    __slots__ = ("_gateways", "_world", "bound")

    def __init__(self, world: World, gateways: Mapping[ResourceKey, Resource]) -> None:
        self._world = world
        self._gateways = gateways
        self.bound: dict[ResourceKey, list[Resource]] = {key: [] for key in gateways}
        """Services and ServiceEntries by waypoint, sorted."""
        if gateways:
            for kind in (SERVICE, SERVICE_ENTRY):
                for each in world.of_kind(*kind):
                    binding = self.binding(each)
                    if binding.waypoint is not None:
                        self.bound[binding.waypoint].append(each)

    def __contains__(self, key: ResourceKey) -> bool:
        return key in self._gateways

    def binding(self, resource: Resource) -> Binding:
        """The waypoint of a Service or ServiceEntry; only waypoints for services count (fetchWaypointForService)."""
        if text(resource.labels.get(MANAGED)) in _NEVER_BEHIND_ONE:
            return Binding(None, "it belongs to a waypoint or an east-west gateway itself")
        wanted = _wanted(resource.labels, resource.key.namespace)
        if wanted is None:
            namespace = resource.key.namespace
            wanted = _wanted(self._world.namespace_labels(namespace) or {}, namespace)
        if wanted is None or wanted.name == "none":
            return Binding(None, "no label names a waypoint")
        gateway = self._gateways.get(wanted)
        if gateway is None:
            return Binding(None, f"there is no waypoint {wanted.path}")
        if not self._admits(gateway, resource.key.namespace):
            return Binding(None, f"waypoint {wanted.path} does not let namespace {resource.key.namespace} in")
        if self._serves(gateway) not in ("service", "all"):
            return Binding(None, f"waypoint {wanted.path} is not for services")
        return Binding(wanted)

    def _serves(self, gateway: Resource) -> str:
        """The traffic that a waypoint is for: by its own label, else by that of its class (gatewayToWaypoint)."""
        of_class = self._world.get(ResourceKey(*GATEWAY_CLASS, "", text(gateway.spec.get("gatewayClassName"))))
        by_class = text(of_class.labels.get(WAYPOINT_FOR)) if of_class is not None else ""
        return text(gateway.labels.get(WAYPOINT_FOR)) or by_class or "service"

    def _admits(self, gateway: Resource, namespace: str) -> bool:
        """`allowedRoutes.namespaces` of the HBONE listener; what cannot be known counts as allowed."""
        listeners = [mapping(each) for each in sequence(gateway.spec.get("listeners"))]
        mesh = next((each for each in listeners if each.get("protocol") == "HBONE"), listeners[0] if listeners else {})
        rule = mapping(mapping(mesh.get("allowedRoutes")).get("namespaces"))
        return admits(self._world, rule, "Same", gateway.key.namespace, namespace).allowed is not False


def _wanted(labels: Mapping[str, object], home: str) -> ResourceKey | None:
    name = text(labels.get(USE_WAYPOINT))
    if not name:
        return None
    namespace = text(labels.get(USE_WAYPOINT_NAMESPACE)) or home
    return ResourceKey("gateway.networking.k8s.io", "Gateway", namespace, name)
