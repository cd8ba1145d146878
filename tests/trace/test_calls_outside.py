"""Calls of the mesh for hosts that no Service has: what the client's own sidecar does with them (istio/istio#34632).

istio.io, «Accessing External Services»; route.go, buildCatchAllVirtualHost.
"""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import RequestError, from_url
from tests.worlds import manifest, service, simulated

MESH = "labels: {istio-injection: enabled}"


def workload(namespace: str = "shop") -> str:
    pod = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web}]}}"
    return manifest(
        "apps/v1", "Deployment", "web", namespace, f"spec: {{selector: {{matchLabels: {{app: web}}}}, {pod}}}"
    )


def sidecar(policy: str, more: str = "") -> str:
    spec = ", ".join(filter(None, (f"outboundTrafficPolicy: {policy}" if policy else "", more)))
    return manifest("networking.istio.io/v1", "Sidecar", "own", "shop", f"spec: {{{spec}}}")


def entry(hosts: str, more: str = "") -> str:
    ports = "ports: [{number: 80, name: http, protocol: HTTP}]"
    spec = f"spec: {{hosts: {hosts}, {ports}, resolution: DNS{more}}}"
    return manifest("networking.istio.io/v1", "ServiceEntry", "out", "infra", spec)


def virtual(host: str, more: str = "") -> str:
    to = "http: [{route: [{destination: {host: gateway.infra.svc.cluster.local}}]}]"
    return manifest(
        "networking.istio.io/v1", "VirtualService", "send", "infra", f"spec: {{hosts: ['{host}'], {to}{more}}}"
    )


ONLY, ANY = "{mode: REGISTRY_ONLY}", "{mode: ALLOW_ANY}"


@pytest.mark.parametrize(
    ("objects", "url", "end"),
    [
        ((sidecar(ONLY),), "http://www.example.org/", "502"),
        ((sidecar(ONLY),), "http://www.example.org:9000/", "refused"),
        ((sidecar(ONLY),), "https://www.example.org/", "refused"),
        ((sidecar("{}"),), "http://www.example.org/", "502"),
        ((sidecar(ANY),), "http://www.example.org/", "goes out"),
        ((sidecar(""),), "http://www.example.org/", "goes out"),
        ((), "http://www.example.org/", "goes out"),
        ((sidecar(ONLY), entry("[www.example.org]")), "http://www.example.org/", "goes out"),
        ((sidecar(ONLY), entry("['*.example.org']")), "http://www.example.org/", "goes out"),
        ((sidecar(ONLY), entry("[api.example.org]")), "http://www.example.org/", "502"),
        ((sidecar(ONLY), entry("[www.example.org]", ", exportTo: ['.']")), "http://www.example.org/", "502"),
        (
            (sidecar(ONLY, "egress: [{hosts: ['./*']}]"), entry("[www.example.org]")),
            "http://www.example.org/",
            "goes out",
        ),
    ],
)
def test_where_calls_end(objects: tuple[str, ...], url: str, end: str) -> None:
    world = simulated(manifest("v1", "Namespace", "shop", more=MESH), workload(), service("web"), *objects)
    outcome = Tracer(world).trace(from_url("GET", url, client="Deployment/shop/web")).outcome
    told = "goes out" if outcome.unknown else "refused" if outcome.refused else str(outcome.status)
    assert told == end
    assert outcome.unknown or "REGISTRY_ONLY" in outcome.reason


@pytest.mark.parametrize(
    ("objects", "url", "end"),
    [
        ((virtual("www.example.org"),), "http://www.example.org/", "sent on"),
        ((virtual("*.example.org"),), "http://www.example.org/", "sent on"),
        ((virtual("www.example.org"),), "http://www.example.org:9000/", "refused"),  # nothing registers it
        ((virtual("www.example.org"), entry("[www.example.org]")), "http://www.example.org:9000/", "sent on"),
        (
            (virtual("www.example.org"), entry("[www.example.org]", ", exportTo: ['.']")),
            "http://www.example.org/",
            "sent on",
        ),
        ((virtual("www.example.org", ", gateways: [edge]"),), "http://www.example.org/", "502"),
        ((virtual("www.example.org", ", exportTo: ['.']"),), "http://www.example.org/", "502"),
        ((virtual("api.example.org"),), "http://www.example.org/", "502"),
    ],
)
def test_virtual_services_send_calls_on(objects: tuple[str, ...], url: str, end: str) -> None:
    """istio/istio#39770: what is not shown to a client is reached through an egress gateway all the same."""
    made = manifest("v1", "Namespace", "shop", more=MESH), workload(), service("web"), sidecar(ONLY), *objects
    outcome = Tracer(simulated(*made)).trace(from_url("GET", url, client="Deployment/shop/web")).outcome
    sent = "VirtualService infra/send: it sends these requests on to gateway.infra.svc.cluster.local" in outcome.reason
    assert ("sent on" if sent else "refused" if outcome.refused else str(outcome.status)) == end
    assert outcome.unknown is sent


def test_clients_without_a_proxy_ask_for_services() -> None:
    world = simulated(manifest("v1", "Namespace", "shop", more=MESH), workload(), service("web"), sidecar(ONLY))
    with pytest.raises(RequestError, match="there is no Service"):
        Tracer(world).trace(from_url("GET", "http://www.example.org/", client="unmeshed"))
