"""The kinds of network policies that are evaluated; a world without any of them has nothing else of this room."""

from __future__ import annotations

from policylint.model import World

NETWORK_POLICY = ("networking.k8s.io", "NetworkPolicy")
GROUP = "policy.networking.k8s.io"
CLUSTER = tuple((GROUP, kind) for kind in ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"))
CILIUM = (("cilium.io", "CiliumNetworkPolicy"), ("cilium.io", "CiliumClusterwideNetworkPolicy"))
KINDS = (NETWORK_POLICY, *CLUSTER, *CILIUM)


def has_policies(world: World) -> bool:
    """Return whether a world holds a network policy."""
    return any(world.of_kind(*kind) for kind in KINDS)
