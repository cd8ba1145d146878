"""Envoy Gateway: what its translator makes of policies, of what they name, of filters and of rules of routes."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_AT = "github.com/envoyproxy/gateway internal/gatewayapi"
_SECURITY = f"{_AT}/securitypolicy.go @ 005d80e378"
SOURCES = {
    "basic": f"{_SECURITY}, buildBasicAuth and validateHtpasswdFormat",
    "keys": f"{_SECURITY}, buildAPIKeyAuth",
    "oidc": f"{_SECURITY}, buildOIDC, extractRedirectPath and validateTokenEndpoint",
    "jwt": f"{_SECURITY}, validateJWTProvider and buildLocalJWKS",
    "extensions": f"{_SECURITY}, buildContextExtensions and getContextExtensionValueFromRef",
    "early": f"{_SECURITY}, processSecurityPolicyForRoute and processSecurityPolicyForGateway",
    "levels": f"{_SECURITY}, translateSecurityPolicyForRoute and translateSecurityPolicyForGateway",
    "authorization": f"{_SECURITY}, buildAuthorization; api/v1alpha1/authorization_types.go",
    "features": f"{_AT}/backendtrafficpolicy.go @ 00240cdc69, buildTrafficFeatures",
    "settings": f"{_AT}/clustersettings.go @ 02216ce9cf, buildRetry, buildBackendConnection, buildLoadBalancer",
    "http2": f"{_AT}/http.go @ 1eb2bf78b6, buildIRHTTP2Settings",
    "filters": f"{_AT}/filters.go @ 005d80e378, ProcessHTTPFilters and processExtensionRefHTTPFilter",
    "rules": f"{_AT}/route.go @ 0040c95518, processHTTPRouteRules and processHTTPRouteRule",
    "timeouts": f"{_AT}/route.go @ 0040c95518, processRouteTimeout; xds/translator/route.go",
    "proxies": f"{_AT}/envoyproxy_merge.go @ 0c4c92294f, MergeEnvoyProxyConfigs",
    "order": "the same, internal/xds/translator/httpfilters.go @ d32f282942, newOrderedHTTPFilter",
    "patches": f"{_AT}/envoypatchpolicy.go @ 0a250982a7, ProcessEnvoyPatchPolicies",
    "merging": f"{_AT}/backendtrafficpolicy.go @ d32f282942, processBackendTrafficPolicyForRoute",
}
REQUEST = {"host": "shop.example"}
GROUP = "gateway.envoyproxy.io"
CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
PLAIN = f"rules: [{{name: all, {BACKENDS}}}]"


def base(route: str = PLAIN, *, gateway: str = "", more: tuple[str, ...] = ()) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", CONTROLLER),
        gateway or worlds.gateway(),
        worlds.route(more=route),
        worlds.service(),
        *more,
    )


BASE = base()


def policy(
    kind: str, spec: str, target: str = "HTTPRoute/checkout", name: str = "own", namespace: str = "", field: str = ""
) -> str:
    """A policy in the namespace of its target; `field` names the targets in another way."""
    namespace = namespace or ("infra" if target.startswith("Gateway") else "shop")
    settings = ", ".join(filter(None, (field, spec)))
    return worlds.policy(f"{GROUP}/v1alpha1", kind, name, "" if field else target, settings, namespace)


def security(spec: str, target: str = "HTTPRoute/checkout", name: str = "own", namespace: str = "") -> str:
    return policy("SecurityPolicy", spec, target, name, namespace)


def traffic(spec: str, target: str = "HTTPRoute/checkout", name: str = "own") -> str:
    return policy("BackendTrafficPolicy", spec, target, name)


def secret(name: str, entries: str, namespace: str = "shop") -> str:
    return worlds.manifest("v1", "Secret", name, namespace, f"stringData: {{{entries}}}")


def rule(filters: str = "", more: str = "", backends: str = BACKENDS) -> str:
    return f"rules: [{{name: all, {', '.join(filter(None, (filters and f'filters: [{filters}]', more, backends)))}}}]"


def named(name: str, kind: str = "HTTPRouteFilter") -> str:
    return f"{{type: ExtensionRef, extensionRef: {{group: {GROUP}, kind: {kind}, name: {name}}}}}"


def route_filter(name: str, spec: str) -> str:
    return worlds.manifest(f"{GROUP}/v1alpha1", "HTTPRouteFilter", name, "shop", f"spec: {{{spec}}}")


INVALID = {"own": "Invalid"}
ENFORCED = {"own": "Enforced"}
REFUSED = ("GWP111",)
WIDE = security("jwt: {providers: [{name: id, remoteJWKS: {uri: 'https://id/jwks'}}]}", "Gateway/edge", "wide")
JWT = "jwt: {providers: [{name: id, issuer: 'https://id', remoteJWKS: {uri: 'https://id/jwks'}}]}"
USERS = "basicAuth: {users: {name: users}}"
SHA = "'me:{SHA}NWoZK3kTsExUV00Ywo1G5jlUKKs='"
KEYS = "apiKeyAuth: {extractFrom: [{headers: [x-key]}], credentialRefs: [{name: keys}, {name: more}]}"
ENDPOINTS = "authorizationEndpoint: 'https://id/auth', tokenEndpoint: 'https://id/token'"


def oidc(more: str = "", endpoints: str = ENDPOINTS) -> str:
    provider = f"provider: {{issuer: 'https://id', {endpoints}}}"
    return f"oidc: {{{provider}, clientID: shop, clientSecret: {{name: client}}{more and ', ' + more}}}"


def local(name: str) -> str:
    jwks = f"localJWKS: {{type: ValueRef, valueRef: {{group: '', kind: ConfigMap, name: {name}}}}}"
    return f"jwt: {{providers: [{{name: id, {jwks}}}]}}"


def ext_auth(extension: str, more: str = "") -> str:
    service = "grpc: {backendRefs: [{name: checkout, port: 80}]}"
    return f"extAuth: {{{service}, contextExtensions: [{extension}]{more and ', ' + more}}}"


def extension(kind: str, name: str, key: str) -> str:
    return f"{{name: tier, type: ValueRef, valueRef: {{group: '', kind: {kind}, name: {name}, key: {key}}}}}"


def authorization(*rules: str, default: str = "Deny") -> str:
    return f"authorization: {{defaultAction: {default}, rules: [{', '.join(rules)}]}}"


def allow(principal: str, more: str = "", action: str = "Allow") -> str:
    return f"{{action: {action}, principal: {{{principal}}}{more and ', ' + more}}}"


WRONG = secret("users", ".htpasswd: 'me:x'")
CLIENT = secret("client", "client-secret: s3cret")
TIERS = worlds.manifest("v1", "ConfigMap", "tiers", "shop", "data: {gold: one}")
HTTP2 = "http2: {initialStreamWindowSize: "
DIRECT = route_filter("teapot", "directResponse: {statusCode: 418}")
MIRROR = "{type: RequestMirror, requestMirror: {backendRef: {name: checkout, port: 80}}}"
REDIRECT = "{type: RequestRedirect, requestRedirect: {scheme: https}}"
INJECT = "credentialInjection: {credential: {valueRef: {name: token}}}"
TEXT = "{type: ValueRef, valueRef: {group: '', kind: ConfigMap, name: gone}}"
COOKIE = route_filter("canary", "matches: [{cookies: [{name: canary, value: 'yes'}]}]")
NETWORK = "clientCIDRs: [10.0.0.0/8]"
TIMEOUT = "timeout: {http: {requestTimeout: 9s}}"
TWO_RULES = f"rules: [{{name: all, {BACKENDS}}}, {{name: admin, matches: [{{path: {{value: /admin}}}}], {BACKENDS}}}]"
TWO_LISTENERS = worlds.gateway(
    listeners="[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}, "
    "{name: other, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
)


def proxy(name: str, spec: str, namespace: str = "infra") -> str:
    return worlds.manifest(f"{GROUP}/v1alpha1", "EnvoyProxy", name, namespace, f"spec: {{{spec}}}")


def parameters(name: str, namespace: str = "") -> str:
    return (
        f"parametersRef: {{group: {GROUP}, kind: EnvoyProxy, name: {name}{namespace and f', namespace: {namespace}'}}}"
    )


ORIGINS = "cors: {allowOrigins: ['https://www.example']}"
BOTH_ROUTES = "targetRefs: [" + ", ".join(worlds.reference(f"HTTPRoute/{name}") for name in ("checkout", "gone")) + "]"
PATCH = worlds.manifest(
    f"{GROUP}/v1alpha1", "EnvoyPatchPolicy", "own", "infra",
    "spec: {{type: JSONPatch, targetRef: {{group: gateway.networking.k8s.io, kind: {kind}, name: {name}}}, "
    "jsonPatches: [{{type: type.googleapis.com/envoy.config.listener.v3.Listener, name: infra/edge/http, "
    "operation: {{op: add, path: /x, value: 1}}}}]}}",
).replace("metadata: {name: own, namespace: infra}", "metadata: {{name: own, namespace: infra}}")  # fmt: skip
SET = worlds.listener_set(
    "extra", "infra",
    "[{name: more, port: 8081, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]",
)  # fmt: skip
BEHIND_SET = (
    worlds.gateway_class("any", CONTROLLER),
    worlds.gateway(more="allowedListeners: {namespaces: {from: All}}"),
    worlds.route(
        more=PLAIN, parents="[{group: gateway.networking.k8s.io, kind: ListenerSet, name: extra, namespace: infra}]"
    ),
    worlds.service(), SET,
)  # fmt: skip
MOVED = "filterOrder: [{name: envoy.filters.http.jwt_authn, before: envoy.filters.http.cors}]"


def with_proxies(own: str, of_class: str = MOVED) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", CONTROLLER, parameters("class", "infra")),
        worlds.gateway(more=f"infrastructure: {{{parameters('own')}}}"),
        *base()[2:], proxy("own", own), proxy("class", of_class),
    )  # fmt: skip


FIRST = "filterOrder: [{name: envoy.filters.http.local_ratelimit, before: envoy.filters.http.cors}]"
_LIMIT = "rules: [{limit: {requests: 5, unit: Second}}]"
LOCAL = traffic(f"rateLimit: {{type: Local, local: {{{_LIMIT}}}}}", name="limit")
SHARED = traffic(f"rateLimit: {{type: Global, global: {{{_LIMIT}}}}}", name="limit")
CROSS = security("cors: {allowOrigins: ['https://www.example']}")
BOTH = security(f"{JWT}, cors: {{allowOrigins: ['https://www.example']}}")
SEGMENTS = security(authorization(allow("headers: [{name: x-team, values: [a, b]}]")))
WORLDS = {
    # What a SecurityPolicy names, and what that holds.
    "users of an htpasswd file": Predicted(
        "basic", (security(USERS), secret("users", f".htpasswd: {SHA}")), "allowed, basicAuth required", ENFORCED),
    "users by another hash": Predicted(
        "basic", (security(USERS), secret("users", ".htpasswd: 'me:$2y$05$abc'")), "500", INVALID, REFUSED),
    "users without a password": Predicted(
        "basic", (security(USERS), secret("users", f'.htpasswd: "{SHA[1:-1]}\\nme"')), "500", INVALID, REFUSED),
    "a word that stands for what is filled in": Predicted(
        "basic", (security(USERS), secret("users", ".htpasswd: changeme")), "allowed, basicAuth required", ENFORCED),
    "users under another key": Predicted(
        "basic", (security(USERS), secret("users", f"auth: {SHA}")), "500", INVALID, REFUSED),
    "a hash that is too short": Predicted(
        "basic", (security(USERS), secret("users", ".htpasswd: 'me:{SHA}YWJj'")), "500", INVALID, REFUSED),
    "users at the Gateway": Predicted(
        "basic", (security(USERS, "Gateway/edge"), secret("users", ".htpasswd: 'me:abc'", "infra")), "500", INVALID,
        REFUSED),
    "encrypted users are not known to be wrong": Predicted(
        "basic", (security(USERS), secret("users", ".htpasswd: 'ENC[AES256_GCM,data:x]'")),
        "allowed, basicAuth required", ENFORCED),
    "one key of two clients": Predicted(
        "keys", (security(KEYS), secret("keys", "a: x"), secret("more", "b: x")), "500", INVALID, REFUSED),
    "one client twice": Predicted(
        "keys", (security(KEYS), secret("keys", "a: x"), secret("more", "a: x")), "allowed, apiKeyAuth required",
        ENFORCED),
    "a client of OIDC": Predicted("oidc", (security(oidc()), CLIENT), "allowed, oidc required", ENFORCED),
    "a client without its secret": Predicted(
        "oidc", (security(oidc()), secret("client", "secret: s3cret")), "500", INVALID, REFUSED),
    "a client whose id is nowhere": Predicted(
        "oidc", (security(oidc().replace("clientID: shop", "clientIDRef: {name: id}")), CLIENT, secret("id", "a: b")),
        "500", INVALID, REFUSED),
    "a redirect to no path": Predicted(
        "oidc", (security(oidc("redirectURL: 'https://shop.example/'")), CLIENT), "500", INVALID, REFUSED),
    "a redirect whose scheme the request says": Predicted(
        "oidc", (security(oidc("redirectURL: '%REQ(x-forwarded-proto)%://shop.example/done'")), CLIENT),
        "allowed, oidc required", ENFORCED),
    "a token endpoint by address": Predicted(
        "oidc",
        (security(oidc(endpoints=ENDPOINTS.replace("https://id/token", "https://10.0.0.1/token"))), CLIENT),
        "500", INVALID, REFUSED),
    "an issuer that is no URI": Predicted(
        "jwt", (security(JWT.replace("issuer: 'https://id'", "issuer: '10.0.0.1:8080'")),), "500", INVALID, REFUSED),
    "an issuer by any name": Predicted(
        "jwt", (security(JWT.replace("issuer: 'https://id'", "issuer: staff")),), "allowed, jwt required", ENFORCED),
    "a provider by no qualified name": Predicted(
        "jwt", (security(JWT.replace("name: id", "name: 'my id'")),), "500", INVALID, REFUSED),
    "a key set under another key": Predicted(
        "jwt",
        (security(local("keys")), worlds.manifest("v1", "ConfigMap", "keys", "shop", "data: {other: '{}'}")),
        "allowed, jwt required", ENFORCED),
    "what an authoriser is told": Predicted(
        "extensions", (security(ext_auth(extension("ConfigMap", "tiers", "gold"))), TIERS), "allowed, extAuth required",
        ENFORCED),
    "nothing to tell an authoriser": Predicted(
        "extensions", (security(ext_auth(extension("ConfigMap", "tiers", "silver"))), TIERS), "500", INVALID, REFUSED),
    "an object to tell an authoriser that is missing": Predicted(
        # Of a directory it is not known whether the ConfigMap is missing, so that diff takes the policy to be in force.
        "extensions", (security(ext_auth(extension("ConfigMap", "gone", "gold"))), TIERS), "500", INVALID, REFUSED),
    "nothing to tell an authoriser that fails open": Predicted(
        "extensions", (security(ext_auth(extension("ConfigMap", "tiers", "silver"), "failOpen: true")), TIERS),
        "allowed", INVALID, REFUSED),
    # Where a policy is looked at.
    "keys from two places at a route": Predicted(
        "early",
        (security("apiKeyAuth: {extractFrom: [{headers: [x], params: [key]}], credentialRefs: [{name: keys}]}"),
         secret("keys", "a: x"), WIDE),
        "allowed, jwt required", {"own": "Invalid", "wide": "Enforced"}, REFUSED),
    "keys from two places at a Gateway": Predicted(
        "early",
        (security("apiKeyAuth: {extractFrom: [{headers: [x], params: [key]}], credentialRefs: [{name: keys}]}",
                  "Gateway/edge"), secret("keys", "a: x", "infra")),
        "allowed", INVALID),  # the API server refuses it
    "a rule's policy that is refused keeps the Gateway's out of that rule": Predicted(
        "levels", (security(USERS, "HTTPRoute/checkout#admin"), WRONG, WIDE), "500", {"own": "Invalid"},
        REFUSED, request={"path": "/admin"}, base=base(TWO_RULES)),
    "and of no other": Predicted(
        "levels", (security(USERS, "HTTPRoute/checkout#admin"), WRONG, WIDE), "allowed, jwt required",
        {"own": "Invalid"}, REFUSED, base=base(TWO_RULES)),
    "a listener's policy stays at its port": Predicted(
        "levels", (security(JWT, "Gateway/edge#other"),), "allowed", ENFORCED, request={"port": 80},
        base=base(gateway=TWO_LISTENERS)),
    "and holds there": Predicted(
        "levels", (security(JWT, "Gateway/edge#other"),), "allowed, jwt required", ENFORCED, request={"port": 8080},
        base=base(gateway=TWO_LISTENERS)),
    "a listener's policy takes it from the Gateway's": Predicted(
        "levels", (security("cors: {allowOrigins: ['https://www.example']}", "Gateway/edge#other"), WIDE), "allowed",
        {"wide": "PartiallyEnforced", "own": "Enforced"}, request={"port": 8080},
        base=base(gateway=TWO_LISTENERS)),
    # Who may do what.
    "a header lets in": Predicted("authorization", (SEGMENTS,), "allowed", ENFORCED,
                                  request={"headers": {"X-Team": "b"}}),
    "another one does not": Predicted("authorization", (SEGMENTS,), "403", ENFORCED,
                                      request={"headers": {"X-Team": "c"}}),
    "of rules the first that matches counts": Predicted(
        "authorization",
        (security(authorization(allow(NETWORK), allow("clientCIDRs: [10.1.0.0/16]", action="Deny"))),),
        "allowed", ENFORCED, request={"address": "10.1.2.3"}),
    "all principals of a rule must match": Predicted(
        "authorization", (security(authorization(allow(f"{NETWORK}, headers: [{{name: x-team, values: [a]}}]"))),),
        "403", ENFORCED, request={"address": "10.1.2.3"}),
    "a method that a rule is not about": Predicted(
        "authorization",
        (security(authorization(allow(NETWORK, "operation: {methods: [POST]}", "Deny"), default="Allow")),),
        "allowed", ENFORCED, request={"address": "10.1.2.3"}),
    "a claim that the token has not": Predicted(
        "authorization",
        (security(f"{JWT}, " + authorization(allow("jwt: {provider: id, claims: [{name: role, values: [admin]}]}"))),),
        "403", ENFORCED, request={"claims": {"iss": "https://id", "role": "staff"}}),
    # Content of a BackendTrafficPolicy.
    "a window that HTTP/2 has not": Predicted("http2", (traffic(f"{HTTP2}1Ki}}"),), "500", INVALID, REFUSED),
    "the smallest window": Predicted("http2", (traffic(f"{HTTP2}65535}}"),), "allowed", ENFORCED),
    "a table whose size is no prime": Predicted(
        "settings",
        (traffic("loadBalancer: {type: ConsistentHash, consistentHash: {type: SourceIP, tableSize: 1000}}"),),
        "500", INVALID, REFUSED),
    "a table whose size is one": Predicted(
        "settings",
        (traffic("loadBalancer: {type: ConsistentHash, consistentHash: {type: SourceIP, tableSize: 1009}}"),),
        "allowed", ENFORCED),
    "a pause of nothing between retries": Predicted(
        "settings", (traffic("retry: {perRetry: {backOff: {baseInterval: 0s}}}"),), "500", INVALID, REFUSED),
    "a pause beyond its maximum": Predicted(
        "settings", (traffic("retry: {perRetry: {backOff: {baseInterval: 2s, maxInterval: 500ms}}}"),), "500", INVALID,
        REFUSED),
    "a buffer of eight gigabytes": Predicted(
        "settings", (traffic("connection: {bufferLimit: 8Gi}"),), "500", INVALID, REFUSED),
    "the Gateway's settings that are refused": Predicted(
        "features", (traffic("connection: {bufferLimit: 8Gi}", "Gateway/edge"),), "500", INVALID, REFUSED),
    "a refused one of the Gateway leaves a route with its own alone": Predicted(
        "features", (traffic("connection: {bufferLimit: 8Gi}", "Gateway/edge", "wide"), traffic("retry: {}")),
        "allowed", {"wide": "Invalid", "own": "Enforced"}, REFUSED),
    "what is merged from a refused parent": Predicted(
        "merging",
        (traffic("connection: {bufferLimit: 8Gi}", "Gateway/edge", "wide"),
         traffic("mergeType: StrategicMerge, retry: {numRetries: 2}")),
        "500", {"wide": "Invalid", "own": "Invalid"}, REFUSED),
    "what repairs a refused parent": Predicted(
        "merging",
        (traffic("connection: {bufferLimit: 8Gi}", "Gateway/edge", "wide"),
         traffic("mergeType: StrategicMerge, connection: {bufferLimit: 1Mi}")),
        "allowed", {"wide": "Invalid", "own": "Enforced"}, REFUSED),
    # Filters.
    "a filter answers": Predicted("filters", (DIRECT,), "418", base=base(rule(named("teapot")))),
    "what follows an answer is not looked at": Predicted(
        "filters", (DIRECT,), "418", lint=("GWP406",), base=base(rule(f"{named('teapot')}, {named('gone')}"))),
    "what comes before it is": Predicted(
        "filters", (DIRECT,), "500", lint=("GWP406",), base=base(rule(f"{named('gone')}, {named('teapot')}"))),
    "the first answer counts": Predicted(
        "filters", (DIRECT, route_filter("gone", "directResponse: {statusCode: 410}")), "410",
        base=base(rule(f"{named('gone')}, {named('teapot')}"))),
    "an answer to what is mirrored": Predicted(
        "filters", (DIRECT,), "500", lint=("GWP406",), base=base(rule(f"{MIRROR}, {named('teapot')}"))),
    "a redirect of what is mirrored": Predicted(
        "filters", (traffic("retry: {}"),), "500", lint=("GWP406",),
        base=base(rule(f"{MIRROR}, {REDIRECT}", backends=""))),
    "a mirror": Predicted("filters", (traffic("retry: {}"),), "allowed", base=base(rule(MIRROR))),
    "a mirror that is missing": Predicted(
        "filters", (traffic("retry: {}"),), "500", lint=("GWP406",),
        base=base(rule(MIRROR.replace("checkout", "gone")))),
    "a mirror without a port": Predicted(
        "filters", (traffic("retry: {}"),), "500", lint=("GWP406",),
        base=base(rule(MIRROR.replace(", port: 80", "")))),
    "an answer whose text is missing": Predicted(
        "filters",
        (route_filter("teapot", f"directResponse: {{body: {TEXT}}}"),
         TIERS),
        "500", lint=("GWP406",), base=base(rule(named("teapot")))),
    "an answer without a status": Predicted(
        "filters", (route_filter("teapot", "directResponse: {contentType: text/plain}"),), "200",
        base=base(rule(named("teapot")))),
    "a token to add": Predicted(
        "filters", (route_filter("add", INJECT), secret("token", "credential: s3cret")), "allowed",
        base=base(rule(named("add")))),
    "a token that is missing": Predicted(
        "filters", (route_filter("add", INJECT), secret("other", "credential: s3cret")), "500",
        lint=("GWP406",), base=base(rule(named("add")))),
    "a token under another key": Predicted(
        "filters", (route_filter("add", INJECT), secret("token", "token: s3cret")), "500",
        lint=("GWP406",), base=base(rule(named("add")))),
    # Rules of routes.
    "a session that ends when it is idle": Predicted(
        "rules", (traffic("retry: {}"),), "404", lint=("GWP406",),
        base=base(rule(more="sessionPersistence: {idleTimeout: 1m, sessionName: s}"))),
    "a session that ends at a time": Predicted(
        "rules", (traffic("retry: {}"),), "allowed",
        base=base(rule(more="sessionPersistence: {absoluteTimeout: 1m, sessionName: s}"))),
    "a cookie that a filter asks for": Predicted(
        "rules", (COOKIE,), "allowed", request={"headers": {"Cookie": "a=b; canary=yes"}},
        base=base(rule(named("canary")))),
    "and that the request has not": Predicted("rules", (COOKIE,), "404", base=base(rule(named("canary")))),
    # Targets, scopes, and what is merged with what.
    "tokens of the Gateway, origins of the route": Predicted(
        "merging", (WIDE, security(f"mergeType: StrategicMerge, {ORIGINS}")), "allowed, jwt required",
        {"wide": "Enforced", "own": "Enforced"},
        status={"own": ("Gateway infra/edge Accepted=True/Accepted", "Gateway infra/edge#http Merged=True/Merged")},
        effective={"jwt.providers": "wide", "cors.allowOrigins": "own"}),
    "a rule is merged with the Gateway's, not with its route's": Predicted(
        "merging",
        (WIDE, security(USERS, name="route"), secret("users", f".htpasswd: {SHA}"),
         security(f"mergeType: JSONMerge, {ORIGINS}", "HTTPRoute/checkout#all", "rule")),
        "allowed, jwt required", {"rule": "Enforced", "route": "Overridden"},
        effective={"jwt.providers": "wide", "cors.allowOrigins": "rule"}),
    "the listener's policy is the parent, and not the Gateway's": Predicted(
        "merging",
        (WIDE, security("cors: {maxAge: 10s}", "Gateway/edge#http", "listener"),
         security("mergeType: StrategicMerge, cors: {allowMethods: [GET]}")),
        "allowed", {"wide": "Overridden", "listener": "Enforced", "own": "Enforced"},
        effective={"cors.maxAge": "listener", "cors.allowMethods": "own"}),
    "lists of another policy are replaced": Predicted(
        "merging",
        (security(ORIGINS, "Gateway/edge", "wide"),
         security("mergeType: StrategicMerge, cors: {allowOrigins: ['https://own.example']}")),
        "allowed", {"wide": "Overridden"}, effective={"cors.allowOrigins": "own"}),
    "behind a ListenerSet its policy is the parent": Predicted(
        "merging",
        (WIDE, security(ORIGINS, "ListenerSet/extra", "set", "infra"),
         security("mergeType: StrategicMerge, cors: {maxAge: 10s}")),
        "allowed", {"set": "Enforced", "own": "Enforced"}, request={"port": 8081}, base=BEHIND_SET,
        effective={"cors.allowOrigins": "set", "cors.maxAge": "own"}),
    "behind a ListenerSet without one it is the Gateway's": Predicted(
        "merging", (WIDE, security(f"mergeType: StrategicMerge, {ORIGINS}")), "allowed, jwt required",
        {"own": "Enforced"}, request={"port": 8081}, base=BEHIND_SET,
        effective={"jwt.providers": "wide", "cors.allowOrigins": "own"}),
    "of two targets one is missing": Predicted(
        "levels", (policy("SecurityPolicy", JWT, field=BOTH_ROUTES),), "allowed, jwt required",
        {"own": "PartiallyEnforced"}, ("GWP101",), status={"own": ("Gateway infra/edge Accepted=True/Accepted",)}),
    "a rule that is not there": Predicted(
        "levels", (security(JWT, "HTTPRoute/checkout#gone"), WIDE), "allowed, jwt required",
        {"own": "TargetNotFound", "wide": "Enforced"}, ("GWP103",),
        status={"own": ("Gateway infra/edge Accepted=False/TargetNotFound",)}),
    "a selector chooses no route": Predicted(
        "levels",
        (policy("SecurityPolicy", JWT, field="targetSelectors: [{kind: HTTPRoute, matchLabels: {tier: gold}}]"),),
        "allowed", lint=("GWP105",)),
    "of two policies of a route the first holds": Predicted(
        "levels", (security(JWT, name="a"), security(ORIGINS, name="b")), "allowed, jwt required",
        {"a": "Enforced", "b": "Conflicted"}, status={"b": ("Gateway infra/edge Accepted=False/Conflicted",)}),
    "of a rule and its route both hold": Predicted(
        "levels", (security(JWT, "HTTPRoute/checkout#all", "rule"), security(ORIGINS, name="route")),
        "allowed, jwt required", {"rule": "Enforced"}),
    "a patch of a class whose Gateways are not merged": Predicted(
        "patches", (PATCH.format(kind="GatewayClass", name="any"),), "allowed", lint=("GWP109",), status={"own": ()}),
    "a patch of a Gateway": Predicted(
        "patches", (PATCH.format(kind="Gateway", name="edge"),), "allowed", {"own": "Enforced"},
        status={"own": ("Gateway infra/edge Accepted=True/Accepted",)}),
    "a policy of a Gateway that shares its proxy stays at it": Predicted(
        "levels", (security(JWT, "Gateway/second"),), "allowed", {}, ("GWP106",),
        base=(worlds.gateway_class("any", CONTROLLER, parameters("class", "infra")), *base()[1:],
              worlds.gateway("second", listeners="[{name: http, port: 81, protocol: HTTP}]"),
              proxy("class", "mergeGateways: true"))),
    # The order of filters, and the proxies that change it.
    "cors before tokens": Predicted("order", (BOTH,), "allowed, jwt required", acts=("cors of own", "jwt of own")),
    "the Gateway's proxy replaces the one of its class": Predicted(
        "proxies", (BOTH,), "allowed, jwt required", acts=("cors of own", "jwt of own"),
        base=with_proxies("concurrency: 1")),
    "unless it asks to be merged": Predicted(
        "proxies", (BOTH,), "allowed, jwt required", acts=("jwt of own", "cors of own"),
        base=with_proxies("mergeType: StrategicMerge, concurrency: 1")),
    "or the one of the class does": Predicted(
        "proxies", (BOTH,), "allowed, jwt required", acts=("jwt of own", "cors of own"),
        base=with_proxies("concurrency: 1", f"mergeType: JSONMerge, {MOVED}")),
    "a limit that the proxies count themselves has a filter of its own": Predicted(
        "proxies", (LOCAL, CROSS), "allowed", acts=("rateLimit of limit", "cors of own"),
        base=with_proxies(FIRST, "concurrency: 1")),
    "which is not that of limits that a service counts": Predicted(
        "proxies", (SHARED, CROSS), "allowed", acts=("cors of own", "rateLimit of limit"),
        base=with_proxies(FIRST, "concurrency: 1")),
    # A rule's own fields.
    "the time that a backend has": Predicted(
        "timeouts", (traffic(TIMEOUT),), "allowed", acts=("timeout of checkout",),
        base=base(rule(more="timeouts: {backendRequest: 2s}"))),
    "the time that a try has": Predicted(
        "timeouts", (traffic(TIMEOUT),), "allowed", acts=("timeout of own",),
        base=base(rule(more="timeouts: {backendRequest: 2s}, retry: {attempts: 2}"))),
}  # fmt: skip
