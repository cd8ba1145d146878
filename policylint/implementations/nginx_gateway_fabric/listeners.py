"""Gateways, ListenerSets and their listeners as NGINX Gateway Fabric reports them.

A listener is looked at by itself first; one that is valid is compared with those before it, and those of a Gateway on
one port lose together, while one of a ListenerSet gives way alone. What it names is looked at where it still stands.

Source: state/graph/{gateway,gateway_listener,listenerset}.go, status/prepare_requests.go @ e55bfe339, asked by
tests/witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from policylint.implementations.nginx_gateway_fabric.proxy import effective_proxy
from policylint.model import Node, ResourceKey, integer, is_symbolic, mapping, sequence, text, value_at
from policylint.patterns import Pattern
from policylint.topology import (
    Condition,
    GatewayState,
    ListenerSetState,
    ListenerState,
    Topology,
)
from policylint.topology.state import Status
from policylint.topology.status import ACCEPTED, NO_CONFLICTS, OVERLAPPING, RESOLVED, tls_of, with_listeners

_FAMILIES = {"HTTP": "clear", "HTTPS": "sessions", "TLS": "sessions", "TCP": "streams", "UDP": "streams"}
"""Protocols that one port can have."""
_SESSIONS = ("HTTPS", "TLS")
CONTROLLERS = "gateway.nginx.org/"
"""How the names of the controller begin: it takes no others (cmd/gateway/validation.go)."""
_METRICS = 9113
"""The port of NGINX's metrics, unless the NginxProxy states another or none."""
_OPTIONS = {
    "nginx.org/ssl-protocols": Pattern(r"\s*((SSLv2|SSLv3|TLSv1|TLSv1\.[123])\s*)+"),
    "nginx.org/ssl-ciphers": Pattern(r"!?[A-Za-z0-9+_-]+(:!?[A-Za-z0-9+_-]+)*"),
    "nginx.org/ssl-prefer-server-ciphers": Pattern("on|off"),
    "nginx.org/ssl-session-cache": Pattern("off|none|[0-9]+[kKmM]?"),
    "nginx.org/ssl-session-timeout": Pattern("[0-9]{1,4}(ms|s|m|h|d)?"),
    "nginx.org/ssl-ecdh-curve": Pattern("auto|[A-Za-z0-9_]+(:[A-Za-z0-9_]+)*"),
}
"""What the options of TLS may be."""
_NO_CA = "NoValidCACertificate"


class Standing:
    """What becomes of a listener.

    Attributes:
        told: its conditions by type, without those that a valid one has besides.
        valid: whether NGINX is told of it.
        attachable: whether routes may be attached to it.
        compared: whether it was compared with others: one that fails by itself is not.
        first: whether it is the first one of its port with its protocol and hostname.
    """

    def __init__(self, listener: ListenerState) -> None:
        self.listener = listener
        self.told: dict[str, Condition] = {}
        self.valid = self.attachable = True
        self.compared = self.first = False
        self.rivals: tuple[Node, ...] = ()

    def tell(self, reason: str, message: str, *types: str) -> None:
        """Take conditions, the last one of a type counts."""
        for kind in types:
            status: Status = "True" if kind == "Conflicted" else "False"
            self.told[kind] = Condition(kind, status, reason, message)

    def fail(self, reason: str, message: str, *types: str) -> None:
        """Take conditions of one that is not valid."""
        self.valid = False
        self.tell(reason, message, *types)

    def lose(self, reason: str, rival: Node) -> None:
        """Give way to another listener."""
        self.rivals = (*self.rivals, rival)[:8]
        self.fail(reason, f"not distinct from {rival}", "Accepted", "Conflicted")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        told = dict(self.told)
        if self.valid:
            told |= {"Accepted": ACCEPTED, "ResolvedRefs": told.get("ResolvedRefs", RESOLVED)}
            if told.keys().isdisjoint(("Conflicted", OVERLAPPING.type)):
                told["Conflicted"] = NO_CONFLICTS
        return tuple(told.values())


class Standings:
    """The standings of the listeners of a world's Gateways, each found once."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._found: dict[ResourceKey, dict[Node, Standing]] = {}

    def of(self, gateway: GatewayState) -> Mapping[Node, Standing]:
        """Return the standings of the listeners of a Gateway and of the ListenerSets that it lets in."""
        key = gateway.gateway.key
        if key not in self._found:
            self._found[key] = self._found_at(gateway)
        return self._found[key]

    def _found_at(self, gateway: GatewayState) -> dict[Node, Standing]:
        if refusal(gateway) is not None:
            return {}
        standings: dict[Node, Standing] = {}
        reserved = _reserved(gateway.gateway.key, self._topology)
        mixed: set[int] = set()
        sets = (each for each in self._topology.listener_sets if each.parent == gateway.gateway.key)
        merged = sorted((each for each in sets if each.allowed is not False), key=lambda each: each.listener_set.age)
        for listener in (*gateway.listeners, *(each for state in merged for each in state.listeners)):
            standing = Standing(listener)
            _check(standing, reserved)
            if standing.valid:
                others = (
                    other for other in standings.values() if other.compared and other.listener.port == listener.port
                )
                _compare(standing, list(others), mixed)
                _resolve(standing)
            standings[listener.node] = standing
        return standings


def refusal(gateway: GatewayState) -> Condition | None:
    """Return why a Gateway is not valid, None where it is: without its NginxProxy it is (validateGateway)."""
    for address in map(mapping, sequence(gateway.gateway.spec.get("addresses"))):
        kind = text(address.get("type"), "IPAddress")
        if kind != "IPAddress" and not is_symbolic(kind):
            return Condition("Accepted", "False", "UnsupportedAddress", "Only AddressType IPAddress is supported")
    return None


def _reserved(gateway: ResourceKey, topology: Topology) -> int | None:
    """Return the port of NGINX's metrics; None where there is none, or where that is not known."""
    proxy = effective_proxy(gateway, topology)
    metrics = mapping(mapping(proxy).get("metrics"))
    if proxy is None or metrics.get("disable") is True:
        return None
    return integer(metrics.get("port")) or _METRICS


def _check(standing: Standing, reserved: int | None) -> None:
    """Look at a listener by itself (listenerConfigurator.configure, validators)."""
    listener = standing.listener
    if listener.protocol not in _FAMILIES:
        if not is_symbolic(listener.protocol):
            standing.attachable = False
            message = f"protocol {listener.protocol} is not supported"
            standing.fail("UnsupportedProtocol", message, "Accepted")
        return
    wrong_kinds = next((each for each in listener.conditions if each.reason == "InvalidRouteKinds"), None)
    if wrong_kinds is not None:
        standing.attachable = False
        standing.fail(wrong_kinds.reason, wrong_kinds.message, "ResolvedRefs")
    body = mapping(value_at(listener.holder.body, listener.pointer))
    namespaces = mapping(mapping(body.get("allowedRoutes")).get("namespaces"))
    if namespaces.get("from") == "Selector" and namespaces.get("selector") is None:
        standing.attachable = False
        standing.fail("UnsupportedValue", "allowedRoutes names no selector", "Accepted")
    for message in _unsupported(listener, body, reserved):
        standing.fail("UnsupportedValue", message, "Accepted")
    if listener.protocol == "TLS" and "tls" not in body:
        standing.attachable = False
    for message in _without_certificate(listener):
        standing.fail("InvalidCertificateRef", message, "Accepted", "ResolvedRefs")


def _unsupported(listener: ListenerState, body: Mapping[str, object], reserved: int | None) -> Iterator[str]:
    """Yield what a listener says that NGINX cannot be told."""
    protocol = listener.protocol
    if reserved is not None and listener.port == reserved and protocol != "TLS":
        yield f"port {listener.port} is already in use for metrics"
    if "tls" in body and protocol not in _SESSIONS:
        yield f"tls is not supported for {protocol} listeners"
    if "hostname" in body and _FAMILIES[protocol] == "streams":
        yield f"hostname is not supported for {protocol} listeners"
    if protocol not in _SESSIONS:
        return
    tls = tls_of(listener)
    mode = text(tls.get("mode"), "Terminate")
    if not tls:
        yield f"tls must be defined for {protocol} listeners"
    elif mode not in ("Terminate", "Passthrough")[: 1 if protocol == "HTTPS" else 2] and not is_symbolic(mode):
        yield f"mode {mode} is not supported for {protocol} listeners"
    for name, value in mapping(tls.get("options")).items() if mode == "Terminate" else ():
        allowed = _OPTIONS.get(name)
        if allowed is None:
            yield f"{name} is no option of TLS that NGINX has"
        elif not is_symbolic(value) and not allowed.fullmatch(text(value)):
            yield f"{text(value)} is no value of {name}"


def _without_certificate(listener: ListenerState) -> Iterator[str]:
    tls = tls_of(listener)
    if listener.protocol not in _SESSIONS or not tls or text(tls.get("mode"), "Terminate") != "Terminate":
        return
    references = list(map(mapping, sequence(tls.get("certificateRefs"))))
    if not references:
        yield "certificateRefs must be defined for mode Terminate"
    for reference in references:
        kind, group = text(reference.get("kind"), "Secret"), text(reference.get("group"))
        if (kind != "Secret" and not is_symbolic(kind)) or (group and not is_symbolic(group)):
            yield f"{kind} is no kind of certificate"


def _compare(standing: Standing, before: Sequence[Standing], mixed: set[int]) -> None:
    """Let listeners of one port that are not distinct lose (portConflictResolver, uniqueListenerConflictResolver)."""
    listener = standing.listener
    if listener.port is None or is_symbolic(listener.hostname) or is_symbolic(listener.protocol):
        return
    standing.compared = True
    is_own = listener.holder.key.kind == "Gateway"
    if listener.port in mixed:
        standing.lose("ProtocolConflict", next(each.listener.node for each in before))
    elif before and _FAMILIES[before[0].listener.protocol] != _FAMILIES[listener.protocol]:
        if is_own:
            mixed.add(listener.port)
            for other in before:
                other.lose("ProtocolConflict", listener.node)
        standing.lose("ProtocolConflict", before[0].listener.node)
    else:
        for other in before:
            reason = _clash(listener, other.listener)
            if reason:
                if is_own:
                    other.lose(reason, listener.node)
                standing.lose(reason, other.listener.node)
    if listener.protocol in _SESSIONS:
        for other in before:
            if other.listener.protocol in _SESSIONS and _overlap(listener.hostname, other.listener.hostname):
                standing.told[OVERLAPPING.type] = other.told[OVERLAPPING.type] = OVERLAPPING
    if standing.valid:
        own = (listener.protocol, listener.hostname)
        twins = (each for each in before if (each.listener.protocol, each.listener.hostname) == own and each.first)
        twin = next(twins, None)
        standing.first = twin is None
        if twin is not None:
            standing.lose("HostnameConflict", twin.listener.node)


def _clash(one: ListenerState, other: ListenerState) -> str:
    """Return why two listeners of one family are not distinct, "" where they are."""
    if _FAMILIES[one.protocol] == "streams":
        return "ProtocolConflict" if one.protocol == other.protocol else ""
    if one.protocol != other.protocol and _overlap(one.hostname, other.hostname):
        return "HostnameConflict"
    return ""


def _overlap(one: str, other: str) -> bool:
    """Tell whether two hostnames have names in common; a wildcard is compared by its text (haveOverlap)."""
    if not one or not other or one == other:
        return True
    return any(wide.startswith("*.") and narrow.endswith(wide[1:]) for wide, narrow in ((one, other), (other, one)))


def _resolve(standing: Standing) -> None:
    """Look at the certificates of a listener that stands, and at the CAs that one for HTTPS asks clients for."""
    if standing.valid:
        certificates = [each for each in standing.listener.references if each.role == "certificate"]
        faulty = [each for each in certificates if each.reason]
        if faulty:
            reason = next((each.reason for each in faulty if each.reason != "RefNotPermitted"), "RefNotPermitted")
            message = next(each.message for each in faulty if each.reason == reason)
            if len(faulty) == len(certificates):
                standing.fail(reason, message, "Accepted", "ResolvedRefs")
            else:
                standing.tell(reason, message, "ResolvedRefs")
    if standing.listener.protocol != "HTTPS":
        return
    authorities = [each for each in standing.listener.references if each.role == "ca"]
    faulty = [each for each in authorities if each.reason]
    for each in sorted(faulty, key=lambda each: each.reason == "RefNotPermitted"):
        standing.tell(each.reason, each.message, "ResolvedRefs")
    if faulty and len(faulty) == len(authorities):
        standing.fail(_NO_CA, faulty[0].message, "Accepted")


def of_gateway(
    state: GatewayState, standings: Standings, attached: Mapping[Node, int], topology: Topology
) -> GatewayState:
    """Return a Gateway as the controller reports it; one that is refused, without its listeners.

    Args:
        attached: how many routes are bound to each listener.
    """
    refused = refusal(state)
    if refused is not None:
        silent = tuple(each._replace(conditions=()) for each in state.listeners)
        return state._replace(listeners=silent, conditions=(refused,), attached_listener_sets=0)
    found = standings.of(state)
    listeners = tuple(_of_listener(found[each.node], attached) for each in state.listeners)
    valid = [found[each.node].valid for each in state.listeners]
    told = {each.type: each for each in state.conditions if each.type != "ResolvedRefs"}
    if any(not each for each in valid) or told["Accepted"].reason == "ListenersNotValid":
        told["Accepted"] = with_listeners(valid) if valid else ACCEPTED
    if (resolved := _resolved(state, found)) is not None:
        told["ResolvedRefs"] = resolved
    sets = [each for each in topology.listener_sets if each.parent == state.gateway.key and each.allowed is not False]
    serving = sum(any(found[own.node].valid for own in each.listeners) for each in sets)
    return state._replace(listeners=listeners, conditions=tuple(told.values()), attached_listener_sets=serving)


def _resolved(state: GatewayState, standings: Mapping[Node, Standing]) -> Condition | None:
    """Return ResolvedRefs of a Gateway, which tells of its NginxProxy and certificate; None where it names neither."""
    frontend = [
        each
        for standing in standings.values()
        if standing.listener.protocol == "HTTPS"
        for each in standing.listener.references
        if (each.role, each.reason) == ("ca", "RefNotPermitted")
    ]
    if frontend:
        return Condition("ResolvedRefs", "False", frontend[0].reason, frontend[0].message)
    towards = [each for each in state.references if each.role == "client-certificate"]
    if not state.references and "backend" not in mapping(state.gateway.spec.get("tls")):
        return None
    for reference in towards:
        if reference.reason:
            return Condition("ResolvedRefs", "False", reference.reason, reference.message)
    missing = next((each for each in state.references if each.reason == "InvalidParameters"), None)
    return RESOLVED if missing is None else Condition("ResolvedRefs", "False", "ParametersRefInvalid", missing.message)


def of_set(
    state: ListenerSetState, standings: Standings, attached: Mapping[Node, int], topology: Topology
) -> ListenerSetState:
    """Return a ListenerSet as the controller reports it: accepted with any valid listener; `attached` as above."""
    gateway = topology.gateway(state.parent)
    if gateway is None or gateway.class_resolution.missing:
        return state
    refused = refusal(gateway)
    if refused is not None or state.allowed is False:
        conditions = state.conditions
        if refused is not None:
            conditions = (Condition("Accepted", "False", "ParentNotAccepted", f"{state.parent} is not accepted"),)
        return state._replace(
            listeners=tuple(each._replace(conditions=()) for each in state.listeners), conditions=conditions
        )
    found = standings.of(gateway)
    listeners = tuple(_of_listener(found[each.node], attached) for each in state.listeners)
    is_served = any(found[each.node].valid for each in state.listeners)
    return state._replace(listeners=listeners, conditions=(ACCEPTED if is_served else with_listeners([False]),))


def _of_listener(standing: Standing, attached: Mapping[Node, int]) -> ListenerState:
    conflict = standing.told.get("Conflicted")
    return standing.listener._replace(
        conditions=standing.conditions,
        conflict="" if conflict is None else conflict.reason,
        conflicts_with=standing.rivals,
        attached_routes=attached.get(standing.listener.node, 0),
    )
