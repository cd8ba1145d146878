"""Certificates that a DestinationRule has clients show, to pods without a proxy (istio/istio#33208)."""

from __future__ import annotations

import pytest

from policylint.checks import run
from policylint.trace.request import from_url
from policylint.trace.tracing import Tracer
from tests.worlds import labelled, manifest, simulated

MUTUAL = "tls: {mode: ISTIO_MUTUAL}"
SHOP = labelled("shop", "{istio-injection: enabled}")


def app(name: str, namespace: str, more: str = "") -> str:
    template = f"{{metadata: {{labels: {{app: {name}{more}}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {template}}}"
    service = manifest(
        "v1", "Service", name, namespace, f"spec: {{selector: {{app: {name}}}, ports: [{{name: http, port: 80}}]}}"
    )
    return manifest("apps/v1", "Deployment", name, namespace, spec) + "---\n" + service


def rule(policy: str, host: str = "old.legacy.svc.cluster.local", more: str = "") -> str:
    spec = f"spec: {{host: {host}, {f'trafficPolicy: {{{policy}}}' if policy else ''}{more}}}"
    return manifest("networking.istio.io/v1", "DestinationRule", "old", "legacy", spec)


OUT, SILENT = labelled("legacy", "{istio-injection: disabled}"), labelled("legacy", "{team: a}")
IN = labelled("legacy", "{istio-injection: enabled}")


@pytest.mark.parametrize(
    ("namespace", "pod", "stated", "confidence", "ends"),
    [
        (OUT, "", rule(MUTUAL), "certain", "503"),
        (SILENT, "", rule(MUTUAL), "assumed", "depends"),
        (IN, "", rule(MUTUAL), "", "ok"),
        (IN, ', sidecar.istio.io/inject: "false"', rule(MUTUAL), "certain", "503"),
        (OUT, "", rule("tls: {mode: DISABLE}"), "", "ok"),
        (OUT, "", rule("loadBalancer: {simple: RANDOM}"), "", "ok"),
        (OUT, "", rule(f"portLevelSettings: [{{port: {{number: 80}}, {MUTUAL}}}]"), "certain", "503"),
        (OUT, "", rule(f"portLevelSettings: [{{port: {{number: 81}}, {MUTUAL}}}]"), "certain", "ok"),
        (OUT, "", rule("", more=f"subsets: [{{name: a, trafficPolicy: {{{MUTUAL}}}}}]"), "certain", "ok"),
        (OUT, "", rule(MUTUAL, "other.legacy.svc.cluster.local"), "", "ok"),
    ],
)
def test_pods_without_a_proxy(namespace: str, pod: str, stated: str, confidence: str, ends: str) -> None:
    simulation = simulated(SHOP, namespace, app("web", "shop"), app("old", "legacy", pod), stated)
    found = [each for each in run(simulation, select={"GWP415"}) if "certificate of the mesh" in each.message]
    assert [each.confidence for each in found] == ([confidence] if confidence else [])
    trace = Tracer(simulation).trace(from_url("GET", "http://old.legacy:80/", (), client="Deployment/shop/web"))
    outcome = trace.outcome
    assert {"503": outcome.status == 503, "ok": bool(outcome.backends), "depends": bool(outcome.backends)}[ends]


@pytest.mark.parametrize("namespace", [OUT, IN, SILENT])
@pytest.mark.parametrize(
    ("containers", "told"),
    [
        ("containers: [{name: c, image: x}, {name: istio-proxy, image: istio/proxyv2, args: [proxy]}]", False),
        ("containers: [{name: istio-proxy, image: auto}, {name: c, image: x}]", False),
        ("initContainers: [{name: istio-proxy, restartPolicy: Always}], containers: [{name: c, image: x}]", False),
        ("containers: [{name: proxy, image: x}]", True),
    ],
)
def test_a_sidecar_that_is_written_out(namespace: str, containers: str, told: bool) -> None:
    """As installations of Istio have it for their own parts, which keep the injector away."""
    pods = app("old", "legacy", ', sidecar.istio.io/inject: "false"')
    pods = pods.replace("containers: [{name: c, image: x}]", containers)
    simulation = simulated(SHOP, namespace, app("web", "shop"), pods, rule(MUTUAL))
    found = [each for each in run(simulation, select={"GWP415"}) if "certificate of the mesh" in each.message]
    assert bool(found) == told
    asked = from_url("GET", "http://old.legacy:80/", (), client="Deployment/shop/web")
    assert (Tracer(simulation).trace(asked).outcome.status == 503) == told


@pytest.mark.parametrize(("number", "url", "status"), [(80, "", 503), (80, ":80", 503), (81, "", None)])
def test_a_service_of_one_port_is_called_by_it(number: int, url: str, status: int | None) -> None:
    """Whoever leaves the port out calls the only one that there is."""
    stated = rule(f"portLevelSettings: [{{port: {{number: {number}}}, {MUTUAL}}}]")
    simulation = simulated(SHOP, OUT, app("web", "shop"), app("old", "legacy"), stated)
    asked = from_url("GET", f"http://old.legacy{url}/", (), client="Deployment/shop/web")
    assert Tracer(simulation).trace(asked).outcome.status == status


@pytest.mark.parametrize(
    ("location", "host", "told"),
    [
        ("location: MESH_EXTERNAL, ", "api.example.com", True),
        ("", "api.example.com", True),
        ("location: MESH_INTERNAL, ", "api.example.com", False),
        ("location: '${LOCATION}', ", "api.example.com", False),
        ("", "other.example.com", False),
    ],
)
def test_hosts_outside_the_mesh(location: str, host: str, told: bool) -> None:
    ports = "ports: [{number: 443, name: tls, protocol: TLS}]"
    spec = f"spec: {{{location}hosts: [{host}], resolution: DNS, {ports}}}"
    entry = manifest("networking.istio.io/v1", "ServiceEntry", "api", "shop", spec)
    simulation = simulated(SHOP, app("web", "shop"), entry, rule(MUTUAL, "api.example.com"))
    found = [each for each in run(simulation, select={"GWP415"}) if "certificate of the mesh" in each.message]
    assert [each.confidence for each in found] == ["assumed"] * told
