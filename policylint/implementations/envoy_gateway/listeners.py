"""What Envoy Gateway writes on listeners, Gateways and ListenerSets.

A listener that names a kind of route which its protocol does not take, or a Secret that no grant gives it, serves
nothing, whatever else it names: it is neither accepted nor programmed, and is in no listener's way
(internal/gatewayapi/{listener,validate,listenerset}.go @ v1.9.1: validateListenerSpec, validateListenerConditions,
processListenerSet; internal/gatewayapi/status/gateway.go).

Source: docs/design/implementations/envoy-gateway.md §11.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.implementations.envoy_gateway.listener_conflicts import ListenerLoss
from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState
from policylint.topology.status import ACCEPTED, NO_CONFLICTS, with_listeners

_OWN_REFUSALS = ("UnsupportedAddress", "InvalidParameters")
"""Reasons for which a Gateway is none of the controller's; that its listeners are not valid is not one of them."""
_SPARED = ("InvalidCertificateRef", "InvalidCACertificateRef", "InvalidCACertificateKind")
"""Reasons of ResolvedRefs beside which a listener is accepted."""
EMPTY = ACCEPTED._replace(message="of no listener at all: the Gateway is refused, and the ListenerSet serves nothing")
"""What the controller says of the ListenerSets of a Gateway that it refuses."""
_OF_TLS = ("InvalidParameters", "InvalidClientCertificateRef", "InvalidCACertificateRef")


def of_listener(listener: ListenerState, clash: ListenerLoss | None) -> ListenerState:
    """Return a listener with what the controller says of it: nothing of what it leaves unsaid."""
    by_type = {condition.type: condition for condition in listener.conditions}
    resolved, accepted = _resolved(listener, by_type["ResolvedRefs"]), by_type["Accepted"]
    told = [each for each in listener.conditions if each.type not in ("ResolvedRefs", "Accepted", "Conflicted")]
    of_set = listener.holder.key.kind != "Gateway"
    if resolved.status == "False" and resolved.reason not in _SPARED:
        told = [resolved]
    elif clash is not None:
        message = f"not distinct from {', '.join(map(str, clash.rivals))}"
        told += [resolved, Condition("Conflicted", "True", clash.reason, message)]
        if of_set and clash.refused:
            told.append(Condition("Accepted", "False", clash.reason, message))
    else:
        accepted = ACCEPTED if listener.conflict and accepted.reason == listener.conflict else accepted
        told += [accepted, resolved]
        if of_set and accepted.status == resolved.status == "True":
            told.append(NO_CONFLICTS)
    conflict, rivals = ("", ()) if clash is None else clash[:2]
    return listener._replace(conditions=tuple(told), conflict=conflict, conflicts_with=rivals)


def _resolved(listener: ListenerState, resolved: Condition) -> Condition:
    """Return ResolvedRefs: what is wrong with a certificate is said last, and stands."""
    fault = next((each for each in listener.references if each.reason), None)
    if resolved.reason != "InvalidRouteKinds" or fault is None:
        return resolved
    return Condition("ResolvedRefs", "False", fault.reason, fault.message)


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


def is_attached(listener_set: ListenerSetState) -> bool:
    """Tell whether the Gateway counts a ListenerSet: whether it lets it in, and accepts it."""
    return listener_set.allowed is not False and any(
        each.type == "Accepted" and each.status == "True" for each in listener_set.conditions
    )


def serves(gateway: GatewayState) -> bool:
    """Tell whether the controller makes a proxy of a Gateway of its own; if not, nothing below it has a status."""
    return not any(each.type == "Accepted" and each.reason in _OWN_REFUSALS for each in gateway.conditions)


def _accepted(listeners: Sequence[ListenerState]) -> list[bool]:
    return [
        any(condition.type == "Accepted" and condition.status == "True" for condition in listener.conditions)
        for listener in listeners
    ]
