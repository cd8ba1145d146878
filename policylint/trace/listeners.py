"""Select the listener of a Gateway that takes a request (docs/design/request-precedence.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from policylint.model import Node
from policylint.namedtuple import NamedTuple
from policylint.topology import ListenerState
from policylint.topology.hostnames import specificity
from policylint.trace.hosts import serves
from policylint.trace.request import Request

_PROTOCOLS = {"http": ("HTTP",), "https": ("HTTPS", "TLS"), "tls": ("TLS", "HTTPS"), "tcp": ("TCP",), "udp": ("UDP",)}


class Selection(NamedTuple):
    """The listener that takes a request, or why none does.

    Args:
        others: further listeners that could have taken it but are less specific.
        status: the response where a TLS session exists but no listener is for the host (404, 421).
        on_port: the listeners on the port, from which near misses are told.
        by_routes: whether it is the one with the route for the narrowest host, and not that for the narrowest itself.
    """

    listener: ListenerState | None
    others: tuple[ListenerState, ...] = ()
    status: int | None = None
    reason: str = ""
    on_port: tuple[ListenerState, ...] = ()
    by_routes: bool = False


def select(
    listeners: Sequence[ListenerState], request: Request, closed: Mapping[Node, str], *, one_table: bool = False
) -> Selection:
    """Select the most specific listener on the port, by SNI where there is TLS, then check the Host header.

    Args:
        closed: the listeners that take no requests at all, with why.
        one_table: whether any listener takes requests for any host, as where routes are served at all of them.
    """
    on_port = tuple(listener for listener in listeners if listener.port == request.port or request.port is None)
    if not on_port:
        return Selection(None, reason=_other_ports(listeners, request))
    speaking = [listener for listener in on_port if listener.protocol in _PROTOCOLS[request.scheme]]
    if not speaking:
        protocols = ", ".join(sorted({listener.protocol for listener in on_port}))
        return Selection(None, reason=f"port {request.port} speaks {protocols}, not {request.scheme}", on_port=on_port)
    working = [listener for listener in speaking if listener.node not in closed]
    if not working:
        return Selection(None, reason=f"{speaking[0].node}: {closed[speaking[0].node]}", on_port=on_port)
    if request.scheme in ("tcp", "udp"):
        return Selection(working[0], tuple(working[1:]), on_port=on_port)
    if request.scheme == "http":
        fitting = by_specificity(working, request.host) or working[:one_table]
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


def of_unstated_port(listeners: Iterable[ListenerState], request: Request) -> Node | None:
    """Return the listener whose port no manifest states, so that it may be the one that is asked for; what takes any
    connection takes those with TLS."""
    protocols = (*_PROTOCOLS[request.scheme], *(("TCP",) if request.scheme == "tls" else ()))
    speaking = (each for each in listeners if not each.port and each.protocol in protocols)
    host = "" if request.scheme in ("tcp", "udp") else request.sni or request.host
    return next((each.node for each in speaking if not host or serves(host, each.hostname)), None)


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
