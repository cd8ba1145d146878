"""The waypoint of a Service, a ServiceEntry or a workload.

Source: docs/design/implementations/istio.md §0, «Waypoint binding»; ambient/waypoints.go.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from policylint.digits import whole_number
from policylint.implementations.istio import labels
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.topology.namespaces import admits

_WHOLE = 100
_NEVER_BEHIND_ONE = ("istio.io-mesh-controller", "istio.io-eastwest-controller")
"""The managers of Services that are gateways of the mesh itself (fetchWaypointForService)."""


class WaypointBinding(NamedTuple):
    """The outcome of an object's request for a waypoint: the Gateway, or why there is none, or none that is known.

    Args:
        fix: what to do where a label names a waypoint that does not take it.
    """

    waypoint: ResourceKey | None
    reason: str = ""
    unknown: bool = False
    fix: str = ""


class WaypointShare(NamedTuple):
    """A second waypoint of a Service, and how many of a hundred connections go through it."""

    waypoint: ResourceKey
    percent: int


class Waypoints:
    """The waypoints of a world and the objects bound to them.

    Args:
        gateways: the Gateways that are waypoints.
        others: those that may be waypoints of another controller.
    """

    __slots__ = ("_gateways", "_others", "_world", "bound", "canaries", "of_workloads")

    def __init__(
        self, world: World, gateways: Mapping[ResourceKey, Resource], others: Container[ResourceKey] = ()
    ) -> None:
        self._world = world
        self._gateways = gateways
        self._others = others
        self.bound: dict[ResourceKey, list[Resource]] = {key: [] for key in gateways}
        """Services and ServiceEntries by waypoint, sorted."""
        self.of_workloads: dict[ResourceKey, ResourceKey] = {}
        """Waypoints by the workloads whose addresses requests reach through them."""
        self.canaries: dict[ResourceKey, WaypointShare] = {}
        """The second waypoints of Services and ServiceEntries, which take a share of the connections."""
        if gateways:
            for kind in (labels.SERVICE, labels.SERVICE_ENTRY):
                for resource in world.of_kind(*kind):
                    binding = self.binding(resource)
                    if binding.waypoint is not None:
                        self.bound[binding.waypoint].append(resource)
                    share = self._canary(resource)
                    if share is not None and binding.waypoint not in (None, share.waypoint) and share.percent < _WHOLE:
                        self.bound[share.waypoint].append(resource)
                        self.canaries[resource.key] = share

    def __contains__(self, key: ResourceKey) -> bool:
        return key in self._gateways

    def bind_workloads(self, workloads: Iterable[tuple[Resource, Mapping[str, object]]]) -> None:
        """Bind workloads by the labels of their pods (fetchWaypointForWorkload)."""
        if self._gateways:
            for workload, pod_labels in workloads:
                binding = self._binding(pod_labels, workload.key.namespace, "workload")
                if binding.waypoint is not None and labels.GATEWAY_NAME not in pod_labels:
                    self.of_workloads[workload.key] = binding.waypoint

    def may_be_used(self, waypoint: ResourceKey) -> bool:
        """Return whether something that was not seen may be bound to a waypoint: what a variable labels, or what is in
        another namespace that it lets in."""
        listeners = sequence(self._gateways[waypoint].spec.get("listeners"))
        rules = [mapping(mapping(mapping(each).get("allowedRoutes")).get("namespaces")) for each in listeners]
        if any(rule.get("from") not in (None, "Same") for rule in rules):
            return True
        written = [self._world.namespace_labels(waypoint.namespace) or {}]
        for kind in (labels.SERVICE, labels.SERVICE_ENTRY):
            written += [each.labels for each in self._world.in_namespace(*kind, waypoint.namespace)]
        return any(is_symbolic(text(each.get(labels.USE_WAYPOINT))) for each in written)

    def wrong_name(self, namespace: str) -> str:
        """Return that the label of a Namespace names no waypoint that is there, "" where it does, or there is none."""
        return self._binding({}, namespace, "service").reason if self._names_one(namespace) else ""

    def _names_one(self, namespace: str) -> bool:
        return _wanted(self._world.namespace_labels(namespace) or {}, namespace) is not None

    def astray(self) -> Iterator[tuple[Resource, str, str, bool]]:
        """Yield what bears a label for a waypoint that is not there, or does not take it, with why, what to do, and
        whether the waypoint is there."""
        for space in self._world.of_kind("", "Namespace"):
            bindings = [self._binding(space.labels, space.key.name, traffic) for traffic in ("service", "workload")]
            if all(self._is_lost(space, space.key.name, binding) for binding in bindings):
                is_there = _wanted(space.labels, space.key.name) in self._gateways
                yield space, bindings[0].reason, bindings[0].fix, is_there
        for kind in (labels.SERVICE, labels.SERVICE_ENTRY):
            for resource in self._world.of_kind(*kind):
                binding = self.binding(resource)
                if labels.USE_WAYPOINT in resource.labels and self._is_lost(resource, resource.key.namespace, binding):
                    is_there = _wanted(resource.labels, resource.key.namespace) in self._gateways
                    yield resource, binding.reason, binding.fix, is_there

    def _is_lost(self, holder: Resource, namespace: str, binding: WaypointBinding) -> bool:
        """Return whether a label certainly binds its holder to no waypoint: it is here and does not fit, or missing."""
        wanted = _wanted(holder.labels, namespace) if binding.fix else None
        if wanted is None:
            return False
        return wanted in self._gateways or self._world.resolve_parent(wanted).missing

    def binding(self, resource: Resource) -> WaypointBinding:
        """Bind a Service or ServiceEntry (fetchWaypointForService)."""
        if text(resource.labels.get(labels.MANAGED)) in _NEVER_BEHIND_ONE:
            return WaypointBinding(None, "it belongs to a waypoint or an east-west gateway itself")
        primary = self._binding(resource.labels, resource.key.namespace, "service")
        share = None if primary.waypoint is None else self._canary(resource)
        return WaypointBinding(share.waypoint) if share is not None and share.percent == _WHOLE else primary

    def _canary(self, resource: Resource) -> WaypointShare | None:
        """Return the second waypoint of a Service, of its own or of its Namespace as the first one (1.31,
        buildWeightedWaypoints); None for none, and for one that gets nothing: what is wrong with it leaves the first.
        """
        home = resource.key.namespace
        around = self._world.get(ResourceKey("", "Namespace", "", home))
        own = resource if labels.USE_WAYPOINT in resource.labels else around
        wanted = None if own is None else _wanted(own.labels, home, labels.USE_CANARY, labels.USE_CANARY_NAMESPACE)
        if wanted is None:
            return None
        stated = resource.annotations.get(labels.CANARY_WEIGHT)
        if stated is None and around is not None:
            stated = around.annotations.get(labels.CANARY_WEIGHT)
        percent = whole_number(text(stated)) or 0
        gateway = self._gateways.get(wanted)
        fits = gateway is not None and self._admits(gateway, home) and self._serves(gateway) in ("service", "all")
        return WaypointShare(wanted, percent) if fits and 0 < percent <= _WHOLE else None

    def _binding(self, own: Mapping[str, object], namespace: str, traffic: str) -> WaypointBinding:
        """Bind what has some labels of its own; only waypoints for its traffic count, `service` or `workload`."""
        waypoint = _wanted(own, namespace)
        if waypoint is None:
            waypoint = _wanted(self._world.namespace_labels(namespace) or {}, namespace)
        if waypoint is None or waypoint.name == "none":
            return WaypointBinding(None, "no label names a waypoint")
        if is_symbolic(waypoint.name) or is_symbolic(waypoint.namespace):
            return WaypointBinding(None, f"a variable names waypoint {waypoint.path}", unknown=True)
        gateway = self._gateways.get(waypoint)
        if waypoint in self._others:  # ztunnels send to any that is named: WaypointsCollection asks for no class
            return WaypointBinding(None, f"{waypoint.path} is a waypoint of another controller", unknown=True)
        if gateway is None:
            fix = f"create Gateway {waypoint.path} with a class for waypoints, or name one that is there"
            return WaypointBinding(None, f"there is no waypoint {waypoint.path}", fix=fix)
        if not self._admits(gateway, namespace):
            fix = f"let namespace {namespace} in at {waypoint.path} (`allowedRoutes`)"
            return WaypointBinding(None, f"waypoint {waypoint.path} does not let namespace {namespace} in", fix=fix)
        if self._serves(gateway) not in (traffic, "all"):
            fix = f"label {waypoint.path} with {labels.WAYPOINT_FOR}: {traffic}, or name one that is for {traffic}s"
            return WaypointBinding(None, f"waypoint {waypoint.path} is not for {traffic}s", fix=fix)
        return WaypointBinding(waypoint)

    def _serves(self, gateway: Resource) -> str:
        """Return the traffic that a waypoint is for: by its own label, else by its class's (gatewayToWaypoint)."""
        of_class = self._world.get(ResourceKey(*labels.GATEWAY_CLASS, "", text(gateway.spec.get("gatewayClassName"))))
        by_class = text(of_class.labels.get(labels.WAYPOINT_FOR)) if of_class is not None else ""
        return text(gateway.labels.get(labels.WAYPOINT_FOR)) or by_class or "service"

    def _admits(self, gateway: Resource, namespace: str) -> bool:
        """Read `allowedRoutes.namespaces` of the HBONE listener; what cannot be known counts as allowed."""
        listeners = [mapping(listener) for listener in sequence(gateway.spec.get("listeners"))]
        listeners.sort(key=lambda listener: listener.get("protocol") != "HBONE")
        mesh = listeners[0] if listeners else {}
        rule = mapping(mapping(mesh.get("allowedRoutes")).get("namespaces"))
        return admits(self._world, rule, "Same", gateway.key.namespace, namespace).allowed is not False


def _wanted(
    owner_labels: Mapping[str, object],
    home: str,
    by: str = labels.USE_WAYPOINT,
    elsewhere: str = labels.USE_WAYPOINT_NAMESPACE,
) -> ResourceKey | None:
    name = text(owner_labels.get(by))
    if not name:
        return None
    namespace = text(owner_labels.get(elsewhere)) or home
    return ResourceKey("gateway.networking.k8s.io", "Gateway", namespace, name)
