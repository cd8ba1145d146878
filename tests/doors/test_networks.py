"""Network policies behind doors: where the pods of an ingress controller run is not known unless something says so.

Predicted first: a policy that lets in one namespace decides nothing where the controller may be in that one, unless it
is that in which its documentation installs it (kubernetes.github.io/ingress-nginx/deploy).
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.doors.asking import ingress
from tests.worlds import manifest, service, simulated

NAMESPACE = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}"
CILIUM = "fromEndpoints: [{matchLabels: {k8s:io.kubernetes.pod.namespace: ingress-nginx}}]"


def kubernetes(rule: str) -> str:
    body = f"spec: {{podSelector: {{}}, policyTypes: [Ingress], ingress: [{rule}]}}"
    return manifest("networking.k8s.io/v1", "NetworkPolicy", "own", "shop", body)


def cilium(rule: str) -> str:
    return manifest(
        "cilium.io/v2", "CiliumNetworkPolicy", "own", "shop", f"spec: {{endpointSelector: {{}}, ingress: [{rule}]}}"
    )


def deployment() -> str:
    template = "{metadata: {labels: {app: web}}, spec: {containers: [{name: w, image: w}]}}"
    body = f"spec: {{selector: {{matchLabels: {{app: web}}}}, template: {template}}}"
    return manifest("apps/v1", "Deployment", "web", "shop", body)


POLICIES = {
    "one namespace": (kubernetes(f"{{from: [{{{NAMESPACE}}}]}}"), "unknown"),
    "one namespace, by Cilium": (cilium(f"{{{CILIUM}}}"), "unknown"),
    "everybody": (kubernetes("{}"), "allowed"),
    "every namespace": (kubernetes("{from: [{namespaceSelector: {}}]}"), "allowed"),
    "nobody": (kubernetes(""), "denied"),
    "one network": (kubernetes("{from: [{ipBlock: {cidr: 192.0.2.0/24}}]}"), "denied"),
}


@pytest.mark.parametrize("of_class", ["nginx", "istio", "cilium", "kong", "other"])
@pytest.mark.parametrize("named", POLICIES)
def test_network_policies(named: str, of_class: str) -> None:
    policy, verdict = POLICIES[named]
    backend = service("web", more="selector: {app: web}")
    simulation = simulated(deployment(), backend, ingress(of_class=of_class), policy)
    trace = Tracer(simulation, nearest=False).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.network is not None
    assert trace.network.verdict == ("allowed" if verdict == "unknown" and of_class == "nginx" else verdict)
