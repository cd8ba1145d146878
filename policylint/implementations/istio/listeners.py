"""Gateways, ListenerSets and their listeners as istiod reports them, and which listeners may be parents of routes.

Of listeners that are not distinct the first one stands: those of the Gateway as written, then those of its ListenerSets
by age. A listener is valid where it stands, its protocol is served, and there is what its TLS needs.

Source: docs/design/implementations/istio.md §8; pilot/pkg/config/kube/gateway/{gateway_collection,conversion}.go and
gatewaycommon/{conversion,listener_conflict,gateway_utils}.go (1.31).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policylint.implementations.generic.listener_references import Fault, fault_of, seen_from
from policylint.implementations.istio.labels import EAST_WEST_CONTROLLER, MESH_CONTROLLER, OWN_CLASSES
from policylint.model import Node, World, is_symbolic, mapping, sequence, text, value_at
from policylint.topology import (
    Condition,
    GatewayState,
    ListenerSetState,
    ListenerState,
    ParentState,
    ReferenceState,
    Topology,
)
from policylint.topology.listener_conflicts import Conflict
from policylint.topology.status import ACCEPTED, NO_CONFLICTS, RESOLVED, tls_of, with_listeners

_SERVED = ("HTTP", "HTTPS", "TLS", "TCP")
_STREAMS = ("TCP", "UDP")
_SESSIONS = ("HTTPS", "TLS")
_REMOTE = OWN_CLASSES["istio-remote"]

_TUNNEL = 15008
"""The port of HBONE."""
_MODE = "gateway.istio.io/tls-terminate-mode"
_OF_THE_MESH = ("ISTIO_SIMPLE", "ISTIO_MUTUAL")
"""Values of the option `_MODE` with which a listener shows the certificate of its workload."""
_MOST_CERTIFICATES = 2
_NO_CA = ("InvalidCACertificateRef", "InvalidCACertificateKind", "RefNotPermitted")
"""Faults for which a listener is not accepted; with any other one it is, and not programmed."""


def conflicts(gateway: GatewayState, topology: Topology) -> Mapping[Node, Conflict]:
    """Return the listeners of a Gateway and the ListenerSets it lets in that are not distinct from one that stands."""
    sets = [each for each in topology.listener_sets if each.parent == gateway.gateway.key and each.allowed is not False]
    sets.sort(key=lambda each: each.listener_set.age)
    lost: dict[Node, Conflict] = {}
    standing: dict[int, list[ListenerState]] = {}
    for listener in (*gateway.listeners, *(each for state in sets for each in state.listeners)):
        if listener.port is None or is_symbolic(listener.protocol) or is_symbolic(listener.hostname):
            continue
        on_port = standing.setdefault(listener.port, [])
        rival = next((each for each in on_port if not _distinct(each, listener)), None)
        if rival is None:
            on_port.append(listener)
            continue
        alike = rival.protocol == listener.protocol and listener.protocol not in _STREAMS
        lost[listener.node] = Conflict("HostnameConflict" if alike else "ProtocolConflict", (rival.node,))
    return lost


def _distinct(one: ListenerState, other: ListenerState) -> bool:
    """Tell whether two listeners of a port are: those with hostnames by these, whatever their protocols."""
    return one.protocol not in _STREAMS and other.protocol not in _STREAMS and one.hostname != other.hostname


def of_gateway(state: GatewayState, topology: Topology) -> GatewayState:
    """Return a Gateway as istiod reports it; where it has no address, or none of its own, nothing of its listeners."""
    if state.controller == _REMOTE:
        silent = tuple(each._replace(conditions=()) for each in state.listeners)
        return state._replace(listeners=silent, conditions=(ACCEPTED,), attached_listener_sets=0)
    lost = conflicts(state, topology)
    listeners = tuple(_of_listener(each, lost.get(each.node), topology) for each in state.listeners)
    fault = _of_addresses(state) or _of_parameters(state)
    accepted = with_listeners([is_valid(each, topology) for each in listeners]) if listeners else ACCEPTED
    if fault is not None:
        accepted = Condition("Accepted", "False", *fault)
    told = {each.type: each for each in state.conditions} | {
        "Accepted": accepted,
        "ResolvedRefs": _resolved(state, topology.world),
    }
    if not is_programmed(state):
        listeners = tuple(each._replace(conditions=()) for each in listeners)
    sets = (each for each in topology.listener_sets if each.parent == state.gateway.key)
    attached = sum(any(is_parent(own, topology) for own in of_set(each, topology).listeners) for each in sets)
    return state._replace(listeners=listeners, conditions=tuple(told.values()), attached_listener_sets=attached)


def of_set(state: ListenerSetState, topology: Topology) -> ListenerSetState:
    """Return a ListenerSet as istiod reports it: accepted with any valid listener, whatever its Gateway's are."""
    silent = state._replace(listeners=tuple(each._replace(conditions=()) for each in state.listeners))
    gateway = topology.gateway(state.parent)
    if gateway is None:
        return state
    if gateway.controller in (MESH_CONTROLLER, _REMOTE):
        message = f"{gateway.class_key.name} takes no ListenerSets"
        return silent._replace(conditions=(Condition("Accepted", "False", "NotAllowed", message),))
    if state.allowed is False:
        return silent
    fault = _of_addresses(gateway)
    if not is_programmed(gateway):
        assert fault is not None
        return silent._replace(conditions=(Condition("Accepted", "False", *fault),))
    lost = conflicts(gateway, topology)
    listeners = tuple(_of_listener(each, lost.get(each.node), topology) for each in state.listeners)
    accepted = ACCEPTED
    if fault is not None:
        accepted = Condition("Accepted", "False", *fault)
    elif not any(is_valid(each, topology) for each in listeners):
        accepted = with_listeners([False])
    return state._replace(listeners=listeners, conditions=(accepted,))


def is_programmed(gateway: GatewayState) -> bool:
    """Tell whether anything comes of a Gateway: one for Services of its own names at least one of them by hostname."""
    addresses = _addresses(gateway)
    return not _of_addresses(gateway) or "Hostname" in addresses


def is_parent(listener: ListenerState, topology: Topology) -> bool:
    """Tell whether routes may have a listener for their parent: valid ones, and such of a Gateway as lack certificates.

    One for TLS that says nothing of TLS has none.
    """
    if not listener.conditions or listener.conflict or (listener.protocol in _SESSIONS and not tls_of(listener)):
        return False
    return listener.holder.key.kind == "Gateway" or is_valid(listener, topology)


def is_valid(listener: ListenerState, topology: Topology) -> bool:
    """Tell whether a listener counts as valid; the kinds of routes that it names do not matter.

    What is wrong with them is said in place of what is wrong with its TLS.
    """
    faults = [each.reason for each in listener.conditions if each.status == "False" and each.type != "Conflicted"]
    return faults == [] or (faults == ["InvalidRouteKinds"] and _of_tls(listener, topology) is None)


def has_parents(parent: ParentState, topology: Topology) -> bool:
    """Tell whether a Gateway or ListenerSet has any listener, named or not, that a route may ask."""
    holder = topology.listener_set(parent.wanted) or topology.gateway(parent.wanted)
    if holder is None:
        return True
    gateway = None if parent.gateway is None else topology.gateway(parent.gateway)
    if gateway is not None and gateway.controller == MESH_CONTROLLER:
        return False
    return any(is_parent(each, topology) for each in holder.listeners)


def _of_listener(listener: ListenerState, conflict: Conflict | None, topology: Topology) -> ListenerState:
    unserved = _unserved(listener, topology)
    takes_routes = listener.protocol in _SERVED or is_symbolic(listener.protocol)
    kinds = listener.supported_kinds if takes_routes else ()
    written = mapping(value_at(listener.holder.body, listener.pointer))
    named = [text(mapping(each).get("kind")) for each in sequence(mapping(written.get("allowedRoutes")).get("kinds"))]
    by_type = {each.type: each for each in listener.conditions}
    wrong_kinds = by_type["ResolvedRefs"] if by_type["ResolvedRefs"].reason == "InvalidRouteKinds" else None
    if (named and not takes_routes) or len(set(named)) < len(named):
        message = "a kind of route is named twice" if takes_routes else f"{listener.protocol} takes no routes"
        wrong_kinds = Condition("ResolvedRefs", "False", "InvalidRouteKinds", message)
    if conflict is not None:
        message = f"not distinct from {', '.join(map(str, conflict.rivals))}"
        by_type["Accepted"] = Condition("Accepted", "False", conflict.reason, message)
        by_type["Conflicted"] = Condition("Conflicted", "True", conflict.reason, message)
        del by_type["ResolvedRefs"]
    else:
        fault = _of_tls(listener, topology)
        by_type |= {"Accepted": ACCEPTED, "Conflicted": NO_CONFLICTS}
        by_type["ResolvedRefs"] = RESOLVED if fault is None else Condition("ResolvedRefs", "False", *fault)
        of_set = listener.holder.key.kind != "Gateway"
        if unserved or (of_set and listener.protocol in _SESSIONS and not tls_of(listener)):
            message = unserved or "nothing is said of its TLS"
            by_type["Accepted"] = Condition("Accepted", "False", "UnsupportedProtocol", message)
        elif fault is not None and fault[0] in _NO_CA:
            by_type["Accepted"] = Condition("Accepted", "False", "NoValidCACertificate", fault[1])
    if wrong_kinds is not None:
        by_type["ResolvedRefs"] = wrong_kinds
    listener = listener._replace(
        conditions=tuple(by_type.values()),
        supported_kinds=kinds,
        conflict="" if conflict is None else conflict.reason,
        conflicts_with=() if conflict is None else conflict.rivals,
    )
    return listener if is_parent(listener, topology) else listener._replace(attached_routes=0)


def _of_tls(listener: ListenerState, topology: Topology) -> Fault | None:
    """Return what is wrong with the certificates of a listener, or with the CA that it asks clients for.

    One certificate that is there is enough, and of CAs only one may be named.
    """
    certificates = [each for each in listener.references if each.role == "certificate"]
    if not certificates or mapping(tls_of(listener).get("options")).get(_MODE) in _OF_THE_MESH:
        return None
    if len(certificates) > _MOST_CERTIFICATES:
        return "InvalidCertificateRef", f"Istio takes {_MOST_CERTIFICATES} certificates at most"
    faults = [fault_of(each, topology.world) for each in certificates]
    if all(faults):
        return faults[0]
    authorities = [each for each in listener.references if each.role == "ca"]
    if len(authorities) > 1:
        return "InvalidCACertificateRef", "Istio takes one CA"
    return fault_of(seen_from(authorities[0], 0, listener, topology), topology.world) if authorities else None


def _of_addresses(state: GatewayState) -> Fault | None:
    """Return why the addresses of a Gateway are refused: of one that is not deployed, any that is no hostname."""
    addresses = _addresses(state)
    managed = not addresses or addresses == ["IPAddress"]
    wrong = [each for each in addresses if each != "Hostname" and not is_symbolic(each)]
    if managed or not wrong:
        return None
    return "UnsupportedAddress", f"addresses are one IP address, or hostnames: {', '.join(wrong)} is neither here"


def _addresses(state: GatewayState) -> list[str]:
    written = map(mapping, sequence(state.gateway.spec.get("addresses")))
    return [text(each.get("type"), "IPAddress") for each in written]


def _of_parameters(state: GatewayState) -> Fault | None:
    """Return what is wrong with the parameters of a Gateway: they are in a ConfigMap."""
    for reference in state.references:
        if reference.role == "parameters" and not is_symbolic(reference.wanted.kind):
            if reference.wanted[:2] != ("", "ConfigMap"):
                return "InvalidParameters", f"{reference.wanted.kind} is no kind of parameters that Istio reads"
            if reference.reason:
                return reference.reason, reference.message
    return None


def _resolved(state: GatewayState, world: World) -> Condition:
    """Return ResolvedRefs of a Gateway, which is about its client certificate alone."""
    references: Iterable[ReferenceState] = (each for each in state.references if each.role == "client-certificate")
    fault = next(filter(None, (fault_of(each, world) for each in references)), None)
    return RESOLVED if fault is None else Condition("ResolvedRefs", "False", *fault)


def _unserved(listener: ListenerState, topology: Topology) -> str:
    """Return why Istio does not serve the protocol of a listener, "" where it does.

    HBONE is served by what passes traffic on within the mesh, and little else there (unexpectedWaypointListener,
    unexpectedEastWestWaypointListener).
    """
    if is_symbolic(listener.protocol):
        return ""
    gateway = None if listener.gateway is None else topology.gateway(listener.gateway)
    controller = "" if gateway is None else gateway.controller or OWN_CLASSES.get(gateway.class_key.name, "")
    tunnels = listener.protocol == "HBONE" and listener.port in (_TUNNEL, None)
    mode = text(tls_of(listener).get("mode"))
    if controller == MESH_CONTROLLER:
        return "" if tunnels else f"a waypoint listens on port {_TUNNEL} with protocol HBONE alone"
    if controller == EAST_WEST_CONTROLLER:
        passed = listener.protocol == "TLS" and listener.port != _TUNNEL and mode == "Passthrough"
        served = passed or (tunnels and mode in ("", "Terminate") and bool(tls_of(listener)))
        return "" if served else f"an east-west gateway listens on port {_TUNNEL} with HBONE, or passes TLS through"
    return "" if listener.protocol in _SERVED else f"protocol {listener.protocol} is not supported"
