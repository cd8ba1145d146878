"""Who demands a certificate of the clients of a listener: its Gateway, or a policy that acts there."""

from __future__ import annotations

from collections import defaultdict

from policylint.documents import Pointer
from policylint.implementations import implementation
from policylint.model import Location, Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Group
from policylint.simulation import Simulation
from policylint.topology import GatewayState, ListenerState
from policylint.topology.ancestry import implementation_of
from policylint.topology.status import client_validation, is_passthrough

_OPEN = "AllowInsecureFallback"


class CertificateDemand(NamedTuple):
    """A demand of client certificates, or one that leaves it to the client whether it shows one (not `must`).

    Args:
        holder: the Gateway, or the policy.
        pointer: of the demand, below the Gateway or below the effective spec.
    """

    holder: ResourceKey
    pointer: Pointer
    location: Location
    must: bool = True


class CertificateDemands:
    """The demands of an environment, by listener."""

    __slots__ = ("_at", "_by_listener", "_catalog")

    def __init__(self, simulation: Simulation) -> None:
        self._catalog = simulation.catalog
        self._at: dict[tuple[ResourceKey, Node], list[CertificateDemand]] = {}
        self._by_listener: dict[Node, list[tuple[Group, Pointer, bool]]] = defaultdict(list)
        for group in simulation.groups:
            name = group.kind.implementation
            behaviour = implementation(name, simulation.catalog.settings(name))
            pointer, must = behaviour.client_certificates(group.kind, group.effective.spec)
            if pointer:
                for node in group.nodes:
                    self._by_listener[node].append((group, pointer, must))

    def at(self, gateway: GatewayState, listener: ListenerState, *, must: bool = True) -> list[CertificateDemand]:
        """Return what demands certificates of the clients of a listener that ends their TLS sessions, or takes them.

        Source: docs/design/request-precedence.md §9.
        """
        place = (gateway.gateway.key, listener.node)
        if place not in self._at:
            self._at[place] = self._demanded(gateway, listener)
        return [each for each in self._at[place] if each.must or not must]

    def _demanded(self, gateway: GatewayState, listener: ListenerState) -> list[CertificateDemand]:
        if listener.protocol != "HTTPS" or is_passthrough(listener):
            return []
        own = client_validation(gateway.gateway, listener.port)
        demands = []
        is_read = not self._catalog.unread(implementation_of(gateway, self._catalog), "tls.frontend")
        if is_read and own.value:
            location = gateway.gateway.location(*own.pointer, key=isinstance(own.pointer[-1], str))
            must = own.value.get("mode") != _OPEN
            demands.append(CertificateDemand(gateway.gateway.key, own.pointer, location, must))
        for group, pointer, must in self._by_listener.get(listener.node, ()):
            effective = group.effective
            for leaf, owner in effective.owners.items():
                location_of_leaf = effective.location_of(leaf)
                if pointer[: len(leaf)] == leaf[: len(pointer)] and location_of_leaf is not None:
                    demands.append(CertificateDemand(owner, pointer, location_of_leaf, must))
                    break
        return demands
