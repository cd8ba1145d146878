"""Gateways, ListenerSets and their listeners as kgateway reports them.

Of the listeners of a port in their order, those of the Gateway before those of ListenerSets by age, the first one has
the protocol, and the first one with a hostname has that. A listener of connections comes to nothing without a route
that leads somewhere, and its certificates are looked at only then.

Source: docs/design/implementations/kgateway-nginx-gloo.md §2.8; pkg/kgateway/translator/listener/{validation,
gateway_listener_translator}.go, pkg/reports/status.go (2.4).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from policylint.implementations.kgateway.tls_options import wrong_option
from policylint.model import Node, Resource, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.namedtuple import NamedTuple
from policylint.spaces.addresses import number_of
from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState, ReferenceState, Topology
from policylint.topology.status import ACCEPTED, NO_CONFLICTS, RESOLVED, client_validation, tls_of, with_listeners

_SERVED = ("HTTP", "HTTPS", "TLS", "TCP", "HBONE")
RESERVED = (9091, 8082, 19000)
"""Ports of the proxy's own."""
_SESSIONS = ("HTTPS", "TLS")
_STREAMS = ("TCP", "TLS")
_OF_CONNECTIONS = ("TCPRoute", "TLSRoute")
_JUDGED = ("Accepted", "ListenersNotValid", "UnsupportedAddress")
"""Reasons of Accepted of a Gateway that are for its listeners to say."""
_PARAMETERS = ("gateway.kgateway.dev", "GatewayParameters")


class TlsFault(NamedTuple):
    """What is wrong with the TLS of a listener.

    Args:
        reason: of ResolvedRefs, and `refusal` that of Accepted.
        partly: whether it serves all the same, as some of its certificates and CAs are there.
    """

    reason: str
    refusal: str
    message: str
    partly: bool = False


class Fate(NamedTuple):
    """What becomes of a listener.

    Args:
        lost: why it gives way to another, as reason and message; "" for one that stands.
        fault: what is wrong with its TLS.
        idle: whether it serves no connection, as no route there leads anywhere.
        left_out: whether nobody serves its protocol, or any of the kinds of routes that it names.
    """

    lost: tuple[str, str] = ("", "")
    rivals: tuple[Node, ...] = ()
    fault: TlsFault | None = None
    idle: bool = False
    left_out: bool = False

    @property
    def stands(self) -> bool:
        return not self.left_out and not self.lost[0]

    @property
    def is_programmed(self) -> bool:
        """Whether the controller says nothing else of it; what is left out is not even that."""
        return not self.lost[0] and not self.idle and (self.fault is None or self.fault.partly)


class Fates:
    """The fates of the listeners of a world's Gateways, each found once."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._found: dict[ResourceKey, dict[Node, Fate]] = {}
        self._routes: defaultdict[Node, list[Resource]] = defaultdict(list)
        for state in topology.routes:
            for candidate in (each for parent in state.parents for each in parent.candidates):
                if candidate.failure in ("", "RouteConflict"):
                    self._routes[candidate.node].append(state.route)
        self.attached = Counter({node: len(routes) for node, routes in self._routes.items()})

    def of(self, gateway: GatewayState) -> Mapping[Node, Fate]:
        """Return the fates of the listeners of a Gateway and of the ListenerSets that it lets in."""
        key = gateway.gateway.key
        if key not in self._found:
            self._found[key] = self._fates(gateway, sets_of(gateway, self._topology))
        return self._found[key]

    def translates(self, route: Resource, node: Node, fate: Fate) -> bool:
        """Tell whether the controller makes something of a route at a listener that it is attached to."""
        if not fate.stands:
            return False
        return route.key.kind not in _OF_CONNECTIONS or (leads_on(route) and route.key in self.chosen(node))

    def _fates(self, gateway: GatewayState, sets: Sequence[ListenerSetState]) -> dict[Node, Fate]:
        fates: dict[Node, Fate] = {}
        on_ports: defaultdict[int | None, list[ListenerState]] = defaultdict(list)
        for listener in (*gateway.listeners, *(each for state in sets for each in state.listeners)):
            if not _is_served(listener) or not listener.supported_kinds:
                fates[listener.node] = Fate(left_out=True)
            else:
                on_ports[listener.port].append(listener)
        for port, listeners in on_ports.items():
            standing = []
            hosts: dict[str, ListenerState] = {}
            for listener in listeners:
                owner = hosts.setdefault(listener.hostname, listener)
                fates[listener.node] = fate = Fate() if port is None else _clash(listener, listeners, owner)
                if fate.stands:
                    standing.append(listener)
            with_cas = bool(standing) and standing[0].protocol != "TLS"
            fates |= {each.node: Fate(fault=of_tls(each, gateway)) for each in standing if each.protocol == "HTTPS"}
            streams = [each for each in standing if each.protocol in _STREAMS]
            served = {each.node: self._serves(each) for each in streams}
            faults = {node: of_tls(each, gateway, cas=with_cas) for each in streams if served[node := each.node]}
            idle = all(not served[each.node] or not _works(faults[each.node]) for each in streams)
            fates |= {each.node: Fate(fault=faults.get(each.node), idle=idle) for each in streams}
        return fates

    def _serves(self, listener: ListenerState) -> bool:
        """Tell whether a route of a listener of connections leads somewhere: of one for TCP, the oldest."""
        return any(map(leads_on, self.chosen(listener.node).values()))

    def chosen(self, node: Node) -> dict[ResourceKey, Resource]:
        """Return the routes that are told apart at a listener of connections: one for TCP has nothing to go by."""
        listener = self._topology.listener(node)
        routes = self._routes[node]
        if listener is not None and listener.protocol == "TCP":
            routes = sorted(routes, key=lambda route: route.age)[:1]
        return {route.key: route for route in routes}


def has_one_rule(route: Resource) -> bool:
    return len(sequence(route.spec.get("rules"))) == 1


def leads_on(route: Resource) -> bool:
    """Tell whether the controller translates a route of connections: one with a single rule and a backend."""
    return has_one_rule(route) and bool(sequence(mapping(sequence(route.spec.get("rules"))[0]).get("backendRefs")))


def sets_of(gateway: GatewayState, topology: Topology) -> list[ListenerSetState]:
    """Return the ListenerSets that a Gateway lets in, the oldest first."""
    own = (each for each in topology.listener_sets if each.parent == gateway.gateway.key and each.allowed is not False)
    return sorted(own, key=lambda each: each.listener_set.age)


def _clash(listener: ListenerState, on_port: Sequence[ListenerState], owner: ListenerState) -> Fate:
    """Return the fate of a listener among those of its port, of which `owner` is the first with its hostname."""
    first = on_port[0]
    families = {"HTTPS/TLS" if each.protocol in _SESSIONS else each.protocol for each in on_port}
    if len(families) > 1 and listener.protocol != first.protocol:
        return Fate(("ProtocolConflict", f"not distinct from {first.node}"), (first.node,))
    if owner is not listener:
        return Fate(("HostnameConflict", f"not distinct from {owner.node}"), (owner.node,))
    if listener.port in RESERVED:
        return Fate(("Invalid", f"port {listener.port} is the proxy's own"))
    return Fate()


def of_gateway(state: GatewayState, fates: Fates, topology: Topology) -> GatewayState:
    """Return a Gateway as the controller reports it."""
    of_listeners = fates.of(state)
    listeners = tuple(_of_listener(each, of_listeners[each.node], fates.attached) for each in state.listeners)
    own = [of_listeners[each.node] for each in listeners]
    if not all(fate.is_programmed for fate in own):
        accepted = with_listeners([True, False])
    elif not any(fate.stands for fate in of_listeners.values()):
        accepted = with_listeners([False]) if of_listeners else ACCEPTED
    else:
        accepted = with_listeners([True, *(fate.stands for fate in own)])
    by_type = {each.type: each for each in state.conditions}
    if by_type["Accepted"].reason in _JUDGED:
        by_type["Accepted"] = accepted
    if fault := _undeployable(state):
        by_type["Accepted"] = Condition("Accepted", "False", "InvalidParameters", fault)
    if by_type["ResolvedRefs"].reason in ("ResolvedRefs", "ListenersNotResolved"):
        resolved = all(each.status == "True" for listener in listeners for each in _resolved(listener))
        message = "a listener has an unresolved reference"
        by_type["ResolvedRefs"] = (
            RESOLVED if resolved else Condition("ResolvedRefs", "False", "ListenersNotResolved", message)
        )
    sets = sets_of(state, topology)
    attached = sum(any(of_listeners[each.node].stands for each in held.listeners) for held in sets)
    return state._replace(listeners=listeners, conditions=tuple(by_type.values()), attached_listener_sets=attached)


def _undeployable(state: GatewayState) -> str:
    """Return why no proxy is deployed for a Gateway, "" where one is: its parameters, else its addresses.

    What its parameters say of the Service is not looked at: only one for a load balancer takes addresses.

    Source: pkg/kgateway/deployer/gateway_parameters.go and pkg/deployer/values_helpers.go @ v2.4.0; the reconciler of
    deployments writes this over what else is said of the Gateway, and again until it is mended.
    """
    own = [each for each in state.references if each.role == "parameters"]
    for wanted in (each.wanted for each in own):
        if wanted[:2] != _PARAMETERS and not is_symbolic(wanted.group) and not is_symbolic(wanted.kind):
            return f"{wanted.kind} is no kind of parameters that kgateway reads"
    addresses = list(map(mapping, sequence(state.gateway.spec.get("addresses"))))
    if own or not addresses or any(is_symbolic(each.get(field)) for each in addresses for field in ("type", "value")):
        return ""
    numbers = [text(each.get("value")) for each in addresses if text(each.get("type"), "IPAddress") == "IPAddress"]
    if len(numbers) > 1:
        return "a Gateway has one address at most"
    return "" if numbers and number_of(numbers[0]) is not None else "the address is no IP address"


def of_set(state: ListenerSetState, fates: Fates, topology: Topology) -> ListenerSetState:
    """Return a ListenerSet as the controller reports it; one that is not let in, without its listeners."""
    gateway = topology.gateway(state.parent)
    if gateway is None:
        return state
    if state.allowed is False:
        return state._replace(listeners=tuple(each._replace(conditions=()) for each in state.listeners))
    of_listeners = fates.of(gateway)
    listeners = tuple(_of_listener(each, of_listeners[each.node], fates.attached) for each in state.listeners)
    own = [of_listeners[each.node] for each in listeners]
    anything = any(fate.stands for fate in of_listeners.values())
    programmed = [fate.is_programmed and (fate.stands or not anything) for fate in own]
    if any(fate.is_programmed for fate in own):
        accepted = with_listeners([True, *programmed])
    else:
        accepted = with_listeners([False])
    return state._replace(listeners=listeners, conditions=(accepted,))


def _of_listener(listener: ListenerState, fate: Fate, attached: Mapping[Node, int]) -> ListenerState:
    unserved = not _is_served(listener)
    by_type = {each.type: each for each in listener.conditions}
    wrong_kinds = by_type["ResolvedRefs"].reason == "InvalidRouteKinds" and not unserved
    by_type |= {"Accepted": ACCEPTED, "Conflicted": NO_CONFLICTS}
    if not wrong_kinds:
        by_type["ResolvedRefs"] = RESOLVED
    if unserved:
        message = f"protocol {listener.protocol} is not supported"
        by_type["Accepted"] = Condition("Accepted", "False", "UnsupportedProtocol", message)
    elif fate.lost[0]:
        by_type["Accepted"] = Condition("Accepted", "False", *fate.lost)
        by_type["Conflicted"] = Condition("Conflicted", "True", *fate.lost)
    elif fate.fault is not None:
        fault = fate.fault
        by_type["ResolvedRefs"] = Condition("ResolvedRefs", "False", fault.reason, fault.message)
        by_type["Accepted"] = Condition("Accepted", "True" if fault.partly else "False", fault.refusal, fault.message)
    return listener._replace(
        conditions=tuple(by_type.values()),
        supported_kinds=() if unserved else listener.supported_kinds,
        attached_routes=attached[listener.node],
        conflict=fate.lost[0],
        conflicts_with=fate.rivals,
    )


def _is_served(listener: ListenerState) -> bool:
    return listener.protocol in _SERVED or is_symbolic(listener.protocol)


def _resolved(listener: ListenerState) -> Iterable[Condition]:
    return (each for each in listener.conditions if each.type == "ResolvedRefs")


def _works(fault: TlsFault | None) -> bool:
    return fault is None or fault.partly


def of_tls(listener: ListenerState, gateway: GatewayState, *, cas: bool = True) -> TlsFault | None:
    """Return what is wrong with the certificates of a listener, or with the CAs that it asks clients for.

    One that is there is enough. What is not granted is said before what is missing; of CAs a kind that holds none is
    said where nothing else is wrong.

    Args:
        cas: whether it asks for them: a port whose first listener is one for TLS knows none.
    """
    if listener.protocol not in _SESSIONS or not _terminates(listener):
        return None
    references = [each for each in listener.references if each.role == "ca"] if cas else []
    wrong_kinds = [each for each in references if each.reason == "InvalidCACertificateKind"]
    authorities = [each for each in references if each not in wrong_kinds]
    certificates = [each for each in listener.references if each.role == "certificate"]
    kind_fault = None
    if wrong_kinds:
        reason, message = wrong_kinds[0].reason, wrong_kinds[0].message
        kind_fault = TlsFault(reason, "NoValidCACertificate", message, partly=bool(authorities))
        if not authorities:
            return kind_fault
    faults = [each for each in certificates if each.reason]
    if faults and len(faults) == len(certificates):
        return _worst(faults)
    if wrong := wrong_option(tls_of(listener), with_cas=bool(authorities)):
        return TlsFault("InvalidCertificateRef", "Invalid", wrong)
    lacking = [each for each in authorities if each.reason]
    required = text(client_validation(gateway.gateway, listener.port).value.get("mode")) != "AllowInsecureFallback"
    if authorities and len(lacking) == len(authorities) and required:
        return _worst([*faults, *lacking])
    worst = _worst([*faults, *lacking], partly=True)
    return worst or kind_fault


def _worst(faulty: Sequence[ReferenceState], *, partly: bool = False) -> TlsFault | None:
    """Return the fault that is said of several references (reportTLSConfigError)."""
    said = min(((_rank(each), number) for number, each in enumerate(faulty)), default=None)
    if said is None:
        return None
    rank, number = said
    reason, refusal = _SAID[rank]
    return TlsFault(reason, refusal, faulty[number].message, partly)


_SAID = (
    ("RefNotPermitted", "Invalid"),
    ("RefNotPermitted", "NoValidCACertificate"),
    ("InvalidCertificateRef", "Invalid"),
    ("InvalidCACertificateRef", "NoValidCACertificate"),
    ("InvalidCertificateRef", "Invalid"),
)


def _rank(reference: ReferenceState) -> int:
    """Return which of `_SAID` a faulty reference is, the first one of several counts.

    A Secret that lacks a key comes before a CA that is missing, and a Secret that is missing after it.
    """
    config_map = reference.role == "ca" and reference.wanted.kind == "ConfigMap"
    if reference.reason == "RefNotPermitted":
        return 1 if config_map else 0
    if reference.resolution.missing:
        return 3 if config_map else 4
    return 2 if reference.role == "certificate" else 4


def _terminates(listener: ListenerState) -> bool:
    tls = tls_of(listener)
    return bool(tls) and text(tls.get("mode"), "Terminate") == "Terminate"
