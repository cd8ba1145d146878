"""What stands whole in the values of a chart that is not rendered is taken to be there, whoever deploys it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.model.resource import PUT_OUT
from policylint.trace import Requirements, Tracer, request
from policylint.workspace import Workspace, open_workspace
from tests.render.trees import written

WORLD = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{name: edge}]
  hostnames: [shop.example.com]
  rules: [{backendRefs: [{name: web, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: shop}
data: {.htpasswd: dXNlcjp7U0hBfW5vbmU=}
"""
LOGIN = {
    "apiVersion": "gateway.envoyproxy.io/v1alpha1",
    "kind": "SecurityPolicy",
    "metadata": {"name": "login"},
    "spec": {
        "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "web"}],
        "basicAuth": {"users": {"name": "users"}},
    },
}
AS_TEXT = json.dumps(LOGIN)
FLUX = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: https://example.com/shop, interval: 1m, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./apps, prune: true, interval: 1m, sourceRef: {kind: GitRepository, name: flux-system}}
"""
RELEASE = """
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: shop}
spec: {url: https://example.com/charts, interval: 1h}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: proxy, namespace: shop}
spec:
  interval: 1h
  chart: {spec: {chart: NAME, sourceRef: {kind: HelmRepository, name: charts}}}
  values: VALUES
"""
APPLICATION = """
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: proxy, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source:
    repoURL: https://example.com/charts
    chart: NAME
    targetRevision: 1.0.0
    helm: {valuesObject: VALUES}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source: {repoURL: https://example.com/shop, path: apps, targetRevision: HEAD}
"""


def flux(values: object, name: str = "proxy") -> dict[str, str]:
    release = RELEASE.replace("NAME", name).replace("VALUES", json.dumps(values))
    return {"flux/sync.yaml": FLUX, "apps/all.yaml": WORLD + release}


def argo(values: object, name: str = "proxy") -> dict[str, str]:
    applications = APPLICATION.replace("NAME", name).replace("VALUES", json.dumps(values))
    return {"argo/all.yaml": applications.removeprefix("\n---"), "apps/all.yaml": WORLD}


def kustomize(values: object, name: str = "proxy") -> dict[str, str]:
    chart = {"name": name, "releaseName": "proxy", "namespace": "shop", "version": "1.0.0", "valuesInline": values}
    chart["repo"] = "https://example.com/charts"
    body = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": ["all.yaml"]}
    return {"apps/kustomization.yaml": json.dumps({**body, "helmCharts": [chart]}), "apps/all.yaml": WORLD}


def umbrella(values: object, name: str = "proxy") -> dict[str, str]:
    about = {"apiVersion": "v2", "name": "shop", "version": "1.0.0"}
    about["dependencies"] = [{"name": name, "version": "1.0.0", "repository": "https://example.com/charts"}]  # type: ignore[assignment]
    release = RELEASE.replace("chart: NAME, sourceRef: {kind: HelmRepository, name: charts}", "CHART")
    here = "chart: ./charts/shop, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}"
    release = release.replace("CHART", here).replace("VALUES", json.dumps({name: values}))
    return {
        "flux/sync.yaml": FLUX,
        "apps/all.yaml": WORLD + release,
        "charts/shop/Chart.yaml": json.dumps(about),
        "charts/shop/templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n",
    }


def k3s(values: object, name: str = "proxy", config: object = None) -> dict[str, str]:
    spec = f"spec: {{chart: {name}, targetNamespace: shop, valuesContent: {json.dumps(json.dumps(values))}}}"
    about = "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {name: proxy, namespace: kube-system}"
    charts = f"---\n{about}\n{spec}\n"
    if config is not None:
        over = f"spec: {{valuesContent: {json.dumps(json.dumps(config))}}}"
        charts += charts.replace("kind: HelmChart", "kind: HelmChartConfig").replace(spec, over)
    return {"apps/kustomization.yaml": "resources: [all.yaml]\n", "apps/all.yaml": f"{WORLD}{charts}"}


DEPLOYERS = {"Flux": flux, "Argo CD": argo, "kustomize": kustomize, "a dependency": umbrella, "K3s": k3s}


def read(folder: Path, files: dict[str, str]) -> Workspace:
    return open_workspace([str(written(folder, files))])


def policies(workspace: Workspace) -> list[str]:
    """The policies of the environment in which the route is, with why they are not certain."""
    worlds = (simulation.world for simulation in workspace.simulations)
    world = next(each for each in worlds if each.of_kind("gateway.networking.k8s.io", "HTTPRoute"))
    found = world.of_kind("gateway.envoyproxy.io", "SecurityPolicy")
    return [f"{each.key.path}: {each.provisional}" for each in found]


@pytest.mark.parametrize("deployer", DEPLOYERS)
@pytest.mark.parametrize(
    "values",
    [
        {"extraObjects": [LOGIN]},
        {"extraDeploy": [{}, LOGIN]},
        {"extraManifests": {"login": LOGIN}},
        {"extraObjects": [AS_TEXT]},
        {"extraObjects": AS_TEXT},
        {"extraObjects": [f"---\n{AS_TEXT}\n---\n"]},
        {"proxy": {"extraObjects": [LOGIN]}},
        {"extraObjects": [{**LOGIN, "metadata": {"name": "{{ .Release.Name }}", "namespace": "shop"}}]},
    ],
)
def test_it_is_there_as_far_as_seen(tmp_path: Path, deployer: str, values: object) -> None:
    (said,) = policies(read(tmp_path, DEPLOYERS[deployer](values)))
    assert said in (f"shop/login: {PUT_OUT}", f"shop/proxy: {PUT_OUT}")


@pytest.mark.parametrize("deployer", DEPLOYERS)
@pytest.mark.parametrize(
    "values",
    [
        {"other": [LOGIN]},
        {"extraObjects": [{**LOGIN, "metadata": {"name": "{{ .Values.name }}"}}]},
        {"extraObjects": [{**LOGIN, "metadata": {}}]},
        {"extraObjects": [AS_TEXT.replace('"web"', '"{{ tpl .Values.web . }}"')]},
        {"extraObjects": [f"{{{{ if .Values.login }}}}\n{AS_TEXT}\n{{{{ end }}}}\n"]},
        {"proxy": {"enabled": False, "extraObjects": [LOGIN]}},
        {"extraObjects": []},
        {"extraObjects": ["text", 1, None]},
    ],
)
def test_what_is_not_known_whole_is_not(tmp_path: Path, deployer: str, values: object) -> None:
    assert policies(read(tmp_path, DEPLOYERS[deployer](values))) == []


@pytest.mark.parametrize("deployer", ["Flux", "Argo CD", "kustomize", "K3s"])
def test_the_chart_raw_puts_out_its_resources(tmp_path: Path, deployer: str) -> None:
    assert policies(read(tmp_path, DEPLOYERS[deployer]({"resources": [LOGIN]}, "raw")))
    assert not policies(read(tmp_path / "b", DEPLOYERS[deployer]({"resources": [LOGIN]}, "proxy")))


@pytest.mark.parametrize("deployer", DEPLOYERS)
def test_findings_about_it_are_assumed(tmp_path: Path, deployer: str) -> None:
    misspelt = {**LOGIN, "spec": {**LOGIN["spec"], "basicAuths": {}}}  # type: ignore[dict-item]
    found = read(tmp_path, DEPLOYERS[deployer]({"extraObjects": [misspelt]})).findings()
    assert [(each.severity, each.confidence, each.ground) for each in found if each.rule == "GWP501"] == [
        ("warning", "assumed", PUT_OUT)
    ]


@pytest.mark.parametrize("deployer", DEPLOYERS)
def test_it_acts(tmp_path: Path, deployer: str) -> None:
    workspace = read(tmp_path, DEPLOYERS[deployer]({"extraObjects": [LOGIN]}))
    tracer = Tracer(next(each for each in workspace.simulations if each.routes))
    login = Requirements(tracer).of(tracer.trace(request({"host": "shop.example.com"})), "authentication")
    assert login.state == "asked"


def test_what_comes_over_the_values_of_k3s(tmp_path: Path) -> None:
    off, on = {"proxy": {"enabled": False, "extraObjects": [LOGIN]}}, {"proxy": {"enabled": True}}
    assert policies(read(tmp_path, k3s(off))) == []
    assert policies(read(tmp_path / "b", k3s(off, config=on))) == [f"shop/login: {PUT_OUT}"]
    assert policies(read(tmp_path / "c", k3s({}, config={"extraObjects": [LOGIN]}))) == [f"shop/login: {PUT_OUT}"]
    assert policies(read(tmp_path / "d", k3s(None))) == []


def test_what_a_chart_of_k3s_may_make_is_open(tmp_path: Path) -> None:
    """A HelmChart that kustomizations deploy was nothing: a route had no login for certain."""
    workspace = read(tmp_path, k3s({"securityPolicy": {"enabled": True}}))
    tracer = Tracer(next(each for each in workspace.simulations if each.routes))
    login = Requirements(tracer).of(tracer.trace(request({"host": "shop.example.com"})), "authentication")
    assert login.state == "unknown"
