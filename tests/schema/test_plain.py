"""The errors found without jsonschema are the ones that jsonschema finds."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policylint.model.shipped import shipped
from policylint.schema.checker import without_nulls
from policylint.schema.explain import validator
from policylint.schema.known import read_shipped
from policylint.schema.plain import NotPlainError, errors
from policylint.schema.structural import converted
from tests.nightly import examples
from tests.schema.test_checker import ROUTE, SCHEMAS, VALUES, changed, places


def shown(error: Any) -> tuple[str, list[Any], str, str]:
    return error.validator, list(error.absolute_path), repr(error.validator_value), repr(error.instance)


def by_jsonschema(schema: Any, value: Any) -> list[tuple[str, list[Any], str, str]]:
    return [shown(each) for each in validator()(schema).iter_errors(value)]


@settings(max_examples=examples(400), deadline=None)
@given(SCHEMAS, VALUES)
def test_the_errors_are_those_of_jsonschema(schema: dict[str, Any], value: Any) -> None:
    wanted = converted(schema)
    looked_at = without_nulls(value, wanted)
    try:
        found = [shown(each) for each in errors(wanted, looked_at)]
    except NotPlainError:
        assert by_jsonschema(wanted, looked_at)
        return
    assert sorted(found, key=str) == sorted(by_jsonschema(wanted, looked_at), key=str)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(places(ROUTE)), VALUES, st.booleans())
def test_a_route_with_one_thing_changed(place: tuple[Any, ...], new: Any, remove: bool) -> None:
    content = read_shipped(
        shipped("schemas", "crds", "gateway.networking.k8s.io", "HTTPRoute.json").read_text(encoding="utf-8")
    )
    schema = content["versions"]["v1"]
    body = without_nulls(changed(ROUTE, place, new, remove=remove), schema)
    try:
        found = [shown(each) for each in errors(schema, body)]
    except NotPlainError:
        assert by_jsonschema(schema, body)
        return
    assert sorted(found, key=str) == sorted(by_jsonschema(schema, body), key=str)


def test_a_keyword_that_is_not_known_here_is_left_to_jsonschema() -> None:
    with pytest.raises(NotPlainError):
        list(errors({"propertyNames": {"pattern": "a"}}, {"b": 1}))


def test_a_misspelt_field_is_explained_without_importing_jsonschema() -> None:
    code = (
        "import sys; from policylint.schema.explain import explain\n"
        "schema = {'properties': {'name': {'type': 'string'}}, 'additionalProperties': False}\n"
        "print([each.code for each in explain(schema, {'nmae': 1})], 'jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['unknown-field'] False"
