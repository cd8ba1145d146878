"""What Traefik and Contour refuse of their own objects: told by `lint`, and served by nobody in `trace`.

Predicted from traefik/traefik, pkg/provider/kubernetes/crd, and projectcontour/contour, internal/dag,
at their newest releases.
"""

from __future__ import annotations

import pytest

from policylint.checks import run
from tests.doors.asking import answer
from tests.worlds import manifest, service, simulated

SHOP = "https://shop.example.com/"
TO_WEB = "services: [{name: web, port: 80}]"
HOST = "fqdn: shop.example.com"
MIRROR, SLOWLY = "name: web, port: 80, mirror: true", "name: web, port: 80, slowStartPolicy: {window: 5s}"
KEYS = "remoteJWKS: {uri: 'https://id.example/jwks'}"


def traefik(argument: str = "") -> str:
    """Return Traefik with its arguments."""
    args = f"args: ['--providers.kubernetescrd'{f', {argument!r}' if argument else ''}]"
    template = f"metadata: {{labels: {{app: traefik}}}}, spec: {{containers: [{{name: traefik, {args}}}]}}"
    return manifest("apps/v1", "Deployment", "traefik", "proxy", f"spec: {{template: {{{template}}}}}")


def ingress_route(middleware: str) -> str:
    route = f"match: 'Host(`shop.example.com`)', kind: Rule, middlewares: [{middleware}], {TO_WEB}"
    return manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", f"spec: {{tls: {{}}, routes: [{{{route}}}]}}")


def middleware(namespace: str, spec: str = "spec: {headers: {frameDeny: true}}") -> str:
    return manifest("traefik.io/v1alpha1", "Middleware", "m", namespace, spec)


TERMINATED = "secretName: cert, enableFallbackCertificate: true"
REPLACED = "pathRewritePolicy: {replacePrefix: [{replacement: /b}]}"
ADDRESSES = "ipAllowPolicy: [{source: Peer, cidr: 10.0.0.0/8}], ipDenyPolicy: [{source: Peer, cidr: 10.1.0.0/16}]"


def of_kind(kind: str, more: str, matcher: str, route: str = "") -> str:
    rule = f"{{match: '{matcher}(`shop.example.com`)', kind: Rule, {route}{TO_WEB}}}"
    return manifest("traefik.io/v1alpha1", kind, "web", "shop", f"spec: {{{more}, routes: [{rule}]}}")


def proxy(spec: str) -> str:
    return manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{spec}}}")


def delegation(target: str) -> str:
    spec = f"spec: {{delegations: [{{secretName: cert, targetNamespaces: [{target}]}}]}}"
    return manifest("projectcontour.io/v1", "TLSCertificateDelegation", "d", "certs", spec)


def told(*objects: str) -> list[tuple[str, str]]:
    found = run(simulated(service("web"), *objects), select={"GWP415"})
    return [(each.severity, each.message.partition(" shop/web ")[2]) for each in found]


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        (
            (traefik(), middleware("proxy"), ingress_route("{name: m, namespace: proxy}")),
            "names Middleware proxy/m of another namespace, which Traefik refuses",
        ),
        (
            (traefik(), middleware("proxy"), ingress_route("{name: proxy-m@kubernetescrd}")),
            "names Middleware proxy-m@kubernetescrd of another namespace, which Traefik refuses",
        ),
        (
            (traefik(), middleware("shop"), ingress_route("{name: gone}")),
            "names Middleware shop/gone, which is missing",
        ),
        *(
            (
                (traefik(), middleware("shop", spec), ingress_route("{name: m}")),
                f"names Middleware shop/m, which cannot be used: it is of no sort{what}",
            )
            for spec, what in (
                (
                    "spec: {customRequestHeaders: {X-Forwarded-Proto: https}}",
                    " that Traefik knows (customRequestHeaders)",
                ),
                ("spec: {header: {frameDeny: true}}", " that Traefik knows (header)"),
                ("spec: {}", ""),
            )
        ),
        *(
            (
                (traefik(), middleware("shop", f"spec: {{{sorts}}}"), ingress_route("{name: m}")),
                "names Middleware shop/m, which cannot be used: it is of 2 sorts, basicAuth and compress",
            )
            for sorts in ("basicAuth: {secret: s}, compress: {}", "compress: {}, basicAuth: {secret: s}")
        ),
        ((proxy(f"virtualhost: {{{HOST}}}, tcpproxy: {{{TO_WEB}}}"),), "is invalid: `tcpproxy` without `tls`"),
        ((proxy(f"virtualhost: {{{HOST}}}"),), "is invalid: it has no route, no include and no `tcpproxy`"),
        (
            (proxy(f"virtualhost: {{{HOST}, tls: {{passthrough: true, secretName: c}}}}, routes: [{{{TO_WEB}}}]"),),
            "is invalid: `passthrough` and `secretName` together",
        ),
        (
            (proxy(f"virtualhost: {{{HOST}, tls: {{}}}}, routes: [{{{TO_WEB}}}]"),),
            "is invalid: `tls` with neither `passthrough` nor `secretName`",
        ),
        (
            (proxy(f"virtualhost: {{{HOST}, jwtProviders: [{{name: a}}]}}, routes: [{{{TO_WEB}}}]"),),
            "is invalid: `jwtProviders` where no TLS ends",
        ),
        (
            (proxy(f"virtualhost: {{{HOST}, tls: {{passthrough: true}}}}, routes: [{{{TO_WEB}}}]"),),
            "passes TLS through (`passthrough`), and has no `tcpproxy` to take it",
        ),
        (
            (
                delegation("other"),
                proxy(f"virtualhost: {{{HOST}, tls: {{secretName: certs/cert}}}}, routes: [{{{TO_WEB}}}]"),
            ),
            "is invalid: no TLSCertificateDelegation of certs gives it Secret certs/cert",
        ),
        *(
            (
                (proxy(f"virtualhost: {{{HOST}, tls: {{secretName: cert}}, {of_host}}}, routes: [{{{TO_WEB}}}]"),),
                f"is invalid: {fault}",
            )
            for of_host, fault in (
                (f"jwtProviders: [{{name: a, {KEYS}}}, {{name: a, {KEYS}}}]", "two providers of tokens are called a"),
                (
                    f"jwtProviders: [{{name: a, default: true, {KEYS}}}, {{name: b, default: true, {KEYS}}}]",
                    "providers a and b are both the default",
                ),
                ("jwtProviders: [{name: a}]", "provider a has no keys (`remoteJWKS` or `localJWKS`)"),
                (
                    f"jwtProviders: [{{name: a, {KEYS}, localJWKS: {{secretName: keys}}}}]",
                    "provider a has both `remoteJWKS` and `localJWKS`",
                ),
                (
                    "jwtProviders: [{name: a, remoteJWKS: {uri: 'id.example/jwks'}}]",
                    "the keys of provider a are at no URL of http or https",
                ),
            )
        ),
        (
            (
                delegation("other"),
                proxy(
                    f"virtualhost: {{{HOST}, tls: {{secretName: cert, clientValidation: {{caSecret: certs/ca}}}}}}, "
                    f"routes: [{{{TO_WEB}}}]"
                ),
            ),
            "is invalid: no TLSCertificateDelegation of certs gives it Secret certs/ca",
        ),
        (
            (
                manifest(
                    "v1", "Secret", "cert", "certs", "type: kubernetes.io/tls\nstringData: {tls.crt: a, tls.key: b}"
                ),
                proxy(f"virtualhost: {{{HOST}, tls: {{secretName: certs/cert}}}}, routes: [{{{TO_WEB}}}]"),
            ),
            "is invalid: no TLSCertificateDelegation of certs gives it Secret certs/cert",
        ),
        *(
            (
                (proxy(f"virtualhost: {{{HOST}}}, routes: [{{{TO_WEB}, conditions: [{conditions}]}}]"),),
                f"is invalid: a route has {fault}",
            )
            for conditions, fault in (
                ("{header: {name: A, exact: b}}, {header: {name: a, exact: c}}", "two exact values for header a"),
                (
                    "{header: {name: a, notexact: b}}, {header: {name: a, exact: b}}",
                    "both `exact` and `notexact` for header a",
                ),
                (
                    "{header: {name: a, present: true}}, {header: {name: a, notpresent: true}}",
                    "both `present` and `notpresent` for header a",
                ),
                (
                    "{queryParameter: {name: a, exact: b}}, {queryParameter: {name: a, exact: c}}",
                    "two exact values for query parameter a",
                ),
                ("{queryParameter: {name: a, exact: b, prefix: c}}", "`exact` and `prefix` for query parameter a"),
            )
        ),
        *(
            ((proxy(f"virtualhost: {{{HOST}}}, routes: [{{{route}}}]"),), f"is invalid: {fault}")
            for route, fault in (
                (
                    f"services: [{{name: web, port: 80}}, {{{MIRROR}}}, {{{MIRROR}}}]",
                    "a route has more than one mirror",
                ),
                ("requestRedirectPolicy: {path: /a, prefix: /b}", "a redirect has both `path` and `prefix`"),
                (f"{TO_WEB}, rateLimitPolicy: {{local: {{requests: 0, unit: second}}}}", "a limit of 0 requests"),
                (
                    f"{TO_WEB}, pathRewritePolicy: {{replacePrefix: [{{replacement: /a}}, {{replacement: /b}}]}}",
                    "prefix `/` is replaced twice",
                ),
                (
                    f"services: [{{{SLOWLY}}}], loadBalancerPolicy: {{strategy: Random}}",
                    "`slowStartPolicy` where requests are balanced by Random",
                ),
            )
        ),
        *(
            ((proxy(f"virtualhost: {{{HOST}, tls: {{secretName: cert{of_tls}}}}}, {ends}"),), f"is invalid: {fault}")
            for of_tls, ends, fault in (
                (
                    ", minimumProtocolVersion: '1.3', maximumProtocolVersion: '1.2'",
                    f"routes: [{{{TO_WEB}}}]",
                    "`maximumProtocolVersion` below the minimum",
                ),
                ("", "tcpproxy: {healthCheckPolicy: {}}", "`tcpproxy` with nothing to send connections to"),
            )
        ),
        (
            (traefik(), of_kind("IngressRoute", "tls: {options: {name: o, namespace: proxy}}", "Host")),
            "names TLSOption proxy/o of another namespace, which Traefik refuses",
        ),
        *(
            (
                (proxy(f"virtualhost: {{{HOST}, tls: {{{TERMINATED}{of_tls}}}{beside}}}, routes: [{{{TO_WEB}}}]"),),
                f"is invalid: `enableFallbackCertificate` and `{field}` together",
            )
            for field, of_tls, beside in (
                ("clientValidation", ", clientValidation: {caSecret: ca}", ""),
                ("authorization", "", ", authorization: {extensionRef: {name: a}}"),
                ("jwtProviders", "", f", jwtProviders: [{{name: a, {KEYS}}}]"),
            )
        ),
        *(
            ((proxy(f"virtualhost: {{{HOST}}}, routes: [{{{TO_WEB}}}, {{{route}}}]"),), f"is invalid: {fault}")
            for route, fault in (
                (f"{TO_WEB}, {ADDRESSES}", "`ipAllowPolicy` and `ipDenyPolicy` together"),
                (
                    f"{TO_WEB}, directResponsePolicy: {{statusCode: 200}}",
                    "a route has `services` and `directResponsePolicy`",
                ),
                ("conditions: [{prefix: /a}]", "a route has nothing to send requests to"),
                *(
                    (
                        f"{TO_WEB}, conditions: [{{{name}: /a}}], {REPLACED}",
                        f"`replacePrefix` where the path is matched by `{name}`",
                    )
                    for name in ("exact", "regex")
                ),
            )
        ),
    ],
)
def test_what_is_refused_is_told_and_not_served(objects: tuple[str, ...], message: str) -> None:
    assert told(*objects) == [("error", message)]
    if "missing" not in message:
        assert answer(simulated(service("web"), *objects), SHOP, "")[0] == "404"


@pytest.mark.parametrize(
    "objects",
    [
        (
            traefik("--providers.kubernetescrd.allowCrossNamespace=true"),
            middleware("proxy"),
            ingress_route("{name: m, namespace: proxy}"),
        ),
        (middleware("proxy"), ingress_route("{name: m, namespace: proxy}")),  # whatever Traefik's arguments are
        (traefik(), ingress_route("{name: elsewhere}")),  # no Middleware of the namespace is in the tree
        (traefik(), middleware("shop"), ingress_route("{name: auth@file}")),
        (proxy(f"virtualhost: {{{HOST}, tls: {{secretName: cert}}}}, routes: [{{{TO_WEB}}}]"),),
        (
            delegation("shop"),
            proxy(f"virtualhost: {{{HOST}, tls: {{secretName: certs/cert}}}}, routes: [{{{TO_WEB}}}]"),
        ),
        (proxy(f"virtualhost: {{{HOST}, tls: {{secretName: certs/cert}}}}, routes: [{{{TO_WEB}}}]"),),
        (proxy(f"virtualhost: {{{HOST}, tls: {{passthrough: true}}}}, tcpproxy: {{{TO_WEB}}}"),),
        (proxy(f"routes: [{{{TO_WEB}}}]"),),  # for others to include
    ],
)
def test_what_may_be_served_is_not_told(objects: tuple[str, ...]) -> None:
    assert told(*objects) == []


def test_what_doors_name_and_is_missing() -> None:
    ingress = (
        "spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %s, port: {%s}}}}]}}]}"
    )
    objects = (
        manifest(
            "route.openshift.io/v1",
            "Route",
            "web",
            "shop",
            "spec: {host: a.example.com, to: {kind: Service, name: gone}}",
        ),
        manifest("networking.k8s.io/v1", "Ingress", "web", "shop", ingress % ("gone", "number: 80")),
        manifest(
            "networking.k8s.io/v1", "Ingress", "action", "shop", ingress % ("ssl-redirect", "name: use-annotation")
        ),
        manifest("networking.k8s.io/v1", "Ingress", "there", "shop", ingress % ("web", "number: 80")),
        proxy(f"virtualhost: {{{HOST}}}, includes: [{{name: gone}}]"),
    )
    found = run(simulated(service("web"), *objects), select={"GWP415"})
    assert sorted(each.message for each in found) == [
        "HTTPProxy shop/web includes HTTPProxy shop/gone, which is missing",
        "Ingress shop/web sends requests to Service shop/gone, which is missing",
        "Route shop/web sends requests to Service shop/gone, which is missing",
    ]


def test_connections_are_refused_for_what_they_name_as_requests_are() -> None:
    """Traefik's kubernetes_tcp.go, makeMiddlewareTCPKeys: there is no router, and no connection gets through."""
    own, office = (
        manifest("traefik.io/v1alpha1", "MiddlewareTCP", *where, "spec: {inFlightConn: {amount: 10}}")
        for where in (("other", "shop"), ("m", "proxy"))
    )
    for namespace, message in (
        ("proxy", "names MiddlewareTCP proxy/m of another namespace, which Traefik refuses"),
        ("shop", "names MiddlewareTCP shop/m, which is missing"),
    ):
        named = f"middlewares: [{{name: m, namespace: {namespace}}}], "
        streams = of_kind("IngressRouteTCP", "entryPoints: [db], tls: {}", "HostSNI", named)
        assert told(traefik(), office, own, streams) == [("error", message)]


@pytest.mark.parametrize(
    ("api", "kind", "spec"),
    [
        ("traefik.io/v1alpha1", "IngressRoute", f"routes: [{{match: 'Host(`a`)', {TO_WEB}}}]"),
        ("traefik.io/v1alpha1", "IngressRouteTCP", f"routes: [{{match: 'HostSNI(`*`)', {TO_WEB}}}]"),
        ("traefik.io/v1alpha1", "IngressRouteUDP", f"routes: [{{{TO_WEB}}}]"),
        ("configuration.konghq.com/v1beta1", "TCPIngress", "rules: [{port: 5432, backend: {serviceName: web}}]"),
        ("configuration.konghq.com/v1beta1", "UDPIngress", "rules: [{port: 5432, backend: {serviceName: web}}]"),
        ("k8s.nginx.org/v1", "VirtualServer", "host: a.example.com, upstreams: [{name: a, service: web}]"),
        ("k8s.nginx.org/v1", "TransportServer", "upstreams: [{name: a, service: web}]"),
        ("apisix.apache.org/v2", "ApisixRoute", "http: [{name: a, backends: [{serviceName: web}]}]"),
        ("getambassador.io/v3alpha1", "Mapping", "prefix: /, service: 'https://web.shop:8443'"),
        ("getambassador.io/v3alpha1", "TCPMapping", "port: 5432, service: 'web.shop.svc.cluster.local:5432'"),
    ],
)
def test_every_way_in_names_services(api: str, kind: str, spec: str) -> None:
    """`names` of schemas/doors.yaml."""
    holder = manifest(api, kind, "web", "shop", f"spec: {{{spec}}}")
    missing = f"{kind} shop/web sends requests to Service shop/web, which is missing"
    for name, said in (("web", []), ("other", [missing])):
        found = run(simulated(service(name), holder), select={"GWP415"})
        assert [each.message for each in found] == said


def test_a_host_outside_is_no_service() -> None:
    outside = manifest("getambassador.io/v3alpha1", "Mapping", "web", "shop", "spec: {service: shop.example.com}")
    assert told(outside) == []


def test_a_service_of_traefik_that_is_missing() -> None:
    there = manifest("traefik.io/v1alpha1", "TraefikService", "other", "shop", f"spec: {{weighted: {{{TO_WEB}}}}}")
    route = "match: 'Host(`a`)', kind: Rule, services: [{kind: TraefikService, name: '%s'}]"
    missing = "sends requests to TraefikService shop/gone, which is missing"
    for name, said in (("gone", [missing]), ("api@internal", []), ("other", [])):
        spec = f"spec: {{routes: [{{{route % name}}}]}}"
        ingress = manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", spec)
        assert [message for _, message in told(there, ingress)] == said


@pytest.mark.parametrize(
    ("sort", "held", "why"),
    [
        ("basicAuth", "stringData: {users: 'a:b'}", ""),
        ("basicAuth", "stringData: {users: 'a:b', more: 'c:d'}", "Secret shop/users has 2 entries"),
        ("digestAuth", "stringData: {users: 'a:b', more: 'c:d'}", "Secret shop/users has 2 entries"),
        ("basicAuth", "type: kubernetes.io/basic-auth\nstringData: {username: a, password: b}", ""),
        ("basicAuth", "type: kubernetes.io/basic-auth\nstringData: {username: a}", "Secret shop/users has no password"),
        ("digestAuth", "type: kubernetes.io/basic-auth\nstringData: {username: a, password: b}", "has 2 entries"),
        ("forwardAuth", "stringData: {a: b, c: d}", ""),
        ("basicAuth", "sops: {version: '3'}\nstringData: {a: b, c: d}", ""),
    ],
)
def test_users_of_a_middleware(sort: str, held: str, why: str) -> None:
    users = manifest("v1", "Secret", "users", "shop", held)
    asking = middleware("shop", f"spec: {{{sort}: {{secret: users}}}}")
    found = [message for _, message in told(traefik(), users, asking, ingress_route("{name: m}"))]
    assert [why in message for message in found] == [True] * bool(why)


def test_copies_of_requests_at_traefik() -> None:
    """A mirror that is missing keeps Traefik from making the service at all (buildMirroring)."""
    spec = "spec: {mirroring: {name: web, port: 80, mirrors: [{name: web, port: 80}, {name: gone, port: 80}]}}"
    copied = manifest("traefik.io/v1alpha1", "TraefikService", "web", "shop", spec)
    found = [message for _, message in told(copied, of_kind("IngressRoute", "entryPoints: [web]", "Host"))]
    assert found == ["sends requests to Service shop/gone, which is missing"]


@pytest.mark.parametrize(
    ("tls", "field"),
    [
        ("", "includes: [{name: o, conditions: [{prefix: /o}]}]"),
        (", tls: {passthrough: true}", "tcpproxy: {include: {name: o}}"),
    ],
)
def test_an_httpproxy_that_includes_one_with_a_host(tls: str, field: str) -> None:
    spec = f"spec: {{virtualhost: {{fqdn: other.example.com}}, routes: [{{{TO_WEB}}}]}}"
    other = manifest("projectcontour.io/v1", "HTTPProxy", "o", "shop", spec)
    message = "includes HTTPProxy shop/o, which has a host of its own (`virtualhost`)"
    assert told(proxy(f"virtualhost: {{{HOST}{tls}}}, {field}"), other) == [("error", message)]


@pytest.mark.parametrize(
    ("host", "more", "told_of"),
    [
        ("shop.example.com", "", True),
        ("SHOP.example.com", "", True),
        ("other.example.com", "", False),
        ("shop.example.com", "ingressClassName: internal, ", False),  # of another Contour
    ],
)
def test_a_host_of_two_httpproxies_is_served_by_neither(host: str, more: str, told_of: bool) -> None:
    """Contour's condition DuplicateVhost (httpproxy_processor.go, validHTTPProxies)."""
    spec = f"spec: {{{more}virtualhost: {{fqdn: {host}}}, routes: [{{{TO_WEB}}}]}}"
    other = manifest("projectcontour.io/v1", "HTTPProxy", "o", "shop", spec)
    objects = (proxy(f"virtualhost: {{{HOST}}}, routes: [{{{TO_WEB}}}]"), other)
    message = "is invalid: HTTPProxy shop/o is for the same host, and Contour serves neither"
    assert (("error", message) in told(*objects)) is told_of
    assert (answer(simulated(service("web"), *objects), "http://shop.example.com/", "")[0] == "404") is told_of


def test_a_route_that_asks_for_tokens_of_nobody() -> None:
    """Envoy's jwt_authn knows no such requirement, and refuses its requests."""
    host = f"virtualhost: {{{HOST}, tls: {{secretName: cert}}, jwtProviders: [{{name: corp, {KEYS}}}]}}"
    undefined = "asks for tokens of provider crop, which `jwtProviders` does not have"
    for name, said in (("corp", []), ("crop", [undefined])):
        root = proxy(f"{host}, routes: [{{{TO_WEB}, jwtVerificationPolicy: {{require: {name}}}}}]")
        assert [message for _, message in told(root)] == said


def test_a_secret_without_its_key() -> None:
    secure = proxy(f"virtualhost: {{{HOST}, tls: {{secretName: cert}}}}, routes: [{{{TO_WEB}}}]")
    for entries, message in (
        ("tls.crt: YQ==", "is invalid: Secret shop/cert has no tls.key"),
        ("tls.crt: YQ==, tls.key: YQ==", ""),
    ):
        secret = manifest("v1", "Secret", "cert", "shop", f"data: {{{entries}}}")
        assert told(secret, secure) == ([("error", message)] if message else [])


def test_a_middleware_of_the_group_that_traefik_left() -> None:
    old = manifest("traefik.containo.us/v1alpha1", "Middleware", "m", "shop", "spec: {headers: {frameDeny: true}}")
    message = "names Middleware shop/m, which is only there in group traefik.containo.us, which Traefik 3 does not read"
    assert told(old, ingress_route("{name: m}")) == [("warning", message)]
    assert told(old, middleware("shop"), ingress_route("{name: m}")) == []
