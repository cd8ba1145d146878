"""Hubs whose answers were written down from the documents first: policy, clusters, action, reason."""

from __future__ import annotations

import pytest

from tests.clusters.hubs import (
    CLUSTERS,
    Manifest,
    Row,
    binding,
    cluster,
    decision,
    hub,
    labelled,
    placed,
    placement,
    policy,
    policy_set,
    requires,
    set_binding,
)
from tests.network.worlds import manifest

ENFORCING = {"bindingOverrides": {"remediationAction": "enforce"}}
IN_PROD = {f"{CLUSTERS}/clusterset": "prod"}
FLEET = [
    cluster("berlin", env="prod", tier="gold", **IN_PROD),
    cluster("paris", env="prod", tier="silver", **IN_PROD),
    cluster("oslo", env="stage"),
    cluster("rome", env="dev"),
]
PROD_SET = manifest(f"{CLUSTERS}/v1beta2", "ManagedClusterSet", "prod")
GOLD = placement("gold", predicates=labelled(tier="gold"))


def rule(*decided: str) -> Manifest:
    made = manifest("apps.open-cluster-management.io/v1", "PlacementRule", "old", "policies", spec={})
    return {**made, "status": {"decisions": [{"clusterName": name} for name in decided]}}


def by_rule(**fields: object) -> Manifest:
    reference = {"apiGroup": "apps.open-cluster-management.io", "kind": "PlacementRule", "name": "old"}
    return binding("by-rule", placementRef=reference, **fields)


@pytest.mark.parametrize(
    ("more", "rows"),
    [
        pytest.param(
            [set_binding("prod"), PROD_SET, policy(), placement(), binding()],
            [(["berlin", "paris"], [], "inform", "")],
            id="only the clusters of the bound set",
        ),
        pytest.param(
            [set_binding("global"), policy(), placement(), binding()],
            [(["berlin", "oslo", "paris", "rome"], [], "inform", "")],
            id="global holds all",
        ),
        pytest.param(
            [set_binding(), set_binding("prod"), PROD_SET, policy(), placement(clusterSets=["default"]), binding()],
            [(["oslo", "rome"], [], "inform", "")],
            id="clusterSets narrows the bound sets",
        ),
        pytest.param(
            [set_binding("prod", "elsewhere"), PROD_SET, policy(), placement(), binding()],
            [([], [], "", "no-clusterset-bound")],
            id="a set that is bound to another namespace",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                rule("oslo"),
                by_rule(),
                placement(predicates=labelled(env="prod")),
                binding(**ENFORCING),
            ],
            [(["oslo"], [], "inform", ""), (["berlin", "paris"], [], "enforce", "")],
            id="a PlacementRule and an enforcing Placement are united",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                placement(),
                binding(),
                GOLD,
                binding("g", "gold", **ENFORCING),
                policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["berlin"]}]),
            ],
            [(["oslo", "paris", "rome"], [], "inform", ""), (["berlin"], [], "enforce", "")],
            id="an exclusion of a set that nothing binds excludes nothing",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                placement(),
                binding("s", "place", "PolicySet/all"),
                GOLD,
                binding("g", "gold", subFilter="restricted", **ENFORCING),
                policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["berlin"]}]),
            ],
            [(["oslo", "paris", "rome"], [], "inform", "")],
            id="an override of a cluster that is excluded places nothing there",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                GOLD,
                binding("g", "gold", bindingOverrides={"remediationAction": "inform"}),
            ],
            [(["berlin"], [], "inform", "")],
            id="an override cannot relax, nor change anything with inform",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(remediationAction="enforce"),
                GOLD,
                binding("g", "gold", bindingOverrides={"remediationAction": "inform"}),
            ],
            [(["berlin"], [], "enforce", "")],
            id="an override does not relax what enforces",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                decision("place", "rome"),
                placement(predicates=labelled(env="prod")),
                binding(),
            ],
            [(["rome"], [], "inform", "")],
            id="decisions count, whatever the predicates say",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                binding(),
                placement(predicates=[requires(labelSelector={}), *labelled(env="none")]),
            ],
            [(["berlin", "oslo", "paris", "rome"], [], "inform", "")],
            id="an empty selector is one that all meet",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                binding(),
                placement(predicates=labelled(env="prod"), numberOfClusters=5),
            ],
            [(["berlin", "paris"], [], "inform", "")],
            id="more clusters wanted than there are: all",
        ),
        pytest.param(
            [set_binding("global"), policy(), placement(), binding("b", "place", "PolicySet/all"), policy_set("other")],
            [([], [], "", "not-bound")],
            id="a set without the policy",
        ),
        pytest.param(
            [
                set_binding("global"),
                policy(),
                placement(),
                binding(subjects=[{"apiGroup": "example.com", "kind": "Policy", "name": "pod"}]),
            ],
            [([], [], "", "not-bound")],
            id="a subject of another group is none",
        ),
    ],
)
def test_predicted(more: list[Manifest], rows: list[Row]) -> None:
    assert placed(hub(*FLEET, *more)) == rows
