"""Traps that the documentation of controllers, or their analyzers, tell: each with what is harmless beside it.

Predicted from what each module cites: kubernetes/ingress-nginx controller.go, Kong/kubernetes-ingress-controller
kongstate, istio/istio pilot/pkg and its analyzers, linkerd2 policy-controller, traefik/traefik pkg/muxer/http.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint


def told(directory: Path, rule: str, *manifests: str) -> list[tuple[str, str]]:
    return [(each.severity, each.message) for each in lint(directory, *manifests) if each.rule == rule]


def workload(
    name: str, namespace: str = "shop", ports: str = "{containerPort: 8080, name: http}", more: str = ""
) -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: app, image: "example.com/{name}:1", ports: [{ports}]}}]{more}}}
"""


def service(name: str, namespace: str = "shop", port: str = "port: 80, targetPort: 8080") -> str:
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{selector: {{app: {name}}}, ports: [{{name: http, {port}}}]}}
"""


CLASS = """
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
"""


def ingress(
    name: str,
    host: str = "shop.example.com",
    path: str = "/",
    kind: str = "Prefix",
    canary: str = "",
    home: str = "shop",
) -> str:
    to = f"{{service: {{name: {name}, port: {{number: 80}}}}}}"
    annotations = f"{{nginx.ingress.kubernetes.io/canary: '{canary}'}}" if canary else "{}"
    return f"""
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: {name}, namespace: {home}, annotations: {annotations}}}
spec:
  ingressClassName: nginx
  rules:
    - host: {host}
      http: {{paths: [{{path: {path}, pathType: {kind}, backend: {to}}}]}}
"""


CANARY = ingress("next", canary="true")


@pytest.mark.parametrize(
    ("manifests", "lacking"),
    [
        ((CANARY, ingress("web")), ""),
        ((CANARY, ingress("web", home="other")), ""),  # whatever its namespace: servers are by host
        ((CANARY, ingress("web", "${HOST}")), ""),
        ((CANARY, ingress("web", path="/shop")), "path / of host shop.example.com"),
        ((CANARY, ingress("web", "www.example.com")), "host shop.example.com"),
        ((CANARY, ingress("web", kind="Exact")), "(Exact is there)"),
        ((CANARY, ingress("more", canary="true")), "host shop.example.com"),
        ((ingress("next", canary="false"),), ""),
        ((ingress("next", "${HOST}", canary="true"),), ""),
    ],
)
def test_canaries_of_nothing(tmp_path: Path, manifests: tuple[str, ...], lacking: str) -> None:
    services = [service("web"), service("web", "other"), service("next"), service("more")]
    found = told(tmp_path, "GWP415", CLASS, *services, *manifests)
    assert all(severity == "error" and lacking in message for severity, message in found)
    assert bool(found) == bool(lacking)


def consumer(more: str = "credentials: [alice]") -> str:
    return f"""
apiVersion: configuration.konghq.com/v1
kind: KongConsumer
metadata: {{name: alice, namespace: shop, annotations: {{kubernetes.io/ingress.class: kong}}}}
username: alice
{more}
"""


def secret(label: str = "", data: str = "key: abc", name: str = "alice") -> str:
    labels = f", labels: {{konghq.com/credential: {label}}}" if label else ""
    return f"""
apiVersion: v1
kind: Secret
metadata: {{name: {name}, namespace: shop{labels}}}
stringData: {{{data}}}
"""


@pytest.mark.parametrize(
    ("manifests", "why"),
    [
        ((consumer(), secret("key-auth")), ""),
        ((consumer(), secret()), "no label konghq.com/credential"),
        ((consumer(), secret(data="kongCredType: key-auth, key: abc")), ""),  # of releases before 3.0
        ((consumer(), secret("keyauth")), "labelled as keyauth"),
        ((consumer(), secret("keyauth_credential")), ""),
        ((consumer(), secret("'${SORT}'")), ""),
        ((consumer(), secret("key-auth", "apikey: abc")), "lacks key"),
        ((consumer(), secret("basic-auth", "password: abc")), "lacks username"),
        ((consumer(), secret("acl", "groups: admin")), "lacks group"),
        ((consumer(), secret("jwt", "key: abc, secret: def")), ""),
        ((consumer(), secret(name="bob")), ""),  # it may be made in the cluster
        ((consumer("custom_id: a"), secret()), ""),
    ],
)
def test_credentials_of_kong(tmp_path: Path, manifests: tuple[str, ...], why: str) -> None:
    found = told(tmp_path, "GWP415", *manifests)
    assert all(severity == "error" and why in message for severity, message in found)
    assert bool(found) == bool(why)


GROUP = """
apiVersion: configuration.konghq.com/v1beta1
kind: KongConsumerGroup
metadata: {name: gold, namespace: shop, annotations: {kubernetes.io/ingress.class: kong}}
"""


@pytest.mark.parametrize(("name", "missing"), [("gold", False), ("glod", True)])
def test_groups_of_consumers(tmp_path: Path, name: str, missing: bool) -> None:
    found = told(tmp_path, "GWP113", consumer(f"consumerGroups: [{name}]"), GROUP)
    assert bool(found) == missing


def entry(
    name: str, more: str = "resolution: DNS", port: str = "number: 3306, protocol: TCP", home: str = "shop"
) -> str:
    return f"""
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: {name}, namespace: {home}}}
spec:
  hosts: [{name}.example.com]
  ports: [{{name: any, {port}}}]
  {more}
"""


OPERATOR = """
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: {name: istio, namespace: istio-system}
spec: {meshConfig: {defaultConfig: {proxyMetadata: {ISTIO_META_DNS_CAPTURE: "true"}}}}
"""


@pytest.mark.parametrize(
    ("other", "told_"),
    [
        (entry("users"), True),
        (entry("users", port="number: 3306"), True),
        (entry("users", port="number: 3306, protocol: MySQL"), True),
        (entry("users", home="staff"), True),
        (entry("users", "resolution: STATIC, endpoints: [{address: 10.1.1.1}]".replace(", ", "\n  ")), True),
        (entry("users", "resolution: NONE"), False),
        (entry("users", "resolution: DNS\n  addresses: [10.1.1.1]"), False),
        (entry("users", "resolution: DNS\n  exportTo: ['.']", home="staff"), False),
        (entry("users", port="number: 3307, protocol: TCP"), False),
        (entry("users", port="number: 3306, protocol: TLS"), False),
        (entry("users", port="number: 3306, protocol: '${PROTOCOL}'"), False),
        (entry("users") + "---" + OPERATOR, False),
        (entry("users") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: "
         "{istio.io/dataplane-mode: ambient}}\n", False),
    ],
)  # fmt: skip
def test_entries_on_one_port(tmp_path: Path, other: str, told_: bool) -> None:
    own = entry("orders", "resolution: DNS\n  exportTo: ['.']") if "exportTo" in other else entry("orders")
    found = told(tmp_path, "GWP415", own, other)
    assert [severity for severity, _ in found] == (["warning"] if told_ else [])


GATEWAY = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: istio-system}
spec:
  selector: {app: edge}
  servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]
"""
NAMED = {"headers": "holds for no request", "withoutHeaders": "holds for every request"}


def virtual(
    match: str = "headers: {'@request.auth.claims.group': {exact: admin}}", gateways: str = "[istio-system/edge]"
) -> str:
    return f"""
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: shop, namespace: shop}}
spec:
  hosts: [{"shop.example.com" if "edge" in gateways else "web"}]
  gateways: {gateways}
  http:
    - match: [{{{match}}}]
      route: [{{destination: {{host: admin, port: {{number: 80}}}}}}]
    - route: [{{destination: {{host: web, port: {{number: 80}}}}}}]
"""


def tokens(
    home: str = "istio-system", more: str = "selector: {matchLabels: {app: edge}}", rules: str = "{issuer: a}"
) -> str:
    return f"""
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {{name: tokens, namespace: {home}}}
spec:
  jwtRules: [{rules}]
  {more}
"""


@pytest.mark.parametrize(
    ("manifests", "where"),
    [
        ((virtual(),), "Gateway istio-system/edge"),
        ((virtual(), tokens()), ""),
        ((virtual(), tokens(more="")), ""),
        ((virtual(), tokens("shop", "")), "Gateway istio-system/edge"),
        ((virtual(), tokens("shop")), ""),  # its labels fit, and GWP105 or GWP601 tell of its namespace
        ((virtual(), tokens(more="selector: {matchLabels: {app: web}}")), "Gateway istio-system/edge"),
        (
            (virtual(), tokens(more="targetRefs: [{kind: Gateway, group: gateway.networking.k8s.io, name: edge}]")),
            "edge",
        ),
        ((virtual(), tokens(rules="")), "Gateway istio-system/edge"),
        ((virtual("headers: {'@request.auth.claims[group][id]': {exact: a}}"),), "Gateway istio-system/edge"),
        ((virtual("withoutHeaders: {'@request.auth.claims.group': {exact: a}}"),), "Gateway istio-system/edge"),
        ((virtual("headers: {'x-claims': {exact: a}}"),), ""),
        ((virtual(gateways="[mesh]"),), "in the mesh"),
        ((virtual(gateways="[mesh]"), tokens()), ""),  # a waypoint may be asked
        ((virtual(gateways="['${GATEWAY}']"),), ""),
    ],
)
def test_claims_of_tokens_that_nobody_checks(tmp_path: Path, manifests: tuple[str, ...], where: str) -> None:
    around = (GATEWAY, workload("edge", "istio-system"), workload("web"), workload("admin"))
    found = told(tmp_path, "GWP319", *around, service("web"), service("admin"), *manifests)
    assert all(where in message for _, message in found)
    assert len(found) == bool(where)


def policy(rule: str, more: str = "selector: {matchLabels: {app: web}}", home: str = "shop") -> str:
    return f"""
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {{name: ports, namespace: {home}}}
spec:
  {more}
  rules: [{{{rule}}}]
"""


def server(port: str) -> str:
    return f"""
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {{name: web, namespace: shop}}
spec: {{podSelector: {{matchLabels: {{app: web}}}}, port: {port}, proxyProtocol: HTTP/1}}
"""


SIDECAR = """
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: web, namespace: shop}
spec:
  workloadSelector: {labels: {app: web}}
  ingress: [{port: {number: PORT, protocol: HTTP, name: http}, defaultEndpoint: "127.0.0.1:8080"}]
"""


@pytest.mark.parametrize(
    ("holder", "told_"),
    [
        (policy("to: [{operation: {ports: ['80']}}]"), True),
        (policy("to: [{operation: {ports: ['8080']}}]"), False),
        (policy("to: [{operation: {notPorts: ['80']}}]"), True),
        (policy("when: [{key: destination.port, values: ['80']}]"), True),
        (policy("when: [{key: source.ip, values: ['80']}]"), False),
        (policy("to: [{operation: {ports: ['443']}}]"), False),  # a port that nobody listed may be listened on
        (policy("to: [{operation: {ports: ['80']}}]", home="istio-system"), True),  # of all namespaces
        (policy("to: [{operation: {ports: ['80']}}]", ""), False),
        (policy("to: [{operation: {ports: ['80']}}]", "targetRefs: [{kind: Service, group: '', name: web}]"), False),
        (SIDECAR.replace("PORT", "80"), True),
        (SIDECAR.replace("PORT", "8080"), False),
        (server("80"), True),
        (server("8080"), False),
        (server("http"), False),
        (server("web"), True),
        (server("early"), False),
        (server("linkerd-admin"), False),
        (server("'${PORT}'"), False),
    ],
)
def test_ports_of_no_workload(tmp_path: Path, holder: str, told_: bool) -> None:
    early = ", initContainers: [{name: early, image: e, ports: [{containerPort: 9000, name: early}]}]"
    found = told(tmp_path, "GWP310", workload("web", more=early), service("web"), holder)
    assert [severity for severity, _ in found] == (["warning"] if told_ else [])


def namespace(labels: str = "") -> str:
    return f"""
apiVersion: v1
kind: Namespace
metadata: {{name: shop, labels: {{istio.io/dataplane-mode: ambient{labels}}}}}
"""


def waypoint(labels: str = "istio.io/waypoint-for: service", home: str = "shop", listener: str = "") -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: waypoint, namespace: {home}, labels: {{{labels}}}}}
spec:
  gatewayClassName: istio-waypoint
  listeners: [{{name: mesh, port: 15008, protocol: HBONE{listener}}}]
"""


def labelled(value: str) -> str:
    labels = f"labels: {{istio.io/use-waypoint: {value}}}"
    return service("web").replace("namespace: shop}", f"namespace: shop, {labels}}}")


@pytest.mark.parametrize(
    ("manifests", "why"),
    [
        ((namespace(", istio.io/use-waypoint: waypoint"), waypoint()), ""),
        ((namespace(", istio.io/use-waypoint: wapoint"), waypoint()), "there is no waypoint shop/wapoint"),
        ((namespace(", istio.io/use-waypoint: none"), waypoint()), ""),
        ((namespace(", istio.io/use-waypoint: '${NAME}'"), waypoint()), ""),
        ((namespace(", istio.io/use-waypoint: waypoint"), waypoint("istio.io/waypoint-for: workload")), ""),
        ((namespace(", istio.io/use-waypoint: waypoint"), waypoint("istio.io/waypoint-for: none")), "is not for"),
        ((namespace(", istio.io/use-waypoint: waypoint, istio.io/use-waypoint-namespace: infra"),
          waypoint(home="infra")), "does not let namespace shop in"),
        ((namespace(", istio.io/use-waypoint: waypoint, istio.io/use-waypoint-namespace: infra"),
          waypoint(home="infra", listener=", allowedRoutes: {namespaces: {from: All}}")), ""),
        ((namespace(), labelled("wapoint"), waypoint()), "there is no waypoint shop/wapoint"),
        ((namespace(), labelled("waypoint"), waypoint()), ""),
        ((namespace(), labelled("waypoint"), waypoint("istio.io/waypoint-for: workload")), "is not for services"),
        ((namespace(", istio.io/use-waypoint: waypoint"),), ""),  # no Gateway is here: another repository has them
    ],
)  # fmt: skip
def test_labels_for_waypoints(tmp_path: Path, manifests: tuple[str, ...], why: str) -> None:
    findings = [each for each in lint(tmp_path, workload("web"), *manifests) if each.rule == "GWP114"]
    assert all(why in each.label for each in findings)
    assert all((each.confidence == "assumed") == ("there is no" in why) for each in findings)
    assert len(findings) == bool(why)


AT_WAYPOINT = policy(
    "to: [{operation: {methods: [GET]}}]",
    "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: waypoint}]",
)


@pytest.mark.parametrize(
    ("manifests", "told_"),
    [
        ((namespace(), waypoint()), True),
        ((namespace(", istio.io/use-waypoint: wapoint"), waypoint()), True),
        ((namespace(", istio.io/use-waypoint: waypoint"), waypoint()), False),
        ((namespace(", istio.io/use-waypoint: '${NAME}'"), waypoint()), False),
        ((namespace(), labelled("waypoint"), waypoint()), False),
        ((waypoint(),), False),  # how the Namespace is labelled is not known
        ((namespace().replace("istio.io/dataplane-mode: ambient", "team: a"), waypoint()), False),
        ((namespace(), waypoint(listener=", allowedRoutes: {namespaces: {from: All}}")), False),
    ],
)
def test_policies_for_waypoints_of_nobody(tmp_path: Path, manifests: tuple[str, ...], told_: bool) -> None:
    services = () if any("kind: Service\n" in each for each in manifests) else (service("web"),)
    found = told(tmp_path, "GWP106", workload("web"), *services, *manifests, AT_WAYPOINT)
    assert len(found) == told_
