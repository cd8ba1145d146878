"""Where requests come in: the ports of each Gateway, and on each port the hosts that anybody tells apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.doors import is_inside
from policylint.doors.variables import undetermined
from policylint.model import ResourceKey, is_symbolic
from policylint.namedtuple import NamedTuple
from policylint.topology import ListenerState
from policylint.topology.hostnames import EVERY, without_port
from policylint.trace import Tracer

_SCHEMES = {"HTTP": "http", "HTTPS": "https", "TLS": "tls", "TCP": "tcp", "UDP": "udp"}
_ROUTES = ("HTTPRoute", "GRPCRoute", "TLSRoute")
_STREAM_ROUTES = ("TCPRoute", "UDPRoute")
_OTHER = "other"
_ELSEWHERE = "other.invalid"


class EntryPoint(NamedTuple):
    """A Gateway's port, and a set of hosts that all rules and listeners treat alike; or a Service's port in the mesh.

    Args:
        gateway: the Gateway; for requests from inside the mesh the Service, or the workload that they are for.
        port: None where the Gateway was not seen.
        hostname: the pattern whose hosts are meant, but for those that other entries name; "" for every other host.
        host: one of the hosts.
        consumer: the namespace whose clients are meant, since their own routes count; "" for all others.
        named: of an entry for many hosts all patterns of its port; of each host the narrowest one counts.
    """

    gateway: ResourceKey
    scheme: str
    port: int | None
    hostname: str
    host: str
    consumer: str = ""
    named: frozenset[str] = frozenset()

    @property
    def inside(self) -> bool:
        """Whether clients in the mesh come in here, and not through a Gateway."""
        return is_inside(self.gateway)

    @property
    def is_wide(self) -> bool:
        """Whether it is for many hosts of requests, which policies may tell apart."""
        return not self.inside and self.host not in ("", self.hostname)

    def is_for(self, host: str) -> bool:
        """Return whether a host is among those of an entry for many."""
        name = without_port(host).lower()
        wider = (f"*{name[at:]}" for at, letter in enumerate(name) if letter == "." and at)
        return next((each for each in (name, *wider, EVERY) if each in self.named), None) == self.hostname

    @property
    def hosts(self) -> str:
        """The hosts in words."""
        if self.inside:
            return self.host
        return self.hostname or ("*" if self.scheme in ("http", "https", "tls") else "")


Door = tuple[ResourceKey, str, int | None]
"""A Gateway, a scheme, and a port of it; None where the Gateway was not seen."""
Named = dict[str, set[ResourceKey]]
"""The patterns of hosts that are told apart at a door, each with the routes that name it."""


def entries(tracer: Tracer, gateways: Iterable[ResourceKey] | None = None) -> Iterator[EntryPoint]:
    """Yield the entries of some Gateways, or of all, those that were not seen last."""
    for door, named in doors(tracer, gateways).items():
        yield from entries_at(door, named)


def entries_of_routes(
    tracer: Tracer, gateways: Iterable[ResourceKey] | None = None
) -> dict[ResourceKey, list[EntryPoint]]:
    """Return the entries of some Gateways, or of all, by the routes that name their hosts."""
    found: dict[ResourceKey, list[EntryPoint]] = {}
    for door, named in doors(tracer, gateways).items():
        for entry in entries_at(door, named):
            for route in named.get(entry.hostname, ()):
                found.setdefault(route, []).append(entry)
    return found


def doors(tracer: Tracer, gateways: Iterable[ResourceKey] | None = None) -> dict[Door, Named]:
    """Return the doors of some Gateways, or of all, with the hosts that anybody tells apart there."""
    chosen = None if gateways is None else set(gateways)
    topology = tracer.topology
    found: dict[Door, Named] = {}
    for state in topology.gateways:
        key = state.gateway.key
        if chosen is not None and key not in chosen:
            continue
        at_port: dict[tuple[int, str], list[ListenerState]] = {}
        for listener in tracer.listeners(state):
            scheme = _SCHEMES.get(listener.protocol)
            if scheme is not None and listener.port is not None:
                at_port.setdefault((listener.port, scheme), []).append(listener)
        for (port, scheme), listeners in sorted(at_port.items()):
            named = found[key, scheme, port] = {}
            for listener in listeners:
                stream = scheme in ("tcp", "udp")
                named.setdefault(EVERY if stream else listener.hostname, set())
                for route, candidate in tracer.attached(listener, *(_STREAM_ROUTES if stream else _ROUTES)):
                    for hostname in (EVERY,) if stream else candidate.hostnames:
                        named.setdefault(hostname, set()).add(route.route.key)
        if any(map(undetermined, tracer.holders(state))):  # what it opens is not known
            naming = [each for each in topology.routes if any(parent.wanted == key for parent in each.parents)]
            found[key, "http", 0] = {host: set() for each in naming for host in each.hostnames} or {EVERY: set()}
    for key in topology.unseen:
        for scheme, number in tracer.out_of_sight.doors(key) if chosen is None or key in chosen else ():
            named = found[key, scheme, number] = {}
            for route, _ in tracer.out_of_sight.at(key, scheme, number):
                for hostname in route.hostnames:
                    named.setdefault(hostname, set()).add(route.route.key)
    return found


def entries_at(door: Door, patterns: Iterable[str]) -> Iterator[EntryPoint]:
    """Yield an entry for each pattern of hosts that is told apart at a door."""
    key, scheme, port = door
    if scheme in ("tcp", "udp"):
        yield EntryPoint(key, scheme, port, EVERY, "")
        return
    named = frozenset(patterns)
    for hostname, host in _hosts(named):
        entry = EntryPoint(key, scheme, port, hostname, host)
        yield entry._replace(named=named) if entry.is_wide else entry


def _hosts(patterns: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each pattern with a host that it is the narrowest one for."""
    known = sorted(set(patterns), key=lambda pattern: (pattern == EVERY, pattern.startswith("*."), pattern))
    exact = set(known)
    for pattern in known:
        if pattern == EVERY:
            yield pattern, _ELSEWHERE
        elif not pattern.startswith("*."):
            yield pattern, pattern
        elif is_symbolic(pattern):
            yield pattern, f"{_OTHER}{pattern[1:]}"
        else:
            labels = (_OTHER, *(f"{_OTHER}-{number}" for number in range(len(exact) + 1)))
            yield pattern, next(f"{label}{pattern[1:]}" for label in labels if f"{label}{pattern[1:]}" not in exact)
