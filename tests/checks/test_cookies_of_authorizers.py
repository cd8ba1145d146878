"""GWP526: logins that know people by cookies, and are asked over HTTP without them: kgateway, agentgateway, Istio.

Predicted from Envoy's ext_authz (allowed_headers), crates/agentgateway/src/http/ext_authz.rs and istio.mesh.v1alpha1.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.kinds import shipped_catalog
from policylint.catalog.login_proxies import knows_by_cookies
from tests.checks.linting import lint

WORLD = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: CLASS, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: authelia, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: authelia, namespace: shop}
spec: {selector: {app: authelia}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: opa, namespace: shop}
spec: {selector: {app: opa}, ports: [{port: 80}]}
"""
TARGET = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]"


def kgateway(asked: str) -> str:
    return f"""
apiVersion: gateway.kgateway.dev/v1alpha1
kind: GatewayExtension
metadata: {{name: login, namespace: shop}}
spec: {{type: ExtAuth, extAuth: {{{asked}}}}}
---
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {{name: login, namespace: shop}}
spec: {{{TARGET}, extAuth: {{extensionRef: {{name: login}}}}}}
"""


def agentgateway(asked: str) -> str:
    return f"""
apiVersion: agentgateway.dev/v1alpha1
kind: AgentgatewayPolicy
metadata: {{name: login, namespace: shop}}
spec: {{{TARGET}, traffic: {{extAuth: {{{asked}}}}}}}
"""


def istio(asked: str) -> str:
    return f"""
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: {{name: istio, namespace: istio-system}}
spec: {{meshConfig: {{extensionProviders: [{{name: login, {asked}}}]}}}}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {{name: login, namespace: shop}}
spec: {{targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: edge}}], action: CUSTOM, provider: {{name: login}}, rules: [{{}}]}}
"""  # noqa: E501


TO = "backendRef: {name: authelia, port: 80}"
OTHER = "backendRef: {name: opa, port: 80}"
OVER_HTTP = "service: authelia.shop.svc.cluster.local, port: 80"
SHOWN = f"{OVER_HTTP}, includeRequestHeadersInCheck"


@pytest.mark.parametrize(
    ("gateway_class", "manifest", "told"),
    [
        ("kgateway", kgateway(f"httpService: {{{TO}}}"), True),
        ("kgateway", kgateway(f"httpService: {{{TO}}}, headersToForward: [x-user]"), True),
        ("kgateway", kgateway(f"httpService: {{{TO}}}, headersToForward: [cookie]"), False),
        ("kgateway", kgateway(f"httpService: {{{TO}, authorizationRequest: {{headersToAdd: {{x-a: b}}}}}}"), True),
        ("kgateway", kgateway(f"httpService: {{{TO}, authorizationRequest: {{headersToAdd: {{cookie: b}}}}}}"), False),
        ("kgateway", kgateway(f"httpService: {{{OTHER}}}"), False),
        ("kgateway", kgateway(f"grpcService: {{{TO}}}"), False),
        ("agentgateway", agentgateway(f"{TO}, http: {{}}"), True),
        ("agentgateway", agentgateway(f"{TO}, http: {{allowedRequestHeaders: [Cookie]}}"), False),
        ("agentgateway", agentgateway(f"{TO}, http: {{addRequestHeaders: {{cookie: a}}}}"), False),
        ("agentgateway", agentgateway(f"{OTHER}, http: {{}}"), False),
        ("agentgateway", agentgateway(f"{TO}, grpc: {{}}"), False),
        ("istio", istio(f"envoyExtAuthzHttp: {{{OVER_HTTP}}}"), True),
        ("istio", istio(f"envoyExtAuthzHttp: {{{SHOWN}: [authorization]}}"), True),
        ("istio", istio(f"envoyExtAuthzHttp: {{{SHOWN}: [authorization, cookie]}}"), False),
        ("istio", istio(f"envoyExtAuthzHttp: {{{OVER_HTTP}, includeHeadersInCheck: [cookie]}}"), False),
        ("istio", istio(f"envoyExtAuthzHttp: {{{SHOWN}: ['coo*']}}"), False),
        ("istio", istio(f"envoyExtAuthzHttp: {{{OVER_HTTP}, includeAdditionalHeadersInCheck: {{cookie: a}}}}"), False),
        ("istio", istio(f"envoyExtAuthzGrpc: {{{OVER_HTTP}}}"), False),
        ("istio", istio("envoyExtAuthzHttp: {service: opa.shop.svc.cluster.local, port: 80}"), False),
    ],
)  # fmt: skip
def test_logins_by_cookies_that_are_not_sent(tmp_path: Path, gateway_class: str, manifest: str, told: bool) -> None:
    found = lint(tmp_path, WORLD.replace("CLASS", gateway_class), manifest)
    assert ("GWP526" in {each.rule for each in found if each.severity == "warning"}) == told


def test_the_catalog_names_the_same_logins() -> None:
    kinds = [kind for file in shipped_catalog() for kind in file.kinds()]
    told = [each.holds for kind in kinds for each in kind.misleads if "cookie" in str(each.holds)]
    assert len(told) == 3
    names = ("oauth2-proxy", "oauth2proxy", "authelia", "authentik", "oathkeeper", "tinyauth", "vouch")
    assert all(knows_by_cookies(name) and all(name in str(holds) for holds in told) for name in names)
