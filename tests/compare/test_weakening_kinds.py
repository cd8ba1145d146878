"""GWP304 for Kuadrant, agentgateway, kgateway, NGINX Gateway Fabric, Gloo and BackendTLSPolicy."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests.checks.linting import GATEWAY, SERVICE, route
from tests.compare.test_weakening import JWT, WORLD, assert_is, of, said, security, sides, weakened
from tests.worlds import manifest

ON_ROUTE = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]\n  "


def agent(spec: str) -> str:
    return of("agentgateway.dev", "AgentgatewayPolicy", ON_ROUTE + spec)


def traffic(spec: str) -> str:
    return of("gateway.kgateway.dev", "TrafficPolicy", ON_ROUTE + spec)


def auth(spec: str) -> str:
    return of(
        "kuadrant.io",
        "AuthPolicy",
        ON_ROUTE.replace("targetRefs: [", "targetRef: ").replace("]", "") + spec,
        version="v1",
    )


NAMED_KEYS = "apiKey: {selector: {matchLabels: {app: shop, tier: gold}}}"
KEYS = f"authentication: {{keys: {{{NAMED_KEYS}}}}}"
ADMINS = "authorization: {admins: {patternMatching: {patterns: [{selector: a, operator: eq, value: b}, "
ADMINS += "{any: [{selector: c, operator: eq, value: d}]}]}}}"
KUADRANT = [
    (
        f"rules: {{{KEYS}}}",
        f"rules: {{{KEYS}}}\n  when: [{{predicate: \"request.path != '/'\"}}]",
        ("warning", "when of AuthPolicy shop/login gains"),
    ),
    (f"rules: {{{KEYS}}}\n  when: [{{predicate: auth.a}}]", f"rules: {{{KEYS}}}", None),
    (
        f"rules: {{{KEYS}}}",
        f"rules: {{authentication: {{keys: {{{NAMED_KEYS}}}, any: {{anonymous: {{}}}}}}}}",
        ("error", "rules.authentication.any.anonymous of AuthPolicy shop/login is new, "),
    ),
    (
        f"rules: {{{KEYS}, {ADMINS}}}",
        f"rules: {{authentication: {{keys: {{anonymous: {{}}}}}}, {ADMINS}}}",
        ("warning", "rules.authentication.keys.anonymous of AuthPolicy shop/login is new"),
    ),
    (
        f"rules: {{{KEYS}}}",
        f"rules: {{authentication: {{keys: {{{NAMED_KEYS}}}, jwt: {{jwt: {{issuerUrl: x}}}}}}}}",
        ("warning", "rules.authentication of AuthPolicy shop/login gains jwt, one more kind of credentials will do"),
    ),
    (f"rules: {{{KEYS}}}", "rules: {authentication: {jwt: {jwt: {issuerUrl: x}}}}", None),
    (
        f"rules: {{{KEYS}}}",
        "rules: {authentication: {keys: {apiKey: {selector: {matchLabels: {app: shop}}}}}}",
        ("error", "rules.authentication.keys.apiKey.selector.matchLabels of AuthPolicy shop/login loses tier"),
    ),
    (f"rules: {{{KEYS}, {ADMINS}}}", f"rules: {{{KEYS}}}", None),  # GWP302: no authorization is left
    (
        f"rules: {{{KEYS}, {ADMINS}}}",
        f"rules: {{{KEYS}, {ADMINS[:-2]}, when: [{{predicate: x}}]}}}}}}",
        ("warning", "rules.authorization.admins.when of AuthPolicy shop/login gains"),
    ),
    (
        f"rules: {{{KEYS}, {ADMINS}}}",
        f"rules: {{{KEYS}, {ADMINS.replace('value: d}', 'value: d}, {selector: e}')}}}",
        ("warning", "rules.authorization.admins.patternMatching.patterns[1].any of AuthPolicy shop/login gains"),
    ),
    (f"rules: {{{KEYS}, {ADMINS}}}", f"rules: {{{KEYS}, {ADMINS.replace('value: b', 'value: c')}}}", None),
    (f"rules: {{{KEYS}}}", f"rules: {{{KEYS}, {ADMINS}}}", None),
]


@pytest.mark.parametrize(("before", "after", "expected"), KUADRANT)
def test_auth_policy(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    world = (GATEWAY.replace("envoy", "istio"), *WORLD[1:])
    assert_is(said(weakened(tmp_path, (*world, auth(before)), (*world, auth(after)))), expected)


PROVIDER = "providers: [{issuer: https://a, jwks: {inline: x}}]"


def tokens(mode: str = "") -> str:
    return f"traffic: {{jwtAuthentication: {{{mode}{PROVIDER}}}}}"


def rules(expressions: str, action: str = "Allow") -> str:
    return f"action: {action}, policy: {{matchExpressions: [{expressions}]}}"


AGENT = [
    (
        tokens(),
        tokens("mode: Optional, "),
        ("error", "traffic.jwtAuthentication.mode of AgentgatewayPolicy shop/login goes from Strict to Optional"),
    ),
    (
        tokens("mode: Optional, "),
        f"traffic: {{jwtAuthentication: {{mode: Permissive, {PROVIDER}}}, extAuth: {{}}}}",
        ("warning", "traffic.jwtAuthentication.mode of AgentgatewayPolicy shop/login goes from Optional to Permissive"),
    ),
    (tokens("mode: Optional, "), tokens(), None),
    (
        f"traffic: {{jwtAuthentication: {{{PROVIDER}}}, timeouts: {{request: 1s}}}}",
        "traffic: {timeouts: {request: 1s}}",
        ("error", "traffic.jwtAuthentication of AgentgatewayPolicy shop/login is gone, it is asked for no longer"),
    ),
    (tokens(), "traffic: {extAuth: {backendRef: {name: a, port: 80}, grpc: {}}}", None),
    # validate() of crates/agentgateway/src/http/authorization.rs: one rule of Allow lets in, one of Deny keeps out, and
    # every one of Require must hold.
    *(
        (
            f"{holder}: {{{rules('a, b', action)}}}{end}",
            f"{holder}: {{{rules('a', action)}}}{end}",
            lost and ("warning", lost),
        )
        for holder, end, place in (
            ("traffic: {authorization", "}", "traffic.authorization"),
            ("backend: {mcp: {authorization", "}}", "backend.mcp.authorization"),
        )
        for action, lost in (
            ("Allow", None),
            (
                "Require",
                f"{place}.policy.matchExpressions of AgentgatewayPolicy shop/login loses b, the rule asks for less",
            ),
            (
                "Deny",
                f"{place}.policy.matchExpressions of AgentgatewayPolicy shop/login loses b, what it denied",
            ),
        )
    ),
    (
        f"traffic: {{authorization: {{{rules('a')}}}}}",
        f"traffic: {{authorization: {{{rules('a, b')}}}}}",
        (
            "warning",
            "traffic.authorization.policy.matchExpressions of AgentgatewayPolicy shop/login gains b, one more",
        ),
    ),
    (
        f"traffic: {{authorization: {{{rules('a', 'Require')}}}}}",
        f"traffic: {{authorization: {{{rules('a, b', 'Require')}}}}}",
        None,
    ),
    (
        f"traffic: {{authorization: {{{rules('a', 'Deny')}}}}}",
        f"traffic: {{authorization: {{{rules('a, b', 'Deny')}}}}}",
        None,
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), AGENT)
def test_agentgateway_policy(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    world = (GATEWAY.replace("envoy", "agentgateway"), *WORLD[1:])
    assert_is(said(weakened(tmp_path, (*world, agent(before)), (*world, agent(after)))), expected)


@pytest.mark.parametrize("action", ["Require", "Deny"])
def test_agentgateway_policy_before_routing(tmp_path: Path, action: str) -> None:
    world = (GATEWAY.replace("envoy", "agentgateway"), *WORLD[1:])
    before, after = (
        agent(f"traffic: {{phase: PreRouting, authorization: {{{rules(each, action)}}}}}")
        .replace("HTTPRoute, name: checkout", "Gateway, name: edge")
        .replace("namespace: shop", "namespace: infra")
        for each in ("a, b", "a")
    )
    (told,) = said(weakened(tmp_path, (*world, before), (*world, after)))
    assert "authorization.policy.matchExpressions of" in told[1] and "loses b" in told[1]


HASH = "{SHA}fDYHuOYbzxlE6ehQOmYPIfS28/E="
KGATEWAY = [
    (
        "rbac: {policy: {matchExpressions: [a]}}",
        "rbac: {policy: {matchExpressions: [a, b]}}",
        ("warning", "rbac.policy.matchExpressions of TrafficPolicy shop/login gains b, one more expression will do"),
    ),
    (
        "rbac: {action: Deny, policy: {matchExpressions: [a]}}",
        "rbac: {action: Deny, policy: {matchExpressions: [a, b]}}",
        None,
    ),
    (
        "rbac: {action: Deny, policy: {matchExpressions: [a, b]}}",
        "rbac: {action: Deny, policy: {matchExpressions: [a]}}",
        ("warning", "rbac.policy.matchExpressions of TrafficPolicy shop/login loses b"),
    ),
    (
        "acl: {defaultAction: deny}",
        "acl: {defaultAction: allow}",
        ("error", "acl.defaultAction of TrafficPolicy shop/login goes from deny to allow"),
    ),
    (
        "acl: {defaultAction: deny, rules: [{name: a, action: allow, cidrs: [10.0.0.0/8]}]}",
        "acl: {defaultAction: deny, rules: [{name: a, action: allow, cidrs: [0.0.0.0/0]}]}",
        ("error", "acl.rules[0].cidrs of TrafficPolicy shop/login now holds 0.0.0.0/0"),
    ),
    (
        "acl: {defaultAction: deny, rules: [{name: a, action: allow, cidrs: [10.0.0.0/8]}]}",
        "acl: {defaultAction: deny, rules: [{name: a, action: deny, cidrs: [0.0.0.0/0]}]}",
        None,
    ),
    (
        f"basicAuth: {{users: ['a:{HASH}']}}",
        f"basicAuth: {{users: ['a:{HASH}', 'b:{HASH}']}}",
        ("note", "basicAuth.users of TrafficPolicy shop/login gains b, one more user may log in"),
    ),
    (f"basicAuth: {{users: ['a:{HASH}']}}", f"basicAuth: {{users: ['b:{HASH}']}}", None),
]


@pytest.mark.parametrize(("before", "after", "expected"), KGATEWAY)
def test_traffic_policy(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    world = (GATEWAY.replace("envoy", "kgateway"), *WORLD[1:])
    assert_is(said(weakened(tmp_path, (*world, traffic(before)), (*world, traffic(after)))), expected)


def test_a_gateway_extension_is_weaker_for_those_who_name_it(tmp_path: Path) -> None:
    def extension(spec: str, name: str = "idp") -> str:
        return of("gateway.kgateway.dev", "GatewayExtension", spec, name)

    world = (GATEWAY.replace("envoy", "kgateway"), *WORLD[1:], traffic("jwtAuth: {extensionRef: {name: idp}}"))
    strict, missing = extension("jwt: {providers: []}"), extension("jwt: {validationMode: AllowMissing, providers: []}")
    (found,) = weakened(tmp_path, (*world, strict), (*world, missing))
    assert found.message == (
        "HTTPRoute shop/checkout has no authentication in effect any more: spec.jwt.validationMode of GatewayExtension "
        "shop/idp goes from Strict to AllowMissing, requests without a token pass"
    )
    assert weakened(tmp_path, (*world, missing), (*world, strict)) == []
    other = (extension("jwt: {}", "other"), extension("jwt: {validationMode: AllowMissing}", "other"))
    assert weakened(tmp_path, (*world, strict, other[0]), (*world, strict, other[1])) == []


def test_a_filter_of_nginx_is_weaker_for_the_rules_that_name_it(tmp_path: Path) -> None:
    def filtering(require: str) -> str:
        return of("gateway.nginx.org", "AuthenticationFilter", f"jwt: {{authorization: {{require: {require}}}}}", "idp")

    reference = "{group: gateway.nginx.org, kind: AuthenticationFilter, name: idp}"
    named = f"filters: [{{type: ExtensionRef, extensionRef: {reference}}}]"
    of_route = route().replace("backendRefs", f"{named}\n      backendRefs", 1)
    world = (GATEWAY.replace("envoy", "nginx"), of_route, SERVICE)
    (found,) = weakened(tmp_path, (*world, filtering("All")), (*world, filtering("Any")))
    assert found.message.startswith("HTTPRoute shop/checkout is less protected in 1 of its 2 rules: spec.jwt.auth")
    assert weakened(tmp_path, (*world, filtering("Any")), (*world, filtering("All"))) == []


IDP = (
    "jwt: {{providers: [{{name: id, issuer: 'https://id.example.com', jwks: {{remote: {{url: 'https://{}/jwks'}}}}}}]}}"
)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            IDP.format("id.example.com"),
            IDP.format("keys.example.net"),
            "goes from https://id.example.com to https://keys.",
        ),
        (IDP.format("id.example.com"), IDP.format("ID.example.com:443"), None),
        (
            'jwt: {providers: [{name: id, jwks: {local: {inline: \'{"keys": [{"kid": "a"}]}\'}}}]}',
            'jwt: {providers: [{name: id, jwks: {local: {inline: \'{"keys": [{"kid": "b"}]}\'}}}]}',
            "holds other keys, tokens that other keys signed are taken",
        ),
    ],
)
def test_by_whose_keys_an_extension_goes(tmp_path: Path, before: str, after: str, expected: str | None) -> None:
    def extension(spec: str) -> str:
        return of("gateway.kgateway.dev", "GatewayExtension", spec, "idp")

    world = (GATEWAY.replace("envoy", "kgateway"), *WORLD[1:], traffic("jwtAuth: {extensionRef: {name: idp}}"))
    found = said(weakened(tmp_path, (*world, extension(before)), (*world, extension(after))))
    field = "local.inline" if expected and "holds" in expected else "remote.url"
    message = f"spec.jwt.providers[0].jwks.{field} of GatewayExtension shop/idp {expected}"
    assert_is(found, expected and ("warning", message))


def limited(group: str, kind: str, spec: str, version: str = "v1alpha1") -> str:
    target = (
        ON_ROUTE
        if kind != "RateLimitPolicy" or group != "kuadrant.io"
        else ON_ROUTE.replace("targetRefs: [", "targetRef: ").replace("]", "")
    )
    return of(group, kind, target + spec, version=version)


def of_envoy(rules: str) -> str:
    return limited(
        "gateway.envoyproxy.io", "BackendTrafficPolicy", f"rateLimit: {{type: Local, local: {{rules: [{rules}]}}}}"
    )


def of_kuadrant(limits: str) -> str:
    return limited("kuadrant.io", "RateLimitPolicy", f"limits: {{{limits}}}", "v1")


def of_kgateway(bucket: str) -> str:
    return limited("gateway.kgateway.dev", "TrafficPolicy", f"rateLimit: {{local: {{tokenBucket: {{{bucket}}}}}}}")


def of_agentgateway(local: str) -> str:
    return limited("agentgateway.dev", "AgentgatewayPolicy", f"traffic: {{rateLimit: {{local: [{local}]}}}}")


def of_nginx(rule: str) -> str:
    return limited("gateway.nginx.org", "RateLimitPolicy", f"rateLimit: {{local: {{rules: [{rule}]}}}}")


TEN, HUNDRED = "{limit: {requests: 10, unit: Minute}}", "{limit: {requests: 100, unit: Minute}}"
BOT = "{clientSelectors: [{headers: [{name: x-bot, value: a}]}], limit: {requests: 10, unit: Minute}}"
LIMITS = [
    ("envoy", of_envoy(TEN), of_envoy(HUNDRED), "goes from 10 per Minute to 100 per Minute, more requests pass"),
    ("envoy", of_envoy(HUNDRED), of_envoy(TEN), None),
    ("envoy", of_envoy(TEN), of_envoy("{limit: {requests: 600, unit: Hour}}"), None),
    ("envoy", of_envoy(f"{BOT}, {HUNDRED}"), of_envoy(HUNDRED), "loses"),
    (
        "envoy",
        of_envoy(TEN),
        "",
        "rateLimit of BackendTrafficPolicy shop/login is gone, requests are no longer limited",
    ),
    (
        "istio",
        of_kuadrant("a: {rates: [{limit: 5, window: 10s}]}"),
        of_kuadrant("a: {rates: [{limit: 5, window: 1s}]}"),
        "goes from 5 per 10s to 5 per 1s",
    ),
    (
        "istio",
        of_kuadrant("a: {rates: [{limit: 5, window: 10s}]}"),
        of_kuadrant("a: {rates: [{limit: 30, window: 1m}]}"),
        None,
    ),
    (
        "istio",
        of_kuadrant("a: {rates: [{limit: 5, window: 1s}]}, b: {rates: [{limit: 9, window: 1s}]}"),
        of_kuadrant("a: {rates: [{limit: 5, window: 1s}]}"),
        "limits of RateLimitPolicy shop/login loses b",
    ),
    (
        "kgateway",
        of_kgateway("maxTokens: 5, tokensPerFill: 5, fillInterval: 1m"),
        of_kgateway("maxTokens: 5, tokensPerFill: 5, fillInterval: 1s"),
        "goes from 5 per 1m to 5 per 1s",
    ),
    ("kgateway", of_kgateway("maxTokens: 5, fillInterval: 1m"), of_kgateway("maxTokens: 3, fillInterval: 1m"), None),
    (
        "agentgateway",
        of_agentgateway("{requests: 5, unit: Minutes}"),
        of_agentgateway("{requests: 6, unit: Seconds}"),
        "goes from 5 per Minutes to 6 per Seconds",
    ),
    ("nginx", of_nginx("{rate: 5r/s, key: a}"), of_nginx("{rate: 500r/s, key: a}"), "goes from 5r/s to 500r/s"),
    ("nginx", of_nginx("{rate: 5r/s, key: a}"), of_nginx("{rate: 300r/m, key: a}"), None),
]


@pytest.mark.parametrize(("controller", "before", "after", "expected"), LIMITS)
def test_limits(tmp_path: Path, controller: str, before: str, after: str, expected: str | None) -> None:
    world = (GATEWAY.replace("envoy", controller), *WORLD[1:])
    found = said(weakened(tmp_path, (*world, before), (*world, *filter(None, [after]))))
    assert [severity for severity, _ in found] == ([] if expected is None else ["warning"])
    assert all(expected in message for _, message in found if expected)


VIRTUAL_HOST, ROUTE_OPTION = "VirtualHostOption", "RouteOption"


def gloo(kind: str, options: str) -> str:
    target = ON_ROUTE if kind == "RouteOption" else ON_ROUTE.replace("HTTPRoute, name: checkout", "Gateway, name: edge")
    place = "shop" if kind == "RouteOption" else "infra"
    return of("gateway.solo.io", kind, f"{target}options: {{{options}}}", namespace=place, version="v1")


STAGED = "jwtStaged: {afterExtAuth: {providers: {a: {issuer: x}}%s}}"
GLOO = [
    (
        gloo(VIRTUAL_HOST, STAGED % ""),
        gloo(VIRTUAL_HOST, STAGED % ", validationPolicy: ALLOW_MISSING"),
        ("error", "options.jwtStaged.afterExtAuth.validationPolicy of VirtualHostOption infra/login goes from "),
    ),
    (gloo(VIRTUAL_HOST, STAGED % ""), gloo(VIRTUAL_HOST, STAGED % ", validationPolicy: REQUIRE_VALID"), None),
    (
        gloo(VIRTUAL_HOST, "extauth: {configRef: {name: a}}"),
        gloo(VIRTUAL_HOST, "headerManipulation: {}"),
        ("error", "options.extauth of VirtualHostOption infra/login is gone"),
    ),
    (
        gloo(VIRTUAL_HOST, STAGED % ""),
        gloo(ROUTE_OPTION, "extauth: {disable: true}") + "---" + gloo(VIRTUAL_HOST, STAGED % ""),
        ("warning", "options.extauth.disable of RouteOption shop/login goes from false to true"),
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), GLOO)
def test_gloo_options(tmp_path: Path, before: str, after: str, expected: tuple[str, str] | None) -> None:
    world = (GATEWAY.replace("envoy", "gloo-gateway"), *WORLD[1:])
    assert_is(said(weakened(tmp_path, (*world, before), (*world, after))), expected)


KONG = [
    ("key-auth", "key_names: [k]", "key_names: [k], run_on_preflight: false", "config.run_on_preflight"),
    ("jwt", "run_on_preflight: false", "run_on_preflight: true", ""),
    ("key-auth", "key_names: [k]", "key_names: [k], run_on_preflight: true", ""),
    ("rate-limiting", "fault_tolerant: false", "policy: local", "config.fault_tolerant"),
    ("rate-limiting", "policy: local", "fault_tolerant: true", ""),
]


@pytest.mark.parametrize(("plugin", "before", "after", "expected"), KONG)
@pytest.mark.parametrize("kind", ["KongPlugin", "KongClusterPlugin"])
def test_whom_a_plugin_of_kong_lets_pass(
    tmp_path: Path, kind: str, plugin: str, before: str, after: str, expected: str
) -> None:
    """Its defaults: `run_on_preflight` and `fault_tolerant` are true where they do not stand there."""
    gateway = GATEWAY.replace("gatewayClassName: envoy", "gatewayClassName: kong")
    named = WORLD[1].replace("namespace: shop}", "namespace: shop, annotations: {konghq.com/plugins: login}}", 1)
    namespace = "" if kind == "KongClusterPlugin" else "shop"
    worlds = [
        (gateway, named, SERVICE, manifest("configuration.konghq.com/v1", kind, "login", namespace, written))
        for fields in (before, after)
        for written in (f"plugin: {plugin}\nconfig: {{{fields}}}",)
    ]
    found = said(weakened(tmp_path, *worlds))
    assert [message.startswith(f"{expected} of {kind}") and severity for severity, message in found] == ["warning"][
        : bool(expected)
    ]


def test_a_backend_that_is_verified_no_longer(tmp_path: Path) -> None:
    spec = """targetRefs: [{group: '', kind: Service, name: checkout}]
  validation: {hostname: a, wellKnownCACertificates: System}"""
    tls = of("gateway.networking.k8s.io", "BackendTLSPolicy", spec, version="v1")
    (found,) = weakened(tmp_path, (*WORLD, tls), WORLD)
    assert found.message == (
        "HTTPRoute shop/checkout is less protected: validation of BackendTLSPolicy shop/login is gone, nobody verifies "
        "who answers for the backend"
    )
    assert weakened(tmp_path, WORLD, (*WORLD, tls)) == []


def test_authorization_that_goes_while_the_login_stays_is_a_loss(tmp_path: Path) -> None:
    world = (GATEWAY.replace("envoy", "istio"), *WORLD[1:])
    pair = sides(tmp_path, (*world, auth(f"rules: {{{KEYS}, {ADMINS}}}")), (*world, auth(f"rules: {{{KEYS}}}")))
    (finding,) = removed_protections([pair], compare([pair]), {"GWP302"})
    assert (finding.severity, finding.message) == (
        "error",
        "HTTPRoute shop/checkout loses its authorization: rules of AuthPolicy shop/login",
    )


LIMITS = [
    of("gateway.envoyproxy.io", "BackendTrafficPolicy", ON_ROUTE + "rateLimit: {local: {rules: [LIMIT]}}").replace(
        "LIMIT", "{limit: {requests: 5, unit: Second}}"
    ),
    of(
        "kuadrant.io",
        "RateLimitPolicy",
        ON_ROUTE.replace("targetRefs: [", "targetRef: ").replace("]", "")
        + "limits: {all: {rates: [{limit: 5, window: 1s}]}}",
        version="v1",
    ),
]


@pytest.mark.parametrize("limit", LIMITS, ids=["Envoy Gateway", "Kuadrant"])
def test_a_login_of_another_policy_is_no_limit(tmp_path: Path, limit: str) -> None:
    login = security(f"jwt: {{{JWT}}}")
    (one,) = weakened(tmp_path, (*WORLD, limit, login), (*WORLD, login))
    assert one.severity == "warning"
    assert "HTTPRoute shop/checkout is less protected" in one.message
