"""Gloo Gateway: options of rules, routes, listeners and their sets, delegation, direct responses."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_PLUGINS = "github.com/solo-io/gloo projects/gateway2/translator/plugins"
SOURCES = {
    "routes": f"{_PLUGINS}/routeoptions/query/query.go @ 003742376, GetRouteOptionForRouteRule",
    "errors": "github.com/solo-io/gloo projects/gateway2/translator/httproute/gateway_http_route_translator.go @ "
    "003742376: the error of a plugin is logged, and the route stands",
    "delegation": f"{_PLUGINS}/routeoptions/route_options_plugin.go @ 003742376, ApplyRoutePlugin",
    "hosts": f"{_PLUGINS}/virtualhostoptions/virtualhost_options_plugin.go @ 003742376, ApplyListenerPlugin",
    "sections": f"{_PLUGINS}/utils/plugin_utils.go @ 06f48e823, GetPrioritizedListenerPolicies",
    "listeners": f"{_PLUGINS}/httplisteneroptions/httplistener_options_plugin.go @ 3d5228ba8, ApplyListenerPlugin",
    "answers": f"{_PLUGINS}/directresponse/direct_response_plugin.go @ 13b5a9839, ApplyRoutePlugin",
    "tokens": "the guide to JWT of routes in docs of solo-io/gloo (1.18): jwtProvidersStaged",
}
REQUEST = {"host": "shop.example"}
GROUP = "gateway.solo.io"
WEB = "backendRefs: [{name: checkout, port: 80}]"
OPEN = "allowedRoutes: {namespaces: {from: All}}"
HTTP = f"{{name: http, port: 80, protocol: HTTP, {OPEN}}}"
ALT = f"{{name: alt, port: 8080, protocol: HTTP, {OPEN}}}"
OVERRIDES = "delegation.gateway.solo.io/enable-policy-overrides"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def named(*names: str, group: str = GROUP, kind: str = "RouteOption") -> str:
    return worlds.extending(*names, group=group, kind=kind)


def base(
    rules: str = f"[{{{WEB}}}]",
    *more: str,
    listeners: str = HTTP,
    gateway: str = "",
    annotations: str = "",
    parents: str = "[{name: edge, namespace: infra}]",
    controller: str = "solo.io/gloo-gateway",
) -> tuple[str, ...]:
    return (
        worlds.gateway_class("any", controller),
        worlds.gateway(listeners=f"[{listeners}]", more=gateway),
        worlds.route(more=f"rules: {rules}", annotations=annotations, parents=parents),
        worlds.service(),
        *more,
    )


BASE = base()


def option(
    name: str, target: str, options: str, namespace: str = "shop", kind: str = "RouteOption", created: str = ""
) -> str:
    return worlds.policy(f"{GROUP}/v1", kind, name, target, f"options: {{{options}}}", namespace, created)


def host(name: str, target: str, options: str, created: str = "", namespace: str = "infra") -> str:
    return option(name, target, options, namespace, "VirtualHostOption", created)


def response(name: str, status: int = 418) -> str:
    return worlds.manifest(
        "gateway.gloo.solo.io/v1alpha1", "DirectResponse", name, "shop", f"spec: {{status: {status}}}"
    )


def delegating(annotations: str = "", child: str = "") -> tuple[str, ...]:
    """The route delegates everything to the route `child`."""
    to = "[{backendRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: child}]}]"
    rules = child or f"rules: [{{{WEB}}}]"
    return base(to, worlds.route("child", parents="", more=rules), annotations=annotations)


ROUTE, CHILD, EDGE = "HTTPRoute/checkout", "HTTPRoute/child", "Gateway/edge"
ASKS = "extauth: {configRef: {name: login, namespace: shop}}"
ASKS_NOT = "extauth: {disable: true}"
TOKENS = "jwt: {providers: {one: {issuer: a}}}"
ROUTE_TOKENS = "jwtProvidersStaged: {beforeExtAuth: {providers: {one: {issuer: a}}}}"
XSET = "XListenerSet.gateway.networking.x-k8s.io/more"
SET = (
    worlds.listener_set("more", "infra", f"[{{name: more, port: 8080, protocol: HTTP, {OPEN}}}]")
    .replace("ListenerSet", "XListenerSet")
    .replace("gateway.networking.k8s.io/v1", "gateway.networking.x-k8s.io/v1alpha1")
)
IN_SET = "[{group: gateway.networking.x-k8s.io, kind: XListenerSet, name: more, namespace: infra}]"
WITH_SET = base(f"[{{{WEB}}}]", SET, gateway="allowedListeners: {namespaces: {from: All}}", parents=IN_SET)
DIRECT = {"group": "gateway.gloo.solo.io", "kind": "DirectResponse"}
TWO_RULES = f"[{{name: admin, matches: [{{path: {{value: /admin}}}}], {WEB}}}, {{name: rest, {WEB}}}]"
FOREIGN = (
    worlds.gateway_class("foreign", "traefik.io/gateway-controller"),
    worlds.gateway("outer", of_class="foreign"),
)

WORLDS = {
    # Options of routes and rules.
    "an authoriser for a route": Predicted(
        "routes", (option("ask", ROUTE, ASKS),), "allowed, extauth required", {"ask": "Enforced"}),
    "tokens for a route": Predicted(
        "tokens", (option("ask", ROUTE, ROUTE_TOKENS),), "allowed, jwtProvidersStaged required"),
    "a filter that names nothing is left out": Predicted(
        "errors", (option("other", "", ASKS),), "allowed", lint=("GWP406",),
        base=base(f"[{{{named('gone')}, {WEB}}}]"),
        status={"checkout": ("Gateway infra/edge ResolvedRefs=False/BackendNotFound",)}),
    "and all options of its rule with it": Predicted(
        "errors", (option("ask", ROUTE, ASKS),), "allowed", {"ask": "NoEffect"}, lint=("GWP106", "GWP406"),
        base=base(f"[{{{named('gone')}, {WEB}}}]")),
    "not those of its virtual host": Predicted(
        "errors", (option("ask", ROUTE, "timeout: 1s"), host("host", EDGE, ASKS)), "allowed, extauth required",
        lint=("GWP106", "GWP406"), base=base(f"[{{{named('gone')}, {WEB}}}]")),
    "a filter of another namespace": Predicted(
        "routes", (option("login", "", ASKS, "infra"), option("other", "", ASKS)), "allowed", lint=("GWP406",),
        base=base(f"[{{{named('login')}, {WEB}}}]")),
    "a filter before what targets the route": Predicted(
        "routes", (option("named", "", ASKS_NOT), option("ask", ROUTE, ASKS)), "allowed", {"ask": "Overridden"},
        base=base(f"[{{{named('named')}, {WEB}}}]"), effective={"options.extauth.disable": "named"}),
    "the first filter of two": Predicted(
        "routes", (option("a", "", ASKS), option("b", "", ASKS_NOT)), "allowed, extauth required",
        base=base(f"[{{{named('a', 'b')}, {WEB}}}]")),
    "the older of two on a route": Predicted(
        "routes", (option("a", ROUTE, ASKS_NOT, created=NEW), option("b", ROUTE, ASKS, created=OLD)),
        "allowed, extauth required", {"a": "Overridden", "b": "Enforced"}),
    "a name of a rule is no part of a reference": Predicted(
        "routes", (option("ask", f"{ROUTE}#admin", ASKS),), "allowed", {"ask": "Invalid"}, lint=("GWP103",),
        base=base(TWO_RULES)),
    "a filter of a kind that no plugin knows": Predicted(
        "errors", (option("ask", ROUTE, ASKS),), "allowed, extauth required",
        base=base(f"[{{{named('x', group='traefik.io', kind='Middleware')}, {WEB}}}]",
                  worlds.manifest("traefik.io/v1alpha1", "Middleware", "x", "shop", "spec: {compress: {}}"))),
    # Delegation.
    "a parent before its child": Predicted(
        "delegation", (option("ask", ROUTE, ASKS), option("child", CHILD, ASKS_NOT)), "allowed, extauth required",
        {"child": "Overridden"}, base=delegating()),
    "a child that its parent leaves everything": Predicted(
        "delegation", (option("ask", ROUTE, ASKS), option("child", CHILD, ASKS_NOT)), "allowed",
        {"ask": "Overridden"}, base=delegating(f"{OVERRIDES}: '*'")),
    "a child that its parent leaves another field": Predicted(
        "delegation", (option("ask", ROUTE, ASKS), option("child", CHILD, f"{ASKS_NOT}, timeout: 1s")),
        "allowed, extauth required", base=delegating(f"{OVERRIDES}: 'Timeout'"),
        effective={"options.timeout": "child", "options.extauth.configRef.name": "ask"}),
    "a child's filter names nothing, the parent's options stand": Predicted(
        "errors", (option("ask", ROUTE, ASKS),), "allowed, extauth required", lint=("GWP406",),
        base=delegating(child=f"rules: [{{{named('gone')}, {WEB}}}]")),
    # Virtual hosts and listeners.
    "a virtual host's authoriser": Predicted("hosts", (host("host", EDGE, ASKS),), "allowed, extauth required"),
    "a route that switches it off": Predicted(
        "hosts", (host("host", EDGE, ASKS), option("exempt", ROUTE, ASKS_NOT)), "allowed"),
    "a section of another listener": Predicted(
        "sections", (host("host", f"{EDGE}#alt", ASKS),), "allowed", base=base(listeners=f"{HTTP}, {ALT}")),
    "its own listener": Predicted(
        "sections", (host("host", f"{EDGE}#alt", ASKS),), "allowed, extauth required",
        base=base(listeners=f"{HTTP}, {ALT}"), request={"port": 8080}),
    "a section that asks nothing before a Gateway that asks": Predicted(
        "sections", (host("wide", EDGE, ASKS, OLD), host("own", f"{EDGE}#http", ASKS_NOT, NEW)), "allowed",
        {"wide": "Overridden"}),
    "a section adds to its Gateway's": Predicted(
        "hosts", (host("wide", EDGE, ASKS, NEW), host("own", f"{EDGE}#http", TOKENS, OLD)),
        "allowed, extauth and jwt required", {"wide": "Enforced", "own": "Enforced"}),
    "options of another namespace": Predicted(
        "hosts", (host("far", EDGE, ASKS, namespace="shop").replace("name: edge", "name: edge, namespace: infra"),),
        "allowed", {"far": "TargetNotFound"}, lint=("GWP104",)),
    "a Gateway's options for a ListenerSet": Predicted(
        "sections", (host("host", EDGE, ASKS),), "allowed, extauth required", base=WITH_SET, request={"port": 8080}),
    "a ListenerSet before its Gateway": Predicted(
        "sections", (host("wide", EDGE, ASKS, OLD), host("set", XSET, ASKS_NOT, NEW)), "allowed",
        {"wide": "PartiallyEnforced"}, base=WITH_SET, request={"port": 8080}),
    "of HTTP listener options the first alone": Predicted(
        "listeners",
        (option("old", EDGE, "websocketUpgrade: {}", "infra", "HttpListenerOption", OLD),
         option("new", EDGE, "httpConnectionManagerSettings: {useRemoteAddress: true}", "infra",
                "HttpListenerOption", NEW)),
        "allowed", {"old": "Enforced", "new": "Overridden"}),
    "a Gateway of another controller": Predicted(
        "hosts", (host("host", "Gateway/outer", ASKS),), "allowed", lint=("GWP108",), base=base() + FOREIGN,
        request={"gateway": "infra/edge"}),
    "a virtual host asks what a route asked before": Predicted(
        "hosts", (option("ask", ROUTE, ASKS),), "allowed, extauth required", base=(*BASE, host("host", EDGE, ASKS))),
    "tokens that a route does not ask for": Predicted(
        "hosts", (host("host", EDGE, TOKENS), option("exempt", ROUTE, "jwt: {disable: true}")), "allowed"),
    "earlier tokens than those": Predicted(
        "hosts",
        (host("host", EDGE, "jwtStaged: {beforeExtAuth: {providers: {one: {issuer: a}}}}"),
         option("exempt", ROUTE, "jwt: {disable: true}")), "allowed, jwtStaged required"),
    "tokens that may be missing, and not false": Predicted(
        "tokens", (host("host", EDGE, "jwt: {providers: {one: {issuer: a}}, validationPolicy: ALLOW_MISSING}"),),
        "allowed, jwt not required"),
    "a route of another controller's Gateway": Predicted(
        "routes", (option("ask", ROUTE, ASKS),), "allowed", lint=("GWP108",),
        base=base(parents="[{name: outer, namespace: infra}]") + FOREIGN, request={"gateway": "infra/outer"}),
    "one of two Gateways": Predicted(
        "hosts", (host("host", "Gateway/second", ASKS),), "allowed", request={"gateway": "infra/edge"},
        base=(*base(parents="[{name: edge, namespace: infra}, {name: second, namespace: infra}]"),
              worlds.gateway("second"))),
    # Direct responses.
    "a direct response": Predicted("answers", (response("tea"),), "418", base=base(f"[{{{named('tea', **DIRECT)}}}]")),
    "a direct response beside backends": Predicted(
        "answers", (response("tea"),), "500", base=base(f"[{{{named('tea', **DIRECT)}, {WEB}}}]"),
        status={"checkout": ("Gateway infra/edge Accepted=False/IncompatibleFilters",)}),
    "two direct responses": Predicted(
        "answers", (response("tea"), response("coffee")), "500",
        base=base(f"[{{{named('tea', 'coffee', **DIRECT)}}}]"),
        status={"checkout": ("Gateway infra/edge Accepted=False/IncompatibleFilters",)}),
    "a direct response that is not there": Predicted(
        "answers", (response("coffee"),), "500", lint=("GWP406",), base=base(f"[{{{named('tea', **DIRECT)}}}]"),
        status={"checkout": ("Gateway infra/edge ResolvedRefs=False/BackendNotFound",)}),
    "a rule without anything": Predicted(
        "errors", (option("slow", ROUTE, "timeout: 1s"),), "500", base=base("[{matches: [{path: {value: /}}]}]")),
}  # fmt: skip
