"""agentgateway: what its controller makes of policies, and how its proxy lays them over each other."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_PROXY = "github.com/agentgateway/agentgateway @ 0156d9e69 crates/agentgateway/src"
_CONTROLLER = "github.com/agentgateway/agentgateway @ 42956ebc8 controller/pkg/agentgateway/plugins"
SOURCES = {
    "route": f"{_PROXY}/store/binds.rs, route_policies",
    "early": f"{_PROXY}/store/binds.rs, gateway_policies",
    "backend": f"{_PROXY}/store/binds.rs, internal_backend_policies",
    "ties": f"{_PROXY}/store/binds.rs, policies_for_target_oldest_first",
    "rules": f"{_PROXY}/http/authorization.rs, RuleSets::validate",
    "modes": f"{_CONTROLLER}/traffic_plugin.go, process{{JWT,Basic,APIKey}}AuthenticationPolicy",
    "calls": f"{_CONTROLLER}/traffic_plugin.go, buildExtAuthSpec; {_PROXY}/http/ext_authz.rs, handle_auth_failure",
    "nothing": f"{_CONTROLLER}/traffic_plugin.go, PolicyConditionMap: an error, and nothing translated",
    "answers": f"{_CONTROLLER}/traffic_plugin.go, processDirectResponseTraffic",
    "targets": f"{_CONTROLLER}/traffic_plugin.go, TranslateAgentgatewayPolicy",
    "owner": f"{_CONTROLLER}/policy_target_owner.go, foreignPolicyTarget",
    "crd": "github.com/agentgateway/agentgateway @ 75b4e6ce6 config/crd, AgentgatewayPolicy",
}
REQUEST = {"host": "shop.example"}
API = "agentgateway.dev/v1alpha1"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
LISTENERS = "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]"
TWO = LISTENERS.replace("]", ", {name: admin, port: 81, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]")
ADMITS = "allowedListeners: {namespaces: {from: All}}"
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
RULES = f"rules: [{{name: pay, {BACKENDS}}}]"


def base(
    controller: str = "agentgateway.dev/agentgateway",
    route: str = worlds.route(more=RULES, annotations="").replace(
        "name: checkout,", "name: checkout, labels: {a: b},", 1
    ),
    listeners: str = LISTENERS,
    *more: str,
) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", controller),
        worlds.gateway(listeners=listeners, more=ADMITS),
        route,
        worlds.service(),
        worlds.service("authz", ports="[{name: grpc, port: 9000}]"),
        worlds.service("authz", "infra", ports="[{name: grpc, port: 9000}]"),
        *more,
    )


BASE = base()
TWO_RULES = "rules: [{name: pay, matches: [{path: {value: /pay}}], " + BACKENDS + "}, {name: browse, " + BACKENDS + "}]"
SET = worlds.listener_set("extra", "infra", LISTENERS.replace("80", "90").replace("http", "more"))
OF_SET = (
    *base(route=worlds.route(parents="[{kind: ListenerSet, name: extra, namespace: infra}]", more=RULES)),
    SET,
)
TO_MCP = worlds.route(
    more="rules: [{name: pay, backendRefs: [{group: agentgateway.dev, kind: AgentgatewayBackend, name: tools}]}]"
)
TOOLS = worlds.manifest(
    API,
    "AgentgatewayBackend",
    "tools",
    "shop",
    "spec: {mcp: {targets: [{name: a, static: {host: a.example, port: 80}}]}}",
)
MCP = (*base(route=TO_MCP), TOOLS)


def on(target: str, spec: str, name: str = "p", created: str = "", strategy: str = "") -> str:
    """A policy in the namespace of its target: Gateways and ListenerSets are in infra."""
    namespace = "infra" if target.partition("/")[0] in ("Gateway", "ListenerSet") else "shop"
    target = target.replace("AgentgatewayBackend/", "AgentgatewayBackend.agentgateway.dev/")
    target = target.replace("InferencePool/", "InferencePool.inference.networking.k8s.io/")
    spec = f"{strategy}{strategy and ', '}{spec}"
    return worlds.policy(API, "AgentgatewayPolicy", name, target, spec, namespace, created)


def jwt(mode: str = "", phase: str = "") -> str:
    keys = """providers: [{issuer: a, jwks: {inline: '{"keys": []}'}}]"""
    mode = mode and f"mode: {mode}, "
    return f"traffic: {{{phase}jwtAuthentication: {{{mode}{keys}}}}}"


def rules(expression: str, action: str = "Allow", more: str = "") -> str:
    return f"traffic: {{{more}authorization: {{action: {action}, policy: {{matchExpressions: ['{expression}']}}}}}}"


def call(name: str = "authz", mode: str = "", block: str = "traffic", more: str = "") -> str:
    mode = mode and f", failureMode: {mode}"
    return f"{block}: {{{more}extAuth: {{backendRef: {{name: {name}, port: 9000}}, grpc: {{}}{mode}}}}}"


LOCK = "strategy: {inheritance: Override}"
EARLY = "phase: PreRouting, "
ROUTE, GATEWAY = "HTTPRoute/checkout", "Gateway/edge"
TOKEN, MAYBE = "allowed, jwtAuthentication required", "allowed, jwtAuthentication not required"
IS_A, IS_B = 'request.path == "/a"', 'request.path == "/b"'
AT_A, AT_B = {"path": "/a"}, {"path": "/b"}
KEYS = "apiKeyAuthentication: {mode: MODE, configMapSelector: {matchLabels: {of: keys}}}"
USERS = "basicAuthentication: {mode: MODE, users: ['alice:$apr1$x$y']}"
LABELLED = "targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {a: LABEL}}]"


def selecting(label: str) -> str:
    fields = f"{LABELLED.replace('LABEL', label)}, {jwt()}"
    return worlds.policy(API, "AgentgatewayPolicy", "p", "", fields, "shop")


def at_two(*names: str) -> str:
    entries = ", ".join(worlds.reference(f"HTTPRoute/{name}") for name in names)
    return worlds.policy(API, "AgentgatewayPolicy", "p", "", f"targetRefs: [{entries}], {jwt()}", "shop")


WORLDS = {
    # --- modes ---
    "a token is demanded where no mode is stated": Predicted("modes", (on(ROUTE, jwt()),), TOKEN, {"p": "Enforced"}),
    "a strict token": Predicted("modes", (on(ROUTE, jwt("Strict")),), TOKEN),
    "a token that is checked if it comes": Predicted("modes", (on(ROUTE, jwt("Optional")),), MAYBE),
    "a token that is looked at": Predicted("modes", (on(ROUTE, jwt("Permissive")),), MAYBE),
    "a password": Predicted(
        "modes", (on(ROUTE, f"traffic: {{{USERS.replace('MODE', 'Strict')}}}"),),
        "allowed, basicAuthentication required"),
    "a password if it comes": Predicted(
        "modes", (on(ROUTE, f"traffic: {{{USERS.replace('MODE', 'Optional')}}}"),),
        "allowed, basicAuthentication not required"),
    "keys of a selector that finds none are demanded all the same": Predicted(
        "modes", (on(ROUTE, f"traffic: {{{KEYS.replace('MODE', 'Strict')}}}"),),
        "allowed, apiKeyAuthentication required", {"p": "Enforced"}),
    "a key that is looked at": Predicted(
        "modes", (on(ROUTE, f"traffic: {{{KEYS.replace('MODE', 'Permissive')}}}"),),
        "allowed, apiKeyAuthentication not required"),
    "two logins of one policy": Predicted(
        "modes", (on(ROUTE, f"{jwt()[:-1]}, {USERS.replace('MODE', 'Strict')}}}"),),
        "allowed, basicAuthentication and jwtAuthentication required"),
    "a token before routing and a password after it": Predicted(
        "early", (on(GATEWAY, jwt(phase=EARLY)), on(ROUTE, f"traffic: {{{USERS.replace('MODE', 'Strict')}}}", "q")),
        "allowed, basicAuthentication and jwtAuthentication required"),
    # --- levels ---
    "the route before the Gateway": Predicted(
        "route", (on(GATEWAY, jwt()), on(ROUTE, jwt("Permissive"), "q")), MAYBE, {"p": "Overridden", "q": "Enforced"}),
    "unless the Gateway's policy is locked": Predicted(
        "route", (on(GATEWAY, jwt(), strategy=LOCK), on(ROUTE, jwt("Permissive"), "q")), TOKEN,
        {"p": "Enforced", "q": "Overridden"}),
    "a lock of the route's own does not reach up": Predicted(
        "route", (on(GATEWAY, jwt()), on(ROUTE, jwt("Permissive"), "q", strategy=LOCK)), MAYBE),
    "the listener before the Gateway": Predicted(
        "route", (on(GATEWAY, jwt()), on(f"{GATEWAY}#http", jwt("Permissive"), "q")), MAYBE, {"p": "Overridden"}),
    "another listener's policy": Predicted(
        "route", (on(f"{GATEWAY}#admin", jwt()),), "allowed", {"p": "Enforced"}, base=base(listeners=TWO),
        request={"port": 80}),
    "the rule before its route": Predicted(
        "route", (on(ROUTE, jwt()), on(f"{ROUTE}#pay", jwt("Permissive"), "q")), MAYBE,
        {"p": "PartiallyEnforced", "q": "Enforced"}, request={"path": "/pay"},
        base=base(route=worlds.route(more=TWO_RULES))),
    "and no other rule": Predicted(
        "route", (on(ROUTE, jwt()), on(f"{ROUTE}#pay", jwt("Permissive"), "q")), TOKEN, request={"path": "/x"},
        base=base(route=worlds.route(more=TWO_RULES))),
    "a ListenerSet's policy for its routes": Predicted(
        "route", (on("ListenerSet/extra", jwt()),), TOKEN, {"p": "Enforced"}, base=OF_SET, request={"port": 90}),
    "the Gateway's reaches them, too": Predicted(
        "route", (on(GATEWAY, jwt()),), TOKEN, base=OF_SET, request={"port": 90}),
    "a listener of the set before the set": Predicted(
        "route", (on("ListenerSet/extra", jwt()), on("ListenerSet/extra#more", jwt("Optional"), "q")), MAYBE,
        {"p": "Overridden"}, base=OF_SET, request={"port": 90}),
    "a ListenerSet's policy for routes of the Gateway": Predicted(
        "route", (on("ListenerSet/extra", jwt()),), "allowed", base=(*BASE, SET), request={"port": 80}),
    # --- before routing ---
    "before routing the listener comes before the Gateway": Predicted(
        "early", (on(GATEWAY, jwt(phase=EARLY)), on(f"{GATEWAY}#http", jwt("Permissive", EARLY), "q")), MAYBE,
        {"p": "Overridden"}),
    "a lock does not hold before routing": Predicted(
        "early",
        (on(GATEWAY, jwt(phase=EARLY), strategy=LOCK), on(f"{GATEWAY}#http", jwt("Permissive", EARLY), "q")), MAYBE),
    "a route does not open what was asked before routing": Predicted(
        "early", (on(GATEWAY, jwt(phase=EARLY)), on(ROUTE, jwt("Permissive"), "q")), TOKEN,
        {"p": "Enforced", "q": "Enforced"}),
    "a route cannot act before routing": Predicted(
        "crd", (on(ROUTE, jwt(phase=EARLY)),), "allowed", {"p": "Invalid"}),
    # --- ties ---
    "of two on one route the older": Predicted(
        "ties", (on(ROUTE, jwt("Permissive"), "p", NEW), on(ROUTE, jwt(), "q", OLD)), TOKEN,
        {"p": "Overridden", "q": "Enforced"}),
    "of the same age the first by name": Predicted(
        "ties", (on(ROUTE, jwt("Permissive"), "q", OLD), on(ROUTE, jwt(), "p", OLD)), TOKEN,
        {"p": "Enforced", "q": "Overridden"}),
    "two on one Gateway before routing, too": Predicted(
        "ties", (on(GATEWAY, jwt("Permissive", EARLY), "p", NEW), on(GATEWAY, jwt(phase=EARLY), "q", OLD)), TOKEN),
    "two of different settings": Predicted(
        "ties", (on(ROUTE, jwt(), "p", NEW), on(ROUTE, f"traffic: {{{USERS.replace('MODE', 'Strict')}}}", "q", OLD)),
        "allowed, basicAuthentication and jwtAuthentication required", {"p": "Enforced", "q": "Enforced"}),
    # --- rules ---
    "an Allow that matches": Predicted("rules", (on(ROUTE, rules(IS_A)),), "allowed", request=AT_A),
    "an Allow that does not": Predicted("rules", (on(ROUTE, rules(IS_A)),), "403", request=AT_B),
    "a Deny that does not match": Predicted(
        "rules", (on(ROUTE, rules(IS_A, "Deny")),), "allowed", request=AT_B),
    "a Require that does not match": Predicted("rules", (on(ROUTE, rules(IS_A, "Require")),), "403", request=AT_B),
    "a Deny of the Gateway and an Allow of the route": Predicted(
        "rules", (on(GATEWAY, rules(IS_A, "Deny")), on(ROUTE, rules(IS_A), "q")), "403", request=AT_A),
    "one Allow of two is enough": Predicted(
        "rules", (on(GATEWAY, rules(IS_A)), on(ROUTE, rules(IS_B), "q")), "allowed", request=AT_B),
    "but not beyond a lock": Predicted(
        "rules", (on(GATEWAY, rules(IS_A), strategy=LOCK), on(ROUTE, rules(IS_B), "q")), "403", {"q": "Overridden"},
        request=AT_B),
    "rules before routing and after it": Predicted(
        "rules", (on(GATEWAY, rules(IS_A, more=EARLY)), on(ROUTE, rules(IS_B), "q")), "403", request=AT_B),
    "what no manifest knows": Predicted("rules", (on(ROUTE, rules('jwt.sub == "a"')),), "depends"),
    "an Allow that does not parse matches nobody": Predicted(
        "rules", (on(ROUTE, rules("request.path ==")),), "403", {"p": "Enforced"}, ("GWP111",)),
    "a Require that does not parse keeps everybody out": Predicted(
        "rules", (on(ROUTE, rules("request.path ==", "Require")),), "403", lint=("GWP111",)),
    "a Deny that does not parse denies nobody": Predicted(
        "rules", (on(ROUTE, rules("request.path ==", "Deny")),), "allowed", lint=("GWP111",)),
    # --- calls ---
    "a service that is asked": Predicted("calls", (on(ROUTE, call()),), "allowed, extAuth required"),
    "a service that is not there": Predicted(
        "calls", (on(ROUTE, call("gone")),), "403", {"p": "Enforced"}, ("GWP111",)),
    "which fails open": Predicted(
        "calls", (on(ROUTE, call("gone", "FailOpen")),), "allowed", {"p": "NoEffect"}, ("GWP111",)),
    "and keeps the Gateway's login off": Predicted(
        "calls", (on(GATEWAY, call()), on(ROUTE, call("gone", "FailOpen"), "q")), "allowed",
        {"p": "Overridden", "q": "NoEffect"}, ("GWP111",), base=BASE),
    "a locked one that is not there": Predicted(
        "calls", (on(GATEWAY, call("gone"), strategy=LOCK), on(ROUTE, call(), "q")), "403", {"q": "Overridden"},
        ("GWP111",)),
    "a service that is asked at a backend": Predicted(
        "backend", (on("Service/checkout", call(block="backend")),), "allowed, extAuth required", {"p": "Enforced"}),
    "one that is not there": Predicted(
        "backend", (on("Service/checkout", call("gone", block="backend")),), "403", lint=("GWP111",)),
    "for backends the route comes before the Service": Predicted(
        "backend", (on("Service/checkout", call(block="backend")), on(ROUTE, call("gone", "FailOpen", "backend"), "q")),
        "allowed", {"p": "Overridden"}, ("GWP111",)),
    "a port that the Service has not": Predicted(
        "targets", (on("Service/checkout#81", call(block="backend")),), "allowed", {"p": "TargetNotFound"},
        ("GWP103",)),
    "clients of tools log in": Predicted(
        "backend",
        (on("AgentgatewayBackend/tools", "backend: {mcp: {authentication: {issuer: a, jwks: {url: 'https://a.example/k'}}}}"),),
        "allowed, authentication required", {"p": "Enforced"}, base=MCP),
    # --- refused, and attached to nothing ---
    "traffic of a Service": Predicted("crd", (on("Service/checkout", jwt()),), "allowed", {"p": "Invalid"}),
    "a frontend of a route": Predicted(
        "crd", (on(ROUTE, "frontend: {networkAuthorization: {policy: {matchExpressions: ['true']}}}"),), "allowed",
        {"p": "Invalid"}),
    "nothing of it translates": Predicted(
        "nothing", (on(ROUTE, "traffic: {delay: {duration: 'a b'}}"),), "allowed", {"p": "Invalid"}, ("GWP111",)),
    "the policy answers itself": Predicted(
        "answers", (on(ROUTE, "traffic: {directResponse: {status: 418}}"),), "418"),
    "a route that is not there": Predicted(
        "targets", (on("HTTPRoute/chekout", jwt()),), "allowed", {"p": "TargetNotFound"}, ("GWP101",)),
    "a rule that is not there": Predicted(
        "targets", (on(f"{ROUTE}#buy", jwt()),), "allowed", {"p": "TargetNotFound"}, ("GWP103",)),
    "one of two targets": Predicted(
        "targets", (at_two("checkout", "gone"),), TOKEN, {"p": "PartiallyEnforced"}, ("GWP101",)),
    "routes by their labels": Predicted("targets", (selecting("b"),), TOKEN, {"p": "Enforced"}),
    "labels that no route has": Predicted(
        "targets", (selecting("c"),), "allowed", {"p": "TargetNotFound"}, ("GWP105",)),
    "a pool that is not there": Predicted(
        "targets", (on("InferencePool/llm", "backend: {tcp: {connectTimeout: 1s}}"),), "allowed",
        {"p": "TargetNotFound"}),
    "at another controller's Gateway": Predicted(
        "owner", (on(ROUTE, jwt()),), "allowed", {"p": "NoEffect"}, ("GWP108",),
        base=base("gateway.envoyproxy.io/gatewayclass-controller")),
}  # fmt: skip
