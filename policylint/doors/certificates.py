"""Where objects beside Gateway API end TLS, with which certificate: each host has a chain of its own.

Source: istio.io/docs/ops/common-problems/network-issues, «404 errors occur when multiple gateways configured with same
TLS certificate»; projectcontour/contour#5240.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from policylint.documents import Pointer
from policylint.doors.peculiar import SERVER, TLS_ENDS
from policylint.implementations.generic import gateway_pods
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.implementations.generic.tls_ends import End, TlsEnd, written
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text, texts, value_at
from policylint.model.kinds import INGRESS
from policylint.model.words import listing
from policylint.topology.certificates import MADE, Certificates, certificates, presumed
from policylint.topology.hostnames import covers

if TYPE_CHECKING:
    from policylint.doors.annotations import Served

_ENDED = ("SIMPLE", "MUTUAL", "OPTIONAL_MUTUAL")
_ROUTER = ("traefik.io", "IngressRoute")
_VIRTUAL_HOST = TLS_ENDS[1]


def ends(world: World) -> Sequence[End]:
    """Return where objects beside Gateway API end TLS with certificates of Secrets."""
    return world.once(_ends)


def _ends(world: World) -> Sequence[End]:
    return tuple(chain(_at_ingresses(world), _at_others(world)))


def _at_ingresses(world: World) -> Iterator[End]:
    for ingress, vendor, _ in _served(world):
        blocks = [mapping(block) for block in sequence(ingress.spec.get("tls"))]
        rules = [text(mapping(rule).get("host")) for rule in sequence(ingress.spec.get("rules"))]
        named = [text(block.get("secretName")) for block in blocks]
        for number, block in enumerate(blocks):
            hosts = written(texts(block.get("hosts")) or rules)
            if not named[number]:
                continue
            shown = filter(None, named) if vendor.pools == "ingress" else [named[number]]
            place: Pointer = ("spec", "tls", number, "secretName")
            end = _end(ingress, place, hosts, *shown)
            yield end._replace(certain=bool(vendor.name) and vendor.pools != "all" and not end.is_issued)


def _at_others(world: World) -> Iterator[End]:
    for router in world.of_kind(*_ROUTER):
        if name := text(mapping(router.spec.get("tls")).get("secretName")):
            yield _end(router, ("spec", "tls", "secretName"), (), name)._replace(certain=False)
    for server in world.of_kind(*SERVER):
        tls, hosts = mapping(server.spec.get("tls")), written([text(server.spec.get("host"))])
        if name := "" if tls.get("cert-manager") else text(tls.get("secret")):
            yield _end(server, ("spec", "tls", "secret"), hosts, name)
    for proxy in world.of_kind(*_VIRTUAL_HOST):
        host = mapping(proxy.spec.get("virtualhost"))
        if name := text(mapping(host.get("tls")).get("secretName")):
            hosts = written([text(host.get("fqdn"))])
            yield _end(proxy, ("spec", "virtualhost", "tls", "secretName"), hosts, name)
    for gateway in world.of_kind(*OWN_GATEWAY):
        yield from _at_servers(world, gateway)


def _served(world: World) -> Sequence[Served]:
    if not world.of_kind(*INGRESS):
        return ()
    from policylint.doors.annotations import served

    return served(world)


def _at_servers(world: World, gateway: Resource) -> Iterator[End]:
    """Yield the servers of a Gateway of Istio: their credentials are read where its proxies are."""
    homes = gateway_pods.homes(world, gateway)
    for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
        tls = mapping(server.get("tls"))
        name, hosts = text(tls.get("credentialName")), texts(server.get("hosts"))
        if text(tls.get("mode")) in _ENDED and name:
            place: Pointer = ("spec", "servers", number, "tls", "credentialName")
            secrets = [ResourceKey("", "Secret", home, name) for home in homes] if len(homes) == 1 else []
            hosts = written([host.rpartition("/")[2] for host in hosts])
            if secrets and _has_one_of_its_own(world, gateway, name, *homes):
                yield End(str(gateway.key), gateway, place, hosts, [], certain=False)
            else:
                yield End(str(gateway.key), gateway, place, hosts, secrets)


def _has_one_of_its_own(world: World, gateway: Resource, name: str, home: str) -> bool:
    """Return whether a credential is beside the proxies that were seen, and beside the Gateway as well: then it has
    proxies of its own there, which were not, as who installs them does so for each namespace."""
    known, own = world.once(certificates), gateway.key.namespace
    return own != home and all(_is_in(each, name, gateway, known) for each in (own, home))


def _end(holder: Resource, place: Pointer, hosts: Sequence[str], *names: str) -> End:
    secrets = []
    for each in names:
        namespace, _, name = each.rpartition("/")
        secrets.append(ResourceKey("", "Secret", namespace or holder.key.namespace, name))
    return End(str(holder.key), holder, place, hosts, secrets)


def taken(world: World, holders: Collection[ResourceKey], host: str) -> Iterator[str]:
    """Yield what is assumed of the certificates that doors show for a host, as nothing here deploys them.

    Args:
        holders: what the request comes in by, and the route that takes it.
    """
    by_holder, known = world.once(_by_holder), world.once(certificates)
    for end in (end for holder in holders for end in by_holder.get(holder, ())):
        if end.hosts and not any(covers(name, host) for name in end.hosts):
            continue
        name = text(value_at(end.holder.body, end.pointer))
        if not end.secrets and not is_symbolic(name):
            yield f"Secret {name} is taken to be there, where the proxies of {end.what} are: these were not seen"
        resolved = [(secret, known.resolve(secret, issued=end.is_issued)) for secret in end.secrets]
        if not any(resolution.found for _, resolution in resolved):
            yield from (presumed(secret) for secret, resolution in resolved if resolution.missing)


def asked(world: World) -> Iterator[tuple[Resource, ResourceKey]]:
    """Yield the Secrets by which Ingresses and Gateways of Istio ask who calls, each with what names it."""
    for ingress, vendor, _ in _served(world):
        from policylint.doors.annotations import secrets_asked

        yield from ((ingress, secret) for secret in secrets_asked(ingress, vendor, encrypted=True))
    for end in ends(world):
        tls = mapping(value_at(end.holder.body, end.pointer[:-1]))
        if end.holder.key[:2] == OWN_GATEWAY and tls.get("mode") != "SIMPLE":
            yield from ((end.holder, secret._replace(name=f"{secret.name}-cacert")) for secret in end.secrets)


def asking(world: World, route: ResourceKey, *, encrypted: bool) -> Iterator[str]:
    """Yield what is assumed of the Secrets by which an Ingress asks who calls, as nothing here deploys them."""
    from policylint.doors.annotations import secrets_asked, server_of

    ingress, vendor = world.get(route), server_of(world, route)
    for secret in () if ingress is None or vendor is None else secrets_asked(ingress, vendor, encrypted=encrypted):
        if world.once(certificates).resolve(secret, issued=False).missing:
            yield presumed(secret)


def _by_holder(world: World) -> Mapping[ResourceKey, Sequence[End]]:
    found: dict[ResourceKey, list[End]] = {}
    for end in ends(world):
        found.setdefault(end.holder.key, []).append(end)
    return found


def tls_ends(world: World) -> Iterator[TlsEnd]:
    """Yield where TLS ends in objects beside Gateway API for hosts that have a chain of their own."""
    for end in ends(world):
        name = text(value_at(end.holder.body, end.pointer))
        if end.holder.key[:2] == OWN_GATEWAY:
            server = mapping(value_at(end.holder.body, end.pointer[:3]))
            selector = tuple(sorted(map(str, mapping(end.holder.spec.get("selector")).items())))
            port = mapping(server.get("port"))
            hosts = frozenset(host.rpartition("/")[2] for host in texts(server.get("hosts")))
            is_https = text(port.get("protocol")).upper() == "HTTPS"
            if is_https and selector and hosts and end.certain and not is_symbolic(str([name, *hosts])):
                by = (*selector, port.get("number"))
                yield TlsEnd(end.holder, end.pointer, by, f"credential {name}", hosts, 404)
        elif end.holder.key[:2] == _VIRTUAL_HOST and end.hosts and not is_symbolic(f"{name}{end.hosts[0]}"):
            hosts = frozenset(end.hosts)
            yield TlsEnd(end.holder, end.pointer, _VIRTUAL_HOST, str(end.secrets[0]), hosts, 421)


def misplaced(world: World) -> Iterator[DeadEnd]:
    """Yield the credentials of servers that are beside their Gateway, and not beside its proxies, which read them.

    Source: istio.io/docs/ops/common-problems/security-issues; istio/istio#27740, #25018; pilot/pkg/model/credentials.
    """
    known = world.once(certificates)
    for gateway in world.of_kind(*OWN_GATEWAY):
        homes = sorted(gateway_pods.homes(world, gateway))
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
