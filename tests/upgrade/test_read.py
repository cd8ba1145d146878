"""What a release does not read is not in force: requests change with an upgrade that comes to read it, or ceases to.

Predicted from the sources of the releases: pkg/kube/kclient/crdwatcher.go and
pilot/pkg/config/kube/gateway/conversion.go of Istio 1.25 to 1.30, internal/provider/kubernetes/controller.go and
internal/gatewayapi/listener.go of Envoy Gateway 1.6 to 1.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from policylint.catalog.releases import version
from policylint.session.upgrade import run_upgrade
from policylint.workspace import open_workspace

ISTIO = "istio.io/gateway-controller"
ENVOY_GATEWAY = "gateway.envoyproxy.io/gatewayclass-controller"


def world(controller: str, listener: str, route: str, tls: str = "") -> str:
    """A class, a Gateway with one listener, and a route at it to a Service."""
    return f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: edge}}
spec: {{controllerName: {controller}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: shop}}
spec: {{gatewayClassName: edge, {tls}listeners: [{listener}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: db, namespace: shop}}
spec: {{selector: {{app: db}}, ports: [{{port: 5432}}]}}
---
apiVersion: gateway.networking.k8s.io/{"v1alpha2" if route.startswith(("kind: TCP", "kind: TLS")) else "v1"}
{route}
"""


PASSTHROUGH = "{name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough}}"
PLAIN_TCP = "{name: tcp, port: 5432, protocol: TCP}"
HTTPS = "{name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: c}]}}"
BACKEND = "rules: [{backendRefs: [{name: db, port: 5432}]}]"
TLS_ROUTE = f"""\
kind: TLSRoute
metadata: {{name: db, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}], hostnames: [db.shop.example], {BACKEND}}}
"""
TCP_ROUTE = f"""\
kind: TCPRoute
metadata: {{name: db, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}], {BACKEND}}}
"""
HTTP_ROUTE = TLS_ROUTE.replace("TLSRoute", "HTTPRoute")
CERTIFICATES = (
    'tls: {frontend: {default: {validation: {caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]}}}}, '
)
SWITCH = """\
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: istiod, namespace: istio-system}
spec:
  chart: {spec: {chart: istiod, version: 1.29.6, sourceRef: {kind: HelmRepository, name: istio}}}
  values: {env: {PILOT_ENABLE_ALPHA_GATEWAY_API: "true"}}
"""


def changes(text: str, start: Mapping[str, str], end: Mapping[str, str], folder: Path) -> list[str]:
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    first, last = ({name: version(each) or () for name, each in side.items()} for side in (start, end))
    (requests,) = run_upgrade(open_workspace([str(folder)]), last, first).requests
    return [] if requests[1] is None else [change.change for change in requests[1].changes]


CALLS = f"""\
kind: GRPCRoute
metadata: {{name: db, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}], hostnames: [db.shop.example], {BACKEND}}}
---
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {{name: login, namespace: shop}}
spec:
  targetRef: {{group: gateway.networking.k8s.io, kind: Gateway, name: edge}}
  defaults: {{rules: {{authentication: {{login: {{jwt: {{issuerUrl: "https://login.example"}}}}}}}}}}
"""
CASES = {
    "policies of Kuadrant 1.5 hold for GRPCRoutes": (
        *(world(ISTIO, HTTPS, CALLS), {"kuadrant": "1.4"}, {"kuadrant": "1.5"}),
        ["closed"],
    ),
    "and went on to hold for HTTPRoutes": (
        *(world(ISTIO, HTTPS, CALLS.replace("GRPCRoute", "HTTPRoute")), {"kuadrant": "1.4"}, {"kuadrant": "1.5"}),
        [],
    ),
    "Istio 1.30 serves TLS listeners": (
        *(world(ISTIO, PASSTHROUGH, TLS_ROUTE), {"istio": "1.29"}, {"istio": "1.30"}),
        ["opened"],
    ),
    "with the switch it served them before": (
        *(world(ISTIO, PASSTHROUGH, TLS_ROUTE) + SWITCH, {"istio": "1.29"}, {"istio": "1.30"}),
        [],
    ),
    "without CRDs of 1.5 it comes to pass their routes over": (
        *(world(ISTIO, PASSTHROUGH, TLS_ROUTE) + SWITCH, {"istio": "1.29", "gateway-api": "1.4"}, {"istio": "1.30"}),
        ["closed"],
    ),
    "CRDs of 1.5 take them from Istio 1.29": (
        *(world(ISTIO, PASSTHROUGH, TLS_ROUTE) + SWITCH, {"istio": "1.29", "gateway-api": "1.4"}),
        {"gateway-api": "1.5"},
        ["closed"],
    ),
    "both together keep them": (
        *(world(ISTIO, PASSTHROUGH, TLS_ROUTE) + SWITCH, {"istio": "1.29", "gateway-api": "1.4"}),
        {"istio": "1.30", "gateway-api": "1.5"},
        [],
    ),
    "TCP stays behind the switch": (
        *(world(ISTIO, PLAIN_TCP, TCP_ROUTE), {"istio": "1.29"}, {"istio": "1.30"}),
        [],
    ),
    "Istio 1.28 asks clients for certificates": (
        *(world(ISTIO, HTTPS, HTTP_ROUTE, CERTIFICATES), {"istio": "1.27"}, {"istio": "1.28"}),
        ["closed"],
    ),
    "Istio 1.29 goes on to ask": (
        *(world(ISTIO, HTTPS, HTTP_ROUTE, CERTIFICATES), {"istio": "1.28"}, {"istio": "1.29"}),
        [],
    ),
    "Envoy Gateway 1.8 asks clients for certificates": (
        *(world(ENVOY_GATEWAY, HTTPS, HTTP_ROUTE, CERTIFICATES), {"envoy-gateway": "1.7"}, {"envoy-gateway": "1.8"}),
        ["closed"],
    ),
    "Envoy Gateway 1.9 passes TCPRoutes over without CRDs of 1.6": (
        world(ENVOY_GATEWAY, PLAIN_TCP, TCP_ROUTE),
        {"envoy-gateway": "1.8", "gateway-api": "1.5"},
        {"envoy-gateway": "1.9"},
        ["closed"],
    ),
    "and serves them with these": (
        world(ENVOY_GATEWAY, PLAIN_TCP, TCP_ROUTE),
        {"envoy-gateway": "1.8", "gateway-api": "1.5"},
        {"envoy-gateway": "1.9", "gateway-api": "1.6"},
        [],
    ),
    "TLSRoutes of Envoy Gateway are served as before": (
        world(ENVOY_GATEWAY, PASSTHROUGH, TLS_ROUTE),
        {"envoy-gateway": "1.8", "gateway-api": "1.5"},
        {"envoy-gateway": "1.9"},
        [],
    ),
}


@pytest.mark.parametrize(("text", "start", "end", "expected"), CASES.values(), ids=CASES)
def test_requests_go_by_what_a_release_reads(
    text: str, start: Mapping[str, str], end: Mapping[str, str], expected: list[str], tmp_path: Path
) -> None:
    assert changes(text, start, end, tmp_path) == expected
