"""Requests that settings of Envoy Gateway's policies turn away, and policies that stop a Gateway altogether.

Predicted from internal/{gatewayapi,xds/translator} @ v1.9.1, and answered so by tests/witness.
"""

from __future__ import annotations

import pytest

from policylint.checks import setting_misleads
from policylint.model import Finding
from policylint.simulation import Simulation
from policylint.trace import Trace, Tracer, request
from tests import worlds

API = "gateway.envoyproxy.io/v1alpha1"
CLASS = worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller")
LISTENERS = "[{name: one, port: 80, protocol: HTTP}, {name: two, port: 81, protocol: HTTP}]"
PROVIDER = (
    "provider: {issuer: 'https://id.example', authorizationEndpoint: 'https://id.example/a',"
    " tokenEndpoint: 'https://id.example/t'}"
)
PASSED = f"oidc: {{{PROVIDER}, clientID: shop, clientSecret: {{name: client}}, passThroughAuthHeader: true}}"
JWT = "jwt: {providers: [{name: id, issuer: 'https://id.example', remoteJWKS: {uri: 'https://id.example/jwks'}}]}"
SECRET = worlds.manifest("v1", "Secret", "client", "shop", "stringData: {client-secret: s}")


def simulated(*more: str, routes: str = "[{name: edge}]") -> Simulation:
    return worlds.simulated(
        CLASS,
        worlds.gateway(namespace="shop", of_class="eg", listeners=LISTENERS),
        worlds.route(parents=routes, more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        SECRET,
        *more,
    )


def traced(simulation: Simulation, port: int = 80, **asked: object) -> Trace:
    return Tracer(simulation).trace(request({"host": "shop.example", "port": port, **asked}))


def stopping(simulation: Simulation) -> list[Finding]:
    return [each for each in setting_misleads.check(simulation) if each.severity == "error"]


def security(spec: str, target: str = "Gateway/edge") -> str:
    return worlds.policy(API, "SecurityPolicy", "own", target, spec, "shop")


@pytest.mark.parametrize("keys", ["${KEYS}", "__JWKS_INLINE__", "<the keys of id.example.com>"])
def test_keys_that_a_script_fills_in_stop_nothing(keys: str) -> None:
    provider = f"{{name: id, issuer: id.example.com, localJWKS: {{type: Inline, inline: '{keys}'}}}}"
    assert stopping(simulated(security(f"jwt: {{providers: [{provider}]}}"))) == []


@pytest.mark.parametrize("target", ["Gateway/edge", "Gateway/edge#one"])
def test_a_token_that_is_passed_through_without_jwt_stops_the_gateway(target: str) -> None:
    """Its translation ends in a panic, which is caught: the Gateway gets no configuration, or keeps its old one."""
    simulation = simulated(security(PASSED, target))
    for port in (80, 81):
        outcome = traced(simulation, port).outcome
        assert outcome.unknown and "panics" in outcome.reason and "SecurityPolicy shop/own" in outcome.reason
    (finding,) = stopping(simulation)
    assert "stops Gateway shop/edge from being configured" in finding.message
    assert finding.field == "spec.oidc.passThroughAuthHeader"


@pytest.mark.parametrize(
    "policy",
    [
        security(f"{PASSED}, {JWT}"),
        security(PASSED.replace("passThroughAuthHeader: true", "passThroughAuthHeader: false")),
        security(PASSED, "HTTPRoute/checkout"),  # refused before it is translated
        security(PASSED, "Gateway/elsewhere"),
    ],
)
def test_others_do_not(policy: str) -> None:
    simulation = simulated(policy)
    assert not stopping(simulation)
    assert not traced(simulation).outcome.unknown


def test_a_gateway_without_routes_is_not_stopped() -> None:
    simulation = simulated(security(PASSED), routes="[{name: another}]")
    assert not stopping(simulation)


@pytest.mark.parametrize(
    ("keys", "stops"),
    [("'{'", True), ("'{}'", True), ("'[]'", True), ("'{\"keys\": []}'", False), ("'${JWKS}'", False)],
)
def test_keys_that_are_none_stop_the_port(keys: str, stops: bool) -> None:
    jwt = f"jwt: {{providers: [{{name: id, localJWKS: {{type: Inline, inline: {keys}}}}}]}}"
    simulation = simulated(security(jwt, "Gateway/edge#one"))
    assert bool(traced(simulation, 80).outcome.unknown) is stops
    assert not traced(simulation, 81).outcome.unknown
    assert bool(stopping(simulation)) is stops


OTHER = worlds.route(
    "other", parents="[{name: edge, sectionName: one}]",
    more="rules: [{matches: [{path: {value: /cart}}], backendRefs: [{name: checkout, port: 80}]}]",
)  # fmt: skip


def test_a_route_with_an_upgrade_to_connect_takes_nothing_else() -> None:
    upgrade = "httpUpgrade: [{type: websocket}, {type: CONNECT}]"
    policy = worlds.policy(API, "BackendTrafficPolicy", "own", "HTTPRoute/checkout", upgrade, "shop")
    simulation = simulated(policy)
    assert traced(simulation).outcome.status == 404
    assert traced(simulation, method="CONNECT").outcome.backends
    assert not traced(simulated(policy.replace("CONNECT", "spdy/3.1"))).denied


def test_and_the_next_rule_that_fits_takes_the_rest() -> None:
    upgrade = "httpUpgrade: [{type: CONNECT}]"
    policy = worlds.policy(API, "BackendTrafficPolicy", "own", "HTTPRoute/other", upgrade, "shop")
    simulation = simulated(policy, OTHER)
    for method, route in (("GET", "checkout"), ("CONNECT", "other")):
        trace = traced(simulation, path="/cart", method=method)
        assert trace.outcome.backends
        assert str(trace.route and trace.route.key) == f"HTTPRoute shop/{route}"


@pytest.mark.parametrize(
    ("fail_closed", "headers", "status"),
    [
        ("true", {}, 403),
        ("true", {"x-real-ip": "nobody"}, 403),
        ("true", {"x-real-ip": "203.0.113.7"}, None),
        ("false", {}, None),
    ],
)
def test_a_header_that_must_hold_the_address(fail_closed: str, headers: dict[str, str], status: int | None) -> None:
    detection = f"clientIPDetection: {{customHeader: {{name: X-Real-IP, failClosed: {fail_closed}}}}}"
    policy = worlds.policy(API, "ClientTrafficPolicy", "own", "Gateway/edge", detection, "shop")
    assert traced(simulated(policy), headers=headers).outcome.status == status


def test_the_header_is_asked_for_though_another_setting_is_refused() -> None:
    """The address is looked for before the route is, which answers 500."""
    address = "clientIPDetection: {customHeader: {name: X-Real-IP, failClosed: true}}"
    settings = f"{address}, http2: {{initialStreamWindowSize: 1Ki}}"
    simulation = simulated(worlds.policy(API, "ClientTrafficPolicy", "own", "Gateway/edge", settings, "shop"))
    assert worlds.state(simulation, "own").verdict == "Invalid"
    assert traced(simulation).outcome.status == 403
    assert traced(simulation, headers={"x-real-ip": "203.0.113.7"}).outcome.status == 500


TLS = "[{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}]"


@pytest.mark.parametrize(
    ("validation", "refused", "demands"),
    [
        ("{mode: RequireAndVerify, spkiHashes: [NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A=]}", True, False),
        ("{spkiHashes: [NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A=]}", True, False),
        ("{optional: true, spkiHashes: [NvqYIYSbgK2vCJpQhObf77vv+bQWtc5ek5RIOwPiC9A=]}", True, False),
        ("{mode: VerifyIfGiven}", True, False),
        ("{mode: RequireAny}", False, True),
        ("{mode: Request}", False, False),
        ("{caCertificateRefs: [{name: ca}]}", False, True),
    ],
)
def test_who_checks_certificates_of_clients_needs_cas(validation: str, refused: bool, demands: bool) -> None:
    """What is not translated demands nothing: its routes answer 500, to anybody."""
    policy = worlds.policy(
        API, "ClientTrafficPolicy", "own", "Gateway/edge", f"tls: {{clientValidation: {validation}}}", "shop"
    )
    simulation = worlds.simulated(
        CLASS,
        worlds.gateway(namespace="shop", of_class="eg", listeners=TLS),
        worlds.route(parents="[{name: edge}]", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        policy,
    )
    assert (worlds.state(simulation, "own").verdict == "Invalid") is refused
    outcome = traced(simulation, 443, scheme="https").outcome
    assert outcome.refused is demands
    assert (outcome.status == 500) is refused


@pytest.mark.parametrize(
    ("setting", "refused"),
    [
        ("tls: {ciphers: [ECDHE-RSA-AES128-GCM-SHA256, TLS_RSA_WITH_AES_256_CBC_SHA]}", False),
        ("tls: {ciphers: [DES-CBC3-SHA]}", True),
        ("headers: {earlyRequestHeaders: {set: [{name: x-a, value: one two}]}}", False),
        ('headers: {lateResponseHeaders: {add: [{name: x-a, value: " padded "}]}}', True),
    ],
)
def test_what_the_translation_of_a_listener_refuses(setting: str, refused: bool) -> None:
    policy = worlds.policy(API, "ClientTrafficPolicy", "own", "Gateway/edge", setting, "shop")
    simulation = worlds.simulated(CLASS, worlds.gateway(namespace="shop", of_class="eg", listeners=TLS), policy)
    assert (worlds.state(simulation, "own").verdict == "Invalid") is refused


@pytest.mark.parametrize(("kind", "status"), [("GRPCRoute", 418), ("HTTPRoute", 500)])
def test_an_answer_to_calls_stands_though_their_mirror_is_of_no_use(kind: str, status: int) -> None:
    """Source: internal/gatewayapi/route.go, processGRPCRouteRules: routes that answer keep their answer."""
    answer = worlds.manifest(API, "HTTPRouteFilter", "teapot", "shop", "spec: {directResponse: {statusCode: 418}}")
    filters = (
        "filters: [{type: RequestMirror, requestMirror: {backendRef: {name: gone, port: 80}}}, {type: ExtensionRef,"
        " extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: teapot}}]"
    )
    simulation = worlds.simulated(
        CLASS,
        worlds.gateway(namespace="shop", of_class="eg", listeners=LISTENERS),
        worlds.route("own", kind=kind, parents="[{name: edge}]", more=f"rules: [{{{filters}}}]"),
        worlds.service(),
        answer,
    )
    assert traced(simulation).outcome.status == status


def test_what_others_are_merged_into_is_not_refused_for_what_is_wrong_with_them() -> None:
    child = f"{JWT}, basicAuth: {{users: {{name: gone}}}}, mergeType: StrategicMerge"
    simulation = simulated(
        worlds.policy(API, "SecurityPolicy", "base", "Gateway/edge", "csrf: {}", "shop"),
        worlds.policy(API, "SecurityPolicy", "child", "HTTPRoute/checkout", child, "shop"),
    )
    assert worlds.verdicts(simulation) == {"base": "Enforced", "child": "Invalid"}
    assert traced(simulation).outcome.status == 500


def test_filters_behind_one_of_another_kind_are_not_looked_at() -> None:
    """Source: internal/gatewayapi/filters.go, ProcessGRPCFilters: what answers, with an error too, is the last one."""
    other = "{type: ExtensionRef, extensionRef: {group: gateway.envoyproxy.io, kind: Backend, name: up}}"
    mirror = "{type: RequestMirror, requestMirror: {backendRef: {name: api, port: 80, namespace: pay}}}"
    told = {}
    for filters in (f"{other}, {mirror}", f"{mirror}, {other}"):
        rule = f"rules: [{{filters: [{filters}], backendRefs: [{{name: checkout, port: 80}}]}}]"
        simulation = worlds.simulated(
            CLASS,
            worlds.gateway(namespace="shop", of_class="eg", listeners=LISTENERS),
            worlds.route("own", kind="GRPCRoute", parents="[{name: edge}]", more=rule),
            worlds.service(),
        )
        ((parent,),) = [route.parents for route in simulation.topology.routes]
        told[filters] = "ResolvedRefs=False/RefNotPermitted" in str(worlds.conditions(parent.conditions))
    assert list(told.values()) == [False, True]


PROXY = "parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy, namespace: infra}"


@pytest.mark.parametrize(
    ("modules", "refused"),
    [("dynamicModules: [{name: own, source: {type: Local}}]", False), ("logging: {}", True), (None, False)],
)
def test_a_dynamic_module_must_be_registered(modules: str | None, refused: bool) -> None:
    """Where the EnvoyProxy of the class was not seen, it may be.

    Source: internal/gatewayapi/envoyextensionpolicy.go, buildDynamicModules @ v1.9.1.
    """
    proxy = worlds.manifest(API, "EnvoyProxy", "proxy", "infra", f"spec: {{{modules}}}")
    simulation = worlds.simulated(
        worlds.gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller", PROXY),
        worlds.gateway(namespace="shop", of_class="eg", listeners=LISTENERS),
        worlds.route(parents="[{name: edge}]", more="rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(API, "EnvoyExtensionPolicy", "own", "HTTPRoute/checkout", "dynamicModule: [{name: own}]", "shop"),
        *([] if modules is None else [proxy]),
    )
    assert (worlds.state(simulation, "own").verdict == "Invalid") is refused


def test_a_listener_that_does_not_translate_what_is_refused_goes_on() -> None:
    """`tls` is of no concern to TCP, whatever else the policy says of addresses."""
    settings = "clientIPDetection: {xForwardedFor: {numTrustedHops: 1}}, tls: {clientValidation: {mode: VerifyIfGiven}}"
    tls = TLS.removesuffix("]")
    simulation = worlds.simulated(
        CLASS,
        worlds.gateway(namespace="shop", of_class="eg", listeners=f"{tls}, {{name: tcp, port: 9001, protocol: TCP}}]"),
        worlds.route(
            "own",
            kind="TCPRoute",
            parents="[{name: edge}]",
            more="rules: [{backendRefs: [{name: checkout, port: 80}]}]",
        ),
        worlds.service(),
        worlds.policy(API, "ClientTrafficPolicy", "own", "Gateway/edge", settings, "shop"),
    )
    assert worlds.state(simulation, "own").verdict == "Invalid"
    assert Tracer(simulation).trace(request({"scheme": "tcp", "port": 9001})).outcome.backends
