# ruff: noqa: E501 - worlds on one line each
"""Where the proxies of a door run, and with which labels: by workloads, by charts with their values, by the catalog.

Predicted first, from the charts: traefik/traefik-helm-chart, _helpers.tpl (`traefik.labels`: the instance is the name of
the release and its namespace), Kong/charts, _helpers.tpl (`kong.selectorLabels`), kubernetes/ingress-nginx,
_helpers.tpl, projectcontour/contour, examples/contour/03-envoy.yaml, istio/istio, charts/gateway/templates/_helpers.tpl;
fluxcd.io/flux/components/helm/helmreleases («Release name»: that of the target namespace comes first).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.model import ResourceKey
from policylint.trace import Tracer
from policylint.trace.request import from_url
from policylint.workspace import open_workspace
from tests.doors.asking import ingress
from tests.worlds import manifest, service, simulated

PODS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
"""
ROUTER = manifest(
    "traefik.io/v1alpha1",
    "IngressRoute",
    "web",
    "shop",
    "spec: {entryPoints: [web], routes: [{match: Host(`shop.example.com`), kind: Rule, services: [{name: web, port: 80}]}]}",
)
PROXY = manifest(
    "projectcontour.io/v1",
    "HTTPProxy",
    "web",
    "shop",
    "spec: {virtualhost: {fqdn: shop.example.com}, routes: [{services: [{name: web, port: 80}]}]}",
)
OWN = """\
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  selector: {istio: SELECTED}
  servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: [shop.example.com]}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [shop.example.com], gateways: [edge], http: [{route: [{destination: {host: web, port: {number: 80}}}]}]}
"""


def release(chart: str, name: str, values: str = "{}", target: str = "") -> str:
    spec = f"{f'targetNamespace: {target}, ' if target else ''}chart: {{spec: {{chart: {chart}, sourceRef: {{kind: HelmRepository, name: r}}}}}}"
    body = f"spec: {{{spec}, values: {values}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, "edge", body)


def k3s(chart: str, values: str = "", target: str = "") -> str:
    more = f", targetNamespace: {target}" if target else ""
    return manifest(
        "helm.cattle.io/v1",
        "HelmChart",
        chart,
        "kube-system",
        f"spec: {{chart: {chart}{more}, valuesContent: '{values}'}}",
    )


def application(chart: str, name: str, namespace: str, values: str = "{}") -> str:
    source = f"{{repoURL: 'https://charts.example', chart: {chart}, targetRevision: 1.0.0, helm: {{valuesObject: {values}}}}}"
    body = f"spec: {{project: default, source: {source}, destination: {{name: in-cluster, namespace: {namespace}}}}}"
    return manifest("argoproj.io/v1alpha1", "Application", name, "argocd", body)


def workload(image: str, labels: str, namespace: str = "edge", kind: str = "Deployment", more: str = "") -> str:
    template = f"{{metadata: {{labels: {labels}}}, spec: {{containers: [{{name: proxy, image: '{image}'{more}}}]}}}}"
    return manifest(
        "apps/v1", kind, "proxy", namespace, f"spec: {{selector: {{matchLabels: {labels}}}, template: {template}}}"
    )


def lets_in(namespace: str = "edge", pods: str = "", of: str = "shop") -> str:
    """Return a NetworkPolicy that lets one namespace in, or some pods of it."""
    peer = f"namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}"
    peer += f", podSelector: {{matchLabels: {pods}}}" if pods else ""
    body = f"spec: {{podSelector: {{}}, policyTypes: [Ingress], ingress: [{{from: [{{{peer}}}]}}]}}"
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "own", of, body)


NGINX, KONG = ingress(), ingress(of_class="kong")
INSTANCE = "app.kubernetes.io/instance"
TRAEFIK, INTERNAL = release("traefik", "traefik"), release("traefik", "i", "{ingressClass: {name: traefik-i}}")
WORLDS = {
    "a chart, by Flux": ([ROUTER, TRAEFIK, lets_in()], "allowed"),
    "a chart, elsewhere": ([ROUTER, TRAEFIK, lets_in("other")], "denied"),
    "a chart, in a target namespace": ([ROUTER, release("traefik", "t", target="front"), lets_in("front")], "allowed"),
    "a chart, by K3s": ([ROUTER, k3s("traefik"), lets_in("kube-system")], "allowed"),
    "a chart, by K3s elsewhere": ([ROUTER, k3s("traefik", target="front"), lets_in("kube-system")], "denied"),
    "a chart, by Argo CD": ([KONG, application("kong", "kong", "front"), lets_in("front")], "allowed"),
    "the instance": ([ROUTER, TRAEFIK, lets_in(pods=f"{{{INSTANCE}: traefik-edge}}")], "allowed"),
    "another instance": ([ROUTER, TRAEFIK, lets_in(pods=f"{{{INSTANCE}: traefik}}")], "denied"),
    "an instance with the name of its target": (
        [ROUTER, release("traefik", "t", target="front"), lets_in("front", f"{{{INSTANCE}: front-t-front}}")],
        "allowed",
    ),
    "an instance that values name": (
        [ROUTER, release("traefik", "t", "{instanceLabelOverride: mine}"), lets_in(pods=f"{{{INSTANCE}: mine}}")],
        "allowed",
    ),
    "labels that values add": (
        [ROUTER, release("traefik", "t", "{deployment: {podLabels: {tier: edge}}}"), lets_in(pods="{tier: edge}")],
        "allowed",
    ),
    "labels that nobody adds": ([ROUTER, TRAEFIK, lets_in(pods="{tier: edge}")], "denied"),
    "a label of which the value is not known": (
        [ROUTER, TRAEFIK, lets_in(pods="{helm.sh/chart: traefik-41.3.0}")],
        "unknown",
    ),
    "Kong's pods": (
        [KONG, release("kong", "k"), lets_in(pods=f"{{{INSTANCE}: k, app.kubernetes.io/component: app}}")],
        "allowed",
    ),
    "nginx's pods": (
        [NGINX, release("ingress-nginx", "n"), lets_in(pods="{app.kubernetes.io/component: controller}")],
        "allowed",
    ),
    "nginx's, with a label of nobody": ([NGINX, release("ingress-nginx", "n"), lets_in(pods="{app: nginx}")], "denied"),
    "of two the one of the class": (
        [ingress(of_class="traefik-i"), TRAEFIK, INTERNAL, lets_in(pods=f"{{{INSTANCE}: i-edge}}")],
        "allowed",
    ),
    "of two not the other": (
        [ingress(of_class="traefik-i"), TRAEFIK, INTERNAL, lets_in(pods=f"{{{INSTANCE}: traefik-edge}}")],
        "denied",
    ),
    "a workload by its image": (
        [ROUTER, workload("docker.io/library/traefik:v3", "{app: t}"), lets_in(pods="{app: t}")],
        "allowed",
    ),
    "a workload with other labels": ([ROUTER, workload("traefik:v3", "{app: t}"), lets_in(pods="{app: u}")], "denied"),
    "Contour's Envoy": (
        [
            PROXY,
            manifest(
                "apps/v1",
                "DaemonSet",
                "envoy",
                "edge",
                "spec: {selector: {matchLabels: {app: envoy}}, template: {metadata: {labels: {app: envoy}}, spec: {containers: ["
                "{name: s, image: 'ghcr.io/projectcontour/contour:v1', args: [envoy, shutdown-manager]},"
                "{name: envoy, image: 'docker.io/envoyproxy/envoy:v1'}]}}}",
            ),
            workload("ghcr.io/projectcontour/contour:v1", "{app: contour}", more=", args: [serve]"),
            lets_in(pods="{app: envoy}"),
        ],
        "allowed",
    ),
    "the usual namespace": ([PROXY, lets_in("projectcontour")], "allowed"),
    "another one": ([PROXY, lets_in("front")], "unknown"),
    "the usual namespace of Kong": ([KONG, lets_in("kong")], "allowed"),
    "pods that a Gateway selects": (
        [OWN.replace("SELECTED", "edge"), workload("auto", "{istio: edge}"), lets_in(pods="{istio: edge}")],
        "allowed",
    ),
    "pods that a Gateway selects, elsewhere": (
        [OWN.replace("SELECTED", "edge"), workload("auto", "{istio: edge}"), lets_in("istio-system")],
        "denied",
    ),
    "pods that a chart makes for a Gateway": (
        [OWN.replace("SELECTED", "edge"), release("gateway", "istio-edge"), lets_in(pods="{istio: edge}")],
        "allowed",
    ),
    "pods of a profile": ([OWN.replace("SELECTED", "ingressgateway"), lets_in("istio-system")], "allowed"),
    "pods of nobody": ([OWN.replace("SELECTED", "mine"), lets_in("istio-system")], "unknown"),
    "a policy of some namespace": (
        [ingress(of_class="other"), "\n".join([lets_in(of="apps"), "---", lets_in("shop", of="db")])],
        "allowed",
    ),
}


@pytest.mark.parametrize("world", WORLDS)
def test_where_proxies_run(world: str) -> None:
    manifests, verdict = WORLDS[world]
    simulation = simulated(PODS, service("web", more="selector: {app: web}"), *manifests)
    trace = Tracer(simulation, nearest=False).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.network is not None
    assert trace.network.verdict == verdict


def test_a_chart_that_kustomize_inflates(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [web.yaml]\nhelmCharts: [{name: traefik, releaseName: t, namespace: front, repo: 'https://charts.example'}]\n"
    )
    web = "---\n".join((PODS, service("web", more="selector: {app: web}"), ROUTER, lets_in("front")))
    (tmp_path / "web.yaml").write_text(web)
    simulation = open_workspace([str(tmp_path)]).simulations[0]
    trace = Tracer(simulation, nearest=False).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.network is not None
    assert trace.network.verdict == "allowed"


@pytest.mark.parametrize(
    ("policy", "verdict"),
    [(lets_in(of="apps"), "allowed"), (lets_in(), "unknown"), (lets_in().replace("shop", "infra"), "allowed")],
)
def test_a_gateway_that_was_not_seen(policy: str, verdict: str) -> None:
    """Its proxies may run anywhere: it hangs on policies at the pods alone."""
    body = "spec: {parentRefs: [{name: edge, namespace: infra}], rules: [{backendRefs: [{name: web, port: 80}]}]}"
    route = manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "web", "shop", body)
    simulation = simulated(PODS, service("web", more="selector: {app: web}"), route, policy)
    edge, web = (ResourceKey(group, kind, at, name) for group, kind, at, name in (
        ("gateway.networking.k8s.io", "Gateway", "infra", "edge"), ("", "Service", "shop", "web")))  # fmt: skip
    assert simulation.hops.from_gateway(edge, 80, web, 80).verdict == verdict
