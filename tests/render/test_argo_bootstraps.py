"""Charts of Applications that no Application deploys: somebody installs the top one, with its own values."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import Workspace
from tests.diff.history import commit
from tests.render.test_argo import application
from tests.render.test_stops import stopped
from tests.render.trees import deployed, workspace
from tests.worlds import route

GIT = "https://git.example.com/platform.git"
OWN = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: {{ .Values.prefix }}NAME, namespace: argocd}
spec:
  destination: {server: {{ .Values.server }}, namespace: shop}
  source: {repoURL: {{ .Values.repoURL }}, targetRevision: HEAD, path: PATH}
"""
VALUES = f"prefix: a-\nrepoURL: {GIT}\nserver: https://kubernetes.default.svc\n"


def chart(directory: str, *paths: str, values: str = VALUES) -> dict[str, str]:
    """Return a chart with an Application for each path."""
    own = {
        f"{directory}/templates/{number}.yaml": OWN.replace("PATH", path).replace("NAME", path.rpartition("/")[2])
        for number, path in enumerate(paths)
    }
    about = f"apiVersion: v2\nname: {directory.rpartition('/')[2]}\nversion: 1.0.0\n"
    return {f"{directory}/Chart.yaml": about, f"{directory}/values.yaml": values, **own}


SHOP = {"apps/shop/route.yaml": route("shop")}


def made(found: Workspace) -> set[str]:
    return {str(key) for each in found.simulations for key in each.world.resources}


def assumed(found: Workspace) -> int:
    return sum("of Applications" in each for each in found.coverage.not_rendered)


def test_what_its_applications_deploy_is_deployed(tmp_path: Path) -> None:
    more = {
        "bootstrap/templates/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.prefix }}more}\n"
    }
    found = workspace(tmp_path, {**chart("bootstrap", "apps/shop"), **more, **SHOP})
    assert list(deployed(found)) == ["in-cluster"]
    assert {"HTTPRoute shop/shop", "Application argocd/a-shop", "ConfigMap argocd/a-more"} <= made(found)
    assert assumed(found) == 1


def test_a_chart_of_applications_may_deploy_others(tmp_path: Path) -> None:
    """The top one is taken with its own values, what it deploys with those that it is given."""
    found = workspace(tmp_path, {**chart("top", "charts/apps"), **chart("charts/apps", "apps/shop"), **SHOP})
    assert {"HTTPRoute shop/shop", "Application argocd/a-apps", "Application argocd/a-shop"} <= made(found)
    assert assumed(found) == 1


def test_one_that_an_application_deploys_has_its_values(tmp_path: Path) -> None:
    source = f"{{repoURL: '{GIT}', path: bootstrap, helm: {{parameters: [{{name: prefix, value: given-}}]}}}}"
    found = workspace(tmp_path, {"root.yaml": application("root", source), **chart("bootstrap", "apps/shop"), **SHOP})
    assert "HTTPRoute shop/shop" in made(found)
    assert {each for each in made(found) if "shop" in each and "Application" in each} == {
        "Application argocd/given-shop"
    }
    assert assumed(found) == 0


@pytest.mark.parametrize("between", [(), ("charts/more",), ("charts/more", "charts/most")])
def test_one_that_an_application_of_a_chart_deploys_has_its_values(between: tuple[str, ...], tmp_path: Path) -> None:
    """takanao14/homelab: what a chart makes is an Application of the chart whose values differ between clusters."""
    charts = {}
    for above, below in zip(("top", *between), (*between, "charts/apps"), strict=True):
        giving = chart(above, below)
        giving[f"{above}/templates/0.yaml"] = giving[f"{above}/templates/0.yaml"].replace(
            f"path: {below}", f"path: {below}, helm: {{parameters: [{{name: prefix, value: given-}}]}}"
        )
        charts.update(giving)
    source = f"{{repoURL: '{GIT}', path: top}}"
    files = {"root.yaml": application("root", source), **charts, **chart("charts/apps", "apps/shop"), **SHOP}
    found = workspace(tmp_path, files)
    assert "HTTPRoute shop/shop" in made(found)
    applications = {each for each in made(found) if each.startswith("Application")}
    assert "Application argocd/given-shop" in applications
    assert "Application argocd/a-shop" not in applications
    assert assumed(found) == 0


def test_one_of_which_an_application_of_a_chart_deploys_another_is_the_top(tmp_path: Path) -> None:
    source = f"{{repoURL: '{GIT}', path: apps/other}}"
    other = {"apps/other/route.yaml": route("other"), "root.yaml": application("root", source)}
    charts = {**chart("top", "charts/apps"), **chart("charts/apps", "apps/shop")}
    found = workspace(tmp_path, {**charts, **other, **SHOP})
    assert {"HTTPRoute shop/shop", "HTTPRoute shop/other", "Application argocd/a-apps"} <= made(found)
    assert assumed(found) == 1


def test_one_that_another_application_stands_beside(tmp_path: Path) -> None:
    """Plain Applications and a chart of more of them: all are applied."""
    source = f"{{repoURL: '{GIT}', path: apps/other}}"
    other = {"apps/other/route.yaml": route("other"), "root.yaml": application("root", source)}
    found = workspace(tmp_path, {**chart("bootstrap", "apps/shop"), **other, **SHOP})
    assert {"HTTPRoute shop/shop", "HTTPRoute shop/other"} <= made(found)


@pytest.mark.parametrize(
    "files",
    [
        chart("bootstrap", "apps/shop", values="prefix: a-\n") | {"bootstrap/templates/0.yaml": "a: {{ fail `no` }}\n"},
        chart("bootstrap"),
        {path: text for number in range(13) for path, text in chart(f"boot-{number}", "apps/shop").items()},
    ],
    ids=["cannot be rendered", "without Applications", "a collection of them"],
)
def test_anything_else_is_as_it_is_written(tmp_path: Path, files: dict[str, str]) -> None:
    found = workspace(tmp_path, {**files, **SHOP})
    assert list(deployed(found)) == ["default"] or set(deployed(found)) == {""}
    assert "HTTPRoute shop/shop" in made(found)
    assert assumed(found) == 0


STAGED = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: platform
  destination: {server: https://kubernetes.default.svc, namespace: SPACE}
  source: {repoURL: GIT, targetRevision: HEAD, path: PATH, helm: {valueFiles: [FILE]}}
"""
PROJECT = """
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: platform, namespace: argocd}
spec: {sourceRepos: ['*'], destinations: [{server: '*', namespace: shop-live}, {server: '*', namespace: shop}]}
"""
SETTLED = {"SPACE": "shop-live", "GIT": GIT, "PATH": "charts/web", "FILE": "values.yaml"}
OF_STAGE = [{"FILE": "values-STAGE.yaml"}, {"SPACE": "shop-STAGE"}]


@pytest.mark.parametrize("changed", OF_STAGE, ids=["a file of values", "a destination"])
@pytest.mark.parametrize(("values", "expected"), [("stage: test\n", 1), ("stage:\n", 0), ("stage: null\n", 0), ("", 0)])
def test_what_hangs_on_a_value_that_is_to_be_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], values: str, expected: int
) -> None:
    """Who installs the chart says which stage it is; a default is one that counts."""
    written = STAGED
    for word, text in {**SETTLED, **changed}.items():
        written = written.replace(word, text)
    top = {
        "top/Chart.yaml": "apiVersion: v2\nname: top\nversion: 1.0.0\n",
        "top/values.yaml": f"size: 1\n{values}",
        "top/templates/shop.yaml": written.replace("STAGE", "{{ .Values.stage }}"),
        "argocd/project.yaml": PROJECT,
        "Makefile": "install:\n\tkubectl apply -f argocd/project.yaml\n",
    }
    web = {"charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "charts/web/values.yaml": "a: 1\n"}
    more = {"charts/web/templates/route.yaml": route("web"), **SHOP}
    commit(tmp_path, {**top, **web, **more})
    assert len(stopped(tmp_path, monkeypatch)) == expected
