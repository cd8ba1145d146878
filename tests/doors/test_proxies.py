"""Which pods are the proxies of a controller of Ingresses is said once: `dataPlane` of the catalog.

haproxy-ingress/charts @ fc9e0e6 (labels, values, ports); haproxy-ingress.github.io, «Getting Started» (the namespace).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.doors.vendors import vendors
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import ingress
from tests.doors.test_networks import deployment, kubernetes
from tests.worlds import manifest, service, simulated

HOME = (
    "{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}, podSelector: {matchLabels: OWN}}]}"
)
HAPROXY = "{app.kubernetes.io/name: haproxy-ingress}"


def test_images_and_charts_stand_in_the_catalog_alone() -> None:
    assert "images: [" not in (Path(__file__).parents[2] / "schemas/doors.yaml").read_text(encoding="utf-8")
    known = {vendor.name: (bool(vendor.images), vendor.chart) for vendor in vendors() if vendor.proxies}
    assert known == {
        "ingress-nginx": (True, "ingress-nginx"),
        "haproxy-ingress": (True, "haproxy-ingress"),
        "traefik": (True, "traefik"),
        "haproxy": (True, "kubernetes-ingress"),
        "kong": (True, "kong"),
    }


def let_in(namespace: str, labels: str, *more: str) -> str:
    """What a network policy for proxies in a namespace, with labels, makes of a request through HAProxy Ingress."""
    policy = kubernetes(HOME.replace("NAME", namespace).replace("OWN", labels))
    backend = service("web", more="selector: {app: web}")
    of_class = manifest(
        "networking.k8s.io/v1",
        "IngressClass",
        "haproxy",
        "",
        "spec: {controller: haproxy-ingress.github.io/controller}",
    )
    simulation = simulated(deployment(), backend, of_class, ingress(of_class="haproxy"), policy, *more)
    trace = Tracer(simulation, nearest=False).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.network is not None
    return trace.network.verdict


RELEASE = manifest(
    "helm.toolkit.fluxcd.io/v2", "HelmRelease", "edge", "proxies",
    "spec: {chart: {spec: {chart: haproxy-ingress, sourceRef: {kind: HelmRepository, name: h}}}, "
    "values: {controller: {podLabels: {tier: edge}}}}",
)  # fmt: skip
PODS = manifest(
    "apps/v1", "DaemonSet", "edge", "kept",
    "spec: {selector: {matchLabels: {app: edge}}, template: {metadata: {labels: {app: edge}}, "
    "spec: {containers: [{name: h, image: 'quay.io/jcmoraisjr/haproxy-ingress:v0.15'}]}}}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("namespace", "labels", "more", "verdict"),
    [
        ("ingress-controller", HAPROXY, (), "allowed"),
        ("ingress-controller", "{app.kubernetes.io/name: edge}", (), "unknown"),
        ("proxies", "{app.kubernetes.io/name: edge}", (RELEASE,), "denied"),
        ("proxies", HAPROXY, (RELEASE,), "allowed"),
        ("proxies", "{tier: edge}", (RELEASE,), "allowed"),
        ("proxies", "{tier: other}", (RELEASE,), "denied"),
        ("kept", "{app: edge}", (PODS,), "allowed"),
        ("kept", "{app: other}", (PODS,), "denied"),
    ],
    ids=[
        "by the documentation",
        "by labels of their own",
        "not of the chart",
        "by the chart",
        "by its values",
        "not by its values",
        "by its image",
        "not by labels",
    ],
)
def test_where_the_proxies_of_haproxy_ingress_run(
    namespace: str, labels: str, more: tuple[str, ...], verdict: str
) -> None:
    assert let_in(namespace, labels, *more) == verdict


EDGE = "{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app.kubernetes.io/name: edge}}}]}"


@pytest.mark.parametrize(
    ("controller", "chart"),
    [
        ("traefik.io/ingress-controller", "traefik"),
        ("k8s.io/ingress-nginx", "ingress-nginx"),
        ("haproxy.org/ingress-controller", "kubernetes-ingress"),
        ("ingress-controllers.konghq.com/kong", "kong"),
    ],
)
def test_labels_of_a_chart_are_those_of_pods_that_it_installs(controller: str, chart: str) -> None:
    """`EDGE` lets in nobody with the chart's labels; by hand the pods may have been given these."""
    of_class = manifest("networking.k8s.io/v1", "IngressClass", "edge", "", f"spec: {{controller: {controller}}}")
    backend = service("web", more="selector: {app: web}")
    told = (deployment(), backend, of_class, ingress(of_class="edge"), kubernetes(EDGE))
    release = RELEASE.replace("haproxy-ingress", chart)
    found = [{finding.rule for finding in run(simulated(*told, *more), select={"GWP604"})} for more in ((), (release,))]
    assert found == [set(), {"GWP604"}]
