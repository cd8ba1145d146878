"""GWP317 for filters of routes: preflights that no rule takes (envoyproxy/gateway#6316)."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from tests.checks.linting import lint
from tests.worlds import gateway, gateway_class, policy, route, service, simulated

CLASSES = {
    "gateway.envoyproxy.io/gatewayclass-controller": True,
    "istio.io/gateway-controller": True,
    "traefik.io/gateway-controller": True,
    "konghq.com/kic-gateway-controller": False,  # GWP416 says that it supports no such filter
}
FILTER = "filters: [{type: CORS, cors: {allowOrigins: ['https://www.example.com'], allowMethods: [GET]}}]"


def fields(controller: str, *rules: str) -> list[str | None]:
    backend = "backendRefs: [{name: checkout, port: 80}]"
    wanted = ", ".join(f"{{{rule}, {backend}}}" for rule in rules)
    simulation = simulated(
        gateway_class("any", controller),
        gateway(),
        service(),
        route(more=f"hostnames: [api.example.com], rules: [{wanted}]"),
    )
    return [each.field for each in run(simulation, select={"GWP317"})]


@pytest.mark.parametrize("controller", CLASSES)
def test_a_filter_of_a_rule_for_other_methods(controller: str) -> None:
    matches = "matches: [{path: {value: /orders}, method: POST}, {path: {value: /orders}, method: GET}]"
    expected = ["spec.rules[0].filters[0].cors"] * CLASSES[controller]
    assert fields(controller, f"{matches}, {FILTER}") == expected
    asking = "matches: [{headers: [{name: x-tenant, value: a}]}, {method: PUT, headers: [{name: x, value: b}]}]"
    assert fields(controller, f"{asking}, {FILTER}") == expected  # istio/istio#47236


@pytest.mark.parametrize(
    "rules",
    [
        [f"matches: [{{method: POST}}, {{method: OPTIONS}}], {FILTER}"],
        [f"matches: [{{path: {{value: /orders}}}}], {FILTER}"],
        [FILTER],
        [f"matches: [{{path: {{value: /orders}}, method: POST}}], {FILTER}", FILTER],  # the other rule answers it
        ["matches: [{path: {value: /orders}, method: POST}]"],
        [f"matches: [{{headers: [{{name: x-canary, value: 'on'}}]}}], {FILTER}", FILTER],
        [f"matches: [{{headers: [{{name: Sec-Fetch-Site, value: cross-site}}]}}], {FILTER}"],
        [f"matches: [{{queryParams: [{{name: a, value: b}}]}}], {FILTER}"],
        [f"matches: [{{path: {{value: /orders}}, method: '${{METHOD}}'}}], {FILTER}"],
    ],
)
def test_preflights_that_some_rule_takes(rules: list[str]) -> None:
    assert not fields(next(iter(CLASSES)), *rules)


CONFIGURED = {
    "VirtualService": (
        "spec.http[0]",
        """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {selector: {istio: ingressgateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
""",
        """
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: api, namespace: shop}
spec:
  hosts: [api.example.com]
  gateways: [edge]
  http:
  - match: [{uri: {regex: "/v[0-9]+/.*"}, method: {regex: METHODS}}]
    corsPolicy: {allowOrigins: [{regex: "https://.*"}], allowMethods: [GET]}
    route: [{destination: {host: checkout, port: {number: 80}}}]
""",
    ),
    "IngressRoute": (
        "spec.routes[0]",
        """
apiVersion: traefik.io/v1alpha1
kind: Middleware
metadata: {name: cross-site, namespace: shop}
spec: {headers: {accessControlAllowOriginList: ["https://www.example.com"], accessControlAllowMethods: [GET]}}
""",
        """
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: api, namespace: shop}
spec:
  entryPoints: [web]
  routes:
  - match: Host(`api.example.com`) && METHODS
    kind: Rule
    middlewares: [{name: cross-site}]
    services: [{name: checkout, port: 80}]
""",
    ),
    "Ingress": (
        "spec.rules[0].http.paths[0]",
        """
apiVersion: configuration.konghq.com/v1
kind: KongPlugin
metadata: {name: cross-site, namespace: shop}
plugin: cors
config: {origins: ["https://www.example.com"]}
""",
        """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: api, namespace: shop, annotations: {konghq.com/plugins: cross-site, konghq.com/methods: "METHODS"}}
spec:
  ingressClassName: kong
  rules:
  - host: api.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: checkout, port: {number: 80}}}}]}
""",
    ),
}
METHODS = {
    "VirtualService": ("GET|PUT", "GET|OPTIONS"),
    "IngressRoute": ("Method(`GET`)", "(Method(`GET`) || Method(`OPTIONS`))"),
    "Ingress": ("GET,POST", "GET, options"),
}


def beside(kind: str, methods: str, setter: str = "") -> list[str | None]:
    _, other, entry = CONFIGURED[kind]
    simulation = simulated(service(), setter or other, entry.replace("METHODS", methods))
    return [each.field for each in run(simulation, select={"GWP317"})]


@pytest.mark.parametrize("kind", CONFIGURED)
def test_ways_in_that_are_no_gateways(kind: str) -> None:
    named, all_methods = METHODS[kind]
    assert beside(kind, named) == [CONFIGURED[kind][0]]
    assert not beside(kind, all_methods)


@pytest.mark.parametrize(
    ("kind", "said", "otherwise"),
    [
        ("Ingress", "plugin: cors", "plugin: cors\ndisabled: true"),
        ("Ingress", "plugin: cors", "plugin: http-log"),
        ("IngressRoute", "accessControlAllowOriginList", "accessControlExposeHeaders"),
    ],
)
def test_what_answers_no_preflights(kind: str, said: str, otherwise: str) -> None:
    assert not beside(kind, METHODS[kind][0], CONFIGURED[kind][1].replace(said, otherwise))


def test_a_plugin_that_a_route_names() -> None:
    naming = route(more="rules: [{matches: [{method: GET}], backendRefs: [{name: checkout, port: 80}]}]").replace(
        "namespace: shop", "namespace: shop, annotations: {konghq.com/plugins: cross-site}", 1
    )
    plugin = CONFIGURED["Ingress"][1]
    simulation = simulated(
        gateway_class("any", "konghq.com/kic-gateway-controller"), gateway(), service(), naming, plugin
    )
    found = run(simulation, select={"GWP317"})
    assert [each.field for each in found] == ["metadata.annotations.konghq.com/plugins"]


JWT = """
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: jwt, namespace: shop}
spec: {jwtRules: [{issuer: "https://id.example.com", jwksUri: "https://id.example.com/keys"}], TARGET}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: jwt, namespace: shop}
spec: {TARGET, rules: [{from: [{source: {requestPrincipals: ["*"]}}]}MORE]}
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", ["spec.rules[0].filters[0].cors"]),
        (", {to: [{operation: {methods: [OPTIONS]}}]}", []),
        (", {to: [{operation: {methods: [PUT]}}]}", ["spec.rules[0].filters[0].cors"]),
    ],
)
def test_logins_that_come_first(more: str, said: list[str]) -> None:
    """Istio asks for tokens before its CORS filter answers, and a preflight has none (istio/istio#45716)."""
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    world = simulated(
        gateway_class("any", "istio.io/gateway-controller"),
        gateway(),
        service(),
        route(more=f"hostnames: [api.example.com], rules: [{{{FILTER}, backendRefs: [{{name: checkout, port: 80}}]}}]"),
        JWT.replace("TARGET", target).replace("MORE", more).replace("namespace: shop", "namespace: infra"),
    )
    assert [each.field for each in run(world, select={"GWP317"})] == said


TOKENS = "jwt: {providers: [{name: a, issuer: a, remoteJWKS: {uri: 'https://a.io'}}]}"
CLAIMS = "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {jwt: {provider: a}}}]}"
CORS = "cors: {allowOrigins: ['https://*.example.com']}"


@pytest.mark.parametrize(
    ("spec", "filters"), [((CORS, TOKENS), ""), ((CORS, TOKENS, CLAIMS), ""), ((TOKENS, CLAIMS), f"{FILTER}, ")]
)
def test_logins_that_come_later(spec: tuple[str, ...], filters: str) -> None:
    """Envoy Gateway answers preflights before anything is asked."""
    kind = ("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy")
    world = simulated(
        gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller"),
        gateway(),
        service(),
        route(more=f"hostnames: [api.example.com], rules: [{{{filters}backendRefs: [{{name: checkout, port: 80}}]}}]"),
        policy(*kind, "a", "HTTPRoute/checkout", ", ".join(spec), "shop", field="targetRefs"),
    )
    assert not list(run(world, select={"GWP317"}))


PROXY = """
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec:
  virtualhost:
    fqdn: shop.example.com
    corsPolicy: {allowOrigin: ["https://a.example.com"], allowMethods: [PUT]}
  routes: [{conditions: [CONDITION], services: [{name: web, port: 80}]}]
"""


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("{header: {name: x-a, exact: '1'}}", True),
        ("{header: {name: x-a, notpresent: true}}", False),
        ("{prefix: /api}", False),
    ],
)
def test_proxies_with_a_policy_and_conditions(tmp_path: Path, condition: str, told: bool) -> None:
    """Envoy's filter for other sites asks the route that takes the preflight, or its host; without one it is a 404."""
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n"
    found = [each.rule for each in lint(tmp_path, service, PROXY.replace("CONDITION", condition))]
    assert ("GWP317" in found) == told
