"""Policies whose CRD is not in the tree and that no catalog knows: recognised by their targets, not evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from policylint.workspace import open_workspace
from tests.metamorphic.test_same_answers import WAYS, written
from tests.worlds import gateway, gateway_class, manifest, opened, policy, route, service, state

API = "policies.example.com/v1"
WORLD = (gateway_class(), gateway(), route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"), service())


def color(name: str, target: str, spec: str = "color: red") -> str:
    return policy(API, "ColorPolicy", name, target, spec, "infra" if "Gateway" in target else "shop")


def said(directory: Path, *command: str) -> str:
    return CliRunner().invoke(main, [*command, str(directory)]).output


def linted(directory: Path) -> dict[str, Any]:
    return dict(json.loads(said(directory, "lint", "-o", "json")))


def test_targets_are_looked_up_and_nothing_else_is_said(tmp_path: Path) -> None:
    simulation = opened(tmp_path, *WORLD, color("wide", "Gateway/edge"), color("lost", "HTTPRoute/gone"))
    assert (state(simulation, "wide").verdict, state(simulation, "lost").verdict) == ("Unknown", "TargetNotFound")
    assert not simulation.groups
    report = linted(tmp_path)
    assert [(finding["rule"], finding["resources"][0]) for finding in report["findings"]] == [
        ("GWP101", "ColorPolicy shop/lost")
    ]
    assert report["coverage"]["unevaluated"] == ["2 ColorPolicies of an unknown kind"]


@pytest.mark.parametrize(
    "command",
    [
        ["explain", "HTTPRoute/checkout"],
        ["explain", "Gateway/edge"],
        ["trace", "GET", "http://shop.example/"],
    ],
)
def test_every_reader_names_them(tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path, *WORLD, color("wide", "Gateway/edge"))
    monkeypatch.chdir(tmp_path)
    output = CliRunner().invoke(main, command).output
    assert "of an unknown kind, not evaluated" in output
    assert "ColorPolicy infra/wide" in output


def test_nothing_is_claimed_of_what_they_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path, *WORLD, color("wide", "Gateway/edge"))
    monkeypatch.chdir(tmp_path)
    output = CliRunner().invoke(main, ["explain", "ColorPolicy/wide"]).output
    assert "not known: policies of its kind are not evaluated" in output
    assert "what changes is not known" in output
    assert "Reaches nothing" not in output
    assert "nothing changes" not in output


@pytest.mark.parametrize(
    "document",
    [
        manifest(API, "ColorPolicy", "p", "shop", "spec: {color: red}"),
        manifest(API, "ColorPolicy", "p", "shop", "spec: {targetRef: text}"),
        manifest(API, "ColorPolicy", "p", "shop", "spec: {targetRefs: [{name: checkout}]}"),
        manifest(API, "ColorPaint", "p", "shop", "spec: {targetRef: {kind: HTTPRoute, name: gone}}"),
    ],
)
def test_other_shapes_are_none(tmp_path: Path, document: str) -> None:
    simulation = opened(tmp_path, *WORLD, document)
    assert not simulation.policies
    assert "unevaluated" not in linted(tmp_path)["coverage"]


def test_a_crd_of_the_tree_says_more(tmp_path: Path) -> None:
    reference = "type: object, properties: {group: {type: string}, kind: {type: string}, name: {type: string}}"
    spec = f"{{targetRefs: {{type: array, items: {{{reference}}}}}, color: {{type: string}}}}"
    schema = f"{{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {spec}}}}}}}}}"
    crd = manifest(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "colorpolicies.policies.example.com",
        "",
        "spec: {group: policies.example.com, names: {kind: ColorPolicy, plural: colorpolicies}, scope: Namespaced, "
        f"versions: [{{name: v1, served: true, storage: true, schema: {schema}}}]}}",
    )
    simulation = opened(tmp_path, *WORLD, crd, color("p", "HTTPRoute/checkout"))
    assert state(simulation, "p").verdict == "Enforced"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_one_without_a_target_is_none_however_it_is_written(tmp_path: Path, way: Callable[..., dict[str, str]]) -> None:
    aimless = manifest(API, "ColorPolicy", "aimless", "shop", "spec: {color: red}")
    bodies = [yaml.safe_load(text) for text in (*WORLD, color("p", "HTTPRoute/checkout"), aimless)]
    (simulation,) = open_workspace([str(written(tmp_path, way(bodies)))]).simulations
    assert [key.name for key, state in simulation.policies.items() if state.kind.kind == "ColorPolicy"] == ["p"]
