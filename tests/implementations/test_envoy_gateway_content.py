"""What the translator of Envoy Gateway refuses, and what requests then get.

Source: docs/design/implementations/envoy-gateway.md §9.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.checks import run as check_all
from policylint.trace import Tracer, request
from tests import worlds
from tests.diff.history import commit, run

GATEWAY = "---".join(
    (
        worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
        worlds.gateway(of_class="envoy"),
        worlds.route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
    )
)
FILLER = worlds.manifest("v1", "ConfigMap", "filler", "infra", "data: {a: b}")
REMOTE = "remoteJWKS: {uri: https://id/jwks}"
JWT = f"jwt: {{providers: [{{name: id, {REMOTE}}}]}}"
TWICE = f"jwt: {{providers: [{{name: id, {REMOTE}}}, {{name: id, {REMOTE}}}]}}"


def policy(kind: str, spec: str, target: str = "HTTPRoute/checkout", namespace: str = "shop", name: str = "own") -> str:
    return worlds.policy("gateway.envoyproxy.io/v1alpha1", kind, name, target, spec, namespace)


def selected(selector: str, limit: str = "{requests: 1, unit: Hour}", scope: str = "global") -> str:
    rule = f"{{clientSelectors: [{selector}], limit: {limit}}}"
    return f"rateLimit: {{type: {scope.capitalize()}, {scope}: {{rules: [{rule}]}}}}"


def local(*rules: str) -> str:
    return f"rateLimit: {{type: Local, local: {{rules: [{', '.join(rules)}]}}}}"


def limit(unit: str, selector: str = "") -> str:
    of = f"clientSelectors: [{{headers: [{{name: x, value: {selector}}}]}}], " if selector else ""
    return f"{{{of}limit: {{requests: 1, unit: {unit}}}}}"


REFUSED = {
    "two default limits": ("BackendTrafficPolicy", local(limit("Hour"), limit("Hour"))),
    "a unit that is no multiple": ("BackendTrafficPolicy", local(limit("Hour"), limit("Minute", "a"))),
    "an expression": (
        "BackendTrafficPolicy",
        selected("{headers: [{name: x, type: RegularExpression, value: '(['}]}"),
    ),
    "a lookahead": ("BackendTrafficPolicy", selected("{path: {type: RegularExpression, value: '/(?!admin)'}}")),
    "no network": ("BackendTrafficPolicy", selected("{sourceCIDR: {value: 10.0.0/8}}")),
    "two providers of one name": ("SecurityPolicy", TWICE),
    "no expression of CEL": ("SecurityPolicy", "authorization: {rules: [{action: Allow, cel: 'request.'}]}"),
    "a buffer of 5 GiB": ("BackendTrafficPolicy", "requestBuffer: {limit: 5Gi}"),
    "a trickle": ("BackendTrafficPolicy", "bandwidthLimit: {request: {limit: {value: 4Ki, unit: Minute}}}"),
}
TAKEN = {
    "one default limit": ("BackendTrafficPolicy", local(limit("Minute"), limit("Hour", "a"))),
    "selectors of several units": ("BackendTrafficPolicy", local(limit("Minute", "a"), limit("Hour", "b"))),
    "an expression of RE2": (
        "BackendTrafficPolicy",
        selected("{path: {type: RegularExpression, value: '/\\\\p{L}+(?i:x)'}}"),
    ),
    "a variable": ("BackendTrafficPolicy", selected("{sourceCIDR: {value: '${NETWORK}'}}")),
    "a provider": ("SecurityPolicy", JWT),
    "an expression of CEL": ("SecurityPolicy", "authorization: {rules: [{action: Allow, cel: 'request.size < 9'}]}"),
    "a buffer of 3 GiB": ("BackendTrafficPolicy", "requestBuffer: {limit: 3Gi}"),
    "a stream": ("BackendTrafficPolicy", "bandwidthLimit: {response: {limit: {value: 60Ki, unit: Minute}}}"),
}


@pytest.mark.parametrize(("kind", "spec"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("target", ["HTTPRoute/checkout", "Gateway/edge"])
def test_routes_of_a_refused_policy_answer_500(kind: str, spec: str, target: str) -> None:
    namespace = "infra" if target == "Gateway/edge" else "shop"
    simulation = worlds.simulated(GATEWAY, policy(kind, spec, target, namespace))
    assert worlds.verdicts(simulation) == {"own": "Invalid"}
    assert not simulation.acting.affected().get(worlds.state(simulation, "own").targets[0].nodes[0])
    traced = Tracer(simulation).trace(request({"host": "shop.example", "path": "/"}))
    assert (traced.outcome.status, traced.policies) == (500, ())
    (ancestor,) = worlds.state(simulation, "own").ancestors
    assert worlds.conditions(ancestor.conditions) == ["Accepted=False/Invalid"]


@pytest.mark.parametrize(
    "spec",
    [
        "connection: {bufferLimit: 5Gi}",
        "http2: {initialStreamWindowSize: 1Ki}",
    ],
    ids=["buffer", "window"],
)
@pytest.mark.parametrize(("target", "status"), [("Gateway/edge", 500), ("Gateway/edge#other", None)])
def test_routes_of_a_listener_whose_settings_are_refused_answer_500(spec: str, target: str, status: int | None) -> None:
    allowed = "protocol: HTTP, allowedRoutes: {namespaces: {from: All}}"
    both = worlds.gateway(
        of_class="envoy", listeners=f"[{{name: http, port: 80, {allowed}}}, {{name: other, port: 81, {allowed}}}]"
    )
    simulation = worlds.simulated(GATEWAY, both, policy("ClientTrafficPolicy", spec, target, "infra"), FILLER)
    assert Tracer(simulation).trace(request({"host": "shop.example"})).outcome.status == status
    assert Tracer(simulation).trace(request({"host": "shop.example", "port": 81})).outcome.status == 500


@pytest.mark.parametrize(("kind", "spec"), TAKEN.values(), ids=TAKEN)
def test_what_the_translator_takes_is_not_refused(kind: str, spec: str) -> None:
    simulation = worlds.simulated(GATEWAY, policy(kind, spec))
    assert worlds.verdicts(simulation) == {"own": "Enforced"}
    assert Tracer(simulation).trace(request({"host": "shop.example", "path": "/"})).outcome.backends


def test_a_refused_policy_keeps_the_gateways_from_applying() -> None:
    wide = policy("SecurityPolicy", JWT, "Gateway/edge", "infra", "wide")
    simulation = worlds.simulated(GATEWAY, wide, policy("SecurityPolicy", TWICE))
    assert worlds.verdicts(simulation) == {"own": "Invalid", "wide": "Overridden"}
    assert Tracer(simulation).trace(request({"host": "shop.example", "path": "/"})).outcome.status == 500


@pytest.mark.parametrize(
    "spec",
    [
        "apiKeyAuth: {extractFrom: [{headers: [x], params: [key]}], credentialRefs: [{name: keys}]}",
        "oidc: {passThroughAuthHeader: true}",
    ],
)
def test_a_policy_refused_early_is_as_good_as_absent(spec: str) -> None:
    wide = policy("SecurityPolicy", JWT, "Gateway/edge", "infra", "wide")
    simulation = worlds.simulated(GATEWAY, wide, policy("SecurityPolicy", spec))
    assert worlds.verdicts(simulation) == {"own": "Invalid", "wide": "Enforced"}
    traced = Tracer(simulation).trace(request({"host": "shop.example", "path": "/"}))
    assert traced.outcome.backends
    assert [str(source) for met in traced.policies for source in met.group.effective.sources] == [
        "SecurityPolicy infra/wide"
    ]


def test_a_tcp_route_takes_authorization_alone() -> None:
    tcp = worlds.route("t", parents="[{name: edge, namespace: infra}]", kind="TCPRoute")
    simulation = worlds.simulated(GATEWAY, tcp, policy("SecurityPolicy", JWT, "TCPRoute/t"))
    assert worlds.verdicts(simulation) == {"own": "Invalid"}
    allowed = "authorization: {rules: [{action: Allow, principal: {clientCIDRs: [10.0.0.0/8]}}]}"
    simulation = worlds.simulated(GATEWAY, tcp, policy("SecurityPolicy", allowed, "TCPRoute/t"))
    assert worlds.state(simulation, "own").invalid == ""


def test_a_change_that_breaks_a_policy_says_that_its_routes_fail(tmp_path: Path) -> None:
    commit(tmp_path, {"shop.yaml": GATEWAY, "own.yaml": policy("SecurityPolicy", JWT)})
    commit(tmp_path, {"own.yaml": policy("SecurityPolicy", TWICE)})
    code, out, _ = run(tmp_path, "diff", "HEAD~1..HEAD")
    assert code == 1
    assert "GWP302" not in out
    (finding,) = policylint.lint(tmp_path).findings
    assert (finding.rule, finding.severity) == ("GWP111", "error")
    assert finding.label == "every request of 1 route is answered with an error"


CA = "caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]"
PEM = '"-----BEGIN CERTIFICATE-----\\nTUlJQg==\\n-----END CERTIFICATE-----\\n"'
HELD = worlds.manifest("v1", "ConfigMap", "ca", "infra", f"data: {{ca.crt: {PEM}}}")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (f"http3: {{}}, tls: {{clientValidation: {{{CA}}}}}", ["warning"]),
        ("http3: {}, enableProxyProtocol: true", ["warning"]),
        ("http3: {}, proxyProtocol: {optional: true}", ["warning"]),
        ("http3: {}, enableProxyProtocol: false, tls: {minVersion: '1.3'}", []),
        (f"tls: {{clientValidation: {{{CA}}}}}", []),
    ],
)
def test_http3_does_without_what_is_for_tcp_alone(spec: str, said: list[str]) -> None:
    secure = worlds.gateway(
        of_class="envoy", listeners="[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}]"
    )
    envoy = worlds.gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
    simulation = worlds.simulated(envoy, secure, HELD, policy("ClientTrafficPolicy", spec, "Gateway/edge", "infra"))
    found = [each for each in check_all(simulation) if each.rule == "GWP526" and each.field.endswith("http3")]
    assert [each.severity for each in found] == said


def test_a_limit_that_a_wider_one_keeps_from_counting_is_a_warning() -> None:
    """envoyproxy/gateway#9737: every rule that matches counts."""
    each = "{clientSelectors: [{headers: [{name: x, type: Distinct}]}], limit: {requests: 10, unit: Second}}"
    one = "{clientSelectors: [{headers: [{name: x, value: b}]}], limit: {requests: 20, unit: Second}}"
    text = policy("BackendTrafficPolicy", f"rateLimit: {{type: Global, global: {{rules: [{each}, {one}]}}}}")
    simulation = worlds.simulated(*GATEWAY.split("---"), text)
    assert [found.severity for found in check_all(simulation) if found.rule == "GWP526"] == ["warning"]
