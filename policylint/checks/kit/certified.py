"""Where TLS ends with a certificate of a Secret, for which hosts, and for which names the certificate is.

A Secret's own certificate is read where the tree has it, else the names that cert-manager is to put into it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from policylint.checks.kit.challenges import CERTIFICATES
from policylint.checks.kit.routing import listeners
from policylint.checks.kit.x509 import names_in
from policylint.documents import Pointer
from policylint.doors.peculiar import SERVER, TLS_ENDS, proxies
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.kinds import INGRESS
from policylint.namedtuple import NamedTuple
from policylint.simulation import Simulation
from policylint.topology import ListenerState
from policylint.topology.certificates import CERT_MANAGER, is_annotated
from policylint.topology.secret_data import contents

_OWN_GATEWAY, _VIRTUAL_HOST = TLS_ENDS
_ENDED = ("SIMPLE", "MUTUAL", "OPTIONAL_MUTUAL")


class End(NamedTuple):
    """A place at which TLS ends.

    Args:
        what: what ends it, as a sentence has it.
        secrets: those whose certificates are shown there, each for the names that it has.
    """

    what: str
    holder: Resource
    pointer: Pointer
    hosts: Sequence[str]
    secrets: Sequence[ResourceKey]


class Certified(NamedTuple):
    """The names of a certificate, in lower case, and what states them."""

    names: frozenset[str]
    holder: Resource


def names_of(world: World, secret: ResourceKey) -> Certified | None:
    """Return for which names the certificate of a Secret is; None where that is not known."""
    makers = [
        each
        for each in world.in_namespace(CERTIFICATES, "Certificate", secret.namespace)
        if text(each.spec.get("secretName")) == secret.name
    ]
    if makers:
        stated = [*texts(makers[0].spec.get("dnsNames")), text(makers[0].spec.get("commonName"))]
        names = frozenset(each.lower() for each in stated if each)
        return Certified(names, makers[0]) if names and len(makers) == 1 else None
    holder = world.get(secret)
    pem = mapping(contents(holder, world)).get("tls.crt") if holder is not None else None
    read = names_in(pem) if pem else None
    return Certified(read, holder) if holder is not None and read else None


def ends(simulation: Simulation) -> Iterator[End]:
    """Yield where TLS ends with certificates of Secrets, for hosts that are known."""
    world = simulation.world
    yield from _at_listeners(simulation)
    for ingress, pools in _ingresses(world):
        named = [text(mapping(block).get("secretName")) for block in sequence(ingress.spec.get("tls"))]
        for number, block in enumerate(map(mapping, sequence(ingress.spec.get("tls")))):
            name = text(block.get("secretName"))
            rules = [text(mapping(rule).get("host")) for rule in sequence(ingress.spec.get("rules"))]
            hosts = _written(texts(block.get("hosts")) or rules)
            if name and hosts:
                shown = filter(None, named) if pools else [name]
                secrets = [ResourceKey("", "Secret", ingress.key.namespace, each) for each in shown]
                yield End(str(ingress.key), ingress, ("spec", "tls", number, "secretName"), hosts, secrets)
    for server in world.of_kind(*SERVER):
        tls, hosts = mapping(server.spec.get("tls")), _written([text(server.spec.get("host"))])
        name = "" if tls.get("cert-manager") else text(tls.get("secret"))
        if name and hosts:
            secret = ResourceKey("", "Secret", server.key.namespace, name)
            yield End(str(server.key), server, ("spec", "tls", "secret"), hosts, [secret])
    for proxy in world.of_kind(*_VIRTUAL_HOST):
        host = mapping(proxy.spec.get("virtualhost"))
        namespace, _, name = text(mapping(host.get("tls")).get("secretName")).rpartition("/")
        hosts = _written([text(host.get("fqdn"))])
        if name and hosts:
            secret = ResourceKey("", "Secret", namespace or proxy.key.namespace, name)
            yield End(str(proxy.key), proxy, ("spec", "virtualhost", "tls", "secretName"), hosts, [secret])
    for gateway in world.of_kind(*_OWN_GATEWAY):
        yield from _at_servers(world, gateway)


def _ingresses(world: World) -> Iterator[tuple[Resource, bool]]:
    """Yield the Ingresses whose controllers are known to show the certificates that they name for their hosts, with
    whether those of all blocks of one are shown alike; not those of which cert-manager takes the names from `tls`."""
    if not world.of_kind(*INGRESS):
        return
    from policylint.doors.annotations import served

    for ingress, vendor, _ in served(world):
        issued = any(ingress.annotations.get(each) for each in (*CERT_MANAGER, "kubernetes.io/tls-acme"))
        if vendor.name and vendor.pools != "all" and not issued:
            yield ingress, vendor.pools == "ingress"


def _at_servers(world: World, gateway: Resource) -> Iterator[End]:
    """Yield the servers of a Gateway of Istio: their credentials are read where its proxies are."""
    homes = {workload.key.namespace for workload in proxies(world, gateway)}
    for number, server in enumerate(map(mapping, sequence(gateway.spec.get("servers")))):
        tls = mapping(server.get("tls"))
        name, hosts = text(tls.get("credentialName")), texts(server.get("hosts"))
        hosts = _written([host.rpartition("/")[2] for host in hosts])
        if text(tls.get("mode")) in _ENDED and name and hosts and len(homes) == 1:
            secret = ResourceKey("", "Secret", next(iter(homes)), name)
            place: Pointer = ("spec", "servers", number, "tls", "credentialName")
            yield End(str(gateway.key), gateway, place, hosts, [secret])


def _at_listeners(simulation: Simulation) -> Iterator[End]:
    certified = [
        (listener, named)
        for listener in listeners(simulation.topology)
        if (named := [each for each in listener.references if each.role == "certificate"])
        and not is_annotated(listener.holder)
        and not any(each.granted is False for each in named)
    ]
    routed: dict[object, list[str]] = defaultdict(list)
    for route in simulation.topology.routes if certified else ():
        for candidate in (each for parent in route.parents for each in parent.candidates):
            if not candidate.failure and not candidate.unknown:
                routed[candidate.node] += candidate.hostnames
    for listener, named in certified:
        if shown := _shown(listener, routed[listener.node]):
            secrets = [each.wanted for each in named]
            yield End(str(listener.node), listener.holder, named[0].pointer, shown, secrets)


def _shown(listener: ListenerState, routed: Sequence[str]) -> list[str]:
    """Return for which hosts a listener shows its certificates: its own, or those of its routes below a pattern."""
    own = listener.hostname
    return _written([own] if own and not own.startswith("*") else list(routed) or [own])


def _written(hosts: Sequence[str]) -> list[str]:
    return [host.lower() for host in hosts if host not in ("", "*")]
