"""A policy that a controller refuses may close connections where it answers requests with an error."""

from __future__ import annotations

import pytest

from policylint.trace import Tracer, request
from tests import worlds

TERMINATED = "TLS, tls: {certificateRefs: [{name: cert}]}"
MISSING = "caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]"
REFUSED = "tls: {clientValidation: {caCertificateRefs: [{group: '', kind: ConfigMap, name: gone}]}}"


@pytest.mark.parametrize(
    ("protocol", "kind", "spec", "closed"),
    [
        (TERMINATED, "TLSRoute", REFUSED, True),
        (TERMINATED, "TCPRoute", REFUSED, True),
        (TERMINATED, "TLSRoute", "tls: {minVersion: '1.3'}", False),
        ("TLS, tls: {mode: Passthrough}", "TLSRoute", REFUSED, False),
        ("TCP", "TCPRoute", REFUSED, False),
    ],
)
def test_a_policy_for_clients_closes_connections_of_which_it_is(
    protocol: str, kind: str, spec: str, closed: bool
) -> None:
    """translateClientTrafficPolicyForListener (Envoy Gateway 1.9) takes the routes; what ends no TLS lacks no CA."""
    simulation = worlds.simulated(
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="eg", listeners=f"[{{name: own, port: 9000, protocol: {protocol}}}]"),
        worlds.service("web", "infra"),
        worlds.manifest("v1", "ConfigMap", "other", "infra", "data: {a: b}"),
        worlds.route("web", "infra", "[{name: edge}]", kind, "rules: [{backendRefs: [{name: web, port: 80}]}]"),
        worlds.policy("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "own", "Gateway/edge", spec, "infra"),
    )
    scheme = "tcp" if protocol == "TCP" else "tls"
    trace = Tracer(simulation).trace(request({"host": "a.test", "scheme": scheme, "port": 9000}))
    assert (trace.outcome.refused, bool(trace.outcome.backends)) == (closed, not closed)
    assert (trace.failed_by is not None) == closed


@pytest.mark.parametrize("more", ["", ", connection: {bufferLimit: 1Mi}"])
def test_what_ends_no_tls_lacks_no_ca_whatever_else_the_policy_says(more: str) -> None:
    listeners = f"[{{name: own, port: 80, protocol: HTTP}}, {{name: tls, port: 443, protocol: {TERMINATED}}}]"
    simulation = worlds.simulated(
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="eg", listeners=listeners.replace("TLS,", "HTTPS,")),
        worlds.service("web", "infra"),
        worlds.manifest("v1", "ConfigMap", "other", "infra", "data: {a: b}"),
        worlds.route("web", "infra", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        worlds.policy(
            "gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy", "own", "Gateway/edge", REFUSED + more, "infra"
        ),
    )
    asked = ({"scheme": "http", "port": 80}, {"scheme": "https", "port": 443})
    answers = [Tracer(simulation).trace(request({"host": "a.test", "path": "/", **each})).outcome for each in asked]
    assert [(answer.status, bool(answer.backends)) for answer in answers] == [(None, True), (500, False)]


@pytest.mark.parametrize(("lacking", "reached"), [("old", False), ("young", True)])
def test_of_policies_for_tls_on_a_backend_the_oldest_has_it(lacking: str, reached: bool) -> None:
    """Their names say the opposite; one without a CA keeps its Service all the same (Envoy Gateway 1.9, Istio)."""
    ages = {"old": ("z", "2026-01-01T00:00:00Z"), "young": ("a", "2026-01-02T00:00:00Z")}
    policies = (
        worlds.policy(
            "gateway.networking.k8s.io/v1",
            "BackendTLSPolicy",
            name,
            "Service/web",
            f"validation: {{hostname: a.b, {MISSING if age == lacking else 'wellKnownCACertificates: System'}}}",
            "infra",
            created,
        )
        for age, (name, created) in ages.items()
    )
    simulation = worlds.simulated(
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="eg"),
        worlds.service("web", "infra"),
        worlds.manifest("v1", "ConfigMap", "other", "infra", "data: {a: b}"),
        worlds.route("web", "infra", "[{name: edge}]", more="rules: [{backendRefs: [{name: web, port: 80}]}]"),
        *policies,
    )
    outcome = Tracer(simulation).trace(request({"host": "a.test", "path": "/"})).outcome
    assert (outcome.status, bool(outcome.backends)) == ((None, True) if reached else (500, False))
