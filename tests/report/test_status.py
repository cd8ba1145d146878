"""`simulate --as status`: objects that merge into their manifests and say what `-o json` says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from policylint.cli import main
from policylint.model import ROUTE_KINDS
from policylint.report.simulate import write as write_simulation
from policylint.report.simulate.status import stanzas, write
from policylint.workspace import open_workspace
from tests import worlds

FIXTURES = Path(__file__).parents[2] / "fixtures"
WORLDS = ("envoy-gateway-shop", "kuadrant-platform", "plain-manifests", "own-policy")


def ngf(name: str, target: str, size: str) -> str:
    spec = f"body: {{maxSize: {size}}}"
    return worlds.policy(
        "gateway.nginx.org/v1alpha1", "ClientSettingsPolicy", name, target, spec, "shop", field="targetRef"
    )


def kuadrant(kind: str, name: str, namespace: str, target: str, spec: str) -> str:
    return worlds.policy("kuadrant.io/v1", kind, name, target, spec, namespace, field="targetRef")


NGF = "---".join(
    (
        worlds.gateway_class("nginx", "gateway.nginx.org/nginx-gateway-controller"),
        worlds.gateway("edge", "shop", "[{name: http, port: 80, protocol: HTTP}]", of_class="nginx"),
        worlds.route(parents="[{name: edge, sectionName: http}]"),
        ngf("uploads", "HTTPRoute/checkout", "10m"),
        ngf("everywhere", "Gateway/edge", "1m"),
    )
)
LISTENERS = (
    "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
    "{name: admin, port: 81, protocol: HTTP}]"
)
KEY = "rules: {authentication: {key: {apiKey: {selector: {}}}}}"
KUADRANT = "---".join(
    (
        worlds.gateway("edge", "infra", LISTENERS, of_class="istio"),
        worlds.route(
            "shop", parents="[{name: edge, namespace: infra, sectionName: http}]", more="rules: [{name: all}]"
        ),
        kuadrant("AuthPolicy", "edge", "infra", "Gateway/edge", KEY),
        kuadrant("AuthPolicy", "shop", "shop", "HTTPRoute/shop", KEY),
        kuadrant("AuthPolicy", "lost", "shop", "HTTPRoute/gone", KEY),
        kuadrant(
            "RateLimitPolicy",
            "admin",
            "infra",
            "Gateway/edge#admin",
            "limits: {few: {rates: [{limit: 1, window: 1m}]}}",
        ),
    )
)


def of(tmp_path: Path, manifests: str) -> dict[str, dict[str, Any]]:
    """The statuses by `Kind name`."""
    (tmp_path / "world.yaml").write_text(manifests)
    simulations = open_workspace([str(tmp_path)]).simulations
    return {f"{each['kind']} {each['metadata']['name']}": each["status"] for each in stanzas(simulations[0])}


def reasons(conditions: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(each["type"], each["status"], each["reason"]) for each in conditions]


def names(entry: dict[str, Any]) -> str:
    namespace = entry["metadata"].get("namespace")
    return f"{entry['kind']} {namespace + '/' if namespace else ''}{entry['metadata']['name']}"


def without_messages(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "message": each.get("message", "")} for each in entries]


@pytest.mark.parametrize("world", WORLDS)
def test_it_says_what_the_simulation_says(world: str) -> None:
    """Every condition of `-o json` is in the stanzas, and they hold no other but `<Kind>Affected`."""
    simulations = open_workspace([str(FIXTURES / world)]).simulations
    said = json.loads("".join(write_simulation("json", simulations)))
    found = {names(each): each["status"] for each in yaml.safe_load_all("".join(write("yaml", simulations)))}
    for policy in said["policies"]:
        status = found.pop(policy["policy"], {})
        if "conditions" in policy:
            assert status.get("conditions", []) == without_messages(policy["conditions"])
        else:
            for mine, its in zip(status.get("ancestors", []), policy["ancestors"], strict=True):
                key = mine["ancestorRef"]
                section = f"#{key['sectionName']}" if "sectionName" in key else ""
                assert f"{key['kind']} {key['namespace']}/{key['name']}{section}" == its["ancestor"]
                assert mine["controllerName"] == its["controller"]
                assert mine["conditions"] == without_messages(its["conditions"])
    for route in said["routes"]:
        parents = [each for each in found.pop(route["route"])["parents"] if "kuadrant" not in each["controllerName"]]
        wanted = [without_messages(each["conditions"]) for each in route["parents"] if each["conditions"]]
        assert sorted(map(str, (each["conditions"] for each in parents))) == sorted(map(str, wanted))
    for gateway in said["gateways"]:
        status = found.pop(gateway["gateway"])
        mine = [each for each in status["conditions"] if "Affected" not in each["type"]]
        assert mine == without_messages(gateway["conditions"])
        for listener, its in zip(status["listeners"], gateway["listeners"], strict=True):
            assert listener["name"] == its["name"]
            assert listener["attachedRoutes"] == its["attachedRoutes"]
            assert [each["kind"] for each in listener["supportedKinds"]] == its["supportedKinds"]
    assert not found, "statuses of objects that the simulation does not show"


@pytest.mark.parametrize("world", WORLDS)
def test_it_merges_into_the_manifests(world: str) -> None:
    """Each stanza names exactly one object of the input by apiVersion, kind, namespace and name."""
    simulations = open_workspace([str(FIXTURES / world)]).simulations
    manifests = [each for each in _manifests(FIXTURES / world) if each]
    for each in stanzas(simulations[0]):
        assert list(each) == ["apiVersion", "kind", "metadata", "status"]
        same = [
            other
            for other in manifests
            if (other["apiVersion"], other["kind"], other["metadata"]["name"])
            == (each["apiVersion"], each["kind"], each["metadata"]["name"])
            and other["metadata"].get("namespace", "default") == each["metadata"].get("namespace", "default")
        ]
        assert len(same) == 1, each
        merged = {**same[0], "status": each["status"]}
        if each["kind"] in ROUTE_KINDS:
            written = [item["name"] for item in merged["spec"]["parentRefs"]]
            assert {item["parentRef"]["name"] for item in each["status"]["parents"]} <= set(written)


def _manifests(directory: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(directory.rglob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text())


def test_ngf_marks_targets_once_per_kind(tmp_path: Path) -> None:
    found = of(tmp_path, NGF)
    mark = ("ClientSettingsPolicyAffected", "True", "PolicyAffected")
    assert mark in reasons(found["Gateway edge"]["conditions"])
    (parent,) = found["HTTPRoute checkout"]["parents"]
    assert reasons(parent["conditions"]).count(mark) == 1
    assert parent["parentRef"] == {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": "edge",
        "sectionName": "http",
    }
    (ancestor,) = found["ClientSettingsPolicy uploads"]["ancestors"]
    assert ancestor["controllerName"] == "gateway.nginx.org/nginx-gateway-controller"
    assert ("Accepted", "True", "Accepted") in reasons(ancestor["conditions"])


def test_kuadrant_marks_what_is_attached_on_the_way(tmp_path: Path) -> None:
    found = of(tmp_path, KUADRANT)
    auth, rates = "kuadrant.io/AuthPolicyAffected", "kuadrant.io/RateLimitPolicyAffected"
    gateway = found["Gateway edge"]
    assert auth in {each["type"] for each in gateway["conditions"]}
    assert rates not in {each["type"] for each in gateway["conditions"]}, "a listener's policy is the listener's"
    listeners = {each["name"]: {one["type"] for one in each["conditions"]} for each in gateway["listeners"]}
    assert {auth, rates} <= listeners["admin"]
    assert auth in listeners["http"] and rates not in listeners["http"]
    own, added = found["HTTPRoute shop"]["parents"]
    assert auth not in {each["type"] for each in own["conditions"]}
    assert added["controllerName"] == "kuadrant.io/policy-controller"
    assert [(each["type"], each["message"]) for each in added["conditions"]] == [
        (auth, "Object affected by AuthPolicy [infra/edge shop/shop]")
    ]


def test_kuadrant_writes_enforced_only_on_what_is_accepted(tmp_path: Path) -> None:
    found = of(tmp_path, KUADRANT)
    assert reasons(found["AuthPolicy edge"]["conditions"]) == [
        ("Accepted", "True", "Accepted"),
        ("Enforced", "False", "Overridden"),
    ]
    assert found["AuthPolicy edge"]["conditions"][1]["message"] == "AuthPolicy is overridden by [shop/shop]"
    assert reasons(found["AuthPolicy shop"]["conditions"])[1] == ("Enforced", "True", "Enforced")
    assert reasons(found["RateLimitPolicy admin"]["conditions"])[1] == ("Enforced", "False", "Unknown")


def test_objects_that_nobody_reports_on_have_no_stanza(tmp_path: Path) -> None:
    mesh = """
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: strict, namespace: shop}
spec: {mtls: {mode: STRICT}}
"""
    assert of(tmp_path, mesh) == {}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "world.yaml").write_text(NGF)
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(main, ["simulate", "--as", "status", "world.yaml"])
    assert shown.exit_code == 0
    documents = list(yaml.safe_load_all(shown.stdout))
    assert [each["kind"] for each in documents] == [
        "ClientSettingsPolicy",
        "ClientSettingsPolicy",
        "Gateway",
        "HTTPRoute",
    ]
    assert "Time" not in shown.stdout and "observedGeneration" not in shown.stdout
    assert CliRunner().invoke(main, ["simulate", "--as", "status", "world.yaml"]).stdout == shown.stdout
    listed = json.loads(CliRunner().invoke(main, ["simulate", "--as", "status", "-o", "json", "world.yaml"]).stdout)
    assert listed["kind"] == "List" and listed["items"] == documents


def test_several_environments_are_told_apart(tmp_path: Path) -> None:
    tree = shutil.copytree(FIXTURES / "kustomize-two-clusters", tmp_path / "tree")
    simulations = open_workspace([str(tree)]).simulations
    text = "".join(write("yaml", simulations))
    heads = sorted({line for line in text.splitlines() if line.startswith("# environment ")})
    assert heads == [f"# environment {each.world.name}" for each in simulations]
    assert len(list(yaml.safe_load_all(text))) == sum(len(list(stanzas(each))) for each in simulations)
