"""NGINX Gateway Fabric: filters that log in, refused backends, overlaps, conflicts and what needs a NginxProxy."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_GRAPH = "github.com/nginx/nginx-gateway-fabric internal/controller/state/graph"
SOURCES = {
    "filters": f"{_GRAPH}/common_filter.go @ 384111332, processRouteRuleFilters; httproute.go @ 032c0dc01",
    "login": f"{_GRAPH}/authentication_filter.go (2.6), validateAuthenticationFilter and validateOIDCFilters",
    "kinds": f"{_GRAPH}/backend_refs.go @ e55bfe339, validateBackendRef; internal/ has no XBackendTrafficPolicy",
    "backends": f"{_GRAPH}/backend_refs.go @ 05b166eae, createBackendRef and validateRouteBackendRef",
    "overlap": f"{_GRAPH}/policies.go @ 876a2f1cc, checkTargetRoutesForOverlap",
    "conflicts": f"{_GRAPH}/policies.go @ 876a2f1cc, markConflictedPolicies",
    "attachment": f"{_GRAPH}/policies.go @ 876a2f1cc, processPolicies, attachPolicyToRoute and attachPolicyToGateway",
    "payload": f"{_GRAPH}/policies.go @ 158019179, resolveEffectivePayloadProcessors",
    "services": f"{_GRAPH}/service.go @ 3e5f6a4cf, buildReferencedServices",
    "proxy": f"{_GRAPH}/nginxproxy.go @ 03f86f226, buildEffectiveNginxProxy",
    "http2": f"{_GRAPH}/route_common.go @ 012cc3f24, bindL7RouteToListeners",
}
REQUEST = {"host": "shop.example"}
GROUP = "gateway.nginx.org"
CONTROLLER = f"{GROUP}/nginx-gateway-controller"
WEB = "backendRefs: [{name: checkout, port: 80}]"
OPEN = "allowedRoutes: {namespaces: {from: All}}"
HTTP = f"{{name: http, port: 80, protocol: HTTP, {OPEN}}}"
HTTPS = f"{{name: https, port: 443, protocol: HTTPS, tls: {{certificateRefs: [{{name: cert}}]}}, {OPEN}}}"
CERT = worlds.manifest(
    "v1", "Secret", "cert", "infra", "type: kubernetes.io/tls\nstringData: {tls.crt: '${CERT}', tls.key: '${KEY}'}"
)
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def named(*names: str, group: str = GROUP, kind: str = "AuthenticationFilter") -> str:
    return worlds.extending(*names, group=group, kind=kind)


def base(
    rules: str = f"[{{{WEB}}}]",
    *more: str,
    listeners: str = HTTP,
    gateway: str = "",
    parameters: str = "",
    controller: str = CONTROLLER,
    parents: str = "[{name: edge, namespace: infra}]",
    backend: str = "",
) -> tuple[str, ...]:
    """A route through a Gateway of NGF; `rules` are the route's, `backend` is more of its Service's spec."""
    return (
        worlds.gateway_class("any", controller, parameters),
        worlds.gateway(listeners=f"[{listeners}]", more=gateway),
        worlds.route(more=f"rules: {rules}", parents=parents),
        worlds.service(more=backend),
        *more,
    )


def filtered(filters: str, *more: str, listeners: str = HTTP) -> tuple[str, ...]:
    return base(f"[{{{filters}, {WEB}}}]", *more, listeners=listeners)


BASE = base()


def login(name: str = "login", spec: str = "", namespace: str = "shop") -> str:
    of_basic = "type: Basic, basic: {realm: shop, secretRef: {name: users}}"
    return worlds.manifest(
        f"{GROUP}/v1alpha1", "AuthenticationFilter", name, namespace, f"spec: {{{spec or of_basic}}}"
    )


def secret(name: str = "users", entry: str = "auth", sort: str = "Opaque") -> str:
    return worlds.manifest("v1", "Secret", name, "shop", f"type: {sort}\ndata: {{{entry}: eA==}}")


def policy(kind: str, name: str, target: str, spec: str, namespace: str = "shop", created: str = "") -> str:
    field = "targetRef" if kind in ("ClientSettingsPolicy", "PayloadProcessor") else "targetRefs"
    version = "v1alpha2" if kind == "ObservabilityPolicy" else "v1alpha1"
    return worlds.policy(f"{GROUP}/{version}", kind, name, target, spec, namespace, created, field=field)


def proxy(name: str, spec: str, namespace: str = "infra") -> str:
    return worlds.manifest(f"{GROUP}/v1alpha2", "NginxProxy", name, namespace, f"spec: {{{spec}}}")


def refers(name: str, namespace: str = "") -> str:
    return (
        f"parametersRef: {{group: {GROUP}, kind: NginxProxy, name: {name}{namespace and f', namespace: {namespace}'}}}"
    )


def other(name: str, more: str, kind: str = "HTTPRoute", parents: str = "[{name: edge, namespace: infra}]") -> str:
    return worlds.route(name, parents=parents, kind=kind, more=more)


SIZE = "body: {maxSize: 10m}"
ROUTE = "HTTPRoute/checkout"
EDGE = "Gateway infra/edge"
AT_ROUTE = "HTTPRoute shop/checkout"
JWT = "type: JWT, jwt: {realm: shop, source: File, file: {secretRef: {name: users}}}"
OIDC = "type: OIDC, oidc: {issuer: 'https://id.example', clientID: shop, clientSecretRef: {name: users}}"
CLIENT_SECRET = secret(entry="client-secret")
PATHS = f"matches: [{{path: {{value: /admin}}}}], {WEB}"
OTHER_RULE = f"{{{named('login', 'again')}, {PATHS}}}, {{{WEB}}}"
SET = worlds.listener_set("more", "infra", f"[{{name: more, port: 80, protocol: HTTP, hostname: '*.example', {OPEN}}}]")
ALL_SETS = "allowedListeners: {namespaces: {from: All}}"
IN_SET = "[{group: gateway.networking.k8s.io, kind: ListenerSet, name: more, namespace: infra}]"
HOST = "hostnames: [shop.example]"
EXTERNAL = "type: ExternalName, externalName: api.example"
TRACING = "tracing: {strategy: ratio, ratio: 10}"
EXPORTER = "telemetry: {exporter: {endpoint: 'otel:4317'}}"
LIMIT = "rateLimit: {rejectCode: 429, local: {rules: [{zoneSize: 10m, rate: 5r/s, key: $binary_remote_addr}]}}"
PROCESSORS = "processors: [{type: ExtProcess, extProcess: {backendRef: {name: NAME, port: 80}}}]"
WAF = "type: HTTP, policySource: {httpSource: {url: 'https://waf.example/p.tgz'}}"
TLS = worlds.policy(
    "gateway.networking.k8s.io/v1", "BackendTLSPolicy", "tls", "Service/checkout",
    "validation: {hostname: a.example, wellKnownCACertificates: System}", "shop",
)  # fmt: skip
SECOND = worlds.service("second")
BOTH_BACKENDS = "[{backendRefs: [{name: checkout, port: 80}, {name: second, port: 80}]}]"
FOREIGN = (
    worlds.gateway_class("foreign", "traefik.io/gateway-controller"), worlds.gateway("outer", of_class="foreign"),
)  # fmt: skip
TWO_PARENTS = "[{name: edge, namespace: infra}, {name: outer, namespace: infra}]"
SECOND_GATEWAY = worlds.gateway("outer", listeners=f"[{HTTP.replace('port: 80', 'port: 8080')}]")
GRPC = "rules: [{matches: [{method: {service: pkg.Shop, method: Buy}}], backendRefs: [{name: checkout, port: 80}]}]"

FAR = "{group: multicluster.x-k8s.io, kind: ServiceImport, name: far, port: 80}"
IMPORT = worlds.manifest(
    "multicluster.x-k8s.io/v1alpha1", "ServiceImport", "far", "shop", "spec: {type: ClusterSetIP, ports: [{port: 80}]}"
)
RETRIES = worlds.policy(
    "gateway.networking.x-k8s.io/v1alpha1", "XBackendTrafficPolicy", "retries", "Service/checkout",
    "retryConstraint: {budget: {percent: 20, interval: 10s}}", "shop",
)  # fmt: skip
WORLDS = {
    # Filters that log in.
    "basic authentication": Predicted(
        "login", (login(),), "allowed, basic required", base=filtered(named("login"), secret())),
    "a Secret of the older type": Predicted(
        "login", (login(),), "allowed, basic required",
        base=filtered(named("login"), secret(sort="nginx.org/htpasswd"))),
    "a Secret without the entry auth": Predicted(
        "login", (login(),), "500", lint=("GWP406",), base=filtered(named("login"), secret(entry="htpasswd")),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/InvalidFilter", f"{EDGE} Accepted=True/Accepted")}),
    "a Secret that nothing deploys": Predicted("login", (login(),), "500", lint=("GWP406",),
              base=filtered(named("login"))),
    "a filter that is not there": Predicted(
        "filters", (login("other"), secret()), "500", lint=("GWP406",), base=filtered(named("login")),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/InvalidFilter", f"{EDGE} Accepted=True/Accepted")}),
    "a filter of another namespace": Predicted(
        "filters", (login(namespace="infra"), login("other")), "500", lint=("GWP113", "GWP406"),
        base=filtered(named("login"), secret())),
    "two that log in, in the only rule": Predicted(
        "filters", (login(), login("again"), secret()), "404", lint=("GWP406",), base=filtered(named("login", "again")),
        status={"checkout": (f"{EDGE} Accepted=False/UnsupportedValue",)}),
    "two that log in, in one rule of two": Predicted(
        "filters", (login(), login("again"), secret()), "500", lint=("GWP406",), base=base(f"[{OTHER_RULE}]"),
        request={"path": "/admin"}, status={"checkout": (f"{EDGE} PartiallyInvalid=True/UnsupportedValue",)}),
    "the other rule goes on": Predicted(
        "filters", (login(), login("again"), secret()), "allowed", lint=("GWP406",), base=base(f"[{OTHER_RULE}]")),
    "a filter of a kind of another vendor": Predicted(
        "filters", (login(),), "404",
        lint=("GWP406",), base=filtered(
            named("gzip", group="traefik.io", kind="Middleware"),
            worlds.manifest("traefik.io/v1alpha1", "Middleware", "gzip", "shop", "spec: {compress: {}}")),
        status={"checkout": (f"{EDGE} Accepted=False/UnsupportedValue",)}),
    "a filter of a backend": Predicted(
        "backends", (login(), secret()), "500",
        lint=("GWP406",), base=base(f"[{{backendRefs: [{{name: checkout, port: 80, {named('login')}}}]}}]"),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/UnsupportedValue",)}),
    "tokens": Predicted("login", (login(spec=JWT),), "allowed, jwt required", base=filtered(named("login"), secret())),
    "OpenID Connect over TLS": Predicted(
        "login", (login(spec=OIDC),), "allowed, oidc required", request={"scheme": "https"},
        base=filtered(named("login"), CLIENT_SECRET, CERT, listeners=HTTPS)),
    "OpenID Connect in clear": Predicted(
        "login", (login(spec=OIDC),), "500", lint=("GWP406",), base=filtered(named("login"), CLIENT_SECRET),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/InvalidFilter",)}),
    "OpenID Connect on both": Predicted(
        "login", (login(spec=OIDC),), "500", request={"scheme": "https"},
        lint=("GWP406",), base=filtered(named("login"), CLIENT_SECRET, CERT, listeners=f"{HTTP}, {HTTPS}")),
    "OpenID Connect without its client secret": Predicted(
        "login", (login(spec=OIDC),), "500", request={"scheme": "https"},
        lint=("GWP406",), base=filtered(named("login"), secret(), CERT, listeners=HTTPS)),
    # Backends.
    "a ServiceImport, of which its source says nothing": Predicted(
        "kinds", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "500",
        lint=("GWP406",), base=base(f"[{{backendRefs: [{FAR}]}}]", IMPORT),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/InvalidKind",)}),
    "a policy of Gateway API that it does not read": Predicted(
        "kinds", (RETRIES,), "allowed", lint=("GWP108",)),
    "an ExternalName without a resolver": Predicted(
        "backends", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "500",
        lint=("GWP406",), base=base(backend=EXTERNAL),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/UnsupportedValue",)}),
    "an ExternalName with a resolver": Predicted(
        "backends", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "allowed",
        base=(*base(backend=EXTERNAL, gateway=f"infrastructure: {{{refers('own')}}}"),
              proxy("own", "dnsResolver: {addresses: [{type: IPAddress, value: 10.0.0.10}]}"))),
    "an address family that the proxy does not have": Predicted(
        "backends", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "500",
        lint=("GWP406",), base=(*base(backend="ipFamilies: [IPv6]",
              parameters=refers("all", "infra")), proxy("all", "ipFamily: ipv4"))),
    "HTTP/2 without TLS to a backend": Predicted(
        "backends", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "500",
        lint=("GWP406",), base=(*BASE[:3], worlds.service(ports="[{port: 80, appProtocol: kubernetes.io/h2c}]")),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/UnsupportedProtocol",)}),
    "one of two backends with TLS": Predicted(
        "backends", (TLS,), "500", lint=("GWP406",), base=base(BOTH_BACKENDS, SECOND),
        status={"checkout": (f"{EDGE} ResolvedRefs=False/UnsupportedValue",)}),
    "two CA certificates": Predicted(
        "backends", (TLS.replace("wellKnownCACertificates: System", "caCertificateRefs: [CA, CA]").replace(
            "CA", "{group: '', kind: ConfigMap, name: ca}"),), "500",
        lint=("GWP111",), base=(*base(), worlds.manifest("v1", "ConfigMap", "ca", "shop", "data: {ca.crt: x}"))),
    "gRPC where HTTP/2 is off": Predicted(
        "http2", (policy("ClientSettingsPolicy", "size", "GRPCRoute/grpc", SIZE),), "404",
        request={"path": "/pkg.Shop/Buy", "method": "POST"},
        base=(*base(parameters=refers("all", "infra"))[:2], proxy("all", "disableHTTP2: true"),
              other("grpc", GRPC, "GRPCRoute"), worlds.service()),
        status={"grpc": (f"{EDGE} Accepted=False/UnsupportedConfiguration",)}),
    # Overlap.
    "the same location by way of a ListenerSet": Predicted(
        "overlap", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "allowed", {"size": "Invalid"},
        lint=("GWP111",),
        base=(*base(gateway=ALL_SETS)[:2], other("checkout", f"{HOST}, rules: [{{{WEB}}}]"), worlds.service(), SET,
              other("rival", f"{HOST}, rules: [{{{WEB}}}]", parents=IN_SET)),
        status={"size": (f"{AT_ROUTE} Accepted=False/TargetConflict",)}),
    "routes that differ by a header": Predicted(
        "overlap", (policy("ProxySettingsPolicy", "slow", ROUTE, "timeout: {read: 9s}"),), "allowed",
        {"slow": "Invalid"}, effective={"timeout.read": ""},
        lint=("GWP111",),
        base=(*base(), other("rival", f"rules: [{{matches: [{{headers: [{{name: x, value: z}}]}}], {WEB}}}]"))),
    "both routes are targets": Predicted(
        "overlap", (policy("ProxySettingsPolicy", "slow", ROUTE, "timeout: {read: 9s}").replace(
            "targetRefs: [", f"targetRefs: [{worlds.reference('HTTPRoute/rival')}, "),), "allowed",
        {"slow": "Enforced"}, effective={"timeout.read": "slow"},
        base=(*base(), other("rival", f"rules: [{{matches: [{{headers: [{{name: x, value: z}}]}}], {WEB}}}]"))),
    "a GRPCRoute of the same name": Predicted(
        "overlap", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "allowed", {"size": "Enforced"},
        request={"path": "/pkg.Shop/Buy"}, effective={"body.maxSize": "size"},
        base=(*base(f"[{{matches: [{{path: {{type: Exact, value: /pkg.Shop/Buy}}}}], {WEB}}}]"),
              other("checkout", f"hostnames: [grpc.example], {GRPC}", "GRPCRoute"))),
    "another port": Predicted(
        "overlap", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "allowed", {"size": "Enforced"},
        base=(*base(listeners=f"{HTTP}, {{name: alt, port: 8080, protocol: HTTP, {OPEN}}}",
                    parents="[{name: edge, namespace: infra, sectionName: http}]"),
              other("rival", f"rules: [{{{WEB}}}]",
                    parents="[{name: edge, namespace: infra, sectionName: alt}]"))),
    # Conflicts.
    "an invalid policy wins nothing": Predicted(
        "conflicts",
        (policy("ClientSettingsPolicy", "old", ROUTE, "body: {maxSize: 10x, timeout: 1s}", created=OLD),
         policy("ClientSettingsPolicy", "new", ROUTE, SIZE, created=NEW)), "allowed",
        {"old": "Invalid", "new": "Enforced"}, lint=("GWP111",), effective={"body.maxSize": "new", "body.timeout": ""}),
    "who loses loses its rate limit": Predicted(
        "conflicts",
        (policy("RateLimitPolicy", "old", ROUTE, LIMIT, created=OLD),
         policy("RateLimitPolicy", "new", ROUTE, LIMIT.replace("5r/s", "1r/s"), created=NEW)), "allowed",
        {"old": "Enforced", "new": "Conflicted"}, effective={"rateLimit.local.rules": "old"},
        status={"new": (f"{AT_ROUTE} Accepted=False/Conflicted", f"{AT_ROUTE} Programmed=False/Overridden")}),
    "three of which the second loses": Predicted(
        "conflicts",
        (policy("ClientSettingsPolicy", "a", ROUTE, SIZE, created=OLD),
         policy("ClientSettingsPolicy", "b", ROUTE, "body: {maxSize: 1m, timeout: 1s}", created=OLD),
         policy("ClientSettingsPolicy", "c", ROUTE, "body: {timeout: 2s}", created=NEW)), "allowed",
        {"a": "Enforced", "b": "Conflicted", "c": "Enforced"},
        effective={"body.maxSize": "a", "body.timeout": "c"}),
    # Attachment.
    "one route on two Gateways, each with its own policy": Predicted(
        "attachment",
        (policy("ClientSettingsPolicy", "edge", "Gateway/edge", SIZE, "infra"),
         policy("ClientSettingsPolicy", "outer", "Gateway/outer", "body: {maxSize: 1m, timeout: 1s}", "infra")),
        "allowed", {"edge": "Enforced", "outer": "Enforced"}, request={"gateway": "infra/edge"},
        base=(*base(parents=TWO_PARENTS), SECOND_GATEWAY), effective={"body.maxSize": "edge", "body.timeout": ""}),
    "a Gateway of another controller": Predicted(
        "attachment", (policy("ClientSettingsPolicy", "size", "Gateway/outer", SIZE, "infra"),), "allowed",
        lint=("GWP108",), base=base() + FOREIGN, request={"gateway": "infra/edge"}, effective={"body.maxSize": ""}),
    "a route on a Gateway of another controller too": Predicted(
        "attachment", (policy("ClientSettingsPolicy", "size", ROUTE, SIZE),), "allowed",
        {"size": "Enforced"}, request={"gateway": "infra/outer"},
        base=base(parents=TWO_PARENTS) + FOREIGN, effective={"body.maxSize": ""}),
    "a rate that a variable fills in": Predicted(
        "attachment", (policy("RateLimitPolicy", "limit", ROUTE, LIMIT.replace("5r/s", "'${RATE}'")),), "allowed",
        {"limit": "Enforced"}),
    "a name that a variable fills in": Predicted(
        "attachment", (policy("ClientSettingsPolicy", "size", "HTTPRoute/'${ROUTE}'", SIZE),), "allowed",
        {"size": "Unknown"}),
    "the Service of a route that no listener takes": Predicted(
        "services", (policy("UpstreamSettingsPolicy", "upstream", "Service/second", "zoneSize: 1m"),), "allowed",
        {"upstream": "NoEffect"}, lint=("GWP106", "GWP402"),
        base=(*base(),
              SECOND, other("idle", "rules: [{backendRefs: [{name: second, port: 80}]}]",
                    parents="[{name: edge, namespace: infra, sectionName: gone}]")),
        status={"upstream": (f"{EDGE} Accepted=True/Accepted",)}),
    "the Service of a route of another controller": Predicted(
        "services", (policy("UpstreamSettingsPolicy", "upstream", "Service/second", "zoneSize: 1m"),), "allowed",
        {"upstream": "TargetNotFound"}, lint=("GWP101",),
        base=(*base(),
              SECOND, *FOREIGN, other("idle", "rules: [{backendRefs: [{name: second, port: 80}]}]",
                    parents="[{name: outer, namespace: infra}]")),
        request={"gateway": "infra/edge"}),
    # NginxProxy.
    "the Gateway switches off what its class exports": Predicted(
        "proxy", (policy("ObservabilityPolicy", "spans", ROUTE, TRACING),), "allowed", {"spans": "Invalid"},
        lint=("GWP111",),
        base=(*base(parameters=refers("all", "infra"), gateway=f"infrastructure: {{{refers('own')}}}"),
              proxy("all", EXPORTER), proxy("own", "telemetry: {disabledFeatures: [DisableTracing]}")),
        status={"spans": (f"{AT_ROUTE} Accepted=False/NginxProxyConfigNotSet",)}, effective={"tracing.strategy": ""}),
    "the Gateway switches on what its class does not": Predicted(
        "proxy", (policy("ObservabilityPolicy", "spans", ROUTE, TRACING),), "allowed", {"spans": "Enforced"},
        base=(*base(parameters=refers("all", "infra"), gateway=f"infrastructure: {{{refers('own')}}}"),
              proxy("all", "telemetry: {disabledFeatures: [DisableTracing]}"),
              proxy("own", EXPORTER.replace("}}", "}, disabledFeatures: []}"))),
        effective={"tracing.strategy": "spans"}),
    "parameters of a class without a namespace": Predicted(
        "proxy", (policy("WAFPolicy", "waf", "Gateway/edge", WAF, "infra"),), "allowed", {"waf": "Invalid"},
        lint=("GWP111", "GWP409"), base=(*base(parameters=refers("all")), proxy("all", "waf: {enable: true}")),
        status={"waf": (f"{EDGE} Accepted=False/NginxProxyConfigNotSet",)}),
    "a WAF by way of a ListenerSet": Predicted(
        "attachment", (policy("WAFPolicy", "waf", ROUTE, WAF),), "allowed", {"waf": "Invalid"},
        lint=("GWP111",),
        base=(*base(gateway=f"{ALL_SETS}, infrastructure: {{{refers('own')}}}", parents=IN_SET),
              SET, proxy("own", "waf: {enable: false}")),
        status={"waf": (f"{AT_ROUTE} Accepted=False/NginxProxyConfigNotSet",)}),
    # PayloadProcessor.
    "a route's processor replaces the Gateway's": Predicted(
        "payload",
        (policy("PayloadProcessor", "wide", "Gateway/edge", PROCESSORS.replace("NAME", "guard"), "infra"),
         policy("PayloadProcessor", "own", ROUTE, PROCESSORS.replace("NAME", "second"))), "allowed",
        {"own": "Enforced"}, base=(*base(), SECOND, worlds.service("guard", "infra")),
        effective={"processors": "own"}),
    "a refused one leaves the Gateway's": Predicted(
        "payload",
        (policy("PayloadProcessor", "wide", "Gateway/edge", PROCESSORS.replace("NAME", "guard"), "infra"),
         policy("PayloadProcessor", "own", ROUTE, PROCESSORS.replace("NAME", "gone"))), "allowed",
        {"own": "Invalid", "wide": "Enforced"}, lint=("GWP111",),
        base=(*base(), SECOND, worlds.service("guard", "infra")),
        effective={"processors": "wide"}),
    # Snippets add up.
    "snippets of two policies": Predicted(
        "conflicts",
        (policy("SnippetsPolicy", "a", "Gateway/edge", "snippets: [{context: http, value: 'a on;'}]", "infra"),
         policy("SnippetsPolicy", "b", "Gateway/edge", "snippets: [{context: http, value: 'b on;'}]", "infra")),
        "allowed", {"a": "Enforced", "b": "Enforced"}),
}  # fmt: skip
