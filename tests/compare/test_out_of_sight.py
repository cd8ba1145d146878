"""What a change takes out of sight is not gone, and not as before: it is not known, and said.

A chart that helm refuses, or that asks for chance, makes nothing here; a base that moves to another repository is not
read. The cluster does not answer 404 for all that: what was rendered before stands in, with values that are not known.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compare.repositories import diff
from tests.worlds import gateway, gateway_class, route, service

CLASS = "---".join((gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"), gateway(of_class="eg")))
RULES = "hostnames: [shop.example.com], rules: [{backendRefs: [{name: shop, port: 80}]}]"
ROUTE = "---".join((route("shop", more=RULES), service("shop")))
LOGIN = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]
  basicAuth: {users: {name: users}}
"""
TEMPLATE = f"{{{{- if .Values.route }}}}{ROUTE}---{LOGIN}{{{{- end }}}}\n"
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
    "chart/values.yaml": "route: true\n",
    "chart/templates/all.yaml": TEMPLATE,
}
APPLICATIONS = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'https://example.com/r.git', path: chart, targetRevision: HEAD}
  destination: {server: 'https://kubernetes.default.svc', namespace: shop}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: infra, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'https://example.com/r.git', path: argo, targetRevision: HEAD}
  destination: {server: 'https://kubernetes.default.svc', namespace: infra}
"""
ARGO = {"argo/apps.yaml": APPLICATIONS, "argo/gateway.yaml": CLASS, **CHART}
RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec:
  interval: 5m
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, interval: 5m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""
SOURCE = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: 'https://example.com/r.git', interval: 5m, ref: {branch: main}}
"""
ROOT = RELEASE.partition("---")[2]
FLUX = {
    "clusters/prod/root.yaml": f"{ROOT}---{SOURCE}",
    "apps/release.yaml": RELEASE.partition("---")[0],
    "apps/gateway.yaml": CLASS,
    **CHART,
}
INFLATED = {
    "kustomization.yaml": "namespace: shop\nresources: [gateway]\n"
    "helmGlobals: {chartHome: .}\nhelmCharts: [{name: chart, releaseName: shop, namespace: shop}]\n",
    "gateway/kustomization.yaml": "resources: [gateway.yaml]\n",
    "gateway/gateway.yaml": CLASS,
    **CHART,
}
BROKEN = {
    "refused": TEMPLATE.replace("{{- end }}", "{{- en }}"),
    "chance": f"{TEMPLATE}# {{{{ randAlphaNum 5 }}}}\n",
    "too much work": f"{TEMPLATE}# {{{{ range until 9999 }}}}{{{{ range until 9999 }}}}{{{{ end }}}}{{{{ end }}}}\n",
}


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("deployer", [ARGO, FLUX, INFLATED], ids=["argo", "flux", "kustomize"])
@pytest.mark.parametrize("how", BROKEN)
def test_a_chart_that_is_not_rendered_any_more_is_not_gone(tmp_path: Path, deployer: dict[str, str], how: str) -> None:
    weaker = BROKEN[how].replace("---" + LOGIN, "")
    said = diff(tmp_path, deployer, {"chart/templates/all.yaml": weaker})
    assert "is not rendered any more" in " ".join(said.split()), said
    assert [claim for claim in ("404", "closed", "gone", "as before") if claim in said] == []


def test_the_run_is_incomplete_then(tmp_path: Path) -> None:
    diff(tmp_path, ARGO, {"chart/templates/all.yaml": BROKEN["chance"]})
    again = [sys.executable, "-m", "policylint", "diff", "HEAD"]
    assert subprocess.run(again, cwd=tmp_path, check=False, capture_output=True).returncode == 3


@pytest.mark.parametrize("deployer", [ARGO, FLUX, INFLATED], ids=["argo", "flux", "kustomize"])
def test_one_that_is_rendered_is_judged_as_ever(tmp_path: Path, deployer: dict[str, str]) -> None:
    said = diff(tmp_path, deployer, {"chart/templates/all.yaml": TEMPLATE.replace(f"---{LOGIN}", "")})
    assert "loses its authentication" in " ".join(said.split())
    assert "any more" not in said


BASE = {
    "kustomization.yaml": "resources: [base, gateway.yaml]\n",
    "gateway.yaml": CLASS,
    "base/kustomization.yaml": "resources: [route.yaml, login.yaml]\n",
    "base/route.yaml": ROUTE,
    "base/login.yaml": LOGIN,
}


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ({"kustomization.yaml": "resources: ['https://example.com/x//base', gateway.yaml]\n"}, "in another repository"),
        ({"base/kustomization.yaml": "resources: [route.yaml, login.yaml]\ntransformers: [x.yaml]\n"}, "transformers"),
        ({"base/kustomization.yaml": "resources: [route.yaml, login.yaml, ../../x.yaml]\n"}, "outside of the tree"),
    ],
)
def test_what_renders_it_and_is_not_covered_any_more_is_a_row(
    tmp_path: Path, after: dict[str, str], reason: str
) -> None:
    said = diff(tmp_path, BASE, after)
    rows = [line for line in said.splitlines() if line.startswith("!")]
    assert rows and reason in " ".join(said.split())
    assert "as before" not in said


def test_what_was_not_covered_before_is_none(tmp_path: Path) -> None:
    with_transformers = "resources: [route.yaml, login.yaml]\ntransformers: [x.yaml]\n"
    before = {**BASE, "base/kustomization.yaml": with_transformers}
    said = diff(tmp_path, before, {"base/kustomization.yaml": f"# why\n{with_transformers}"})
    assert not [line for line in said.splitlines() if line.startswith("!")]


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("how", BROKEN)
def test_a_chart_that_nothing_installs_is_not_gone_either(tmp_path: Path, how: str) -> None:
    weaker = BROKEN[how].replace("---" + LOGIN, "")
    said = diff(tmp_path, {**CHART, "gateway.yaml": CLASS}, {"chart/templates/all.yaml": weaker})
    assert "is not rendered any more" in " ".join(said.split()), said
    assert [claim for claim in ("404", "closed", "gone", "as before") if claim in said] == []


AWAY = {
    "a published chart": (
        ARGO,
        {
            "argo/apps.yaml": APPLICATIONS.replace(
                "repoURL: 'https://example.com/r.git', path: chart, targetRevision: HEAD",
                "repoURL: 'https://charts.example.com', chart: shop, targetRevision: 1.0.0",
            )
        },
        "now deploys https://charts.example.com instead of",
    ),
    "a base elsewhere": (
        {"kustomization.yaml": "resources: [shop, gateway.yaml]\n", "gateway.yaml": CLASS}
        | {"shop/kustomization.yaml": "resources: [route.yaml]\n", "shop/route.yaml": ROUTE},
        {
            "kustomization.yaml": "resources: ['https://example.com/x//shop', gateway.yaml]\n",
            "shop/kustomization.yaml": "resources: []\n",
        },
        "is in another repository",
    ),
}


@pytest.mark.parametrize("how", AWAY)
def test_a_route_that_may_be_in_what_came_instead_is_not_answered_404(tmp_path: Path, how: str) -> None:
    before, after, words = AWAY[how]
    said = " ".join(diff(tmp_path, before, after).split())
    assert "! not known for 1 host" in said, said
    assert words in said
    assert "404" not in said


def test_one_that_is_deleted_is(tmp_path: Path) -> None:
    before, after, _ = AWAY["a base elsewhere"]
    said = diff(tmp_path, before, {**after, "kustomization.yaml": "resources: [gateway.yaml]\n"})
    assert "404: no matching route" in said
