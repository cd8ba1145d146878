"""The catalog: shipped files are valid, complete and true to the CRDs; the loader reads no more than it must."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from policylint.catalog.entry import kind_entry
from policylint.catalog.kinds import CatalogError, ShippedFile, load_catalog, shipped_catalog
from policylint.cli.kinds import kinds
from policylint.documents import read
from policylint.model import PolicyKind, Resource, ResourceKey
from policylint.model.policy_kind import UNLIMITED, policy_kind
from policylint.model.shipped import shipped

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(__file__).resolve().parents[3] / "shared"
FILES = sorted((ROOT / "schemas" / "policy-kinds").glob("*.yaml"))
EVERY_KIND = load_catalog().kinds()


def resources(text: str, file: str = "test.yaml") -> list[Resource]:
    """The objects of a manifest."""
    found = []
    for document in read(text.encode(), file).documents:
        group, _, version = document.value["apiVersion"].rpartition("/")
        metadata = document.value["metadata"]
        key = ResourceKey(group, document.value["kind"], metadata.get("namespace", ""), metadata["name"])
        found.append(Resource(key, version, document.value, document))
    return found


# --- the shipped files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file_is_what_the_schema_describes(path: Path) -> None:
    schema = json.loads((ROOT / "schemas" / "policy-kind.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(content)
    assert content["implementation"] == path.stem


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_entry_is_found_by_its_group_without_parsing(path: Path) -> None:
    file = ShippedFile(str(path))
    groups = {each["group"] for each in yaml.safe_load(path.read_text(encoding="utf-8"))["kinds"]}
    assert all(file.mentions(group) for group in groups)
    assert not file.parsed


def test_no_kind_is_described_twice() -> None:
    described = [(each.group, each.kind) for path in FILES for each in ShippedFile(str(path)).kinds()]
    assert len(described) == len(set(described)) > 100


@pytest.mark.parametrize("kind", EVERY_KIND, ids=str)
def test_an_entry_makes_sense(kind: PolicyKind) -> None:
    if kind.policy_class != "Other":
        assert kind.targets or kind.default_target != "none", "nothing to act on"
    if kind.policy_class != "Other" and kind.merge.strategy == "none":
        assert kind.conflict != "none", "with strategy none one of two has to lose"
    if kind.merge.directive is not None and "units" in kind.merge.directive.values.values():
        assert kind.merge.units
    if kind.conflict == "overlapping-fields":
        assert kind.conflict_fields
    assert not kind.target_fields & kind.settings.security
    assert kind.source


@pytest.mark.parametrize("kind", EVERY_KIND, ids=str)
def test_an_entry_survives_being_written_and_read(kind: PolicyKind) -> None:
    assert policy_kind(kind_entry(kind), kind.implementation) == kind


@pytest.mark.parametrize(
    ("kind", "group", "expected"),
    [
        ("SecurityPolicy", "gateway.envoyproxy.io", ("atomic-defaults", "challenger", "same-target", UNLIMITED)),
        ("AuthPolicy", "kuadrant.io", ("atomic-defaults", "established", "none", 1)),
        ("DNSPolicy", "kuadrant.io", ("none", None, "same-target-strictly-older", 1)),
        ("ClientSettingsPolicy", "gateway.nginx.org", ("patch-defaults", None, "overlapping-fields", 1)),
        ("TrafficPolicy", "gateway.kgateway.dev", ("custom", None, "none", 16)),
        ("AuthorizationPolicy", "security.istio.io", ("union", None, "none", 16)),
        ("BackendTLSPolicy", "gateway.networking.k8s.io", ("none", None, "same-target", 16)),
        ("APIPolicy", "dp.wso2.com", ("field", None, "same-target", 1)),
    ],
)
def test_what_the_engine_hangs_on(kind: str, group: str, expected: tuple[object, ...]) -> None:
    known = load_catalog({group}).get(group, kind)
    assert known is not None
    directive = known.merge.directive
    assert (known.merge.strategy, directive and directive.on, known.conflict, known.max_targets) == expected


# --- facts, against what is kept beside the checkout ------------------------------------------------------------------


def _surveyed() -> list[dict[str, Any]]:
    path = SHARED / "catalog" / "policy-kinds.yaml"
    if not path.exists():
        return []
    return [each for each in yaml.load(path.read_bytes(), yaml.CSafeLoader) if each.get("kind")]


@pytest.mark.skipif(not _surveyed(), reason="the survey of policy kinds is not beside this checkout")
def test_every_surveyed_kind_is_in_the_catalog() -> None:
    catalog = load_catalog()
    for fact in _surveyed():
        name = fact["kind"].split(" ")[
            0
        ]  # «BackendTLSPolicy (kgateway behaviour)» is a note on the kind, not another one
        known = catalog.get(fact["group"], name)
        assert known is not None, name
        assert known.kind == name
        assert known.plural == fact["plural"], name
        assert known.cluster_scoped == (fact["scope"] == "Cluster"), name
        assert known.label == (fact["label"] or ""), name
        assert {*known.versions, *known.deprecated_versions} >= set(fact["versions"]), name


def _crds() -> list[Resource]:
    files = sorted((SHARED / "crds").rglob("*.yaml")) if (SHARED / "crds").exists() else []
    wanted = (each for path in files for each in resources(path.read_text(encoding="utf-8"), str(path)))
    return [each for each in wanted if each.key.kind == "CustomResourceDefinition"]


@pytest.mark.skipif(not (SHARED / "crds").exists(), reason="the CRDs are not beside this checkout")
def test_entries_agree_with_the_crds_of_their_projects() -> None:
    catalog = load_catalog()
    compared = 0
    for crd in _crds():
        known = catalog.get(crd.spec["group"], crd.spec["names"]["kind"])
        if known is None:
            continue
        compared += 1
        about = f"{known} in {crd.document.file}"
        assert known.plural == crd.spec["names"]["plural"], about
        assert known.cluster_scoped == (crd.spec["scope"] == "Cluster"), about
        assert known.label == crd.labels.get("gateway.networking.k8s.io/policy", ""), about
        served = {each["name"] for each in crd.spec["versions"] if each["served"] and not each.get("deprecated")}
        served -= known.deprecated_versions.keys()  # what a CHANGELOG deprecates the CRD need not
        assert set(known.versions) == served, about
        if known.policy_class != "Other":
            _assert_fields_agree(known, crd, about)
    assert compared > 40


def _assert_fields_agree(known: PolicyKind, crd: Resource, about: str) -> None:
    schema = next(each for each in crd.spec["versions"] if each["storage"])["schema"]["openAPIV3Schema"]
    fields = schema["properties"]["spec"]["properties"]
    assert known.target_fields <= fields.keys(), about
    assert {"targetRef", "targetRefs", "targetSelectors"} & fields.keys() <= known.target_fields, about
    assert {*known.settings.security, *known.required, *known.merge.wrappers} <= fields.keys(), about
    if "targetRefs" in fields:
        assert fields["targetRefs"].get("maxItems", UNLIMITED) == known.max_targets, about
        sections = "sectionName" in fields["targetRefs"]["items"]["properties"]
    else:
        sections = "sectionName" in fields.get("targetRef", {}).get("properties", {})
    assert any(each.sections for each in known.targets) == sections, about
    _assert_paths_agree(known, schema["properties"]["spec"], about)
    _assert_targets_agree(known, schema["properties"]["spec"], about)


def _assert_paths_agree(known: PolicyKind, spec: dict[str, Any], about: str) -> None:
    """What is merged, claimed or listed by path is a field of the kind, inside a wrapper or not."""
    paths = {*known.conflict_fields, *known.merge.lists, *known.merge.maps, *known.merge.units}
    for path in paths:
        places = [path, *(f"{wrapper}.{path}" for wrapper in known.merge.wrappers)]
        assert any(_has(spec, place) for place in places), f"{path}: {about}"
    for path, key in known.merge.lists.items():
        assert _has(spec, f"{path}.{key}"), f"{path} by {key}: {about}"


def _has(schema: dict[str, Any], path: str) -> bool:
    for step in path.split("."):
        schema = schema.get("items", schema)
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            return True
        inner = schema.get("additionalProperties") if step == "*" else schema.get("properties", {}).get(step)
        if step == "*" and inner is None and schema.get("properties"):
            inner = next(iter(schema["properties"].values()))
        if not isinstance(inner, dict):
            return False
        schema = inner
    return True


_REFERENCES = ("targetRef", "targetRefs", "targetSelectors")
_NOT_KINDS = {"All", "HTTP", "NIM", "PLM", "PreRouting", "Random", "RoundRobin", "Same", "Selector"}
"""What else stands in quotes in the rules of the CRDs."""


def _assert_targets_agree(known: PolicyKind, spec: dict[str, Any], about: str) -> None:
    """Every kind that the rules and enums of the references speak of may be targeted."""
    references = {name: spec["properties"][name] for name in _REFERENCES if name in spec["properties"]}
    rules = [each["rule"] for each in spec.get("x-kubernetes-validations", [])]
    quoted = set(re.findall(r"""['"]([A-Z][A-Za-z]+)['"]""", " ".join([*_rules(references), *rules])))
    assert quoted - _NOT_KINDS <= {each.kind for each in known.targets}, about
    selectors = references.get("targetSelectors", {}).get("items", {}).get("properties", {})
    assert known.selects_across_namespaces == ("namespaces" in selectors), about


def _rules(schema: object) -> Iterator[str]:
    """CEL rules and enums anywhere below."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "rule" and isinstance(value, str):
                yield value
            elif name == "enum":
                yield " ".join(f"'{each}'" for each in value)
            else:
                yield from _rules(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _rules(each)


# --- the loader -------------------------------------------------------------------------------------------------------


def test_only_files_that_speak_of_a_wanted_group_are_parsed() -> None:
    shipped_catalog.cache_clear()  # every catalog of a run has the same files
    catalog = load_catalog({"gateway.envoyproxy.io", "apps"})
    assert catalog.parsed == []
    assert {each.implementation for each in catalog.kinds()} == {"envoy-gateway"}
    assert catalog.parsed == ["envoy-gateway"]
    assert catalog.get("apps", "Deployment") is None
    assert catalog.implementation_of_controller("gateway.nginx.org/nginx-gateway-controller") == "nginx-gateway-fabric"
    assert catalog.parsed == ["envoy-gateway", "nginx-gateway-fabric"]
    assert load_catalog().parsed == catalog.parsed


def test_a_kind_without_an_entry_takes_that_of_its_group() -> None:
    known = load_catalog().get("kuadrant.io", "ColorPolicy")
    assert known is not None
    assert (known.kind, known.merge.units, known.synthetic_rule_names) == ("ColorPolicy", ("rules.*",), True)


@pytest.mark.parametrize(
    ("controller", "implementation"),
    [
        ("gateway.envoyproxy.io/gatewayclass-controller", "envoy-gateway"),
        ("istio.io/gateway-controller", "istio"),
        ("istio.io/mesh-controller", "istio"),
        ("kgateway.dev/kgateway", "kgateway"),
        ("kgateway.dev/agentgateway", "agentgateway"),
        ("io.cilium/gateway-controller", "cilium"),
        ("example.net/gateway-controller", None),
        ("", None),
    ],
)
def test_the_implementation_of_a_controller(controller: str, implementation: str | None) -> None:
    assert load_catalog().implementation_of_controller(controller) == implementation


@pytest.mark.parametrize(
    ("name", "implementation"),
    [("istio-waypoint", "istio"), ("gke-l7-rilb", "gke"), ("cilium", "cilium"), ("my-class", None), ("gke", None)],
)
def test_the_implementation_of_a_class_that_it_makes_itself(name: str, implementation: str | None) -> None:
    assert load_catalog().implementation_of_class(name) == implementation


@pytest.mark.parametrize(
    ("implementation", "group", "serves"),
    [
        ("envoy-gateway", "gateway.envoyproxy.io", True),
        ("envoy-gateway", "kuadrant.io", True),
        ("istio", "kuadrant.io", True),
        ("nginx-gateway-fabric", "kuadrant.io", False),
        ("istio", "gateway.envoyproxy.io", False),
        ("istio", "gateway.networking.k8s.io", True),
        ("istio", "policies.example.com", True),
        ("nobody-knows", "gateway.envoyproxy.io", True),
    ],
)
def test_whose_policies_an_implementation_serves(implementation: str, group: str, serves: bool) -> None:
    assert load_catalog().serves(implementation, group) is serves


@pytest.mark.parametrize(
    ("controller", "of_class", "shares"),
    [
        ("gateway.envoyproxy.io/gatewayclass-controller", "eg", True),
        ("istio.io/gateway-controller", "istio", True),
        ("kgateway.dev/kgateway", "kgateway", True),
        ("kgateway.dev/agentgateway", "agentgateway", True),
        ("projectcontour.io/gateway-controller", "contour", True),
        ("traefik.io/gateway-controller", "traefik", True),
        ("example.com/spec", "istio", False),
        ("", "istio", True),
        ("io.cilium/gateway-controller", "anybody", True),
        ("", "cilium", True),
        ("", "anybody", False),
    ],
)
def test_who_takes_both_kinds_of_route_for_one_hostname(controller: str, of_class: str, shares: bool) -> None:
    """kubernetes-sigs/gateway-api#4598 names those that do, and Cilium's GatewayAPI (operator/pkg/model/ingestion)
    gives the routes of both kinds to one listener; of all others what the spec says is expected."""
    assert load_catalog().shares_hostnames(controller, of_class) is shares


def test_configuration_beats_catalog_beats_crd() -> None:
    crd = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: x.kuadrant.io, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: kuadrant.io
  scope: Cluster
  names: {kind: %s, plural: x}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""
    entry = {
        "group": "kuadrant.io",
        "kind": "TLSPolicy",
        "class": "Other",
        "targets": [],
        "merge": {"strategy": "none"},
    }
    crds = [each for kind in ("AuthPolicy", "TLSPolicy", "HuePolicy") for each in resources(crd % kind)]
    catalog = load_catalog(crds=crds, configured=[entry])
    found = {kind: catalog.get("kuadrant.io", kind) for kind in ("AuthPolicy", "TLSPolicy", "HuePolicy", "OtherPolicy")}
    assert {kind: each and (each.origin, each.policy_class) for kind, each in found.items()} == {
        "AuthPolicy": ("catalog", "Inherited"),
        "TLSPolicy": ("configuration", "Other"),
        "HuePolicy": ("crd", "Direct"),
        "OtherPolicy": ("catalog", "Inherited"),
    }


def test_a_configured_kind_that_is_none_is_refused_with_its_path() -> None:
    good = {"group": "a.io", "kind": "APolicy", "class": "Direct", "targets": [], "merge": {"strategy": "none"}}
    bad = {**good, "merge": {"strategy": "magic"}}
    with pytest.raises(CatalogError, match=r"^kinds\[1\]\.merge\.strategy: 'magic' is not one of"):
        load_catalog(configured=[good, bad])


def test_shipped_data_is_found() -> None:
    assert shipped("schemas", "policy-kind.json").is_file()


# --- the command ------------------------------------------------------------------------------------------------------


def test_kinds_lists_them_all() -> None:
    result = CliRunner().invoke(kinds, [])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 100
    shown = [line.split()[0] for line in lines[1:] if line[:2] == "  " and line[2:3].strip()]
    assert shown == [each.kind for each in EVERY_KIND]
    assert "envoy-gateway: gateway.envoyproxy.io" in lines
    (security,) = (line for line in lines if line.startswith("  SecurityPolicy"))
    assert security.split()[:5] == ["SecurityPolicy", "Inherited", "whole*", "older", "wins"]


def test_kinds_explains_one() -> None:
    result = CliRunner().invoke(kinds, ["clienttrafficpolicy"])
    assert result.exit_code == 0
    assert result.output.startswith("Kind        ClientTrafficPolicy.gateway.envoyproxy.io (envoy-gateway), namespaced")
    assert "spec.targetRef is deprecated: use targetRefs." in result.output
    assert all(len(line) <= 100 for line in result.output.splitlines())


def test_kinds_of_one_name_are_told_apart_by_group() -> None:
    entries = json.loads(CliRunner().invoke(kinds, ["RateLimitPolicy", "-o", "json"]).output)["kinds"]
    assert len(entries) == 4
    one = yaml.safe_load(CliRunner().invoke(kinds, ["RateLimitPolicy.kuadrant.io", "-o", "yaml"]).output)["kinds"]
    assert [each["implementation"] for each in one] == ["kuadrant"]


def test_a_misspelt_kind_gets_a_suggestion() -> None:
    result = CliRunner().invoke(kinds, ["SecurtyPolicy"])
    assert result.exit_code == 2
    assert "did you mean SecurityPolicy" in result.output


def test_the_page_shows_how_far_a_kind_is_verified_and_against_what() -> None:
    page = CliRunner().invoke(kinds, ["-o", "markdown"]).output
    assert "| kind | class | targets | merging | conflicts | status | verified |" in page
    for each in EVERY_KIND:
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{each}` |"))
        assert row.endswith(f"| {each.verified}: {each.source} |" if each.source else f"| {each.verified} |")
        assert all(name in row for name in each.conditions) or each.status == "none"


def test_the_page_in_docs_is_fresh() -> None:
    page = (ROOT / "docs" / "policy-kinds.md").read_text(encoding="utf-8")
    assert page == CliRunner().invoke(kinds, ["-o", "markdown"]).output, (
        "run `policylint kinds -o markdown > docs/policy-kinds.md`"
    )


@pytest.mark.parametrize("file", shipped_catalog(), ids=lambda file: file.implementation)
def test_what_stands_in_a_field_is_found_without_parsing(file: ShippedFile) -> None:
    content = file.content()
    for field in ("classes", "controllers", "enrols", "serves"):
        alone = yaml.safe_load(file.written(field)) or {}
        assert alone == ({field: content[field]} if field in content else {})
