"""Which listener of a Gateway takes a request (docs/design/request-precedence.md §2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policylint.model import mapping, sequence, text
from policylint.model.world import LEFT_OUT
from policylint.namedtuple import NamedTuple
from policylint.topology import ListenerState, ReferenceState
from policylint.topology.hostnames import specificity
from policylint.trace.hosts import serves
from policylint.trace.request import Request

_PROTOCOLS = {"http": ("HTTP",), "https": ("HTTPS", "TLS"), "tls": ("TLS", "HTTPS"), "tcp": ("TCP",), "udp": ("UDP",)}


class Selection(NamedTuple):
    """The listener that takes a request, or why none does.

    Args:
        others: further listeners that could have taken it but are less specific.
        status: the answer where a TLS session stands but no listener is for the host (404, 421).
        on_port: the listeners on the port, for who asks what is near.
    """

    listener: ListenerState | None
    others: tuple[ListenerState, ...] = ()
    status: int | None = None
    reason: str = ""
    on_port: tuple[ListenerState, ...] = ()


def select(listeners: Sequence[ListenerState], request: Request) -> Selection:
    """Take the most specific listener on the request's port, by SNI where there is TLS, then judge the Host header."""
    on_port = tuple(each for each in listeners if each.port == request.port or request.port is None)
    if not on_port:
        return Selection(None, reason=_other_ports(listeners, request))
    speaking = [each for each in on_port if each.protocol in _PROTOCOLS[request.scheme]]
    if not speaking:
        what = ", ".join(sorted({each.protocol for each in on_port}))
        return Selection(None, reason=f"port {request.port} speaks {what}, not {request.scheme}", on_port=on_port)
    working = [each for each in speaking if not fault(each)]
    if not working:
        return Selection(None, reason=f"{speaking[0].node}: {fault(speaking[0])}", on_port=on_port)
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
    """The listeners whose hostname matches, the most specific first; of equals the one written first."""
    fitting = [each for each in listeners if serves(host, each.hostname)]
    return sorted(fitting, key=lambda each: specificity(each.hostname), reverse=True)


def fault(listener: ListenerState) -> str:
    """Why a listener takes no requests at all, "" when it does."""
    for each in listener.conditions:
        if each.type == "Accepted" and each.status == "False":
            return each.message or f"it is not accepted ({each.reason})"
        if each.type == "Conflicted" and each.status == "True":
            return each.message or f"it is in conflict ({each.reason})"
    if listener.conflict:
        return f"it is in conflict ({listener.conflict})"
    certificates = [each for each in listener.references if each.role == "certificate"]
    useless = [each for each in certificates if each.reason and not _kept_elsewhere(each)]
    if certificates and len(useless) == len(certificates) and not passes_through(listener):
        return f"it has no usable certificate ({useless[0].message or useless[0].reason})"
    return ""


def assumed(listener: ListenerState) -> list[str]:
    """The certificates that a listener must have for it to answer, and that nothing in the tree deploys."""
    certificates = [each for each in listener.references if each.role == "certificate"]
    if passes_through(listener) or not all(map(_kept_elsewhere, certificates)):
        return []
    return [str(each.wanted) for each in certificates]


def _kept_elsewhere(reference: ReferenceState) -> bool:
    """Whether a certificate is merely not among the manifests: few repositories hold private keys."""
    wanted = (reference.wanted.group, reference.wanted.kind) == ("", "Secret")
    unseen = reference.resolution.missing or reference.resolution.reason == LEFT_OUT
    return wanted and unseen and reference.granted is not False


def written(listener: ListenerState) -> Mapping[str, Any]:
    """A listener as its object writes it."""
    value: object = listener.holder.body
    for step in listener.pointer:
        value = sequence(value)[step] if isinstance(step, int) else mapping(value).get(step)
    return mapping(value)


def passes_through(listener: ListenerState) -> bool:
    """Whether a TLS listener hands the session on as it is."""
    return text(mapping(written(listener).get("tls")).get("mode")) == "Passthrough"


def _misdirected(chosen: ListenerState, working: Sequence[ListenerState], request: Request) -> Selection | None:
    """A Host header that belongs to another listener than the one the SNI chose: 421, or 404 where it is nobody's."""
    of_host = by_specificity([each for each in working if each.protocol == "HTTPS"], request.host)
    best = of_host[0] if of_host else None
    fits = serves(request.host, chosen.hostname)
    if best is not None and (not fits or specificity(best.hostname) > specificity(chosen.hostname)):
        reason = f"server name {request.sni or request.host} is {chosen.node}, host {request.host} is {best.node}"
        return Selection(chosen, status=421, reason=reason)
    if not fits:
        reason = f"{chosen.node} serves {chosen.hostname}, nobody serves host {request.host or '(none)'}"
        return Selection(chosen, status=404, reason=reason)
    return None


def _other_ports(listeners: Sequence[ListenerState], request: Request) -> str:
    ports = sorted({each.port for each in listeners if each.protocol in _PROTOCOLS[request.scheme] and each.port})
    heard = f"; {request.scheme} is on {', '.join(map(str, ports))}" if ports else ""
    return f"nothing listens on port {request.port}{heard}"
