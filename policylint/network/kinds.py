"""The kinds of network policies; a world without any of them has nothing else of this room."""

from __future__ import annotations

from policylint.model import World

NETWORK_POLICY = ("networking.k8s.io", "NetworkPolicy")
GROUP = "policy.networking.k8s.io"
CLUSTER = tuple((GROUP, kind) for kind in ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"))
CILIUM = (("cilium.io", "CiliumNetworkPolicy"), ("cilium.io", "CiliumClusterwideNetworkPolicy"))
EVALUATED = (NETWORK_POLICY, *CLUSTER, *CILIUM)
UNREAD = (
    ("crd.projectcalico.org", "GlobalNetworkPolicy"),
    ("crd.projectcalico.org", "NetworkPolicy"),
    ("projectcalico.org", "GlobalNetworkPolicy"),
    ("projectcalico.org", "NetworkPolicy"),
    ("crd.antrea.io", "ClusterNetworkPolicy"),
    ("crd.antrea.io", "NetworkPolicy"),
)
"""Kinds of other engines, which are not evaluated: what may select a pod makes every answer about it unknown."""
KINDS = (*EVALUATED, *UNREAD)


def has_policies(world: World) -> bool:
    """Return whether a world holds a network policy."""
    return any(world.of_kind(*kind) for kind in KINDS)
