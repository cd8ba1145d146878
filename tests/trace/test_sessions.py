"""How proxies connect to backends: each predicted from the controller's documentation or source, before it was asked.

Sources: implementations/*/sessions.py, doors/sessions.py, `connects` of schemas/doors.yaml, `secures` of the catalog.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main
from policylint.trace import Tracer
from policylint.trace.request import from_url
from tests.worlds import manifest, simulated

SYSTEM = "the authorities of the system"
PLAIN = ("plain", "")
UNVERIFIED = ("unverified", "")


def service(port: int = 80, name: str = "http", more: str = "", annotations: str = "") -> str:
    ports = f"spec: {{selector: {{app: web}}, ports: [{{name: {name}, port: {port}{more}}}]}}"
    return manifest("v1", "Service", "web", "shop", ports, more=f"  annotations: {{{annotations}}}" * bool(annotations))


def gateway(controller: str, backend: str = "name: web, port: 80") -> str:
    return "---\n".join(
        [
            manifest(
                "gateway.networking.k8s.io/v1", "GatewayClass", "c", "", f"spec: {{controllerName: {controller}}}"
            ),
            manifest(
                *("gateway.networking.k8s.io/v1", "Gateway", "edge", "shop"),
                "spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}",
            ),
            manifest(
                *("gateway.networking.k8s.io/v1", "HTTPRoute", "web", "shop"),
                f"spec: {{parentRefs: [{{name: edge}}], rules: [{{backendRefs: [{{{backend}}}]}}]}}",
            ),
        ]
    )


def ingress(controller: str, annotations: str = "", port: int = 80) -> str:
    paths = f"[{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: {port}}}}}}}}}]"
    spec = f"spec: {{ingressClassName: c, rules: [{{host: shop.example.com, http: {{paths: {paths}}}}}]}}"
    own = manifest("networking.k8s.io/v1", "Ingress", "web", "shop", spec, more=f"  annotations: {{{annotations}}}")
    return "---\n".join(
        [manifest("networking.k8s.io/v1", "IngressClass", "c", "", f"spec: {{controller: {controller}}}"), own]
    )


def policy(validation: str, target: str = "group: '', kind: Service, name: web") -> str:
    spec = f"spec: {{targetRefs: [{{{target}}}], validation: {{{validation}}}}}"
    return manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "web", "shop", spec)


def backend(tls: str) -> str:
    spec = f"spec: {{endpoints: [{{fqdn: {{hostname: web.example.com, port: 443}}}}]{tls}}}"
    return manifest("gateway.envoyproxy.io/v1alpha1", "Backend", "own", "shop", spec)


def router(service: str, more: str = "") -> str:
    route = f"{{match: Host(`shop.example.com`), kind: Rule, services: [{{{service}}}]}}"
    spec = f"spec: {{entryPoints: [web], routes: [{route}]}}"
    return manifest("traefik.io/v1alpha1", "IngressRoute", "web", "shop", spec) + more


def transport(spec: str) -> str:
    return "---\n" + manifest("traefik.io/v1alpha1", "ServersTransport", "own", "shop", f"spec: {{{spec}}}")


def proxy(service: str) -> str:
    spec = (
        f"spec: {{virtualhost: {{fqdn: shop.example.com}}, routes: [{{services: [{{name: web, port: 80{service}}}]}}]}}"
    )
    return manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", spec)


def server(upstream: str, more: str = "") -> str:
    spec = (
        f"spec: {{host: shop.example.com, upstreams: [{{name: u, service: web, port: 80{upstream}}}], "
        f"routes: [{{path: /, action: {{pass: u}}}}]{more}}}"
    )
    return manifest("k8s.nginx.org/v1", "VirtualServer", "web", "shop", spec)


def openshift(tls: str) -> str:
    ends = f"tls: {{insecureEdgeTerminationPolicy: Allow, {tls}}}"
    spec = f"spec: {{host: shop.example.com, to: {{kind: Service, name: web}}, port: {{targetPort: 80}}, {ends}}}"
    return manifest("route.openshift.io/v1", "Route", "web", "shop", spec)


ISTIO = "---\n".join(
    [
        manifest(
            *("networking.istio.io/v1", "Gateway", "own", "istio-system"),
            "spec: {selector: {istio: a}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}",
        ),
        manifest(
            *("networking.istio.io/v1", "VirtualService", "web", "shop"),
            "spec: {hosts: [shop.example.com], gateways: [istio-system/own], "
            "http: [{route: [{destination: {host: web, port: {number: 80}}}]}]}",
        ),
    ]
)


def rule(policy: str, more: str = "") -> str:
    spec = f"spec: {{host: web.shop.svc.cluster.local, trafficPolicy: {{{policy}}}{more}}}"
    return manifest("networking.istio.io/v1", "DestinationRule", "web", "shop", spec)


EG, NGINX, OWN = (
    "gateway.envoyproxy.io/c",
    "k8s.io/ingress-nginx",
    "group: gateway.envoyproxy.io, kind: Backend, name: own",
)
N, A = "nginx.ingress.kubernetes.io/", "alb.ingress.kubernetes.io/"
AT_443 = service(443, "https")


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        ([gateway(EG), service()], PLAIN),
        (
            [gateway(EG), service(), policy("hostname: a.io, wellKnownCACertificates: System")],
            ("verified", f"for a.io by {SYSTEM}"),
        ),
        (
            [
                *(gateway(EG), service()),
                policy(
                    "hostname: a.io, wellKnownCACertificates: System, "
                    "subjectAltNames: [{type: URI, uri: 'spiffe://a/b'}]"
                ),
            ],
            ("verified", f"for spiffe://a/b by {SYSTEM}"),
        ),
        ([gateway(EG, OWN), backend("")], PLAIN),
        ([gateway(EG, OWN), backend(", tls: {insecureSkipVerify: true}")], UNVERIFIED),
        (
            [gateway(EG, OWN), backend(", tls: {sni: a.io, caCertificateRefs: [{group: '', kind: Secret, name: ca}]}")],
            ("verified", "for a.io by Secret ca"),
        ),
        (
            [
                *(gateway(EG, OWN), backend(", tls: {insecureSkipVerify: true}")),
                policy(
                    "hostname: a.io, wellKnownCACertificates: System",
                    "group: gateway.envoyproxy.io, kind: Backend, name: own",
                ),
            ],
            UNVERIFIED,
        ),
        ([gateway("networking.gke.io/gateway"), service(more=", appProtocol: HTTPS")], UNVERIFIED),
        ([gateway("networking.gke.io/gateway"), service(more=", appProtocol: HTTP2")], UNVERIFIED),
        ([gateway("networking.gke.io/gateway"), service()], PLAIN),
        (
            [gateway("traefik.io/gateway-controller"), service(more=", appProtocol: https")],
            ("encrypted", "the default transport of Traefik says what is verified"),
        ),
        ([gateway("traefik.io/gateway-controller"), service(name="https-a", more=", appProtocol: http")], PLAIN),
        ([gateway("projectcontour.io/c"), service(more=", appProtocol: https")], UNVERIFIED),
        ([gateway("gateway.nginx.org/nginx-gateway-controller"), service()], PLAIN),
        ([gateway("kgateway.dev/kgateway"), service()], PLAIN),
        ([gateway("example.com/unknown"), service()], None),
        ([ingress(NGINX), service()], PLAIN),
        ([ingress(NGINX, f"{N}backend-protocol: GRPCS"), service()], UNVERIFIED),
        ([ingress(NGINX, f"{N}backend-protocol: AUTO_HTTP"), service()], None),
        ([ingress(NGINX, f"{N}backend-protocol: HTTPS, {N}proxy-ssl-verify: 'on'"), service()], UNVERIFIED),
        ([ingress(NGINX, f"{N}backend-protocol: HTTPS, {N}proxy-ssl-secret: shop/ca"), service()], UNVERIFIED),
        (
            [
                ingress(NGINX, f"{N}backend-protocol: HTTPS, {N}proxy-ssl-verify: 'on', {N}proxy-ssl-secret: shop/ca"),
                service(),
            ],
            ("verified", "for upstream_balancer by Secret shop/ca"),
        ),
        (
            [
                ingress(
                    NGINX,
                    f"{N}backend-protocol: HTTPS, {N}proxy-ssl-verify: 'on', "
                    f"{N}proxy-ssl-secret: shop/ca, {N}proxy-ssl-name: a.io",
                ),
                service(),
            ],
            ("verified", "for a.io by Secret shop/ca"),
        ),
        ([ingress("nginx.org/ingress-controller", "nginx.org/ssl-services: 'api,web'"), service()], UNVERIFIED),
        ([ingress("nginx.org/ingress-controller", "nginx.org/ssl-services: api"), service()], PLAIN),
        ([ingress("ingress.k8s.aws/alb", f"{A}backend-protocol: HTTPS"), service()], UNVERIFIED),
        ([ingress("ingress.k8s.aws/alb"), service(annotations=f"{A}backend-protocol: HTTPS")], UNVERIFIED),
        ([ingress("ingress.k8s.aws/alb"), service()], PLAIN),
        (
            [ingress("ingress-controllers.konghq.com/kong"), service(annotations="konghq.com/protocol: https")],
            UNVERIFIED,
        ),
        (
            [
                ingress("ingress-controllers.konghq.com/kong"),
                service(
                    annotations="konghq.com/protocol: https, konghq.com/tls-verify: 'true', "
                    "konghq.com/ca-certificates-secrets: ca"
                ),
            ],
            ("verified", "by Secret ca"),
        ),
        (
            [ingress("traefik.io/ingress-controller", port=443), AT_443],
            ("encrypted", "the default transport of Traefik says what is verified"),
        ),
        (
            [
                ingress("traefik.io/ingress-controller"),
                service(
                    annotations="traefik.ingress.kubernetes.io/service.serversscheme: https, "
                    "traefik.ingress.kubernetes.io/service.serverstransport: shop-own@kubernetescrd"
                ),
                transport("insecureSkipVerify: true"),
            ],
            UNVERIFIED,
        ),
        (
            [router("name: web, port: 443", transport("serverName: a.io")), AT_443],
            ("encrypted", "the default transport of Traefik says what is verified"),
        ),
        (
            [router("name: web, port: 443, serversTransport: own", transport("serverName: a.io")), AT_443],
            ("verified", f"for a.io by {SYSTEM}"),
        ),
        (
            [router("name: web, port: 443, serversTransport: own", transport("rootCAsSecrets: [ca]")), AT_443],
            ("verified", "by Secret ca"),
        ),
        (
            [
                router(
                    "name: web, port: 443, serversTransport: own, scheme: http", transport("insecureSkipVerify: true")
                ),
                AT_443,
            ],
            PLAIN,
        ),
        (
            [router("name: web, port: 80, serversTransport: own", transport("insecureSkipVerify: true")), service()],
            PLAIN,
        ),
        (
            [
                router(
                    "name: web, port: 80, serversTransport: own, scheme: https", transport("insecureSkipVerify: true")
                ),
                service(),
            ],
            UNVERIFIED,
        ),
        ([proxy(""), service()], PLAIN),
        ([proxy(""), service(annotations="projectcontour.io/upstream-protocol.tls: 'http'")], UNVERIFIED),
        ([proxy(", protocol: h2"), service()], UNVERIFIED),
        ([proxy(", protocol: h2c"), service(annotations="projectcontour.io/upstream-protocol.tls: '80'")], PLAIN),
        ([proxy(", validation: {caSecret: ca, subjectName: a.io}"), service()], PLAIN),
        (
            [proxy(", protocol: tls, validation: {caSecret: ca, subjectName: a.io}"), service()],
            ("verified", "for a.io by Secret ca"),
        ),
        ([server(""), service()], PLAIN),
        ([server(", tls: {enable: true}"), service()], UNVERIFIED),
        (
            [server(", tls: {enable: true}", ", policies: [{name: out}]"), service()],
            ("encrypted", "a Policy may have it verified"),
        ),
        ([openshift("termination: edge"), service()], PLAIN),
        ([openshift("termination: reencrypt"), service()], ("verified", "by the authority of the cluster's services")),
        (
            [openshift("termination: reencrypt, destinationCACertificate: pem"), service()],
            ("verified", "by its `destinationCACertificate`"),
        ),
        ([ISTIO, service()], None),
        ([ISTIO, service(), rule("tls: {mode: DISABLE}")], PLAIN),
        ([ISTIO, service(), rule("tls: {mode: SIMPLE}")], ("verified", f"by {SYSTEM}")),
        ([ISTIO, service(), rule("tls: {mode: SIMPLE, insecureSkipVerify: true}")], UNVERIFIED),
        (
            [ISTIO, service(), rule("tls: {mode: MUTUAL, credentialName: own, subjectAltNames: [a.io]}")],
            ("verified", "for a.io by Secret own"),
        ),
        ([ISTIO, service(), rule("tls: {mode: ISTIO_MUTUAL}")], ("verified", "as a workload of the mesh (mutual TLS)")),
        (
            [
                ISTIO,
                service(),
                rule("tls: {mode: SIMPLE}, portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]"),
            ],
            PLAIN,
        ),
        (
            [
                ISTIO,
                service(),
                rule("tls: {mode: SIMPLE}", ", subsets: [{name: v1, trafficPolicy: {tls: {mode: DISABLE}}}]"),
            ],
            None,
        ),
    ],
)
def test_how_a_backend_is_connected_to(world: list[str], expected: tuple[str, str] | None) -> None:
    trace = Tracer(simulated(*world)).trace(from_url("GET", "http://shop.example.com/"))
    assert trace.outcome.backends, trace.outcome
    (session,) = trace.sessions.values()
    assert (None if session is None else (session.state, session.against)) == expected
    assert trace.backend_tls == (expected is not None and expected != PLAIN)


@pytest.mark.parametrize(
    ("more", "expected"), [("", "plain"), (", workloadSelector: {matchLabels: {app: a}}", "verified")]
)
def test_credentials_of_rules_without_a_selector_give_sidecars_no_tls(more: str, expected: str) -> None:
    labelled = manifest("v1", "Namespace", "shop", more="  labels: {istio-injection: enabled}")
    template = "template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a}]}}"
    pods = f"spec: {{selector: {{matchLabels: {{app: a}}}}, {template}}}"
    client = manifest("apps/v1", "Deployment", "a", "shop", pods)
    credential = rule("tls: {mode: SIMPLE, credentialName: own}", more)
    asked = from_url("GET", "http://web.shop/", service="shop/web", client="Deployment/shop/a")
    trace = Tracer(simulated(labelled, client, service(), credential)).trace(asked)
    (session,) = trace.sessions.values()
    assert session is not None
    assert session.state == expected


def test_text_and_json_say_it(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("---\n".join([gateway(EG, OWN), backend(", tls: {insecureSkipVerify: true}")]))
    words = ["trace", "GET", "http://shop.example.com/", str(tmp_path), "--isolated"]
    shown = CliRunner().invoke(main, words).output
    assert "by TLS, without verifying the certificate  " in shown
    (request,) = json.loads(CliRunner().invoke(main, [*words, "-o", "json"]).output)["requests"]
    (connection,) = request["connections"]
    assert (connection["backend"], connection["tls"], connection["by"]) == (
        *("Backend shop/own", "unverified"),
        "Backend shop/own",
    )


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((), "verified"),
        (("tls: {mode: DISABLE}", ""), "plain"),
        (("tls: {mode: DISABLE}", ", workloadSelector: {matchLabels: {app: a}}"), None),  # they differ
    ],
)
def test_a_client_by_its_account_is_all_of_its_workloads(rules: tuple[str, ...], expected: str | None) -> None:
    labelled = manifest("v1", "Namespace", "shop", more="  labels: {istio-injection: enabled}")

    def pods(name: str) -> str:
        template = f"template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: c}}]}}}}"
        spec = f"spec: {{selector: {{matchLabels: {{app: {name}}}}}, {template}}}"
        return manifest("apps/v1", "Deployment", name, "shop", spec)

    world = [labelled, pods("a"), pods("b"), pods("web"), service(), *([rule(*rules)] if rules else [])]
    asked = from_url("GET", "http://web.shop/", service="shop/web", client="ServiceAccount/shop/default")
    (session,) = Tracer(simulated(*world)).trace(asked).sessions.values()
    assert (None if session is None else session.state) == expected
