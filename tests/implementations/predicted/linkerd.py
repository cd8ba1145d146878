"""Linkerd: what decides beside authorizations, by its policy controller, proxy and injector."""

from __future__ import annotations

from tests import worlds
from tests.implementations.predicted import Predicted

_INBOUND = "github.com/linkerd/linkerd2 @ 01afd2304 policy-controller/k8s/index/src/inbound/index.rs"
SOURCES = {
    "servers": f"{_INBOUND}, reindex_servers",
    "defaults": f"{_INBOUND}, default_inbound_server",
    "authorizations": f"{_INBOUND}, client_authzs",
    "routes": f"{_INBOUND}, http_routes and route_client_authzs",
    "webhook": "github.com/linkerd/linkerd2 @ 002015e3f policy-controller/src/admission.rs",
    "protocols": "github.com/linkerd/linkerd2-proxy @ 1a33d8883 linkerd/proxy/server-policy/src/lib.rs",
    "annotations": "linkerd.io/2.19/reference/proxy-configuration",
    "injector": "github.com/linkerd/linkerd2 (2.19) pkg/inject/report.go",
    "limits": "github.com/linkerd/linkerd2 @ 01afd2304 policy-controller/grpc/src/inbound.rs, to_server",
    "policy": "linkerd.io/2.19/reference/authorization-policy",
}
STRANGER = {"client": "Deployment outside/stranger"}
"""A client that is in no mesh."""
REQUEST = {
    "client": "Deployment infra/client",
    "service": "Service shop/web",
    "host": "web.shop",
    "path": "/",
    "port": 80,
}
LINKERD = "policy.linkerd.io"
MESHED = "linkerd.io/inject: enabled"


def namespaces(shop: str = MESHED, infra: str = MESHED) -> tuple[str, ...]:
    """The Namespaces of the server and of the client with their annotations."""
    return tuple(
        worlds.manifest("v1", "Namespace", name, more=f"annotations: {{{annotations}}}")
        for name, annotations in (("shop", shop), ("infra", infra))
    )


def deployment(name: str, namespace: str, annotations: str = "", pod: str = "", container: str = "") -> str:
    """A workload; `annotations` and `pod` are fields of its pods' metadata and spec, `container` of their container."""
    ports = f"{{name: c, ports: [{{name: http, containerPort: 8080}}]{container and ', ' + container}}}"
    spec = f"{{{pod and pod + ', '}serviceAccountName: {name}, containers: [{ports}]}}"
    metadata = f"{{labels: {{app: {name}}}, annotations: {{{annotations}}}}}"
    template = f"{{metadata: {metadata}, spec: {spec}}}"
    body = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, template: {template}}}"
    return worlds.manifest("apps/v1", "Deployment", name, namespace, body)


def base(
    shop: str = MESHED, infra: str = MESHED, *, web: str = deployment("web", "shop"),
    client: str = deployment("client", "infra"),
) -> tuple[str, ...]:  # fmt: skip
    service = "spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}"
    outside = worlds.manifest("v1", "Namespace", "outside", more="annotations: {linkerd.io/inject: disabled}")
    stranger = deployment("stranger", "outside")
    return (
        *namespaces(shop, infra),
        outside,
        stranger,
        web,
        client,
        worlds.manifest("v1", "Service", "web", "shop", service),
    )


BASE = base()


def of(kind: str, name: str, spec: str, version: str = "v1alpha1", more: str = "") -> str:
    return worlds.manifest(f"{LINKERD}/{version}", kind, name, "shop", f"spec: {{{spec}}}", more=more)


def server(more: str = "", name: str = "web", pods: str = "podSelector: {matchLabels: {app: web}}") -> str:
    return of("Server", name, f"{pods}, port: 8080{more and ', ' + more}", "v1beta3", "labels: {tier: front}")


def lets(*asked: str, target: str = f"group: {LINKERD}, kind: Server, name: web") -> str:
    return of(
        "AuthorizationPolicy", "lets", f"targetRef: {{{target}}}, requiredAuthenticationRefs: [{', '.join(asked)}]"
    )


def reference(kind: str, name: str) -> str:
    return f"{{group: {LINKERD}, kind: {kind}, name: {name}}}"


def route(group: str = LINKERD, path: str = "/admin") -> str:
    version = "v1beta3" if group == LINKERD else "v1"
    spec = f"parentRefs: [{reference('Server', 'web')}], rules: [{{matches: [{{path: {{value: {path}}}}}]}}]"
    return worlds.manifest(f"{group}/{version}", "HTTPRoute", "admin", "shop", f"spec: {{{spec}}}")


LIMIT = of(
    "HTTPLocalRateLimitPolicy", "limit",
    f"targetRef: {{group: {LINKERD}, kind: Server, name: web}}, total: {{requestsPerSecond: 9}}",
)  # fmt: skip
WHO, WHERE = reference("MeshTLSAuthentication", "who"), reference("NetworkAuthentication", "where")
EVERYBODY = of("MeshTLSAuthentication", "who", 'identities: ["*"]')
OF_INFRA = of("MeshTLSAuthentication", "who", "identityRefs: [{kind: Namespace, name: infra}]")
OF_HOME = of("MeshTLSAuthentication", "who", "identityRefs: [{kind: ServiceAccount, name: client}]")
EXCEPT = of("NetworkAuthentication", "where", "networks: [{cidr: 0.0.0.0/0, except: [10.0.0.0/8]}]")
EVERY_APP = "podSelector: {matchExpressions: [{key: app, operator: Exists}]}"
ON_ADMIN = f"group: {LINKERD}, kind: HTTPRoute, name: admin"
ON_GATEWAY_API = f"group: {worlds.GATEWAY_API}, kind: HTTPRoute, name: admin"
PROBE = "readinessProbe: {httpGet: {path: /ready, port: http}}"
SKIP_IN, SKIP_OUT = "config.linkerd.io/skip-inbound-ports", "config.linkerd.io/skip-outbound-ports"
DEFAULT, OPAQUE = "config.linkerd.io/default-inbound-policy", "config.linkerd.io/opaque-ports"
IDENTITY = "config.linkerd.io/proxy-require-identity-inbound-ports"
OUTSIDE = "linkerd.io/inject: disabled"
ENFORCED = {"lets": "Enforced"}


def old(servers: str, client: str) -> str:
    return of("ServerAuthorization", "old", f"server: {{{servers}}}, client: {{{client}}}", "v1beta1")


def pods(annotations: str = "", pod: str = "", container: str = "") -> tuple[str, ...]:
    return base(web=deployment("web", "shop", annotations, pod, container))


WORLDS = {
    "an opaque Server has no routes": Predicted(
        "protocols", (server("proxyProtocol: opaque"), route(), lets(WHO), EVERYBODY), "allowed", ENFORCED),
    "a gRPC Server reads no HTTPRoutes": Predicted(
        "protocols", (server("proxyProtocol: gRPC"), route(), lets(WHO), EVERYBODY), "allowed", ENFORCED),
    "a Server of HTTP reads them": Predicted(
        "protocols", (server("proxyProtocol: HTTP/1"), route(), lets(WHO), EVERYBODY), "404"),
    "a port at which the proxy is skipped": Predicted(
        "annotations", (server(),), "allowed", base=pods(f'{SKIP_IN}: "25,8080"')),
    "a range of skipped ports": Predicted(
        "annotations", (server(),), "allowed", base=pods(f"{SKIP_IN}: 8000-8100")),
    "another skipped port": Predicted("annotations", (server(),), "403", base=pods(f'{SKIP_IN}: "25,9000-9100"')),
    "skipped ports of the Namespace": Predicted(
        "annotations", (server(),), "allowed", base=base(f'{MESHED}, {SKIP_IN}: "8080"')),
    "a client whose proxy is skipped has no identity": Predicted(
        "annotations", (server(), lets(WHO), EVERYBODY), "403",
        base=base(client=deployment("client", "infra", f'{SKIP_OUT}: "80"'))),
    "pods of the node's network get no proxy": Predicted(
        "injector", (server(),), "allowed", base=pods(pod="hostNetwork: true")),
    "pods without a token of their account get no proxy": Predicted(
        "injector", (server(),), "allowed", base=pods(pod="automountServiceAccountToken: false")),
    "pods that opt out of their Namespace's mesh": Predicted("injector", (server(),), "allowed", base=pods(OUTSIDE)),
    "an identity is required on one port": Predicted(
        "defaults", (), "403", base=base(infra=OUTSIDE, web=deployment("web", "shop", f'{IDENTITY}: "8080"'))),
    "which the mesh has": Predicted("defaults", (), "allowed", base=pods(f'{IDENTITY}: "8080"')),
    "the default of pods before that of their Namespace": Predicted(
        "defaults", (), "allowed",
        base=base(f"{MESHED}, {DEFAULT}: deny", web=deployment("web", "shop", f"{DEFAULT}: all-unauthenticated"))),
    "a default that only audits": Predicted("policy", (), "allowed", base=base(f"{MESHED}, {DEFAULT}: audit")),
    "a default that goes by the cluster's networks": Predicted(
        "policy", (), "depends", base=base(f"{MESHED}, {DEFAULT}: cluster-unauthenticated")),
    "a refused connection to an opaque port": Predicted(
        "defaults", (), "reset", base=pods(f'{DEFAULT}: deny, {OPAQUE}: "8080"')),
    "probes are let in": Predicted(
        "routes", (server(),), "depends", request={"path": "/ready"}, base=pods(container=PROBE)),
    "but not at a Server with routes": Predicted(
        "routes", (server(), route()), "404", request={"path": "/ready"}, base=pods(container=PROBE)),
    "and not by another method": Predicted(
        "routes", (server(),), "403", request={"path": "/ready", "method": "POST"}, base=pods(container=PROBE)),
    "of two Servers of one port any may count": Predicted(
        "servers",
        (server(), server("accessPolicy: all-unauthenticated", "all", EVERY_APP)),
        "depends"),
    "a Server of external workloads selects no pods": Predicted(
        "servers", (server(pods="externalWorkloadSelector: {matchLabels: {app: web}}"),), "allowed"),
    "networks but one": Predicted("policy", (server(), lets(WHERE), EXCEPT), "depends", ENFORCED),
    "identities of a Namespace": Predicted("policy", (server(), lets(WHO), OF_INFRA), "allowed", ENFORCED),
    "an account of the policy's own Namespace": Predicted("policy", (server(), lets(WHO), OF_HOME), "403", ENFORCED),
    "an authentication that is not there": Predicted(
        "authorizations", (server(), lets(reference("MeshTLSAuthentication", "gone")), EVERYBODY), "403",
        lint=("GWP113",)),
    "accessPolicy adds to authorizations": Predicted(
        "authorizations", (server("accessPolicy: all-authenticated"), lets(WHO), OF_HOME), "allowed", ENFORCED),
    "a route of Gateway API at a Server": Predicted(
        "routes", (server(), route(worlds.GATEWAY_API), lets(WHO, target=ON_GATEWAY_API), EVERYBODY), "allowed",
        ENFORCED, request={"path": "/admin"}),
    "an authorization of a route of another group": Predicted(
        "routes",
        (server(), route(worlds.GATEWAY_API), lets(WHO, target=ON_ADMIN), EVERYBODY),
        "403", {"lets": "TargetNotFound"}, request={"path": "/admin"}),
    "an old authorization by labels of Servers": Predicted(
        "authorizations",
        (server(), old("selector: {matchLabels: {tier: front}}", "meshTLS: {identities: ['*']}")),
        "allowed"),
    "and by networks": Predicted(
        "authorizations",
        (server(), old("name: web", "unauthenticated: true, networks: [{cidr: 10.0.0.0/8}]")),
        "depends"),
    "a rate limit of HTTP": Predicted(
        "limits", (server("accessPolicy: all-unauthenticated, proxyProtocol: HTTP/1"), LIMIT), "allowed",
        {"limit": "Enforced"}),
    "a rate limit of a protocol that is found out": Predicted(
        "limits", (server("accessPolicy: all-unauthenticated"), LIMIT), "allowed", {"limit": "Enforced"}),
    "a rate limit of an opaque Server": Predicted(
        "limits", (server("accessPolicy: all-unauthenticated, proxyProtocol: opaque"), LIMIT), "allowed",
        {"limit": "NoEffect"}, ("GWP106",)),
    "a rate limit of gRPC": Predicted(
        "limits", (server("accessPolicy: all-unauthenticated, proxyProtocol: gRPC"), LIMIT), "allowed",
        {"limit": "NoEffect"}, ("GWP106",)),
    "a rate limit of TLS": Predicted(
        "limits", (server("accessPolicy: all-unauthenticated, proxyProtocol: TLS"), LIMIT), "allowed",
        {"limit": "NoEffect"}, ("GWP106",)),
    "a Namespace of another name is refused": Predicted(
        "webhook", (server(), lets(WHO, target="kind: Namespace, name: infra"), EVERYBODY), "403", {"lets": "Invalid"},
        ("GWP104",)),
}  # fmt: skip
