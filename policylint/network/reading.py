"""All network policies of a world as written; nothing here knows pods or labels."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import Resource, World
from policylint.network import cilium
from policylint.network.kinds import CILIUM, KINDS, NETWORK_POLICY, UNREAD
from policylint.network.rules import PolicySpec, cluster_policy, network_policy, read_policy, unread_policy


def read_policies(world: World) -> tuple[PolicySpec, ...]:
    """Return the network policies of a world, by kind, namespace and name; those that are refused are marked."""
    found: list[PolicySpec] = []
    for group, kind in KINDS:
        for resource in world.of_kind(group, kind):
            found += _read(resource)
    return tuple(found)


def _read(resource: Resource) -> Iterator[PolicySpec]:
    kind = (resource.key.group, resource.key.kind)
    if kind in CILIUM:
        yield from cilium.policies(resource)
    elif kind in UNREAD:
        yield unread_policy(resource)
    else:
        yield read_policy(resource, network_policy if kind == NETWORK_POLICY else cluster_policy)
