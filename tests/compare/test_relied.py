"""GWP325 for Secrets and ConfigMaps that doors and Gateways, no policies, ask by: whose content lets somebody in."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare.ends import ends_changed
from tests.compare.test_compare import sides
from tests.worlds import manifest, service

SHOP = service("web", "shop")
CLASS = "spec: {controller: %s}"
BACKEND = "http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}"


def ingress(annotations: str) -> str:
    tls = "tls: [{hosts: [a.example], secretName: shown}]"
    spec = f"spec: {{ingressClassName: nginx, rules: [{{host: a.example, {BACKEND}}}], {tls}}}"
    of_class = manifest("networking.k8s.io/v1", "IngressClass", "nginx", "", CLASS % "k8s.io/ingress-nginx")
    return (
        of_class
        + "---"
        + manifest("networking.k8s.io/v1", "Ingress", "a", "shop", spec, more=f"annotations: {{{annotations}}}")
    )


def traefik(kind: str, spec: str) -> str:
    return manifest("traefik.io/v1alpha1", kind, "a", "shop", f"spec: {{{spec}}}")


def proxy(tls: str, service_: str = "name: web, port: 80") -> str:
    host = f"virtualhost: {{fqdn: a.example, tls: {{secretName: shown{tls}}}}}"
    spec = f"spec: {{{host}, routes: [{{services: [{{{service_}}}]}}]}}"
    return manifest("projectcontour.io/v1", "HTTPProxy", "a", "shop", spec)


def istio(mode: str) -> str:
    tls = f"tls: {{mode: {mode}, credentialName: shown}}"
    server = f"{{port: {{number: 443, name: s, protocol: HTTPS}}, hosts: [a.example], {tls}}}"
    template = "template: {metadata: {labels: {app: gw}}, spec: {containers: [{name: p, image: p}]}}"
    pods = manifest(
        "apps/v1", "Deployment", "gw", "shop", f"spec: {{selector: {{matchLabels: {{app: gw}}}}, {template}}}"
    )
    spec = f"spec: {{selector: {{app: gw}}, servers: [{server}]}}"
    return pods + "---" + manifest("networking.istio.io/v1", "Gateway", "a", "shop", spec)


def gateway(tls: str) -> str:
    listener = "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: shown}]}}"
    spec = f"spec: {{gatewayClassName: eg, {tls}listeners: [{listener}]}}"
    return manifest("gateway.networking.k8s.io/v1", "Gateway", "a", "shop", spec)


ON_HANDSHAKE = "clientAuth: {secretNames: [ca], clientAuthType: RequireAndVerifyClientCert}"
VERIFYING = "name: web, port: 80, protocol: tls, validation: {caSecret: ca, subjectName: web}"
OF_NGINX = manifest("k8s.nginx.org/v1", "Policy", "a", "shop", "spec: {ingressMTLS: {clientCertSecret: ca}}")
PREFIX = "nginx.ingress.kubernetes.io"
FRONT = "tls: {frontend: {default: {validation: {caCertificateRefs: [{group: '', kind: Secret, name: ca}]}}}}, "


def said(tmp_path: Path, world: str, name: str) -> list[str]:
    holders = [manifest("v1", "Secret", name, "shop", f"data: {{ca.crt: {each}}}") for each in ("QQ==", "Qg==")]
    (pair,) = [sides(tmp_path, (SHOP, world, holders[0]), (SHOP, world, holders[1]))]
    return [f"{each.severity} {each.message}" for each in ends_changed(pair)]


@pytest.mark.parametrize(
    ("world", "name", "holder"),
    [
        (ingress(f"{PREFIX}/auth-tls-secret: shop/ca"), "ca", "Ingress shop/a"),
        (ingress(f"{PREFIX}/auth-type: basic, {PREFIX}/auth-secret: ca"), "ca", "Ingress shop/a"),
        (traefik("TLSOption", ON_HANDSHAKE), "ca", "TLSOption shop/a"),
        (traefik("Middleware", "basicAuth: {secret: ca}"), "ca", "Middleware shop/a"),
        (traefik("ServersTransport", "rootCAsSecrets: [ca]"), "ca", "ServersTransport shop/a"),
        (proxy(", clientValidation: {caSecret: ca}"), "ca", "HTTPProxy shop/a"),
        (proxy("", VERIFYING), "ca", "HTTPProxy shop/a"),
        (OF_NGINX, "ca", "Policy shop/a"),
        (istio("MUTUAL"), "shown-cacert", "Gateway shop/a"),
        (gateway(FRONT), "ca", "Gateway shop/a"),
    ],
)
def test_whoever_asks_by_it(tmp_path: Path, world: str, name: str, holder: str) -> None:
    assert said(tmp_path, world, name) == [
        f"warning {holder} relies on the content of Secret shop/{name}, which changes"
    ]


@pytest.mark.parametrize(
    ("world", "name"),
    [
        (ingress(""), "shown"),
        (proxy(""), "shown"),
        (istio("SIMPLE"), "shown"),
        (istio("SIMPLE"), "shown-cacert"),
        (gateway(""), "shown"),
        (gateway(FRONT), "shown"),
        (ingress(f"{PREFIX}/auth-tls-secret: shop/ca"), "other"),
    ],
)
def test_a_certificate_that_is_only_shown_lets_nobody_in(tmp_path: Path, world: str, name: str) -> None:
    assert said(tmp_path, world, name) == []
