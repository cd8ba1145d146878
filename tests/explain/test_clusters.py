"""`explain` of policies for clusters, and of clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from tests.clusters.hubs import (
    binding,
    cluster,
    decision,
    labelled,
    placement,
    policy,
    policy_set,
    requires,
    set_binding,
)

OCM = "cluster.open-cluster-management.io"
HUB = [
    *[cluster("eu", env="prod"), cluster("us", env="prod"), cluster("dev", env="dev"), set_binding()],
    *[placement(), placement("prod", predicates=labelled(env="prod"))],
    binding("all", "place", "PolicySet/all"),
    binding("strict", "prod", subFilter="restricted", bindingOverrides={"remediationAction": "enforce"}),
    *[policy(), policy("idle"), policy("off", disabled=True), policy_set("pod", "off")],
]


def facts(folder: Path, about: str, *manifests: dict[str, Any]) -> list[str]:
    file = folder / "hub.yaml"
    file.write_text(yaml.safe_dump_all(manifests or HUB), encoding="utf-8")
    done = CliRunner().invoke(main, ["explain", about, str(file), "-o", "json"])
    assert done.exit_code == 0, done.output
    document = yaml.safe_load(done.stdout)
    return [f"{fact['name']}: {fact['value']}" for fact in document["explanations"][0]["facts"]]


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ("Policy/policies/pod", ["inform: dev", "enforce: eu, us", "by way of: PlacementBinding policies/strict"]),
        ("Policy/policies/idle", ["placed: nowhere: not-bound"]),
        ("Policy/policies/off", ["placed: nowhere: disabled"]),
        (
            "ManagedCluster/eu",
            ["enforce: Policy policies/pod by PlacementBinding policies/strict, PlacementBinding policies/all"],
        ),
        ("ManagedCluster/dev", ["inform: Policy policies/pod by PlacementBinding policies/all"]),
        ("Placement/policies/prod", ["selects: eu, us", "asks for: env=prod in the sets bound to policies"]),
        (
            "PolicySet/policies/all",
            ["bound by: PlacementBinding policies/all", "placed: dev, eu, us", "policies: pod, off"],
        ),
        (
            "PlacementBinding/policies/strict",
            ["selects: eu, us", "subjects: Policy policies/pod", "override: its policies enforce there"],
        ),
    ],
)
def test_facts(about: str, said: list[str], tmp_path: Path) -> None:
    found = facts(tmp_path, about)
    assert [line for line in said if line not in found] == [], found


@pytest.mark.parametrize(
    ("tolerations", "leaves"),
    [
        ([], "unavailable or unreachable"),
        ([{"key": f"{OCM}/unreachable", "operator": "Exists"}], "unavailable"),
        ([{"operator": "Exists"}], ""),
        ([{"key": f"{OCM}/{name}", "operator": "Exists"} for name in ("unreachable", "unavailable")], ""),
        ([{"key": f"{OCM}/{name}", "effect": "NoSelect"} for name in ("unreachable", "unavailable")], ""),
        (
            [{"key": f"{OCM}/{name}", "value": "x"} for name in ("unreachable", "unavailable")],
            "unavailable or unreachable",
        ),
    ],
)
@pytest.mark.parametrize("about", ["Policy/policies/pod", "Placement/policies/place"])
def test_what_a_placement_leaves_for_a_while(about: str, tolerations: Any, leaves: str, tmp_path: Path) -> None:
    """open-cluster-management-io/policy-generator-plugin#148."""
    there = [cluster("eu"), policy(), binding(), placement(tolerations=tolerations), set_binding()]
    said = [line for line in facts(tmp_path, about, *there) if line.startswith("leaves")]
    assert said == ([f"leaves: a cluster while it is {leaves}, which place does not tolerate"] if leaves else [])


@pytest.mark.parametrize(
    ("tolerations", "said"),
    [
        (
            [{"key": f"{OCM}/unreachable", "operator": "Exists", "tolerationSeconds": 300}],
            [
                "while it is unavailable, which place does not tolerate",
                "while it is unreachable for more than 300 s, which place tolerates so long",
            ],
        ),
        (
            [{"operator": "Exists", "tolerationSeconds": seconds} for seconds in (60, 300)],
            ["while it is unavailable or unreachable for more than 300 s, which place tolerates so long"],
        ),
        ([{"operator": "Exists", "tolerationSeconds": 60}, {"operator": "Exists"}], []),
    ],
)
def test_what_a_placement_leaves_after_a_while(tolerations: Any, said: list[str], tmp_path: Path) -> None:
    there = [cluster("eu"), policy(), binding(), placement(tolerations=tolerations), set_binding()]
    found = [line for line in facts(tmp_path, "Placement/policies/place", *there) if line.startswith("leaves")]
    assert found == [f"leaves: a cluster {each}" for each in said]


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    unseen = [policy(), binding(), placement(predicates=labelled(env="prod")), set_binding()]
    assert "inform: clusters that were not seen (clusters-unknown)" in facts(tmp_path, "Policy/policies/pod", *unseen)
    some = [cluster("eu"), cluster("us"), policy(), binding(), placement(numberOfClusters=1), set_binding()]
    assert "inform: perhaps eu, us (any-1-of-2)" in facts(tmp_path, "Policy/policies/pod", *some)
    assert "perhaps: Policy policies/pod (any-1-of-2)" in facts(tmp_path, "ManagedCluster/us", *some)
    cel = requires(celSelector={"celExpressions": ["managedCluster.status.version.kubernetes == 'v1'"]})
    both = [cluster("eu"), cluster("us"), policy(), binding(), placement(predicates=[cel]), set_binding()]
    mixed = [*both, binding("sure", "sure"), placement("sure"), decision("sure", "us")]
    assert "inform: us; perhaps eu (cel-selector)" in facts(tmp_path, "Policy/policies/pod", *mixed)


WAITS = [
    {"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "name": "base", "compliance": "Compliant"}
]


def demanding(compliance: str, action: str = "inform", data: str = "{{hub .ManagedClusterName hub}}") -> Any:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}}
    entry = {"complianceType": compliance, "objectDefinition": body if not data else {**body, "data": {"a": data}}}
    definition = {
        "apiVersion": "policy.open-cluster-management.io/v1",
        "kind": "ConfigurationPolicy",
        "metadata": {"name": "one"},
        "spec": {"remediationAction": action, "object-templates": [entry]},
    }
    return [{"objectDefinition": definition}]


def test_who_decides_on_the_action(tmp_path: Path) -> None:
    templates = {"policy-templates": demanding("musthave", "enforce")}
    parts = [cluster("eu"), set_binding(), placement(), binding(bindingOverrides={"remediationAction": "enforce"})]
    found = facts(tmp_path, "Policy/policies/pod", *parts, policy(**templates))
    assert "override: inform -> enforce by PlacementBinding policies/bind" in found
    assert not any(line.startswith("template: one") for line in found), "the override enforces what it says"
    assert "demands: musthave ConfigMap b/a" in found
    assert "templates: the hub fills in {{hub … hub}}, which is not evaluated" in found
    plain = [*parts[:3], binding()]
    informing = facts(tmp_path, "Policy/policies/pod", *plain, policy(**templates))
    assert "template: one: its enforce does not count, the Policy says inform" in informing
    each = facts(tmp_path, "Policy/policies/pod", *plain, policy(remediationAction=None, **templates))
    assert "template: one: enforce" in each
    only = {"policy-templates": demanding("musthave", "InformOnly")}
    kept = facts(tmp_path, "Policy/policies/pod", *plain, policy(remediationAction="enforce", **only))
    assert "template: one: InformOnly, whatever the Policy says" in kept


def test_what_a_policy_waits_for(tmp_path: Path) -> None:
    parts = [*HUB[:4], placement(), placement("dev", predicates=labelled(env="dev"))]
    own = [policy(dependencies=WAITS), binding()]
    assert "waits for: Policy policies/base: it is not there" in facts(tmp_path, "Policy/policies/pod", *parts, *own)
    other = [policy("base"), binding("other", "dev", "Policy/base")]
    found = facts(tmp_path, "Policy/policies/pod", *parts, *own, *other)
    assert "waits for: Policy policies/base: not placed on eu, us" in found
    assert "waited for by: Policy policies/pod" in facts(tmp_path, "Policy/policies/base", *parts, *own, *other)
    idle = facts(tmp_path, "Policy/policies/pod", *parts, *own, policy("base", disabled=True))
    assert "waits for: Policy policies/base: placed nowhere" in idle


def test_exclusions_and_conflicts_of_a_cluster(tmp_path: Path) -> None:
    excluding = policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["eu"]}])
    parts = [*HUB[:4], placement(), excluding, binding("all", "place", "PolicySet/all")]
    assert "excluded: Policy policies/pod by PolicySet policies/all" in facts(
        tmp_path, "ManagedCluster/eu", *parts, policy()
    )
    assert "excluded: from eu by PolicySet policies/all" in facts(tmp_path, "Policy/policies/pod", *parts, policy())
    assert "excludes: pod from eu" in facts(tmp_path, "PolicySet/policies/all", *parts, policy())
    demands = [policy("a", **{"policy-templates": demanding("musthave", data="")})]
    demands.append(policy("b", **{"policy-templates": demanding("mustnothave", data="")}))
    both = [cluster("eu"), set_binding(), placement(), binding("bind", "place", "Policy/a", "Policy/b")]
    conflict = "conflict: Policy policies/a and Policy policies/b on ConfigMap b/a"
    assert any(line.startswith(conflict) for line in facts(tmp_path, "ManagedCluster/eu", *both, *demands))


def test_a_cluster_without_policies(tmp_path: Path) -> None:
    assert facts(tmp_path, "ManagedCluster/eu", cluster("eu"), policy()) == ["policies: none is placed on it"]
