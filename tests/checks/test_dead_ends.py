"""GWP412 and GWP413: listeners without a certificate, rules without a backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.topology.certificates import CERT_MANAGER
from policylint.workspace import open_workspace

CLASS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec: {controllerName: %s}
---
"""
GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop, annotations: {%s}}
spec:
  gatewayClassName: edge
  listeners: [{name: http, port: 80, protocol: HTTP}, {name: secure, port: 443, protocol: %s}]
---
"""
ENVOY = "gateway.envoyproxy.io/gatewayclass-controller"


def found(root: Path, text: str, rule: str) -> list[str]:
    (root / "all.yaml").write_text(text, encoding="utf-8")
    findings = open_workspace([str(root)]).findings()
    return [f"{each.severity} {each.confidence}" for each in findings if each.rule == rule]


@pytest.mark.parametrize(
    ("controller", "annotation", "protocol", "expected"),
    [
        (ENVOY, "", "HTTPS", ["error certain"]),
        (ENVOY, "", "TLS", ["error certain"]),
        ("istio.io/gateway-controller", "", "HTTPS", ["error certain"]),
        (ENVOY, "cert-manager.io/cluster-issuer: letsencrypt", "HTTPS", ["error certain"]),
        ("networking.gke.io/gateway", "networking.gke.io/certmap: edge", "HTTPS", []),
        ("konghq.com/kic-gateway-controller", "a: b", "HTTPS", []),  # its own certificate
        ("gateway.k8s.aws/alb", "", "HTTPS", []),
        ("application-networking.k8s.aws/gateway-api-controller", "", "HTTPS", []),
        ("gateway.example.com/controller", "", "HTTPS", ["note unknown"]),
        (ENVOY, "", "HTTP", []),
        (ENVOY, "", "TCP", []),
    ],
)
def test_a_listener_needs_a_certificate_of_its_own(
    controller: str, annotation: str, protocol: str, expected: list[str], tmp_path: Path
) -> None:
    assert found(tmp_path, CLASS % controller + GATEWAY % (annotation, protocol), "GWP412") == expected


ISSUED = "cert-manager.io/cluster-issuer: letsencrypt"
OF_SECRET = "tls: {certificateRefs: [{name: cert}]}"
HELD = "apiVersion: v1\nkind: Secret\nmetadata: {name: cert, namespace: shop}\ntype: kubernetes.io/tls\n"
WRITTEN = (
    "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: cert, namespace: shop}\n"
    "spec: {secretName: cert, dnsNames: [a.example.com], issuerRef: {name: x}}\n"
)


@pytest.mark.parametrize(
    ("annotation", "hostname", "beside", "expected"),
    [
        (ISSUED, "", "", ["warning assumed"]),
        (ISSUED, "hostname: a.example.com, ", "", []),
        (ISSUED, "", HELD, []),
        (ISSUED, "", WRITTEN, []),
        ("", "", "", []),
    ],
)
def test_cert_manager_takes_names_from_listeners(
    annotation: str, hostname: str, beside: str, expected: list[str], tmp_path: Path
) -> None:
    """pkg/controller/certificate-shim/sync.go, validateGatewayListenerBlock."""
    gateway = GATEWAY % (annotation, f"HTTPS, {hostname}{OF_SECRET}")
    assert found(tmp_path, CLASS % ENVOY + gateway + beside, "GWP412") == expected


WANTS = ISSUED, "hostname: a.example.com, "
SECURE = f"{{name: secure, port: 443, protocol: HTTPS, hostname: a.example.com, {OF_SECRET}}}"


def release(values: str, more: str = "") -> str:
    chart = "chart: {spec: {chart: cert-manager}}"
    return (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cm, namespace: cm}\n"
        f"spec: {{{chart}, {more}values: {{{values}}}}}\n"
    )


def by_argo(values: str, more: str = "") -> str:
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: cm, namespace: argocd}\n"
        f"spec: {{source: {{chart: cert-manager, helm: {{{more}valuesObject: {{{values}}}}}}}}}\n"
    )


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        (release("crds: {enabled: true}"), ["warning assumed"]),
        (by_argo("crds: {enabled: true}"), ["warning assumed"]),
        (release("config: {enableGatewayAPI: true}"), []),
        (release("extraArgs: [--enable-gateway-api]"), []),
        (release("extraArgs: [--feature-gates=ExperimentalGatewayAPISupport=true]"), []),
        (release("featureGates: ExperimentalGatewayAPISupport=true"), []),
        (release("crds: {enabled: true}", "valuesFrom: [{kind: ConfigMap, name: more}], "), []),
        (by_argo("crds: {enabled: true}", "valueFiles: [prod.yaml], "), []),
        (release("crds: {enabled: true}").replace("chart: cert-manager", "chart: trust-manager"), []),
    ],
)
def test_cert_manager_may_not_look_at_gateways(beside: str, expected: list[str], tmp_path: Path) -> None:
    """cert-manager.io, «Annotated Gateway resource»: `config.enableGatewayAPI`; before 1.15 a feature gate."""
    gateway = GATEWAY % (WANTS[0], f"HTTPS, {WANTS[1]}{OF_SECRET}")
    assert found(tmp_path, CLASS % ENVOY + gateway + beside, "GWP412") == expected


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (f"{ISSUED}, cert-manager.io/issuer: other", ["error certain"]),
        (f"{ISSUED}, cert-manager.io/issuer-kind: CASIssuer", ["error certain"]),
        ("cert-manager.io/issuer: mine, cert-manager.io/issuer-kind: CASIssuer", []),
    ],
)
def test_annotations_for_issuers_may_exclude_each_other(annotations: str, expected: list[str], tmp_path: Path) -> None:
    """pkg/controller/certificate-shim/sync.go, issuerForIngressLike."""
    gateway = GATEWAY % (annotations, f"HTTPS, {WANTS[1]}{OF_SECRET}")
    assert found(tmp_path, CLASS % ENVOY + gateway, "GWP412") == expected


HTTP_01, DNS_01 = "{http01: {gatewayHTTPRoute: {%s}}}", "{dns01: {route53: {}}}"


@pytest.mark.parametrize(
    ("solvers", "annotations", "listeners", "expected"),
    [
        (HTTP_01 % "", ISSUED, SECURE, ["warning assumed"]),
        (HTTP_01 % "", ISSUED, f"{{name: http, port: 80, protocol: HTTP}}, {SECURE}", []),
        (HTTP_01 % "parentRefs: [{name: other}]", ISSUED, SECURE, []),
        (HTTP_01 % "", f"{ISSUED}, acme.cert-manager.io/http01-parentrefname: other", SECURE, []),
        (f"{DNS_01}, {HTTP_01 % ''}", ISSUED, SECURE, []),
        ("{http01: {ingress: {}}}", ISSUED, SECURE, []),
    ],
)
def test_a_challenge_needs_a_listener_of_http(
    solvers: str, annotations: str, listeners: str, expected: list[str], tmp_path: Path
) -> None:
    """cert-manager.io, «HTTP-01: Gateway API»: the parent is what is annotated, or the solver.s."""
    gateway = GATEWAY.replace(
        "{name: http, port: 80, protocol: HTTP}, {name: secure, port: 443, protocol: %s}", listeners
    )
    issuer = (
        "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letsencrypt}\n"
        f"spec: {{acme: {{server: https://example.com, privateKeySecretRef: {{name: x}}, solvers: [{solvers}]}}}}\n"
    )
    assert found(tmp_path, CLASS % ENVOY + gateway % annotations + issuer, "GWP412") == expected


ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: %s
metadata: {name: checkout, namespace: shop}
spec:
  parentRefs: [%s]
  rules: [%s]
---
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {ports: [{port: 8080}]}
---
"""
TO_GATEWAY, TO_SERVICE = "{name: edge}", '{group: "", kind: Service, name: checkout}'
DIRECT = """\
apiVersion: gateway.kgateway.dev/v1alpha1
kind: TrafficPolicy
metadata: {name: closed, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: checkout}]
  directResponse: {status: 503}
"""


@pytest.mark.parametrize(
    ("kind", "parent", "rule", "expected"),
    [
        ("HTTPRoute", TO_GATEWAY, "{matches: [{path: {value: /a}}]}", 1),
        ("GRPCRoute", TO_GATEWAY, "{matches: [{method: {service: a}}]}", 1),
        ("HTTPRoute", TO_GATEWAY, "{filters: [{type: URLRewrite, urlRewrite: {hostname: a.example.com}}]}", 1),
        ("HTTPRoute", TO_GATEWAY, "{backendRefs: [{name: checkout, port: 8080, weight: 0}]}", 1),
        ("HTTPRoute", TO_GATEWAY, "{backendRefs: [{name: checkout, port: 8080}]}", 0),
        ("HTTPRoute", TO_GATEWAY, "{filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]}", 0),
        (
            "HTTPRoute",
            TO_GATEWAY,
            "{filters: [{type: ExtensionRef, extensionRef: {group: example.com, kind: Answer, name: a}}]}",
            0,
        ),
        ("HTTPRoute", TO_SERVICE, "{matches: [{path: {value: /a}}]}", 0),
        ("HTTPRoute", "{name: elsewhere, namespace: other}", "{matches: [{path: {value: /a}}]}", 0),
    ],
)
def test_a_rule_sends_requests_somewhere_or_answers_them(
    kind: str, parent: str, rule: str, expected: int, tmp_path: Path
) -> None:
    text = CLASS % ENVOY + GATEWAY % ("", "TCP") + ROUTE % (kind, parent, rule)
    assert found(tmp_path, text, "GWP413") == ["warning certain"] * expected


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("{matches: [{path: {value: /}}], %s}", "note"),
        ("{matches: [{path: {value: /shop}}], %s}", "note"),
        ("{matches: [{path: {value: /cart}}], %s}", "warning"),
        ("{matches: [{path: {value: /}, method: GET}], %s}", "warning"),
        ("{%s}", "warning"),
    ],
)
def test_paths_may_be_kept_from_a_backend(other: str, severity: str, tmp_path: Path) -> None:
    """A rule beside one that says which requests it takes, and that would take these, closes them; where the other one
    says nothing, a dash too many may have torn one rule in two."""
    rules = "{matches: [{path: {value: /shop/metrics}}]}, " + other % "backendRefs: [{name: checkout, port: 8080}]"
    text = CLASS % ENVOY + GATEWAY % ("", "TCP") + ROUTE % ("HTTPRoute", TO_GATEWAY, rules)
    assert found(tmp_path, text, "GWP413") == [f"{severity} certain"]


BACKED, IDLE = (f"backendRefs: [{{name: checkout, port: 8080{weight}}}]" for weight in ("", ", weight: 0"))
ONLY_A = "matches: [{path: {value: /a}}]"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (f"{{matches: [{{path: {{value: /a}}}}]}}, {{matches: [{{path: {{value: /a}}}}], {BACKED}}}", 0),
        (
            f"{{matches: [{{path: {{value: /a}}}}], {IDLE}}}, {{matches: [{{path: {{value: /a}}}}], {BACKED}}}",
            0,
        ),
        (f"{{matches: [{{path: {{value: /a}}}}]}}, {{matches: [{{path: {{value: /b}}}}], {BACKED}}}", 1),
        (
            f"{{matches: [{{path: {{value: /a}}}}, {{path: {{value: /c}}}}]}}, {{{ONLY_A}, {BACKED}}}",
            1,
        ),
    ],
)
def test_cilium_sends_what_names_no_backend_to_those_of_a_rule_with_the_same_match(
    rules: str, expected: int, tmp_path: Path
) -> None:
    """envoy_virtual_host.go, envoyHTTPRoutes: backends of all rules of one match are put together."""
    text = GATEWAY % ("", "TCP") + ROUTE % ("HTTPRoute", TO_GATEWAY, rules)
    assert len(found(tmp_path, CLASS % "io.cilium/gateway-controller" + text, "GWP413")) == expected
    assert len(found(tmp_path, CLASS % ENVOY + text, "GWP413")) == 1


@pytest.mark.parametrize(
    ("kind", "match", "of_nginx"),
    [
        ("HTTPRoute", "{path: {value: /a}}", 1),
        ("HTTPRoute", "{path: {value: /a}, method: TRACE}", 0),
        ("HTTPRoute", "{path: {value: '/a;'}}", 0),
        ("GRPCRoute", "{method: {service: a.B, method: C}}", 1),
        ("GRPCRoute", "{method: {service: a.B}}", 0),
    ],
)
def test_a_rule_of_which_nothing_is_made_answers_nothing(kind: str, match: str, of_nginx: int, tmp_path: Path) -> None:
    """Its requests are others', as GWP416 says: state/graph/httproute.go, validateMatch, of NGINX Gateway Fabric."""
    text = GATEWAY % ("", "TCP") + ROUTE % (kind, TO_GATEWAY, f"{{matches: [{match}]}}")
    of_class = CLASS % "gateway.nginx.org/nginx-gateway-controller"
    assert len(found(tmp_path, of_class + text, "GWP413")) == of_nginx
    assert len(found(tmp_path, of_class + text, "GWP416")) == 1 - of_nginx
    assert len(found(tmp_path, CLASS % ENVOY + text, "GWP413")) == 1


def test_a_policy_may_answer_in_place_of_a_backend(tmp_path: Path) -> None:
    text = CLASS % "kgateway.dev/kgateway" + GATEWAY % ("", "TCP") + ROUTE % ("HTTPRoute", TO_GATEWAY, "{matches: []}")
    assert found(tmp_path, text, "GWP413") == ["warning certain"]
    assert found(tmp_path, text + DIRECT, "GWP413") == []


OPENSHIFT_ROUTE = """\
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: web, namespace: shop}
spec: {host: web.example.com, to: {kind: Service, name: %s}}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {ports: [{port: 80}]}
---
"""


@pytest.mark.parametrize(
    ("service", "is_missing"),
    [("edge-edge", False), ("edge", False), ("cilium-gateway-edge", False), ("edge-other", True), ("web", True)],
)
def test_a_gateway_has_a_service_of_its_controller(service: str, is_missing: bool, tmp_path: Path) -> None:
    text = OPENSHIFT_ROUTE % service + GATEWAY % ("", "HTTP")
    assert bool(found(tmp_path, text, "GWP415")) == is_missing


INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {%s: letsencrypt}}
spec: {ingressClassName: nginx, defaultBackend: {service: {name: web, port: {number: 80}}}%s}
"""


@pytest.mark.parametrize("annotation", [*CERT_MANAGER, "kubernetes.io/tls-acme"])
@pytest.mark.parametrize(
    ("tls", "expected"),
    [
        ("", ["warning certain"]),
        (", tls: []", ["warning certain"]),
        (", tls: [{secretName: web}]", ["warning certain"]),
        (", tls: [{hosts: [shop.example.com]}]", ["warning certain"]),
        (", tls: [{hosts: [shop.example.com], secretName: web}]", []),
    ],
)
def test_cert_manager_takes_names_and_secret_from_an_ingress(
    annotation: str, tls: str, expected: list[str], tmp_path: Path
) -> None:
    assert found(tmp_path, INGRESS % (annotation, tls), "GWP412") == expected


def test_an_ingress_without_the_annotation_wants_no_certificate(tmp_path: Path) -> None:
    assert found(tmp_path, INGRESS % ("nginx.ingress.kubernetes.io/app-root", ""), "GWP412") == []


BESIDE = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: %s, namespace: shop, annotations: {%s}}
spec:
  ingressClassName: %s
  rules:
  - host: shop.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
  %s
---
"""


@pytest.mark.parametrize(
    ("of_class", "tls", "expected"),
    [
        ("nginx", "tls: [{hosts: [shop.example.com], secretName: web}]", []),
        ("nginx", "tls: [{hosts: ['*.example.com'], secretName: web}]", []),
        ("nginx", "tls: [{hosts: [api.example.com], secretName: web}]", ["warning certain"]),
        ("nginx", "tls: [{hosts: [shop.example.com]}]", ["warning certain", "warning certain"]),
        ("inside", "tls: [{hosts: [shop.example.com], secretName: web}]", ["warning certain"]),
    ],
)
def test_another_ingress_of_the_class_may_have_the_host_in_tls(
    of_class: str, tls: str, expected: list[str], tmp_path: Path
) -> None:
    """Several Ingresses of one host, of which one owns its certificate."""
    text = BESIDE % ("web", ISSUED, of_class, tls) + BESIDE % ("api", ISSUED, "nginx", "")
    assert found(tmp_path, text, "GWP412") == expected
