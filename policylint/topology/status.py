"""Conditions of routes, listeners, Gateways and ListenerSets (docs/design/request-precedence.md §7 and §9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from policylint.documents import Pointer
from policylint.model import (
    Node,
    Resolution,
    Resource,
    ResourceKey,
    World,
    integer,
    is_symbolic,
    mapping,
    sequence,
    text,
    value_at,
)
from policylint.namedtuple import NamedTuple
from policylint.topology.certificates import Certificates
from policylint.topology.gateways import Holder, Holders
from policylint.topology.parents import ParentClaim
from policylint.topology.references import NAMELESS
from policylint.topology.routes import RouteFault
from policylint.topology.state import (
    BackendState,
    Condition,
    GatewayState,
    ListenerSetState,
    ListenerState,
    ParentState,
    ReferenceState,
)

if TYPE_CHECKING:
    from policylint.topology.listeners import Listener

ACCEPTED = Condition("Accepted", "True", "Accepted")
RESOLVED = Condition("ResolvedRefs", "True", "ResolvedRefs")
NO_CONFLICTS = Condition("Conflicted", "False", "NoConflicts")
OVERLAPPING = Condition(
    "OverlappingTLSConfig", "True", "OverlappingHostnames", "another listener on the port may take the same hosts"
)
FURTHEST = ("NotAllowedByListeners", "NoMatchingListenerHostname", "RouteConflict")
"""Failures in the order of the tests of §3; the candidate that came furthest gives the reason."""
ADDRESS_TYPES = ("", "IPAddress", "Hostname", "NamedAddress")


def parent_state(claim: ParentClaim, faults: Sequence[RouteFault], rules: int, resolved: Condition) -> ParentState:
    """Return the state of one parentRef: Accepted from its candidates, ResolvedRefs from the route's backends."""
    holder = claim.holder
    conditions = [_accepted(claim, faults, rules), resolved]
    if conditions[0].status == "True" and faults:
        conditions.append(Condition("PartiallyInvalid", "True", "UnsupportedValue", faults[0].message))
    return ParentState(
        number=claim.number,
        pointer=claim.pointer,
        wanted=claim.target.key,
        section=claim.target.section,
        port=claim.target.port,
        text=claim.text,
        resolution=claim.resolution,
        section_found=claim.section_found,
        mesh=claim.mesh,
        candidates=tuple(claim.candidates),
        gateway=holder.gateway.key if holder is not None and holder.gateway is not None else None,
        controller=holder.controller if holder is not None else "",
        conditions=tuple(conditions),
        unseen=claim.unseen,
    )


def _accepted(claim: ParentClaim, faults: Sequence[RouteFault], rules: int) -> Condition:
    if claim.resolution.missing:
        return Condition("Accepted", "False", "NoMatchingParent", claim.resolution.reason)
    if claim.resolution.unknown and (claim.mesh or claim.unseen is not None):
        return Condition("Accepted", "Unknown", "Pending", claim.resolution.reason)
    if claim.section_found is False:
        return Condition("Accepted", "False", "NoMatchingParent", f"{claim.target.key} has no such listener or port")
    failures = [candidate for candidate in claim.candidates if candidate.failure]
    if failures and len(failures) == len(claim.candidates):
        worst = max(failures, key=lambda candidate: FURTHEST.index(candidate.failure))
        return Condition("Accepted", "False", worst.failure, worst.message)
    incompatible = next((fault for fault in faults if fault.reason == "IncompatibleFilters"), None)
    if incompatible is not None:
        return Condition("Accepted", "False", incompatible.reason, incompatible.message)
    if faults and len(faults) == rules:
        return Condition("Accepted", "False", faults[0].reason, faults[0].message)
    return ACCEPTED


def resolved(references: Iterable[BackendState | ReferenceState]) -> Condition:
    """Return ResolvedRefs of a route or listener: the reason of the first reference that fails (§9)."""
    failing = next((reference for reference in references if reference.reason), None)
    return Condition("ResolvedRefs", "False", failing.reason, failing.message) if failing else RESOLVED


class Statuses:
    """Works out the states of Gateways and ListenerSets once the routes are attached."""

    __slots__ = ("_attached", "_certificates", "_holders", "_world")

    def __init__(self, world: World, holders: Holders, certificates: Certificates, attached: Counter[Node]) -> None:
        self._world = world
        self._holders = holders
        self._certificates = certificates
        self._attached = attached

    def gateway(self, holder: Holder, listener_sets: int) -> GatewayState:
        """Return a Gateway's state; `listener_sets` is the number of ListenerSets it accepted."""
        resource = holder.resource
        references = [*self._client_certificate(resource), *self._parameters(resource)]
        listeners = tuple(self._listener(listener, holder) for listener in holder.listeners.values())
        conditions = [_gateway_accepted(resource, references, listeners), _gateway_resolved(references, listeners)]
        if holder.resolution.missing:
            # What the API server writes into a new Gateway; without a class no controller ever replaces it.
            message = f"waiting for a controller: {holder.resolution.reason}"
            conditions = [Condition("Accepted", "Unknown", "Pending", message)]
        elif any(
            text(validation.value.get("mode")) == "AllowInsecureFallback" for validation in client_validations(resource)
        ):
            message = "client certificates are asked for, but not required"
            conditions.append(Condition("InsecureFrontendValidationMode", "True", "ConfigurationChanged", message))
        return GatewayState(
            gateway=resource,
            class_key=holder.parent,
            class_resolution=holder.resolution,
            controller=holder.controller,
            conditions=tuple(conditions),
            listeners=listeners,
            attached_listener_sets=listener_sets,
            references=tuple(references),
        )

    def listener_set(self, holder: Holder, gateway_accepted: bool) -> ListenerSetState:
        """Return a ListenerSet's state: admitted by its Gateway, and at least one listener wholly valid (§9)."""
        listeners = tuple(self._listener(listener, holder) for listener in holder.listeners.values())
        valid = [all(_holds(listener, kind) for kind in ("Accepted", "ResolvedRefs")) for listener in listeners]
        if holder.allowed is False:
            condition = Condition("Accepted", "False", "NotAllowed", holder.refused)
        elif holder.refused or not gateway_accepted:
            message = holder.refused or f"{holder.parent} is not accepted"
            condition = Condition("Accepted", "False", "ParentNotAccepted", message)
        elif holder.unseen and holder.resolution.unknown:
            condition = Condition("Accepted", "Unknown", "Pending", holder.resolution.reason)
        else:
            condition = with_listeners(valid)
        return ListenerSetState(
            listener_set=holder.resource,
            parent=holder.parent,
            resolution=holder.resolution,
            allowed=holder.allowed,
            controller=holder.controller,
            conditions=(condition,),
            listeners=listeners,
        )

    def _listener(self, listener: Listener, holder: Holder) -> ListenerState:
        certificates = self._listener_certificates(listener)
        authorities = self._authorities(listener, holder)
        conflict = self._holders.conflicts.get(listener.node)
        accepted, conflicted = ACCEPTED, NO_CONFLICTS
        if conflict is not None:
            message = f"not distinct from {', '.join(map(str, conflict.rivals))}"
            accepted = Condition("Accepted", "False", conflict.reason, message)
            conflicted = Condition("Conflicted", "True", conflict.reason, message)
        elif not listener.supported_protocol:
            message = f"protocol {listener.protocol} is not known"
            accepted = Condition("Accepted", "False", "UnsupportedProtocol", message)
        elif authorities and all(reference.reason for reference in authorities):
            accepted = Condition("Accepted", "False", "NoValidCACertificate", authorities[0].message)
        return ListenerState(
            name=listener.name,
            node=listener.node,
            holder=listener.holder,
            pointer=listener.pointer,
            gateway=holder.gateway.key if holder.gateway is not None else None,
            protocol=listener.protocol,
            port=listener.port,
            hostname=listener.hostname,
            supported_kinds=listener.kinds,
            attached_routes=self._attached[listener.node],
            conditions=(
                accepted,
                conflicted,
                _listener_resolved(listener, (*certificates, *authorities)),
                *((OVERLAPPING,) if listener.node in self._holders.overlapping else ()),
            ),
            references=(*certificates, *authorities),
            conflict=conflict.reason if conflict is not None else "",
            conflicts_with=conflict.rivals if conflict is not None else (),
        )

    def _listener_certificates(self, listener: Listener) -> tuple[ReferenceState, ...]:
        tls = mapping(listener.value.get("tls"))
        if text(tls.get("mode")) == "Passthrough" or listener.protocol in ("HTTP", "TCP", "UDP"):
            return ()
        place = (*listener.pointer, "tls", "certificateRefs")
        return tuple(
            self._certificates.certificate(
                listener.holder, (*place, index), reference, "certificate", "InvalidCertificateRef"
            )
            for index, reference in enumerate(sequence(tls.get("certificateRefs")))
        )

    def _authorities(self, listener: Listener, holder: Holder) -> tuple[ReferenceState, ...]:
        """Return the CAs of the client validation of a listener's port: `perPort` before `default` (§9)."""
        gateway = holder.gateway
        if gateway is None or listener.protocol not in ("HTTPS", "TLS"):
            return ()
        validation = client_validation(gateway, listener.port)
        return tuple(
            self._certificates.authority(gateway, (*validation.pointer, "caCertificateRefs", index), reference)
            for index, reference in enumerate(sequence(validation.value.get("caCertificateRefs")))
        )

    def _client_certificate(self, gateway: Resource) -> list[ReferenceState]:
        reference = mapping(mapping(gateway.spec.get("tls")).get("backend")).get("clientCertificateRef")
        if not isinstance(reference, dict):
            return []
        place = ("spec", "tls", "backend", "clientCertificateRef")
        return [
            self._certificates.certificate(
                gateway, place, reference, "client-certificate", "InvalidClientCertificateRef"
            )
        ]

    def _parameters(self, gateway: Resource) -> list[ReferenceState]:
        reference = mapping(gateway.spec.get("infrastructure")).get("parametersRef")
        if not isinstance(reference, dict):
            return []
        group, kind, name = (text(reference.get(field)) for field in ("group", "kind", "name"))
        key = ResourceKey(group, kind, gateway.key.namespace, name)
        resolution = self._world.resolve_inner(key) if name else NAMELESS
        cluster_wide = key._replace(namespace="")
        if not resolution.found and self._world.get(cluster_wide) is not None:
            key, resolution = cluster_wide, Resolution("found", resource=self._world.get(cluster_wide))
        reason, message = ("InvalidParameters", resolution.reason) if resolution.missing else ("", "")
        place = ("spec", "infrastructure", "parametersRef")
        return [ReferenceState("parameters", gateway, place, key, resolution, True, reason, message)]


def _gateway_accepted(
    gateway: Resource, references: Sequence[ReferenceState], listeners: Sequence[ListenerState]
) -> Condition:
    for reference in references:
        if reference.reason == "InvalidParameters":
            return Condition("Accepted", "False", reference.reason, reference.message)
    for address in map(mapping, sequence(gateway.spec.get("addresses"))):
        kind = text(address.get("type"))
        if kind not in ADDRESS_TYPES and not is_symbolic(kind):
            return Condition("Accepted", "False", "UnsupportedAddress", f"address type {kind} is not known")
    return with_listeners([_holds(listener, "Accepted") for listener in listeners]) if listeners else ACCEPTED


def with_listeners(valid: Sequence[bool]) -> Condition:
    """Return Accepted of an object by whether each of its listeners is valid."""
    if not any(valid):
        return Condition("Accepted", "False", "ListenersNotValid", "no listener is valid")
    if not all(valid):
        return Condition("Accepted", "True", "ListenersNotValid", "some listeners are not valid")
    return ACCEPTED


def _gateway_resolved(references: Sequence[ReferenceState], listeners: Sequence[ListenerState]) -> Condition:
    """Return ResolvedRefs of a Gateway: its client certificate towards backends, then its listeners."""
    for reference in references:
        if reference.role == "client-certificate" and reference.reason:
            return Condition("ResolvedRefs", "False", reference.reason, reference.message)
    if not all(_holds(listener, "ResolvedRefs") for listener in listeners):
        return Condition("ResolvedRefs", "False", "ListenersNotResolved", "a listener has an unresolved reference")
    return RESOLVED


def _listener_resolved(listener: Listener, references: Sequence[ReferenceState]) -> Condition:
    if listener.invalid:
        message = f"protocol {listener.protocol} does not take {', '.join(kind for kind, _ in listener.invalid)}"
        return Condition("ResolvedRefs", "False", "InvalidRouteKinds", message)
    return resolved(references)


class ClientValidation(NamedTuple):
    """The validation of client certificates on a port of a Gateway, None for the default (GatewaySpec.TLS.Frontend)."""

    pointer: Pointer
    value: Mapping[str, Any]
    port: int | None


def client_validations(gateway: Resource) -> list[ClientValidation]:
    """Return the client validations of a Gateway, the default one first."""
    frontend = mapping(mapping(gateway.spec.get("tls")).get("frontend"))
    place = ("spec", "tls", "frontend")
    default = mapping(mapping(frontend.get("default")).get("validation"))
    validations = [ClientValidation((*place, "default", "validation"), default, None)]
    for index, config in enumerate(map(mapping, sequence(frontend.get("perPort")))):
        pointer = (*place, "perPort", index, "tls", "validation")
        value = mapping(mapping(config.get("tls")).get("validation"))
        validations.append(ClientValidation(pointer, value, integer(config.get("port"))))
    return validations


def client_validation(gateway: Resource, port: int | None) -> ClientValidation:
    """Return the client validation of a port: its own, else the default."""
    default, *others = client_validations(gateway)
    return next((validation for validation in others if port is not None and validation.port == port), default)


def tls_of(listener: ListenerState) -> Mapping[str, Any]:
    """Return what a listener says of its TLS, empty for nothing."""
    return mapping(mapping(value_at(listener.holder.body, listener.pointer)).get("tls"))


def is_passthrough(listener: ListenerState) -> bool:
    """Return whether a TLS listener forwards the session unopened."""
    return text(tls_of(listener).get("mode")) == "Passthrough"


def _holds(listener: ListenerState, kind: str) -> bool:
    return all(condition.status == "True" for condition in listener.conditions if condition.type == kind)
