"""Cilium: what it makes of the kinds of Gateway API, and of those that are not its own."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_OPERATOR = "github.com/cilium/cilium operator/pkg/gateway-api"
SOURCES = {
    "tls": f"{_OPERATOR}/helpers/backendtlspolicies.go @ 01ed01f0c, BuildBackendTLSPolicyLookup",
    "classes": f"{_OPERATOR}/gatewayclass_reconcile.go @ 271a0c988",
    "header": f"{_OPERATOR}/routechecks/httproute.go @ 0913c4388, ValidateHeaderModifier",
    "expressions": f"{_OPERATOR}/routechecks/httproute.go @ 0913c4388, ValidateMatchRegexps: Go's regexp.Compile",
    "kinds": "docs.cilium.io/en/v1.18/network/servicemesh/gateway-api/gateway-api: the resources that it reads",
}
REQUEST = {"host": "shop.example"}
BACKENDS = "backendRefs: [{name: checkout, port: 80}]"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def base(rule: str = "", parameters: str = "", *, of_class: bool = True) -> tuple[str, ...]:
    return (
        *((worlds.gateway_class("cilium", "io.cilium/gateway-controller", parameters),) if of_class else ()),
        worlds.gateway(of_class="cilium"),
        worlds.route(more=f"rules: [{{{rule and rule + ', '}{BACKENDS}}}]"),
        worlds.service(),
    )


BASE = base()


def tls(name: str, section: str = "", created: str = "") -> str:
    return worlds.policy(
        "gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, f"Service/checkout{section}",
        "validation: {hostname: a.example, wellKnownCACertificates: System}", "shop", created,
    )  # fmt: skip


FOREIGN = worlds.policy(
    "gateway.envoyproxy.io/v1alpha1",
    "SecurityPolicy",
    "p",
    "HTTPRoute/checkout",
    "basicAuth: {users: {name: u}}",
    "shop",
)
ENVOY_CONFIG = worlds.manifest(
    "cilium.io/v2", "CiliumEnvoyConfig", "checkout", "shop", "spec: {services: [{name: checkout, namespace: shop}]}"
)
CONFIG = worlds.manifest("cilium.io/v2alpha1", "CiliumGatewayClassConfig", "own", "infra", "spec: {}")
PARAMETERS = "parametersRef: {group: cilium.io, kind: CiliumGatewayClassConfig, name: own"


def setting(name: str, how: str = "set") -> str:
    modifier = f"requestHeaderModifier: {{{how}: [{{name: {name}, value: b.example}}]}}"
    return f"filters: [{{type: RequestHeaderModifier, {modifier}}}]"


def matching(match: str) -> tuple[str, ...]:
    return base(f"matches: [{{{match}}}]")


def field(kind: str, value: str, how: str = "RegularExpression") -> str:
    return f"{kind}: [{{type: {how}, name: a, value: '{value}'}}]"


NOT_ACCEPTED = {"HTTPRoute shop/checkout": ("Accepted=False/UnsupportedValue",)}
ACCEPTED = {"HTTPRoute shop/checkout": ("Accepted=True/Accepted",)}
AT_BACKEND = (
    "rules: [{backendRefs: [{name: checkout, port: 80, filters: [{type: RequestHeaderModifier,"
    " requestHeaderModifier: {set: [{name: Host, value: b.example}]}}]}]}]"
)
LATER = f"rules: [{{matches: [{{path: {{value: /a}}}}], {BACKENDS}}}, {{{setting('Host')}, {BACKENDS}}}]"


def routing(rules: str) -> tuple[str, ...]:
    return (*base()[:2], worlds.route(more=rules), worlds.service())


WORLDS = {
    "the older of two BackendTLSPolicies": Predicted(
        "tls", (tls("p", created=NEW), tls("q", created=OLD)), "allowed", {"p": "Conflicted", "q": "Enforced"}),
    "of the same age the first by name": Predicted(
        "tls", (tls("p", created=OLD), tls("q", created=OLD)), "allowed", {"p": "Enforced", "q": "Conflicted"}),
    "a port of its own is no conflict": Predicted(
        "tls", (tls("p", created=OLD), tls("q", "#http", NEW)), "allowed", {"p": "Overridden", "q": "Enforced"}),
    "a port that is not there": Predicted(
        "tls", (tls("p", "#https"),), "allowed", {"p": "TargetNotFound"}, ("GWP103",)),
    "its class by name, and a policy of another's": Predicted(
        "kinds", (FOREIGN,), "allowed", {"p": "NoEffect"}, ("GWP108",), base=base(of_class=False)),
    "a CiliumEnvoyConfig asks nothing of the route": Predicted("kinds", (ENVOY_CONFIG,), "allowed"),
    "a route that sets the host as a header": Predicted("header", (), "404", base=base(setting("Host"))),
    "in lower case it is taken": Predicted("header", (), "allowed", base=base(setting("host"))),
    "another header": Predicted("header", (), "allowed", base=base(setting("X-Host"))),
    "a path that is no expression": Predicted(
        "expressions", (), "404", base=matching("path: {type: RegularExpression, value: '/a(b'}"),
        conditions=NOT_ACCEPTED),
    "a header that is no expression": Predicted(
        "expressions", (), "404", base=matching(field("headers", "[")), conditions=NOT_ACCEPTED),
    "a parameter that is no expression": Predicted(
        "expressions", (), "404", base=matching(field("queryParams", "*")), conditions=NOT_ACCEPTED),
    "an expression that Go does not know": Predicted(
        "expressions", (), "404", base=matching("path: {type: RegularExpression, value: '/(?=a).*'}"),
        conditions=NOT_ACCEPTED),
    "an expression": Predicted(
        "expressions", (), "allowed", request={"path": "/abab"}, conditions=ACCEPTED,
        base=matching("path: {type: RegularExpression, value: '/(ab)+'}")),
    "what is no expression in a value that is none": Predicted(
        "expressions", (), "allowed", request={"headers": {"a": "["}}, conditions=ACCEPTED,
        base=matching(field("headers", "[", "Exact"))),
    "one match of two": Predicted(
        "expressions", (), "404", conditions=NOT_ACCEPTED,
        base=base(f"matches: [{{path: {{value: /}}}}, {{{field('headers', '(')}}}]")),
    "the host at a backend": Predicted("header", (), "allowed", base=routing(AT_BACKEND), conditions=ACCEPTED),
    "the host in another rule": Predicted(
        "header", (), "404", request={"path": "/a"}, base=routing(LATER), conditions=NOT_ACCEPTED),
    "and what it says of it": Predicted("header", (), "404", base=base(setting("Host")), conditions=NOT_ACCEPTED),
    "the host by URLRewrite": Predicted(
        "header", (), "allowed", base=base("filters: [{type: URLRewrite, urlRewrite: {hostname: a.example}}]")),
    "a header that is added": Predicted("header", (), "allowed", base=base(setting("Host", "add"))),
    "parameters that are there": Predicted(
        "classes", (CONFIG,), "allowed", base=base(parameters=f"{PARAMETERS}, namespace: infra}}")),
    "parameters need a namespace": Predicted(
        "classes", (CONFIG,), "allowed", lint=("GWP409",), base=base(parameters=f"{PARAMETERS}}}")),
}  # fmt: skip
