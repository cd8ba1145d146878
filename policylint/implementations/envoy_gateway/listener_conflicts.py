"""Listeners that are in each other's way, as Envoy Gateway sees it: only valid ones are, and often one of them wins.

Of the listeners of a Gateway and its ListenerSets on one port, the protocol of the Gateway's own wins, and of listeners
with one hostname the Gateway's single one; among ListenerSets the first one does. Where two of one object disagree, all
lose. Gateways that share a proxy are compared too.

Source: internal/gatewayapi/validate.go @ v1.9.1, validateConflicted{Protocols,Hostname,Layer4,Merged}Listeners;
docs/design/implementations/envoy-gateway.md §11.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from policylint.implementations.envoy_gateway.listener_faults import is_valid
from policylint.implementations.envoy_gateway.managed import Fleet, order
from policylint.model import Node, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.topology import ListenerState

_MOST_NAMED = 8
_SHARED = {"HTTPS": "https/tls", "TLS": "https/tls"}


class ListenerLoss(NamedTuple):
    """Why a listener loses.

    Args:
        reason: of its condition Conflicted.
        rivals: the listeners that it is not distinct from.
        refused: whether a ListenerSet's is not accepted for it.
    """

    reason: str
    rivals: tuple[Node, ...]
    refused: bool = True


def clashes(fleet: Fleet) -> Mapping[Node, ListenerLoss]:
    """Return the listeners that lose, in the controller's order."""
    lost: dict[Node, ListenerLoss] = {}
    by_gateway = {key: [each for each in _in_order(fleet, key) if is_valid(each)] for key in fleet.gateways}
    for listeners in by_gateway.values():
        _protocols(listeners, lost)
    shared: dict[object, list[ListenerState]] = defaultdict(list)
    for key, listeners in by_gateway.items():
        state = fleet.gateways[key]
        if fleet.merges(state):
            shared[state.class_key] += listeners
    for listeners in shared.values():
        _protocols(listeners, lost)
    for listeners in by_gateway.values():
        _hostnames(listeners, lost)
        _streams(listeners, lost)
    for listeners in shared.values():
        _merged(listeners, lost)
    return lost


def outdone(listeners: Iterable[ListenerState]) -> frozenset[Node]:
    """Return which listeners of a Gateway, its own first, lose their hostname to one that keeps it."""
    lost: dict[Node, ListenerLoss] = {}
    valid = [each for each in listeners if is_valid(each)]
    _protocols(valid, lost)
    _hostnames(valid, lost)
    by_hostname = ((node, loss) for node, loss in lost.items() if loss.reason == "HostnameConflict")
    return frozenset(node for node, loss in by_hostname if lost.keys().isdisjoint(loss.rivals))


def _in_order(fleet: Fleet, gateway: ResourceKey) -> list[ListenerState]:
    """Return the listeners of a Gateway, then those of its ListenerSets by age."""
    sets = sorted(fleet.sets_of(gateway), key=lambda state: order(state.listener_set))
    return [*fleet.gateways[gateway].listeners, *(listener for state in sets for listener in state.listeners)]


def _protocols(listeners: Iterable[ListenerState], lost: dict[Node, ListenerLoss]) -> None:
    for on_port in _by_port(each for each in listeners if each.protocol != "UDP"):
        if len({_family(each) for each in on_port}) < 2:
            continue
        of_gateway = {_family(each) for each in on_port if not _of_set(each)}
        of_sets: dict[object, set[str]] = defaultdict(set)
        for each in on_port:
            if _of_set(each):
                of_sets[each.node.key].add(_family(each))
        winner = next(iter(of_gateway)) if len(of_gateway) == 1 else ""
        for each in on_port:
            undecided = len(of_gateway) > 1 or (not of_gateway and len(of_sets[each.node.key]) > 1)
            if not undecided and not winner:
                winner = _family(each)
            elif undecided or _family(each) != winner:
                rivals = (other for other in on_port if _family(other) != _family(each))
                lost[each.node] = ListenerLoss("ProtocolConflict", _nodes(rivals))


def _hostnames(listeners: Iterable[ListenerState], lost: dict[Node, ListenerLoss]) -> None:
    asked = (each for each in listeners if each.protocol not in ("TCP", "UDP"))
    standing = [each for each in asked if each.node not in lost or lost[each.node].reason != "ProtocolConflict"]
    for on_port in _by_port(standing):
        by_hostname: dict[str, list[ListenerState]] = defaultdict(list)
        for each in on_port:
            by_hostname[each.hostname].append(each)
        for alike in (each for each in by_hostname.values() if len(each) > 1):
            winner = _winner(alike)
            for each in alike:
                if each is not winner:
                    rivals = [winner] if winner is not None else [other for other in alike if other is not each]
                    lost[each.node] = ListenerLoss("HostnameConflict", _nodes(rivals))


def _winner(alike: list[ListenerState]) -> ListenerState | None:
    """Return which of some listeners with one hostname is served, None for no one."""
    of_gateway = [each for each in alike if not _of_set(each)]
    if of_gateway:
        return of_gateway[0] if len(of_gateway) == 1 else None
    holders = [each.node.key for each in alike]
    return alike[0] if len(set(holders)) == len(holders) else None


def _streams(listeners: Iterable[ListenerState], lost: dict[Node, ListenerLoss]) -> None:
    kept = list(listeners)
    for protocol in ("TCP", "UDP"):
        for first, *others in _by_port(each for each in kept if each.protocol == protocol):
            for each in others:
                lost[each.node] = ListenerLoss("ProtocolConflict", (first.node,), refused=False)


def _merged(listeners: Iterable[ListenerState], lost: dict[Node, ListenerLoss]) -> None:
    seen: dict[tuple[str, str, int | None], Node] = {}
    for each in listeners:
        first = seen.setdefault((each.protocol, each.hostname, each.port), each.node)
        if first != each.node:
            refused = each.node in lost and lost[each.node].refused
            lost[each.node] = ListenerLoss("HostnameConflict", (first,), refused)


def _by_port(listeners: Iterable[ListenerState]) -> list[list[ListenerState]]:
    by_port: dict[int, list[ListenerState]] = defaultdict(list)
    for each in listeners:
        if each.port is not None:
            by_port[each.port].append(each)
    return list(by_port.values())


def _family(listener: ListenerState) -> str:
    return _SHARED.get(listener.protocol, listener.protocol)


def _of_set(listener: ListenerState) -> bool:
    return listener.holder.key.kind != "Gateway"


def _nodes(listeners: Iterable[ListenerState]) -> tuple[Node, ...]:
    return tuple(each.node for each in listeners)[:_MOST_NAMED]
