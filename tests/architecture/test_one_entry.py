"""A kind that behaves generically needs one catalog entry and no code: what follows from adding one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from policylint.catalog.kinds import Catalog, ShippedFile
from policylint.checks import run
from policylint.model.shipped import shipped, shipped_files
from policylint.simulation import Simulation, simulate
from tests import worlds
from tests.worlds import gateway, gateway_class, route, world

ENTRY = """
implementation: acme
title: Acme Gateway
controllers: ["acme.example/*"]
kinds:
  - group: policy.acme.example
    kind: TimeoutPolicy
    plural: timeoutpolicies
    versions: [v1]
    class: Inherited
    targets:
      - {group: gateway.networking.k8s.io, kind: Gateway, sections: true}
      - {group: gateway.networking.k8s.io, kind: HTTPRoute, sections: true}
    merge: {strategy: patch-defaults, wrappers: {}}
    conflict: same-target
    settings: {protection: [request]}
    verified: "yes"
"""
TOPOLOGY = (
    gateway_class("acme", "acme.example/controller"),
    gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="acme"),
    route(parents="[{name: edge}]", more="rules: [{name: all}]"),
)


def policy(name: str, target: str, spec: str) -> str:
    return worlds.policy("policy.acme.example/v1", "TimeoutPolicy", name, target, spec, "shop")


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """The shipped catalog and one file more."""
    entry: dict[str, Any] = yaml.safe_load(ENTRY)
    jsonschema.validate(entry, json.loads(shipped("schemas", "policy-kind.json").read_text()))
    (tmp_path / "acme.yaml").write_text(ENTRY.lstrip())
    paths = [*shipped_files("schemas", "policy-kinds"), str(tmp_path / "acme.yaml")]
    return Catalog(map(ShippedFile, paths), {}, {}, None)


def judged(catalog: Catalog, *policies: str) -> Simulation:
    return simulate(world(*TOPOLOGY, *policies), catalog)


def test_it_is_merged_by_the_strategy_of_its_entry(catalog: Catalog) -> None:
    simulation = judged(
        catalog,
        policy("defaults", "Gateway/edge", "request: 5s, idle: 1m"),
        policy("checkout", "HTTPRoute/checkout", "request: 1s"),
    )
    (spec,) = {str(dict(each.effective.spec)) for each in simulation.groups}
    assert spec == str({"request": "1s", "idle": "1m"})
    assert {key.name: state.verdict for key, state in simulation.policies.items()} == {
        "checkout": "Enforced",
        "defaults": "PartiallyEnforced",
    }


def test_its_conflicts_and_mistakes_are_found(catalog: Catalog) -> None:
    simulation = judged(
        catalog,
        policy("a", "HTTPRoute/checkout", "request: 1s"),
        policy("b", "HTTPRoute/checkout", "request: 2s"),
        policy("c", "HTTPRoute/chekout", "request: 2s"),
        policy("d", "Service/checkout", "request: 2s"),
        policy("e", "HTTPRoute/checkout#al", "request: 2s"),
    )
    found = {(each.rule, each.resources[0].name, each.confidence) for each in run(simulation)}
    assert {
        ("GWP202", "b", "certain"),
        ("GWP101", "c", "certain"),
        ("GWP102", "d", "certain"),
        ("GWP103", "e", "certain"),
    } <= found
