"""GWP420 for the names that BackendTLSPolicies, and what is like them, ask for, and the certificates of the pods.

Source: gateway-api apis/v1/backendtlspolicy_types.go (`hostname`, `subjectAltNames`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint
from tests.worlds import manifest

SERVICE = manifest("v1", "Service", "app", "shop", "spec: {selector: {app: app}, ports: [{port: 443}]}")


def pods(*secrets: str, projected: bool = False) -> str:
    volumes = ", ".join(
        f"{{name: {name}, projected: {{sources: [{{secret: {{name: {name}}}}}]}}}}"
        if projected
        else f"{{name: {name}, secret: {{secretName: {name}}}}}"
        for name in secrets
    )
    inside = f"spec: {{containers: [{{name: c, image: x}}], volumes: [{volumes}]}}"
    template = f"template: {{metadata: {{labels: {{app: app}}}}, {inside}}}"
    return manifest(
        "apps/v1", "Deployment", "app", "shop", f"spec: {{selector: {{matchLabels: {{app: app}}}}, {template}}}"
    )


def certificate(name: str, *hosts: str) -> str:
    listed = f"secretName: {name}, dnsNames: [{', '.join(map(repr, hosts))}], issuerRef: {{name: ca}}"
    return manifest("cert-manager.io/v1", "Certificate", name, "shop", f"spec: {{{listed}}}")


def policy(validation: str, kind: str = "Service") -> str:
    reference = f"targetRefs: [{{group: '', kind: {kind}, name: app}}]"
    spec = f"spec: {{{reference}, validation: {{{validation}, wellKnownCACertificates: System}}}}"
    return manifest("gateway.networking.k8s.io/v1", "BackendTLSPolicy", "app", "shop", spec)


ASKED = "hostname: app.example.com"
INSIDE = certificate("tls", "app.shop.svc")


@pytest.mark.parametrize(
    ("manifests", "told"),
    [
        ((pods("tls"), INSIDE, policy(ASKED)), "app.example.com"),
        ((pods("tls", projected=True), INSIDE, policy(ASKED)), "app.example.com"),
        ((pods("tls"), certificate("tls", "app.example.com"), policy(ASKED)), ""),
        ((pods("tls"), certificate("tls", "*.example.com"), policy(ASKED)), ""),
        # one of several certificates is enough, as is one of several names; what else is mounted says nothing
        ((pods("tls", "more"), INSIDE, certificate("more", "app.example.com"), policy(ASKED)), ""),
        ((pods("tls", "keys"), INSIDE, policy(ASKED)), "app.example.com"),
        ((pods("tls"), INSIDE, policy(f"{ASKED}, subjectAltNames: [{{type: Hostname, hostname: app.shop.svc}}]")), ""),
        ((pods("tls"), certificate("tls", "app.example.com"),
          policy(f"{ASKED}, subjectAltNames: [{{type: Hostname, hostname: other.shop.svc}}]")), "other.shop.svc"),
        ((pods("tls"), INSIDE, policy(f"{ASKED}, subjectAltNames: [{{type: URI, uri: 'spiffe://a/b'}}]")), ""),
        # nobody knows which certificate they have
        ((pods("keys"), INSIDE, policy(ASKED)), ""),
        ((pods(), INSIDE, policy(ASKED)), ""),
        ((pods("tls"), policy(ASKED)), ""),
    ],
)  # fmt: skip
def test_names_of_backends(manifests: tuple[str, ...], told: str, tmp_path: Path) -> None:
    found = [each for each in lint(tmp_path, SERVICE, *manifests) if each.rule == "GWP420"]
    expected = f"Deployment shop/app has a certificate that is not for {told}, which BackendTLSPolicy shop/app asks for"
    assert [each.message for each in found] == ([expected] if told else [])
    assert {each.confidence for each in found} <= {"assumed"}


def of_traefik(kind: str, name: str, spec: str) -> str:
    return manifest("traefik.io/v1alpha1", kind, name, "shop", f"spec: {{{spec}}}")


def traefik(
    transport: str, service: str = "name: app, port: 443, scheme: https, serversTransport: t"
) -> tuple[str, ...]:
    rule = f"{{kind: Rule, match: 'Host(`a.example`)', services: [{{{service}}}]}}"
    return of_traefik("IngressRoute", "app", f"routes: [{rule}]"), of_traefik("ServersTransport", "t", transport)


def connections(transport: str, service: str = "tls: true, serversTransport: t", more: str = "") -> tuple[str, ...]:
    rule = f"{{match: 'HostSNI(`*`)', services: [{{name: app, port: 443, {service}}}]}}"
    transports = of_traefik("ServersTransportTCP", "t", f"tls: {{{transport}}}")
    return of_traefik("IngressRouteTCP", "app", f"routes: [{rule}]{more}"), transports


def contour(service: str) -> tuple[str, ...]:
    spec = f"spec: {{virtualhost: {{fqdn: a.example}}, routes: [{{services: [{{name: app, port: 443, {service}}}]}}]}}"
    return (manifest("projectcontour.io/v1", "HTTPProxy", "app", "shop", spec),)


def nginx(annotations: str) -> tuple[str, ...]:
    backend = "{service: {name: app, port: {number: 443}}}"
    spec = f"rules: [{{host: a.example, http: {{paths: [{{path: /, pathType: Prefix, backend: {backend}}}]}}}}]"
    named = ", ".join(f"nginx.ingress.kubernetes.io/{each}" for each in annotations.split(", "))
    of_class = manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", "spec: {controller: k8s.io/ingress-nginx}")
    door = manifest(
        "networking.k8s.io/v1", "Ingress", "app", "shop", f"spec: {{ingressClassName: nginx, {spec}}}",
        more=f"annotations: {{{named}}}",
    )  # fmt: skip
    return of_class, door


def agent(tls: str) -> tuple[str, ...]:
    spec = f"spec: {{targetRefs: [{{group: '', kind: Service, name: app}}], backend: {{tls: {{{tls}}}}}}}"
    return (manifest("agentgateway.dev/v1alpha1", "AgentgatewayPolicy", "app", "shop", spec),)


VERIFIED = "backend-protocol: HTTPS, proxy-ssl-secret: shop/ca, proxy-ssl-verify: 'on'"


@pytest.mark.parametrize(
    ("manifests", "asking"),
    [
        (traefik("serverName: app.example.com, rootCAs: [{secret: ca}]"), "ServersTransport shop/t"),
        (traefik("serverName: app.shop.svc, rootCAs: [{secret: ca}]"), ""),
        (traefik("serverName: app.example.com, insecureSkipVerify: true"), ""),
        (traefik("serverName: app.example.com", "name: app, port: 443, scheme: http"), ""),
        (connections("serverName: app.example.com, rootCAs: [{secret: ca}]"), "ServersTransportTCP shop/t"),
        (connections("serverName: app.example.com"), "ServersTransportTCP shop/t"),
        (connections("serverName: app.shop.svc, rootCAs: [{secret: ca}]"), ""),
        (connections("serverName: app.example.com, insecureSkipVerify: true"), ""),
        (connections("serverName: app.example.com", "serversTransport: t"), ""),
        (connections("serverName: app.example.com", more=", tls: {passthrough: true}"), ""),
        (contour("protocol: tls, validation: {caSecret: ca, subjectName: app.example.com}"), "HTTPProxy shop/app"),
        (contour("protocol: tls, validation: {caSecret: ca, subjectName: app.shop.svc}"), ""),
        (
            contour("protocol: tls, validation: {caSecret: ca, subjectName: app.example.com, "
                    "subjectNames: [app.example.com, app.shop.svc]}"),
            "",
        ),
        (contour("protocol: tls"), ""),
        (nginx(f"{VERIFIED}, proxy-ssl-name: app.example.com"), "Ingress shop/app"),
        (nginx(f"{VERIFIED}, proxy-ssl-name: app.shop.svc"), ""),
        (nginx("backend-protocol: HTTPS, proxy-ssl-name: app.example.com"), ""),
        (agent("verifySubjectAltNames: [app.example.com]"), "AgentgatewayPolicy shop/app"),
        (agent("verifySubjectAltNames: [app.shop.svc]"), ""),
        (agent("insecureSkipVerify: All"), ""),
    ],
)  # fmt: skip
def test_whatever_asks_for_a_name(manifests: tuple[str, ...], asking: str, tmp_path: Path) -> None:
    found = [each for each in lint(tmp_path, SERVICE, pods("tls"), INSIDE, *manifests) if each.rule == "GWP420"]
    expected = f"Deployment shop/app has a certificate that is not for app.example.com, which {asking} asks for"
    assert [each.message for each in found] == ([expected] if asking else [])
