"""Proxies that have one table of routes: each is served at every listener for requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from policylint.catalog.kinds import Catalog
from policylint.model import Node, ResourceKey
from policylint.topology import Candidate, GatewayState, ListenerState, RouteState
from policylint.topology.ancestry import implementation_of

OF_REQUESTS = ("HTTPRoute", "GRPCRoute")
"""The kinds of routes that take requests."""


def at_further(state: RouteState, further: Mapping[Node, Iterable[ListenerState]]) -> Iterator[Candidate]:
    """Yield a route at the listeners that it is not attached to and that serve it all the same."""
    own = [each for parent in state.parents if parent.accepted for each in parent.candidates if not each.failure]
    found = {
        (other.node, each.hostnames): each._replace(node=other.node)
        for each in own
        for other in further.get(each.node, ())
    }
    attached_to = {each.node for each in own}
    yield from (candidate for (node, _), candidate in found.items() if node not in attached_to)


def further_listeners(
    served: Iterable[tuple[GatewayState, ListenerState]], catalog: Catalog
) -> Mapping[Node, list[ListenerState]]:
    """Return, by listener, the others that serve the routes attached to it: those of a proxy that has one table."""
    tables = dict[ResourceKey, list[ListenerState]]()
    for gateway, listener in served:
        name = implementation_of(gateway, catalog)
        if name is not None and catalog.has_one_table(name) and listener.protocol in ("HTTP", "HTTPS"):
            tables.setdefault(gateway.class_key, []).append(listener)
    return {each.node: [other for other in table if other is not each] for table in tables.values() for each in table}
