"""Shapes that a controller refuses, as the entry of a kind states them: `refuses` of schemas/policy-kind.json."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from policylint.implementations.generic.refusals import refusals
from policylint.model.policy_kind import policy_kind
from policylint.model.shipped import shipped

ENTRY = {
    "group": "acme.example",
    "kind": "Limit",
    "class": "Direct",
    "targets": [],
    "merge": {"strategy": "none", "wrappers": {}},
}
SIZE = {"paths": ["body.size", "answer.size"], "matches": "[0-9]+[km]", "says": "{} is no size"}
MODE = {"paths": ["rules.*.mode"], "among": ["on", "off"], "says": "{} is no mode", "code": "mode"}
KEYS = {"paths": ["rules.*"], "has": [["uri", "url"], "inline"], "at": "inline", "says": "one source of keys"}
NONE = {"paths": ["rules.*"], "lacks": ["uri", "inline"], "says": "no source of keys"}
PLAIN = {"paths": [""], "where": {"tls.mode": ["off", None]}, "states": ["tls.ca"], "at": "tls.ca", "says": "no TLS"}


@pytest.mark.parametrize(
    ("refusing", "spec", "said"),
    [
        (SIZE, {"body": {"size": "10k"}, "answer": {"size": "10q"}}, [("spec.answer.size", "'10q' is no size")]),
        (SIZE, {"body": {"size": "10k or more"}}, [("spec.body.size", "'10k or more' is no size")]),
        (SIZE, {"body": {"size": None}, "answer": 5}, []),
        (SIZE, {"body": {"size": "${SIZE}"}}, []),
        (SIZE | {"matches": "("}, {"body": {"size": "10q"}}, []),
        (MODE, {"rules": [{"mode": "on"}, {}, {"mode": "of"}]}, [("spec.rules.2.mode", "'of' is no mode")]),
        (KEYS, {"rules": [{"url": "x", "inline": "y"}]}, [("spec.rules.0.inline", "one source of keys")]),
        (KEYS, {"rules": [{"url": "x", "inline": ""}, {"inline": "y"}, "no object"]}, []),
        (NONE, {"rules": [{"uri": ""}, {"inline": "x"}]}, [("spec.rules.0", "no source of keys")]),
        (PLAIN, {"tls": {"ca": ""}}, [("spec.tls.ca", "no TLS")]),
        (PLAIN, {"tls": {"ca": "", "mode": "on"}}, []),
        (PLAIN, {"tls": {"mode": "off"}}, []),
    ],
)
def test_a_shape_is_refused(refusing: dict[str, Any], spec: dict[str, Any], said: list[tuple[str, str]]) -> None:
    entry = {**ENTRY, "refuses": [refusing]}
    schema = json.loads(shipped("schemas", "policy-kind.json").read_text())
    jsonschema.validate({"implementation": "acme", "kinds": [entry]}, schema)
    found = list(refusals(policy_kind(entry, "acme", "catalog"), spec))
    assert [(".".join(map(str, each.pointer)), each.reason) for each in found] == said
    assert {each.code for each in found} <= {refusing.get("code", "value")}
