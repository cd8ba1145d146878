"""The ports of a Service, and whether it has the one that somebody names.

Which words count is the controller's: routes of Gateway API and meshes go by the number of the Service's port, most
controllers of Ingresses by that or its name, some by what it leads to as well, who looks at endpoints by that alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final, Literal

from policylint.model import Node, Resource, ResourceKey, integer, is_symbolic, mapping, sequence, text
from policylint.model.kinds import SERVICE, SERVICE_IMPORT
from policylint.namedtuple import NamedTuple

Word = Literal["number", "name", "target", "endpoint"]
"""What a port is called by: `target` is `targetPort` as it is written, `endpoint` the number at the pods."""
BY_NUMBER: Final[tuple[Word, ...]] = ("number",)
BY_NUMBER_OR_NAME: Final[tuple[Word, ...]] = ("number", "name")
OF_ANY: Final[tuple[Word, ...]] = ("number", "name", "target")
OF_ENDPOINTS: Final[tuple[Word, ...]] = ("name", "endpoint")
_TO_PODS: Final = frozenset({"target", "endpoint"})


class Port(NamedTuple):
    """One port of a Service or ServiceImport.

    Args:
        target: what it leads to at the pods, by number or name; None where that cannot be read.
        speaks: what is spoken there, as `appProtocol` has it.
    """

    name: str
    number: int | None
    protocol: str
    target: int | str | None = None
    speaks: str = ""


_UNREAD: Final = Port("", None, "TCP")
"""What may be any port: a variable stands in its place, or in that of all."""


class PortFound(NamedTuple):
    """Whether a Service has a port that is called so, None where that is not known; and the first of those that are."""

    found: bool | None
    port: Port | None = None


def ports(resource: Resource) -> list[Port]:
    """Return the ports of a Service or ServiceImport; an empty list for other kinds."""
    resource.keep_answers()  # whoever leads to a Service asks it
    return resource.once(_ports)


def _ports(resource: Resource) -> list[Port]:
    if (resource.key.group, resource.key.kind) not in (SERVICE, SERVICE_IMPORT):
        return []
    if is_symbolic(resource.body.get("spec")) or is_symbolic(resource.spec.get("ports")):
        return [_UNREAD]
    found = []
    for port in map(mapping, sequence(resource.spec.get("ports"))):
        target = port.get("targetPort", port.get("port"))
        target = target if isinstance(target, str) else integer(target)
        speaks = text(port.get("appProtocol"))
        number, protocol = integer(port.get("port")), text(port.get("protocol"), "TCP")
        found.append(Port(text(port.get("name")), number, protocol, target, speaks))
    return found


@lru_cache(maxsize=64)
def ports_by_number(resource: Resource) -> dict[int | None, list[Port]]:
    """Return the same by number; kept for the latest objects, as many backends may name one."""
    by_number: dict[int | None, list[Port]] = {}
    for port in ports(resource):
        by_number.setdefault(port.number, []).append(port)
    return by_number


def port_node(key: ResourceKey, name: str) -> Node:
    """Return the node of a named port: `ServicePort shop/checkout#http`."""
    return Node(key, name, "ServicePort")


def called(service: Resource | None, wanted: object, words: Collection[Word] = BY_NUMBER_OR_NAME) -> PortFound:
    """Return whether a Service has a port that is called so.

    Args:
        wanted: a number or a word, as the controller compares them: of those that compare texts, digits are a number.
    """
    name = text(wanted) if isinstance(wanted, str) else integer(wanted)
    if service is None or name in ("", None) or is_symbolic(name):
        return PortFound(None)
    by_word, unread = _by_word(service, tuple(words))
    port = by_word.get(name)
    if port is not None or not ports(service) or service.provisional:
        return PortFound(None if port is None else True, port)
    if any(_is_open(port, name, words) for port in unread):
        return PortFound(None if port is None else True, port)
    by_hand = "endpoint" in words and not service.spec.get("selector")  # who writes the endpoints says their ports
    return PortFound(None if by_hand else False)


@lru_cache(maxsize=64)
def _by_word(service: Resource, words: tuple[Word, ...]) -> tuple[dict[int | str | None, Port], list[Port]]:
    """Return the ports of a Service by what they are called, the first of each, and those that may be called otherwise;
    kept for the latest objects, as many backends may name one."""
    found: dict[int | str | None, Port] = {}
    unread = []
    for port in ports(service):
        for word in _words(port, words):
            found.setdefault(word, port)
        if None in (port.number, port.target) or isinstance(port.target, str) or is_symbolic(port.name):
            unread.append(port)
    return found, unread


def _words(port: Port, words: Collection[Word]) -> Iterator[int | str | None]:
    """Yield by what a port is called."""
    if "number" in words:
        yield port.number
    if "name" in words and port.name:
        yield port.name
    if "target" in words or ("endpoint" in words and isinstance(port.target, int)):
        yield port.target


def _is_open(port: Port, wanted: int | str | None, words: Collection[Word]) -> bool:
    """Return whether a port may be called so, for all that can be read of it."""
    to_pods = not _TO_PODS.isdisjoint(words)
    if port == _UNREAD or (to_pods and is_symbolic(port.target)):
        return True
    if isinstance(wanted, str):
        return is_symbolic(port.name)
    if "endpoint" in words and isinstance(port.target, str):
        return True  # which number a name is the pods say
    return (port.number is None and "number" in words) or (port.target is None and to_pods)


def port_of(service: Resource | None, number: int | None, route_kind: str) -> tuple[bool | None, Node | None]:
    """Return whether a Service has a port, and its node if it is named; UDP wins over TCP only for UDPRoutes."""
    if service is None or number is None:
        return None, None
    if not ports(service):
        return (False if lacks_port(service, None) else None), None
    if number not in ports_by_number(service):
        return called(service, number, BY_NUMBER).found, None
    best = port_at(service, number, "UDP" if route_kind == "UDPRoute" else "TCP")
    return True, port_node(service.key, best.name) if best is not None and best.name else None


def port_at(service: Resource, number: int | None, protocol: str = "TCP") -> Port | None:
    """Return the port of a number, of several the one of a protocol; where no number is asked for, the only one."""
    if number is None:
        return ports(service)[0] if len(ports(service)) == 1 else None
    meant = ports_by_number(service).get(number, [])
    return next((port for port in meant if port.protocol == protocol), meant[0] if meant else None)


def lacks_port(service: Resource, number: int | None) -> bool:
    """Return whether nothing answers who connects to a port of a Service; at none, None, where it has no ports.

    A name that stands for pods or for a host has every port of theirs.
    """
    if service.key[:2] != SERVICE or service.spec.get("clusterIP") == "None" or is_external(service):
        return False
    return not ports(service) or (number is not None and called(service, number, BY_NUMBER).found is False)


def is_external(service: Resource) -> bool:
    """Return whether a Service is a name for a host outside, which has whatever ports it has."""
    return service.spec.get("type") == "ExternalName"
