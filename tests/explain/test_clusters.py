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
        ("PolicySet/policies/all", ["bound by: PlacementBinding policies/all"]),
        ("PlacementBinding/policies/strict", ["selects: eu, us"]),
    ],
)
def test_facts(about: str, said: list[str], tmp_path: Path) -> None:
    found = facts(tmp_path, about)
    assert [line for line in said if line not in found] == [], found


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    unseen = [policy(), binding(), placement(predicates=labelled(env="prod")), set_binding()]
    assert "inform: clusters that were not seen (clusters-unknown)" in facts(tmp_path, "Policy/policies/pod", *unseen)
    some = [cluster("eu"), cluster("us"), policy(), binding(), placement(numberOfClusters=1), set_binding()]
    assert "inform: perhaps eu, us (any-1-of-2)" in facts(tmp_path, "Policy/policies/pod", *some)
    assert "perhaps: Policy policies/pod (any-1-of-2)" in facts(tmp_path, "ManagedCluster/us", *some)
    cel = requires(celSelector={"celExpressions": ["true"]})
    both = [cluster("eu"), cluster("us"), policy(), binding(), placement(predicates=[cel]), set_binding()]
    mixed = [*both, binding("sure", "sure"), placement("sure"), decision("sure", "us")]
    assert "inform: us; perhaps eu (cel-selector)" in facts(tmp_path, "Policy/policies/pod", *mixed)


def test_a_cluster_without_policies(tmp_path: Path) -> None:
    assert facts(tmp_path, "ManagedCluster/eu", cluster("eu"), policy()) == ["policies: none is placed on it"]
