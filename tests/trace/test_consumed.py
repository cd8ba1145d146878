"""Headers that settings take for themselves: trace says so, and the backend's request lacks them."""

from __future__ import annotations

import pytest

from policylint.trace import Trace, Tracer, request
from tests import worlds
from tests.worlds import gateway, gateway_class, route, service, simulated

ROUTE = route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
CONTROLLERS = {
    "agentgateway.dev/v1alpha1": "agentgateway.dev/agentgateway",
    "gateway.envoyproxy.io/v1alpha1": "gateway.envoyproxy.io/gatewayclass-controller",
    "security.istio.io/v1": "istio.io/gateway-controller",
}


def traced(api: str, kind: str, spec: str) -> Trace:
    policy = worlds.policy(api, kind, "own", "Gateway/edge", spec, "infra")
    classes = gateway_class(controller=CONTROLLERS[api])
    headers = {"Authorization": "Bearer x", "X-Api-Key": "k", "X-Token": "t", "X-Team": "a"}
    asked = request({"host": "www.example.com", "path": "/", "headers": headers, "claims": {"iss": "https://id"}})
    return Tracer(simulated(classes, gateway(), ROUTE, service(), policy)).trace(asked)


JWT = "jwtAuthentication: {mode: Strict, providers: [{issuer: https://id, jwks: {inline: '{}'}}]}"
EG, ISTIO, AGENT = (
    ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy"),
    ("security.istio.io/v1", "RequestAuthentication"),
    ("agentgateway.dev/v1alpha1", "AgentgatewayPolicy"),
)


@pytest.mark.parametrize(
    ("kind", "spec", "taken"),
    [
        (AGENT, f"traffic: {{{JWT}}}", "Authorization"),
        (AGENT, f"traffic: {{{JWT}}}, backend: {{auth: {{passthrough: {{}}}}}}", ""),
        (ISTIO, "jwtRules: [{issuer: https://id}]", "Authorization"),
        (ISTIO, "jwtRules: [{issuer: https://id, fromHeaders: [{name: X-Token}]}]", "X-Token"),
        (ISTIO, "jwtRules: [{issuer: https://id, forwardOriginalToken: true}]", ""),
        (EG, "apiKeyAuth: {credentialRefs: [], extractFrom: [{headers: [X-Api-Key]}], sanitize: true}", "X-Api-Key"),
        (EG, "apiKeyAuth: {credentialRefs: [], extractFrom: [{headers: [X-Api-Key]}]}", ""),
        (EG, "jwt: {providers: [{name: a, issuer: https://id, remoteJWKS: {uri: https://id/keys}}]}", ""),
    ],
)
def test_the_backend_does_not_get_what_a_setting_takes(kind: tuple[str, str], spec: str, taken: str) -> None:
    trace = traced(*kind, spec)
    said = [note for note in trace.notes if "off the request" in note]
    assert [f"takes {taken} off" in note for note in said] == ([True] if taken else [])
    assert trace.forwarded is not None
    sent = {"authorization", "x-api-key", "x-token", "x-team"}
    assert {name.lower() for name in trace.forwarded.headers} & sent == sent - {taken.lower()}
