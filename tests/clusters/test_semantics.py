"""What is easy to get wrong about Open Cluster Management, one hub each."""

from __future__ import annotations

from typing import Any

import pytest

from policylint.clusters.placements import in_words
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
from tests.network.worlds import manifest, world

FLEET = [
    cluster("dev", env="dev"),
    cluster("eu", env="prod", claims={"platform": "AWS"}),
    cluster("us", env="prod"),
    set_binding(),
]


def selected(*more: Manifest, **spec: Any) -> list[Row]:
    return placed(hub(*FLEET, policy(), binding(), placement(**spec), *more))


AWS = {"matchExpressions": [{"key": "platform", "operator": "In", "values": ["AWS"]}]}
VENDOR = {"celExpressions": ["managedCluster.metadata.labels.vendor == 'EKS'"]}
EXISTS = {"key": "env", "operator": "Exists"}


@pytest.mark.parametrize(
    ("spec", "row"),
    [
        ({}, (["dev", "eu", "us"], [], "inform", "")),
        ({"predicates": labelled(env="prod")}, (["eu", "us"], [], "inform", "")),
        ({"predicates": [*labelled(env="dev"), *labelled(env="prod")]}, (["dev", "eu", "us"], [], "inform", "")),
        ({"predicates": labelled(env="test")}, ([], [], "", "no-match")),
        ({"predicates": labelled(vendor="OpenShift")}, (None, ["dev", "eu", "us"], "inform", "labels-unknown")),
        ({"predicates": [requires(claimSelector=AWS)]}, (["eu"], ["dev", "us"], "inform", "claims-unknown")),
        (
            {"predicates": [requires(claimSelector=AWS, labelSelector={"matchLabels": {"env": "test"}})]},
            ([], [], "", "no-match"),
        ),
        ({"predicates": [requires(celSelector=VENDOR)]}, (None, ["dev", "eu", "us"], "inform", "cel-selector")),
        ({"numberOfClusters": 3}, (["dev", "eu", "us"], [], "inform", "")),
        ({"numberOfClusters": 2}, (None, ["dev", "eu", "us"], "inform", "any-2-of-3")),
        ({"clusterSets": ["prod"]}, ([], [], "", "no-clusterset-bound")),
        ({"predicates": [requires(labelSelector={"matchExpressions": [{**EXISTS, "operator": "Has"}]})]}, None),
        ({"predicates": [requires(labelSelector={"matchExpressions": [{**EXISTS, "values": ["a"]}]})]}, None),
        ({"predicates": labelled(env=["prod"])}, None),
        ({"tolerations": [{"operator": "Exists", "value": "x"}]}, None),
        ({"tolerations": [{"value": "x"}]}, None),
    ],
)
def test_placement(spec: dict[str, Any], row: Row | None) -> None:
    assert selected(**spec) == [row or ([], [], "", "misconfigured")]


PROD, DEV_EU = ["eu", "us"], ["dev", "eu"]


@pytest.mark.parametrize(
    ("expressions", "row"),
    [
        (["managedCluster.metadata.labels.env == 'prod'"], (PROD, [], "inform", "")),
        (["managedCluster.metadata.labels['env'] in ['prod', 'test']"], (PROD, [], "inform", "")),
        (["managedCluster.metadata.labels['env'].startsWith('p') || false"], (PROD, [], "inform", "")),
        (["managedCluster.metadata.name != 'us'"], (DEV_EU, [], "inform", "")),
        (
            ["managedCluster.metadata.name != 'us'", "'env' in managedCluster.metadata.labels"],
            (DEV_EU, [], "inform", ""),
        ),
        (["has(managedCluster.metadata.labels.region)"], ([], [], "", "no-match")),
        (["managedCluster.metadata.labels.region == 'eu'"], ([], [], "", "no-match")),  # an error of CEL's own
        (["managedCluster.metadata.labels.env"], ([], [], "", "no-match")),  # has a value that is no answer
        (
            ["managedCluster.metadata.labels.exists(each, each == 'env')"],
            (None, ["dev", *PROD], "inform", "cel-selector"),
        ),
        (["managedCluster.metadata.labels.env == '${ENV}'"], (None, ["dev", *PROD], "inform", "cel-selector")),
        (
            ["managedCluster.status.clusterClaims.exists(claim, claim.value == 'AWS')"],
            (["eu"], ["dev", "us"], "inform", "cel-selector"),
        ),
        (["cluster.metadata.name == 'us'"], None),
        (["managedCluster.metadata.name =="], None),
    ],
)
def test_expressions_of_clusters(expressions: list[str], row: Row | None) -> None:
    """As tests/witness/open_cluster_management.py has it of the hub's own scheduler."""
    spec = {"predicates": [requires(celSelector={"celExpressions": expressions})]}
    assert selected(**spec) == [row or ([], [], "", "misconfigured")]


@pytest.mark.parametrize(
    "spec",
    [
        {"predicates": labelled(env="a value")},
        {"predicates": [requires(claimSelector={"matchExpressions": [{"key": "a/b/c", "operator": "Exists"}]})]},
        {"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"builtIn": "Cost"}}]}},
        {"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"type": "AddOn"}}]}},
    ],
)
def test_one_thing_that_is_wrong_ends_the_whole_placement(spec: dict[str, Any]) -> None:
    assert selected(**spec) == [([], [], "", "misconfigured")]


def test_a_set_that_nobody_can_read_takes_the_others_along() -> None:
    chosen = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"env": "a value"}}}
    broken = manifest(
        "cluster.open-cluster-management.io/v1beta2", "ManagedClusterSet", "odd", spec={"clusterSelector": chosen}
    )
    assert selected(broken, set_binding("odd")) == [([], [], "", "misconfigured")]
    assert selected(broken, set_binding("odd"), clusterSets=["default"]) == [(["dev", "eu", "us"], [], "inform", "")]


@pytest.mark.parametrize(
    ("toleration", "row"),
    [
        ({}, (["dev", "eu", "us"], [], "inform", "")),
        ({"key": "gpu", "operator": "Exists"}, (["dev", "eu", "gpu", "us"], [], "inform", "")),
        ({"key": "gpu", "value": "yes"}, (["dev", "eu", "gpu", "us"], [], "inform", "")),
        ({"key": "gpu", "value": "no"}, (["dev", "eu", "us"], [], "inform", "")),
        (
            {"key": "gpu", "operator": "Exists", "tolerationSeconds": 60},
            (["dev", "eu", "us"], ["gpu"], "inform", "may-leave"),
        ),
    ],
)
def test_taints(toleration: dict[str, Any], row: Row) -> None:
    taints = [
        {"key": "gpu", "value": "yes", "effect": "NoSelect"},
        {"key": "busy", "effect": "PreferNoSelect"},
        {"key": f"{CLUSTERS}/unreachable", "effect": "NoSelect"},
    ]
    tainted = {**cluster("gpu"), "spec": {"taints": taints}}
    assert selected(tainted, tolerations=[toleration] if toleration else []) == [row]


def test_a_taint_for_new_clusters_lets_those_stay_that_were_selected() -> None:
    tainted = {**cluster("gpu"), "spec": {"taints": [{"key": "gpu", "effect": "NoSelectIfNew"}]}}
    assert selected(tainted) == [(["dev", "eu", "us"], ["gpu"], "inform", "may-leave")]
    assert selected(tainted, tolerations=[{"key": "gpu", "operator": "Exists"}])[0][:2] == (
        ["dev", "eu", "gpu", "us"],
        [],
    )
    tainted["spec"]["taints"].append({"key": "old", "effect": "NoSelect"})
    assert selected(tainted)[0][:2] == (["dev", "eu", "us"], [])


def test_sets() -> None:
    prod = cluster("berlin", **{f"{CLUSTERS}/clusterset": "prod"})
    assert selected(prod)[0][0] == ["dev", "eu", "us"], "a cluster without the label is in the set `default`"
    assert selected(prod, set_binding("prod"))[0][:2] == (["dev", "eu", "us"], ["berlin"]), "the set was not seen"
    own = manifest(f"{CLUSTERS}/v1beta2", "ManagedClusterSet", "prod")
    assert selected(prod, own, set_binding("prod"))[0][0] == ["berlin", "dev", "eu", "us"]
    other = {**set_binding("other"), "spec": {"clusterSet": "prod"}}
    assert selected(prod, own, other)[0][0] == ["dev", "eu", "us"], "a binding bears the name of its set"
    spec = {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"env": "prod"}}}}
    chosen = manifest(f"{CLUSTERS}/v1beta2", "ManagedClusterSet", "prod", spec=spec)
    assert selected(chosen, set_binding("prod"), clusterSets=["prod"])[0][0] == ["eu", "us"]


def test_decisions_count_more_than_what_can_be_computed() -> None:
    assert selected(decision("place", "us", "far"), predicates=labelled(env="dev")) == [
        (["far", "us"], [], "inform", "")
    ]
    assert selected(decision("place"))[0] == ([], [], "", "no-match")


def test_clusters_that_nobody_saw_are_no_clusters() -> None:
    asked = hub(set_binding(), policy(), binding(), placement(predicates=labelled(env="prod")))
    assert placed(asked) == [(None, [], "inform", "clusters-unknown")]
    (row,) = next(iter(asked.policies.values()))
    assert row.words == "env=prod in the sets bound to policies"


@pytest.mark.parametrize(
    ("fields", "own", "rows"),
    [
        ({}, "inform", [(["eu"], [], "inform", "")]),
        ({"bindingOverrides": {"remediationAction": "Enforce"}}, "inform", [(["eu"], [], "enforce", "")]),
        ({"bindingOverrides": {"remediationAction": "enforce"}}, "Enforce", [(["eu"], [], "enforce", "")]),
        ({"bindingOverrides": {"remediationAction": "enforce"}}, None, [(["eu"], [], "enforce", "")]),
        ({}, None, [(["eu"], [], "per-template", "")]),
        ({"subFilter": "restricted"}, "inform", [([], [], "", "not-bound")]),
    ],
)
def test_action(fields: dict[str, Any], own: str | None, rows: list[Row]) -> None:
    asked = hub(*FLEET, policy(remediationAction=own), placement(), decision("place", "eu"), binding(**fields))
    assert placed(asked) == rows


def test_a_restricted_binding_overrides_only_where_another_places() -> None:
    enforcing = binding("more", "some", subFilter="restricted", bindingOverrides={"remediationAction": "enforce"})
    asked = hub(*FLEET, policy(), binding(), enforcing, placement(predicates=labelled(env="prod")), placement("some"))
    assert placed(asked) == [(["eu", "us"], [], "enforce", "")]
    some = placement("some", predicates=labelled(env="dev"))
    assert placed(hub(*FLEET, policy(), binding(), enforcing, placement(), some)) == [
        (["eu", "us"], [], "inform", ""),
        (["dev"], [], "enforce", ""),
    ]


def test_what_may_enforce_is_possible_in_both_entries() -> None:
    enforcing = binding("more", "some", bindingOverrides={"remediationAction": "enforce"})
    some = placement("some", predicates=[requires(celSelector=VENDOR)])
    assert placed(hub(*FLEET, policy(), binding(), enforcing, placement(), some)) == [
        (None, ["dev", "eu", "us"], "inform", "cel-selector"),
        (None, ["dev", "eu", "us"], "enforce", "cel-selector"),
    ]


def test_an_exclusion_holds_on_the_way_through_its_set() -> None:
    excluding = policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["eu"]}])
    asked = [*FLEET, policy(), excluding, placement(), binding("bind", "place", "PolicySet/all")]
    assert placed(hub(*asked)) == [(["dev", "us"], [], "inform", "")]
    direct = [binding("direct", "one"), placement("one", predicates=labelled(env="prod"))]
    assert placed(hub(*asked, *direct)) == [(["dev", "eu", "us"], [], "inform", "")]
    all_of = [{"policyName": "pod", "clusterNames": ["dev", "eu", "us"]}]
    everywhere = [*FLEET, policy(), policy_set("pod", exclusions=all_of), *asked[-2:]]
    assert placed(hub(*everywhere)) == [([], [], "", "excluded")]


def test_nowhere() -> None:
    assert placed(hub(*FLEET, policy(disabled=True), binding(), placement())) == [([], [], "", "disabled")]
    assert placed(hub(*FLEET, policy(), binding())) == [([], [], "", "placement-missing")]
    rule = {"apiGroup": CLUSTERS, "kind": "PlacementRule", "name": "place"}
    assert placed(hub(*FLEET, policy(), binding(placementRef=rule), placement())) == [([], [], "", "not-bound")]


def test_a_tree_without_bindings_is_a_library() -> None:
    assert placed(hub(policy(), partial=True)) == [(None, [], "inform", "bindings-unknown")]
    assert placed(hub(policy(), binding("bind", "place", "Policy/other"), partial=True))[0][3] == "not-bound"
    assert placed(hub(policy(), binding(), partial=True)) == [(None, [], "inform", "placement-unknown")]


def test_replicas_are_the_hubs_own() -> None:
    copy = manifest("policy.open-cluster-management.io/v1", "Policy", "policies.pod", "eu", spec={})
    assert [key.namespace for key in hub(*FLEET, policy(), copy).policies] == ["policies"]


def test_anything_may_stand_anywhere() -> None:
    odd: list[Any] = [None, 7, "x", [], {}, [[]], [{}], {"a": [1]}]
    for value in odd:
        asked = hub(
            {**cluster("one"), "spec": {"taints": value}, "status": value},
            {**cluster("two"), "status": {"clusterClaims": value}},
            {**cluster("three"), "spec": {"taints": [{"key": value, "effect": "NoSelect"}]}},
            *[set_binding(), policy(disabled=value), policy_set("pod", exclusions=value)],
            {**policy_set(), "spec": {"policies": value}},
            *[{**binding(), "placementRef": value}, binding("b2", subjects=value), binding("b3")],
            {**decision("place"), "status": value},
            placement(predicates=value, tolerations=value, clusterSets=value, numberOfClusters=value),
        )
        assert len(asked.policies) == 1
        asked = hub(*FLEET, policy(), binding(), placement(predicates=[requires(labelSelector=value)]))
        assert placed(asked)


def test_a_set_of_many_and_a_binding_of_many_cost_their_size() -> None:
    names = [f"p{number}" for number in range(5000)]
    subjects = [f"Policy/{name}" for name in names]
    asked = hub(*FLEET, *map(policy, names), policy_set(*names), placement(), binding("bind", "place", *subjects))
    assert {rows[0].clusters for rows in asked.policies.values()} == {0b111}


def test_words() -> None:
    predicates = [*labelled(env="prod"), requires(claimSelector=AWS)]
    (place,) = world([placement(predicates=predicates, clusterSets=["a", "b"])]).resources.values()
    assert in_words(place) == "env=prod or platform In (AWS) in sets a and b"


@pytest.mark.parametrize(("name", "reason"), [("aws", "cluster-sets-unknown"), ("all-cluster", "no-clusterset-bound")])
def test_a_set_that_is_bound_and_named_may_be_made_by_hand(name: str, reason: str) -> None:
    """Unless a set of nearly that name is there: then it is misspelt."""
    there = manifest("cluster.open-cluster-management.io/v1beta2", "ManagedClusterSet", "all-clusters")
    asked = hub(*FLEET, there, set_binding(name), placement(clusterSets=[name]), policy(), binding())
    (place,) = asked.fleet.world.of_kind("cluster.open-cluster-management.io", "Placement")
    assert asked.selection(place.key).reason == reason


@pytest.mark.parametrize("spec", [{}, {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}}])
def test_where_no_cluster_says_its_set_others_put_them_in(spec: dict[str, object]) -> None:
    own = manifest(f"{CLUSTERS}/v1beta2", "ManagedClusterSet", "prod", spec=spec)
    there = [own, set_binding("prod")]
    assert selected(*there, clusterSets=["prod"])[0] == (None, ["dev", "eu", "us"], "inform", "labels-unknown")
    asked = {"clusterSets": ["prod"], "predicates": labelled(env="dev")}
    assert selected(*there, **asked)[0][:2] == (None, ["dev"]), "its labels are seen"
    assert selected(*there, cluster("berlin", **{f"{CLUSTERS}/clusterset": "prod"}), **asked)[0][:2] == ([], [])
