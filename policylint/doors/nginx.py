"""Hosts that objects of NGINX Ingress Controller contend for: each host belongs to one of them, the oldest.

Source: docs.nginx.com/nginx-ingress-controller/configuration/host-and-listener-collisions; nginx/kubernetes-ingress,
internal/k8s/configuration.go (rebuildHosts, compareConfiguration: creationTimestamp, then uid).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.doors.controllers import Classes
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, World, is_symbolic, mapping, sequence, text
from policylint.model.kinds import INGRESS
from policylint.namedtuple import NamedTuple

_GROUP = "k8s.nginx.org"
_VENDOR = "nginx-inc"
_MERGEABLE = "nginx.org/mergeable-ingress-type"
_PASSING = "tls-passthrough"


class _Claim(NamedTuple):
    """A host that an object asks for, where it says so, and the class of the controller that it asks."""

    holder: Resource
    host: str
    pointer: Pointer
    of_class: str


def contended(world: World) -> Iterator[DeadEnd]:
    """Yield the objects that ask for a host which another one has."""
    claims: dict[str, list[_Claim]] = defaultdict(list)
    for claim in _claims(world):
        if claim.host and not is_symbolic(claim.host):
            claims[claim.host.lower()].append(claim)
    for host, rivals in claims.items():
        if len({claim.holder.key for claim in rivals}) < 2:
            continue
        first, *others = sorted(rivals, key=lambda claim: claim.holder.age)
        for claim in others:
            keys = (first.holder.key, claim.holder.key)
            if keys[0] == keys[1] or len({first.of_class, claim.of_class} - {""}) > 1 or world.apart(keys, True, None):
                continue
            known = first.holder.created and first.holder.created != claim.holder.created
            does = f"asks for host {host}, which {first.holder.key} asks for, too"
            then = "NGINX gives a host to one object" + (", the oldest" if known else ": the oldest, whichever that is")
            yield DeadEnd(
                claim.holder,
                claim.pointer,
                does,
                "let one object have the host, with a VirtualServerRoute or a minion for what others add",
                (first.holder.key,),
                then=f"{then}; the other one is rejected: «All hosts are taken by other resources»",
            )


def _claims(world: World) -> Iterator[_Claim]:
    for server in world.of_kind(_GROUP, "VirtualServer"):
        if not server.spec.get("listener"):
            host, of_class = text(server.spec.get("host")), text(server.spec.get("ingressClassName"))
            yield _Claim(server, host, ("spec", "host"), of_class)
    for server in world.of_kind(_GROUP, "TransportServer"):
        if text(mapping(server.spec.get("listener")).get("name")) == _PASSING:
            host, of_class = text(server.spec.get("host")), text(server.spec.get("ingressClassName"))
            yield _Claim(server, host, ("spec", "host"), of_class)
    classes = Classes(world)
    for ingress in world.of_kind(*INGRESS):
        name = classes.name(ingress)
        vendor, certain = classes.vendor(ingress, name)
        if vendor.name != _VENDOR or not certain or ingress.annotations.get(_MERGEABLE) == "minion":
            continue
        for number, rule in enumerate(map(mapping, sequence(ingress.spec.get("rules")))):
            yield _Claim(ingress, text(rule.get("host")), ("spec", "rules", number, "host"), name)
