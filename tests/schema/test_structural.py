"""CRD schemas as the API server applies them, and those that it refuses: what kind of value each keyword takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.schema.checker import Checker
from policylint.schema.explain import explain
from policylint.schema.structural import MalformedSchemaError, converted, structural
from tests.worlds import opened

OPEN = "x-kubernetes-preserve-unknown-fields"
ODD = (True, -1, 0.5, "x", [], [5], {}, {"x": 5}, float("nan"))
TAKEN: dict[str, tuple[Any, ...]] = {
    "additionalProperties": (True, {}, {"x": 5}),
    "allOf": ([],),
    "anyOf": ([],),
    "enum": ([], [5]),
    "exclusiveMinimum": (True,),
    "items": ({}, {"x": 5}),
    "maxItems": (),
    "maxLength": (),
    "maximum": (-1, 0.5),
    "minProperties": (),
    "multipleOf": (0.5,),
    "not": ({}, {"x": 5}),
    "nullable": (True,),
    "oneOf": ([],),
    "pattern": ("x",),
    "properties": ({},),
    "required": ([],),
    "type": (),
    "uniqueItems": (True,),
    "x-kubernetes-int-or-string": (True,),
    "x-kubernetes-preserve-unknown-fields": (True,),
}
"""Keyword → those of ODD that it takes."""


@pytest.mark.parametrize("keyword", TAKEN)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_keyword_takes_what_the_api_server_takes(keyword: str, value: Any) -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", keyword: value}}}
    if any(value is taken or (value == taken and type(value) is type(taken)) for taken in TAKEN[keyword]):
        assert structural(schema)
    else:
        with pytest.raises(MalformedSchemaError, match=keyword):
            structural(schema)


@pytest.mark.parametrize("keyword", TAKEN)
def test_a_null_is_no_value(keyword: str) -> None:
    fields = {"spec": {"type": "object", "properties": {"size": {"type": "integer", keyword: None}}}}
    schema = structural({"type": "object", "properties": fields})
    assert Checker(schema).is_valid({"spec": {"size": 1}})
    assert not explain(schema, {"spec": {"size": 1}})


WORLD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shapepolicies.example.com, labels: {gateway.networking.k8s.io/policy: Direct}}
spec:
  group: example.com
  names: {kind: ShapePolicy, plural: shapepolicies}
  versions:
    - name: v1
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: SIZE}}}}}
---
apiVersion: example.com/v1
kind: ShapePolicy
metadata: {name: shape}
spec: {size: x, other: 1}
"""


@pytest.mark.parametrize(
    ("size", "rules"),
    [("{type: integer}", ["GWP501", "GWP501"]), ("{type: whole}", []), ("{enum: {}}", []), ("5", [])],
)
def test_of_a_malformed_schema_nothing_is_said(tmp_path: Path, size: str, rules: list[str]) -> None:
    from policylint.checks import run

    simulation = opened(tmp_path, WORLD.replace("SIZE", size))
    assert [finding.rule for finding in run(simulation, select={"GWP501"})] == rules


def test_junctions_judge_what_defaults_have_filled_in() -> None:
    """Kubernetes, «Custom Resources: Defaulting»: defaults are applied before validation."""
    by_type = [
        {"properties": {"type": {"enum": ["IPAddress"]}, "value": {"pattern": "^[0-9.]+$"}}},
        {"properties": {"type": {"not": {"enum": ["IPAddress"]}}}},
    ]
    node = {
        "type": "object",
        "properties": {"type": {"type": "string", "default": "IPAddress"}, "value": {"type": "string"}},
        "oneOf": by_type,
    }
    checker = Checker(converted(node))
    assert checker.is_valid({"value": "192.0.2.1"})
    assert not checker.is_valid({"value": "a.example.com"})
    assert checker.is_valid({"type": "Hostname", "value": "a.example.com"})
    assert Checker(converted({**node, "oneOf": [{"required": ["type"]}]})).is_valid({"value": "x"})


@pytest.mark.parametrize(
    ("field", "value", "strange"),
    [
        ({"type": "array", OPEN: True, "items": {"type": "object"}}, [{"kind": "Pod"}], []),
        ({"type": "array", "items": {"type": "object"}}, [{"kind": "Pod"}], ["kind"]),
        ({"type": "array", "items": {"type": "object", OPEN: True}}, [{"kind": "Pod"}], []),
        (
            {"type": "array", OPEN: True, "items": {"type": "array", "items": {"type": "object"}}},
            [[{"kind": "Pod"}]],
            [],
        ),
        (
            {"type": "array", OPEN: True, "items": {"type": "object", "properties": {"spec": {"type": "object"}}}},
            [{"kind": "Pod", "spec": {"a": 5}}],
            ["a"],  # what is declared is pruned by what it says itself
        ),
    ],
)
def test_a_list_keeps_what_its_items_hold(field: dict[str, Any], value: Any, strange: list[str]) -> None:
    schema = structural({"type": "object", "properties": {"objects": field}})
    found = explain(schema, {"objects": value})
    assert [violation.pointer[-1] for violation in found] == strange
