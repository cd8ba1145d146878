"""Gateways, ListenerSets and their listeners as the controller reports them.

Listeners of a Gateway are never told to be in conflict, and serve all the same; those of a ListenerSet are, with what
comes before them on their port. What is wrong with TLS is fatal, but for CAs of which one is there.

Source: controller/pkg/agentgateway/translator/{gateway_collection,conversion,conditions}.go, syncer/syncer.go and
reports/status.go @ v1.4.1. Seen by tests/witness (agentgateway).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from policylint.implementations.generic.listener_references import Fault, fault_of, seen_from
from policylint.model import Node, is_symbolic, mapping, sequence, text, value_at
from policylint.namedtuple import NamedTuple
from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState, ParentState, Topology
from policylint.topology.listener_conflicts import Conflict
from policylint.topology.status import ACCEPTED, NO_CONFLICTS, RESOLVED, tls_of

_SERVED = ("HTTP", "HTTPS", "TLS", "TCP", "HBONE")
_MODE = "gateway.istio.io/tls-terminate-mode"
_OF_THE_MESH = ("ISTIO_SIMPLE", "ISTIO_MUTUAL")
"""Values of the option `_MODE` with which a listener shows the certificate of its workload."""
_OF_CAS = ("InvalidCACertificateRef", "InvalidCACertificateKind")
_PARAMETERS = "AgentgatewayParameters"
_ADDRESSES = ("IPAddress", "Hostname")


class _TlsFault(NamedTuple):
    """What is wrong with the TLS of a listener.

    Args:
        fatal: whether it serves nothing for it.
        of_cas: whether it is about the CAs that clients are asked for.
    """

    reason: str
    message: str
    fatal: bool = True
    of_cas: bool = False


def of_gateway(state: GatewayState, topology: Topology) -> GatewayState:
    """Return a Gateway as the controller reports it; one whose addresses all fail, without its listeners."""
    listeners = tuple(_of_listener(each, topology) for each in state.listeners)
    invalid = [each for each in listeners if not stands(each, topology)]
    accepted = ACCEPTED
    if not _has_services(state):
        listeners = tuple(_bare(each) for each in state.listeners)
        accepted = Condition("Accepted", "False", "Invalid", "of its addresses none is a hostname")
    elif invalid:
        some = any(each.status == "True" for own in listeners for each in own.conditions if each.type == "Accepted")
        names = ", ".join(each.name for each in invalid)
        accepted = Condition(
            "Accepted", "True" if some else "False", "ListenersNotValid", f"some listeners are not accepted: {names}"
        )
    unknown = [kind for kind, _ in _addresses(state) if kind not in ("", *_ADDRESSES) and not is_symbolic(kind)]
    if unknown:
        accepted = Condition("Accepted", "False", "UnsupportedAddress", f"{unknown[0]} is no kind of address")
    parameters = mapping(mapping(state.gateway.spec.get("infrastructure")).get("parametersRef"))
    kind = text(parameters.get("kind"))
    if parameters and _PARAMETERS not in kind and not is_symbolic(kind):
        message = f"{kind} is no kind of parameters that agentgateway reads"
        accepted = Condition("Accepted", "False", "InvalidParameters", message)
    told = {each.type: each for each in state.conditions} | {"Accepted": accepted}
    del told["ResolvedRefs"]
    if mapping(state.gateway.spec.get("tls")).get("backend") is not None:
        fault = _of_client_certificate(state, topology) if any(map(_tells_of_clients, listeners)) else None
        told["ResolvedRefs"] = RESOLVED if fault is None else Condition("ResolvedRefs", "False", *fault)
    of_sets = conflicts(state, topology)
    attached = sum(
        any(each.node not in of_sets and stands(each, topology) for each in of_set(held, topology).listeners)
        for held in _sets_of(state, topology)
    )
    return state._replace(
        listeners=listeners,
        conditions=tuple(told.values()),
        attached_listener_sets=attached if _has_services(state) else 0,
    )


def of_set(state: ListenerSetState, topology: Topology) -> ListenerSetState:
    """Return a ListenerSet as the controller reports it; one that is not let in, without its listeners."""
    gateway = topology.gateway(state.parent)
    if gateway is None or gateway.class_resolution.missing:
        return state
    if state.allowed is False:
        return state._replace(listeners=tuple(each._replace(conditions=()) for each in state.listeners))
    lost = conflicts(gateway, topology)
    listeners = tuple(_of_listener(each, topology) for each in state.listeners)
    failing = [each for each in listeners if not stands(each, topology) or each.node in lost]
    listeners = tuple(_in_conflict(each, lost.get(each.node), topology) for each in listeners)
    if not _has_services(gateway):
        listeners = tuple(each._replace(attached_routes=0) for each in listeners)
    accepted = ACCEPTED
    if failing:
        names = ", ".join(each.name for each in failing)
        status: Literal["True", "False"] = (
            "True" if len(failing) < len(listeners) and _has_services(gateway) else "False"
        )
        accepted = Condition("Accepted", status, "ListenersNotValid", f"some listeners are not accepted: {names}")
    return state._replace(listeners=listeners, conditions=(accepted,))


def conflicts(gateway: GatewayState, topology: Topology) -> Mapping[Node, Conflict]:
    """Return the listeners of ListenerSets that are not distinct from one before them: those of the Gateway come first,
    then those of its sets by their names, whatever their age. Listeners for other namespaces are distinct."""
    if not _has_services(gateway):
        return {}
    lost: dict[Node, Conflict] = {}
    taken: dict[int, tuple[ListenerState, dict[str, Node]]] = {}
    listeners = [*gateway.listeners, *(each for held in _sets_of(gateway, topology) for each in held.listeners)]
    for listener in listeners:
        if listener.port is None or is_symbolic(listener.protocol) or is_symbolic(listener.hostname):
            continue
        hosts = list(_hosts(listener, topology))
        if listener.port not in taken:
            taken[listener.port] = listener, dict.fromkeys(hosts, listener.node)
            continue
        first, held = taken[listener.port]
        rival = next((held[host] for host in hosts if host in held), None)
        if first.protocol != listener.protocol:
            lost[listener.node] = Conflict("ProtocolConflict", (first.node,))
        elif rival is not None:
            lost[listener.node] = Conflict("HostnameConflict", (rival,))
        else:
            held |= dict.fromkeys(hosts, listener.node)
    return {node: conflict for node, conflict in lost.items() if node.key.kind != "Gateway"}


def _hosts(listener: ListenerState, topology: Topology) -> Iterator[str]:
    """Yield the hosts of a listener, each with a namespace of which it takes routes."""
    allowed = mapping(mapping(value_at(listener.holder.body, listener.pointer)).get("allowedRoutes"))
    namespaces = mapping(allowed.get("namespaces"))
    homes = [listener.holder.key.namespace]
    if text(namespaces.get("from"), "Same") == "All":
        homes = ["*"]
    elif text(namespaces.get("from"), "Same") == "Selector":
        world = topology.world
        chosen = world.selected("", "Namespace", mapping(namespaces.get("selector")))
        homes = [each.key.name for each in chosen] or ["~"]
    yield from (f"{home}/{listener.hostname or '*'}" for home in homes)


def stands(listener: ListenerState, topology: Topology) -> bool:
    """Tell whether a listener is programmed: its protocol is served, and nothing fatal is wrong with its TLS."""
    fault = _of_tls(listener, topology)
    return _is_served(listener) and (fault is None or not fault.fatal)


def has_parents(parent: ParentState, topology: Topology) -> bool:
    """Tell whether a route's parent has any listener that a controller makes something of."""
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    held = topology.listener_set(parent.wanted)
    if gateway is not None and (gateway.class_resolution.missing or not _has_services(gateway)):
        return False
    return held is None or held.allowed is not False


def _of_listener(listener: ListenerState, topology: Topology) -> ListenerState:
    by_type = {each.type: each for each in listener.conditions}
    written = mapping(value_at(listener.holder.body, listener.pointer))
    named = [text(mapping(each).get("kind")) for each in sequence(mapping(written.get("allowedRoutes")).get("kinds"))]
    kinds = listener.supported_kinds if _is_served(listener) else ()
    wrong_kinds = by_type["ResolvedRefs"] if by_type["ResolvedRefs"].reason == "InvalidRouteKinds" else None
    if (named and not kinds) or len(set(named)) < len(named):
        wrong_kinds = Condition("ResolvedRefs", "False", "InvalidRouteKinds", "kinds that it does not take")
    by_type |= {"Accepted": ACCEPTED, "Conflicted": NO_CONFLICTS, "ResolvedRefs": RESOLVED}
    fault = _of_tls(listener, topology)
    gateway = None if listener.gateway is None else topology.gateway(listener.gateway)
    client = _of_client_certificate(gateway, topology) if fault is None and gateway is not None else None
    if fault is not None:
        by_type["ResolvedRefs"] = Condition("ResolvedRefs", "False", fault.reason, fault.message)
    elif client is not None:
        by_type["ResolvedRefs"] = Condition("ResolvedRefs", "False", *client)
    if fault is not None and fault.fatal:
        if listener.holder.key.kind != "Gateway":
            by_type["Accepted"] = Condition("Accepted", "False", "ListenersNotValid", fault.message)
        elif fault.of_cas:
            by_type["Accepted"] = Condition("Accepted", "False", "NoValidCACertificate", fault.message)
    if not _is_served(listener):
        message = f"protocol {listener.protocol} is not supported"
        by_type["Accepted"] = Condition("Accepted", "False", "UnsupportedProtocol", message)
    if wrong_kinds is not None:
        by_type["ResolvedRefs"] = wrong_kinds
    return listener._replace(conditions=tuple(by_type.values()), supported_kinds=kinds, conflict="", conflicts_with=())


def _in_conflict(listener: ListenerState, conflict: Conflict | None, topology: Topology) -> ListenerState:
    if conflict is None or not stands(listener, topology):
        return listener
    message = f"not distinct from {', '.join(map(str, conflict.rivals))}"
    by_type = {each.type: each for each in listener.conditions} | {
        "Accepted": Condition("Accepted", "False", conflict.reason, message),
        "Conflicted": Condition("Conflicted", "True", conflict.reason, message),
    }
    return listener._replace(
        conditions=tuple(by_type.values()), conflict=conflict.reason, conflicts_with=conflict.rivals
    )


def _bare(listener: ListenerState) -> ListenerState:
    """Return a listener of which the controller makes nothing, and says that all is well."""
    return listener._replace(
        conditions=(ACCEPTED, NO_CONFLICTS, RESOLVED), supported_kinds=(), attached_routes=0, conflict=""
    )


def _is_served(listener: ListenerState) -> bool:
    return listener.protocol in _SERVED or is_symbolic(listener.protocol)


def _of_tls(listener: ListenerState, topology: Topology) -> _TlsFault | None:
    """Return what is wrong with the certificate of a listener, of which it takes one, or with its clients' CAs."""
    tls = tls_of(listener)
    if not tls or text(tls.get("mode"), "Terminate") != "Terminate":
        return None
    if mapping(tls.get("options")).get(_MODE) in _OF_THE_MESH:
        return None
    certificates = [each for each in listener.references if each.role == "certificate"]
    if len(certificates) != 1:
        return _TlsFault("InvalidCertificateRef", "agentgateway takes exactly one certificate")
    if (fault := fault_of(certificates[0], topology.world)) is not None:
        return _TlsFault(*fault)
    authorities = [each for each in listener.references if each.role == "ca"]
    seen = (seen_from(each, number, listener, topology) for number, each in enumerate(authorities))
    faults = [fault for each in seen if (fault := fault_of(each, topology.world)) is not None]
    if not faults:
        return None
    reason, message = faults[0]
    return _TlsFault(reason, message, len(faults) == len(authorities), of_cas=reason in (*_OF_CAS, "RefNotPermitted"))


def _of_client_certificate(gateway: GatewayState, topology: Topology) -> Fault | None:
    """Return what is wrong with the certificate that a Gateway shows to backends."""
    references = (each for each in gateway.references if each.role == "client-certificate")
    return next(filter(None, (fault_of(each, topology.world) for each in references)), None)


def _tells_of_clients(listener: ListenerState) -> bool:
    """Tell whether ResolvedRefs of a listener is about the certificate that its Gateway shows to backends."""
    return any(
        each.type == "ResolvedRefs" and each.reason in ("InvalidClientCertificateRef", "RefNotPermitted")
        for each in listener.conditions
    )


def _sets_of(gateway: GatewayState, topology: Topology) -> list[ListenerSetState]:
    found = [
        held for held in topology.listener_sets if held.parent == gateway.gateway.key and held.allowed is not False
    ]
    return sorted(found, key=lambda held: (held.listener_set.key.namespace, held.listener_set.key.name))


def _addresses(state: GatewayState) -> list[tuple[str, bool]]:
    """Return the kinds of the addresses of a Gateway, "" for one that states none, and whether each is served."""
    kinds = [text(mapping(each).get("type")) for each in sequence(state.gateway.spec.get("addresses"))]
    return [(kind, kind in ("", "Hostname") or is_symbolic(kind)) for kind in kinds]


def _has_services(state: GatewayState) -> bool:
    """Tell whether anything comes of a Gateway: without addresses, with one IP address, or with any hostname."""
    addresses = _addresses(state)
    managed = not addresses or (len(addresses) == 1 and addresses[0][0] in ("", "IPAddress"))
    return managed or any(served for _, served in addresses)
