"""What a change does to policies for clusters: policy, clusters, before and after."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import jsonschema
import pytest
import yaml

from policylint.compare import compare, pair_sides
from policylint.compare.placements import PlacementChange
from policylint.workspace import open_workspace
from tests.clusters.hubs import (
    Manifest,
    binding,
    cluster,
    labelled,
    placement,
    policy,
    policy_set,
    requires,
    set_binding,
)
from tests.diff.history import commit, run

FLEET = [cluster("dev", env="dev"), cluster("eu", env="prod"), cluster("us", env="prod"), set_binding()]
PROD = placement(predicates=labelled(env="prod"))
ENFORCING = {"bindingOverrides": {"remediationAction": "enforce"}}
CEL = placement(
    "cel", predicates=[requires(celSelector={"celExpressions": ["managedCluster.status.version.kubernetes == 'v1'"]})]
)
SCHEMA = Path(__file__).parents[2] / "schemas" / "output" / "diff-json-v1.json"
Row = tuple[str, list[str], str, str, str]


def changes(folder: Path, before: list[Manifest], after: list[Manifest]) -> list[PlacementChange]:
    sides = []
    for name, manifests in (("before", before), ("after", after)):
        place = folder / name
        place.mkdir()
        (place / "hub.yaml").write_text(yaml.safe_dump_all(manifests))
        sides.append(open_workspace([str(place / "hub.yaml")]).simulations)
    return [change for environment in compare(pair_sides(*sides)) for change in environment.placements]


def rows(folder: Path, before: list[Manifest], after: list[Manifest]) -> list[Row]:
    return [
        (change.policy.name, list(change.clusters), change.before, change.after, change.change)
        for change in changes(folder, before, after)
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], []),
        ([policy(), binding(), PROD], [policy(), binding(), PROD], []),
        (
            [policy(), PROD],
            [policy(), binding(), PROD],
            [("pod", ["eu", "us"], "not placed", "inform", "placed")],
        ),
        ([policy(), binding(), PROD], [PROD], [("pod", ["eu", "us"], "inform", "not placed", "gone")]),
        (
            [policy(), binding(), PROD],
            [policy(remediationAction="Enforce"), binding(), PROD],
            [("pod", ["eu", "us"], "inform", "enforce", "enforced")],
        ),
        (
            [policy(), binding(**ENFORCING), PROD],
            [policy(), binding(), PROD],
            [("pod", ["eu", "us"], "enforce", "inform", "relaxed")],
        ),
        (
            [policy(), binding(), PROD],
            [policy(), binding(), placement(predicates=labelled(env="dev"))],
            [("pod", ["dev"], "not placed", "inform", "placed"), ("pod", ["eu", "us"], "inform", "not placed", "gone")],
        ),
        (
            [policy(), binding(), PROD],
            [policy(disabled=True), binding(), PROD],
            [("pod", ["eu", "us"], "inform", "not placed", "gone")],
        ),
        (
            [policy(remediationAction=None), binding(), PROD],
            [policy(), binding(), PROD],
            [("pod", ["eu", "us"], "per-template", "inform", "changed")],
        ),
        (
            [policy(), policy_set("pod"), binding("bind", "place", "PolicySet/all"), PROD],
            [
                policy(),
                policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["eu"]}]),
                binding("bind", "place", "PolicySet/all"),
                PROD,
            ],
            [("pod", ["eu"], "inform", "not placed", "gone")],
        ),
        (
            [policy(), binding(), placement(numberOfClusters=2)],
            [policy(remediationAction="enforce"), binding(), placement(numberOfClusters=2)],
            [("pod", ["dev", "eu", "us"], "perhaps inform", "perhaps enforce", "enforced")],
        ),
        (
            [policy(), binding(), PROD],
            [policy(), binding(), PROD, binding("more", "cel", subFilter="restricted", **ENFORCING), CEL],
            [("pod", ["eu", "us"], "inform", "perhaps inform or enforce", "changed")],
        ),
    ],
)
def test_what_changes_is_told_by_cluster(
    tmp_path: Path, before: list[Manifest], after: list[Manifest], expected: list[Row]
) -> None:
    assert rows(tmp_path, [*FLEET, *before], [*FLEET, *after]) == expected


def test_a_cluster_that_comes_or_drops_out(tmp_path: Path) -> None:
    own = [policy(), binding(), PROD]
    asia = cluster("asia", env="prod")
    found = changes(tmp_path, [*FLEET, *own], [*FLEET[:2], FLEET[3], asia, *own])
    assert [(change.clusters, change.change, [str(key) for key in change.by]) for change in found] == [
        (("asia",), "placed", ["ManagedCluster asia"]),
        (("us",), "gone", ["ManagedCluster us"]),
    ]


def test_where_no_cluster_is_in_sight_the_words_change(tmp_path: Path) -> None:
    (change,) = changes(
        tmp_path,
        [set_binding(), policy(), binding(), PROD],
        [set_binding(), policy(remediationAction="enforce"), binding(), placement(predicates=labelled(env="dev"))],
    )
    assert (change.clusters, change.change) == ((), "enforced")
    assert change.before == "inform on env=prod in the sets bound to policies"
    assert change.after == "enforce on env=dev in the sets bound to policies"
    assert [str(key) for key in change.by] == ["Placement policies/place", "Policy policies/pod"]


def test_a_renamed_policy_is_the_same_policy(tmp_path: Path) -> None:
    templates = [{"objectDefinition": {"kind": "ConfigurationPolicy", "metadata": {"name": "x"}}}]
    before = [*FLEET, policy("a", **{"policy-templates": templates}), binding("bind", "place", "Policy/a"), PROD]
    after = [*FLEET, policy("b", **{"policy-templates": templates}), binding("bind", "place", "Policy/b"), PROD]
    assert rows(tmp_path, before, after) == []


def test_many_policies_on_many_clusters_cost_little(tmp_path: Path) -> None:
    fleet = [set_binding(), *(cluster(f"c{number}", env="prod" if number % 2 else "dev") for number in range(300))]
    policies = [policy(f"p{number}") for number in range(300)]
    bound = binding("bind", "place", *(f"Policy/p{number}" for number in range(300)))
    start = process_time()
    found = changes(tmp_path, [*fleet, *policies, bound, PROD], [*fleet[:-1], *policies, bound, placement()])
    assert {change.change for change in found} == {"placed", "gone"}
    assert len(found) == 600
    assert process_time() - start < 20


def test_every_report_tells_it(tmp_path: Path) -> None:
    top = tmp_path / "hub"
    subjects = ("Policy/pod", "Policy/b")
    for fields in ({}, ENFORCING):
        manifests = [*FLEET, policy(), policy("b"), PROD, binding("bind", "place", *subjects, **fields)]
        commit(top, {"hub.yaml": yaml.safe_dump_all(manifests)})

    def shown(*arguments: str, code: int = 0) -> str:
        status, output, _ = run(top, "diff", *arguments)
        assert status == code
        return output

    line = "Policy policies/b, Policy policies/pod: inform -> enforce on eu, us"
    plain = shown("HEAD~..HEAD")
    assert plain.startswith("2 policies now enforce on 2 clusters")
    assert f"Placements by PlacementBinding policies/bind:\n~ {line}\n" in plain
    shown("HEAD~..HEAD", "--exit-code", code=1)
    row = "| `Policy policies/b`, `Policy policies/pod` on eu, us | inform | enforce |"
    why = "**Why** `PlacementBinding policies/bind`"
    comment = shown("HEAD~..HEAD", "-o", "markdown")
    assert row in comment and why in comment
    document: dict[str, Any] = json.loads(shown("HEAD~..HEAD", "-o", "json"))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert [(entry["policy"], entry["change"]) for entry in document["placements"]] == [
        ("Policy policies/b", "enforced"),
        ("Policy policies/pod", "enforced"),
    ]
    (top / "stored.json").write_text(json.dumps(document))
    _, comment, _ = run(top, "comment", "--dry-run", "--on", "github", "--from-json", "stored.json")
    assert row in comment and why in comment
    _, explained, _ = run(top, "explain", "Policy/policies/b", "--without", "PlacementBinding/policies/bind")
    assert "Without policies/bind (simulated): 2 policies" in explained
