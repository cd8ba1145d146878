"""Kuadrant: which rules act for a request, on which Gateways, and what switches them off."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_OPERATOR = "github.com/Kuadrant/kuadrant-operator"
_CONTROLLER = f"{_OPERATOR} internal/controller"
SOURCES = {
    "merging": f"{_OPERATOR} api/v1/merge_strategies.go @ 36468079c, EffectivePolicyForPath and PoliciesInPath",
    "units": f"{_OPERATOR} api/v1/authpolicy_types.go @ 3c86f0248, Rules",
    "paths": "github.com/Kuadrant/policy-machinery machinery/gateway_api_topology.go @ 0aa1d772e, the Link functions",
    "filter": f"github.com/Kuadrant/wasm-shim v0.14.1 src/kuadrant/pipeline/factory.rs, select_blueprint; {_OPERATOR} "
    "v1.5.1 internal/wasm/utils.go, BuildActionSetsForPath",
    "rules": f"{_OPERATOR} pull request 1879: named rules of policy-machinery v0.8.0 lose their number",
    "classes": f"{_CONTROLLER}/data_plane_policies_workflow.go @ 002d52b04, defaultGatewayControllerName",
    "status": f"{_CONTROLLER}/auth_policy_status_updater.go @ 27472a3b2, enforcedCondition",
    "cel": f"{_CONTROLLER}/istio_extension_reconciler.go @ 79a09434c, buildWasmConfigs: an action whose predicates "
    "do not compile is left out; internal/cel/validator.go @ 049514f75",
    "names": f"{_OPERATOR} internal/cel/kuadrant_validator.go @ faec72c9c, NewRootValidatorBuilder: request, source, "
    "destination and connection, then what policies say; validator.go, Validate: what is not declared does not compile",
    "when": f"{_CONTROLLER}/auth_workflow_helpers.go @ d192d5be9, buildWasmActionsForAuth: `when` is the action's",
    "certificates": f"{_CONTROLLER}/effective_tls_policies_reconciler.go @ 08b535560, validateGatewayListenerBlock",
    "records": f"{_CONTROLLER}/effective_dnspolicies_reconciler.go @ 08b535560, listenersForPolicy",
    "conflict": f"{_CONTROLLER}/dnspolicies_validator.go @ 08b535560, isConflict",
    "targets": f"{_CONTROLLER}/auth_policies_validator.go @ aedeea5d0",
    "pipeline": "github.com/Kuadrant/authorino pkg/service/auth_pipeline.go @ 0229958e8",
    "anonymous": "github.com/Kuadrant/authorino controllers/auth_config_controller.go @ 0229958e8, "
    "translateAuthConfig: without any, `anonymous` is added",
    "predicates": "github.com/google/cel-spec doc/langdef.md, «Logical Operators»: errors beside what decides are none",
    "openshift": "Red Hat Connectivity Link 1.3, Installing: ISTIO_GATEWAY_CONTROLLER_NAMES of the operator",
    "patterns": "github.com/Kuadrant/authorino controllers/auth_config_controller.go (2025), translateAuthConfig and "
    "buildJSONExpressionPatterns",
}  # fmt: skip
REQUEST = {"host": "shop.example"}
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
PLAIN = f"rules: [{{{BACKENDS}}}]"
NAMED = f"rules: [{{name: pay, matches: [{{path: {{value: /pay}}}}], {BACKENDS}}}, {{name: all, {BACKENDS}}}]"
TWO_LISTENERS = (
    "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}},"
    " {name: alt, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
)
ISTIO = worlds.gateway_class("any", "istio.io/gateway-controller")
ENVOY_GATEWAY = worlds.gateway_class("any", "gateway.envoyproxy.io/gatewayclass-controller")
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def base(
    rules: str = PLAIN, gateway: str = worlds.gateway(), of_class: str = ISTIO, route: str = ""
) -> tuple[str, ...]:
    return of_class, gateway, route or worlds.route(more=rules), worlds.service()


BASE = base()
TWO = base(NAMED, worlds.gateway(listeners=TWO_LISTENERS))
APART = base(
    NAMED, worlds.gateway(listeners=TWO_LISTENERS.replace("name: alt", "name: alt, hostname: alt.example", 1)
                          .replace("name: http", "name: http, hostname: shop.example", 1))
)  # fmt: skip
KEY = "authentication: {key: {apiKey: {selector: {matchLabels: {app: shop}}}}}"
OPEN = "authentication: {key: {anonymous: {}}}"
DENY = "authorization: {no: {opa: {rego: allow = false}}}"


def policy(name: str, target: str, spec: str, created: str = "", kind: str = "AuthPolicy", version: str = "v1") -> str:
    """A policy in the namespace of its target: Gateways are in infra."""
    namespace = "infra" if target.startswith("Gateway") else "shop"
    return worlds.policy(
        f"kuadrant.io/{version}", kind, name, target, spec, namespace, created, field="targetRef"
    )  # fmt: skip


def auth(name: str, target: str, *rules: str, created: str = "", more: str = "") -> str:
    spec = f"rules: {{{', '.join(rules)}}}{more and f', {more}'}"
    return policy(name, target, spec, created)


def wrapped(name: str, target: str, wrapper: str, strategy: str, *rules: str, created: str = "") -> str:
    spec = f"{wrapper}: {{strategy: {strategy}, rules: {{{', '.join(rules)}}}}}"
    return policy(name, target, spec, created)


def at(path: str, port: int = 80) -> dict[str, object]:
    return {"path": path, "port": port}


def selected(field: str, value: str, operator: str = "eq") -> str:
    return f"{{selector: context.request.http.{field}, operator: {operator}, value: {value}}}"


def authorizing(*patterns: str, when: str = "") -> str:
    patterns_of = f"patternMatching: {{patterns: [{', '.join(patterns)}]}}"
    return f"authorization: {{a: {{{when and f'when: [{when}], '}{patterns_of}}}}}"


WHEN = "when: [{predicate: '%s'}]"
NO_DOCS = '!request.path.endsWith("/docs") && !request.path.endsWith("/openapi.json")'
OR_HEADER = 'request.headers["x-a"].startsWith("b") || request.path.startsWith("/llm")'
ROUTE, GATEWAY = "HTTPRoute/checkout", "Gateway/edge"
REQUIRED, NOT_REQUIRED = "allowed, authentication required", "allowed, authentication not required"
LIMITS = "limits: {a: {rates: [{limit: 5, window: 1m}]}}"
FOREIGN = (
    *base(route=worlds.route(parents="[{name: edge, namespace: infra}, {name: other, namespace: infra}]", more=PLAIN)),
    worlds.gateway_class("cilium", "io.cilium/gateway-controller"),
    worlds.gateway("other", of_class="cilium"),
)
GRPC = base(
    gateway=worlds.gateway(), route=worlds.route(kind="GRPCRoute", more=f"rules: [{{name: calls, {BACKENDS}}}]")
)
CALL = {"protocol": "grpc", "path": "/shop.Cart/Get", "method": "POST"}
BASIC = worlds.policy(
    "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "basic", ROUTE,
    "basicAuth: {users: {name: users}}", "shop",
)  # fmt: skip
USERS = worlds.manifest(
    "v1", "Secret", "users", "shop", "type: Opaque\nstringData: {.htpasswd: 'a:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI='}"
)


GATED = policy(
    "g", GATEWAY, "overrides: {strategy: merge, when: [{predicate: 'request.path == \"/admin\"'}], "
    "rules: {metadata: {m: {http: {url: http://a.example}}}}}",
)  # fmt: skip


def tls_base(listener: str) -> tuple[str, ...]:
    """A route behind one HTTPS listener, whose certificate a TLSPolicy is to make."""
    fields = f"[{{name: tls, port: 443, protocol: HTTPS, allowedRoutes: {{namespaces: {{from: All}}}}, {listener}}}]"
    issuer = worlds.manifest("cert-manager.io/v1", "Issuer", "x", "infra", "spec: {selfSigned: {}}")
    return (*base(gateway=worlds.gateway(listeners=fields)), issuer)


HOST = "hostname: shop.example"
CERTIFICATE = "tls: {certificateRefs: [{name: shop-tls}]}"
TLS = policy("p", GATEWAY, "issuerRef: {name: x}", kind="TLSPolicy")
SECURE = {"scheme": "https", "port": 443}


def when(predicate: str) -> str:
    return auth("p", ROUTE, KEY, more=f"when: [{{predicate: '{predicate}'}}]")


WORLDS = {
    # Where rules act.
    "a policy of a listener: its port": Predicted(
        "paths", (auth("p", "Gateway/edge#alt", KEY),), REQUIRED, {"p": "Enforced"}, request=at("/", 8080), base=TWO),
    "and the other's, for the same hosts: the filter knows no ports": Predicted(
        "filter", (auth("p", "Gateway/edge#alt", KEY),), REQUIRED, {"p": "Enforced"}, base=TWO),
    "and not the other's for other hosts": Predicted(
        "filter", (auth("p", "Gateway/edge#alt", KEY),), "allowed", {"p": "Enforced"}, base=APART),
    "a named rule, and what is asked there": Predicted(
        "rules", (auth("p", f"{ROUTE}#pay", KEY),), REQUIRED, {"p": "Enforced"}, request=at("/pay"), base=TWO),
    "what has a name has no number": Predicted(
        "rules", (auth("p", f"{ROUTE}#rule-1", KEY),), "allowed", {"p": "TargetNotFound"}, ("GWP103",), base=TWO),
    "a rule without a name by its number": Predicted(
        "rules", (auth("p", f"{ROUTE}#rule-1", KEY),), REQUIRED, {"p": "Enforced"}, ("GWP110",)),
    "calls of a GRPCRoute": Predicted(
        "paths", (auth("p", "GRPCRoute/checkout", KEY),), REQUIRED, {"p": "Enforced"}, request=CALL, base=GRPC),
    "calls at a named rule": Predicted(
        "rules", (auth("p", "GRPCRoute/checkout#calls", KEY),), REQUIRED, {"p": "Enforced"}, request=CALL, base=GRPC),
    "a target is in the policy's namespace": Predicted(
        "targets", (auth("p", ROUTE, KEY).replace("namespace: shop", "namespace: infra"),), "allowed",
        {"p": "TargetNotFound"}, ("GWP101",)),
    "no policy on a Service": Predicted(
        "targets", (auth("p", "Service/checkout", KEY),), "allowed", {"p": "Invalid"}, ("GWP102",)),
    "nothing leads to the listener that it names": Predicted(
        "status", (auth("p", "Gateway/edge#alt", KEY),), "allowed", {"p": "NoEffect"}, ("GWP106",),
        base=base(gateway=worlds.gateway(listeners=TWO_LISTENERS),
                  route=worlds.route(parents="[{name: edge, namespace: infra, sectionName: http}]", more=PLAIN))),
    # Whose Gateways.
    "through Istio's Gateway": Predicted(
        "classes", (auth("p", ROUTE, KEY),), REQUIRED, {"p": "Enforced"}, ("GWP108",),
        request={"gateway": "Gateway infra/edge"}, base=FOREIGN),
    "and past it through Cilium's": Predicted(
        "classes", (auth("p", ROUTE, KEY),), "allowed", {"p": "Enforced"}, ("GWP108",),
        request={"gateway": "Gateway infra/other"}, base=FOREIGN),
    "beside a policy of Envoy Gateway's": Predicted(
        "classes", (auth("p", ROUTE, KEY), BASIC), "allowed, authentication and basicAuth required",
        {"p": "Enforced", "basic": "Enforced"}, base=(*base(of_class=ENVOY_GATEWAY), USERS)),
    # Who prevails.
    "of two overrides of one Gateway the older": Predicted(
        "merging",
        (wrapped("a", GATEWAY, "overrides", "atomic", OPEN, created=NEW),
         wrapped("b", GATEWAY, "overrides", "atomic", KEY, created=OLD)),
        REQUIRED, {"a": "Overridden", "b": "Enforced"}),
    "of two defaults of one Gateway the newer": Predicted(
        "merging", (auth("a", GATEWAY, KEY, created=NEW), auth("b", GATEWAY, OPEN, created=OLD)),
        REQUIRED, {"a": "Enforced", "b": "Overridden"}),
    "an override of a listener before the Gateway's default and the route's": Predicted(
        "merging",
        (auth("g", GATEWAY, OPEN), wrapped("l", "Gateway/edge#alt", "overrides", "atomic", KEY),
         auth("r", ROUTE, OPEN)),
        REQUIRED, {"g": "Overridden", "l": "Enforced", "r": "PartiallyEnforced"},
        request={"host": "alt.example", **at("/", 8080)}, base=APART),
    "an override of a route before its rule's": Predicted(
        "merging",
        (wrapped("r", ROUTE, "overrides", "atomic", KEY), auth("u", f"{ROUTE}#pay", OPEN)),
        REQUIRED, {"r": "Enforced", "u": "Overridden"}, request=at("/pay"), base=TWO),
    "a default of a route behind its rule's": Predicted(
        "merging", (auth("r", ROUTE, KEY), auth("u", f"{ROUTE}#pay", OPEN)),
        NOT_REQUIRED, {"r": "PartiallyEnforced", "u": "Enforced"}, request=at("/pay"), base=TWO),
    "merged defaults add what the route has not": Predicted(
        "units", (wrapped("g", GATEWAY, "defaults", "merge", DENY), auth("r", ROUTE, OPEN)),
        "403", {"g": "Enforced", "r": "Enforced"}),
    "merged overrides take rules by name": Predicted(
        "units", (wrapped("g", GATEWAY, "overrides", "merge", OPEN), auth("r", ROUTE, KEY)),
        NOT_REQUIRED, {"g": "Enforced", "r": "Overridden"}),
    "the answer to who may not is a unit of its own": Predicted(
        "units",
        (wrapped("g", GATEWAY, "defaults", "merge", "response: {unauthorized: {code: 404}}"), auth("r", ROUTE, DENY)),
        "404", {"g": "Enforced", "r": "Enforced"}),
    "what the API server refuses beats nobody": Predicted(
        "units", (auth("g", GATEWAY, KEY), policy("r", ROUTE, "rules: {authentication: {}}")),
        REQUIRED, {"g": "Enforced", "r": "Invalid"}, ("GWP111",)),
    # Conditions.
    "a condition that does not hold": Predicted(
        "when", (auth("p", ROUTE, KEY, more="when: [{predicate: 'request.path.startsWith(\"/admin\")'}]"),),
        "allowed", {"p": "Enforced"}),
    "a condition that holds": Predicted(
        "when", (auth("p", ROUTE, KEY, more="when: [{predicate: 'request.path.startsWith(\"/admin\")'}]"),),
        REQUIRED, {"p": "Enforced"}, request=at("/admin")),
    "one of two conditions is not known": Predicted(
        "when",
        (auth("p", ROUTE, KEY,
              more="when: [{predicate: 'request.path == \"/admin\"'}, {predicate: 'size(request.headers) > 3'}]"),),
        NOT_REQUIRED, {"p": "Enforced"}, request=at("/admin")),
    "nobody is refused where the condition does not hold": Predicted(
        "when", (auth("p", ROUTE, DENY, more="when: [{predicate: 'request.method == \"POST\"'}]"),),
        "allowed", {"p": "Enforced"}),
    "and is where it does": Predicted(
        "when", (auth("p", ROUTE, DENY, more="when: [{predicate: 'request.method == \"POST\"'}]"),),
        "403", {"p": "Enforced"}, request={"method": "POST"}),
    "anonymous where its own condition holds": Predicted(
        "pipeline",
        (auth("p", ROUTE, "authentication: {key: {apiKey: {selector: {}}, priority: 0}, "
              f"public: {{when: [{selected('path', '/public')}], anonymous: {{}}, priority: 1}}}}"),),
        NOT_REQUIRED, {"p": "Enforced"}, request=at("/public")),
    "and not where it does not": Predicted(
        "pipeline",
        (auth("p", ROUTE, "authentication: {key: {apiKey: {selector: {}}, priority: 0}, "
              f"public: {{when: [{selected('path', '/public')}], anonymous: {{}}, priority: 1}}}}"),),
        REQUIRED, {"p": "Enforced"}, request=at("/other")),
    "a condition that is no CEL switches the policy off": Predicted(
        "cel", (auth("p", ROUTE, KEY, more="when: [{predicate: 'request.path =='}]"),),
        "allowed", {"p": "Invalid"}, ("GWP111",)),
    "and it beats the Gateway's all the same": Predicted(
        "cel", (auth("g", GATEWAY, KEY), auth("p", ROUTE, KEY, more="when: [{predicate: 'request.path =='}]")),
        "allowed", {"g": "Overridden", "p": "Invalid"}, ("GWP111",)),
    "a limit whose condition is no CEL": Predicted(
        "cel",
        (policy("p", ROUTE, "limits: {a: {rates: [{limit: 5, window: 1m}], when: [{predicate: 'a &&'}]}}",
                kind="RateLimitPolicy"),),
        "allowed", {"p": "Invalid"}, ("GWP111",)),
    "a variable in a condition may be anything": Predicted(
        "cel", (auth("p", ROUTE, KEY, more="when: [{predicate: '${CONDITION}'}]"),),
        NOT_REQUIRED, {"p": "Enforced"}),
    "a name that is not declared": Predicted(
        "names", (when("identity.role == \"admin\""),), "allowed", {"p": "Invalid"}, ("GWP111",)),
    "an attribute of Envoy that is not declared": Predicted(
        "names", (when("xds.route_name == \"a\""),), "allowed", {"p": "Invalid"}, ("GWP111",)),
    "a name within a macro": Predicted(
        "names", (when("request.headers.exists(h, h == name)"),), "allowed", {"p": "Invalid"}, ("GWP111",)),
    "the variable of a macro": Predicted(
        "names", (when("request.headers.exists(h, h == \"x\")"),), NOT_REQUIRED, {"p": "Enforced"}),
    "which is nobody's outside of it": Predicted(
        "names", (when("request.headers.exists(h, h == \"x\") && h == \"x\""),), "allowed", {"p": "Invalid"},
        ("GWP111",)),
    "an attribute that no request has": Predicted(
        "names", (when("request.foo == \"a\""),), NOT_REQUIRED, {"p": "Enforced"}),
    "what another release may declare": Predicted(
        "names", (when("metadata.filter_metadata.a == \"b\""),), NOT_REQUIRED, {"p": "Enforced"}),
    "the name of a type": Predicted(
        "names", (when("type(request.path) == string && request.path.startsWith(\"/admin\")"),), "allowed",
        {"p": "Enforced"}),
    "what a login says, for a limit": Predicted(
        "names",
        (policy("p", ROUTE, "limits: {a: {rates: [{limit: 5, window: 1m}], when: [{predicate: 'auth.a == 1'}]}}",
                kind="RateLimitPolicy"),),
        "allowed", {"p": "Enforced"}),
    "what nobody says, for a limit": Predicted(
        "names",
        (policy("p", ROUTE, "limits: {a: {rates: [{limit: 5, window: 1m}], when: [{predicate: 'identity.a == 1'}]}}",
                kind="RateLimitPolicy"),),
        "allowed", {"p": "Invalid"}, ("GWP111",)),
    "an override's condition gates the route's rules": Predicted(
        "units", (GATED, auth("r", ROUTE, KEY)), "allowed", {"g": "Enforced", "r": "Enforced"}),
    "and asks where it holds": Predicted(
        "units", (GATED, auth("r", ROUTE, KEY)), REQUIRED, {"g": "Enforced", "r": "Enforced"}, request=at("/admin")),
    "a condition on a call": Predicted(
        "when",
        (auth("p", "GRPCRoute/checkout", KEY, more="when: [{predicate: 'request.path.startsWith(\"/shop.Cart/\")'}]"),),
        REQUIRED, {"p": "Enforced"}, request=CALL, base=GRPC),
    "of two conditions in one pattern any": Predicted(
        "pipeline",
        (auth("p", ROUTE, KEY, f"authorization: {{no: {{when: [{{any: [{selected('method', 'PUT')}, "
              f"{selected('path', '/pay')}]}}], opa: {{rego: allow = false}}}}}}"),),
        "403", {"p": "Enforced"}, request=at("/pay")),
    "a broken condition of the Gateway's spoils the merged": Predicted(
        "cel",
        (policy("g", GATEWAY, f"defaults: {{strategy: merge, when: [{{predicate: 'a.b('}}], rules: {{{DENY}}}}}"),
         auth("r", ROUTE, KEY)),
        "allowed", {"g": "Invalid", "r": "Overridden"}, ("GWP111",)),
    "an overridden broken condition spoils nothing": Predicted(
        "cel",
        (wrapped("g", GATEWAY, "overrides", "atomic", KEY),
         auth("r", ROUTE, KEY, more="when: [{predicate: 'a.b('}]")),
        REQUIRED, {"g": "Enforced", "r": "Overridden"}),
    "a condition at Envoy Gateway's Gateway": Predicted(
        "when", (auth("p", ROUTE, KEY, more="when: [{predicate: 'request.method == \"POST\"'}]"),), "allowed",
        {"p": "Enforced"}, base=base(of_class=ENVOY_GATEWAY)),
    # Patterns by name.
    "a pattern by its name": Predicted(
        "patterns",
        (auth("p", ROUTE, authorizing("{patternRef: gets}"),
              more=f"patterns: {{gets: {{allOf: [{selected('method', 'GET')}]}}}}"),),
        "403", {"p": "Enforced"}, request={"method": "POST"}),
    "a pattern by its name that holds": Predicted(
        "patterns",
        (auth("p", ROUTE, authorizing("{patternRef: gets}"),
              more=f"patterns: {{gets: {{allOf: [{selected('method', 'GET')}]}}}}"),),
        "allowed", {"p": "Enforced"}),
    "a name that no pattern has demands nothing": Predicted(
        "patterns",
        (auth("p", ROUTE, authorizing("{patternRef: nets}"),
              more=f"patterns: {{gets: {{allOf: [{selected('method', 'GET')}]}}}}"),),
        "allowed", {"p": "Enforced"}, request={"method": "POST"}),
    "a pattern of the Gateway's policy for the route's rule": Predicted(
        "patterns",
        (policy("g", GATEWAY, "defaults: {strategy: merge, rules: {metadata: {m: {http: {url: http://a.example}}}}, "
                f"patterns: {{gets: {{allOf: [{selected('method', 'GET')}]}}}}}}"),
         auth("r", ROUTE, authorizing("{patternRef: gets}"))),
        "403", {"g": "Enforced", "r": "Enforced"}, request={"method": "POST"}),
    "nobody has to say who he is where only authorization asks": Predicted(
        "patterns", (auth("p", ROUTE, authorizing(selected("path", "/pay", "neq"))),), "allowed", {"p": "Enforced"}),
    # Certificates and names.
    "a listener without a host gets no certificate": Predicted(
        "certificates", (TLS,), "allowed", {"p": "NoEffect"}, ("GWP106",), request=SECURE, base=tls_base(CERTIFICATE)),
    "nor does one that passes TLS on": Predicted(
        "certificates", (TLS,), "reset", {"p": "NoEffect"}, ("GWP106",), request=SECURE,
        base=(*base(gateway=worlds.gateway(listeners="[{name: tls, port: 443, protocol: TLS, hostname: shop.example, "
                                           "tls: {mode: Passthrough}, allowedRoutes: {namespaces: {from: All}}}]"),
                    route=worlds.route(parents="[]", more=PLAIN)),
              worlds.manifest("cert-manager.io/v1", "Issuer", "x", "infra", "spec: {selfSigned: {}}"))),
    "nor does one with a Secret of another namespace": Predicted(
        "certificates", (TLS,), "allowed", {"p": "NoEffect"}, ("GWP106",), request=SECURE,
        base=(*tls_base(f"{HOST}, tls: {{certificateRefs: [{{name: shop-tls, namespace: other}}]}}"),
              worlds.grant("other", "{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}",
                           "{group: '', kind: Secret}"))),
    "a listener with a host and a Secret gets one": Predicted(
        "certificates", (TLS,), "allowed", {"p": "Enforced"}, request=SECURE,
        base=tls_base(f"{HOST}, {CERTIFICATE}")),
    "one DNSPolicy a listener, whoever is older": Predicted(
        "conflict",
        (policy("g", GATEWAY, "loadBalancing: {weight: 1, geo: EU, defaultGeo: true}", OLD, "DNSPolicy"),
         policy("l", "Gateway/edge#alt", "excludeAddresses: [10.0.0.0/8]", NEW, "DNSPolicy")),
        "allowed", {"g": "PartiallyEnforced", "l": "Enforced"},
        base=base(gateway=worlds.gateway(listeners=TWO_LISTENERS.replace("HTTP,", "HTTP, hostname: shop.example,")))),
    # Limits.
    "limits ask nobody who he is": Predicted(
        "units", (policy("p", ROUTE, LIMITS, kind="RateLimitPolicy"),), "allowed", {"p": "Enforced"}),
    "limits of tokens beside those of requests": Predicted(
        "units",
        (policy("p", ROUTE, LIMITS, kind="RateLimitPolicy"),
         policy("t", ROUTE, LIMITS, kind="TokenRateLimitPolicy", version="v1alpha1")),
        "allowed", {"p": "Enforced", "t": "Enforced"}),
    "a predicate of two ends and a negation": Predicted(
        "predicates", (auth("p", ROUTE, KEY, more=WHEN % NO_DOCS),), REQUIRED, {"p": "Enforced"},
        request={"path": "/llm"}),
    "and where it does not hold nobody is asked": Predicted(
        "predicates", (auth("p", ROUTE, KEY, more=WHEN % NO_DOCS),), "allowed", {"p": "Enforced"},
        request={"path": "/llm/docs"}),
    "a denial of what does not contain a text": Predicted(
        "predicates",
        (auth("p", ROUTE, authorizing('{predicate: request.path.contains("ok")}')),),
        "403", {"p": "Enforced"}, request={"path": "/llm"}),
    "a header that is not there is an error, which another answer may outweigh": Predicted(
        "predicates", (auth("p", ROUTE, KEY, more=WHEN % OR_HEADER),), REQUIRED, {"p": "Enforced"},
        request={"path": "/llm"}),
    "no kind of credentials is anonymous access": Predicted(
        "anonymous", (auth("p", ROUTE, "authentication: {}", "authorization: {a: {opa: {rego: allow = true}}}"),),
        "allowed", {"p": "Enforced"}),
    "and no rules of authorization allow": Predicted(
        "anonymous", (auth("p", ROUTE, KEY, "authorization: {}"),), REQUIRED, {"p": "Enforced"}),
    "OpenShift's Gateways are Istio's": Predicted(
        "openshift", (auth("p", ROUTE, KEY),), REQUIRED, {"p": "Enforced"},
        base=base(of_class=worlds.gateway_class("any", "openshift.io/gateway-controller/v1"))),
}  # fmt: skip
