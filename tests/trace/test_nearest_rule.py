"""Why a request is turned away: the rule that comes nearest to letting it in, and what that rule asks for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from policylint.trace import Tracer, request
from tests import worlds
from tests.worlds import gateway, gateway_class, route, service, simulated

ROUTE = route(more="rules: [{backendRefs: [{name: checkout, port: 80}]}]")
MESH = "\n---\n".join(
    [
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}",
        worlds.manifest(
            "apps/v1",
            "Deployment",
            "web",
            "shop",
            "spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "
            "{containers: [{name: web, ports: [{containerPort: 80}]}]}}}",
        ),
        worlds.service("checkout", more="selector: {app: web}"),
    ]
)
ISTIO = (gateway_class("istio", "istio.io/gateway-controller"), gateway(of_class="istio"), ROUTE, MESH)


def authorization(rules: str) -> str:
    body = f"spec: {{selector: {{matchLabels: {{app: web}}}}, rules: [{rules}]}}"
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "only", "shop", body)


def near(*manifests: str, **asked: Any) -> tuple[str, str] | None:
    """Return the place of the nearest rule, and what it asks for."""
    found = Tracer(simulated(*manifests)).trace(request({"host": "www.example.com", "path": "/", **asked})).near_miss
    return None if found is None else (".".join(map(str, found[1].pointer)), found[1].unmet)


OF_ISTIO = {
    "to: [{operation: {paths: [/a]}}]": ("spec.rules.0", "paths: /a"),
    "to: [{operation: {paths: [/a*z]}}]": ("spec.rules.0", "paths: /a*z (a * in the middle stands for itself)"),
    "to: [{operation: {methods: [GET], paths: [/a, /b]}}]": ("spec.rules.0", "paths: /a or /b"),
    "to: [{operation: {notPaths: [/]}}]": ("spec.rules.0", "none of paths: /"),
    "when: [{key: 'request.headers[x-team]', values: [a]}]": ("spec.rules.0", "request.headers[x-team]: a"),
    "to: [{operation: {methods: [PUT]}}]}, {to: [{operation: {methods: [GET], hosts: [a.example.com]}}]": (
        "spec.rules.1",
        "hosts: a.example.com",
    ),
}


@pytest.mark.parametrize("rules", OF_ISTIO)
def test_the_first_unmet_condition_of_the_rule_that_meets_most(rules: str) -> None:
    assert near(*ISTIO, authorization(f"{{{rules}}}")) == OF_ISTIO[rules]


def test_what_lets_in_has_none_and_neither_has_what_denies() -> None:
    assert near(*ISTIO, authorization("{to: [{operation: {paths: [/]}}]}")) is None
    denies = authorization("{to: [{operation: {paths: [/]}}]}").replace("rules:", "action: DENY, rules:")
    assert near(*ISTIO, denies) is None


ENVOY_GATEWAY = (gateway_class("eg", "gateway.envoyproxy.io/gatewayclass-controller"), gateway(of_class="eg"))
KGATEWAY = (gateway_class("kg", "kgateway.dev/kgateway"), gateway(of_class="kg"))
AGENTGATEWAY = (gateway_class("ag", "agentgateway.dev/agentgateway"), gateway(of_class="ag"))
OTHERS = {
    "an address of Envoy Gateway": (
        ENVOY_GATEWAY,
        worlds.policy(
            "gateway.envoyproxy.io/v1alpha1",
            "SecurityPolicy",
            "only",
            "HTTPRoute/checkout",
            "authorization: {defaultAction: Deny, rules: "
            "[{action: Allow, operation: {methods: [GET]}, principal: {clientCIDRs: [10.0.0.0/8]}}]}",
            "shop",
        ),
        ("authorization.rules.0", "clientCIDRs: 10.0.0.0/8"),
    ),
    "an address of kgateway": (
        KGATEWAY,
        worlds.policy(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "only",
            "HTTPRoute/checkout",
            "acl: {defaultAction: deny, rules: [{action: allow, cidrs: [10.0.0.0/8]}]}",
            "shop",
        ),
        ("acl.rules.0", "cidrs: 10.0.0.0/8"),
    ),
    "an expression of kgateway": (
        KGATEWAY,
        worlds.policy(
            "gateway.kgateway.dev/v1alpha1",
            "TrafficPolicy",
            "only",
            "HTTPRoute/checkout",
            "rbac: {policy: {matchExpressions: ['request.method == \"PUT\"']}}",
            "shop",
        ),
        ("rbac.policy.matchExpressions", 'request.method == "PUT"'),
    ),
    "an expression of agentgateway": (
        AGENTGATEWAY,
        worlds.policy(
            "agentgateway.dev/v1alpha1",
            "AgentgatewayPolicy",
            "only",
            "HTTPRoute/checkout",
            "traffic: {authorization: {action: Require, policy: {matchExpressions: ['request.path == \"/a\"']}}}",
            "shop",
        ),
        ("traffic.authorization", 'request.path == "/a"'),
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_every_implementation_that_judges_requests_says_it(case: str) -> None:
    world, policy, expected = OTHERS[case]
    assert near(*world, ROUTE, service(), policy, address="192.0.2.1") == expected


EQUALS = "selector: context.request.http.{field}, operator: eq, value: {value}"
OF_KUADRANT = {
    "patterns: [{predicate: 'request.method == \"GET\"'}, {predicate: 'request.path == \"/a\"'}]": (
        'only: predicate: request.path == "/a"'
    ),
    f"patterns: [{{patternRef: read}}, {{{EQUALS.format(field='path', value='/')}}}]": (
        "only: selector: context.request.http.method, operator: eq, value: PUT"
    ),
    f"patterns: [{{all: [{{{EQUALS.format(field='method', value='GET')}}}, "
    f"{{{EQUALS.format(field='path', value='/b')}}}]}}]": (
        "only: selector: context.request.http.path, operator: eq, value: /b"
    ),
    f"patterns: [{{any: [{{{EQUALS.format(field='path', value='/a')}}}]}}]": (
        "only: any: selector: context.request.http.path, operator: eq, value: /a"
    ),
}


@pytest.mark.parametrize("patterns", OF_KUADRANT)
def test_the_first_pattern_of_kuadrant_that_does_not_match(patterns: str) -> None:
    rules = f"{{authorization: {{open: {{opa: {{rego: allow = true}}}}, only: {{patternMatching: {{{patterns}}}}}}}}}"
    named = f"patterns: {{read: {{allOf: [{{{EQUALS.format(field='method', value='PUT')}}}]}}}}"
    policy = worlds.policy(
        "kuadrant.io/v1",
        "AuthPolicy",
        "only",
        "HTTPRoute/checkout",
        f"{named}, rules: {rules}",
        "shop",
        field="targetRef",
    )
    assert near(*ISTIO[:3], service(), policy) == ("rules.authorization.only", OF_KUADRANT[patterns])


def pods(name: str, inject: str = "enabled") -> str:
    template = (
        f"{{metadata: {{labels: {{app: {name}}}, annotations: {{linkerd.io/inject: {inject}}}}}, "
        f"spec: {{serviceAccountName: {name}, containers: [{{name: c, image: i, ports: [{{containerPort: 80}}]}}]}}}}"
    )
    body = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {template}}}"
    return worlds.manifest("apps/v1", "Deployment", name, "shop", body)


def linkerd(kind: str, name: str, spec: str, version: str = "v1alpha1") -> str:
    return worlds.manifest(f"policy.linkerd.io/{version}", kind, name, "shop", f"spec: {{{spec}}}")


def asking(name: str, *kinds: str) -> str:
    references = ", ".join(
        f"{{group: policy.linkerd.io, kind: {kind}, name: {named}}}"
        for kind, _, named in (each.partition(" ") for each in kinds)
    )
    target = "targetRef: {group: policy.linkerd.io, kind: Server, name: web}"
    return linkerd("AuthorizationPolicy", name, f"{target}, requiredAuthenticationRefs: [{references}]")


SERVED = (
    pods("web"),
    pods("cart"),
    service("web", more="selector: {app: web}"),
    linkerd("Server", "web", "podSelector: {matchLabels: {app: web}}, port: 80", "v1beta3"),
    linkerd("MeshTLSAuthentication", "cart", "identities: ['cart.shop.serviceaccount.identity.linkerd.cluster.local']"),
    linkerd("MeshTLSAuthentication", "admin", "identityRefs: [{kind: ServiceAccount, name: admin}]"),
    linkerd("NetworkAuthentication", "office", "networks: [{cidr: 10.0.0.0/8}]"),
)
OF_LINKERD = {
    (asking("a", "MeshTLSAuthentication admin"),): (
        "a",
        "MeshTLSAuthentication shop/admin: identityRefs: kind: ServiceAccount, name: admin",
    ),
    (
        asking("a", "MeshTLSAuthentication admin"),
        asking("b", "MeshTLSAuthentication cart", "NetworkAuthentication office"),
    ): (
        "b",
        "NetworkAuthentication shop/office: networks: cidr: 10.0.0.0/8",
    ),
    (asking("a", "MeshTLSAuthentication gone"),): ("a", "MeshTLSAuthentication shop/gone, which does not exist"),
}


@pytest.mark.parametrize("policies", OF_LINKERD)
def test_the_first_authentication_of_linkerd_that_does_not_hold(policies: tuple[str, ...]) -> None:
    simulation = simulated(*SERVED, *policies)
    asked = {"service": "shop/web", "client": "Deployment/shop/cart", "address": "192.0.2.1"}
    found = Tracer(simulation).trace(request(asked)).near_miss
    assert found is not None and found[0] is not None
    assert (found[0].name, found[1].unmet) == OF_LINKERD[policies]


def of_agentgateway(expression: str, action: str = "Allow") -> str:
    """Return a policy that checks tokens and lets in by an expression."""
    return worlds.policy(
        "agentgateway.dev/v1alpha1",
        "AgentgatewayPolicy",
        "only",
        "HTTPRoute/checkout",
        "traffic: {jwtAuthentication: {providers: [{issuer: 'https://id.example', jwks: {inline: '{}'}}]}, "
        f"authorization: {{action: {action}, policy: {{matchExpressions: ['{expression}']}}}}}}",
        "shop",
    )


KEYS = '{"keys":[{"kty":"RSA"}]}'


def of_kgateway(expression: str, provider: str = "") -> tuple[str, str]:
    """Return a policy that lets in by an expression, and the extension that checks its tokens."""
    stated = f"name: id, issuer: 'https://id.example', jwks: {{local: {{inline: '{KEYS}'}}}}{provider}"
    extension = f"spec: {{type: JWT, jwt: {{providers: [{{{stated}}}]}}}}"
    return worlds.policy(
        "gateway.kgateway.dev/v1alpha1",
        "TrafficPolicy",
        "only",
        "HTTPRoute/checkout",
        f"jwtAuth: {{extensionRef: {{name: id}}}}, rbac: {{policy: {{matchExpressions: ['{expression}']}}}}",
        "shop",
    ), worlds.manifest("gateway.kgateway.dev/v1alpha1", "GatewayExtension", "id", "shop", extension)


def of_kuadrant(pattern: str, more: str = "") -> str:
    return worlds.policy(
        "kuadrant.io/v1",
        "AuthPolicy",
        "only",
        "HTTPRoute/checkout",
        f"rules: {{authentication: {{idp: {{jwt: {{issuerUrl: 'https://id.example'}}{more}}}}}, "
        f"authorization: {{team: {{patternMatching: {{patterns: [{pattern}]}}}}}}}}",
        "shop",
        field="targetRef",
    )


def answer(policy: str, claims: dict[str, list[str]]) -> str:
    """Return what the authorization of a policy answers a token with some claims."""
    front = ISTIO[:2] if "kuadrant.io/" in policy else AGENTGATEWAY
    asked = {"host": "www.example.com", "path": "/", "claims": claims}
    trace = Tracer(simulated(*front, ROUTE, service(), policy)).trace(request(asked))
    return "denied" if trace.outcome.status == 403 else "depends" if trace.depends else "allowed"


ADMIN, USER, NOBODY = {"role": ["admin"]}, {"role": ["user"]}, {"sub": ["joe"]}
LETS_IN = ("allowed", "denied", "denied")
"""What a token of an admin, of a user, and one without the claim is answered."""
OF_CLAIMS = {
    'jwt.role == "admin"': LETS_IN,
    'jwt["role"] == "admin"': LETS_IN,
    '"admin" in jwt.role': LETS_IN,
    'jwt.role in ["owner", "admin"]': LETS_IN,
    'jwt.role.startsWith("ad")': LETS_IN,
    'jwt.role.exists(each, each == "admin")': LETS_IN,
    'has(jwt.role) && jwt.role == "admin"': LETS_IN,
    'jwt.role != "user"': LETS_IN,
    '!(jwt.role == "user")': LETS_IN,
    'jwt.role == "admin" || jwt.sub == "joe"': ("allowed", "denied", "allowed"),
    "has(jwt.role)": ("allowed", "allowed", "denied"),
    "!has(jwt.role)": ("denied", "denied", "allowed"),
}


@pytest.mark.parametrize("expression", OF_CLAIMS)
def test_expressions_about_claims_decide_where_the_token_is_stated(expression: str) -> None:
    """What asks for a claim that the token lacks fails, and an expression that fails does not hold."""
    policy = of_agentgateway(expression)
    assert tuple(answer(policy, claims) for claims in (ADMIN, USER, NOBODY)) == OF_CLAIMS[expression]


@pytest.mark.parametrize("read", ['{0}["role"] == "admin"', '{0}.role == "admin"', '"admin" in {0}.role'])
def test_expressions_of_kgateway_find_claims_in_the_metadata(read: str) -> None:
    payload = 'metadata.filter_metadata["envoy.filters.http.jwt_authn"]["payload"]'
    manifests = (*KGATEWAY, ROUTE, service(), *of_kgateway(read.format(payload)))
    for claims, status in ((ADMIN, None), (USER, 403), (NOBODY, 403)):
        asked = request({"host": "www.example.com", "path": "/", "claims": claims})
        assert Tracer(simulated(*manifests)).trace(asked).outcome.status == status


@pytest.mark.parametrize(
    ("provider", "gone"),
    [
        ("", ["Authorization"]),
        (", tokenSource: {header: {header: x-token}}", ["x-token"]),
        (", forwardToken: true", []),
        (", tokenSource: {queryParameter: token}", []),
    ],
)
def test_what_kgateway_takes_off_a_request_stands_in_its_extension(provider: str, gone: list[str]) -> None:
    manifests = (*KGATEWAY, ROUTE, service(), *of_kgateway("true", provider))
    trace = Tracer(simulated(*manifests)).trace(request({"host": "www.example.com", "path": "/"}))
    taken = [note.split(" takes ")[1].split(" off ")[0] for note in trace.notes if " off the request" in note]
    assert taken == gone


def test_a_deny_that_fails_keeps_nobody_out() -> None:
    policy = of_agentgateway('jwt.role == "user"', "Deny")
    assert [answer(policy, claims) for claims in (ADMIN, USER, NOBODY)] == ["allowed", "denied", "allowed"]


def test_claims_decide_nothing_where_no_token_is_checked() -> None:
    checked = of_agentgateway('jwt.role == "admin"')
    unchecked = re.sub(r"jwtAuthentication: .*}, (?=authorization)", "", checked)
    assert (answer(checked, USER), answer(unchecked, USER)) == ("denied", "depends")


OF_IDENTITY = {
    "{predicate: 'auth.identity.role == \"admin\"'}": LETS_IN,
    "{selector: auth.identity.role, operator: eq, value: admin}": LETS_IN,
    "{selector: auth.identity.role, operator: incl, value: admin}": LETS_IN,
    "{selector: auth.identity.role, operator: excl, value: user}": ("allowed", "denied", "allowed"),
}


@pytest.mark.parametrize("pattern", OF_IDENTITY)
def test_patterns_about_the_identity_of_a_token_decide(pattern: str) -> None:
    assert tuple(answer(of_kuadrant(pattern), claims) for claims in (ADMIN, USER, NOBODY)) == OF_IDENTITY[pattern]


@pytest.mark.parametrize(
    "more",
    [", overrides: {role: {value: admin}}", "}, key: {apiKey: {selector: {matchLabels: {app: key}}}"],
    ids=["overridden", "several sorts"],
)
def test_an_identity_that_is_not_the_token_alone_decides_nothing(more: str) -> None:
    policy = of_kuadrant("{predicate: 'auth.identity.role == \"admin\"'}", more)
    assert answer(policy, USER) == "depends"


def test_a_token_is_asked_for_its_issuer_before_its_claims() -> None:
    policy = worlds.manifest(
        "gateway.envoyproxy.io/v1alpha1",
        "SecurityPolicy",
        "only",
        "shop",
        "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}], "
        "jwt: {providers: [{name: id, issuer: 'https://id.example', remoteJWKS: {uri: 'https://id.example/keys'}}]}, "
        "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {jwt: {provider: id, "
        "claims: [{name: role, values: [admin]}], scopes: [shop]}}}]}}",
    )
    manifests = (*ENVOY_GATEWAY, ROUTE, service("checkout"), policy)
    place = "authorization.rules.0"
    asks = "a token of provider id (claim iss: https://id.example)"
    assert near(*manifests, claims={"role": ["admin"]}) == (place, f"jwt: {asks}")
    mine = {"iss": ["https://id.example"]}
    assert near(*manifests, claims={**mine, "role": ["user"]}) == (place, "jwt: claim role: admin")
    assert near(*manifests, claims={**mine, "role": ["admin"]}) == (place, "jwt: scope shop")
