"""Routes of published charts whose templates are known; all others may create anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.budget import Budget
from policylint.documents import read
from policylint.model import ResourceKey
from policylint.render.helm.app_template import Release
from policylint.render.helm.known_charts import routes
from policylint.render.provenance import Manifest, Provenance
from tests.render.test_argo import application
from tests.render.test_flux import cluster, kustomization
from tests.render.trees import deployed, place, spot, workspace, written

VALUES = """
service: {port: 3000}
route:
  main:
    enabled: true
    hostnames: ["{{ .Release.Name }}.example.com"]
    parentRefs:
      - name: edge
        namespace: infra
    filters: [{type: RequestMirror}]
    additionalRules:
      - name: extra
  second: {enabled: true, kind: GRPCRoute}
  third: {enabled: false}
  fourth: {parentRefs: [{name: edge}]}
"""
CEPH = """
clusterName: NAME
cephClusterSpec: {dashboard: {ssl: SSL}}
route:
  dashboard:
    host: {name: ceph.example.com, path: /ceph, pathType: PathPrefix}
    parentRefs: [{name: edge, namespace: infra}]
"""


def made(chart: str, values: str, name: str = "charts") -> list[Manifest]:
    document = read(values.encode(), "values.yaml").documents[0]
    return routes(chart, Release(name, "o11y", document.value, Provenance(document), Budget()))


@pytest.mark.parametrize(
    ("release", "more", "expected"),
    [
        ("grafana", "", ["HTTPRoute o11y/grafana", "GRPCRoute o11y/grafana-second"]),
        ("my-grafana", "", ["HTTPRoute o11y/my-grafana", "GRPCRoute o11y/my-grafana-second"]),
        ("dash", "", ["HTTPRoute o11y/dash-grafana", "GRPCRoute o11y/dash-grafana-second"]),
        ("dash", "nameOverride: board\n", ["HTTPRoute o11y/dash-board", "GRPCRoute o11y/dash-board-second"]),
        ("dash", "fullnameOverride: tv\n", ["HTTPRoute o11y/tv", "GRPCRoute o11y/tv-second"]),
        ("dash", "fullnameOverride: tv\nnamespaceOverride: ns\n", ["HTTPRoute ns/tv", "GRPCRoute ns/tv-second"]),
    ],
)
def test_names_of_grafana(release: str, more: str, expected: list[str]) -> None:
    assert [str(each) for each in made("grafana", more + VALUES.lstrip(), release)] == expected


def test_a_route_of_grafana(tmp_path: Path) -> None:
    written(tmp_path, {"values.yaml": VALUES})
    document = read((tmp_path / "values.yaml").read_bytes(), str(tmp_path / "values.yaml")).documents[0]
    route = routes("grafana", Release("grafana", "o11y", document.value, Provenance(document), Budget()))[0]
    spec: Any = route.body["spec"]
    assert spec["hostnames"] == ["grafana.example.com"]
    assert spec["rules"] == [
        {"name": "extra"},
        {"backendRefs": [{"name": "grafana", "port": 3000}], "filters": [{"type": "RequestMirror"}]},
    ]
    assert [
        spot(route, tmp_path, "metadata", "name"),
        spot(route, tmp_path, "spec", "parentRefs", 0, "namespace"),
        spot(route, tmp_path, "spec", "rules", 0, "name"),
        spot(route, tmp_path, "spec", "rules", 1, "filters", 0),
    ] == ["values.yaml:4", "values.yaml:8", "values.yaml:11", "values.yaml:9"]


@pytest.mark.parametrize(
    ("name", "ssl", "expected"), [('""', "true", ("o11y-dashboard", 8443)), ("mine", "false", ("mine-dashboard", 7000))]
)
def test_the_dashboard_of_rook(name: str, ssl: str, expected: tuple[str, int]) -> None:
    (route,) = made("rook-ceph-cluster", CEPH.replace("NAME", name).replace("SSL", ssl))
    spec: Any = route.body["spec"]
    assert (route.name, spec["rules"][0]["backendRefs"][0]["port"]) == expected
    assert spec["hostnames"] == ["ceph.example.com"]
    assert spec["parentRefs"] == [{"name": "edge", "namespace": "infra"}]


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        ("rook-ceph-cluster", "route: {dashboard: {parentRefs: [{name: edge}]}}\n"),
        ("rook-ceph-cluster", "route: []\n"),
        ("grafana", "route: {main: 5}\n"),
        ("grafana", "5\n"),
        ("kube-prometheus-stack", "prometheus: {route: {main: {enabled: true}}}\n"),
    ],
)
def test_without_certainty_there_is_none(chart: str, values: str) -> None:
    assert made(chart, values) == []


def test_the_rest_of_such_a_release_stays_unknown(tmp_path: Path) -> None:
    release = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: grafana, namespace: o11y}\n"
        "spec:\n  chart: {spec: {chart: grafana, sourceRef: {kind: HelmRepository, name: grafana}}}\n  values:\n"
        + "".join(f"    {line}\n" for line in VALUES.strip().splitlines())
    )
    found = workspace(tmp_path, cluster(kustomization("app", "./grafana"), **{"grafana/release.yaml": release}))
    assert "HTTPRoute o11y/grafana" in deployed(found)["prod"]
    world = found.simulations[0].world
    route = world.resolve(ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "o11y", "grafana"))
    other = world.resolve(ResourceKey("gateway.networking.k8s.io", "HTTPRoute", "o11y", "other"))
    assert (route.state, other.state) == ("found", "unknown")
    assert found.coverage.not_rendered == ("1 HelmRelease of 1 not rendered",)
    made = world.of_kind("gateway.networking.k8s.io", "HTTPRoute")[0]
    assert place(made.location("spec", "hostnames", 0), tmp_path) == "grafana/release.yaml:11"


TRAEFIK = """
providers: {kubernetesGateway: {enabled: true}}
gateway:
  name: inside
  listeners:
    websecure:
      port: 8443
      protocol: HTTPS
      namespacePolicy: {from: All}
      certificateRefs: [{name: tls}]
      mode: Terminate
"""


@pytest.mark.parametrize("policy", ["{from: All}", "All"], ids=["since 37.0", "before"])
def test_the_gateway_of_traefik(policy: str) -> None:
    kind, gateway = made("traefik", TRAEFIK.replace("{from: All}", policy))
    assert (str(kind), str(gateway)) == ("GatewayClass traefik", "Gateway o11y/inside")
    assert kind.spec == {"controllerName": "traefik.io/gateway-controller"}
    assert gateway.spec["listeners"] == [
        {"name": "web", "port": 8000, "protocol": "HTTP"},
        {
            "name": "websecure",
            "port": 8443,
            "protocol": "HTTPS",
            "allowedRoutes": {"namespaces": {"from": "All"}},
            "tls": {"mode": "Terminate", "certificateRefs": [{"name": "tls"}]},
        },
    ]
    assert gateway.origin.locate(("spec", "listeners", 1, "port"))[1] == ("gateway", "listeners", "websecure", "port")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{}", []),
        ("providers: {kubernetesGateway: {enabled: false}}", []),
        ("providers: {kubernetesGateway: {enabled: true}}", ["GatewayClass traefik", "Gateway o11y/traefik-gateway"]),
        (TRAEFIK + "  enabled: false\n", ["GatewayClass traefik"]),
        (TRAEFIK + "gatewayClass: {enabled: false, name: x}\n", ["Gateway o11y/inside"]),
        (TRAEFIK + "  namespace: o11y\n", ["GatewayClass traefik", "Gateway o11y/inside"]),
        (TRAEFIK + "  namespace: elsewhere\n", []),
        (TRAEFIK.replace("port: 8443", "port:"), ["GatewayClass traefik"]),
    ],
    ids=["off by default", "off", "on", "no gateway", "no class", "its namespace", "another namespace", "no port"],
)
def test_when_traefik_makes_one(values: str, expected: list[str]) -> None:
    assert [str(each) for each in made("traefik", values)] == expected


def test_a_listener_of_traefik_is_taken_away_by_null() -> None:
    (*_, gateway) = made("traefik", TRAEFIK.replace("  listeners:\n", "  listeners:\n    web: null\n"))
    assert [each["name"] for each in gateway.spec["listeners"]] == ["websecure"]


@pytest.mark.parametrize(
    ("options", "provisional"),
    [
        ("", False),
        (", valueFiles: [$values/absent.yaml]", True),
        (", parameters: [{name: gateway.name, value: outside}]", True),
    ],
    ids=["all values are seen", "a file is not", "parameters"],
)
def test_an_application_installs_it_as_well(tmp_path: Path, options: str, provisional: bool) -> None:
    source = (
        "{repoURL: https://example.com, chart: traefik, targetRevision: 41.3.0, helm: {valuesObject: VALUES OPTIONS}}"
    )
    values = "{providers: {kubernetesGateway: {enabled: true}}, gateway: {name: inside}}"
    files = {
        "argo/traefik.yaml": application("traefik", source.replace("VALUES", values).replace(" OPTIONS", options)),
        "argo/web.yaml": application("web", "{path: apps/web}"),
        "apps/web/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n",
    }
    found = workspace(tmp_path, files)
    assert deployed(found) == {"in-cluster": ["Gateway web/inside", "GatewayClass traefik", "Service web/web"]}
    gateway = found.simulations[0].world.of_kind("gateway.networking.k8s.io", "Gateway")[0]
    assert bool(gateway.provisional) is provisional
