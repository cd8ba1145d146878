"""Gateways and ListenerSets with their listeners: which sets are admitted, in which order, and what conflicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from policylint.model import GATEWAY_GROUP, Node, Resolution, Resource, ResourceKey, World, mapping, text
from policylint.topology.references import X_GROUP, is_listener_set, is_unseen, parent_target, resolve, resolve_parent

if TYPE_CHECKING:
    from policylint.topology.listener_conflicts import Conflict
    from policylint.topology.listeners import Listener, OwnKinds

LISTENER_SETS = ((GATEWAY_GROUP, "ListenerSet"), (X_GROUP, "XListenerSet"), (X_GROUP, "ListenerSet"))

OwnClass = Callable[[str], object]
"""Returns whether a controller creates the GatewayClass of this name itself, so that no tree need hold it."""
OwnProtocols = Callable[[str, str, str], Sequence[str] | None]
"""As `OwnKinds`, for the controller of a controllerName, "" where it is unknown, and of a class."""


class Holder:
    """A Gateway or ListenerSet, which holds listeners.

    Attributes:
        resource, listeners: the object and its listeners by name.
        gateway: the Gateway that serves them; itself for a Gateway, None where a ListenerSet's is not in the world.
        parent, resolution: for a ListenerSet the Gateway it names; for a Gateway its class.
        allowed: whether allowedListeners admits a ListenerSet; True for a Gateway, None where that is unknown.
        refused: why no Gateway serves a ListenerSet, "" when one does.
        unseen: whether the Gateway that a ListenerSet names was not seen.
        controller: controllerName of the class, "" where it is unknown.
        class_name: the class of that Gateway, "" without one.
    """

    def __init__(self, resource: Resource, parent: ResourceKey, resolution: Resolution, own: OwnKinds) -> None:
        from policylint.topology.listeners import read

        self.resource = resource
        self.listeners: dict[str, Listener] = {listener.node.section: listener for listener in read(resource, own)}
        self.parent = parent
        self.resolution = resolution
        self.gateway: Resource | None = None
        self.allowed: bool | None = True
        self.refused = ""
        self.unseen = False
        self.controller = ""
        self.class_name = ""

    @property
    def unknown(self) -> str:
        """Why it is not certain that the listeners are served; "" when it is."""
        if self.allowed is None:
            return "whether the Gateway's allowedListeners let the ListenerSet in is not known"
        return self.resolution.reason if self.gateway is None and not self.resolution.missing else ""


class Holders:
    """Every Gateway and ListenerSet of a world."""

    __slots__ = ("by_key", "conflicts", "gateways", "listener_sets", "overlapping", "sets_of")

    def __init__(self, world: World, own_class: OwnClass, own: OwnProtocols) -> None:
        self.gateways = [_gateway(world, each, own_class, own) for each in world.of_kind(GATEWAY_GROUP, "Gateway")]
        self.by_key: dict[ResourceKey, Holder] = {holder.resource.key: holder for holder in self.gateways}
        self.listener_sets: list[Holder] = []
        self.sets_of: dict[ResourceKey, list[Holder]] = {}
        resources = [resource for kind in LISTENER_SETS for resource in world.of_kind(*kind)]
        for resource in sorted(resources, key=lambda resource: (*resource.age, resource.key.kind)):
            holder = self._listener_set(world, resource, own)
            self.listener_sets.append(holder)
            self.by_key[resource.key] = holder
            if holder.gateway is not None:
                self.sets_of.setdefault(holder.gateway.key, []).append(holder)
        self.listener_sets.sort(key=lambda holder: holder.resource.key)
        self.conflicts: dict[Node, Conflict] = {}
        self.overlapping: set[Node] = set()
        if not self.by_key:
            return
        from policylint.topology.listener_conflicts import conflicts, overlaps

        for holder in self.gateways:
            sets = self.sets_of.get(holder.resource.key, [])
            if len(holder.listeners) > 1 or sets:
                self.conflicts.update(conflicts(owner.listeners.values() for owner in (holder, *sets)))
                self.overlapping |= overlaps(chain.from_iterable(own.listeners.values() for own in (holder, *sets)))
        for holder in self.listener_sets:
            if holder.gateway is None:
                self.conflicts.update(conflicts([holder.listeners.values()]))

    def _listener_set(self, world: World, resource: Resource, own: OwnProtocols) -> Holder:
        """Return a ListenerSet, attached to its Gateway if admitted (GatewaySpec.AllowedListeners, default None)."""
        from policylint.topology.namespaces import admits

        parent = parent_target(mapping(resource.spec.get("parentRef")), resource.key.namespace).key
        gateway = self.by_key.get(parent)
        served = ("", "") if gateway is None else (gateway.controller, gateway.class_name)
        holder = Holder(resource, parent, resolve_parent(world, parent), partial(own, *served))
        if is_listener_set(parent.group, parent.kind):
            holder.refused = f"{parent} is no Gateway"
            return holder
        if gateway is None:
            holder.refused = f"{parent} is missing" if holder.resolution.missing else ""
            holder.unseen = is_unseen(world, parent, holder.resolution)
            return holder
        rule = mapping(mapping(gateway.resource.spec.get("allowedListeners")).get("namespaces"))
        admission = admits(world, rule, "None", gateway.resource.key.namespace, resource.key.namespace)
        holder.allowed = admission.allowed
        holder.controller, holder.class_name = served
        if admission.allowed is False:
            holder.refused = f"allowedListeners of {parent} {admission.message}"
        else:
            holder.gateway = gateway.resource
        return holder


def _gateway(world: World, resource: Resource, own_class: OwnClass, own: OwnProtocols) -> Holder:
    key = ResourceKey(GATEWAY_GROUP, "GatewayClass", "", text(resource.spec.get("gatewayClassName")))
    resolution = resolve(world, key)
    if resolution.missing and own_class(key.name):
        resolution = Resolution("unknown", f"its controller makes {key} itself")
    elif resolution.missing and world.partial and not world.is_misspelt(key):
        resolution = Resolution("unknown", f"{key} is not in the tree, and classes come with their controllers")
    found = resolution.resource
    controller = "" if found is None else text(found.spec.get("controllerName"))
    holder = Holder(resource, key, resolution, partial(own, controller, key.name))
    holder.gateway, holder.controller, holder.class_name = resource, controller, key.name
    return holder
