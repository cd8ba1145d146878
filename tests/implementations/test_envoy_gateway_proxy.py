"""What Envoy does with what Envoy Gateway makes: shared proxies, virtual hosts, filter chains, filters before errors.

Each was seen by tests/witness at v1.9.1.
"""

from __future__ import annotations

import pytest

from policylint.trace import Requirements, Trace, Tracer, request
from tests.implementations.worlds_envoy_gateway import CLASS, policy, told
from tests.worlds import gateway, gateway_class, listener_set, manifest, route, service, simulated, verdicts

ALL = "allowedRoutes: {namespaces: {from: All}}"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
MERGING = "parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy, namespace: infra}"
RULES = "rules: [{backendRefs: [{name: s, port: 80}]}]"
SERVICE = service("s", ports="[{port: 80}]")
PEM = '"-----BEGIN CERTIFICATE-----\\nTUlJQg==\\n-----END CERTIFICATE-----\\n"'
CERTIFICATE = manifest(
    "v1",
    "Secret",
    "cert",
    "infra",
    f"stringData: {{tls.crt: {PEM}, tls.key: {PEM.replace('CERTIFICATE', 'PRIVATE KEY')}}}",
)
TLS = f"tls: {{certificateRefs: [{{name: cert}}]}}, {ALL}"


def listening(*listeners: str) -> str:
    return f"[{', '.join(f'{{{each}, {ALL}}}' for each in listeners)}]"


def asked(*manifests: str, host: str = "a.example", path: str = "/", at: str = "infra/edge", **more: object) -> Trace:
    tracer = Tracer(simulated(*manifests, SERVICE))
    return tracer.trace(request({"host": host, "path": path, "gateway": at, **more}))


def end(trace: Trace) -> str:
    """`Gateway: backend`, or the status, or `refused`."""
    name = trace.gateway.name if trace.gateway is not None else ""
    outcome = trace.outcome
    return (
        f"{name}: {'refused' if outcome.refused else outcome.status or ' '.join(key.name for key in outcome.backends)}"
    )


def merged(merge: bool, *more: str) -> tuple[str, ...]:
    proxy = manifest(
        "gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "proxy", "infra", f"spec: {{mergeGateways: {merge}}}"
    )
    gateways = (
        gateway("edge", listeners=listening("name: web, port: 80, protocol: HTTP, hostname: b.example")),
        gateway("other", listeners=listening("name: web, port: 80, protocol: HTTP")),
    )
    to_other = route(parents="[{name: other, namespace: infra}]", more=RULES)
    return (gateway_class(controller=CONTROLLER, more=MERGING), proxy, *gateways, to_other, *more)


def test_gateways_that_share_a_proxy_answer_each_others_requests() -> None:
    assert end(asked(*merged(merge=True))) == "other: s"
    assert end(asked(*merged(merge=False))) == "edge: 404"


def test_the_policy_of_the_gateway_that_answers_acts() -> None:
    """It is asked at the other Gateway, whose own policy is not on the way."""
    deny = "authorization: {defaultAction: Deny}"
    policies = [policy("SP", name, f"Gateway/{name}", deny, namespace="infra") for name in ("edge", "other")]
    assert end(asked(*merged(True, policies[0]))) == "other: s"
    assert end(asked(*merged(True, policies[1]))) == "other: 403"


def test_a_listener_that_loses_against_another_gateways_leaves_its_requests_to_it() -> None:
    """Of two listeners that are alike the one of the first Gateway is served, also at the address of the other."""
    first, proxy, _, other, _ = merged(merge=True)
    rival = gateway("edge", listeners=listening("name: web, port: 80, protocol: HTTP"))
    assert end(asked(first, proxy, other, rival, route(more=RULES), at="infra/other")) == "edge: s"


@pytest.mark.parametrize(
    ("path", "answer"),
    [("/only/x", "edge: s"), ("/wide", "edge: 404")],
)
def test_the_narrowest_host_alone_has_a_say(path: str, answer: str) -> None:
    """A virtual host is chosen first: what none of its routes matches does not go on to routes for wider hosts."""
    only = "rules: [{matches: [{path: {type: PathPrefix, value: /only}}], backendRefs: [{name: s, port: 80}]}]"
    narrow = route("narrow", more=f"hostnames: [a.example], {only}")
    assert end(asked(CLASS, gateway(), narrow, route("wide", more=RULES), path=path)) == answer
    assert end(asked(CLASS, gateway(), narrow, route("wide", more=RULES), path=path, host="c.example")) == "edge: s"


def test_the_narrowest_host_of_calls_and_of_other_requests_is_one() -> None:
    """HTTPRoutes and GRPCRoutes are routes of the same virtual hosts."""
    method = "matches: [{method: {service: shop.Cart}}]"
    calls = route("calls", kind="GRPCRoute", more=f"hostnames: [a.example], rules: [{{{method}}}]")
    assert end(asked(CLASS, gateway(), calls, route("wide", more=RULES))) == "edge: 404"


SECRET = manifest("v1", "Secret", "keys", "shop", "stringData: {me: k-1}")
DENIES = "authorization: {defaultAction: Deny}"
BROKEN = "jwt: {providers: [{name: id, remoteJWKS: {uri: id.example}}]}"


@pytest.mark.parametrize(
    ("settings", "status"),
    [(BROKEN, 500), (f"{BROKEN}, {DENIES}", 403), (f"basicAuth: {{users: {{name: gone}}}}, {DENIES}", 403)],
)
def test_what_is_translated_of_a_refused_security_policy_acts_before_the_error(settings: str, status: int) -> None:
    refused = policy("SP", "sp", "HTTPRoute/checkout", settings)
    trace = asked(CLASS, gateway(), route(more=RULES), refused, SECRET)
    assert trace.outcome.status == status
    assert trace.failed_by is not None


def test_a_login_is_asked_for_before_the_error_of_another_setting() -> None:
    keys = "apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: [{headers: [x-key]}]}"
    both = policy("SP", "sp", "HTTPRoute/checkout", f"{BROKEN}, {keys}")
    tracer = Tracer(simulated(CLASS, gateway(), route(more=RULES), both, SECRET, SERVICE))
    trace = tracer.trace(request({"host": "a.example", "path": "/"}))
    assert str(Requirements(tracer).of(trace, "authentication")) == "apiKeyAuth by shop/sp"


def test_a_policy_that_is_refused_early_keeps_its_scope_from_younger_ones() -> None:
    """Nobody asks then: the first does nothing, the second has no scope. What is for the Gateway acts all the same."""
    oidc = "{provider: {issuer: a}, clientID: a, clientSecret: {name: keys}, passThroughAuthHeader: true}"
    void = policy("SP", "void", "HTTPRoute/checkout", f"oidc: {oidc}", created="2026-01-01T00:00:00Z")
    younger = policy("SP", "younger", "HTTPRoute/checkout", DENIES, created="2026-01-02T00:00:00Z")
    older = policy("SP", "older", "HTTPRoute/checkout", DENIES, created="2025-01-01T00:00:00Z")
    above = policy("SP", "above", "Gateway/edge", DENIES, namespace="infra")
    world = (CLASS, gateway(), route(more=RULES), void, SECRET)
    assert end(asked(*world, younger)) == "edge: s"
    assert end(asked(*world, younger, above)) == "edge: 403"
    assert end(asked(*world, older)) == "edge: 403"
    assert verdicts(simulated(*world, younger, SERVICE))["younger"] == "Conflicted"


@pytest.mark.parametrize("kind", ["BTP", "EnvoyExtensionPolicy"])
def test_a_security_policy_acts_before_the_error_of_another_policy(kind: str) -> None:
    faults = {
        "BTP": "connection: {bufferLimit: 5Gi}",
        "EnvoyExtensionPolicy": "extProc: [{backendRefs: [{name: gone, port: 80}]}]",
    }
    refused = policy(kind, "refused", "HTTPRoute/checkout", faults[kind])
    login = policy("SP", "sp", "HTTPRoute/checkout", DENIES)
    assert asked(CLASS, gateway(), route(more=RULES), refused).outcome.status == 500
    assert asked(CLASS, gateway(), route(more=RULES), refused, login).outcome.status == 403


def test_settings_of_tls_fail_where_there_is_tls() -> None:
    """A ClientTrafficPolicy without its CA makes the routes of its HTTPS listeners answer 500, and no others."""
    listeners = f"[{{name: web, port: 80, protocol: HTTP, {ALL}}}, {{name: tls, port: 443, protocol: HTTPS, {TLS}}}]"
    validation = (
        "tls: {clientValidation: {caCertificateRefs: [{kind: ConfigMap, group: '', name: gone}], optional: true}}"
    )
    fault = policy(
        "CTP", "ctp", "Gateway/edge", f"{validation}, timeout: {{http: {{requestReceivedTimeout: 5s}}}}", "infra"
    )
    other = manifest("v1", "ConfigMap", "other", "infra", "data: {a: b}")
    world = (CLASS, gateway(listeners=listeners), route(more=RULES), fault, CERTIFICATE, other)
    assert end(asked(*world, port=80)) == "edge: s"
    assert end(asked(*world, port=443, scheme="https")) == "edge: 500"


TLS_ROUTE = f"hostnames: [t.example], {RULES}"


@pytest.mark.parametrize(
    ("https", "tls", "routes", "answer"),
    [
        ("", "hostname: t.example, ", 0, "refused"),
        ("hostname: a.example, ", "", 0, "s"),
        ("", "hostname: t.example, ", 1, "s"),
        ("hostname: t.example, ", "", 1, "s"),  # the name is that listener's alone, which leaves the route without any
        ("hostname: a.example, ", "", 2, "refused"),
    ],
)
def test_filter_chains_for_one_server_name_close_the_port(https: str, tls: str, routes: int, answer: str) -> None:
    """A TLS listener without routes is for every name, whatever its hostname, and so is HTTPS without a hostname."""
    listeners = (
        f"[{{name: web, port: 443, protocol: HTTPS, {https}{TLS}}}, "
        f"{{name: tls, port: 443, protocol: TLS, {tls}tls: {{mode: Passthrough}}, {ALL}}}]"
    )
    parents = "[{name: edge, namespace: infra, sectionName: tls}]"
    more = [route(f"streams-{number}", kind="TLSRoute", more=TLS_ROUTE, parents=parents) for number in range(routes)]
    host = "t.example" if "t.example" in https else "a.example"
    to_web = route(parents="[{name: edge, namespace: infra, sectionName: web}]", more=RULES)
    trace = asked(CLASS, gateway(listeners=listeners), to_web, CERTIFICATE, *more, host=host, port=443, scheme="https")
    assert end(trace).endswith(f": {answer}")
    assert ("Envoy refuses its port" in trace.outcome.reason) == (answer == "refused")


@pytest.mark.parametrize(
    ("more", "told_of_it"),
    [("", "Accepted=True/Accepted"), ("allowedListeners: {namespaces: {from: All}}", "Accepted=False/Invalid")],
)
def test_a_fault_counts_where_listeners_are_let_in(more: str, told_of_it: str) -> None:
    """What a Gateway does not let in is not translated, so that nothing is wrong with it."""
    extra = listener_set("extra", "shop", listening("name: web, port: 8080, protocol: HTTP"))
    fault = policy("CTP", "ctp", "ListenerSet/extra", "connection: {bufferLimit: 5Gi}")
    simulation = simulated(CLASS, gateway(more=more), extra, fault)
    assert told(simulation, "ctp") == {"ListenerSet shop/extra": [told_of_it]}
