"""Preflights and logins: what `cors` of a policy answers, and what goes on to the logins behind it.

Predicted from Envoy's cors_filter.cc (an allowed origin with Access-Control-Request-Method is answered, everything else
goes on), envoyproxy/gateway internal/xds/translator/httpfilters.go, kgateway's stages (CORS comes before logins) and
agentgateway's pull request 1020.
"""

from __future__ import annotations

import pytest

from policylint.trace import Trace, Tracer, request
from tests import worlds
from tests.trace.test_authorization import KINDS

APP, EVIL = "https://app.example", "https://evil.example"
JWT = {
    "envoy": "jwt: {providers: [{name: id, issuer: 'https://id.example', remoteJWKS: {uri: 'https://id.example'}}]}",
    "kgateway": "rbac: {policy: {matchExpressions: ['false']}}",
    "agentgateway": "jwtAuthentication: {mode: Strict, providers: [{issuer: 'https://id.example', jwks: {inline: a}}]}",
}


def sent(implementation: str, origins: str, method: str = "OPTIONS", more: str = "", **headers: str) -> Trace:
    controller, api, kind = KINDS[implementation]
    spec = f"cors: {{allowOrigins: [{origins}], allowMethods: [GET, POST]}}, {JWT[implementation]}"
    spec = f"traffic: {{{spec}}}" if implementation == "agentgateway" else spec
    simulation = worlds.simulated(
        worlds.gateway_class(
            "edge",
            controller,
            more="parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy, namespace: infra}"
            if more
            else "",
        ),
        worlds.gateway(of_class="edge"),
        worlds.route(more="hostnames: [shop.example], rules: [{backendRefs: [{name: checkout, port: 80}]}]"),
        worlds.service(),
        worlds.policy(api, kind, "web", "HTTPRoute/checkout", spec, "shop", field="targetRefs"),
        *([worlds.manifest("gateway.envoyproxy.io/v1alpha1", "EnvoyProxy", "proxy", "infra", more)] if more else []),
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Tracer(simulation).trace(request({"host": "shop.example", "method": method, "headers": named}))


ASKED = {"Access_Control_Request_Method": "GET"}


@pytest.mark.parametrize("implementation", JWT)
@pytest.mark.parametrize("origins", [f"'{APP}'", "'*'", "'https://*.example'"])
def test_a_preflight_of_an_allowed_origin_is_answered(implementation: str, origins: str) -> None:
    outcome = sent(implementation, origins, Origin=APP, **ASKED).outcome
    assert outcome.status == 200
    assert "preflight of https://app.example" in outcome.reason


@pytest.mark.parametrize("implementation", JWT)
@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("OPTIONS", {"Origin": EVIL, **ASKED}),
        ("OPTIONS", {"Origin": APP}),
        ("OPTIONS", ASKED),
        ("GET", {"Origin": APP, **ASKED}),
    ],
)
def test_all_else_meets_the_logins(implementation: str, method: str, headers: dict[str, str]) -> None:
    trace = sent(implementation, f"'{APP}'", method, **headers)
    assert "preflight" not in trace.outcome.reason
    assert trace.outcome.status == 403 or any(ask.must for met in trace.policies for ask in met.asks)


def test_an_order_of_its_own_may_ask_for_logins_first() -> None:
    order = "spec: {filterOrder: [{name: envoy.filters.http.cors, after: envoy.filters.http.jwt_authn}]}"
    assert "preflight" not in sent("envoy", f"'{APP}'", more=order, Origin=APP, **ASKED).outcome.reason


BY_ROUTE = "{type: CORS, cors: {allowOrigins: ['https://app.example'], allowMethods: [GET]}}"


@pytest.mark.parametrize(
    ("controller", "origin", "status"),
    [
        *(
            (controller, APP, 200)
            for controller in ("gateway.envoyproxy.io/gatewayclass-controller", "kgateway.dev/kgateway")
        ),
        ("istio.io/gateway-controller", APP, 200),
        ("istio.io/gateway-controller", EVIL, None),
        ("gateway.envoyproxy.io/gatewayclass-controller", EVIL, None),
        ("traefik.io/gateway-controller", EVIL, 200),
        ("gateway.nginx.org/nginx-gateway-controller", EVIL, 200),
        ("example.net/controller", APP, 204),
    ],
)
def test_a_filter_answers_as_its_proxy_does(controller: str, origin: str, status: int | None) -> None:
    """Envoy's cors_filter.cc; Traefik's processCorsHeaders; NGINX Gateway Fabric's servers_template.go."""
    simulation = worlds.simulated(
        worlds.gateway_class("edge", controller),
        worlds.gateway(of_class="edge"),
        worlds.route(more=f"rules: [{{filters: [{BY_ROUTE}], backendRefs: [{{name: checkout, port: 80}}]}}]"),
        worlds.service(),
    )
    headers = {"origin": origin, "access-control-request-method": "GET"}
    made = request({"host": "shop.example", "method": "OPTIONS", "headers": headers})
    assert Tracer(simulation).trace(made).outcome.status == status


@pytest.mark.parametrize(
    ("order", "headers", "status"),
    [
        ("{name: cors}, {name: login}", {}, 200),
        ("{name: login}, {name: cors}", {}, 401),
        ("{name: login}, {name: cors}", {"authorization": "Basic eA=="}, 200),
    ],
)
def test_the_first_middleware_of_traefik_answers(order: str, headers: dict[str, str], status: int) -> None:
    api, route = "traefik.io/v1alpha1", "kind: Rule, services: [{name: checkout, port: 80}]"
    simulation = worlds.simulated(
        worlds.manifest(
            api, "Middleware", "cors", "shop", f"spec: {{headers: {{accessControlAllowOriginList: ['{APP}']}}}}"
        ),
        worlds.manifest(api, "Middleware", "login", "shop", "spec: {basicAuth: {secret: users}}"),
        worlds.manifest("v1", "Secret", "users", "shop", "stringData: {users: a}"),
        worlds.manifest(
            api,
            "IngressRoute",
            "web",
            "shop",
            f"spec: {{routes: [{{match: 'Host(`shop.example`)', {route}, middlewares: [{order}]}}]}}",
        ),
        worlds.service(),
    )
    sent_headers = {"origin": APP, "access-control-request-method": "GET", **headers}
    made = request({"host": "shop.example", "method": "OPTIONS", "headers": sent_headers})
    assert Tracer(simulation).trace(made).outcome.status == status


def test_contour_answers_before_it_asks() -> None:
    """internal/envoy/v3/listener.go: `cors` comes before `jwt_authn` and `ext_authz`."""
    cors = f"corsPolicy: {{allowOrigin: ['{APP}'], allowMethods: [GET]}}"
    login = "authorization: {extensionRef: {name: a}}"
    simulation = worlds.simulated(
        worlds.manifest(
            "projectcontour.io/v1",
            "HTTPProxy",
            "web",
            "shop",
            f"spec: {{virtualhost: {{fqdn: shop.example, tls: {{secretName: c}}, {cors}, {login}}}, "
            "routes: [{services: [{name: checkout, port: 80}]}]}",
        ),
        worlds.service(),
    )
    for origin, status in ((APP, 200), (EVIL, None)):
        headers = {"origin": origin, "access-control-request-method": "GET"}
        made = request({"scheme": "https", "host": "shop.example", "method": "OPTIONS", "headers": headers})
        assert Tracer(simulation).trace(made).outcome.status == status
