"""Hosts that objects of NGINX Ingress Controller contend for: each host belongs to one of them, the oldest.

Source: docs.nginx.com/nginx-ingress-controller/configuration/host-and-listener-collisions; nginx/kubernetes-ingress,
internal/k8s/configuration.go (rebuildHosts, compareConfiguration: creationTimestamp, then uid).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from policylint.documents import Pointer
from policylint.doors.controllers import Classes
from policylint.doors.nginx_faults import fault_of_server
from policylint.doors.nginx_policies import GROUP
from policylint.doors.peculiar import SERVER
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.model.kinds import INGRESS
from policylint.namedtuple import NamedTuple

_VENDOR = "nginx-inc"
_MERGEABLE, _MINION = "nginx.org/mergeable-ingress-type", "minion"
_PASSING = "tls-passthrough"


class _Claim(NamedTuple):
    """A host that an object asks for, where it says so, and the class of the controller that it asks."""

    holder: Resource
    host: str
    pointer: Pointer
    of_class: str


class Contest(NamedTuple):
    """That another object asks for a host.

    Args:
        is_lost: whether that one certainly has it; otherwise it may have it.
    """

    rival: Resource
    is_lost: bool

    def doubt(self, host: str) -> str:
        """Return why it is not known whether the object has a host."""
        return f"{self.rival.key} asks for host {host}, too"


class _Lost(NamedTuple):
    """A claim behind that of another object; `is_known` says whether it is by what both state of their age."""

    claim: _Claim
    first: _Claim
    is_known: bool


def contest(world: World, holder: Resource, host: str) -> Contest | None:
    """Return who else asks for a host of an object; None where nobody does, or the object has it for certain."""
    return world.once(_contests).get((holder.key, host.lower()))


def contended(world: World) -> Iterator[DeadEnd]:
    """Yield the objects that ask for a host which another one has."""
    for claim, first, is_known in world.once(_lost):
        then = "NGINX gives a host to one object" + (", the oldest" if is_known else ": the oldest, whichever that is")
        yield DeadEnd(
            claim.holder,
            claim.pointer,
            f"asks for host {claim.host.lower()}, which {first.holder.key} asks for, too",
            "let one object have the host, with a VirtualServerRoute or a minion for what others add",
            (first.holder.key,),
            then=f"{then}; the other one is rejected: «All hosts are taken by other resources»",
        )


def _contests(world: World) -> Mapping[tuple[ResourceKey, str], Contest]:
    found: dict[tuple[ResourceKey, str], Contest] = {}
    for claim, first, is_known in world.once(_lost):
        host = claim.host.lower()
        found[claim.holder.key, host] = Contest(first.holder, is_known)
        if not is_known:
            found.setdefault((first.holder.key, host), Contest(claim.holder, False))
    masters: dict[str, ResourceKey] = {}
    minions: list[tuple[ResourceKey, str]] = []
    for ingress, _, role in _ingresses(world):
        for _, host in _hosts(ingress):
            if role == "master":
                masters.setdefault(host.lower(), ingress.key)
            elif role == _MINION:
                minions.append((ingress.key, host.lower()))
    for key, host in minions:  # they have what their master has
        of_master = found.get((masters[host], host)) if host in masters else None
        if of_master is not None:
            found[key, host] = of_master
    return found


def _lost(world: World) -> Sequence[_Lost]:
    """Return the claims on hosts that come behind the oldest one."""
    claims: dict[str, list[_Claim]] = defaultdict(list)
    for claim in _claims(world):
        if claim.host and not is_symbolic(claim.host):
            claims[claim.host.lower()].append(claim)
    found: list[_Lost] = []
    for rivals in claims.values():
        first, *others = sorted(rivals, key=lambda claim: claim.holder.age)
        for claim in others:
            keys = (first.holder.key, claim.holder.key)
            if keys[0] == keys[1] or len({first.of_class, claim.of_class} - {""}) > 1 or world.apart(keys, True, None):
                continue
            is_known = bool(first.holder.created) and first.holder.created != claim.holder.created
            found.append(_Lost(claim, first, is_known))
    return found


def _claims(world: World) -> Iterator[_Claim]:
    for server in world.of_kind(*SERVER):
        if fault_of_server(server) is None:
            host, of_class = text(server.spec.get("host")), text(server.spec.get("ingressClassName"))
            yield _Claim(server, host, ("spec", "host"), of_class)
    for server in world.of_kind(GROUP, "TransportServer"):
        if text(mapping(server.spec.get("listener")).get("name")) == _PASSING:
            host, of_class = text(server.spec.get("host")), text(server.spec.get("ingressClassName"))
            yield _Claim(server, host, ("spec", "host"), of_class)
    for ingress, of_class, role in _ingresses(world):
        for pointer, host in _hosts(ingress) if role != _MINION else ():
            yield _Claim(ingress, host, pointer, of_class)


def _ingresses(world: World) -> Iterator[tuple[Resource, str, str]]:
    """Yield the Ingresses of the controller, with their class and what they are of several that share a host."""
    classes = Classes(world)
    for ingress in world.of_kind(*INGRESS):
        name = classes.name(ingress)
        vendor, certain = classes.vendor(ingress, name)
        if vendor.name == _VENDOR and certain:
            yield ingress, name, text(ingress.annotations.get(_MERGEABLE))


def _hosts(ingress: Resource) -> Iterator[tuple[Pointer, str]]:
    for number, rule in enumerate(map(mapping, sequence(ingress.spec.get("rules")))):
        yield ("spec", "rules", number, "host"), text(rule.get("host"))
