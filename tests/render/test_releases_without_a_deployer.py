"""HelmReleases of charts in the same tree that nothing here applies, and sources that are this tree by another name.

Source: fluxcd/helm-controller, HelmReleases: a chart of a GitRepository is the directory of that path in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from policylint.workspace import open_workspace
from tests.render.test_charts import CHART, FLUX, GATEWAY, MADE, RELEASE, SYNC, rendered, route_of
from tests.render.trees import KUSTOMIZATION, deployed, written

PLAIN = {**CHART, "gateway.yaml": GATEWAY}


def source(name: str, address: str) -> str:
    return (
        f"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: {name}, namespace: shop}}\n"
        f"spec: {{url: {address}, ref: {{branch: main}}}}\n---\n"
    )


def of_source(name: str, address: str = "https://git.example.com/apps") -> str:
    """The release of a source under some name, after that source."""
    return source(name, address) + RELEASE.replace("name: flux-system}", f"name: {name}}}").lstrip()


def test_a_release_in_plain_files_has_its_own_values(tmp_path: Path) -> None:
    found = rendered(tmp_path, {**PLAIN, "releases/shop.yaml": of_source("apps")}, "builtin")
    assert deployed(found) == {"default": ["Gateway infra/edge", *MADE]}
    assert route_of(found)["parentRefs"] == [{"name": "edge", "namespace": "infra", "sectionName": "https"}]
    assert found.coverage.not_rendered == ()
    assert {each.rule for each in found.findings() if each.severity == "error"} == {"GWP402"}


def test_two_releases_of_one_chart_are_both_there(tmp_path: Path) -> None:
    second = of_source("apps").replace("name: front", "name: back").replace("section: https", "section: http")
    files = {**PLAIN, "releases/a.yaml": of_source("apps"), "releases/b.yaml": second}
    assert deployed(rendered(tmp_path, files, "builtin")) == {
        "default": ["Gateway infra/edge", "HTTPRoute shop/back-web", MADE[0], "Service shop/back-web", MADE[1]]
    }


def test_a_release_written_twice_is_not_known(tmp_path: Path) -> None:
    """Nothing says which of the two is applied: the chart is there with its own values, as far as seen."""
    files = {**PLAIN, "a/shop.yaml": of_source("apps"), "b/shop.yaml": of_source("apps").replace("https\n", "http\n")}
    found = rendered(tmp_path, files, "builtin")
    assert "HTTPRoute shop/front-web" not in deployed(found)["default"]
    assert "2 HelmReleases not rendered" in found.coverage.not_rendered


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("chart: ./charts/shop", "chart: ./charts/other"), id="another path"),
        pytest.param(("kind: GitRepository, name: apps}", "kind: HelmRepository, name: apps}"), id="a repository"),
    ],
)
def test_a_chart_that_is_not_in_the_tree_stays_unknown(tmp_path: Path, change: tuple[str, str]) -> None:
    release = of_source("apps").replace(*change)
    found = rendered(tmp_path, {**PLAIN, "releases/shop.yaml": release}, "builtin")
    assert "1 HelmRelease not rendered" in found.coverage.not_rendered


def test_requests_reach_what_a_release_in_plain_files_makes(tmp_path: Path) -> None:
    release = of_source("apps").replace("section: https", "section: http")
    found = rendered(tmp_path, {**PLAIN, "releases/shop.yaml": release, "class.yaml": CLASS}, "builtin")
    outcome = Tracer(found.simulations[0]).trace(from_url("GET", "http://shop.example.com/")).outcome
    assert [str(key) for key in outcome.backends] == [MADE[1]]


CLASS = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
"""


def test_an_overlay_takes_it_in_as_well(tmp_path: Path) -> None:
    files = {**PLAIN, "live/kustomization.yaml": f"{KUSTOMIZATION}resources: [shop.yaml, gateway.yaml]\n"}
    files |= {"live/shop.yaml": of_source("apps"), "live/gateway.yaml": GATEWAY}
    del files["gateway.yaml"]
    assert next(iter(deployed(rendered(tmp_path, files, "builtin")).values())) == ["Gateway infra/edge", *MADE]


def test_what_a_deployer_leaves_out_is_not_installed(tmp_path: Path) -> None:
    files = {**FLUX, "clusters/prod/kustomization.yaml": f"{KUSTOMIZATION}resources: [gateway.yaml, flux-system]\n"}
    files["clusters/prod/flux-system/kustomization.yaml"] = f"{KUSTOMIZATION}resources: [gotk-sync.yaml]\n"
    found = rendered(tmp_path, {**files, "clusters/prod/shop.yaml": RELEASE}, "builtin")
    assert "HTTPRoute shop/front-web" not in deployed(found)["prod"]


OURS = source("flux-system", "ssh://git@git.example.com/acme/platform").replace(
    "namespace: shop", "namespace: flux-system"
)


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        pytest.param("https://git.example.com/acme/platform.git", True, id="this repository by another name"),
        pytest.param("https://git.example.com/acme/charts", False, id="another repository"),
    ],
)
def test_the_address_says_whether_a_source_is_this_tree(tmp_path: Path, address: str, is_here: bool) -> None:
    files = {**FLUX, "clusters/prod/flux-system/gotk-sync.yaml": OURS + SYNC.lstrip()}
    found = rendered(tmp_path, {**files, "clusters/prod/shop.yaml": of_source("apps", address)}, "builtin")
    assert deployed(found) == {"prod": ["Gateway infra/edge", *(MADE if is_here else [])]}


def test_where_the_address_of_the_tree_was_not_seen_it_may_be_another(tmp_path: Path) -> None:
    files = {**FLUX, "clusters/prod/shop.yaml": of_source("apps")}
    found = open_workspace([str(written(tmp_path, files))])
    (route,) = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "HTTPRoute")
    assert route.provisional == "GitRepository apps may be another repository than this"
