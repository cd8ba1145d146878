"""GWP328: pods that go where a header says, by Linkerd's documentation («Ingress mode»)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.worlds import manifest, simulated


def namespace(inject: str = "") -> str:
    annotations = f"annotations: {{linkerd.io/inject: {inject}}}" if inject else ""
    return manifest("v1", "Namespace", "ingress", "", more=annotations)


def workload(kind: str = "Deployment", inject: str = "") -> str:
    metadata = "labels: {app: c}" + (f", annotations: {{linkerd.io/inject: {inject}}}" if inject else "")
    template = f"template: {{metadata: {{{metadata}}}, spec: {{containers: [{{name: c}}]}}}}"
    return manifest("apps/v1", kind, "c", "ingress", f"spec: {{selector: {{matchLabels: {{app: c}}}}, {template}}}")


SNIPPET = "proxy_set_header l5d-dst-override $service_name.$namespace.svc.cluster.local:$service_port;"
NGINX = manifest(
    *("networking.k8s.io/v1", "Ingress", "web", "shop"),
    more=f"annotations: {{nginx.ingress.kubernetes.io/configuration-snippet: '{SNIPPET}'}}",
)
TRAEFIK = manifest(
    *("traefik.io/v1alpha1", "Middleware", "l5d", "shop"),
    "spec: {headers: {customRequestHeaders: {L5d-Dst-Override: web.shop.svc.cluster.local:80}}}",
)
FILTER = manifest(
    *("gateway.networking.k8s.io/v1", "HTTPRoute", "web", "shop"),
    "spec: {rules: [{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [l5d-dst-override]}}]}]}",
)


@pytest.mark.parametrize(
    ("objects", "kind"),
    [
        ([namespace(), workload(inject="ingress")], "Deployment"),
        ([namespace("enabled"), workload("DaemonSet", inject="ingress")], "DaemonSet"),
        ([namespace("ingress"), workload("StatefulSet")], "StatefulSet"),
    ],
)
def test_a_workload_in_ingress_mode(objects: list[str], kind: str) -> None:
    found = [each for each in run(simulated(*objects)) if each.rule == "GWP328"]
    said = f"{kind} ingress/c sends requests wherever their header `l5d-dst-override` says"
    assert [(each.message, each.confidence) for each in found] == [(said, "assumed")]


@pytest.mark.parametrize(
    "objects",
    [
        [namespace("enabled"), workload()],
        [namespace("ingress"), workload(inject="enabled")],
        [namespace("ingress"), workload(inject="disabled")],
        [namespace("ingress")],
        *([namespace(), workload(inject="ingress"), taken] for taken in (NGINX, TRAEFIK, FILTER)),
    ],
)
def test_whatever_else(objects: list[str]) -> None:
    assert [each.message for each in run(simulated(*objects)) if each.rule == "GWP328"] == []
