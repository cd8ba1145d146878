"""Objects for one host of which sidecars take one alone: VirtualServices, and the policies of DestinationRules.

Source: istio/istio pilot/pkg/networking/core/httproute.go, buildSidecarOutboundVirtualHosts and dedupeDomains (the
oldest comes first, sortConfigByCreationTime; Gateways do merge); pilot/pkg/model/destination_rule.go,
mergeDestinationRule: subsets are added, of two policies of the top level the first stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, World, is_symbolic, text, texts
from policylint.model.hosts import is_exported
from policylint.topology.workloads import WORKLOADS

_GROUP = "networking.istio.io"


def contended(world: World) -> Iterator[DeadEnd]:
    """Yield the objects that ask for a host of which an older one has what they say."""
    for virtual, first, host, when in _lost(world, "VirtualService", _hosts_in_mesh):
        yield DeadEnd(
            virtual,
            ("spec", "hosts", texts(virtual.spec.get("hosts")).index(host)),
            f"asks for host {host} in the mesh, which {first.key} asks for, too",
            "write the rules of a host into one VirtualService, or have both bound to a Gateway alone",
            (first.key,),
            then=f"sidecars take the rules of one VirtualService of a host, {when}; only Gateways merge them",
            severity="warning",
        )
    for rule, first, host, when in _lost(world, "DestinationRule", _hosts_with_policy):
        if rule.key.namespace == first.key.namespace and rule.spec["trafficPolicy"] != first.spec["trafficPolicy"]:
            yield DeadEnd(
                rule,
                ("spec", "trafficPolicy"),
                f"has a trafficPolicy for host {host}, and {first.key} has one, too",
                "write one trafficPolicy for the host, and what differs below subsets",
                (first.key,),
                then=f"subsets of two rules are added up, their trafficPolicy is that of one, {when}",
                severity="warning",
            )


def _lost(
    world: World, kind: str, hosts: Callable[[Resource], Sequence[str]]
) -> Iterator[tuple[Resource, Resource, str, str]]:
    """Yield each object of a host that comes behind another one where both are read, with that, the host as it is
    written, and which of them counts."""
    claims: dict[str, list[tuple[Resource, str]]] = defaultdict(list)
    for resource in world.of_kind(_GROUP, kind):
        for host in hosts(resource) if not world.lands_anywhere(resource) else ():
            if not is_symbolic(host) and "*" not in host:
                claims[_whole(host, resource.key.namespace)].append((resource, host))
    for rivals in claims.values():
        first, *others = sorted(rivals, key=lambda claim: claim[0].age)
        for resource, host in others:
            keys = (first[0].key, resource.key)
            if keys[0] != keys[1] and not world.apart(keys, True, None) and are_met(world, first[0], resource):
                is_known = bool(first[0].created) and first[0].created != resource.created
                yield resource, first[0], host, "the oldest" if is_known else "the oldest, whichever that is"


def are_met(world: World, one: Resource, other: Resource) -> bool:
    """Return whether the proxies of some namespace surely read both."""
    homes = {*world.once(_homes), one.key.namespace, other.key.namespace}
    return any(is_exported(one, home) and is_exported(other, home) for home in homes)


def _homes(world: World) -> frozenset[str]:
    """Return the namespaces in which something runs."""
    return frozenset(each.key.namespace for kind in WORKLOADS for each in world.of_kind(*kind))


def _hosts_in_mesh(virtual: Resource) -> Sequence[str]:
    """Return the hosts for which sidecars take the HTTP rules of a VirtualService."""
    is_read = "mesh" in (texts(virtual.spec.get("gateways")) or ["mesh"]) and bool(virtual.spec.get("http"))
    return texts(virtual.spec.get("hosts")) if is_read else ()


def _hosts_with_policy(rule: Resource) -> Sequence[str]:
    is_whole = bool(rule.spec.get("trafficPolicy")) and not rule.spec.get("workloadSelector")
    return [text(rule.spec.get("host"))] if is_whole and text(rule.spec.get("host")) else ()


def _whole(host: str, home: str) -> str:
    """Return a host as proxies know it: a short name is one of the namespace of the object."""
    return host.lower() if "." in host else f"{host.lower()}.{home}.svc.cluster.local"
