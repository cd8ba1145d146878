"""Where objects beside Gateway API end TLS with a certificate, so that each host has a chain of its own.

Source: istio.io/docs/ops/common-problems/network-issues, «404 errors occur when multiple gateways configured with same
TLS certificate»; projectcontour/contour#5240.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.doors.peculiar import OWN_GATEWAY
from policylint.implementations.generic.tls_ends import TlsEnd
from policylint.model import World, is_symbolic, mapping, sequence, text, texts

_ENDED = ("SIMPLE", "MUTUAL", "OPTIONAL_MUTUAL")
_VIRTUAL_HOST = ("projectcontour.io", "HTTPProxy")


def tls_ends(world: World) -> Iterator[TlsEnd]:
    """Yield where TLS ends in objects beside Gateway API."""
    for gateway in world.of_kind(*OWN_GATEWAY):
        selector = tuple(sorted(map(str, mapping(gateway.spec.get("selector")).items())))
        for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
            tls, port = mapping(server.get("tls")), mapping(server.get("port"))
            named = text(tls.get("credentialName"))
            hosts = frozenset(host.rpartition("/")[2] for host in texts(server.get("hosts")))
            is_ended = text(tls.get("mode")) in _ENDED and text(port.get("protocol")).upper() == "HTTPS"
            if is_ended and named and selector and hosts and not is_symbolic(str([named, *hosts])):
                place: Pointer = ("spec", "servers", number, "tls", "credentialName")
                yield TlsEnd(gateway, place, (*selector, port.get("number")), f"credential {named}", hosts, 404)
    for proxy in world.of_kind(*_VIRTUAL_HOST):
        host = mapping(proxy.spec.get("virtualhost"))
        named, fqdn = text(mapping(host.get("tls")).get("secretName")), text(host.get("fqdn"))
        if named and fqdn and not is_symbolic(named + fqdn):
            namespace, _, name = named.rpartition("/")
            secret = f"Secret {namespace or proxy.key.namespace}/{name}"
            place = ("spec", "virtualhost", "tls", "secretName")
            yield TlsEnd(proxy, place, _VIRTUAL_HOST, secret, frozenset({fqdn}), 421)
