"""GWP316 beyond the examples of its page: callbacks, issuers and challenges of other kinds, fields and scopes."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks.needs import IN_PLACE
from tests import worlds
from tests.checks.linting import GATEWAY, SERVICE, Said, lint, policy
from tests.worlds import gateway_class

ENVOY = gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller")
ISTIO = gateway_class("envoy", "istio.io/gateway-controller")
OIDC = "provider: {issuer: 'https://id.example.org'}, clientID: web, clientSecret: {name: oidc}"
SECRET = worlds.manifest("v1", "Secret", "oidc", "shop", "stringData: {client-secret: example}")
JWT = "jwt: {{providers: [{{name: a, issuer: '{0}', remoteJWKS: {{uri: '{0}/jwks'}}}}]}}"
ACME = worlds.manifest(
    "cert-manager.io/v1", "ClusterIssuer", "acme",
    body="spec: {acme: {server: 'https://acme.example.org', privateKeySecretRef: {name: acme}, solvers: "
         "[{http01: {gatewayHTTPRoute: {parentRefs: [{name: edge, namespace: infra, sectionName: http}]}}}]}}",
)  # fmt: skip


def needed(directory: Path, *manifests: str) -> list[Said]:
    return [each for each in lint(directory, *manifests) if each.rule == "GWP316"]


def certificate(host: str = "web.example.com", issuer: str = "{name: acme, kind: ClusterIssuer}") -> str:
    spec = f"spec: {{secretName: web, dnsNames: [{host}], issuerRef: {issuer}}}"
    return worlds.manifest("cert-manager.io/v1", "Certificate", "web", "shop", spec)


def route(name: str, path: str = "/", host: str = "web.example.com") -> str:
    rule = f"{{matches: [{{path: {{value: {path}}}}}], backendRefs: [{{name: checkout, port: 8080}}]}}"
    return worlds.route(name, more=f"hostnames: ['{host}'], rules: [{rule}]")


def authorization(settings: str) -> str:
    target = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]"
    spec = f"spec: {{{target}, {settings}}}"
    return worlds.manifest("security.istio.io/v1", "AuthorizationPolicy", "need", "infra", spec)


@pytest.mark.parametrize(
    ("redirect", "told"),
    [
        ("", "no route takes it"),
        ("redirectURL: 'http://web.example.com/app/callback'", ""),
        ("redirectURL: '%REQ(x-forwarded-proto)%://%REQ(:authority)%/app/callback'", ""),
        ("redirectURL: 'http://web.example.com/other/callback'", "it goes to HTTPRoute shop/other"),
        ("redirectURL: 'http://login.example.net/callback'", "no route takes it"),
        ("redirectURL: 'http://${HOST}/callback'", ""),
        ("redirectURL: 'https://web.example.com/app/callback'", ""),  # TLS ends in front of the Gateway
        ("redirectURL: 'https://web.example.com/callback'", "no route takes it"),
    ],
)
def test_a_callback_has_to_reach_the_login(tmp_path: Path, redirect: str, told: str) -> None:
    login = policy("SecurityPolicy", "login", "kind: HTTPRoute, name: app", f"oidc: {{{OIDC}, {redirect}}}")
    found = needed(tmp_path, ENVOY, GATEWAY, SERVICE, SECRET, route("app", "/app"), route("other", "/other"), login)
    labels = [each.label for each in found]
    assert len(labels) == bool(told)
    assert all(told in label for label in labels)


@pytest.mark.parametrize(("issuer", "told"), [("https://id.example.com", True), ("https://id.example.org", False)])
def test_an_issuer_behind_the_policy_that_takes_its_tokens(tmp_path: Path, issuer: str, told: bool) -> None:
    """Only what another Gateway or nobody here serves may be asked without a token."""
    wide = worlds.policy(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "wide", "Gateway/edge",
        JWT.format(issuer.replace("https", "http")), "infra",
    )  # fmt: skip
    found = needed(tmp_path, ENVOY, GATEWAY, SERVICE, route("app"), route("id", host="id.example.com"), wide)
    assert bool(found) == told


def test_an_issuer_of_which_the_route_has_a_policy_of_its_own(tmp_path: Path) -> None:
    wide = worlds.policy(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "wide", "Gateway/edge",
        JWT.format("http://id.example.com"), "infra",
    )  # fmt: skip
    opened = policy("SecurityPolicy", "opened", "kind: HTTPRoute, name: id", "cors: {allowOrigins: ['*']}")
    found = needed(tmp_path, ENVOY, GATEWAY, SERVICE, route("app"), route("id", host="id.example.com"), wide, opened)
    assert not found


ASKED = "backendRefs: [{name: checkout, port: 8080}]"


@pytest.mark.parametrize(
    ("wide", "severity"),
    [
        (f"extAuth: {{http: {{{ASKED}}}}}", "note"),
        (f"extAuth: {{grpc: {{{ASKED}}}}}", "note"),
        (f"extAuth: {{http: {{{ASKED}}}}}, {JWT.format('http://id.example.org')}", "warning"),  # a token as well
        ("basicAuth: {users: {name: oidc}}", "warning"),
    ],
)
def test_the_word_of_a_service_is_told_once_as_far_as_seen(tmp_path: Path, wide: str, severity: str) -> None:
    """A bouncer of addresses lets in whoever brings nothing; which service it is stands in no manifest."""
    group = "gateway.envoyproxy.io/v1alpha1"
    at_gateway = worlds.policy(group, "SecurityPolicy", "wide", "Gateway/edge", wide, "infra")
    takers = [
        policy("SecurityPolicy", name, f"kind: HTTPRoute, name: {name}", JWT.format("http://id.example.com"))
        for name in ("one", "two", "three")
    ]
    routes = [route(name, f"/{name}") for name in ("one", "two", "three")]
    service = SERVICE.replace("namespace: shop", "namespace: infra")
    secret = SECRET.replace("shop", "infra").replace("client-secret", ".htpasswd")
    world = (ENVOY, GATEWAY, SERVICE, service, secret, *routes, route("id", host="id.example.com"), *takers)
    (found,) = needed(tmp_path, *world, at_gateway)
    assert (found.severity, found.confidence) == (severity, "assumed" if severity == "note" else "certain")
    assert "SecurityPolicy shop/one, SecurityPolicy shop/three and SecurityPolicy shop/two take tokens" in found.label


@pytest.mark.parametrize(("action", "severity"), [("CUSTOM", "note"), ("DENY", "warning")])
def test_the_word_of_a_service_on_challenges(tmp_path: Path, action: str, severity: str) -> None:
    provider = "provider: {name: bouncer}, " if action == "CUSTOM" else ""
    need = authorization(f"action: {action}, {provider}rules: [{{}}]")
    found = needed(tmp_path, ISTIO, GATEWAY, SERVICE, route("app"), ACME, certificate(), need)
    assert [each.severity for each in found] == [severity]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("{from: [{source: {notRequestPrincipals: ['*']}}]}", True),
        (
            (
                "{from: [{source: {notRequestPrincipals: ['*']}}], "
                "to: [{operation: {notPaths: ['/.well-known/acme-challenge/*']}}]}"
            ),
            False,
        ),
        ("{to: [{operation: {notHosts: [web.example.com], paths: ['/admin*']}}]}", False),
    ],
)
def test_challenges_through_a_gateway_of_a_mesh(tmp_path: Path, rule: str, told: bool) -> None:
    need = authorization(f"action: DENY, rules: [{rule}]")
    found = needed(tmp_path, ISTIO, GATEWAY, SERVICE, route("app"), ACME, certificate(), need)
    assert bool(found) == told


@pytest.mark.parametrize(
    "others",
    [
        (certificate("'*.example.com'"),),  # no challenge by HTTP
        (certificate(issuer="{name: another, kind: ClusterIssuer}"),),
        (certificate(issuer="{name: acme}"),),  # an Issuer of that name is another one
        (),
    ],
)
def test_who_asks_for_no_challenge(tmp_path: Path, others: tuple[str, ...]) -> None:
    need = authorization("action: DENY, rules: [{from: [{source: {notRequestPrincipals: ['*']}}]}]")
    found = needed(tmp_path, ISTIO, GATEWAY, SERVICE, route("app"), ACME, need, *others)
    assert not found


ACROSS = "[{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: %s}}}]"


@pytest.mark.parametrize(
    ("listeners", "told"),
    [
        (ACROSS % "All", False),
        (ACROSS % "Same", True),
        (ACROSS % "Selector, selector: {matchLabels: {team: none}}", True),
        ("[{name: http, port: 80, protocol: HTTP, hostname: other.example.com}]", True),
        ("[{name: https, port: 8443, protocol: TLS}]", True),
    ],
)
def test_challenges_whose_route_is_not_let_in(tmp_path: Path, listeners: str, told: bool) -> None:
    gateway = worlds.gateway(listeners=listeners, of_class="envoy")
    solver = ACME.replace(", sectionName: http", "")
    spaces = worlds.manifest("v1", "Namespace", "shop", more="labels: {team: shop}")
    found = needed(tmp_path, ENVOY, gateway, SERVICE, route("app"), solver, certificate(), spaces)
    assert [each.message for each in found] == (
        ["ACME challenges of ClusterIssuer acme for web.example.com are not answered"] if told else []
    )


PLAIN = "{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}"
NAMED = PLAIN.replace("80", "80, hostname: web.example.com")
SHOWING = "{name: https, port: 443, protocol: HTTPS, hostname: web.example.com, tls: {certificateRefs: [{name: web}]}}"
PARENTLESS = ACME.replace("parentRefs: [{name: edge, namespace: infra, sectionName: http}]", "")


def annotated(kind: str, more: str = "", listeners: str = SHOWING) -> str:
    """Return a Gateway or a ListenerSet for which cert-manager makes Certificates."""
    annotations = f"annotations: {{cert-manager.io/cluster-issuer: acme{more}}}"
    parent = "gatewayClassName: envoy" if kind == "Gateway" else "parentRef: {name: edge, namespace: infra}"
    spec = f"spec: {{{parent}, listeners: [{listeners}]}}"
    return worlds.manifest("gateway.networking.k8s.io/v1", kind, "own", "shop", spec, more=annotations)


@pytest.mark.parametrize(
    ("holder", "told"),
    [
        (annotated("ListenerSet"), "GWP412"),
        (annotated("ListenerSet", listeners=f"{SHOWING}, {PLAIN}"), "GWP316"),  # the Gateway has that listener itself
        (annotated("ListenerSet", listeners=f"{SHOWING}, {NAMED}"), ""),
        (annotated("ListenerSet", ', acme.cert-manager.io/http01-parentreffallback: "true"'), ""),
        (annotated("Gateway"), "GWP412"),
        (annotated("Gateway", listeners=f"{SHOWING}, {PLAIN}"), ""),
    ],
)
@pytest.mark.parametrize("solver", ["{}", "{parentRefs: [{name: own, namespace: shop, kind: KIND}]}"])
def test_certificates_that_are_made_for_listeners(tmp_path: Path, holder: str, told: str, solver: str) -> None:
    """The route of a challenge names what the Certificate is made for, whether or not the issuer names it, too."""
    edge = worlds.gateway(listeners=f"[{PLAIN}]", of_class="envoy", more="allowedListeners: {namespaces: {from: All}}")
    kind = "Gateway" if "gatewayClassName" in holder else "ListenerSet"
    issuer = PARENTLESS.replace("gatewayHTTPRoute: {}", f"gatewayHTTPRoute: {solver.replace('KIND', kind)}")
    found = lint(tmp_path, ENVOY, edge, SERVICE, issuer, holder)
    assert [each.rule for each in found if each.rule in ("GWP316", "GWP412")] == ([told] if told else [])


def test_parents_that_a_certificate_names(tmp_path: Path) -> None:
    closed = worlds.gateway("closed", listeners=f"[{SHOWING}]", of_class="envoy")
    annotations = "annotations: {acme.cert-manager.io/http01-parentrefname: NAME, "
    annotations += "acme.cert-manager.io/http01-parentrefkind: Gateway, "
    annotations += "acme.cert-manager.io/http01-parentrefnamespace: infra}"
    spec = "spec: {secretName: web, dnsNames: [web.example.com], issuerRef: {name: acme, kind: ClusterIssuer}}"
    for name, told in (("closed", True), ("edge", False)):
        named = worlds.manifest(
            "cert-manager.io/v1", "Certificate", "web", "shop", spec, more=annotations.replace("NAME", name)
        )
        assert len(needed(tmp_path, ENVOY, closed, GATEWAY, SERVICE, PARENTLESS, named)) == told


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("dnsZones: [example.com]", False),
        ("dnsNames: [web.example.com]", False),
        ("dnsZones: [example.org]", True),
        ("matchLabels: {by: dns}", True),
    ],
)
def test_the_solver_of_a_host(tmp_path: Path, selector: str, told: bool) -> None:
    """The most specific selector decides, not the order: DNS proves what its zones hold."""
    http = "{http01: {gatewayHTTPRoute: {parentRefs: [{name: edge, namespace: infra}]}}}"
    solvers = f"solvers: [{http}, {{selector: {{{selector}}}, dns01: {{}}}}]"
    spec = f"spec: {{acme: {{server: 'https://acme.example.org', privateKeySecretRef: {{name: acme}}, {solvers}}}}}"
    issuer = worlds.manifest("cert-manager.io/v1", "ClusterIssuer", "acme", body=spec)
    edge = worlds.gateway(listeners=f"[{SHOWING}]", of_class="envoy")
    assert len(needed(tmp_path, ENVOY, edge, SERVICE, issuer, certificate())) == told


LIST = "principal: {clientCIDRs: [203.0.112.0/24]}"


@pytest.mark.parametrize(
    ("envoy_rule", "told"),
    [
        (f"authorization: {{defaultAction: Deny, rules: [{{action: Allow, {LIST}}}]}}", True),
        (f"authorization: {{defaultAction: Allow, rules: [{{action: Deny, {LIST}}}]}}", False),
        (
            "authorization: {defaultAction: Deny, rules: [{action: Allow, principal: {clientCIDRs: [0.0.0.0/0]}}]}",
            False,
        ),
    ],
)
def test_challenges_behind_a_list_of_addresses(tmp_path: Path, envoy_rule: str, told: bool) -> None:
    wide = worlds.policy(
        "gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "wide", "Gateway/edge", envoy_rule, "infra"
    )
    found = needed(tmp_path, ENVOY, GATEWAY, SERVICE, route("app"), ACME, certificate(), wide)
    said = "lets in some addresses only where ACME challenges of ClusterIssuer acme are answered"
    assert [each.message for each in found] == ([f"SecurityPolicy infra/wide {said}"] if told else [])


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ("action: ALLOW, rules: [{from: [{source: {ipBlocks: [10.0.0.0/8]}}]}]", True),
        ("action: DENY, rules: [{from: [{source: {notRemoteIpBlocks: [10.0.0.0/8]}}]}]", True),
        (
            (
                "action: ALLOW, rules: [{from: [{source: {ipBlocks: [10.0.0.0/8]}}]}, "
                "{to: [{operation: {paths: ['/.well-known/acme-challenge/*']}}]}]"
            ),
            False,
        ),
    ],
)
def test_challenges_behind_addresses_of_a_mesh(tmp_path: Path, rules: str, told: bool) -> None:
    found = needed(tmp_path, ISTIO, GATEWAY, SERVICE, route("app"), ACME, certificate(), authorization(rules))
    assert len(found) == told
    assert all("lets in some addresses only" in each.message for each in found)


def solved(by: str) -> str:
    solvers = f"solvers: [{{http01: {{ingress: {{{by}}}}}}}]"
    acme = f"acme: {{server: 'https://acme.example.org', privateKeySecretRef: {{name: acme}}, {solvers}}}"
    return worlds.manifest("cert-manager.io/v1", "ClusterIssuer", "acme", body=f"spec: {{{acme}}}")


def served(of_class: str, annotations: str = "") -> str:
    path = "{path: /, pathType: Prefix, backend: {service: {name: checkout, port: {number: 8080}}}}"
    rules = f"rules: [{{host: web.example.com, http: {{paths: [{path}]}}}}]"
    body = f"spec: {{ingressClassName: {of_class}, tls: [{{hosts: [web.example.com], secretName: web}}], {rules}}}"
    more = f"annotations: {{cert-manager.io/cluster-issuer: acme{annotations}}}"
    return worlds.manifest("networking.k8s.io/v1", "Ingress", "web", "shop", body, more=more)


def ingress_class(name: str, controller: str) -> str:
    body = f"spec: {{controller: {controller}}}"
    return worlds.manifest("networking.k8s.io/v1", "IngressClass", name, body=body)


KONG = ingress_class("kong", "ingress-controllers.konghq.com/kong")
OF_NGINX = ingress_class("nginx", "nginx.org/ingress-controller")
KEYS = (
    "configuration.konghq.com/v1",
    "plugin: key-auth\nconfig: {}",
    "annotations: {kubernetes.io/ingress.class: kong}",
)
EVERYWHERE = worlds.manifest(
    KEYS[0], "KongClusterPlugin", "keys", "", KEYS[1], more=f"labels: {{global: 'true'}}, {KEYS[2]}"
)
THERE = worlds.manifest(KEYS[0], "KongPlugin", "keys", "shop", KEYS[1])
SERVER = worlds.manifest(
    "k8s.nginx.org/v1",
    "VirtualServer",
    "web",
    "shop",
    "spec: {host: web.example.com, tls: {secret: web}, upstreams: [{name: a, service: checkout, port: 8080}], "
    "routes: [{path: /, action: {pass: a}}]}",
)


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        (
            (KONG, solved("ingressClassName: kong"), served("kong"), EVERYWHERE),
            "KongClusterPlugin keys asks for a login",
        ),
        ((KONG, solved("class: kong"), served("kong"), EVERYWHERE), "KongClusterPlugin keys asks for a login"),
        ((KONG, solved("ingressClassName: kong"), certificate(), served("kong"), EVERYWHERE), "asks for a login"),
        ((KONG, solved("ingressClassName: kong"), served("kong", ", konghq.com/plugins: keys"), THERE), ""),
        ((KONG, solved("ingressClassName: other"), served("kong"), EVERYWHERE), ""),
        (
            (KONG, solved("ingressClassName: kong"), served("kong", f", {IN_PLACE}: 'true'"), EVERYWHERE),
            "asks for a login",
        ),
        ((OF_NGINX, solved("ingressClassName: nginx"), served("nginx")), "for web.example.com are not answered"),
        ((OF_NGINX, solved("ingressClassName: nginx"), certificate(), SERVER), "for web.example.com are not answered"),
        ((OF_NGINX, solved("ingressClassName: nginx"), served("nginx", f", {IN_PLACE}: 'true'")), ""),
        ((OF_NGINX, solved("name: web"), served("nginx")), ""),
        ((ingress_class("nginx", "k8s.io/ingress-nginx"), solved("ingressClassName: nginx"), served("nginx")), ""),
    ],
)
def test_challenges_that_an_ingress_of_their_own_answers(objects: tuple[str, ...], told: str, tmp_path: Path) -> None:
    """cert-manager pkg/issuer/acme/http/ingress.go: an Ingress of the solver's class with the path of the token; NGINX
    Ingress Controller gives a host to its oldest Ingress or VirtualServer alone."""
    found = needed(tmp_path, SERVICE, *objects)
    assert [told in each.message for each in found] == [True] * bool(told)


@pytest.mark.parametrize(
    ("controller", "told"), [("k8s.io/ingress-nginx", False), ("nginx.org/ingress-controller", True)]
)
def test_challenges_for_a_host_in_two_namespaces_have_tokens_of_their_own(
    controller: str, told: bool, tmp_path: Path
) -> None:
    """RFC 8555, 8.3: the path ends with the token of the challenge, so one solver takes nothing from another."""
    there = served("nginx").replace("namespace: shop", "namespace: till").replace("path: /,", "path: /till,")
    assert there != served("nginx")
    objects = (ingress_class("nginx", controller), solved("ingressClassName: nginx"), served("nginx"), there)
    assert bool(needed(tmp_path, SERVICE, *objects)) is told
