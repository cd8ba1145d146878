"""Where objects beside Gateway API end TLS, with which certificate: each host has a chain of its own.

Source: istio.io/docs/ops/common-problems/network-issues, «404 errors occur when multiple gateways configured with same
TLS certificate»; projectcontour/contour#5240.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.doors.peculiar import OWN_GATEWAY, proxies
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.tls_ends import TlsEnd
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts
from policylint.model.words import listing
from policylint.topology.certificates import MADE, Certificates
from policylint.topology.grants import Grants

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


def misplaced(world: World) -> Iterator[DeadEnd]:
    """Yield the credentials of servers that are beside their Gateway, and not beside its proxies, which read them.

    Source: istio.io/docs/ops/common-problems/security-issues; istio/istio#27740, #25018; pilot/pkg/model/credentials.
    """
    known = Certificates(world, Grants(world))
    for gateway in world.of_kind(*OWN_GATEWAY):
        homes = sorted({workload.key.namespace for workload in proxies(world, gateway)})
        if not homes or gateway.key.namespace in homes or not all(homes):
            continue
        for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
            tls = mapping(server.get("tls"))
            for field in ("credentialName", "caCertCredentialName"):
                name = text(tls.get(field))
                own = gateway.key.namespace
                if not name or "/" in name or is_symbolic(name) or not _is_in(own, name, gateway, known):
                    continue
                if any(_is_in(home, name, gateway, known) for home in homes):
                    continue
                does = f"names Secret {name}, which its proxies look for in {listing(homes)}, and which is in {own}"
                fix = f"put the Secret into {listing(homes)}"
                ground = f"Secret {homes[0]}/{name} was not seen"
                then = "connections end before TLS is set up"
                place: Pointer = ("spec", "servers", number, "tls", field)
                about = ResourceKey("", "Secret", own, name)
                yield DeadEnd(gateway, place, does, fix, (about,), ground, then)


def _is_in(namespace: str, name: str, gateway: Resource, known: Certificates) -> bool:
    """Return whether a Secret is in a namespace, or something of the tree makes it there."""
    reference = {"name": name, "namespace": namespace}
    resolution = known.certificate(gateway, ("metadata", "name"), reference, "certificate", "").resolution
    return resolution.found or resolution.reason.endswith(MADE)
