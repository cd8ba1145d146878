"""What Envoy Gateway writes on listeners, Gateways and ListenerSets, and on which parents of routes it reports.

A listener that names a kind of route which its protocol does not take, or a Secret that no grant gives it, serves
nothing, whatever else it names: it is neither accepted nor programmed, and is in no listener's way
(internal/gatewayapi/{listener,validate,listenerset}.go @ v1.9.1: validateListenerSpec, validateListenerConditions,
processListenerSet; internal/gatewayapi/status/gateway.go).

Source: docs/design/implementations/envoy-gateway.md §11.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState, ParentState, Topology
from policylint.topology.status import with_listeners

_OWN_REFUSALS = ("UnsupportedAddress", "InvalidParameters")
"""Reasons for which a Gateway is none of the controller's; that its listeners are not valid is not one of them."""
_SPARED = ("InvalidCertificateRef", "InvalidCACertificateRef", "InvalidCACertificateKind")
"""Reasons of ResolvedRefs beside which a listener is accepted."""
_OF_TLS = ("InvalidParameters", "InvalidClientCertificateRef", "InvalidCACertificateRef")


def of_listener(listener: ListenerState) -> tuple[Condition, ...]:
    """Return the conditions of a listener: without what the controller leaves unsaid."""
    by_type = {condition.type: condition for condition in listener.conditions}
    resolved = by_type["ResolvedRefs"]
    if resolved.status == "False" and resolved.reason not in _SPARED:
        return (resolved,)
    of_gateway = listener.holder.key.kind == "Gateway"
    faultless = by_type["Accepted"].status == by_type["ResolvedRefs"].status == "True"
    return tuple(
        condition
        for condition in listener.conditions
        if condition.type != "Conflicted" or condition.status == "True" or (faultless and not of_gateway)
    )


def of_gateway(gateway: GatewayState) -> tuple[Condition, ...]:
    """Return the conditions of a Gateway; its references are judged only where they are about TLS."""
    if not serves(gateway):
        return tuple(condition for condition in gateway.conditions if condition.type == "Accepted")
    told = []
    for condition in gateway.conditions:
        if condition.type == "Accepted" and condition.reason in ("Accepted", "ListenersNotValid") and gateway.listeners:
            told.append(with_listeners(_accepted(gateway.listeners)))
        elif condition.type != "ResolvedRefs" or condition.reason in _OF_TLS:
            told.append(condition)
    return tuple(told)


def of_listener_set(listener_set: ListenerSetState) -> tuple[Condition, ...]:
    """Return the conditions of a ListenerSet: as long as it is let in, by which of its listeners are accepted."""
    return tuple(
        with_listeners(_accepted(listener_set.listeners))
        if condition.reason in ("Accepted", "ListenersNotValid") and listener_set.listeners
        else condition
        for condition in listener_set.conditions
    )


def serves(gateway: GatewayState) -> bool:
    """Tell whether the controller makes a proxy of a Gateway of its own; if not, nothing below it has a status."""
    return not any(each.type == "Accepted" and each.reason in _OWN_REFUSALS for each in gateway.conditions)


def _accepted(listeners: Sequence[ListenerState]) -> list[bool]:
    return [
        any(condition.type == "Accepted" and condition.status == "True" for condition in listener.conditions)
        for listener in listeners
    ]


def reports_on(parent: ParentState, topology: Topology) -> bool:
    """Tell whether the controller writes an entry for a parent: it does for all that it serves."""
    listener_set = topology.listener_set(parent.wanted)
    if listener_set is not None and (listener_set.allowed is False or not listener_set.listeners):
        return False
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    return gateway is None or serves(gateway)
