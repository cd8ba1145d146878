"""What the generator plugin of Open Cluster Management makes of a PolicyGenerator, as its reference says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from policylint.model import mapping
from policylint.render.kustomize.build import Built
from policylint.render.provenance import Manifest
from tests.render.trees import kustomizer, spot

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {a: b}\n"
QUOTA = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {pods: 3}}\n"
CERTIFICATES = """apiVersion: policy.open-cluster-management.io/v1
kind: CertificatePolicy
metadata: {name: certificates}
spec: {remediationAction: inform, minimumDuration: 300h}
"""
KYVERNO = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: signed}\nspec: {rules: []}\n"
RAW = "object-templates-raw: |\n  {{ range . }}\n"
PLACE = """apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: everywhere, namespace: policies}
spec: {predicates: []}
"""
FILES = {
    "map.yaml": MAP,
    "folder/one.yaml": MAP,
    "folder/two.yml": QUOTA,
    "folder/below/three.yaml": CERTIFICATES,
    "folder/readme.md": "no manifest",
    "built/kustomization.yaml": "namespace: shop\nresources: [quota.yaml]\n",
    "built/quota.yaml": QUOTA,
    "certificates.yaml": CERTIFICATES,
    "kyverno.yaml": KYVERNO,
    "raw.yaml": RAW,
    "place.yaml": PLACE,
}


def policy(name: str = "one", *paths: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "manifests": [{"path": path} for path in paths or ("map.yaml",)], **options}


def built(
    folder: Path,
    *policies: dict[str, Any],
    defaults: dict[str, Any] | None = None,
    files: dict[str, str] | None = None,
    **more: Any,
) -> Built:
    """What a kustomization with one PolicyGenerator builds; `defaults` go into `policyDefaults`."""
    generator = {
        "apiVersion": "policy.open-cluster-management.io/v1",
        "kind": "PolicyGenerator",
        "metadata": {"name": "made"},
        "policyDefaults": {"namespace": "policies", **(defaults or {})},
        "policies": list(policies),
        **more,
    }
    written = {"kustomization.yaml": "generators: [generator.yaml]\n", "generator.yaml": yaml.safe_dump(generator)}
    return kustomizer(folder, {**FILES, **written, **(files or {})}).build("")


def objects(found: Built) -> dict[str, Manifest]:
    return {str(manifest): manifest for manifest in found.manifests}


def codes(found: Built) -> set[str]:
    return {note.code for note in found.journal.notes}


def templates(found: Built, name: str = "one") -> list[dict[str, Any]]:
    return [dict(template["objectDefinition"]) for template in _spec(found, name)["policy-templates"]]


def _spec(found: Built, name: str) -> dict[str, Any]:
    return dict(objects(found)[f"Policy policies/{name}"].spec)


def wrapped(template: dict[str, Any]) -> list[str]:
    """`musthave ConfigMap settings` of each object that a ConfigurationPolicy wraps."""
    return [
        f"{entry['complianceType']} {entry['objectDefinition']['kind']} {entry['objectDefinition']['metadata']['name']}"
        for entry in template["spec"]["object-templates"]
    ]


def test_a_policy_gets_a_placement_and_a_binding_of_its_own(tmp_path: Path) -> None:
    found = built(tmp_path, policy(), defaults={"placement": {"labelSelector": {"env": "prod", "gpu": ""}}})
    made = objects(found)
    assert list(made) == [
        "Policy policies/one",
        "Placement policies/placement-one",
        "PlacementBinding policies/binding-one",
    ]
    expressions = [{"key": "env", "operator": "In", "values": ["prod"]}, {"key": "gpu", "operator": "Exists"}]
    required = made["Placement policies/placement-one"].spec["predicates"][0]["requiredClusterSelector"]
    assert required == {"labelSelector": {"matchExpressions": expressions}}
    binding = made["PlacementBinding policies/binding-one"].body
    assert (binding["placementRef"]["name"], [subject["name"] for subject in binding["subjects"]]) == (
        "placement-one",
        ["one"],
    )
    assert (_spec(found, "one")["remediationAction"], _spec(found, "one")["disabled"]) == ("inform", False)
    annotations = made["Policy policies/one"].metadata["annotations"]
    assert annotations["policy.open-cluster-management.io/controls"] == "CM-2 Baseline Configuration"
    assert not codes(found) and not found.journal.gaps


def test_values_are_located_where_they_are_written(tmp_path: Path) -> None:
    generator = """apiVersion: policy.open-cluster-management.io/v1
kind: PolicyGenerator
policyDefaults:
  namespace: policies
  placement:
    labelSelector:
      env: prod
policies:
  - name: one
    remediationAction: enforce
    manifests:
      - path: map.yaml
        patches:
          - data:
              a: c
policySets:
  - name: all
    policies:
      - one
"""
    files = {**FILES, "generator.yaml": generator, "kustomization.yaml": "generators: [generator.yaml]\n"}
    made = objects(kustomizer(tmp_path, files).build(""))
    one, all_of = made["Policy policies/one"], made["PolicySet policies/all"]
    assert spot(one, tmp_path, "metadata", "name") == "generator.yaml:9"
    assert spot(one, tmp_path, "metadata", "namespace") == "generator.yaml:4"
    assert spot(one, tmp_path, "spec", "remediationAction") == "generator.yaml:10"
    inner = ("spec", "policy-templates", 0, "objectDefinition", "spec", "object-templates", 0, "objectDefinition")
    assert spot(one, tmp_path, *inner, "metadata", "name") == "map.yaml:3"
    assert spot(one, tmp_path, *inner, "data", "a") == "generator.yaml:15"
    assert spot(all_of, tmp_path, "spec", "policies", 0) == "generator.yaml:19"
    assert spot(made["Placement policies/placement-all"], tmp_path, "spec", "predicates") == "generator.yaml:17"


@pytest.mark.parametrize(
    ("options", "path", "expected"),
    [
        ({}, "map.yaml", [["musthave ConfigMap settings"]]),
        ({"complianceType": "mustnothave"}, "map.yaml", [["mustnothave ConfigMap settings"]]),
        ({}, "folder", [["musthave ConfigMap settings", "musthave ResourceQuota small"]]),
        (
            {"consolidateManifests": False},
            "folder",
            [["musthave ConfigMap settings"], ["musthave ResourceQuota small"]],
        ),
        ({}, "built", [["musthave ResourceQuota small"]]),
    ],
)
def test_what_is_wrapped(tmp_path: Path, options: dict[str, Any], path: str, expected: list[list[str]]) -> None:
    found = built(tmp_path, policy("one", path, **options))
    assert [wrapped(template) for template in templates(found)] == expected
    assert [template["metadata"]["name"] for template in templates(found)] == ["one", "one2"][: len(expected)]


def test_policies_of_other_kinds_and_raw_templates_go_in_as_they_are(tmp_path: Path) -> None:
    found = templates(built(tmp_path, policy("one", "certificates.yaml", "raw.yaml", "map.yaml")))
    assert [template["kind"] for template in found] == ["CertificatePolicy", *["ConfigurationPolicy"] * 2]
    assert found[1]["spec"]["object-templates-raw"].startswith("{{ range")
    assert wrapped(found[2]) == ["musthave ConfigMap settings"]
    assert [template["metadata"]["name"] for template in found] == ["certificates", "one", "one2"]


@pytest.mark.parametrize(
    ("options", "entries", "expected"),
    [
        ({}, [{"path": "raw.yaml"}, {"path": "raw.yaml"}, {"path": "map.yaml"}], ["one", "one2", "one3"]),
        ({}, [{"path": "map.yaml", "name": "mine"}, {"path": "raw.yaml"}], ["one", "mine"]),
        ({}, [{"path": "map.yaml"}, {"path": "folder", "name": "mine"}], ["mine"]),
        (
            {"consolidateManifests": False},
            [{"path": "folder", "name": "mine"}, {"path": "map.yaml"}],
            ["mine", "mine2", "one"],
        ),
    ],
)
def test_configuration_policies_of_one_name_are_numbered(
    tmp_path: Path, options: dict[str, Any], entries: list[dict[str, str]], expected: list[str]
) -> None:
    found = templates(built(tmp_path, {"name": "one", "manifests": entries, **options}))
    assert [template["metadata"]["name"] for template in found] == expected


def test_a_policy_of_kyverno_gets_one_that_reports_its_results(tmp_path: Path) -> None:
    found = built(tmp_path, policy("one", "kyverno.yaml", remediationAction="enforce"))
    names = [template["metadata"]["name"] for template in templates(found)]
    assert names == ["one", "inform-kyverno-signed"]
    assert "remediationAction" not in _spec(found, "one"), "its templates have different ones"
    (only,) = templates(built(tmp_path, policy("one", "kyverno.yaml", informKyvernoPolicies=False)))
    assert wrapped(only) == ["musthave ClusterPolicy signed"]


@pytest.mark.parametrize(
    ("paths", "options", "action"),
    [
        (["map.yaml"], {"remediationAction": "enforce"}, "enforce"),
        (["certificates.yaml"], {"remediationAction": "enforce"}, "inform"),
        (["certificates.yaml", "map.yaml"], {"remediationAction": "enforce"}, None),
        (["certificates.yaml", "map.yaml"], {"remediationAction": "InformOnly"}, "inform"),
        (["absent.yaml"], {"remediationAction": "enforce"}, "<remediationAction>"),
    ],
)
def test_the_action_is_what_all_templates_have(
    tmp_path: Path, paths: list[str], options: dict[str, Any], action: str | None
) -> None:
    assert _spec(built(tmp_path, policy("one", *paths, **options)), "one").get("remediationAction") == action


def test_defaults_are_overridden_one_by_one(tmp_path: Path) -> None:
    defaults = {"disabled": True, "severity": "high", "policyLabels": {"team": "a"}, "hubTemplateOptions": {"a": "b"}}
    found = built(tmp_path, policy(), policy("two", disabled=False, severity="medium"), defaults=defaults)
    assert [_spec(found, name)["disabled"] for name in ("one", "two")] == [True, False]
    assert [templates(found, name)[0]["spec"]["severity"] for name in ("one", "two")] == ["high", "medium"]
    assert objects(found)["Policy policies/two"].metadata["labels"] == {"team": "a"}
    assert _spec(found, "one")["hubTemplateOptions"] == {"a": "b"}


def test_equal_selectors_share_a_placement_that_has_a_name(tmp_path: Path) -> None:
    prod = {"labelSelector": {"env": "prod"}}
    policies = [policy("one"), policy("two"), policy("three", placement=prod)]
    found = built(
        tmp_path, *policies, defaults={"placement": {"name": "place"}}, placementBindingDefaults={"name": "b"}
    )
    bindings = {
        manifest.name: (
            manifest.body["placementRef"]["name"],
            [subject["name"] for subject in manifest.body["subjects"]],
        )
        for manifest in found.manifests
        if manifest.kind == "PlacementBinding"
    }
    assert bindings == {"b": ("place", ["one", "two"]), "binding-three": ("place2", ["three"])}
    refused = built(tmp_path, *policies, defaults={"placement": {"name": "place"}})
    assert (codes(refused), refused.manifests) == ({"generator-refused"}, [])


def test_a_policy_in_a_set_is_placed_by_the_set(tmp_path: Path) -> None:
    sets = [{"name": "base", "policies": ["two"], "placement": {"placementName": "there"}}]
    policies = [policy("one", policySets=["base", "other"]), policy("two"), policy("three")]
    found = built(tmp_path, *policies, policySets=sets, placementBindingDefaults={"name": "b"})
    made = objects(found)
    assert made["PolicySet policies/base"].spec["policies"] == ["one", "two"]
    assert made["PolicySet policies/other"].spec["policies"] == ["one"]
    assert sorted(name for name in made if name.startswith("Placement ")) == [
        "Placement policies/placement-other",
        "Placement policies/placement-three",
    ]
    assert [made[f"PlacementBinding policies/{name}"].body["subjects"][0]["name"] for name in ("b", "b2")] == [
        "other",
        "base",
    ]
    both = built(tmp_path, policy("one", policySets=["base"], generatePlacementWhenInSet=True))
    assert "Placement policies/placement-one" in objects(both)
    none = built(tmp_path, policy("one", policySets=["base"]), policySetDefaults={"generatePolicySetPlacement": False})
    assert sorted(objects(none)) == ["Policy policies/one", "PolicySet policies/base"]


def test_a_set_alone_gets_a_binding_without_a_name_which_nobody_takes(tmp_path: Path) -> None:
    found = built(tmp_path, policy("one", policySets=["base"]))
    assert "PlacementBinding" not in {manifest.kind for manifest in found.manifests}
    assert [(note.rule, note.code) for note in found.journal.notes] == [("GWP720", "without-name")]
    assert found.journal.failures == []


def test_a_placement_of_a_file_is_made_once(tmp_path: Path) -> None:
    place = {"placement": {"placementPath": "place.yaml"}}
    found = built(tmp_path, policy(), policy("two"), defaults=place, placementBindingDefaults={"name": "b"})
    assert [manifest.name for manifest in found.manifests if manifest.kind == "Placement"] == ["everywhere"]
    unseen = built(tmp_path, policy(placement={"placementPath": "../place.yaml"}))
    assert (codes(unseen), [manifest.kind for manifest in unseen.manifests]) == (
        {"outside"},
        ["Policy", "PlacementBinding"],
    )
    absent = built(tmp_path, policy(placement={"placementPath": "absent.yaml"}))
    assert codes(absent) == {"missing-file"}
    assert absent.manifests[1].body["placementRef"]["name"] == "<placement of absent.yaml>", "nobody knows its name"


def test_order(tmp_path: Path) -> None:
    found = built(
        tmp_path, policy("one", "folder", orderManifests=True), policy("two"), defaults={"orderPolicies": True}
    )
    waits = [entry.get("extraDependencies") for entry in _spec(found, "one")["policy-templates"]]
    assert waits[0] is None
    assert [wait["name"] for wait in waits[1]] == ["one"]
    assert "dependencies" not in _spec(found, "one")
    (wait,) = _spec(found, "two")["dependencies"]
    assert (wait["kind"], wait["namespace"], wait["name"]) == ("Policy", "policies", "one")


def test_a_patch_names_its_object_where_there_are_several(tmp_path: Path) -> None:
    manifests = [{"path": "map.yaml", "patches": [{"metadata": {"name": "other"}, "data": {"a": "c"}}]}]
    (template,) = templates(built(tmp_path, {"name": "one", "manifests": manifests}))
    changed = template["spec"]["object-templates"][0]["objectDefinition"]
    assert (changed["metadata"]["name"], changed["data"]) == ("other", {"a": "c"})
    named = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small", "labels": {"a": "b"}}}
    manifests = [{"path": "folder", "patches": [named]}]
    (template,) = templates(built(tmp_path, {"name": "one", "manifests": manifests}))
    assert [
        mapping(entry["objectDefinition"]["metadata"]).get("labels") for entry in template["spec"]["object-templates"]
    ] == [None, {"a": "b"}]


def test_other_transformations_see_what_was_made(tmp_path: Path) -> None:
    files = {"kustomization.yaml": "namePrefix: my-\ngenerators: [generator.yaml]\n"}
    assert "Policy policies/my-one" in objects(built(tmp_path, policy(), files=files))


@pytest.mark.parametrize(
    ("policies", "more", "message"),
    [
        ([policy()], {"defaults": {"namespace": ""}}, "no namespace"),
        ([], {}, "has policies"),
        ([policy(), policy()], {}, "two of the policy one"),
        ([policy("")], {}, "has a name"),
        ([policy("Upper")], {}, "no name of a policy"),
        ([policy("a" * 60)], {}, "more than 63 letters"),
        ([{"name": "one"}], {}, "has no manifests"),
        ([{"name": "one", "manifests": [{}]}], {}, "has no path"),
        ([policy("one", "../map.yaml")], {}, "does not lie below"),
        ([policy("one", "/etc/passwd")], {}, "does not lie below"),
        ([policy("one", "folder/../../x/map.yaml")], {}, "does not lie below"),
        ([policy("one", ".")], {}, "does not lie below"),
        ([policy(placement={"placementName": "a", "labelSelector": {"a": "b"}})], {}, "exclude each other"),
        ([policy(placement={"placementRuleName": "a"}), policy("b", placement={"placementName": "a"})], {}, "not both"),
        ([policy(placement={"labelSelector": {"a": True}})], {}, "neither a field"),
        ([policy(placement={"labelSelector": ["env=prod"]})], {}, "labelSelector is no mapping"),
        ([policy(placement={"placementPath": {"a": "b"}})], {}, "placementPath is no text"),
        ([policy(orderManifests=True, consolidateManifests=True)], {}, "exclude each other"),
        ([policy(dependencies=[{}])], {}, "a dependency has no name"),
        ([policy(placement={"placementPath": "map.yaml"})], {}, "holds no Placement"),
        ([policy(placement={"name": "a"}), policy("b", placement={"name": "a"})], {}, "two placements are called a"),
        ([policy("one", "kustomized.yaml")], {"files": {"kustomized.yaml": "[]\n"}}, "is a mapping"),
        (
            [policy("one", "root.yaml")],
            {"files": {"root.yaml": CERTIFICATES.replace("Certificate", "")}},
            "in a policy",
        ),
        ([{"name": "one", "manifests": [{"path": "map.yaml", "severity": "high"}]}], {}, "consolidateManifests: false"),
        (
            [{"name": "one", "manifests": [{"path": "folder", "patches": [{"data": {}}]}]}],
            {},
            "has an apiVersion, a kind and a name",
        ),
        (
            [{"name": "one", "manifests": [{"path": "map.yaml", "patches": [{"kind": "Secret"}]}]}],
            {},
            "which map.yaml does not hold",
        ),
    ],
)
def test_what_the_plugin_refuses_is_unknown(
    tmp_path: Path, policies: list[dict[str, Any]], more: dict[str, Any], message: str
) -> None:
    found = built(tmp_path, *policies, **more)
    assert found.manifests == []
    (note,) = found.journal.notes
    assert message in note.message
    assert note.location.at()[0] >= 1
    assert [gap.gateway_api for gap in found.journal.gaps] == [False]
    assert len(found.journal.failures) == 1, "kustomize builds nothing"


def test_no_file_outside_of_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(MAP.replace("settings", "secret"))
    inner = tmp_path / "inner"
    inner.mkdir()
    found = built(inner, policy("one", "../secret.yaml"))
    assert "secret" not in json.dumps([manifest.body for manifest in found.manifests])
    assert codes(found) == {"generator-refused"}


def test_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    outside, inner = tmp_path / "outside", tmp_path / "inner"
    outside.mkdir()
    (outside / "secret.yaml").write_text(MAP.replace("settings", "secret"))
    (inner / ".git").mkdir(parents=True)
    (inner / "folder").mkdir()
    (inner / "link.yaml").symlink_to(outside / "secret.yaml")
    (inner / "linked").symlink_to(outside)
    found = built(inner, policy("one", "link.yaml", "linked", "linked/secret.yaml"))
    assert templates(found) == []
    assert codes(found) == {"missing-file"}


def test_what_is_not_done_faithfully_is_provisional(tmp_path: Path) -> None:
    manifests = [{"path": "map.yaml", "openapi": {"path": "schema.json"}, "patches": [{"data": {"a": "c"}}]}]
    for one in (policy("one", "absent.yaml"), policy("one", unheard_of=True), {"name": "one", "manifests": manifests}):
        found = objects(built(tmp_path, one))
        assert found["Policy policies/one"].provisional
        assert not found["PlacementBinding policies/binding-one"].provisional


def test_a_directory_of_many_files_is_read_within_the_budget(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / "many").mkdir(exist_ok=True)
        (tmp_path / "many" / f"{number}.yaml").write_text(MAP)
    policies = [policy(f"p{number}", "many") for number in range(1000)]
    found = built(tmp_path, *policies)
    assert found.manifests == []
    assert [gap.reason for gap in found.journal.gaps if not gap.gateway_api], "it may have been meant to make anything"
    assert len(templates(built(tmp_path, policy("one", "many")))[0]["spec"]["object-templates"]) == 300


@pytest.mark.parametrize("value", [None, 7, "x", True, [], [None], {}, {"a": None}, [[]], [{}]])
def test_anything_may_stand_anywhere(tmp_path: Path, value: Any) -> None:
    for name in (
        "placement",
        "policySets",
        "dependencies",
        "policyLabels",
        "namespaceSelector",
        "namespace",
        "name",
        "manifests",
    ):
        built(tmp_path, {**policy(), name: value})
        built(tmp_path, policy(), defaults={name: value})
    for name in ("policies", "policyDefaults", "policySets", "policySetDefaults", "placementBindingDefaults"):
        built(tmp_path, policy(), **{name: value})
    for entry in ({"path": value}, {"path": "map.yaml", "patches": value}, value):
        built(tmp_path, {"name": "one", "manifests": [entry]})
