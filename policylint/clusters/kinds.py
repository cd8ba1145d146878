"""The kinds of Open Cluster Management; a world without a Policy or PlacementBinding has nothing else of this room."""

from __future__ import annotations

from policylint.model import World

POLICY_GROUP = "policy.open-cluster-management.io"
CLUSTER_GROUP = "cluster.open-cluster-management.io"
POLICY = (POLICY_GROUP, "Policy")
POLICY_SET = (POLICY_GROUP, "PolicySet")
BINDING = (POLICY_GROUP, "PlacementBinding")
PLACEMENT = (CLUSTER_GROUP, "Placement")
PLACEMENT_RULE = ("apps.open-cluster-management.io", "PlacementRule")
DECISION = (CLUSTER_GROUP, "PlacementDecision")
CLUSTER = (CLUSTER_GROUP, "ManagedCluster")
CLUSTER_SET = (CLUSTER_GROUP, "ManagedClusterSet")
SET_BINDING = (CLUSTER_GROUP, "ManagedClusterSetBinding")
SUBJECTS = (POLICY, POLICY_SET)
PLACES = (PLACEMENT, PLACEMENT_RULE)


def has_policies(world: World) -> bool:
    """Return whether a world holds a Policy, a PolicySet or a PlacementBinding."""
    return any(world.of_kind(*kind) for kind in (POLICY, POLICY_SET, BINDING))
