"""Select the listener of a Gateway that takes a request (docs/design/request-precedence.md §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from policylint.model import Node
from policylint.model.world import LEFT_OUT
from policylint.namedtuple import NamedTuple
from policylint.topology import ListenerState, ReferenceState
from policylint.topology.hostnames import specificity
from policylint.topology.status import is_passthrough
from policylint.trace.hosts import serves
from policylint.trace.request import Request

_PROTOCOLS = {"http": ("HTTP",), "https": ("HTTPS", "TLS"), "tls": ("TLS", "HTTPS"), "tcp": ("TCP",), "udp": ("UDP",)}


class Selection(NamedTuple):
    """The listener that takes a request, or why none does.

    Args:
        others: further listeners that could have taken it but are less specific.
        status: the response where a TLS session exists but no listener is for the host (404, 421).
        on_port: the listeners on the port, from which near misses are told.
    """

    listener: ListenerState | None
    others: tuple[ListenerState, ...] = ()
    status: int | None = None
    reason: str = ""
    on_port: tuple[ListenerState, ...] = ()


def select(
    listeners: Sequence[ListenerState], request: Request, unserved: Mapping[Node, str] = MappingProxyType({})
) -> Selection:
    """Select the most specific listener on the port, by SNI where there is TLS, then check the Host header.

    Args:
        unserved: the listeners that are accepted and that the proxy does not serve, with why.
    """
    on_port = tuple(listener for listener in listeners if listener.port == request.port or request.port is None)
    if not on_port:
        return Selection(None, reason=_other_ports(listeners, request))
    speaking = [listener for listener in on_port if listener.protocol in _PROTOCOLS[request.scheme]]
    if not speaking:
        protocols = ", ".join(sorted({listener.protocol for listener in on_port}))
        return Selection(None, reason=f"port {request.port} speaks {protocols}, not {request.scheme}", on_port=on_port)
    faults = [fault(listener) or unserved.get(listener.node, "") for listener in speaking]
    working = [listener for listener, why in zip(speaking, faults, strict=True) if not why]
    if not working:
        return Selection(None, reason=f"{speaking[0].node}: {faults[0]}", on_port=on_port)
    if request.scheme in ("tcp", "udp"):
        return Selection(working[0], tuple(working[1:]), on_port=on_port)
    if request.scheme == "http":
        fitting = by_specificity(working, request.host)
        if not fitting:
            reason = f"no listener on port {request.port} serves host {request.host or '(none)'}"
            return Selection(None, status=404, reason=reason, on_port=on_port)
        return Selection(fitting[0], tuple(fitting[1:]), on_port=on_port)
    sni = request.sni or request.host
    fitting = by_specificity(working, sni)
    if not fitting:
        reason = f"no listener on port {request.port} has a certificate for server name {sni or '(none)'}"
        return Selection(None, reason=reason, on_port=on_port)
    chosen = fitting[0]
    if chosen.protocol == "HTTPS" and request.scheme == "https":
        misdirected = _misdirected(chosen, working, request)
        if misdirected is not None:
            return misdirected._replace(on_port=on_port)
    return Selection(chosen, tuple(fitting[1:]), on_port=on_port)


def by_specificity(listeners: Sequence[ListenerState], host: str) -> list[ListenerState]:
    """Return the listeners whose hostname matches, the most specific first; of equals the one written first."""
    fitting = [listener for listener in listeners if serves(host, listener.hostname)]
    return sorted(fitting, key=lambda listener: specificity(listener.hostname), reverse=True)


def fault(listener: ListenerState) -> str:
    """Return why a listener takes no requests at all, "" when it does."""
    certificates = [reference for reference in listener.references if reference.role == "certificate"]
    spared = {reference.message for reference in certificates if reference.message and _kept_elsewhere(reference)}
    for condition in listener.conditions:
        if condition.type == "Accepted" and condition.status == "False" and condition.message not in spared:
            return condition.message or f"it is not accepted ({condition.reason})"
        if condition.type == "Conflicted" and condition.status == "True":
            return condition.message or f"it is in conflict ({condition.reason})"
    if listener.conditions and not any(condition.type == "Accepted" for condition in listener.conditions):
        return f"it is not programmed ({listener.conditions[0].message or listener.conditions[0].reason})"
    if listener.conflict:
        return f"it is in conflict ({listener.conflict})"
    useless = [reference for reference in certificates if reference.reason and not _kept_elsewhere(reference)]
    if certificates and len(useless) == len(certificates) and not is_passthrough(listener):
        return f"it has no usable certificate ({useless[0].message or useless[0].reason})"
    return ""


def assumed(listener: ListenerState) -> list[str]:
    """Return what is assumed of the certificates that a listener must have to respond, as nothing here deploys them."""
    certificates = [reference for reference in listener.references if reference.role == "certificate"]
    if is_passthrough(listener) or not all(map(_kept_elsewhere, certificates)):
        return []
    return [
        f"{reference.message}: it is taken for a stand-in"
        if reference.resolution.found and reference.message
        else f"{reference.wanted} is taken to be there: nothing in the tree deploys it"
        for reference in certificates
    ]


def _kept_elsewhere(reference: ReferenceState) -> bool:
    """Return whether a certificate is merely not among the manifests: few repositories hold private keys.

    A Secret whose text holds none is no proof that the listener is closed: deployments fill in stand-ins, and a guard
    that a stand-in switches off guards nothing.
    """
    is_secret = (reference.wanted.group, reference.wanted.kind) == ("", "Secret")
    unseen = reference.resolution.missing or reference.resolution.reason == LEFT_OUT
    is_stand_in = reference.resolution.found and bool(reference.reason)
    return is_secret and (unseen or is_stand_in) and reference.granted is not False


def _misdirected(chosen: ListenerState, working: Sequence[ListenerState], request: Request) -> Selection | None:
    """Return 421 for a Host header that belongs to another listener than the SNI's, or 404 if to none; else None."""
    serving = by_specificity([listener for listener in working if listener.protocol == "HTTPS"], request.host)
    best = serving[0] if serving else None
    fits = serves(request.host, chosen.hostname)
    if best is not None and (not fits or specificity(best.hostname) > specificity(chosen.hostname)):
        reason = f"server name {request.sni or request.host} is {chosen.node}, host {request.host} is {best.node}"
        return Selection(chosen, status=421, reason=reason)
    if not fits:
        reason = f"{chosen.node} serves {chosen.hostname}, no listener serves host {request.host or '(none)'}"
        return Selection(chosen, status=404, reason=reason)
    return None


def _other_ports(listeners: Sequence[ListenerState], request: Request) -> str:
    speaking = (listener for listener in listeners if listener.protocol in _PROTOCOLS[request.scheme])
    ports = sorted({listener.port for listener in speaking if listener.port})
    hint = f"; {request.scheme} is on {', '.join(map(str, ports))}" if ports else ""
    return f"nothing listens on port {request.port}{hint}"
