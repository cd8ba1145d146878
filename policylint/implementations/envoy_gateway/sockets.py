"""The settings of a socket that all listeners of one port share (envoyproxy/gateway#9652).

Source: docs/design/implementations/envoy-gateway.md §6. Listeners of one proxy and port are one listener of Envoy. The
first of them makes it, with its keep-alive and its buffers, and what the others say of these is dropped without a word;
PROXY protocol is expected of all clients of the port as soon as one listener says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.envoy_gateway.client_traffic import proxy_of
from policylint.implementations.envoy_gateway.managed import Fleet
from policylint.model import Node, ResourceKey, value_at
from policylint.policy.own_fields import parted, replaced
from policylint.policy.paths import ListedPaths
from policylint.policy.results import Effective, Group, Losses
from policylint.topology import ListenerState, whole

_FIRST: tuple[Pointer, ...] = (
    ("tcpKeepalive",),
    ("connection", "bufferLimit"),
    ("connection", "maxAcceptPerSocketEvent"),
    ("connection", "socketBufferLimit"),
)
"""What the first listener decides for all (buildXdsTCPListener)."""
_ANY: tuple[Pointer, ...] = (("proxyProtocol",), ("enableProxyProtocol",))
"""What holds for all where one says it (patchProxyProtocolFilter)."""
_NONE = Effective({}, {}, Losses(), ())


def with_shared_sockets(groups: list[Group], fleet: Fleet) -> list[Group]:
    """Return the groups of ClientTrafficPolicy in which listeners have the settings of the sockets that they share."""
    group_of = {path[-1]: group for group in groups for path in group.contexts()}
    changed: dict[Node, Effective] = {}
    for listeners in _sharing(fleet):
        groups_of = (group_of.get(listener.node) for listener in listeners)
        effective = [_NONE if group is None else group.effective for group in groups_of]
        for listener, own, shared in zip(listeners, effective, _shared(listeners, effective), strict=True):
            if shared != own:
                changed[listener.node] = shared
    return [*_split(groups, changed), *_added(fleet, changed, group_of)] if changed else groups


def _sharing(fleet: Fleet) -> Iterator[list[ListenerState]]:
    """Yield the listeners on TCP that share a port of a proxy, the one that makes the socket first."""
    sharing: dict[tuple[ResourceKey | None, int | None], list[ListenerState]] = defaultdict(list)
    for key in fleet.gateways:
        for listener in fleet.listeners(key):
            if listener.protocol != "UDP" and not listener.conflict:
                sharing[proxy_of(fleet, key), listener.port].append(listener)
    for listeners in sharing.values():
        if len(listeners) > 1:
            yield sorted(listeners, key=lambda listener: listener.protocol not in ("HTTP", "HTTPS"))


def _shared(listeners: list[ListenerState], effective: list[Effective]) -> Iterator[Effective]:
    """Yield what acts on each listener."""
    first = effective[0]
    asking = next((each for each in effective if any(_is_on(each.spec, at) for at in _ANY)), first)
    maker = next(iter(first.sources), listeners[0].holder.key)
    for own in effective:
        shared = own
        for source, at in (*((first, at) for at in _FIRST), *((asking, at) for at in _ANY)):
            value = value_at(source.spec, at)
            if source is own or value == value_at(own.spec, at):
                continue
            shared = replaced(shared, _owner(source, at) or maker, {at: value})
            strangers = tuple(attachment for attachment in source.stack if attachment not in shared.stack)
            shared = shared._replace(stack=(*strangers, *shared.stack))
        yield shared


def _is_on(spec: Mapping[str, Any], at: Pointer) -> bool:
    value = value_at(spec, at)
    return value is not None and value is not False


def _owner(effective: Effective, at: Pointer) -> ResourceKey | None:
    return next((owner for place, owner in effective.owners.items() if place[: len(at)] == at), None)


def _split(groups: list[Group], changed: Mapping[Node, Effective]) -> Iterator[Group]:
    for group in groups:
        ends = {path[-1] for path in group.contexts()}.intersection(changed)
        if not ends:
            yield group
            continue
        rest, of_ends = parted(group, sorted(ends))
        if rest is not None:
            yield rest
        for node, of_node in of_ends.items():
            yield of_node._replace(effective=changed[node])


def _added(fleet: Fleet, changed: Mapping[Node, Effective], group_of: Mapping[Node, Group]) -> Iterator[Group]:
    """Yield groups for the listeners that no policy is about, and that a neighbour's socket reaches."""
    kind = next(iter(group_of.values())).kind
    for node in sorted(changed.keys() - group_of):
        gateway = fleet.gateways[fleet.gateway_of(node.key)]
        holders = dict.fromkeys((gateway.class_key, gateway.gateway.key, node.key))
        context = (*map(whole, holders), node)
        effective = changed[node]
        nodes = {node: frozenset(effective.sources)}
        yield Group(kind, effective, ListedPaths((context,)), nodes)
