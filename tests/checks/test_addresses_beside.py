# ruff: noqa: E501 - lists on one line each
"""GWP307 and GWP526 beside Gateway API: lists and limits of addresses of Ingresses and of Traefik's Middlewares; GWP415
of snippets that a controller refuses; GWP313 of a token that the gateway takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests import worlds
from tests.checks.test_asked_of_maintainers import COMMUNITY, WEB, ingress, of_class

Said = list[tuple[str, str]]
NGINX = "nginx.ingress.kubernetes.io"
ALLOW = f"{NGINX}/whitelist-source-range: 10.0.0.0/8"


def said(folder: Path, rule: str, *manifests: str) -> Said:
    (folder / "all.yaml").write_text("\n---\n".join(manifests))
    found = open_workspace([str(folder)]).findings()
    return [(each.severity, each.message) for each in found if each.rule == rule]


def settings(data: str) -> str:
    return worlds.manifest("v1", "ConfigMap", "ingress-nginx-controller", "ingress-nginx", f"data: {{{data}}}")


def container(name: str, image: str, more: str) -> str:
    template = f"{{metadata: {{labels: {{app: c}}}}, spec: {{containers: [{{name: c, image: '{image}', {more}}}]}}}}"
    spec = f"spec: {{selector: {{matchLabels: {{app: c}}}}, template: {template}}}"
    return worlds.manifest("apps/v1", "Deployment", name, "ingress", spec)


@pytest.mark.parametrize(
    ("data", "annotations", "severity"),
    [
        ("use-forwarded-headers: 'true'", ALLOW, "warning"),
        ("enable-real-ip: 'true'", f"{NGINX}/denylist-source-range: 10.0.0.0/8", "warning"),
        ("use-forwarded-headers: 'true', proxy-real-ip-cidr: 10.0.0.0/8", ALLOW, ""),
        ("use-forwarded-headers: 'false'", ALLOW, ""),
        ("use-forwarded-headers: 'true'", f"{NGINX}/limit-rps: '5'", ""),
    ],
)
def test_a_list_of_ingress_nginx(tmp_path: Path, data: str, annotations: str, severity: str) -> None:
    found = said(tmp_path, "GWP307", COMMUNITY, WEB, settings(data), ingress("web", annotations))
    assert [each for each, _ in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("variables", "severity"),
    [
        ({"KONG_TRUSTED_IPS": "0.0.0.0/0"}, "note"),
        ({"KONG_TRUSTED_IPS": "0.0.0.0/0", "KONG_REAL_IP_HEADER": "X-Forwarded-For"}, "note"),
        ({"KONG_TRUSTED_IPS": "0.0.0.0/0", "KONG_REAL_IP_HEADER": "X-Forwarded-For", "KONG_REAL_IP_RECURSIVE": "on"},
         "warning"),
        ({"KONG_TRUSTED_IPS": "10.0.0.0/8"}, ""),
    ],
)  # fmt: skip
def test_a_plugin_of_kong(tmp_path: Path, variables: dict[str, str], severity: str) -> None:
    env = ", ".join(f"{{name: {name}, value: '{value}'}}" for name, value in variables.items())
    plugin = worlds.manifest(
        "configuration.konghq.com/v1",
        "KongPlugin",
        "office",
        "shop",
        "plugin: ip-restriction\nconfig: {allow: [10.0.0.0/8]}",
    )
    kong = of_class("ingress-controllers.konghq.com/kong", "kong")
    web = ingress("web", "konghq.com/plugins: office", of_class="kong")
    found = said(tmp_path, "GWP307", kong, WEB, container("kong", "kong", f"env: [{env}]"), plugin, web)
    assert [each for each, _ in found] == ([severity] if severity else [])


def test_a_list_of_haproxy_by_a_header(tmp_path: Path) -> None:
    own = "haproxy-ingress.github.io"
    lists = f"{own}/allowlist-source-range: 10.0.0.0/8, {own}/allowlist-source-header: X-Forwarded-For"
    haproxy = of_class("haproxy-ingress.github.io/controller", "haproxy")
    found = said(tmp_path, "GWP307", haproxy, WEB, ingress("web", lists, of_class="haproxy"))
    assert [each for each, _ in found] == ["note"]


def test_one_finding_for_all_lists_of_a_controller(tmp_path: Path) -> None:
    believing = settings("use-forwarded-headers: 'true'")
    both = (ingress("a", ALLOW, "a.example.com"), ingress("b", ALLOW, "b.example.com"))
    ((_, message),) = said(tmp_path, "GWP307", COMMUNITY, WEB, believing, *both)
    assert message == "Ingress shop/a and 1 other filter requests by client addresses that clients can spoof"


def traefik(*arguments: str) -> str:
    stated = ", ".join(f"'--entrypoints.web.{each}'" for each in ("address=:8000", *arguments))
    return container("traefik", "docker.io/traefik:v3.5.0", f"args: ['--providers.kubernetescrd', {stated}]")


def middleware(spec: str) -> str:
    return worlds.manifest("traefik.io/v1alpha1", "Middleware", "own", "shop", f"spec: {{{spec}}}")


INSECURE, TRUSTED = "forwardedheaders.insecure=true", "forwardedheaders.trustedips=10.0.0.0/8"
BY_DEPTH = "ipStrategy: {depth: 1}"


@pytest.mark.parametrize(
    ("argument", "spec", "told"),
    [
        (INSECURE, f"ipAllowList: {{sourceRange: [192.0.2.0/24], {BY_DEPTH}}}", "filters"),
        (INSECURE, f"rateLimit: {{average: 5, sourceCriterion: {{{BY_DEPTH}}}}}", "limits"),
        (INSECURE, f"inFlightReq: {{amount: 5, sourceCriterion: {{{BY_DEPTH}}}}}", "limits"),
        (
            "forwardedheaders.trustedips=0.0.0.0/0",
            f"ipAllowList: {{sourceRange: [192.0.2.0/24], {BY_DEPTH}}}",
            "filters",
        ),
        (INSECURE, "ipAllowList: {sourceRange: [192.0.2.0/24]}", ""),
        (TRUSTED, f"ipAllowList: {{sourceRange: [192.0.2.0/24], {BY_DEPTH}}}", ""),
    ],
)
def test_a_middleware_by_what_clients_write(tmp_path: Path, argument: str, spec: str, told: str) -> None:
    found = said(tmp_path, "GWP307", traefik(argument), WEB, middleware(spec))
    assert bool(found) is bool(told)
    assert all(each == "note" and told in message for each, message in found)


@pytest.mark.parametrize(
    ("argument", "spec", "told"),
    [
        (TRUSTED, "ipAllowList: {sourceRange: [192.0.2.0/24]}", False),  # of who comes past the proxies
        (TRUSTED, "ipAllowList: {sourceRange: [192.0.2.0/24, 10.0.0.0/8]}", True),
        (TRUSTED, "ipWhiteList: {sourceRange: [10.1.0.0/16]}", True),
        ("forwardedheaders.trustedips=198.51.100.0/24", "ipAllowList: {sourceRange: [198.51.100.0/24]}", False),
        (TRUSTED, f"ipAllowList: {{sourceRange: [192.0.2.0/24], {BY_DEPTH}}}", False),
        (TRUSTED, "ipAllowList: {sourceRange: [0.0.0.0/0]}", False),
        (INSECURE, "ipAllowList: {sourceRange: [192.0.2.0/24]}", False),
        ("http.tls=true", "ipAllowList: {sourceRange: [192.0.2.0/24]}", False),
    ],
)
def test_a_list_that_sees_proxies(tmp_path: Path, argument: str, spec: str, told: bool) -> None:
    assert bool(said(tmp_path, "GWP526", traefik(argument), WEB, middleware(spec))) is told


def release(version: str, values: str) -> str:
    chart = (
        f"chart: {{spec: {{chart: ingress-nginx, version: {version}, sourceRef: {{kind: HelmRepository, name: a}}}}}}"
    )
    spec = f"spec: {{{chart}, values: {{controller: {{{values}}}}}}}"
    return worlds.manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "nginx", "ingress", spec)


ALLOWED, CRITICAL = "allow-snippet-annotations: 'true'", "annotations-risk-level: Critical"


@pytest.mark.parametrize(
    ("tag", "data", "told"),
    [
        ("v1.12.1", ALLOWED, "annotations-risk-level is not Critical"),
        ("v1.12.1", f"{ALLOWED}, {CRITICAL}", ""),
        ("v1.12.1", CRITICAL, "allow-snippet-annotations is not set"),
        ("v1.11.5", ALLOWED, ""),
        ("v1.11.5", "use-gzip: 'true'", "allow-snippet-annotations is not set"),
        ("v1.8.4", "use-gzip: 'true'", ""),
        ("latest", ALLOWED, ""),
    ],
)
def test_snippets_by_the_settings_of_the_controller(tmp_path: Path, tag: str, data: str, told: str) -> None:
    snippet = ingress("web", f"{NGINX}/configuration-snippet: 'deny all;'")
    running = container("c", f"registry.k8s.io/ingress-nginx/controller:{tag}", "args: []")
    found = said(tmp_path, "GWP415", COMMUNITY, WEB, running, settings(data), snippet)
    assert bool(found) is bool(told)
    assert all(told in message for _, message in found)


@pytest.mark.parametrize(
    ("version", "values", "told"),
    [
        ("4.12.0", "allowSnippetAnnotations: true", True),
        ("4.12.0", "allowSnippetAnnotations: true, config: {annotations-risk-level: Critical}", False),
        ("4.11.3", "allowSnippetAnnotations: true", False),
        ("4.11.3", "allowSnippetAnnotations: 'true'", False),
        ("4.11.3", "replicaCount: 2", True),
        ("'>=4.0.0'", "replicaCount: 2", False),
    ],
)
def test_snippets_by_the_values_of_the_chart(tmp_path: Path, version: str, values: str, told: bool) -> None:
    snippet = ingress("web", f"{NGINX}/server-snippet: 'deny all;'")
    assert bool(said(tmp_path, "GWP415", COMMUNITY, WEB, release(version, values), snippet)) is told


@pytest.mark.parametrize(
    ("more", "asked", "because"),
    [
        ("", "from: [{source: {requestPrincipals: ['*']}}]", True),
        ("", "when: [{key: 'request.auth.claims[groups]', values: [a]}]", True),
        (", forwardOriginalToken: true", "from: [{source: {requestPrincipals: ['*']}}]", False),
    ],
)
def test_a_token_that_the_gateway_takes(tmp_path: Path, more: str, asked: str, because: bool) -> None:
    def tokens(namespace: str, label: str) -> str:
        rule = f"{{issuer: 'https://id.example.com', jwksUri: 'https://id.example.com/jwks'{more}}}"
        spec = f"spec: {{selector: {{matchLabels: {{{label}}}}}, jwtRules: [{rule}]}}"
        return worlds.manifest("security.istio.io/v1", "RequestAuthentication", "jwt", namespace, spec)

    mesh = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}\n"
    pods = "{metadata: {labels: {istio: ingressgateway}}, spec: {containers: [{name: p, image: p}]}}"
    labelled = "{matchLabels: {istio: ingressgateway}}"
    front = worlds.manifest(
        "apps/v1", "Deployment", "front", "istio-system", f"spec: {{selector: {labelled}, template: {pods}}}"
    )
    gateway = worlds.manifest(
        "networking.istio.io/v1", "Gateway", "edge", "shop",
        "spec: {selector: {istio: ingressgateway}, "
        "servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}",
    )  # fmt: skip
    virtual = worlds.manifest(
        "networking.istio.io/v1", "VirtualService", "web", "shop",
        "spec: {hosts: [a.example.com], gateways: [edge], "
        "http: [{route: [{destination: {host: web, port: {number: 80}}}]}]}",
    )  # fmt: skip
    need = worlds.manifest(
        "security.istio.io/v1", "AuthorizationPolicy", "need", "shop",
        f"spec: {{selector: {{matchLabels: {{app: web}}}}, action: ALLOW, rules: [{{{asked}}}]}}",
    )  # fmt: skip
    both = (tokens("istio-system", "istio: ingressgateway"), tokens("shop", "app: web"))
    found = [message for _, message in said(tmp_path, "GWP313", mesh, WEB, front, gateway, virtual, need, *both)]
    assert bool(found) is because
    assert all("because of RequestAuthentication istio-system/jwt" in each for each in found)


CONTOUR = "projectcontour.io/v1alpha1 ContourConfiguration contour projectcontour"


@pytest.mark.parametrize(
    ("hops", "listed", "told"),
    [
        ("spec: {envoy: {network: {numTrustedHops: 1}}}", "routes: [{ipAllowPolicy: [{source: Remote, cidr: 10.0.0.0/8}]}]", True),
        ("spec: {envoy: {network: {numTrustedHops: 1}}}", "virtualhost: {ipDenyPolicy: [{source: Remote, cidr: 10.0.0.0/8}]}", True),
        ("spec: {envoy: {network: {numTrustedHops: 1}}}", "routes: [{ipAllowPolicy: [{source: Peer, cidr: 10.0.0.0/8}]}]", False),
        ("spec: {envoy: {network: {numTrustedHops: 0}}}", "routes: [{ipAllowPolicy: [{source: Remote, cidr: 10.0.0.0/8}]}]", False),
        ("spec: {}", "routes: [{ipAllowPolicy: [{source: Remote, cidr: 10.0.0.0/8}]}]", False),
    ],
)  # fmt: skip
def test_proxies_before_contour(hops: str, listed: str, told: bool, tmp_path: Path) -> None:
    proxy = worlds.manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{listed}}}")
    found = said(tmp_path, "GWP307", worlds.manifest(*CONTOUR.split(), hops), WEB, proxy)
    assert [severity for severity, _ in found] == ["note"] * told


def test_proxies_before_contour_by_its_file(tmp_path: Path) -> None:
    """The ConfigMap of an installation by manifests holds the settings as text."""
    data = 'data: {contour.yaml: "network:\\n  num-trusted-hops: 2\\n"}'
    settings = worlds.manifest("v1", "ConfigMap", "contour", "projectcontour", data)
    listed = "routes: [{ipAllowPolicy: [{source: Remote, cidr: 10.0.0.0/8}]}]"
    proxy = worlds.manifest("projectcontour.io/v1", "HTTPProxy", "web", "shop", f"spec: {{{listed}}}")
    assert len(said(tmp_path, "GWP307", settings, WEB, proxy)) == 1
