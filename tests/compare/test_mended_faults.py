"""Settings that cannot work turn everybody away: whoever mends them opens nothing where they ask for a login."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from policylint.model import SEVERITIES
from tests.compare.test_compare import sides
from tests.doors.asking import NGINX
from tests.worlds import gateway, gateway_class, manifest, route, service

HERE = [
    manifest("v1", "Namespace", "shop", "", ""),
    service(),
    manifest("v1", "Secret", "other", "shop", "type: Opaque"),
]


def ingress(path: str = "/", name: str = "web", **annotations: str) -> str:
    written = ", ".join(f"{NGINX}{key.replace('_', '-')}: {value!r}" for key, value in annotations.items())
    to = f"{{path: {path}, pathType: Prefix, backend: {{service: {{name: checkout, port: {{number: 80}}}}}}}}"
    body = f"spec: {{ingressClassName: nginx, rules: [{{host: a.example.com, http: {{paths: [{to}]}}}}]}}"
    return manifest("networking.k8s.io/v1", "Ingress", name, "shop", body, more=f"annotations: {{{written}}}")


FAULTY = ingress("/a", "faulty", auth_url="auth-url")
ASKING = ingress(auth_url="https://id.example.com/auth")
OPEN = ingress()
MENDED = ingress("/a", "faulty", auth_url="https://id.example.com/auth")
PASSWORDS = manifest("v1", "Secret", "users", "shop", "stringData: {auth: 'a:$apr1$x$y'}")
BASIC = ingress(auth_type="basic", auth_secret="users")
TO_CHECKOUT = "rules: [{backendRefs: [{name: checkout, port: 80}]}]"
KGATEWAY = [gateway_class("kgw", "kgateway.dev/kgateway"), gateway(of_class="kgw"), route(more=TO_CHECKOUT)]
EXTENSION = manifest(
    "gateway.kgateway.dev/v1alpha1",
    "GatewayExtension",
    "authz",
    "shop",
    "spec: {type: ExtAuth, extAuth: {grpcService: {backendRef: {name: authz, port: 80}}}}",
)
POLICY = manifest(
    "gateway.kgateway.dev/v1alpha1",
    "TrafficPolicy",
    "authz",
    "shop",
    "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}],"
    " extAuth: {extensionRef: {name: authz}}}",
)

ENVOY = [
    gateway_class("envoy", "gateway.envoyproxy.io/gatewayclass-controller"),
    gateway(of_class="envoy"),
    route(more=TO_CHECKOUT),
]


def of_envoy(kind: str, target: str, spec: str, namespace: str = "shop") -> str:
    targeting = f"targetRefs: [{{group: gateway.networking.k8s.io, {target}}}]"
    return manifest(
        "gateway.envoyproxy.io/v1alpha1", kind, f"of-{namespace}", namespace, f"spec: {{{targeting}, {spec}}}"
    )


ON_ROUTE = "kind: HTTPRoute, name: checkout"
OF_ENVOY = of_envoy("SecurityPolicy", ON_ROUTE, "extAuth: {http: {backendRefs: [{name: authz, port: 80}]}}")
ISSUER = "issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com/keys}"
ON_GATEWAY = "kind: Gateway, name: edge"
LOGIN = of_envoy("SecurityPolicy", ON_GATEWAY, f"jwt: {{providers: [{{name: staff, {ISSUER}}}]}}", "infra")
TIMEOUT = of_envoy("BackendTrafficPolicy", ON_ROUTE, "timeout: {http: {requestTimeout: soon}}")


def told(tmp_path: Path, before: list[str], after: list[str]) -> list[str]:
    pair = sides(tmp_path, (*HERE, *before), (*HERE, *after))
    found = removed_protections([pair], compare([pair]), {"GWP302", "GWP304", "GWP324"})
    return [each.rule for each in found if SEVERITIES.index(each.severity) < SEVERITIES.index("note")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([ASKING, FAULTY], [ASKING]),
        ([ASKING, FAULTY], [ASKING, MENDED]),
        ([FAULTY], [MENDED]),
        ([BASIC], [BASIC, PASSWORDS]),
        ([*KGATEWAY, EXTENSION, POLICY], [*KGATEWAY, EXTENSION, POLICY, service("authz")]),
        ([*ENVOY, OF_ENVOY], [*ENVOY, OF_ENVOY, service("authz")]),
        ([*ENVOY, OF_ENVOY, LOGIN], [*ENVOY, LOGIN]),
        ([*ENVOY, TIMEOUT], ENVOY),
    ],
)
def test_whoever_gets_in_has_logged_in(tmp_path: Path, before: list[str], after: list[str]) -> None:
    assert told(tmp_path, before, after) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([OPEN, FAULTY], [OPEN]),
        ([FAULTY], [ingress("/a", "faulty")]),
        ([BASIC], [ingress()]),
        ([*KGATEWAY, EXTENSION, POLICY], [*KGATEWAY, EXTENSION]),
        ([*ENVOY, OF_ENVOY], ENVOY),
    ],
)
def test_who_is_asked_for_nothing_gets_in(tmp_path: Path, before: list[str], after: list[str]) -> None:
    assert told(tmp_path, before, after) == ["GWP302"]


SERVER = (
    "{host: a.example.com, upstreams: [{name: up, service: checkout, port: 80}], "
    "%sroutes: [{path: /, %saction: {pass: up}}]}"
)
NAMING = "policies: [{name: gone}], "


def of_nginx(spec: str) -> str:
    other = manifest("k8s.nginx.org/v1", "Policy", "other", "shop", "spec: {accessControl: {allow: [10.0.0.0/8]}}")
    return f"{manifest('k8s.nginx.org/v1', 'VirtualServer', 'web', 'shop', f'spec: {spec}')}---\n{other}"


@pytest.mark.parametrize(
    ("faulty", "without", "named"),
    [
        (ingress(auth_url="auth-url"), OPEN, "auth-url of Ingress shop/web"),
        (ingress(auth_tls_secret="users"), OPEN, "auth-tls-secret of Ingress shop/web"),
        (of_nginx(SERVER % (NAMING, "")), of_nginx(SERVER % ("", "")), "policies of VirtualServer shop/web"),
        (of_nginx(SERVER % ("", NAMING)), of_nginx(SERVER % ("", "")), "policies of VirtualServer shop/web"),
    ],
)
def test_what_closed_by_a_fault_is_called_after_what_is_written(
    tmp_path: Path, faulty: str, without: str, named: str
) -> None:
    pair = sides(tmp_path, (*HERE, faulty), (*HERE, without))
    found = removed_protections([pair], compare([pair]), {"GWP302"})
    assert [each.message.rpartition(": ")[2] for each in found if each.rule == "GWP302"] == [named]
