"""The checker decides as jsonschema does, on made-up schemas and on shipped ones, and as the API server on nulls."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.cel.nodes import Fuel
from policylint.model.shipped import shipped
from policylint.schema import Checker
from policylint.schema.checker import without_nulls
from policylint.schema.explain import explain
from policylint.schema.known import read_shipped
from policylint.schema.names import is_bracketed_to_replace
from policylint.schema.rules import RULES
from policylint.schema.structural import KEPT, converted, structural
from tests.nightly import examples

NAMES = st.sampled_from(["a", "b", "c", "name"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.sampled_from([0.5, 2.0, "", "a", "ab", "abc", "a-b", "A"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)


def leaves() -> st.SearchStrategy[dict[str, Any]]:
    strings = st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(1, 3),
            "pattern": st.sampled_from(["^[a-z]*$", "b", "^a(-b)?$"]),
            "enum": st.just(["a", "ab"]),
            "nullable": st.booleans(),
        },
    )
    numbers = st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={
            "minimum": st.integers(0, 3),
            "maximum": st.integers(2, 9),
            "exclusiveMinimum": st.booleans(),
            "multipleOf": st.sampled_from([2, 3]),
        },
    )
    others = st.sampled_from(
        [{"type": "boolean"}, {"x-kubernetes-int-or-string": True}, {"x-kubernetes-preserve-unknown-fields": True}]
    )
    return st.one_of(strings, numbers, others)


def nodes(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    required = st.lists(NAMES, max_size=2, unique=True)
    junction = st.lists(st.builds(lambda names: {"required": names or ["a"]}, required), min_size=1, max_size=3)
    objects = st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": required,
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 3),
            "oneOf": junction,
            "anyOf": junction,
            "not": st.builds(lambda names: {"required": names or ["b"]}, required),
            "x-kubernetes-preserve-unknown-fields": st.booleans(),
        },
    )
    maps = st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner})
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.integers(0, 2), "maxItems": st.integers(1, 3), "uniqueItems": st.booleans()},
    )
    return st.one_of(objects, maps, lists)


SCHEMAS = st.recursive(leaves(), nodes, max_leaves=6)


@settings(max_examples=examples(400), deadline=None)
@given(SCHEMAS, VALUES)
def test_agrees_with_jsonschema(schema: dict[str, Any], value: Any) -> None:
    wanted = converted(schema)
    expected = jsonschema.Draft202012Validator(wanted).is_valid(without_nulls(value, wanted))
    assert Checker(wanted).is_valid(value) == expected


def kinds() -> list[Any]:
    files = sorted(shipped("schemas", "crds").glob("*/*.json"))
    contents = [read_shipped(path.read_text(encoding="utf-8")) for path in files]
    return [
        pytest.param(schema, id=f"{each['kind']}-{version}")
        for each in contents
        for version, schema in each["versions"].items()
        if isinstance(schema, dict)
    ]


ALLOWED = {
    *KEPT,
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "exclusiveMaximum",
    "format",
    "items",
    "not",
    "oneOf",
    "properties",
    "required",
    "type",
    "x-experimental",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
}


def keywords(schema: Any) -> set[str]:
    """What a schema says anywhere; the names of fields are no keywords."""
    if not isinstance(schema, dict):
        return set()
    inner = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return {*schema, *(name for each in inner for name in keywords(each))}


def nodes_of(schema: Any) -> Iterator[Any]:
    """Yield a schema and each within it, those within it replaced by one that takes anything: it is a schema of JSON
    where they are."""
    if not isinstance(schema, dict):
        yield schema
        return
    alone = dict(schema)
    for name in ("additionalProperties", "items", "not"):
        if name in schema:
            yield from nodes_of(schema[name])
            alone[name] = True
    for name in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(name), list):
            yield from (node for each in schema[name] for node in nodes_of(each))
            alone[name] = [True] * len(schema[name])
    if isinstance(schema.get("properties"), dict):
        yield from (node for each in schema["properties"].values() for node in nodes_of(each))
        alone["properties"] = {}
    yield alone


@cache
def check(node: str) -> None:
    """Fail where a schema is none; most are of a few shapes."""
    jsonschema.Draft202012Validator.check_schema(json.loads(node))


def test_a_fault_is_found_wherever_it_stands() -> None:
    for place in (
        *({"items": {"type": "list"}}, {"properties": {"a": {"minLength": "1"}}}, {"properties": []}, {"items": 1}),
        *({"additionalProperties": {"required": "a"}}, {"anyOf": [{"not": {"type": 1}}]}, {"allOf": {}}, {"oneOf": []}),
    ):
        with pytest.raises(jsonschema.SchemaError):
            for node in nodes_of({"type": "object", "properties": {"spec": place}}):
                check(json.dumps(node))


@pytest.mark.parametrize("schema", kinds())
def test_shipped_schemas_are_json_schema_without_prose(schema: dict[str, Any]) -> None:
    for node in nodes_of(schema):
        check(json.dumps(node))
    assert keywords(schema) <= ALLOWED


ROUTE: dict[str, Any] = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "checkout", "labels": {"a": "b"}},
    "spec": {
        "parentRefs": [{"name": "edge", "namespace": "infra", "sectionName": "https", "port": 443}],
        "hostnames": ["shop.example.com"],
        "rules": [
            {
                "name": "first",
                "matches": [
                    {
                        "path": {"type": "PathPrefix", "value": "/v1"},
                        "headers": [{"name": "x-a", "value": "b"}],
                        "method": "GET",
                    }
                ],
                "filters": [{"type": "URLRewrite", "urlRewrite": {"hostname": "a.example.com"}}],
                "backendRefs": [{"name": "checkout", "port": 8080, "weight": 1}],
                "timeouts": {"request": "10s"},
            }
        ],
    },
}


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a value but its root."""
    steps = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [(*at, name) for name, _ in steps] + [each for name, inner in steps for each in places(inner, (*at, name))]


def changed(value: Any, place: tuple[Any, ...], new: Any, *, remove: bool) -> Any:
    result = copy.deepcopy(value)
    here = result
    for step in place[:-1]:
        here = here[step]
    if remove:
        del here[place[-1]]
    else:
        here[place[-1]] = new
    return result


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(places(ROUTE)), VALUES, st.booleans())
def test_a_route_with_one_thing_changed(place: tuple[Any, ...], new: Any, remove: bool) -> None:
    content = read_shipped(
        shipped("schemas", "crds", "gateway.networking.k8s.io", "HTTPRoute.json").read_text(encoding="utf-8")
    )
    schema = content["versions"]["v1"]
    body = changed(ROUTE, place, new, remove=remove)
    expected = jsonschema.Draft202012Validator(schema).is_valid(without_nulls(body, schema))
    assert Checker(schema).is_valid(body) == expected
    assert (not explain(schema, body)) == expected or is_bracketed_to_replace(new)


def test_nulls_and_defaults_are_those_of_the_api_server() -> None:
    schema = structural(
        {
            "type": "object",
            "properties": {
                "spec": {
                    "type": "object",
                    "required": ["kind", "name"],
                    "properties": {
                        "kind": {"type": "string", "default": "Service"},
                        "name": {"type": "string"},
                        "extra": {"type": "string", "nullable": True},
                    },
                }
            },
        }
    )
    checker = Checker(schema)
    assert checker.is_valid({"apiVersion": "x/v1", "kind": "X", "spec": {"name": "a"}})  # kind has a default
    assert checker.is_valid({"spec": {"name": "a", "kind": None, "extra": None}})  # a null is removed, or allowed
    assert not checker.is_valid({"spec": {"name": None}})
    assert not checker.is_valid({"spec": {"name": "a", "other": 1}})
    assert checker.is_valid({"spec": {"name": "a"}, "status": {"whatever": 1}})


def test_unknown_fields_do_not_count_among_the_most_that_a_mapping_may_have() -> None:
    """The API server drops them first."""
    properties = {"a": {"type": "string"}, "b": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "maxProperties": 1, "additionalProperties": False}
    assert [each.code for each in explain(schema, {"a": "x", "c": "x"})] == ["unknown-field"]
    assert "maxProperties" in [each.code for each in explain(schema, {"a": "x", "b": "x"})]


@pytest.mark.parametrize(
    ("listeners", "broken"),
    [
        (["a", "a"], ["names are unique"]),
        (["a", {"name": "a", "tls": {"mode": "T", "credentialName": "x"}}], ["names are unique"]),
        (["a", {"name": "b", "tls": {"mode": "T", "credentialName": "x"}}], []),
        (["a", {"name": "b", "tls": {"mode": "T"}}], ["refs wanted"]),
        (["a", {"name": "b", "tls": {"mode": "T"}, "host": "x"}], ["refs wanted"]),
        (["a", {"name": 1, "tls": {"mode": "T"}}], []),
    ],
)
def test_an_unknown_field_hides_the_rules_of_the_value_that_it_stands_in(
    listeners: list[Any], broken: list[str]
) -> None:
    tls = {
        "type": "object",
        "properties": {"mode": {"type": "string"}, "refs": {"type": "array", "items": {"type": "string"}}},
        RULES: [{"rule": "has(self.refs)", "message": "refs wanted"}],
    }
    listener = {"type": "object", "properties": {"name": {"type": "string"}, "tls": tls}}
    unique = {"rule": "self.all(a, self.exists_one(b, b.name == a.name))", "message": "names are unique"}
    schema = structural(
        {"type": "object", "properties": {"spec": {"type": "array", "items": listener, RULES: [unique]}}}
    )
    spec = [{"name": each} if isinstance(each, str) else each for each in listeners]
    found = explain(schema, {"spec": spec}, Fuel(100_000))
    assert [violation.wanted[0] for violation in found if violation.code == "rule"] == broken


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        (r"^\p{Lu}$", "Ä", "ä"),
        (r"^a\z", "a", "a\n"),
        ("^a$", "a", "a\n"),  # Python's `$` matches before a line break
        (r"^\d$", "1", "٣"),  # and its classes hold more than ASCII
        (r"^[[:alpha:]]+$", "ab", "a1"),
        ("(?P<x>b)", "abc", "ac"),
    ],
)
def test_a_pattern_is_one_of_re2(pattern: str, valid: str, invalid: str) -> None:
    schema = converted({"type": "string", "pattern": pattern})
    for spelling in (schema, {"anyOf": [schema, {"type": "integer"}]}):  # by ourselves, and by jsonschema
        assert (Checker(spelling).is_valid(valid), Checker(spelling).is_valid(invalid)) == (True, False)
        assert (len(explain(spelling, valid)), len(explain(spelling, invalid))) == (0, 1)


@pytest.mark.parametrize("pattern", ["(?<a", "(?=a)b", r"(a)\1", "a{2000}", r"(\pL{1000})" * 40])
def test_what_is_no_pattern_of_re2_refuses_nothing(pattern: str) -> None:
    assert Checker({"type": "string", "pattern": pattern}).is_valid("abc")
    assert explain({"type": "string", "pattern": pattern}, "abc") == []
    assert explain({"not": {}, "pattern": pattern}, "abc") != []


@pytest.mark.parametrize(
    ("schema", "good", "bad", "says"),
    [
        ({"type": "string", "format": "date-time"}, "2026-01-01T00:00:00Z", "today", "which is no time as in"),
        ({"type": "string", "format": "duration"}, "5s", "soon", "which is no duration"),
        ({"type": "integer", "format": "int32"}, 2**31 - 1, 2**31, "too large a number"),
        ({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, ["a"], ["a", "a"], "twice"),
        (
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name", "port"],
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 80}},
                },
            },
            [{"name": "a"}, {"name": "a", "port": 81}],
            [{"name": "a"}, {"name": "a", "port": 80}],
            "two entries of one name and port in spec.one",
        ),
    ],
)
def test_formats_and_keys_of_lists(schema: dict[str, Any], good: Any, bad: Any, says: str) -> None:
    whole = converted({"type": "object", "properties": {"spec": {"type": "object", "properties": {"one": schema}}}})
    assert Checker(whole).is_valid({"spec": {"one": good}})
    assert not Checker(whole).is_valid({"spec": {"one": bad}})
    assert says in explain(whole, {"spec": {"one": bad}})[0].says
