"""Small hubs of Open Cluster Management to ask questions about."""

from __future__ import annotations

from typing import Any

from policylint.clusters.state import Hub
from tests.network.worlds import manifest, world

Manifest = dict[str, Any]
Row = tuple[list[str] | None, list[str], str, str]
"""Clusters for certain (None where that is not known), others that may be, action, reason."""
CLUSTERS = "cluster.open-cluster-management.io"
POLICIES = "policy.open-cluster-management.io"


def cluster(name: str, *, claims: dict[str, str] | None = None, **labels: str) -> Manifest:
    made = manifest(f"{CLUSTERS}/v1", "ManagedCluster", name, labels=labels)
    if claims is not None:
        made["status"] = {"clusterClaims": [{"name": key, "value": value} for key, value in claims.items()]}
    return made


def set_binding(name: str = "default", namespace: str = "policies") -> Manifest:
    return manifest(f"{CLUSTERS}/v1beta2", "ManagedClusterSetBinding", name, namespace, spec={"clusterSet": name})


def placement(name: str = "place", **spec: Any) -> Manifest:
    return manifest(f"{CLUSTERS}/v1beta1", "Placement", name, "policies", spec=spec)


def requires(**selectors: Any) -> Manifest:
    return {"requiredClusterSelector": selectors}


def labelled(**labels: Any) -> list[Manifest]:
    return [requires(labelSelector={"matchLabels": labels})]


def decision(place: str, *names: str) -> Manifest:
    labels = {f"{CLUSTERS}/placement": place}
    made = manifest(f"{CLUSTERS}/v1beta1", "PlacementDecision", f"{place}-1", "policies", labels=labels)
    return {**made, "status": {"decisions": [{"clusterName": name} for name in names]}}


def policy(name: str = "pod", **spec: Any) -> Manifest:
    return manifest(
        f"{POLICIES}/v1",
        "Policy",
        name,
        "policies",
        spec={"disabled": False, "remediationAction": "inform", "policy-templates": [], **spec},
    )


def policy_set(*names: str, exclusions: Any = None) -> Manifest:
    spec = {"policies": list(names), "exclusions": exclusions or []}
    return manifest(f"{POLICIES}/v1beta1", "PolicySet", "all", "policies", spec=spec)


def binding(name: str = "bind", place: str = "place", *subjects: str, **fields: Any) -> Manifest:
    listed = [
        {"apiGroup": POLICIES, "kind": kind, "name": subject}
        for kind, _, subject in (entry.partition("/") for entry in subjects or ("Policy/pod",))
    ]
    made = manifest(f"{POLICIES}/v1", "PlacementBinding", name, "policies")
    reference = {"apiGroup": CLUSTERS, "kind": "Placement", "name": place}
    return {**made, "placementRef": reference, "subjects": listed, **fields}


def hub(*manifests: Manifest, **facts: Any) -> Hub:
    return Hub(world(list(manifests), **facts))


def placed(asked: Hub, name: str = "pod") -> list[Row]:
    """The rows of a policy, one for each entry."""
    rows = next(rows for key, rows in asked.policies.items() if key.name == name)
    named = asked.fleet.named
    return [(named(row.clusters) if row.known else None, named(row.possible), row.action, row.reason) for row in rows]
