"""Policy kinds from CRDs of the input: which CRDs make one, and what is read from schema and objects."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policylint.catalog.kinds import load_catalog
from policylint.documents import read
from policylint.model import PolicyKind, Resource, ResourceKey
from policylint.model.policy_kind import DEFAULT_WRAPPERS, UNLIMITED, TargetKind

GROUP = "paint.example.com"
REF = {"group": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"}}
TO_GATEWAY = {"targetRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "g"}}
TO_ROUTE = {"targetRef": {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"}}


def derived(
    spec: dict[str, Any] | None = None,
    *objects: dict[str, Any],
    kind: str = "HuePolicy",
    label: str | None = "Inherited",
    semantics: str = "gep-713",
    **crd: Any,
) -> PolicyKind | None:
    """What a CRD with the properties of this spec (None: open) and these objects' specs tell."""
    schema: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if spec is not None:
        schema = {"type": "object", **spec}
    properties = {"spec": schema}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"properties": properties}}}
    manifest = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"x.{GROUP}",
            "labels": {} if label is None else {"gateway.networking.k8s.io/policy": label},
        },
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": "x"}, "versions": [version]}
        | crd,
    }
    catalog = load_catalog(
        crds=[_resource(manifest)],
        objects={
            (GROUP, kind): [
                _resource({"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": f"o{n}"}, "spec": each})
                for n, each in enumerate(objects)
            ]
        },
        semantics=semantics,
    )
    return catalog.get(GROUP, kind)


def kind_of(*args: Any, **options: Any) -> PolicyKind:
    found = derived(*args, **options)
    assert found is not None
    return found


def _resource(manifest: dict[str, Any]) -> Resource:
    (document,) = read(yaml.safe_dump(manifest).encode(), "test.yaml").documents
    group, _, version = manifest["apiVersion"].rpartition("/")
    key = ResourceKey(group, manifest["kind"], "", manifest["metadata"]["name"])
    return Resource(key, version, document.value, document)


# --- what makes a CRD a policy kind -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "policy_class", "noted"),
    [
        ("Direct", "Direct", ""),
        ("direct", "Direct", ""),
        ("Inherited", "Inherited", ""),
        ("INHERITED", "Inherited", ""),
        ("true", "Direct", "gwctl"),
        ("yes", "Inherited", "'yes' names no class"),
    ],
)
def test_the_label_makes_a_policy_whatever_its_value(label: str, policy_class: str, noted: str) -> None:
    known = kind_of(label=label, kind="Hue")
    assert (known.policy_class, known.label, known.origin) == (policy_class, label, "crd")
    assert noted in known.notes


@pytest.mark.parametrize(
    ("kind", "spec", "objects", "is_policy"),
    [
        ("HuePolicy", None, [TO_GATEWAY], True),
        ("HuePolicy", {"properties": {"targetRefs": {"items": {"properties": REF}}}}, [], True),
        ("HuePolicy", {"properties": {"targetRef": {"properties": REF}}}, [], True),
        # an autoscaler names one workload by apiVersion; a network policy selects pods
        ("ScalerPolicy", None, [{"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}], False),
        ("PodPolicy", None, [{"podSelector": {}, "ingress": []}], False),
        ("PodPolicy", None, [], False),
        ("VerticalPodAutoscaler", None, [TO_GATEWAY], False),
        ("Hue", {"properties": {"targetRef": {"properties": REF}}}, [], False),
    ],
)
def test_without_the_label_name_and_targets_make_a_policy(
    kind: str, spec: dict[str, Any] | None, objects: list[dict[str, Any]], is_policy: bool
) -> None:
    assert (derived(spec, *objects, kind=kind, label=None) is not None) is is_policy


def test_a_labelled_kind_that_cannot_name_targets_is_not_evaluated() -> None:
    known = kind_of({"properties": {"replicas": {"type": "integer"}}}, label="Direct", kind="HueParameters")
    assert (known.policy_class, known.bound_by, known.references) == ("Other", "none", ())


@pytest.mark.parametrize(
    ("objects", "policy_class"),
    [([TO_GATEWAY], "Direct"), ([TO_GATEWAY, TO_GATEWAY], "Direct"), ([TO_GATEWAY, TO_ROUTE], "Inherited")],
)
def test_without_the_label_the_number_of_target_kinds_makes_the_class(
    objects: list[dict[str, Any]], policy_class: str
) -> None:
    assert kind_of(None, *objects, label=None).policy_class == policy_class


# --- how two of them meet ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "semantics", "expected"),
    [
        ("Direct", "gep-713", ("none", False, "same-target", True)),
        ("Direct", "gep-713-2023", ("none", False, "section-first", True)),
        ("Inherited", "gep-713", ("atomic-defaults", False, "none", False)),
        ("Inherited", "gep-713-2023", ("field", True, "none", False)),
    ],
)
def test_the_strategy_of_a_class(label: str, semantics: str, expected: tuple[object, ...]) -> None:
    known = kind_of(label=label, semantics=semantics)
    assert (known.merge.strategy, known.merge.both, known.conflict, known.shadowed_by_section) == expected


def test_singular_wrappers_are_the_sign_of_the_2023_edition() -> None:
    assert kind_of(None, {**TO_GATEWAY, "default": {"a": 1}, "override": {"b": 2}}).merge.strategy == "field"
    assert kind_of(None, {**TO_GATEWAY, "defaults": {"a": 1}}).merge.strategy == "atomic-defaults"
    assert kind_of(None, {**TO_GATEWAY, "default": "a scalar is a setting"}).merge.strategy == "atomic-defaults"


def test_wrappers_are_those_of_a_closed_schema() -> None:
    assert kind_of().merge.wrappers == DEFAULT_WRAPPERS
    closed = {"targetRef": {"properties": REF}, "defaults": {"type": "object"}, "override": {"type": "string"}}
    assert kind_of({"properties": closed}).merge.wrappers == {"defaults": "defaults"}


@pytest.mark.parametrize(
    ("spec", "objects", "field"),
    [
        (None, [TO_GATEWAY], "strategy"),
        (None, [{**TO_GATEWAY, "strategy": "patch"}], "strategy"),
        (None, [{**TO_GATEWAY, "defaults": {"mergeStrategy": "merge"}}], "mergeStrategy"),
        (None, [{**TO_GATEWAY, "strategy": "RoundRobin", "mergeType": "JSONMerge"}], "mergeType"),
        (None, [{**TO_GATEWAY, "strategy": "RoundRobin"}], None),
        (None, [{**TO_GATEWAY, "overrides": {"strategy": "pach"}}], "strategy"),
        ({"targetRef": {"properties": REF}, "mergeType": {"enum": ["StrategicMerge"]}}, [], "mergeType"),
        ({"targetRef": {"properties": REF}, "strategy": {"type": "string"}}, [], None),
        (
            {"targetRef": {"properties": REF}, "defaults": {"properties": {"strategy": {"enum": ["atomic"]}}}},
            [],
            "strategy",
        ),
    ],
)
def test_the_field_that_chooses_a_strategy(
    spec: dict[str, Any] | None, objects: list[dict[str, Any]], field: str | None
) -> None:
    merge = kind_of(None if spec is None else {"properties": spec}, *objects).merge
    assert (merge.directive and merge.directive.field) == field
    assert merge.ignore == ((field,) if field else ())
    if merge.directive is not None:
        assert merge.directive.on == "established"
        assert merge.directive.values["merge"] == "patch"


def test_maps_are_found_bare_and_in_wrappers() -> None:
    labels = {"type": "object", "additionalProperties": {"type": "string"}}
    bodies = {"defaults": {"type": "object", "properties": {"key": labels, "deep": {"properties": {"tags": labels}}}}}
    merge = kind_of({"properties": {"targetRef": {"properties": REF}, **bodies}}, semantics="gep-713-2023").merge
    assert merge.maps == ("deep.tags", "key")


def test_merging_by_named_rules_comes_from_the_entry_of_the_group() -> None:
    crd = _resource(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "hues.kuadrant.io", "labels": {"gateway.networking.k8s.io/policy": "inherited"}},
            "spec": {"group": "kuadrant.io", "scope": "Namespaced", "names": {"kind": "HuePolicy", "plural": "hues"}},
        }
    )
    known = load_catalog(crds=[crd]).get("kuadrant.io", "HuePolicy")
    assert known is not None
    assert known.merge.directive is not None
    assert (known.origin, known.plural, known.implementation) == ("crd", "hues", "kuadrant")
    assert (known.merge.directive.values["merge"], known.merge.lists) == ("units", {"rules": "id"})
    assert known.synthetic_rule_names


# --- references and targets -------------------------------------------------------------------------------------------


def test_an_open_schema_allows_every_conventional_reference() -> None:
    known = kind_of()
    assert [each.path for each in known.references] == ["targetRefs", "targetRef", "targetSelectors"]
    assert (known.max_targets, known.cross_namespace) == (16, "grant")
    assert known.targets == (TargetKind("*", "*", sections=True),)


@pytest.mark.parametrize(
    ("reference", "max_targets", "cross_namespace", "sections"),
    [
        ({"targetRef": {"properties": REF}}, 1, "no", False),
        ({"targetRef": {"properties": {**REF, "sectionName": {}, "namespace": {}}}}, 1, "grant", True),
        ({"targetRefs": {"maxItems": 10, "items": {"properties": REF}}}, 10, "no", False),
        ({"targetRefs": {"items": {"properties": REF}}}, UNLIMITED, "no", False),
    ],
)
def test_a_closed_schema_bounds_the_references(
    reference: dict[str, Any], max_targets: int, cross_namespace: str, sections: bool
) -> None:
    for field in reference.values():
        place = field.get("items", field)
        place["properties"] = {**place["properties"], "kind": {"enum": ["Gateway"]}}
    known = kind_of({"properties": reference})
    assert (known.max_targets, known.cross_namespace, known.targets[0].sections) == (
        max_targets,
        cross_namespace,
        sections,
    )
    assert [each.path for each in known.references] == list(reference)


@pytest.mark.parametrize(
    ("rules", "targets"),
    [
        (["self.kind == 'Gateway' || self.kind=='HTTPRoute'"], {("*", "Gateway"), ("*", "HTTPRoute")}),
        (["self.group == 'a.io'", "self.kind in ['X', 'Y']"], {("a.io", "X"), ("a.io", "Y")}),
        (
            ["(self.kind == 'Service' && self.group == '') || (self.group == 'a.io' && self.kind in ['X'])"],
            {("", "Service"), ("a.io", "X")},
        ),
        (["!has(self.port) || self.kind == 'Gateway'"], {("*", "*")}),
        (["self.kind.endsWith('Route')"], {("*", "*")}),
    ],
)
def test_target_kinds_come_from_plain_validation_rules(rules: list[str], targets: set[tuple[str, str]]) -> None:
    field = {"properties": REF, "x-kubernetes-validations": [{"rule": each} for each in rules]}
    known = kind_of({"properties": {"targetRef": field}})
    assert {(each.group, each.kind) for each in known.targets} == targets


@pytest.mark.parametrize(
    "rule",
    [
        "has(self.targetRefs) ? self.targetRefs.all(ref, ref.kind in ['Gateway', 'HTTPRoute']) : true",
        "!has(self.targetRefs) || self.targetRefs.all(t, t.kind == 'Gateway' || t.kind == 'HTTPRoute')",
    ],
)
def test_target_kinds_come_from_rules_of_the_whole_spec(rule: str) -> None:
    fields = {"targetRefs": {"items": {"properties": REF}}}
    known = kind_of({"properties": fields, "x-kubernetes-validations": [{"rule": rule}]}, label=None)
    assert {each.kind for each in known.targets} == {"Gateway", "HTTPRoute"}
    assert known.policy_class == "Inherited"


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_scope_versions_and_plural() -> None:
    versions = [
        {"name": "v1alpha1", "served": False},
        {"name": "v1beta1", "served": True, "deprecated": True},
        {"name": "v1", "served": True, "storage": True},
        {"name": "v2alpha1", "served": True},
    ]
    schema = {"openAPIV3Schema": {"type": "object"}}
    known = kind_of(scope="Cluster", versions=[{**each, "schema": schema} for each in versions])
    assert known.cluster_scoped
    assert known.versions == ("v1", "v1beta1", "v2alpha1")
    assert known.deprecated_versions == {"v1alpha1": f"{GROUP}/v1", "v1beta1": f"{GROUP}/v1"}


def test_well_known_settings_are_recognised_in_schema_and_objects() -> None:
    known = kind_of(None, {**TO_GATEWAY, "jwt": {}, "color": "red"}, {**TO_ROUTE, "defaults": {"rateLimit": {}}})
    assert (known.settings.authentication, known.settings.protection) == (("jwt",), ("rateLimit",))


@pytest.mark.parametrize("broken", [{"names": None}, {"versions": "v1"}, {"versions": [None]}, {"group": 3}])
def test_a_broken_crd_tells_nothing_and_breaks_nothing(broken: dict[str, Any]) -> None:
    derived(**broken)


def test_a_reference_may_write_core_for_the_empty_group() -> None:
    assert TargetKind("", "Service").covers("core", "Service")
    assert not TargetKind("a.io", "Service").covers("core", "Service")
