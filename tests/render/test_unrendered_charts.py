"""Whoever installs a chart that is not rendered: the same is known of what it makes of its values.

The values of app-template's library have a form of its own, whatever the chart is called (bjw-s-labs/helm-charts,
charts/library/common); TrueCharts has another chart of that name (trueforge-org/truecharts).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.documents import read
from tests.render.trees import deployed, workspace

FAMILY = """
controllers: {main: {containers: {main: {image: {repository: x, tag: "1"}}}}}
service: {main: {controller: main, ports: {http: {port: 80}}}}
route: {main: {parentRefs: [{name: edge, namespace: infra}], hostnames: [shop.example.com]}}
"""
OTHERS = FAMILY + "workload: {main: {}}\n"
ROUTED = "{enabled: true, parentRefs: [{name: edge, namespace: infra}], hostnames: [shop.example.com]}"
GRAFANA = f"route: {{main: {ROUTED}}}\n"
INGRESS = "ingress: {enabled: true, className: nginx, hosts: [{host: shop.example.com, paths: [{path: /}]}]}\n"
KUSTOMIZATION = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/prod, sourceRef: {kind: GitRepository, name: flux-system}}
---
"""
APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: NAME, namespace: argocd}
spec:
  destination: {server: 'https://kubernetes.default.svc', namespace: SPACE}
  source: {repoURL: 'oci://x', chart: CHART, targetRevision: VERSION, helm: {valuesObject: VALUES}}
---
"""
RELEASE = """
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: web}
spec: {chart: {spec: {chart: CHART, version: VERSION, sourceRef: {kind: HelmRepository, name: x}}}, values: VALUES}
"""


def installed(by: str, chart: str, version: str, values: str) -> dict[str, str]:
    """Return a tree in which somebody installs a chart as release `shop` of namespace `web`."""
    body = json.dumps(read(values.encode(), "values.yaml").documents[0].value)
    given = {"NAME": "shop", "SPACE": "web", "CHART": chart, "VERSION": version, "VALUES": body}
    if by == "kustomize":
        named = f"name: {chart}, version: {version}, releaseName: shop, namespace: web, repo: 'oci://x'"
        return {"kustomization.yaml": f"helmCharts:\n- {{{named}, valuesInline: {body}}}\n"}
    if by == "Flux":
        return {
            "clusters/prod/flux-system/gotk-sync.yaml": KUSTOMIZATION,
            "clusters/prod/shop.yaml": filled(RELEASE, given),
        }
    beside = {**given, "NAME": "base", "SPACE": "base", "CHART": "app-template", "VERSION": "5.1.0"}
    return {"apps.yaml": filled(APPLICATION, given) + filled(APPLICATION, {**beside, "VALUES": "{}"})}


def filled(template: str, given: dict[str, str]) -> str:
    for name, text in given.items():
        template = template.replace(name, text)
    return template


NAMED = {"HTTPRoute web/shop-web-of-ours", "Service web/shop-web-of-ours"}
CASES = {
    "app-template": ("app-template", "5.1.0", FAMILY, {"HTTPRoute web/shop", "Service web/shop"}, True),
    "another name": ("web-of-ours", "1.2.3", FAMILY, NAMED, False),
    "TrueCharts, by its version": ("app-template", "20.0.0", FAMILY, set(), False),
    "TrueCharts, by its values": ("app-template", "5.1.0", OTHERS, set(), False),
    "a chart whose routes are known": ("grafana", "9.0.0", GRAFANA, {"HTTPRoute web/shop-grafana"}, False),
    "an Ingress in the usual form": ("web-of-ours", "1.2.3", INGRESS, {"Ingress web/shop-web-of-ours"}, False),
    "nothing that says anything": ("web-of-ours", "1.2.3", "replicas: 2\n", set(), False),
}


@pytest.mark.parametrize("by", ["kustomize", "Argo CD", "Flux"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_known_of_a_chart_is_known_whoever_installs_it(tmp_path: Path, case: str, by: str) -> None:
    chart, version, values, expected, is_whole = CASES[case]
    found = workspace(tmp_path, installed(by, chart, version, values))
    (simulation,) = found.simulations
    kinds = ("HTTPRoute", "Service", "Ingress")
    made = {name for name in deployed(found)[simulation.world.name] if name.startswith(kinds)}
    assert made == expected
    assert bool([*simulation.world.unseen.at("web")]) is not is_whole


def test_files_with_values_that_are_not_there_leave_open_what_is_made_of_the_others(tmp_path: Path) -> None:
    for name, (chart, version, values, expected, _) in CASES.items():
        (body,) = installed("kustomize", chart, version, values).values()
        files = {"kustomization.yaml": body.replace("valuesInline", "valuesFile: lost.yaml, valuesInline")}
        world = workspace(tmp_path / name, files).simulations[0].world
        named = {f"{key.kind} {key.path}": resource for key, resource in world.resources.items()}
        assert [each for each in expected if not named[each].provisional] == []
