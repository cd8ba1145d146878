"""The protocol of a Service's port as Istio takes it: requests, or connections of which no request is read.

Source: pkg/config/kube/conversion.go, ConvertProtocol, and pkg/config/protocol/instance.go (1.28).
"""

from __future__ import annotations

from policylint.model import Resource
from policylint.topology.service_ports import port_at

_OF_CONNECTIONS = frozenset({"tcp", "https", "tls", "mongo", "redis", "mysql"})
_OF_TLS = ("https", "tls")
_OF_REQUESTS = frozenset({"grpc", "http", "http_proxy", "http2"})
_STANDARD = {"kubernetes.io/h2c": "http2", "kubernetes.io/ws": "http", "kubernetes.io/wss": "https"}
_WELL_KNOWN = (25, 53, 3306, 27017)
"""Ports on which the server speaks first, so that no protocol is guessed from what clients send."""


def carries_connections(service: Resource | None, number: int | None) -> bool:
    """Tell whether a port of a Service is one of connections; where nothing says so, the first bytes show requests."""
    return bool(connections(service, number))


def connections(service: Resource | None, number: int | None) -> str:
    """Return whether the connections to a port of a Service are `tls` or `tcp`, "" where it is one of requests."""
    meant = None if service is None else port_at(service, number)
    if meant is None:
        return ""
    named = (meant.speaks or meant.name).lower()
    protocol = "grpc" if named.startswith("grpc-web") else _STANDARD.get(named, named.partition("-")[0])
    if protocol not in _OF_CONNECTIONS and (protocol in _OF_REQUESTS or meant.number not in _WELL_KNOWN):
        return ""
    return "tls" if protocol in _OF_TLS else "tcp"


def is_of_connections(protocol: str) -> bool:
    """Tell whether a protocol, as configuration names it, is one of connections; of others the first bytes show it."""
    return protocol.lower() in _OF_CONNECTIONS
