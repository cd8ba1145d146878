"""A chart of the tree whose dependencies its deployer fetches: its own templates are rendered all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.render.helm.dependencies import Dependency, stand_in
from policylint.workspace import Workspace
from tests.render.test_argo import application
from tests.render.trees import deployed, workspace

OWN = """
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}-own}
spec: {selector: {app: {{ .Values.app }}}, ports: [{port: {{ (.Values.engine).port | default 80 }}}]}
"""
APP = """
  controllers: {main: {containers: {main: {image: {repository: shop, tag: '1'}}}}}
  service: {main: {controller: main, ports: {http: {port: 8080}}}}
  route: {main: {hostnames: [shop.example.com], parentRefs: [{name: edge, namespace: infra}]}}
"""
REMOTE = "repository: 'https://charts.example.com'"


def chart(dependencies: str, values: str = "app: shop\n", **more: str) -> dict[str, str]:
    about = f"apiVersion: v2\nname: shop\nversion: 0.1.0\ndependencies: [{dependencies}]\n"
    source = "{repoURL: 'https://git.example.com/platform.git', path: charts/shop}"
    return {
        "argo/shop.yaml": application("shop", source),
        "charts/shop/Chart.yaml": about,
        "charts/shop/values.yaml": values,
        "charts/shop/templates/own.yaml": OWN,
    } | {f"charts/shop/{path}": text for path, text in more.items()}


def made(found: Workspace) -> list[str]:
    return [each for objects in deployed(found).values() for each in objects]


def notes(found: Workspace) -> list[str]:
    return [each.message for each in found.findings() if each.rule == "GWP911"]


@pytest.mark.parametrize(
    "dependency",
    [
        f"{{name: engine, version: 1.2.3, {REMOTE}}}",
        f"{{name: engine, version: ^1.2, {REMOTE}}}",
        "{name: engine, version: '>=1.2.0 <2', repository: 'oci://registry.example.com/charts'}",
        "{name: engine, version: 1.x, repository: '@example'}",
        f"{{name: engine, version: 1.2.3-rc.1, {REMOTE}}}",
        f"{{name: engine, alias: motor, version: '*', {REMOTE}}}",
    ],
)
def test_its_own_templates_are_rendered(tmp_path: Path, dependency: str) -> None:
    found = workspace(tmp_path, chart(dependency))
    assert any(each.startswith("Service ") and each.endswith("/shop-own") for each in made(found))
    assert notes(found) == ["chart engine, on which chart charts/shop depends, is not rendered"]


def test_what_a_fetched_chart_may_make_is_not_missing(tmp_path: Path) -> None:
    route = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: shop-engine, port: 80}]}]}
"""
    files = chart(f"{{name: engine, version: 1.2.3, {REMOTE}}}", **{"templates/route.yaml": route})
    rules = {each.rule for each in workspace(tmp_path / "fetched", files).findings() if each.confidence == "certain"}
    assert "GWP402" not in rules
    assert "GWP406" not in rules


@pytest.mark.parametrize(("alias", "key"), [("", "app-template"), ("alias: web, ", "web")])
def test_app_template_is_made_of_the_values_it_is_given(tmp_path: Path, alias: str, key: str) -> None:
    dependency = f"{{name: app-template, {alias}version: 4.4.0, {REMOTE}}}"
    found = workspace(tmp_path, chart(dependency, f"app: shop\n{key}:{APP}"))
    kinds = {each.partition(" ")[0] for each in made(found)}
    assert {"HTTPRoute", "Service", "Deployment"} <= kinds
    assert notes(found) == []


@pytest.mark.parametrize(
    ("name", "version", "more", "is_made"),
    [
        ("app-template", "4.4.0", "", True),
        ("app-template", "18.16.14", "", False),
        ("app-template", "4.4.0", "  workload: {main: {}}\n", False),
        ("app-template", "4.4.0", "  portal: {open: {enabled: false}}\n", False),
        ("app-template", "4.4.0", "  credentials: {store: {}}\n", False),
        ("home-app", "1.0.0", "", True),
        ("home-app", "1.0.0", "  workload: {main: {}}\n", False),
        ("home-app", "1.0.0", "  portal: {open: {enabled: false}}\n", False),
    ],
)
def test_only_a_chart_of_the_family_makes_what_it_makes(
    tmp_path: Path, name: str, version: str, more: str, is_made: bool
) -> None:
    """Of TrueCharts' of that name (trueforge-org/truecharts, charts/library/common) it is not known what it makes."""
    dependency = f"{{name: {name}, version: {version}, {REMOTE}}}"
    found = workspace(tmp_path, chart(dependency, f"app: shop\n{name}:{APP}{more}"))
    assert any(each.startswith("HTTPRoute ") for each in made(found)) is is_made
    assert (notes(found) == []) is is_made


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("condition: engine.enabled, ", "app: shop\nengine: {enabled: false}\n"),
        ("tags: [all], ", "app: shop\ntags: {all: false}\n"),
    ],
)
def test_one_that_is_switched_off_makes_nothing(tmp_path: Path, condition: str, values: str) -> None:
    found = workspace(tmp_path, chart(f"{{name: engine, {condition}version: 1.2.3, {REMOTE}}}", values))
    assert any(each.endswith("/shop-own") for each in made(found))
    assert notes(found) == []


@pytest.mark.parametrize(
    ("dependency", "more"),
    [
        ("{name: engine, version: 1.2.3, repository: 'file://../engine'}", {}),
        ("{name: engine, version: 1.2.3}", {}),
        (f"{{name: engine, version: 1.2.3, {REMOTE}}}", {"templates/x.yaml": '{{ include "engine.name" . }}\n'}),
    ],
)
def test_where_the_chart_cannot_be_had_without_it(tmp_path: Path, dependency: str, more: dict[str, str]) -> None:
    found = workspace(tmp_path, chart(dependency, **more))
    assert made(found) == []
    assert any("missing in charts/ directory: engine" in each for each in notes(found))


@pytest.mark.parametrize(
    "version", ["1.2.3", "v1.2.3", "^1.2", "~2", "1.x", ">= 1.2 < 3", "1.2 - 2.0", "*", "", "2.0.0-rc.1"]
)
def test_a_version_that_fits(version: str) -> None:
    assert stand_in(Dependency({"version": version}, "engine", "engine")) is not None
