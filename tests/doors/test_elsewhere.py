# ruff: noqa: E501 - worlds on one line each
"""What doors of other controllers answer, world by world, as their documentation has it (docs/design/doors.md §7)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.doors.asking import answer, ingress
from tests.worlds import manifest, service, simulated

WEB, NEXT = service("web"), service("next")
HOST, TLS = "http://shop.example.com", "https://shop.example.com"
ALB, GKE, AGIC = "alb.ingress.kubernetes.io/", "networking.gke.io/", "appgw.ingress.kubernetes.io/"
TRAEFIK, HAPROXY, HAPROXY_INGRESS = (
    "traefik.ingress.kubernetes.io/",
    "haproxy.org/",
    "haproxy-ingress.github.io/",
)
KONG = "konghq.com/"


class World(NamedTuple):
    """Manifests, and for requests where they end, with the login that is asked."""

    name: str
    manifests: tuple[str, ...]
    expected: dict[str, tuple[str, str]]


def alb(name: str = "web", paths: str = "/ Prefix web", **annotations: str) -> str:
    return ingress(name, paths, of_class="alb", prefix=ALB, **annotations)


def chart(name: str, config: str) -> str:
    spec = f"spec: {{chart: {{spec: {{chart: {name}}}}}, values: {{controller: {{config: {config}}}}}}}"
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, "infra", spec)


BOTH = '[{"HTTP": 80}, {"HTTPS": 443}]'
AWS = (
    World(
        "ALB redirects from http with ssl-redirect",
        (alb(listen_ports=BOTH, ssl_redirect="443", certificate_arn="arn:aws:acm:x"),),
        {f"{HOST}/a": ("301 https://shop.example.com/a", ""), f"{TLS}/a": ("web", "")},
    ),
    World(
        "ALB without a certificate listens on http alone",
        (alb(),),
        {f"{HOST}/": ("web", ""), f"{TLS}/": ("404", "")},
    ),
    World(
        "ALB with a certificate listens on https alone",
        (alb(certificate_arn="arn:aws:acm:x"),),
        {f"{HOST}/": ("404", ""), f"{TLS}/": ("web", "")},
    ),
    World(
        "ALB asks for a login on https alone",
        (alb(listen_ports=BOTH, auth_type="cognito", certificate_arn="arn:aws:acm:x"),),
        {f"{HOST}/": ("web", ""), f"{TLS}/": ("web", "login")},
    ),
    World(
        "ALB asks for a token on https alone",
        (alb(listen_ports=BOTH, jwt_validation='{"issuer": "i"}', certificate_arn="arn:aws:acm:x"),),
        {f"{HOST}/": ("web", ""), f"{TLS}/": ("web", "jwt")},
    ),
    World(
        "ALB takes the login that a Service states",
        (
            alb(listen_ports=BOTH, certificate_arn="arn:aws:acm:x"),
            service("web").replace("name: web,", f"name: web, annotations: {{{ALB}auth-type: oidc}},", 1),
        ),
        {f"{TLS}/": ("web", "login")},
    ),
    World(
        "ALB lets in only who is on inbound-cidrs",
        (alb(inbound_cidrs="10.0.0.0/8,192.0.2.0/24"),),
        {f"{HOST}/ from 192.0.2.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("403", "")},
    ),
    World(
        "ALB answers with the redirect that an action states",
        (
            alb(
                paths="",
                more="rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, backend: "
                "{service: {name: moved, port: {name: use-annotation}}}}]}}]",
                **{
                    "actions.moved": '{"type":"redirect","redirectConfig":{"host":"new.example.com","statusCode":"HTTP_302"}}'
                },
            ),
        ),
        {f"{HOST}/a": ("302 http://new.example.com/a", "")},
    ),
    World(
        "ALB answers by itself where an action says so",
        (
            alb(
                paths="",
                more="rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, backend: "
                "{service: {name: closed, port: {name: use-annotation}}}}]}}]",
                **{"actions.closed": '{"type":"fixed-response","fixedResponseConfig":{"statusCode":"503"}}'},
            ),
        ),
        {f"{HOST}/": ("503", "")},
    ),
    World(
        "ALB takes only addresses that a condition names",
        (alb(**{"conditions.web": '[{"field":"source-ip","sourceIpConfig":{"values":["10.0.0.0/8"]}}]'}),),
        {f"{HOST}/ from 10.0.0.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("403", "")},
    ),
    World(
        "ALB's Prefix is by elements",
        (alb(paths="/api Prefix web"),),
        {f"{HOST}/api/a": ("web", ""), f"{HOST}/apix": ("404", "")},
    ),
    World(
        "ALB asks for a certificate by mutual-authentication",
        (
            alb(
                certificate_arn="arn:aws:acm:x",
                mutual_authentication='[{"port": 443, "mode": "verify", "trustStore": "t"}]',
            ),
        ),
        {f"{TLS}/": ("web", "clientCertificate")},
    ),
    World(
        "ALB that passes certificates on asks for none",
        (alb(certificate_arn="arn:aws:acm:x", mutual_authentication='[{"port": 443, "mode": "passthrough"}]'),),
        {f"{TLS}/": ("web", "")},
    ),
    World("ALB of scheme internal is a door as well", (alb(scheme="internal"),), {f"{HOST}/": ("web", "")}),
)

CLOUDS = (
    World(
        "GKE without http",
        (
            ingress(
                of_class="gce",
                prefix="kubernetes.io/",
                tls=True,
                paths="/* ImplementationSpecific web",
                **{"ingress.allow_http": "false"},
            ),
        ),
        {f"{HOST}/": ("404", ""), f"{TLS}/": ("web", "")},
    ),
    World(
        "GKE redirects by a FrontendConfig",
        (
            ingress(
                of_class="gce",
                prefix=GKE,
                tls=True,
                paths="/* ImplementationSpecific web",
                **{"v1beta1.FrontendConfig": "front"},
            ),
            manifest(
                "networking.gke.io/v1beta1",
                "FrontendConfig",
                "front",
                "shop",
                "spec: {redirectToHttps: {enabled: true}}",
            ),
        ),
        {f"{HOST}/a": ("301 https://shop.example.com/a", ""), f"{TLS}/a": ("web", "")},
    ),
    World(
        "GKE's FrontendConfig may say another status",
        (
            ingress(
                of_class="gce",
                prefix=GKE,
                tls=True,
                paths="/* ImplementationSpecific web",
                **{"v1beta1.FrontendConfig": "front"},
            ),
            manifest(
                "networking.gke.io/v1beta1",
                "FrontendConfig",
                "front",
                "shop",
                "spec: {redirectToHttps: {enabled: true, responseCodeName: PERMANENT_REDIRECT}}",
            ),
        ),
        {f"{HOST}/a": ("308 https://shop.example.com/a", "")},
    ),
    World(
        "Azure redirects with ssl-redirect",
        (ingress(of_class="azure-application-gateway", prefix=AGIC, tls=True, ssl_redirect="true"),),
        {f"{HOST}/a": ("301 https://shop.example.com/a", "")},
    ),
    World(
        "Azure without ssl-redirect does not",
        (ingress(of_class="azure-application-gateway", prefix=AGIC, tls=True),),
        {f"{TLS}/a": ("web", "")},
    ),
    World(
        "Azure's firewall is no login",
        (ingress(of_class="azure-application-gateway", prefix=AGIC, waf_policy_for_path="/subscriptions/x"),),
        {f"{HOST}/": ("web", "")},
    ),
)


def traefik(**annotations: str) -> str:
    return ingress(of_class="traefik", prefix=f"{TRAEFIK}router.", **annotations).replace("router.TLS", "router.tls")


def middleware(spec: str, name: str = "m") -> str:
    return manifest("traefik.io/v1alpha1", "Middleware", name, "shop", f"spec: {{{spec}}}")


OF_TRAEFIK = (
    World(
        "Traefik's list of addresses",
        (traefik(middlewares="shop-m@kubernetescrd"), middleware("ipAllowList: {sourceRange: [10.0.0.0/8]}")),
        {f"{HOST}/ from 10.0.0.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("403", "")},
    ),
    World(
        "Traefik's redirect to https",
        (traefik(middlewares="shop-m@kubernetescrd"), middleware("redirectScheme: {scheme: https, permanent: true}")),
        {f"{HOST}/a": ("301 https://shop.example.com/a", "")},
    ),
    World(
        "Traefik's redirect to https is temporary by default",
        (traefik(middlewares="shop-m@kubernetescrd"), middleware("redirectScheme: {scheme: https}")),
        {f"{HOST}/a": ("302 https://shop.example.com/a", "")},
    ),
    World(
        "Traefik's chain asks what its members ask",
        (
            traefik(middlewares="shop-m@kubernetescrd"),
            middleware("chain: {middlewares: [{name: login}]}"),
            middleware("basicAuth: {secret: users}", "login"),
        ),
        {f"{HOST}/": ("web", "basicAuth")},
    ),
    World(
        "Traefik's router on websecure alone",
        (traefik(entrypoints="websecure", TLS="true"),),
        {f"{HOST}/": ("404", ""), f"{TLS}/": ("web", "")},
    ),
    World(
        "Traefik's router on web alone",
        (traefik(entrypoints="web"),),
        {f"{HOST}/": ("web", ""), f"{TLS}/": ("404", "")},
    ),
    World(
        "Traefik's router with TLS takes https alone",
        (traefik(TLS="true"),),
        {f"{HOST}/": ("404", ""), f"{TLS}/": ("web", "")},
    ),
    World(
        "Traefik's limit is no login",
        (traefik(middlewares="shop-m@kubernetescrd"), middleware("rateLimit: {average: 5}")),
        {f"{HOST}/": ("web", "")},
    ),
)

OF_HAPROXY = (
    World(
        "HAProxy redirects with ssl-redirect",
        (ingress(of_class="haproxy", prefix=HAPROXY, ssl_redirect="true"),),
        {f"{HOST}/a": ("302 https://shop.example.com/a", "")},
    ),
    World(
        "HAProxy redirects with the status that is stated",
        (ingress(of_class="haproxy", prefix=HAPROXY, tls=True, ssl_redirect="true", ssl_redirect_code="301"),),
        {f"{HOST}/a": ("301 https://shop.example.com/a", "")},
    ),
    World(
        "HAProxy's lists from a file are not known",
        (ingress(of_class="haproxy", prefix=HAPROXY, allow_list="patterns/ips"),),
        {f"{HOST}/": ("web", "not known")},
    ),
    World(
        "HAProxy asks for a password",
        (ingress(of_class="haproxy", prefix=HAPROXY, auth_type="basic-auth", auth_secret="shop/users"),),
        {f"{HOST}/": ("web", "basicAuth")},
    ),
    World(
        "HAProxy's auth-secret without a type asks nothing",
        (ingress(of_class="haproxy", prefix=HAPROXY, auth_secret="shop/users"),),
        {f"{HOST}/": ("web", "")},
    ),
    World(
        "HAProxy Ingress redirects all requests",
        (ingress(of_class="haproxy", prefix=HAPROXY_INGRESS, redirect_to="https://new.example.com/there"),),
        {f"{HOST}/a": ("302 https://new.example.com/there", "")},
    ),
    World(
        "HAProxy Ingress redirects with a certificate",
        (ingress(of_class="haproxy", prefix=HAPROXY_INGRESS, tls=True, balance_algorithm="leastconn"),),
        {f"{HOST}/a": ("302 https://shop.example.com/a", "")},
    ),
    World(
        "HAProxy Ingress keeps addresses out",
        (ingress(of_class="haproxy", prefix=HAPROXY_INGRESS, denylist_source_range="203.0.113.0/24"),),
        {f"{HOST}/ from 203.0.113.1": ("403", ""), f"{HOST}/ from 10.0.0.1": ("web", "")},
    ),
    World(
        "HAProxy Ingress has a root of the host",
        (ingress(of_class="haproxy", paths="/a Prefix web", prefix=HAPROXY_INGRESS, app_root="/home"),),
        {f"{HOST}/": ("302 http://shop.example.com/home", ""), f"{HOST}/a": ("web", "")},
    ),
    World(
        "HAProxy Ingress takes settings for all from its chart",
        (
            ingress(of_class="haproxy", prefix=HAPROXY_INGRESS, balance_algorithm="leastconn"),
            chart("haproxy-ingress", "{allowlist-source-range: 10.0.0.0/8, auth-url: 'http://sso/'}"),
        ),
        {f"{HOST}/ from 203.0.113.1": ("403", ""), f"{HOST}/ from 10.0.0.1": ("web", "externalAuth")},
    ),
    World(
        "HAProxy takes lists for all from its ConfigMap",
        (
            ingress(of_class="haproxy", prefix=HAPROXY, check="true"),
            manifest("v1", "ConfigMap", "haproxy-kubernetes-ingress", "infra", "data: {deny-list: 203.0.113.0/24}"),
        ),
        {f"{HOST}/ from 203.0.113.1": ("403", ""), f"{HOST}/ from 10.0.0.1": ("web", "")},
    ),
    World(
        "HAProxy asks for a certificate, unless it is optional",
        (ingress(of_class="haproxy", prefix=HAPROXY, client_ca="shop/ca"),),
        {f"{TLS}/": ("web", "clientCertificate")},
    ),
    World(
        "HAProxy's certificates may be optional",
        (ingress(of_class="haproxy", prefix=HAPROXY, client_ca="shop/ca", client_crt_optional="true"),),
        {f"{TLS}/": ("web", "optionalClientCertificate?")},
    ),
    World(
        "HAProxy's own conditions are not read",
        (ingress(of_class="haproxy", prefix=HAPROXY, route_acl="cookie(staging) -m found"),),
        {f"{HOST}/": ("web", "not known")},
    ),
)


def kong(**annotations: str) -> str:
    return ingress(of_class="kong", prefix=KONG, **annotations)


def plugin(body: str, name: str = "p", kind: str = "KongPlugin", more: str = "") -> str:
    namespace = "" if kind == "KongClusterPlugin" else "shop"
    return manifest("configuration.konghq.com/v1", kind, name, namespace, body, more=more)


OF_KONG = (
    World(
        "Kong's hosts have further names",
        (kong(host_aliases="other.example.com", plugins="p"), plugin("plugin: key-auth")),
        {"http://other.example.com/": ("web", "key-auth"), "http://third.example.com/": ("404", "")},
    ),
    World(
        "Kong takes some methods alone",
        (kong(methods="POST, put"),),
        {f"{HOST}/": ("404", "")},
    ),
    World(
        "Kong takes a method that it is to take",
        (kong(methods="GET,HEAD"),),
        {f"{HOST}/": ("web", "")},
    ),
    World(
        "Kong's plugin on a Service",
        (
            kong(),
            service("web").replace("name: web,", f"name: web, annotations: {{{KONG}plugins: p}},", 1),
            plugin("plugin: key-auth"),
        ),
        {f"{HOST}/": ("web", "key-auth")},
    ),
    World(
        "Kong's plugin for the cluster, by name",
        (
            kong(plugins="p"),
            plugin(
                "plugin: key-auth", kind="KongClusterPlugin", more="annotations: {kubernetes.io/ingress.class: kong}"
            ),
        ),
        {f"{HOST}/": ("web", "login")},
    ),
    World(
        "Kong's plugin for the cluster, without its class",
        (kong(plugins="p"), plugin("plugin: key-auth", kind="KongClusterPlugin")),
        {f"{HOST}/": ("web", "not known")},
    ),
    World(
        "Kong's plugin for everything, without its class",
        (kong(), plugin("plugin: key-auth", kind="KongClusterPlugin", more="labels: {global: 'true'}")),
        {f"{HOST}/": ("web", "not known")},
    ),
    World(
        "Kong's plugin for everything that asks nothing, without its class",
        (kong(), plugin("plugin: prometheus", kind="KongClusterPlugin", more="labels: {global: 'true'}")),
        {f"{HOST}/": ("web", "")},
    ),
    World(
        "Kong's plugin of the namespace beside one of its sort for everything, without its class",
        (
            kong(plugins="own"),
            plugin("plugin: key-auth", name="own"),
            plugin("plugin: key-auth", kind="KongClusterPlugin", more="labels: {global: 'true'}"),
        ),
        {f"{HOST}/": ("web", "key-auth")},
    ),
    World(
        "Kong's plugin for everything",
        (
            kong(),
            plugin(
                "plugin: key-auth",
                kind="KongClusterPlugin",
                more="annotations: {kubernetes.io/ingress.class: kong}, labels: {global: 'true'}",
            ),
        ),
        {f"{HOST}/": ("web", "login")},
    ),
    World(
        "Kong's plugin that is switched off",
        (kong(plugins="p"), plugin("plugin: key-auth\ndisabled: true")),
        {f"{HOST}/": ("web", "")},
    ),
    World(
        "Kong's plugin that lets anonymous callers pass",
        (kong(plugins="p"), plugin("plugin: key-auth\nconfig: {anonymous: guest}")),
        {f"{HOST}/": ("web", "key-auth?")},
    ),
    World(
        "Kong's lists of addresses",
        (kong(plugins="p"), plugin("plugin: ip-restriction\nconfig: {allow: [10.0.0.0/8]}")),
        {f"{HOST}/ from 10.0.0.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("403", "")},
    ),
    World(
        "Kong's plugin that answers by itself",
        (kong(plugins="p"), plugin("plugin: request-termination\nconfig: {status_code: 403}")),
        {f"{HOST}/": ("403", "")},
    ),
    World(
        "Kong on https alone asks for an upgrade",
        (kong(protocols="https"),),
        {f"{HOST}/": ("426", ""), f"{TLS}/": ("web", "")},
    ),
    World(
        "Kong redirects with the status that is stated",
        (kong(protocols="https", https_redirect_status_code="301"),),
        {f"{HOST}/a": ("301 https://shop.example.com/a", "")},
    ),
)

CONTOUR = "projectcontour.io/v1"


def proxy(spec: str, name: str = "web", namespace: str = "shop") -> str:
    return manifest(CONTOUR, "HTTPProxy", name, namespace, f"spec: {{{spec}}}")


TO_WEB = "services: [{name: web, port: 80}]"
SECURE = "tls: {secretName: cert}"
OF_CONTOUR = (
    World(
        "Contour serves a host",
        (proxy(f"virtualhost: {{fqdn: shop.example.com}}, routes: [{{{TO_WEB}}}]"),),
        {f"{HOST}/": ("web", "")},
    ),
    World(
        "Contour redirects where there is TLS",
        (proxy(f"virtualhost: {{fqdn: shop.example.com, {SECURE}}}, routes: [{{{TO_WEB}}}]"),),
        {f"{HOST}/a": ("301 https://shop.example.com/a", ""), f"{TLS}/a": ("web", "")},
    ),
    World(
        "Contour's permitInsecure",
        (proxy(f"virtualhost: {{fqdn: shop.example.com, {SECURE}}}, routes: [{{{TO_WEB}, permitInsecure: true}}]"),),
        {f"{HOST}/": ("web", "")},
    ),
    World(
        "Contour asks an authoriser on https",
        (
            proxy(
                f"virtualhost: {{fqdn: shop.example.com, {SECURE}, authorization: {{extensionRef: {{name: auth}}}}}},"
                f" routes: [{{{TO_WEB}}}, {{conditions: [{{prefix: /open}}], {TO_WEB}, authPolicy: {{disabled: true}}}}]"
            ),
        ),
        {f"{TLS}/": ("web", "externalAuth"), f"{TLS}/open": ("web", "")},
    ),
    World(
        "Contour lets in addresses",
        (
            proxy(
                f"virtualhost: {{fqdn: shop.example.com}}, routes: [{{{TO_WEB},"
                " ipAllowPolicy: [{source: Peer, cidr: 10.0.0.0/8}]}]"
            ),
        ),
        {f"{HOST}/ from 10.0.0.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("403", "")},
    ),
    World(
        "Contour's list of a host holds for its routes",
        (
            proxy(
                "virtualhost: {fqdn: shop.example.com, ipDenyPolicy: [{source: Peer, cidr: 203.0.113.0/24}]},"
                f" routes: [{{{TO_WEB}}}]"
            ),
        ),
        {f"{HOST}/ from 203.0.113.1": ("403", "")},
    ),
    World(
        "Contour asks for a certificate",
        (
            proxy(
                "virtualhost: {fqdn: shop.example.com, tls: {secretName: cert, clientValidation: {caSecret: ca}}},"
                f" routes: [{{{TO_WEB}}}]"
            ),
        ),
        {f"{TLS}/": ("web", "clientCertificate")},
    ),
    World(
        "Contour's optional certificate",
        (
            proxy(
                "virtualhost: {fqdn: shop.example.com, tls: {secretName: cert,"
                " clientValidation: {caSecret: ca, optionalClientCertificate: true}}},"
                f" routes: [{{{TO_WEB}}}]"
            ),
        ),
        {f"{TLS}/": ("web", "optionalClientCertificate?")},
    ),
    World(
        "Contour's tokens",
        (
            proxy(
                f"virtualhost: {{fqdn: shop.example.com, {SECURE}, jwtProviders: [{{name: p, default: true,"
                " remoteJWKS: {uri: 'https://id.example.com/jwks'}}]},"
                f" routes: [{{{TO_WEB}}}, {{conditions: [{{prefix: /open}}], {TO_WEB}, jwtVerificationPolicy: {{disabled: true}}}}]"
            ),
        ),
        {f"{TLS}/": ("web", "jwt"), f"{TLS}/open": ("web", "")},
    ),
    World(
        "Contour's includes put conditions before those of the child",
        (
            proxy(
                "virtualhost: {fqdn: shop.example.com}, includes: [{name: child, conditions: [{prefix: /api}]}]", "root"
            ),
            proxy(f"routes: [{{conditions: [{{prefix: /v1}}], {TO_WEB}}}]", "child"),
        ),
        {f"{HOST}/api/v1/x": ("web", ""), f"{HOST}/v1": ("404", "")},
    ),
    World("a child alone serves nothing", (proxy(f"routes: [{{{TO_WEB}}}]", "child"),), {f"{HOST}/": ("404", "")}),
    World(
        "Contour's longest prefix first, headers beside it",
        (
            proxy(
                f"virtualhost: {{fqdn: shop.example.com}}, routes: [{{{TO_WEB}}},"
                " {conditions: [{prefix: /a}, {header: {name: x-a, exact: b}}], services: [{name: next, port: 80}]}]"
            ),
        ),
        {f"{HOST}/a/c X-A: b": ("next", ""), f"{HOST}/a/c": ("web", "")},
    ),
    World(
        "Contour's redirect of a route",
        (
            proxy(
                "virtualhost: {fqdn: shop.example.com}, routes: [{requestRedirectPolicy: {hostname: new.example.com, statusCode: 301}}]"
            ),
        ),
        {f"{HOST}/a": ("301 http://new.example.com/a", "")},
    ),
)


def published(name: str = "web", annotations: str = "", spec: str = "") -> str:
    note = f"annotations: {{{annotations}}}" if annotations else ""
    body = f"spec: {{type: LoadBalancer, selector: {{app: web}}, ports: [{{port: 80}}]{spec and f', {spec}'}}}"
    return manifest("v1", "Service", name, "shop", body, more=note)


RANGES = "loadBalancerSourceRanges: [10.0.0.0/8]"
PUBLISHED = (
    World(
        "loadBalancerSourceRanges",
        (published(spec=RANGES),),
        {f"{HOST}/ from 10.0.0.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("refused", "")},
    ),
    World(
        "the annotation that came before",
        (published(annotations="service.beta.kubernetes.io/load-balancer-source-ranges: 10.0.0.0/8"),),
        {f"{HOST}/ from 10.0.0.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("refused", "")},
    ),
    World(
        "Azure's allowed ranges",
        (published(annotations="service.beta.kubernetes.io/azure-allowed-ip-ranges: '10.0.0.0/8,192.0.2.0/24'"),),
        {f"{HOST}/ from 192.0.2.1": ("web", ""), f"{HOST}/ from 203.0.113.1": ("refused", "")},
    ),
    World(
        "an internal load balancer is a door as well",
        (published(annotations="networking.gke.io/load-balancer-type: Internal"),),
        {f"{HOST}/": ("web", "")},
    ),
)

OTHERS = (
    World(
        "Skipper's filters are text that nobody reads",
        (ingress(of_class="skipper", prefix="zalando.org/", skipper_filter='oauthTokeninfoAllScope("uid")'),),
        {f"{HOST}/": ("web", "not known")},
    ),
    World(
        "Tailscale's Ingress is a door",
        (ingress(of_class="tailscale", prefix="tailscale.com/", funnel="true"),),
        {f"{TLS}/": ("web", "")},
    ),
    World(
        "an Ingress with nothing but a default backend takes all hosts",
        (ingress(paths="", host="", more="defaultBackend: {service: {name: web, port: {number: 80}}}"),),
        {f"{HOST}/": ("web", ""), "http://other.example.com/a": ("web", "")},
    ),
)
WORLDS = (*AWS, *CLOUDS, *OF_TRAEFIK, *OF_HAPROXY, *OF_KONG, *OF_CONTOUR, *PUBLISHED, *OTHERS)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_elsewhere(world: World) -> None:
    names = {each.partition("name: ")[2].partition(",")[0] for each in world.manifests if "kind: Service" in each}
    around = [each for each, name in ((WEB, "web"), (NEXT, "next")) if name not in names]
    simulation = simulated(*around, *world.manifests)
    found = {}
    for request in world.expected:
        url, *parts = request.split(" ", 1)
        client, headers = "", []
        if parts and parts[0].startswith("from "):
            client = parts[0].removeprefix("from ")
        elif parts:
            headers = parts
        gateway = "LoadBalancer/shop/web" if world in PUBLISHED else ""
        found[request] = answer(simulation, url, client, headers, gateway)
    assert found == world.expected
