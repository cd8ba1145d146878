"""What `diff` says of requests where other doors than ingress-nginx become routes, or where others serve the routes.

What is expected was written down from the documentation of both sides first.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors.asking import ingress
from tests.doors.test_istio import gateway as own_gateway
from tests.doors.test_istio import pods, virtual
from tests.doors.test_istio import policy as istio_policy
from tests.doors.test_moves import EG, EXT_AUTH, HOST, LISTENERS, SSO, routed, secured, told
from tests.doors.test_openshift import edge
from tests.doors.test_openshift import route as openshift_route
from tests.doors.test_traefik import SHOP, ingress_route, middleware, to
from tests.witness.envoy_gateway_worlds import CERTIFICATE, PRIVATE_KEY
from tests.worlds import gateway, gateway_class, manifest, policy, route, service

CERT = f"""
apiVersion: v1
kind: Secret
metadata: {{name: c, namespace: infra}}
stringData: {{tls.crt: {json.dumps(CERTIFICATE)}, tls.key: {json.dumps(PRIVATE_KEY)}}}
"""


def around(name: str, controller: str) -> tuple[str, ...]:
    """Return a Gateway of an implementation, and Services."""
    own = gateway_class(name, controller), gateway(of_class=name, listeners=LISTENERS)
    return (*own, CERT, service("web"), service("next"))


TRAEFIK = around("traefik", "traefik.io/gateway-controller")
ISTIO = around("istio", "istio.io/gateway-controller")
KGATEWAY = around("kgateway", "kgateway.dev/kgateway")
BASIC = middleware("{basicAuth: {secret: users}}")
NAMED = "middlewares: [{name: m}]"
PODS = "selector: {matchLabels: {istio: ingressgateway}}"
TOKEN = istio_policy(f"{{{PODS}, jwtRules: [{{issuer: i}}]}}", "RequestAuthentication")
REQUIRED = "action: DENY, rules: [{from: [{source: {notRequestPrincipals: ['*']}}]}]"
NEEDED = istio_policy(f"{{{PODS}, {REQUIRED}}}", name="needed")


def filtered() -> str:
    extension = "{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: m}}"
    rules = f"rules: [{{filters: [{extension}], backendRefs: [{{name: web, port: 80}}]}}]"
    return route("web", more=f"hostnames: [{HOST}], {rules}")


def at_gateway(kind: str, spec: str) -> str:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    return manifest("security.istio.io/v1", kind, "edge", "infra", f"spec: {{{target}, {spec}}}")


def traffic(spec: str) -> str:
    return policy("gateway.kgateway.dev/v1alpha1", "TrafficPolicy", "web", "HTTPRoute/web", spec, "shop")


def extension() -> str:
    spec = "spec: {type: ExtAuth, extAuth: {httpService: {backendRef: {name: next, port: 80}}}}"
    return manifest("gateway.kgateway.dev/v1alpha1", "GatewayExtension", "sso", "shop", spec)


PLUGIN = manifest("configuration.konghq.com/v1", "KongPlugin", "keys", "shop", "plugin: key-auth")
KEYS = "apiKeyAuth: {credentialRefs: [{name: keys}], extractFrom: [{headers: [key]}]}"
OIDC = "oidc: {provider: {issuer: 'https://login.example'}, clientID: c, clientSecret: {name: s}}"
IAP = manifest(
    "cloud.google.com/v1",
    "BackendConfig",
    "iap",
    "shop",
    "spec: {iap: {enabled: true, oauthclientCredentials: {secretName: s}}}",
)
ALL = "/* ImplementationSpecific web"
GKE = "networking.gke.io/"
GUARDED = manifest(
    "v1",
    "Service",
    "web",
    "shop",
    "spec: {ports: [{port: 80}]}",
    more='annotations: {cloud.google.com/backend-config: \'{"default": "iap"}\'}',
)
MOVES = {
    "IngressRoute: the same": (TRAEFIK, (ingress_route(to(SHOP)),), (routed(),), set(), []),
    "IngressRoute: login lost": (
        TRAEFIK,
        (ingress_route(to(SHOP, more=NAMED)), BASIC),
        (routed(), BASIC),
        {"opened authentication"},
        ["error GWP302"],
    ),
    "IngressRoute: login kept by the same Middleware": (
        TRAEFIK,
        (ingress_route(to(SHOP, more=NAMED)), BASIC),
        (filtered(), BASIC),
        None,
        [],
    ),
    "IngressRoute: a prefix is text": (
        TRAEFIK,
        (ingress_route(to(f"{SHOP} && PathPrefix(`/api`)")),),
        (routed("http", "/api"),),
        {"closed"},
        [],
    ),
    "Route: the same": (EG, (openshift_route(),), (routed("http"),), set(), []),
    "Route: addresses lost": (
        EG,
        (openshift_route(note="ip_whitelist: 10.0.0.0/8"),),
        (routed("http"),),
        {"opened"},
        ["error GWP302"],
    ),
    "Route: redirect lost": (EG, (openshift_route(edge("Redirect")),), (routed(),), {"opened"}, []),
    "VirtualService: the same": (ISTIO, (own_gateway(), virtual()), (routed(),), set(), []),
    "VirtualService: a prefix is text": (
        ISTIO,
        (own_gateway(), virtual("[{match: [{uri: {prefix: /api}}], route: [{destination: {host: web}}]}]")),
        (routed(path="/api"),),
        {"closed"},
        [],
    ),
    "VirtualService: token lost": (
        ISTIO,
        (own_gateway(), virtual(), pods(), TOKEN, NEEDED),
        (routed(), TOKEN, NEEDED),
        {"opened", "opened authentication"},
        ["error GWP304", "error GWP302", "error GWP302"],
    ),
    "VirtualService: token kept at the Gateway": (
        ISTIO,
        (own_gateway(), virtual(), pods(), TOKEN, NEEDED),
        (
            routed(),
            at_gateway("RequestAuthentication", "jwtRules: [{issuer: i}]"),
            at_gateway("AuthorizationPolicy", REQUIRED),
        ),
        None,
        [],
    ),
    "ingress-nginx to Istio: login lost": (
        ISTIO,
        (ingress(**SSO),),
        (routed(),),
        {"opened authentication"},
        ["error GWP302"],
    ),
    "ingress-nginx to kgateway: login lost": (
        KGATEWAY,
        (ingress(**SSO),),
        (routed(),),
        {"opened authentication"},
        ["error GWP302"],
    ),
    "ingress-nginx to kgateway: login kept": (
        KGATEWAY,
        (ingress(**SSO),),
        (routed(), traffic("extAuth: {extensionRef: {name: sso}}"), extension()),
        {"changed authentication"},
        [],
    ),
    "ingress-nginx to kgateway: limit kept": (
        KGATEWAY,
        (ingress(limit_rps="5"),),
        (routed(), traffic("rateLimit: {local: {tokenBucket: {maxTokens: 5, fillInterval: 1s}}}")),
        set(),
        [],
    ),
    "ingress-nginx: a redirect to elsewhere is lost": (
        EG,
        (ingress(permanent_redirect="https://new.example.com/"),),
        (routed(),),
        {"opened"},
        [],
    ),
    "HAProxy: password kept": (
        EG,
        (ingress(of_class="haproxy", prefix="haproxy.org/", auth_type="basic-auth", auth_secret="users"),),
        (routed(), secured("basicAuth: {users: {name: users}}")),
        {"changed authentication"},
        [],
    ),
    "Kong: keys kept": (
        EG,
        (ingress(of_class="kong", prefix="konghq.com/", plugins="keys"), PLUGIN),
        (routed(), secured(KEYS)),
        {"changed authentication"},
        [],
    ),
    "ALB: login kept": (
        EG,
        (
            ingress(
                paths=ALL,
                of_class="alb",
                prefix="alb.ingress.kubernetes.io/",
                auth_type="oidc",
                certificate_arn="arn:aws:acm:x",
            ),
        ),
        (routed("https"), secured(OIDC)),
        {"changed authentication"},
        [],
    ),
    "GKE: login lost": (
        (*EG[:2], GUARDED),
        (ingress(paths=ALL, of_class="gce", prefix=GKE), IAP),
        (routed(),),
        {"opened authentication"},
        ["error GWP302"],
    ),
    "GKE: login kept": (
        (*EG[:2], GUARDED, service("next")),
        (ingress(paths=ALL, of_class="gce", prefix=GKE), IAP),
        (routed(), secured(EXT_AUTH)),
        {"changed authentication"},
        [],
    ),
}


@pytest.mark.parametrize("move", MOVES)
def test_moves(move: str, tmp_path: Path) -> None:
    base, before, after, changes, findings = MOVES[move]
    said, found = told(tmp_path, before, after, base)
    if changes is not None:
        assert said == changes
    assert found == findings
