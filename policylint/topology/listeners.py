"""Listeners as written: name, port, protocol, hostname, and which route kinds they take (gateway_types.go Listener)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.model import GATEWAY_GROUP, Node, Resource, integer, is_symbolic, mapping, sequence, text
from policylint.model.kinds import ROUTE_KINDS, of_foreign
from policylint.namedtuple import NamedTuple
from policylint.topology.hostnames import patterns
from policylint.topology.references import is_listener_set

PROTOCOL_KINDS: Mapping[str, tuple[str, ...]] = {
    "HTTP": ("HTTPRoute", "GRPCRoute"),
    "HTTPS": ("HTTPRoute", "GRPCRoute"),
    "TLS": ("TLSRoute",),
    "TCP": ("TCPRoute",),
    "UDP": ("UDPRoute",),
}
"""Route kinds by protocol (docs/design/request-precedence.md §3)."""
OwnKinds = Callable[[str], Sequence[str] | None]
"""Returns the kinds of routes of a protocol that is none of Gateway API's, and TLSRoute for TLS where sessions that end
at the Gateway are for these alone; None where the protocol is not served."""


class Listener(NamedTuple):
    """One entry of `spec.listeners`, parsed.

    Args:
        node: unnamed listeners (which the API server refuses) get a section that no reference can name.
        hostname: as a pattern; "" is every host.
        kinds: the route kinds it takes; `invalid` the entries of allowedRoutes.kinds that it cannot take.
        certain: whether port, protocol and hostname are free of variables.
        supported_protocol: whether its controller serves its protocol, or may.
    """

    name: str
    node: Node
    holder: Resource
    pointer: Pointer
    value: Mapping[str, Any]
    protocol: str
    port: int | None
    hostname: str
    kinds: tuple[str, ...]
    invalid: tuple[tuple[str, Pointer], ...]
    certain: bool
    supported_protocol: bool

    @property
    def allowed_namespaces(self) -> Mapping[str, Any]:
        return mapping(mapping(self.value.get("allowedRoutes")).get("namespaces"))


def read(holder: Resource, own: OwnKinds = of_foreign) -> list[Listener]:
    """Return the listeners of a Gateway or ListenerSet; of two with one name the first one counts."""
    role = holder.key.kind if is_listener_set(holder.key.group, holder.key.kind) else "Listener"
    listeners: dict[str, Listener] = {}
    for index, value in enumerate(sequence(holder.spec.get("listeners"))):
        if isinstance(value, dict):
            name = text(value.get("name"))
            listeners.setdefault(name or f"[{index}]", _listener(holder, role, index, name, value, own))
    return list(listeners.values())


def _listener(holder: Resource, role: str, index: int, name: str, value: Mapping[str, Any], own: OwnKinds) -> Listener:
    protocol = text(value.get("protocol"))
    hostname = text(value.get("hostname"))
    pointer: Pointer = ("spec", "listeners", index)
    is_open = is_symbolic(protocol) or not protocol
    possible = ROUTE_KINDS if is_open else PROTOCOL_KINDS.get(protocol) or own(protocol)
    terminates = protocol == "TLS" and text(mapping(value.get("tls")).get("mode"), "Terminate") == "Terminate"
    if terminates and tuple(own(protocol) or ()) != PROTOCOL_KINDS[protocol]:
        # The text gives TLS to TLSRoute; implementations hand a terminated session to a TCPRoute too.
        possible = (*(possible or ()), "TCPRoute")
    kinds, invalid = _kinds(value, pointer, tuple(possible or ()))
    return Listener(
        name=name,
        node=Node(holder.key, name or f"[{index}]", role),
        holder=holder,
        pointer=pointer,
        value=value,
        protocol=protocol,
        port=integer(value.get("port")),
        hostname=patterns([hostname])[0],
        kinds=kinds,
        invalid=invalid,
        certain=not (is_symbolic(hostname) or is_symbolic(protocol) or integer(value.get("port")) is None),
        supported_protocol=possible is not None,
    )


def _kinds(
    value: Mapping[str, Any], pointer: Pointer, possible: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, Pointer], ...]]:
    """Return the kinds of route that a listener takes, and the entries of allowedRoutes.kinds that it cannot take.

    It takes those of its protocol, narrowed by allowedRoutes.kinds (SupportedKinds).
    """
    allowed = sequence(mapping(value.get("allowedRoutes")).get("kinds"))
    if not allowed:
        return possible, ()
    kinds: list[str] = []
    invalid: list[tuple[str, Pointer]] = []
    for index, kind_ref in enumerate(allowed):
        kind = text(mapping(kind_ref).get("kind"))
        group = mapping(kind_ref).get("group")
        if is_symbolic(kind) or is_symbolic(group):
            kinds.extend(possible_kind for possible_kind in possible if possible_kind not in kinds)
        elif kind in possible and group in (None, GATEWAY_GROUP):
            if kind not in kinds:
                kinds.append(kind)
        else:
            invalid.append((f"{kind}.{group}" if group else kind, (*pointer, "allowedRoutes", "kinds", index)))
    return tuple(kinds), tuple(invalid)
