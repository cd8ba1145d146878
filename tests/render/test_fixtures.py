"""The worlds in fixtures/: one per style of deployment, with the environments they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from policylint.workspace import Workspace, open_workspace
from tests.render.trees import FIXTURES, deployed, place

WORLDS = {
    "flux-shop": {
        "prod": [
            "BackendTrafficPolicy shop/timeouts",
            "ConfigMap flux-system/settings",
            "Gateway infra/edge",
            "GatewayClass envoy",
            "HTTPRoute shop/checkout",
            "SecurityPolicy shop/checkout-cors",
            "Service shop/checkout",
        ]
    },
    "argo-platform": {
        "edge": ["Gateway infra/edge", "GatewayClass envoy"],
        "in-cluster": [
            "Gateway infra/edge",
            "GatewayClass envoy",
            "HTTPRoute backend/api",
            "HTTPRoute web/web",
            "SecurityPolicy web/web-cors",
            "Service backend/api",
            "Service web/web",
        ],
    },
    "kustomize-two-clusters": {
        name: [
            "Gateway shop/edge",
            "GatewayClass envoy",
            "HTTPRoute shop/shop",
            "SecurityPolicy shop/shop-cors",
            "Service shop/shop",
        ]
        for name in ("prod", "staging")
    },
    "plain-manifests": {
        "default": [
            "Gateway infra/edge",
            "GatewayClass envoy",
            "HTTPRoute shop/shop",
            "SecurityPolicy shop/shop-cors",
            "Service shop/shop",
        ]
    },
    "app-template-home": {
        "cluster": [
            "Deployment media/library",
            "Deployment media/player",
            "Gateway infra/edge",
            "GatewayClass envoy",
            "HTTPRoute media/library-sync",
            "HTTPRoute media/library-web",
            "HTTPRoute media/player",
            "SecurityPolicy media/player-cors",
            "Service media/library-sync",
            "Service media/library-web",
            "Service media/player",
        ]
    },
}


def opened(name: str) -> Workspace:
    return open_workspace([str(FIXTURES / name)])


@pytest.mark.parametrize(("name", "expected"), WORLDS.items(), ids=WORLDS)
def test_environments(name: str, expected: dict[str, list[str]]) -> None:
    assert deployed(opened(name)) == expected


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_is_wrong_with_them(name: str) -> None:
    assert [each.message for each in opened(name).findings() if each.severity != "note"] == []


def test_the_silent_failures_are_found() -> None:
    found = opened("silent-failures")
    below = FIXTURES / "silent-failures"
    assert {(each.rule, place(each.location, below)) for each in found.findings() if each.severity != "note"} == {
        ("GWP101", "apps/moved-policies/policy.yaml:10"),
        ("GWP101", "apps/dropped/policy.yaml:9"),
        ("GWP105", "apps/selected/policy.yaml:10"),
        ("GWP503", "apps/granted/grant.yaml:4"),
    }
    orphans = [str(key) for key in found.simulations[0].world.orphans]
    assert orphans == ["HTTPRoute ?/basket", "Service ?/basket"]


def test_one_environment_may_be_asked_for() -> None:
    found = open_workspace([str(FIXTURES / "kustomize-two-clusters")], env=["prod"])
    assert [each.world.name for each in found.simulations] == ["prod"]
    route = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert route.spec["hostnames"] == ["shop.example.com"]


def test_values_of_routes_made_by_a_chart_are_located_in_the_release() -> None:
    world = opened("app-template-home").simulations[0].world
    route = next(each for each in world.of_kind("gateway.networking.k8s.io", "HTTPRoute") if each.key.name == "player")
    below = FIXTURES / "app-template-home"
    assert route.spec["hostnames"] == ["player.example.com"]
    assert route.spec["rules"][0]["backendRefs"] == [{"name": "player", "port": 8096}]
    lines = (FIXTURES / "app-template-home/apps/media/player.yaml").read_text().splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if "sectionName" in text)
    assert place(route.location("spec", "parentRefs", 0, "sectionName"), below) == f"apps/media/player.yaml:{line}"


def test_environments_may_be_stated() -> None:
    roots = {"east": ["overlays/prod"], "west": ["overlays/staging"]}
    found = open_workspace([str(FIXTURES / "kustomize-two-clusters")], stated=roots)
    assert [each.world.name for each in found.simulations] == ["east", "west"]


def test_rendering_may_be_switched_off() -> None:
    found = open_workspace([str(FIXTURES / "kustomize-two-clusters")], render="off")
    assert [each.world.name for each in found.simulations] == ["default"]


def test_what_holds_in_several_environments_is_said_once(tmp_path: Path) -> None:
    world = shutil.copytree(FIXTURES / "kustomize-two-clusters", tmp_path / "world")
    policy = world / "base/policy.yaml"
    policy.write_text(policy.read_text().replace("      name: shop\n", "      name: gone\n"))
    found = [each for each in open_workspace([str(world)]).findings() if each.rule == "GWP101"]
    assert [(each.environments, place(each.location, world)) for each in found] == [
        (("prod", "staging"), "base/policy.yaml:9")
    ]
