"""Ports that Envoy refuses: two of their filter chains match one server name.

HTTPS and TLS listeners of one proxy and port are filter chains of one listener of Envoy, told apart by server names. A
TLS listener without routes makes one for every name, so does an HTTPS listener without a hostname, and Envoy takes
neither where both are there: nothing is served on the port, and no condition says so.

Source: internal/xds/translator/{translator,listener}.go @ v1.9.1, processTCPListenerXdsTranslation and
addServerNamesMatch; seen by tests/witness.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from policylint.implementations.envoy_gateway.client_traffic import proxy_of
from policylint.implementations.envoy_gateway.listener_faults import is_valid
from policylint.implementations.envoy_gateway.managed import Fleet
from policylint.model import Node
from policylint.topology import ListenerState, Topology, whole

Chain = tuple[str, Collection[str]]
"""Who makes a filter chain, and the server names that it matches: "" for every one."""


def refused(fleet: Fleet) -> Mapping[Node, str]:
    """Return the listeners whose port Envoy refuses, with why."""
    by_port: dict[object, list[ListenerState]] = defaultdict(list)
    for key in fleet.gateways:
        for listener in fleet.listeners(key):
            if listener.protocol in ("HTTPS", "TLS") and not listener.conflict and is_valid(listener):
                by_port[proxy_of(fleet, key), listener.port].append(listener)
    mixed = [each for each in by_port.values() if any(listener.protocol == "TLS" for listener in each)]
    names = _names_of_routes(fleet) if mixed else {}
    found: dict[Node, str] = {}
    for listeners in mixed:
        if why := _clash(list(_chains(listeners, names))):
            found.update((listener.node, why) for listener in listeners)
    return found


def _clash(chains: list[Chain]) -> str:
    makers: dict[str, str] = {}
    for maker, names in chains:
        for name in names:
            other = makers.setdefault(name, maker)
            if other != maker:
                taken = f"server name {name}" if name else "every server name"
                return f"Envoy refuses its port: {other} and {maker} are both for {taken}"
    return ""


def _chains(listeners: list[ListenerState], names: Mapping[Node, list[Chain]]) -> Iterator[Chain]:
    for listener in listeners:
        if listener.protocol == "HTTPS":
            yield str(listener.node), {listener.hostname}
        elif listener.node in names:
            yield from names[listener.node]
    idle = next((each for each in listeners if each.protocol == "TLS" and each.node not in names), None)
    if idle is not None:
        yield f"{idle.node}, which has no routes,", {""}


def names_of_tls_routes(topology: Topology) -> dict[tuple[Node, Node], frozenset[str]]:
    """Return what TCPRoutes do not serve at listeners that have a TLSRoute: everything.

    Source: internal/gatewayapi/route.go @ v1.9.1, processTCPRouteParentRefs: it serves a listener without routes.
    """
    attached = [
        (route.route.key, candidate)
        for route in topology.routes
        if route.route.key.kind in ("TLSRoute", "TCPRoute")
        for parent in route.parents
        for candidate in (parent.candidates if parent.accepted else ())
        if not candidate.failure
    ]
    taken = {candidate.node for key, candidate in attached if key.kind == "TLSRoute"}
    return {
        (candidate.node, whole(key)): frozenset(candidate.hostnames)
        for key, candidate in attached
        if key.kind == "TCPRoute" and candidate.node in taken
    }


def _names_of_routes(fleet: Fleet) -> Mapping[Node, list[Chain]]:
    """Return the filter chains that routes make at TLS listeners."""
    names: dict[Node, list[Chain]] = defaultdict(list)
    unserved = names_of_tls_routes(fleet.topology)
    for route in fleet.topology.routes:
        if route.route.key.kind not in ("TLSRoute", "TCPRoute"):
            continue
        for parent in route.parents:
            for candidate in parent.candidates if parent.accepted else ():
                listener = fleet.topology.listener(candidate.node)
                if listener is None or candidate.failure or (candidate.node, whole(route.route.key)) in unserved:
                    continue
                own = candidate.hostnames if route.route.key.kind == "TLSRoute" else (listener.hostname,)
                names[candidate.node].append((f"{route.route.key} at {candidate.node}", own))
    return names
