"""GWP701 to GWP717: what the examples of their pages do not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.model import Finding
from policylint.workspace import open_workspace
from tests.clusters.hubs import binding, cluster, labelled, placement, policy, policy_set, set_binding

HERE = [cluster("eu", env="prod"), set_binding()]


def found(folder: Path, *manifests: dict[str, Any], tree: bool = False) -> list[tuple[str, str, str, str]]:
    """(rule, severity, confidence, message) of the findings of the family; `tree` reads a folder, not one file."""
    file = folder / "hub.yaml"
    file.write_text(yaml.safe_dump_all(manifests), encoding="utf-8")
    findings: list[Finding] = open_workspace([str(folder if tree else file)]).findings()
    ours = [finding for finding in findings if finding.rule.startswith("GWP7")]
    return [(finding.rule, finding.severity, finding.confidence, finding.message) for finding in ours]


def test_a_library_of_policies_is_silent(tmp_path: Path) -> None:
    assert found(tmp_path, policy("a"), policy("b"), tree=True) == []
    assert found(tmp_path, policy("a"), policy("b")) == []
    assert found(tmp_path, policy("a"), policy_set("a")) == []


def test_what_a_tree_leaves_to_others_is_not_reported_as_missing(tmp_path: Path) -> None:
    rows = found(tmp_path, policy(), binding(), tree=True)
    assert [(rule, severity, confidence) for rule, severity, confidence, _ in rows] == [("GWP701", "note", "unknown")]
    assert found(tmp_path, policy(), binding(), placement(), tree=True) == []
    assert (
        found(tmp_path, policy(), binding(), placement(predicates=labelled(env="prod")), set_binding(), tree=True) == []
    )


def test_a_name_nearly_right_is_missing_in_a_tree_too(tmp_path: Path) -> None:
    rows = found(tmp_path, policy(), binding("bind", "plase"), placement(), set_binding(), tree=True)
    assert [row[:3] for row in rows] == [("GWP701", "error", "certain")]


def test_an_exclusion_that_another_binding_undoes(tmp_path: Path) -> None:
    excluding = policy_set("pod", exclusions=[{"policyName": "pod", "clusterNames": ["eu"]}])
    through = binding("through", "place", "PolicySet/all")
    assert found(tmp_path, *HERE, policy(), excluding, through, placement()) == []
    rows = found(tmp_path, *HERE, policy(), excluding, through, binding("direct"), placement())
    assert [row[:2] for row in rows] == [("GWP709", "warning")]
    assert "from eu, where it is placed all the same" in rows[0][3]
    restricted = binding("direct", subFilter="restricted")
    assert found(tmp_path, *HERE, policy(), excluding, through, restricted, placement()) == []


@pytest.mark.parametrize(
    ("spec", "rules"),
    [
        ({"predicates": labelled(env="prod")}, []),
        ({"predicates": labelled(env="test")}, ["GWP706"]),
        ({"predicates": labelled(vendor="OpenShift")}, []),
        ({"clusterSets": ["other"]}, ["GWP706"]),
        ({"numberOfClusters": 0}, []),
        ({"tolerations": [{"operator": "Exists", "value": "x"}]}, ["GWP706"]),
    ],
)
def test_placements_without_clusters(spec: dict[str, Any], rules: list[str], tmp_path: Path) -> None:
    assert [row[0] for row in found(tmp_path, *HERE, policy(), binding(), placement(**spec))] == rules


def test_a_policy_of_a_set_that_nothing_binds(tmp_path: Path) -> None:
    rows = found(tmp_path, *HERE, policy(), policy("b"), policy_set("b"), binding(), placement())
    assert [row[0] for row in rows] == ["GWP705"]


def test_variables_are_no_defects(tmp_path: Path) -> None:
    subject = binding("more", "place", "Policy/${NAME}")
    rows = found(tmp_path, *HERE, policy(), policy("b"), binding("bind", "${PLACE}"), subject, placement())
    assert [row for row in rows if row[2] != "unknown"] == []
    member = policy_set("${NAME}")
    rows = found(tmp_path, *HERE, policy(), policy("b"), member, binding("bind", "place", "PolicySet/all"), placement())
    assert [row for row in rows if row[2] != "unknown"] == []


def test_what_a_policy_generator_makes_is_not_missing(tmp_path: Path) -> None:
    kustomization = {"kind": "Kustomization", "generators": ["generator.yaml"], "resources": ["hub.yaml"]}
    generator = {
        "apiVersion": "policy.open-cluster-management.io/v1",
        "kind": "PolicyGenerator",
        "metadata": {"name": "made"},
        "policyDefaults": {"namespace": "policies"},
        "policies": [{"name": "pod", "manifests": [{"path": "manifests"}]}],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization), encoding="utf-8")
    own = [policy("other"), binding("bind", "place", "Policy/pod"), placement()]
    rows = found(tmp_path, *own, tree=True)
    assert {(row[0], row[2]) for row in rows} == {("GWP702", "assumed"), ("GWP705", "assumed")}
    (tmp_path / "generator.yaml").write_text(yaml.safe_dump(generator), encoding="utf-8")
    assert {(row[0], row[2]) for row in found(tmp_path, *own, tree=True)} == {("GWP705", "assumed")}
    (tmp_path / "generator.yaml").write_text(yaml.safe_dump({**generator, "policies": []}), encoding="utf-8")
    assert {row[2] for row in found(tmp_path, *own, tree=True)} == {"unknown"}, "the plugin refuses it"
