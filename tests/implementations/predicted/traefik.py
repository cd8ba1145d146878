"""Traefik's Gateway API provider: Middlewares as filters, chains of them, services of its own."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

SOURCES = {
    "filters": "github.com/traefik/traefik @ 02d04f0ed pkg/provider/kubernetes/gateway/httproute.go, loadMiddlewares",
    "names": "github.com/traefik/traefik v3.5 pkg/provider/kubernetes/crd/kubernetes.go: the filter is "
    "`namespace-name@kubernetescrd`, looked up when the router is built; one that is not there takes the router away",
    "chain": "doc.traefik.io/traefik/v3.5/reference/routing-configuration/http/middlewares/chain",
    "builder": "github.com/traefik/traefik v3.5 pkg/server/middleware/middlewares.go, buildConstructor and "
    "checkRecursion: an empty one, one of two sorts and one that names itself are errors, and the router is left out",
    "providers": "github.com/traefik/traefik v3.5 pkg/provider/kubernetes/crd/kubernetes.go, createChainMiddleware",
    "unsupported": "the same, loadMiddlewares and loadHTTPRouteFilterExtensionRef: an error, for which the rule gets a "
    "service that answers 500; features.go @ 0a45cf4f8 for what later versions support",
    "services": "the file of «filters», loadHTTPBackendRef",
    "tls": "gateway-api.sigs.k8s.io/geps/gep-713 «Conflict Resolution», which doc.traefik.io v3.5 follows",
    "redirect": "github.com/traefik/traefik v3.7.13 pkg/middlewares: redirect/redirect_scheme.go, headers/secure.go",
    "allow-list": "doc.traefik.io/traefik/v3.5/reference/routing-configuration/http/middlewares/ipallowlist",
}
REQUEST = {"host": "shop.example"}
SERVICE = "{name: checkout, port: 80}"


def filtering(name: str, group: str = "traefik.io", kind: str = "Middleware") -> str:
    return f"filters: [{{type: ExtensionRef, extensionRef: {{group: {group}, kind: {kind}, name: {name}}}}}]"


def base(*rules: str, backend: str = SERVICE) -> tuple[str, ...]:
    """A route through a Gateway of Traefik; of a rule all but its backend is given."""
    written = ", ".join(f"{{{rule and rule + ', '}backendRefs: [{backend}]}}" for rule in rules or ("",))
    return (
        worlds.gateway_class("any", "traefik.io/gateway-controller"),
        worlds.gateway(),
        worlds.route(more=f"rules: [{written}]"),
        worlds.service(),
    )


BASE = base(filtering("login"))


def middleware(name: str, spec: str, namespace: str = "shop") -> str:
    return worlds.manifest("traefik.io/v1alpha1", "Middleware", name, namespace, f"spec: {{{spec}}}")


def chain(name: str, *names: str) -> str:
    return middleware(name, f"chain: {{middlewares: [{', '.join(f'{{name: {each}}}' for each in names)}]}}")


def tls(name: str, section: str, created: str) -> str:
    return worlds.policy(
        "gateway.networking.k8s.io/v1", "BackendTLSPolicy", name, f"Service/checkout{section}",
        "validation: {hostname: a.example, wellKnownCACertificates: System}", "shop", created,
    )  # fmt: skip


BASIC, GZIP = middleware("basic", "basicAuth: {secret: s}"), middleware("gzip", "compress: {}")
LOGIN = middleware("login", "basicAuth: {secret: s}")
INGRESS_ROUTE = worlds.manifest(
    "traefik.io/v1alpha1", "IngressRoute", "checkout", "shop",
    "spec: {routes: [{match: Host(`shop.example`), kind: Rule, middlewares: [{name: login}], services: [{name: x}]}]}",
)  # fmt: skip
OFFICE = "ipAllowList: {sourceRange: [10.0.0.0/8]}"
ADMIN = "matches: [{path: {value: /admin}}]"
OLD, NEW = "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"
OWN_SERVICE = "{group: traefik.io, kind: TraefikService, name: NAME}"
MIRROR = f"requestMirror: {{backendRef: {SERVICE}}}"
ASKS = f"externalAuth: {{protocol: GRPC, grpc: {{}}, backendRef: {SERVICE}}}"
HEADERS = "{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: a, value: b}]}}"
WORLDS = {
    "a Middleware that is not there": Predicted("names", (GZIP,), "404", lint=("GWP406",)),
    "a Middleware of another namespace": Predicted(
        "names", (middleware("login", "basicAuth: {secret: s}", "infra"), GZIP), "404", lint=("GWP406",)),
    "a chain asks what its members ask": Predicted(
        "chain", (chain("login", "gzip", "basic"), GZIP, BASIC), "allowed, basicAuth required"),
    "a chain of chains": Predicted(
        "chain", (chain("login", "inner"), chain("inner", "basic"), BASIC), "allowed, basicAuth required"),
    "a chain of which a member is not there": Predicted(
        "chain", (chain("login", "gone", "basic"), BASIC), "404", lint=("GWP406",)),
    "a chain without a login": Predicted("chain", (chain("login", "gzip"), GZIP), "allowed"),
    "a chain that names itself": Predicted("builder", (chain("login", "login"),), "404", lint=("GWP406",)),
    "chains that name each other": Predicted(
        "builder", (chain("login", "inner"), chain("inner", "basic", "login"), BASIC), "404", lint=("GWP406",)),
    "a Middleware of no sort": Predicted("builder", (middleware("login", ""),), "404", lint=("GWP406",)),
    "a Middleware of two sorts": Predicted(
        "builder", (middleware("login", "basicAuth: {secret: s}, compress: {}"),), "404", lint=("GWP406",)),
    "a chain of one of two sorts": Predicted(
        "builder", (chain("login", "two"), middleware("two", "basicAuth: {secret: s}, compress: {}")), "404",
        lint=("GWP406",)),
    "a member of another provider": Predicted("providers", (chain("login", "office@file"),), "allowed"),
    "beside one that asks": Predicted(
        "providers", (chain("login", "office@file", "basic"), BASIC), "allowed, basicAuth required"),
    "a member of another namespace": Predicted(
        "providers",
        (middleware("login", "chain: {middlewares: [{name: basic, namespace: infra}]}"),
         middleware("basic", "basicAuth: {secret: s}", "infra")), "allowed, basicAuth required"),
    "a member twice": Predicted("chain", (chain("login", "basic", "basic"), BASIC), "allowed, basicAuth required"),
    "code of one's own": Predicted("filters", (middleware("login", "plugin: {mine: {}}"),), "allowed"),
    "two members that ask": Predicted(
        "chain", (chain("login", "basic", "ask"), BASIC, middleware("ask", "forwardAuth: {address: http://a}")),
        "allowed, basicAuth and forwardAuth required"),
    "digests": Predicted("filters", (middleware("login", "digestAuth: {secret: s}"),), "allowed, digestAuth required"),
    "an allow-list": Predicted("allow-list", (middleware("login", OFFICE),), "depends"),
    "an allow-list in a chain": Predicted(
        "chain", (chain("login", "office"), middleware("office", OFFICE)), "depends"),
    "a redirect without a scheme": Predicted(
        "builder", (middleware("login", "redirectScheme: {permanent: true}"),), "404", lint=("GWP406",)),
    "an allow-list of nobody": Predicted(
        "builder", (middleware("login", "ipAllowList: {sourceRange: []}"),), "404", lint=("GWP406",)),
    "a list of allowed hosts": Predicted(
        "redirect", (middleware("login", "headers: {allowedHosts: [other.example]}"),), "500"),
    "the rule with the filter": Predicted(
        "filters", (LOGIN,), "allowed, basicAuth required", request={"path": "/admin"},
        base=base(f"{ADMIN}, {filtering('login')}", "")),
    "the rule without": Predicted(
        "filters", (LOGIN,), "allowed", request={"path": "/shop"}, base=base(f"{ADMIN}, {filtering('login')}", "")),
    "a Middleware that an IngressRoute names": Predicted(
        "filters", (LOGIN, INGRESS_ROUTE), "allowed", base=base(), lint=("GWP415",)),  # its Service x is missing
    "a dashboard behind a login": Predicted(
        "services", (LOGIN,), "allowed, basicAuth required",
        base=base(filtering("login"), backend=OWN_SERVICE.replace("NAME", "api@internal"))),
    "a service of another provider": Predicted(
        "services", (), "allowed", base=base(backend=OWN_SERVICE.replace("NAME", "checkout@file"))),
    "a filter of a kind that it does not know": Predicted(
        "unsupported", (), "500", base=base(filtering("login", "example.com", "Filter"))),
    "a filter that is a policy of another controller": Predicted(
        "unsupported", (LOGIN,), "500",
        base=base(filtering("login", "configuration.konghq.com", "KongPlugin"))),
    "a mirror": Predicted("unsupported", (), "500", base=base(f"filters: [{{type: RequestMirror, {MIRROR}}}]")),
    "an external authoriser": Predicted(
        "unsupported", (), "500", base=base(f"filters: [{{type: ExternalAuth, {ASKS}}}]")),
    "headers of responses": Predicted("unsupported", (), "allowed", base=base(f"filters: [{HEADERS}]")),
    "a rule without the filter": Predicted(
        "unsupported", (), "allowed", request={"path": "/shop"},
        base=base(f"{ADMIN}, {filtering('login', 'example.com', 'Filter')}", "")),
    "the older of two BackendTLSPolicies": Predicted(
        "tls", (tls("p", "", OLD), tls("q", "", NEW)), "allowed", {"p": "Enforced", "q": "Conflicted"},
        base=base()),
}  # fmt: skip
