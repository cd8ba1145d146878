"""GWP411 beside Gateway API, and of redirects that lead into a circle which is not theirs from the first request on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
"""
EDGE = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {selector: {app: edge}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [shop.example.com], gateways: [edge], http: [RULES]}
"""
PROXY = """
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: web, namespace: shop}
spec: {virtualhost: {fqdn: shop.example.com}, routes: [RULES]}
"""
SERVER = """
apiVersion: k8s.nginx.org/v1
kind: VirtualServer
metadata: {name: web, namespace: shop}
spec: {host: shop.example.com, routes: [{path: /, action: {redirect: {url: "RULES", code: 301}}}]}
"""
INGRESS = """
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {nginx.ingress.kubernetes.io/permanent-redirect: "RULES"}}
spec:
  ingressClassName: nginx
  rules:
    - host: shop.example.com
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}], hostnames: [shop.example.com], rules: [RULES]}
"""
REST = "{route: [{destination: {host: web}}]}"


def virtual(path: str, uri: str, kind: str = "exact") -> str:
    return f"{{match: [{{uri: {{{kind}: {path}}}}}], redirect: {{uri: {uri}}}}}"


def full(path: str, to: str) -> str:
    replaced = f"{{type: ReplaceFullPath, replaceFullPath: {to}}}"
    return f"{{matches: [{{path: {{value: {path}}}}}], filters: [{{type: RequestRedirect, requestRedirect: {{path: {replaced}}}}}]}}"  # noqa: E501


def prefix(path: str, to: str) -> str:
    return (
        full(path, to).replace("ReplaceFullPath", "ReplacePrefixMatch").replace("replaceFullPath", "replacePrefixMatch")
    )


@pytest.mark.parametrize(
    ("world", "rules", "told"),
    [
        (EDGE, f"{virtual('/old', '/old')}, {REST}", 1),
        (EDGE, f"{virtual('/old', '/old/x', 'prefix')}, {REST}", 1),
        (EDGE, f"{virtual('/old', '/new', 'prefix')}, {REST}", 0),
        (EDGE, f"{virtual('/a', '/b')}, {virtual('/b', '/a')}, {virtual('/c', '/a')}, {REST}", 2),
        (EDGE, "{redirect: {authority: shop.example.com}}", 1),
        (EDGE, "{redirect: {authority: www.example.com}}", 0),
        (PROXY, "{conditions: [{prefix: /old}], requestRedirectPolicy: {prefix: /old}}", 1),
        (PROXY, "{requestRedirectPolicy: {hostname: shop.example.com}}", 1),
        (PROXY, "{requestRedirectPolicy: {hostname: www.example.com}}", 0),
        (SERVER, "http://shop.example.com/", 1),
        (SERVER, "http://www.example.com/", 0),
        (INGRESS, "http://shop.example.com/", 1),
        (INGRESS, "https://www.example.com/", 0),
        (ROUTE, full("/old", "/old/x"), 1),
        (ROUTE, full("/old", "/new"), 0),
        (ROUTE, f"{full('/in', '/a')}, {full('/a', '/a')}", 1),
        (ROUTE, prefix("/", "/app"), 1),  # to /app, /app/app, /app/app/app …
        (ROUTE, prefix("/old", "/old/old"), 1),
        (ROUTE, prefix("/old", "/new"), 0),
        (ROUTE, prefix("/old", "/"), 0),
        (PROXY, "{requestRedirectPolicy: {prefix: /app}}", 1),
    ],
)
def test_redirects_that_go_round_in_circles(tmp_path: Path, world: str, rules: str, told: int) -> None:
    found = lint(tmp_path, SERVICE, world.replace("RULES", rules))
    assert len([each for each in found if each.rule == "GWP411"]) == told
