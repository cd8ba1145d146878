"""A policy of one port of a Service acts on requests that go to that port, whichever other ports requests go to."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.checks.linting import GATEWAY
from tests.worlds import manifest, simulated

SERVICE = manifest(
    *("v1", "Service", "checkout", "shop"),
    "spec: {ports: [{name: a, port: 80}, {name: b, port: 81}, {name: c, port: 443}]}",
)


def tls(section: str) -> str:
    target = f"{{group: '', kind: Service, name: checkout{section}}}"
    spec = f"spec: {{targetRefs: [{target}], validation: {{hostname: a.example.com, wellKnownCACertificates: System}}}}"
    return manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "shop", spec)


@pytest.mark.parametrize(
    ("ports", "section", "expected"),
    [
        ((443,), ", sectionName: c", [(None, "")]),
        ((80, 443), ", sectionName: c", [("checkout", "c")]),
        ((443, 80), ", sectionName: c", [("checkout", "c")]),
        ((80, 81), ", sectionName: c", []),
        ((80, 443), "", [(None, "")]),
        ((443, 443), ", sectionName: c", [(None, "")]),
    ],
)
def test_where_a_policy_of_a_port_acts(
    ports: tuple[int, ...], section: str, expected: list[tuple[str | None, str]]
) -> None:
    references = ", ".join(f"{{name: checkout, port: {port}}}" for port in ports)
    spec = f"spec: {{parentRefs: [{{name: edge, namespace: infra}}], rules: [{{backendRefs: [{references}]}}]}}"
    route = manifest("gateway.networking.k8s.io/v1", "HTTPRoute", "checkout", "shop", spec)
    trace = Tracer(simulated(GATEWAY, route, SERVICE, tls(section))).trace(from_url("GET", "http://shop.example.com/"))
    assert [(met.backend and met.backend.name, met.port) for met in trace.policies] == expected


@pytest.mark.parametrize(
    ("spec", "port", "refused"),
    [
        ("ports: [{port: 80}]", 80, False),
        ("ports: []", 80, True),
        ("ports: [{port: '${PORT}'}]", 80, False),
        ("ports: [], clusterIP: None", 81, False),  # its name stands for the pods
        ("type: ExternalName, externalName: db.example.com", 81, False),
    ],
)
def test_nothing_listens_on_a_service_without_ports(spec: str, port: int, refused: bool) -> None:
    service = manifest("v1", "Service", "checkout", "shop", f"spec: {{{spec}}}")
    request = from_url("GET", f"http://checkout.shop:{port}/", service="shop/checkout", client="unmeshed")
    outcome = Tracer(simulated(service)).trace(request).outcome
    assert (outcome.refused, outcome.reason) == (
        refused,
        f"Service shop/checkout has no port {port}" if refused else "",
    )
