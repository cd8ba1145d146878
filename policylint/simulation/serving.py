"""What is served: which Gateways and listeners take requests, and which routes get some there.

A Secret that is not here, or whose text holds no certificate, is no proof that a listener is closed: few repositories
hold private keys.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from policylint.implementations import implementation
from policylint.implementations.generic.one_table import OF_REQUESTS, at_further, further_listeners
from policylint.model import GATEWAY_GROUP, Node, ResourceKey
from policylint.model.world import LEFT_OUT
from policylint.namedtuple import NamedTuple
from policylint.simulation.ranking import ranking, sharing, withheld
from policylint.topology import (
    Candidate,
    GatewayState,
    ListenerSetState,
    ListenerState,
    ReferenceState,
    RouteState,
    Topology,
    whole,
)
from policylint.topology.ancestry import implementation_of
from policylint.topology.certificates import presumed
from policylint.topology.hostnames import EVERY
from policylint.topology.ports import HostsServed, Ports
from policylint.topology.state import rejection
from policylint.topology.status import is_passthrough, tls_of

if TYPE_CHECKING:
    from policylint.simulation import Simulation


class Closed(NamedTuple):
    """Where no request goes on, although the topology leads there.

    Args:
        nodes: Gateways and listeners, with why they take none.
        links: listeners with routes that they send none.
        served: where they do go on.
    """

    nodes: Mapping[Node, str]
    links: frozenset[tuple[Node, Node]]
    served: HostsServed

    def bars(self, above: Node | None, node: Node) -> bool:
        """Return whether no request goes on to a node from the one above it, None for where they begin."""
        return node in self.nodes or (above, node) in self.links


def by_port(simulation: Simulation, shut: Container[Node]) -> Ports:
    """Return for which hosts the listeners are that take requests, by port."""
    together = sharing(simulation)
    of = {
        listener.node: ((together[gateway.gateway.key][0], listener.port, listener.protocol.lower()), listener.hostname)
        for gateway, listener in served(simulation.topology)
        if listener.node not in shut and listener.protocol in ("HTTP", "HTTPS", "TLS")
    }
    return Ports(of, frozenset(of.values()))


def closed(simulation: Simulation, passed: Callable[[], Container[Node]]) -> Closed:
    """Return where no request of an environment goes on.

    Args:
        passed: returns what a mesh has before backends: requests pass it by none of its listeners.
    """
    topology = simulation.topology
    nodes = closed_listeners(simulation)
    shut = _without_open_ones(((state.gateway.key, each.node) for state, each in served(topology)), nodes, "listeners")
    for gateway in topology.gateways:
        if why := not_served(gateway):
            shut[whole(gateway.gateway.key)] = why.replace(str(gateway.gateway.key), "it", 1)
    if shut:
        behind = passed()
        nodes |= {node: why for node, why in shut.items() if node not in behind}
    gateways = ((state.class_key, whole(state.gateway.key)) for state in topology.gateways)
    nodes |= _without_open_ones(gateways, nodes, "Gateways")
    going_on = _going_on(simulation, nodes)
    links = frozenset(
        (node, whole(state.route.key))
        for state in topology.routes
        for parent in state.parents
        if not any(condition.type == "Accepted" and condition.status == "Unknown" for condition in parent.conditions)
        for node in parent.attached
        if (node, whole(state.route.key)) not in going_on.hosts
    )
    hosts = {(node, route): names for (node, route), names in going_on.hosts.items() if node not in nodes}
    return Closed(nodes, links, going_on._replace(hosts=hosts))


def _going_on(simulation: Simulation, shut: Mapping[Node, str]) -> HostsServed:
    """Return for which hosts routes get requests at listeners: one for a narrower host takes those for its own."""
    order, at = cache(lambda key: ranking(simulation, simulation.topology.gateway(key))), by_port(simulation, shut)
    pairs = [(whole(state.route.key), each.node, each.hostnames or (EVERY,)) for state, each in attached(simulation)]
    routed = {(*at.of[node], name) for _, node, names in pairs if node in at.of for name in names}

    def takes(node: Node, name: str) -> bool:
        takers = at.narrower(node, name)
        if not takers:
            return True
        port, _ = at.of[node]
        return port[2] in order(port[0]).by.hosts_of_port and not any((port, each, name) in routed for each in takers)

    found: dict[tuple[Node, Node], list[str]] = {}
    for route, node, names in pairs:
        if left := [name for name in names if takes(node, name)]:
            found.setdefault((node, route), []).extend(left)
    return HostsServed(found, takes)


def _without_open_ones(
    parts: Iterable[tuple[ResourceKey, Node]], closed: Mapping[Node, str], noun: str
) -> dict[Node, str]:
    """Return the objects that have parts, all of them closed."""
    held: dict[ResourceKey, bool] = {}
    for key, part in parts:
        held[key] = held.get(key, False) or part not in closed
    return {
        whole(key): f"none of its {noun} does"
        for key, is_open in held.items()
        if not is_open and whole(key) not in closed
    }


def attached(simulation: Simulation) -> Iterator[tuple[RouteState, Candidate]]:
    """Yield every route at each listener that sends it requests, with the hostnames that are left to it there."""
    others, further = withheld(simulation), further_listeners(served(simulation.topology), simulation.catalog)
    for state in simulation.topology.routes:
        node = whole(state.route.key)
        for candidate in (each for parent in state.parents if parent.accepted for each in parent.candidates):
            taken = others.get((candidate.node, node), frozenset())
            left = tuple(name for name in candidate.hostnames if name not in taken) if taken else candidate.hostnames
            if not candidate.failure and (left or not taken):
                yield state, candidate._replace(hostnames=left) if taken else candidate
        if state.route.key.kind in OF_REQUESTS:
            yield from ((state, each) for each in at_further(state, further))


def closed_listeners(simulation: Simulation) -> dict[Node, str]:
    """Return the listeners that take no requests, with why."""
    holders: list[GatewayState | ListenerSetState]
    holders = [*simulation.topology.gateways, *simulation.topology.listener_sets]
    listeners = chain.from_iterable(holder.listeners for holder in holders)
    bare = {each.node: why for each, why, is_certain in without_tls(simulation) if is_certain}
    return unserved_listeners(simulation) | {each.node: why for each in listeners if (why := fault(each))} | bare


def without_tls(simulation: Simulation) -> Iterator[tuple[ListenerState, str, bool]]:
    """Yield listeners for TLS that say nothing of it, with why, and whether that they have none is known."""
    catalog = simulation.catalog
    for gateway, listener in served(simulation.topology):
        own = gateway.gateway.key[:2] == (GATEWAY_GROUP, "Gateway")  # other ways in say of their TLS elsewhere
        if own and listener.protocol in ("HTTPS", "TLS") and not tls_of(listener):
            name = implementation_of(gateway, catalog)
            if name is None or not catalog.has_own_certificates(name):
                yield listener, f"it is {listener.protocol} and has no tls", name is not None


def not_served(gateway: GatewayState) -> str:
    """Return why no controller serves a Gateway; "" where one does, or may."""
    fault = rejection(gateway.conditions)
    if fault is None or fault.reason == "ListenersNotValid":
        return ""
    return f"{gateway.gateway.key} is not served: {fault.message or fault.reason}"


def fault(listener: ListenerState) -> str:
    """Return why a listener takes no requests at all, "" when it does."""
    certificates = [reference for reference in listener.references if reference.role == "certificate"]
    spared = {reference.message for reference in certificates if reference.message and _kept_elsewhere(reference)}
    for condition in listener.conditions:
        if condition.type == "Accepted" and condition.status == "False" and condition.message not in spared:
            return condition.message or f"it is not accepted ({condition.reason})"
        if condition.type == "Conflicted" and condition.status == "True":
            return condition.message or f"it is in conflict ({condition.reason})"
    if listener.conditions and not any(condition.type == "Accepted" for condition in listener.conditions):
        return f"it is not programmed ({listener.conditions[0].message or listener.conditions[0].reason})"
    if listener.conflict:
        return f"it is in conflict ({listener.conflict})"
    useless = [reference for reference in certificates if reference.reason and not _kept_elsewhere(reference)]
    if certificates and len(useless) == len(certificates) and not is_passthrough(listener):
        return f"it has no usable certificate ({useless[0].message or useless[0].reason})"
    return ""


def assumed(listener: ListenerState) -> list[str]:
    """Return what is assumed of the certificates that a listener must have to respond, as nothing here deploys them.

    One that is there is enough; what is of no use in any case says nothing for the others.
    """
    certificates = [reference for reference in listener.references if reference.role == "certificate"]
    kept = [reference for reference in certificates if _kept_elsewhere(reference)]
    if is_passthrough(listener) or any(not each.reason and each not in kept for each in certificates):
        return []
    return [
        f"{reference.message}: it is taken for a stand-in"
        if reference.resolution.found and reference.message
        else presumed(reference.wanted)
        for reference in kept
    ]


def _kept_elsewhere(reference: ReferenceState) -> bool:
    """Return whether a certificate is merely not among the manifests: few repositories hold private keys.

    A Secret whose text holds none is no proof that the listener is closed: deployments fill in stand-ins, and a guard
    that a stand-in switches off guards nothing.
    """
    is_secret = (reference.wanted.group, reference.wanted.kind) == ("", "Secret")
    unseen = reference.resolution.missing or reference.resolution.reason == LEFT_OUT
    is_stand_in = reference.resolution.found and bool(reference.reason)
    return is_secret and (unseen or is_stand_in) and reference.granted is not False


def unserved_listeners(simulation: Simulation) -> dict[Node, str]:
    """Return the listeners that are accepted and that their proxies do not serve, with why."""
    catalog = simulation.catalog
    names = {each.gateway.key: implementation_of(each, catalog) for each in simulation.topology.gateways}
    found: dict[Node, str] = {}
    for own in dict.fromkeys(each for each in names.values() if each is not None):
        behaviour = implementation(own, catalog.settings(own))
        found.update(behaviour.unserved_listeners(simulation.topology, catalog))
    for gateway, listener in served(simulation.topology) if catalog.releases else ():
        if why := catalog.unread(names[gateway.gateway.key], f"protocol {listener.protocol}"):
            found[listener.node] = why
    return found


def served(topology: Topology) -> Iterator[tuple[GatewayState, ListenerState]]:
    """Yield every listener with the Gateway that serves it: its own, and those of the ListenerSets that it lets in."""
    for gateway in topology.gateways:
        yield from ((gateway, listener) for listener in gateway.listeners)
    for listener_set in topology.listener_sets:
        parent = topology.gateway(listener_set.parent) if listener_set.allowed is not False else None
        yield from () if parent is None else ((parent, listener) for listener in listener_set.listeners)
