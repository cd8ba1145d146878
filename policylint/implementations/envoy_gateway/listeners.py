"""What Envoy Gateway writes on listeners, Gateways and ListenerSets.

A listener that names a kind of route which its protocol does not take, or a Secret that no grant gives it, serves
nothing, whatever else it names: it is neither accepted nor programmed, and is in no listener's way
(internal/gatewayapi/{listener,validate,listenerset}.go @ v1.9.1: validateListenerSpec, validateListenerConditions,
processListenerSet; internal/gatewayapi/status/gateway.go).

Source: docs/design/implementations/envoy-gateway.md §11.
"""

from __future__ import annotations

from collections.abc import Sequence

from policylint.implementations.envoy_gateway import listener_faults as faults
from policylint.implementations.envoy_gateway.listener_conflicts import ListenerLoss
from policylint.model import Resource, World, sequence, text
from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState
from policylint.topology.certificates import certificates
from policylint.topology.status import (
    ACCEPTED,
    NO_CONFLICTS,
    RESOLVED,
    ClientValidation,
    client_validations,
    with_listeners,
)

EMPTY = ACCEPTED._replace(message="of no listener at all: the Gateway is refused, and the ListenerSet serves nothing")
"""What the controller says of the ListenerSets of a Gateway that it refuses."""


def of_listener(listener: ListenerState, clash: ListenerLoss | None) -> ListenerState:
    """Return a listener with what the controller says of it: nothing of what it leaves unsaid."""
    by_type = {condition.type: condition for condition in listener.conditions}
    resolved, accepted = faults.resolved(listener), by_type["Accepted"]
    told = [each for each in listener.conditions if each.type not in ("ResolvedRefs", "Accepted", "Conflicted")]
    of_set = listener.holder.key.kind != "Gateway"
    if not faults.is_known(listener):
        message = f"protocol {listener.protocol} is not known"
        told += [Condition("Accepted", "False", "UnsupportedProtocol", message), resolved]
        listener = listener._replace(supported_kinds=())
    elif (authority := faults.authority_fault(listener)) is not None:
        told += [Condition("Accepted", "False", "NoValidCACertificate", authority.message), resolved]
    elif faults.lacks_tls(listener) or not faults.is_served(resolved):
        told = [resolved]
    elif clash is not None:
        message = f"not distinct from {', '.join(map(str, clash.rivals))}"
        told += [resolved, Condition("Conflicted", "True", clash.reason, message)]
        if of_set and clash.refused:
            told.append(Condition("Accepted", "False", clash.reason, message))
    else:
        taken = accepted.reason in ("NoValidCACertificate", listener.conflict) or accepted.status == "True"
        accepted = ACCEPTED if taken else accepted
        told += [accepted, resolved]
        if of_set and accepted.status == resolved.status == "True":
            told.append(NO_CONFLICTS)
    conflict, rivals = ("", ()) if clash is None else clash[:2]
    return listener._replace(conditions=tuple(told), conflict=conflict, conflicts_with=rivals)


def of_gateway(gateway: GatewayState, world: World) -> tuple[Condition, ...]:
    """Return the conditions of a Gateway; its references are judged only where they are about TLS."""
    validations = _validations(gateway.gateway, world)
    fault = next((each for _, each in reversed(validations) if each is not None), None)
    told = []
    for condition in gateway.conditions:
        if condition.type == "Accepted" and condition.reason in ("Accepted", "ListenersNotValid") and gateway.listeners:
            told.append(with_listeners(_accepted(gateway.listeners)))
        elif condition.type == "InsecureFrontendValidationMode":
            modes = (text(validation.value.get("mode")) for validation, each in validations if each is None)
            told += [condition] if "AllowInsecureFallback" in modes else []
        elif condition.type != "ResolvedRefs":
            told.append(condition)
    certificate = next((each for each in gateway.references if each.role == "client-certificate"), None)
    if certificate is not None and certificate.reason:
        told.append(Condition("ResolvedRefs", "False", certificate.reason, certificate.message))
    elif fault is not None:
        told.append(fault._replace(reason="InvalidParameters"))
    elif gateway.gateway.spec.get("tls") is not None:
        told.append(RESOLVED)
    return tuple(told)


def _validations(gateway: Resource, world: World) -> list[tuple[ClientValidation, Condition | None]]:
    """Return the validations of clients, each with what is wrong with its CAs, whether or not a listener needs them."""
    found = []
    for validation in client_validations(gateway):
        pointer, references = (*validation.pointer, "caCertificateRefs"), validation.value.get("caCertificateRefs")
        authorities = [
            world.once(certificates).authority(gateway, (*pointer, number), reference)
            for number, reference in enumerate(sequence(references))
        ]
        found.append((validation, faults.authorities_fault(authorities)))
    return found


def of_listener_set(listener_set: ListenerSetState) -> tuple[Condition, ...]:
    """Return the conditions of a ListenerSet: as long as it is let in, by which of its listeners are accepted."""
    return tuple(
        with_listeners(_accepted(listener_set.listeners))
        if condition.reason in ("Accepted", "ListenersNotValid", "ParentNotAccepted") and listener_set.listeners
        else condition
        for condition in listener_set.conditions
    )


def is_attached(listener_set: ListenerSetState) -> bool:
    """Tell whether the Gateway counts a ListenerSet: whether it lets it in, and accepts it."""
    return listener_set.allowed is not False and any(
        each.type == "Accepted" and each.status == "True" for each in listener_set.conditions
    )


def _accepted(listeners: Sequence[ListenerState]) -> list[bool]:
    return [
        any(condition.type == "Accepted" and condition.status == "True" for condition in listener.conditions)
        for listener in listeners
    ]
