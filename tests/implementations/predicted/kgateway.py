"""kgateway: which TrafficPolicies act on a request, what they refuse, what extensions, filters and delegation do."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_AT = "github.com/kgateway-dev/kgateway pkg/kgateway"
_POLICIES = f"{_AT}/extensions2/plugins/trafficpolicy"
SOURCES = {
    "extensions": f"{_POLICIES}/constructor.go @ 0986489188, FetchGatewayExtension",
    "routes": f"{_AT}/translator/irtranslator/route.go @ 0705bfec35, envoyRoutes and runRoutePlugins",
    "hosts": f"{_AT}/translator/irtranslator/route.go @ 0705bfec35, ComputeRouteConfiguration and computeVirtualHost",
    "answers": f"{_AT}/extensions2/plugins/directresponse/direct_response_plugin.go @ 3b673ddbc8",
    "children": f"{_AT}/translator/httproute/delegation_helpers.go @ 6cdfd6299a, filterDelegatedChildren",
    "delegation": f"{_AT}/translator/httproute/delegation.go @ f345878001, flattenDelegatedRoutes",
    "authorization": "the same, api/v1alpha1/kgateway/traffic_policy_types.go @ 48460f7f9",
    "merging": f"{_POLICIES}/merge.go @ 48460f7f9; pkg/pluginsdk/policy/merge.go",
    "order": f"{_POLICIES}/traffic_policy_plugin.go @ 48460f7f9, HttpFilters",
    "users": f"{_POLICIES}/basic_auth_policy.go @ fbd53a3a78",
    "backends": "the same, pkg/krtcollections/policy.go @ v2.4.0, getBackend and BackendPortNotAllowedError",
    "attachment": "the same, pkg/krtcollections/policy.go @ 48460f7f9",
}
REQUEST = {"host": "shop.example"}
GROUP = "gateway.kgateway.dev"
CONTROLLER = "kgateway.dev/kgateway"
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
PLAIN = f"rules: [{{name: all, {BACKENDS}}}]"


def base(
    route: str = PLAIN, *, gateway: str = "", parents: str = "[{name: edge, namespace: infra}]", annotations: str = "",
    more: tuple[str, ...] = (), controller: str = CONTROLLER,
) -> tuple[str, ...]:  # fmt: skip
    return (
        worlds.gateway_class("any", controller),
        gateway or worlds.gateway(),
        worlds.route(more=route, parents=parents, annotations=annotations),
        worlds.service(),
        *more,
    )


BASE = base()


def policy(
    spec: str, target: str = "HTTPRoute/checkout", name: str = "own", namespace: str = "", weight: str = "",
    created: str = "",
) -> str:  # fmt: skip
    namespace = namespace or ("infra" if target.startswith("Gateway") else "shop")
    more = f"annotations: {{kgateway.dev/policy-weight: {weight!r}}}" if weight else ""
    return worlds.policy(f"{GROUP}/v1alpha1", "TrafficPolicy", name, target, spec, namespace, created, more)


def extension(name: str, spec: str, namespace: str = "shop") -> str:
    return worlds.manifest(f"{GROUP}/v1alpha1", "GatewayExtension", name, namespace, f"spec: {{{spec}}}")


def answer(name: str, status: int) -> str:
    return worlds.manifest(f"{GROUP}/v1alpha1", "DirectResponse", name, "shop", f"spec: {{status: {status}}}")


def named(name: str, kind: str = "DirectResponse") -> str:
    return f"{{type: ExtensionRef, extensionRef: {{group: {GROUP}, kind: {kind}, name: {name}}}}}"


def rule(filters: str, backends: str = BACKENDS) -> str:
    return f"rules: [{{{', '.join(filter(None, ('name: all', f'filters: [{filters}]', backends)))}}}]"


def by(field: str, name: str, more: str = "") -> str:
    return f"{field}: {{extensionRef: {{name: {name}}}{more and ', ' + more}}}"


def rbac(*expressions: str, action: str = "Allow") -> str:
    listed = ", ".join(f'"{expression}"' for expression in expressions)
    return f"rbac: {{action: {action}, policy: {{matchExpressions: [{listed}]}}}}"


def acl(default: str, *rules: str) -> str:
    return f"acl: {{defaultAction: {default}, rules: [{', '.join(rules)}]}}"


def delegating(
    match: str, child: str, *, annotations: str = "", of_child: str = "", hosts: str = ""
) -> tuple[str, ...]:
    """The route delegates what it matches to a child, whose rule has a match of its own."""
    to_child = "backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]"
    matches = f"matches: [{{{match}}}], " if match else ""
    own = f"matches: [{{{child}}}], " if child else ""
    below = f"{hosts and f'hostnames: [{hosts}], '}rules: [{{name: own, {own}{BACKENDS}}}]"
    return base(
        f"rules: [{{name: all, {matches}{to_child}}}]", annotations=annotations,
        more=(worlds.route("child", parents="", more=below, annotations=of_child),),
    )  # fmt: skip


KEYS = '\'{"keys": [{"kty": "oct", "k": "eA"}]}\''
LOGIN = extension("login", "extAuth: {grpcService: {backendRef: {name: checkout, port: 80}}}")
LOGIN_ABOVE = "---".join((
    extension("login", "extAuth: {grpcService: {backendRef: {name: checkout, namespace: shop, port: 80}}}", "infra"),
    worlds.grant("shop", f"{{group: {GROUP}, kind: GatewayExtension, namespace: infra}}", "{group: '', kind: Service}"),
))  # fmt: skip
TOKENS = extension(
    "tokens", f"jwt: {{providers: [{{name: id, issuer: 'https://id', jwks: {{local: {{inline: {KEYS}}}}}}}]}}"
)
TOKENS_ABOVE = TOKENS.replace("namespace: shop", "namespace: infra")
LIMITS = extension("limits", "rateLimit: {domain: shop, grpcService: {backendRef: {name: checkout, port: 80}}}")
BROKEN = f"{rbac('request.path ==')}"
INVALID, ENFORCED = {"own": "Invalid"}, {"own": "Enforced"}
REFUSED = ("GWP111",)
API, V1 = "path: {type: PathPrefix, value: /api}", "path: {type: PathPrefix, value: /api/v1}"
RELATIVE = "path: {type: PathPrefix, value: /v1}"
TEAM = "headers: [{name: x-team, value: a}]"
INHERITS = "delegation.kgateway.dev/inherit-parent-matcher: 'true'"
PARENT_FIRST = "kgateway.dev/inherited-policy-priority: ShallowMergePreferParent"
TWO_RULES = f"rules: [{{name: all, {BACKENDS}}}, {{name: admin, matches: [{{path: {{value: /admin}}}}], {BACKENDS}}}]"
FROM_ALL = "allowedRoutes: {namespaces: {from: All}}"
TWO_PORTS = worlds.gateway(
    listeners=f"[{{name: http, port: 80, protocol: HTTP, {FROM_ALL}}}, "
    f"{{name: other, port: 8080, protocol: HTTP, {FROM_ALL}}}]"
)
LISTENER_SET = worlds.listener_set("extra", "infra", f"[{{name: more, port: 8081, protocol: HTTP, {FROM_ALL}}}]")
BEHIND_SET = base(
    gateway=worlds.gateway(more="allowedListeners: {namespaces: {from: All}}"),
    parents="[{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra, namespace: infra}]",
    more=(LISTENER_SET,),
)
REDIRECT = "{type: RequestRedirect, requestRedirect: {scheme: https}}"
BUCKET = "rateLimit: {local: {tokenBucket: {maxTokens: 1, fillInterval: 1s}}}"
OFFICE = "{cidrs: [10.0.0.0/8], action: allow}"
STATIC = worlds.manifest(
    f"{GROUP}/v1alpha1", "Backend", "json", "shop", "spec: {type: Static, static: {hosts: [{host: a.test, port: 80}]}}"
)


def to_backend(port: str = "") -> tuple[str, ...]:
    """A route that names a Backend, perhaps with a port."""
    return base(f"rules: [{{backendRefs: [{{group: {GROUP}, kind: Backend, name: json{port}}}]}}]")


WORLDS = {
    # Backends.
    "a Backend without a port": Predicted("backends", (STATIC,), "allowed", base=to_backend()),
    "a Backend with a port": Predicted(
        "backends", (STATIC,), "500", lint=("GWP406",), base=to_backend(", port: 80"),
        conditions={"HTTPRoute shop/checkout": ("ResolvedRefs=False/BackendNotFound",)}),
    # Extensions.
    "an extension asks": Predicted(
        "extensions", (policy(by("extAuth", "login")), LOGIN), "allowed, extAuth required", ENFORCED),
    "an extension that is missing": Predicted(
        "extensions", (policy(by("extAuth", "gone")), LOGIN), "500", INVALID, REFUSED),
    "an extension of another sort": Predicted(
        "extensions", (policy(by("extAuth", "limits")), LIMITS), "500", INVALID, REFUSED),
    "an extension by a variable": Predicted(
        "extensions", (policy(by("extAuth", "'${LOGIN}'")), LOGIN), "allowed, extAuth required"),
    "a request passes two that are not of one field": Predicted(
        "merging", (policy(by("extAuth", "login")), LOGIN, policy(by("jwtAuth", "tokens"), "Gateway/edge", "wide"),
                    TOKENS_ABOVE),
        "allowed, extAuth and jwtAuth required", {"own": "Enforced", "wide": "Enforced"},
        acts=("jwtAuth of wide", "extAuth of own")),
    "a route that is let off": Predicted(
        "merging", (policy("extAuth: {disable: {}}"), policy(by("extAuth", "login"), "Gateway/edge", "wide"),
                    LOGIN_ABOVE),
        "allowed"),
    "tokens that may be missing": Predicted(
        "extensions",
        (policy(by("jwtAuth", "tokens")), TOKENS.replace("jwt: {", "jwt: {validationMode: AllowMissing, ")),
        "allowed, jwtAuth not required", ENFORCED),
    # Where a policy that is refused is felt.
    "a refused policy of the Gateway takes routes with their own along": Predicted(
        "hosts", (policy(BROKEN, "Gateway/edge", "wide"), policy("timeouts: {request: 1s}")), "500",
        {"wide": "Invalid"}, REFUSED),
    "a refused policy of a route beside a good one of its Gateway": Predicted(
        "routes", (policy(BROKEN), policy(by("extAuth", "login"), "Gateway/edge", "wide"), LOGIN_ABOVE), "500",
        INVALID, REFUSED),
    "a refused policy of a rule": Predicted(
        "routes", (policy(BROKEN, "HTTPRoute/checkout#admin"),), "500", INVALID, REFUSED,
        request={"path": "/admin"}, base=base(TWO_RULES)),
    "and the other rule": Predicted(
        "routes", (policy(BROKEN, "HTTPRoute/checkout#admin"),), "allowed", INVALID, REFUSED, base=base(TWO_RULES)),
    "a refused policy of another listener": Predicted(
        "hosts", (policy(BROKEN, "Gateway/edge#other"),), "allowed", INVALID, REFUSED, request={"port": 80},
        base=base(gateway=TWO_PORTS)),
    "a refused policy of the listener": Predicted(
        "hosts", (policy(BROKEN, "Gateway/edge#other"),), "500", INVALID, REFUSED, request={"port": 8080},
        base=base(gateway=TWO_PORTS)),
    "a refused policy of a filter": Predicted(
        "routes", (policy(BROKEN, ""),), "500", INVALID, REFUSED, base=base(rule(named("own", "TrafficPolicy")))),
    "a filter that names no policy": Predicted(
        "routes", (policy("timeouts: {request: 1s}", "HTTPRoute/other"),), "500", lint=("GWP101", "GWP406"),
        base=base(rule(named("gone", "TrafficPolicy")))),
    "a filter names a policy": Predicted(
        "routes", (policy(by("extAuth", "login"), ""), LOGIN), "allowed, extAuth required", ENFORCED,
        base=base(rule(named("own", "TrafficPolicy")))),
    # Answers of filters.
    "a filter answers": Predicted("answers", (answer("teapot", 418),), "418", base=base(rule(named("teapot"), ""))),
    "an answer beside backends": Predicted(
        "answers", (answer("teapot", 418),), "500", base=base(rule(named("teapot")))),
    "an answer beside a redirect": Predicted(
        "answers", (answer("teapot", 418),), "500", base=base(rule(f"{REDIRECT}, {named('teapot')}", ""))),
    "two answers": Predicted(
        "answers", (answer("teapot", 418), answer("gone", 410)), "500",
        base=base(rule(f"{named('teapot')}, {named('gone')}", ""))),
    "an answer that is missing": Predicted(
        "answers", (answer("teapot", 418),), "500", lint=("GWP406",), base=base(rule(named("gone"), ""))),
    "an answer of a backend's filter does nothing": Predicted(
        "answers", (answer("teapot", 418),), "allowed",
        base=base(f"rules: [{{backendRefs: [{{name: checkout, port: 80, filters: [{named('teapot')}]}}]}}]")),
    # Who may do what.
    "an expression keeps out": Predicted(
        "authorization", (policy(rbac("request.path.startsWith('/admin')", action="Deny")),), "403", ENFORCED,
        request={"path": "/admin/users"}),
    "and others in": Predicted(
        "authorization", (policy(rbac("request.path.startsWith('/admin')", action="Deny")),), "allowed", ENFORCED),
    "a header lets in": Predicted(
        "authorization", (policy(rbac("request.headers['x-team'] == 'a'")),), "allowed", ENFORCED,
        request={"headers": {"x-team": "a"}}),
    "another header does not": Predicted(
        "authorization", (policy(rbac("request.headers['x-team'] == 'a'")),), "403", ENFORCED,
        request={"headers": {"x-team": "b"}}),
    "one of two expressions is enough": Predicted(
        "authorization", (policy(rbac("request.method == 'GET'", "request.headers['x-team'] == 'a'")),), "allowed",
        ENFORCED),
    "an address that a rule lets in": Predicted(
        "authorization", (policy(acl("deny", OFFICE)),), "allowed", ENFORCED,
        request={"address": "10.1.2.3"}),
    "any other address": Predicted(
        "authorization", (policy(acl("deny", OFFICE)),), "403", ENFORCED, request={"address": "192.0.2.1"}),
    "a route's addresses replace the Gateway's": Predicted(
        "authorization", (policy(acl("deny"), "Gateway/edge", "wide"),
                          policy(acl("allow", OFFICE.replace("allow", "deny")))), "allowed",
        request={"address": "192.0.2.1"}),
    "addresses of two policies of a route add up": Predicted(
        "merging",
        (policy(acl("deny", OFFICE), created="2026-01-01T00:00:00Z"),
         policy("acl: {defaultAction: deny, rules: [{cidrs: [192.0.2.0/24], action: allow}]}", name="more",
                created="2026-01-02T00:00:00Z")),
        "allowed", request={"address": "192.0.2.1"}),
    # Which of several policies.
    "the older of two": Predicted(
        "merging",
        (policy("timeouts: {request: 1s}", created="2026-01-02T00:00:00Z"),
         policy("timeouts: {request: 2s}", name="old", created="2026-01-01T00:00:00Z")),
        "allowed", {"own": "Overridden", "old": "Enforced"}, acts=("timeouts of old",)),
    "a weight before age": Predicted(
        "merging",
        (policy("timeouts: {request: 1s}", created="2026-01-02T00:00:00Z", weight="10"),
         policy("timeouts: {request: 2s}", name="old", created="2026-01-01T00:00:00Z")),
        "allowed", {"own": "Enforced", "old": "Overridden"}, acts=("timeouts of own",)),
    "a rule before any weight": Predicted(
        "merging",
        (policy("timeouts: {request: 1s}", weight="10"),
         policy("timeouts: {request: 2s}", "HTTPRoute/checkout#all", "rule")),
        "allowed", {"rule": "Enforced"}, acts=("timeouts of rule",)),
    "the order of filters": Predicted(
        "order",
        (policy(f"{by('extAuth', 'login')}, cors: {{allowOrigins: ['https://www.example']}}, "
                f"{by('jwtAuth', 'tokens')}, {BUCKET}"),
         LOGIN, TOKENS),
        "allowed, extAuth and jwtAuth required", ENFORCED,
        acts=("cors of own", "jwtAuth of own", "extAuth of own", "rateLimit of own")),
    "a policy on a ListenerSet": Predicted(
        "attachment", (policy(by("jwtAuth", "tokens"), "ListenerSet/extra", namespace="infra"), TOKENS_ABOVE),
        "allowed, jwtAuth required", ENFORCED, request={"port": 8081}, base=BEHIND_SET),
    "a policy on a listener of a ListenerSet": Predicted(
        "attachment", (policy(by("jwtAuth", "tokens"), "ListenerSet/extra#more", namespace="infra"), TOKENS_ABOVE),
        "allowed, jwtAuth required", ENFORCED, request={"port": 8081}, base=BEHIND_SET),
    "the Gateway's policy holds behind a ListenerSet": Predicted(
        "attachment", (policy(by("jwtAuth", "tokens"), "Gateway/edge"), TOKENS_ABOVE), "allowed, jwtAuth required",
        ENFORCED, request={"port": 8081}, base=BEHIND_SET),
    "at another controller's Gateway nothing is asked": Predicted(
        "attachment", (policy(by("extAuth", "login")), LOGIN), "allowed", lint=("GWP108",),
        base=base(controller="io.cilium/gateway-controller")),
    "users by a hash that Envoy does not take": Predicted(
        "users", (policy("basicAuth: {users: ['me:$2y$05$abc']}"),), "500", INVALID, REFUSED),
    # Delegation.
    "a child within what its parent matches": Predicted(
        "children", (policy(by("extAuth", "login")), LOGIN), "allowed, extAuth required", ENFORCED,
        request={"path": "/api/v1/x"}, base=delegating(API, V1)),
    "a path that no child takes": Predicted(
        "children", (policy(by("extAuth", "login")), LOGIN), "404", request={"path": "/api/v2"},
        base=delegating(API, V1)),
    "a child beside what its parent matches": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "500", request={"path": "/api/v1"},
        base=delegating(API, "path: {type: PathPrefix, value: /other}")),
    "a child without a match of its own": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "500", request={"path": "/api/v1"},
        base=delegating(API, "")),
    "a child that asks for less than its parent": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "500",
        request={"path": "/api/v1", "headers": {"x-team": "a"}}, base=delegating(f"{API}, {TEAM}", V1)),
    "a child that asks for the same": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "allowed",
        request={"path": "/api/v1", "headers": {"x-team": "a"}}, base=delegating(f"{API}, {TEAM}", f"{V1}, {TEAM}")),
    "a parent of one path": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "500", request={"path": "/api"},
        base=delegating("path: {type: Exact, value: /api}", "path: {type: Exact, value: /api}")),
    "a child whose paths are relative": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "allowed", request={"path": "/api/v1/x"},
        base=delegating(API, RELATIVE, of_child=INHERITS)),
    "which alone it does not have": Predicted(
        "children", (policy("timeouts: {request: 1s}"),), "404", request={"path": "/v1"},
        base=delegating(API, RELATIVE, of_child=INHERITS)),
    "a child with hostnames": Predicted(
        "delegation", (policy("timeouts: {request: 1s}"),), "500", request={"path": "/api/v1"},
        base=delegating(API, V1, hosts="shop.example")),
    "the child's word counts": Predicted(
        "merging",
        (policy(by("extAuth", "login")), LOGIN, policy("extAuth: {disable: {}}", "HTTPRoute/child", "below")),
        "allowed", request={"path": "/api/v1"}, base=delegating(API, V1)),
    "unless the parent's is to": Predicted(
        "merging",
        (policy(by("extAuth", "login")), LOGIN, policy("extAuth: {disable: {}}", "HTTPRoute/child", "below")),
        "allowed, extAuth required", request={"path": "/api/v1"}, base=delegating(API, V1, annotations=PARENT_FIRST)),
    "a refused policy of the parent": Predicted(
        "routes", (policy(BROKEN),), "500", INVALID, REFUSED, request={"path": "/api/v1"}, base=delegating(API, V1)),
}  # fmt: skip
