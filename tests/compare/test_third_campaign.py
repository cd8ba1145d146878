"""What a third campaign of weakenings found told too mildly, or not at all; each with its way back: no loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from policylint.cli import main


def namespace(name: str, more: str = "") -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}{more}}}\n"


def app(name: str, home: str, labels: str = "", annotations: str = "") -> str:
    """Return a workload with its Service; the labels are the Service's, the annotations the pods'."""
    containers = "[{name: c, image: x, ports: [{name: http, containerPort: 8080}]}]"
    metadata = f"{{labels: {{app: {name}}}, annotations: {{{annotations}}}}}"
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {home}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template: {{metadata: {metadata}, spec: {{containers: {containers}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {home}, labels: {{{labels}}}}}
spec: {{selector: {{app: {name}}}, ports: [{{name: http, port: 8080}}]}}
"""


WAYPOINT = """apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gate, namespace: pay, labels: {istio.io/waypoint-for: all}}
spec: {gatewayClassName: istio-waypoint, listeners: [{name: mesh, port: 15008, protocol: HBONE}]}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default, namespace: istio-system}
spec: {mtls: {mode: STRICT}}
"""
READERS = """apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: readers, namespace: pay}
spec:
  targetRefs: [{group: "", kind: Service, name: cards}]
  rules: [{from: [{source: {principals: [cluster.local/ns/web/sa/front]}}], to: [{operation: {methods: [GET]}}]}]
"""
LINKERD = """apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: orders, namespace: shop}
spec: {podSelector: {matchLabels: {app: orders}}, port: http, proxyProtocol: HTTP/1}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: orders, namespace: shop}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: orders}
  requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: web}]
---
apiVersion: policy.linkerd.io/v1alpha1
kind: MeshTLSAuthentication
metadata: {name: web, namespace: shop}
spec: {identities: [IDENTITY]}
"""
KONG = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: admin, namespace: shop, annotations: {konghq.com/plugins: login}}
spec:
  ingressClassName: kong
  rules:
    - host: admin.example.com
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: admin, port: {number: 8080}}}}]}
---
apiVersion: configuration.konghq.com/v1
kind: KongPlugin
metadata: {name: login, namespace: shop}
plugin: key-auth
config: {key_names: [apikey]ANONYMOUS}
"""
EDGE = """apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: eg
  tls: {frontend: {default: {validation: {caCertificateRefs: [{group: "", kind: ConfigMap, name: ca}]}}}}
  listeners:
    - {name: http, port: 80, protocol: HTTP}
    - {name: https, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: cert}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ca, namespace: shop}
data: {ca.crt: "-----BEGIN CERTIFICATE-----\\nMIIB\\n-----END CERTIFICATE-----"}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: admin, namespace: shop}
spec:
  parentRefs: [{name: edgeSECTION}]
  hostnames: [admin.example.com]
  rules: [{backendRefs: [{name: admin, port: 8080}]}]
"""
AMBIENT = ", labels: {istio.io/dataplane-mode: ambient, istio.io/use-waypoint: gate}"
SENDER = "proxy.istio.io/config: '{gatewayTopology: {numTrustedProxies: %d}}'"
CALLERS = (
    "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a, namespace: shop}\nspec: {}\n"
)


TEXT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: proxy, namespace: shop}\ndata:\n  FILE: |\n"
FIRST_MATCH = ("- {domain: admin.example.com, policy: two_factor}", "- {domain: '*.example.com', policy: one_factor}")
CADDY = ("basic_auth {", "ops hash", "}", "@outside not remote_ip 10.0.0.0/8", "respond @outside 403")
NGINX = ("server {", "if ($remote_addr !~ ^10) { return 403; }", "proxy_pass http://admin;", "}")


def text(file: str, *lines: str) -> list[str]:
    return [TEXT.replace("FILE", file) + "".join(f"    {line}\n" for line in lines)]


def authelia(*rules: str) -> list[str]:
    return text("configuration.yml", "access_control:", "  rules:", *(f"    {rule}" for rule in rules))


def pay(labels: str = "", around: str = AMBIENT) -> list[str]:
    return [namespace("pay", around), app("cards", "pay", labels), app("mailer", "pay"), WAYPOINT, READERS]


def shop(*texts: str) -> list[str]:
    return [namespace("shop", ", annotations: {linkerd.io/inject: enabled}"), *texts]


def told(tmp_path: Path, before: list[str], after: list[str]) -> str:
    """Return the severities of what is new, by rule, and whether the gate stops the change."""
    for side, texts in (("before", before), ("after", after)):
        (tmp_path / side).mkdir(parents=True)
        (tmp_path / side / "all.yaml").write_text("---\n".join(texts), encoding="utf-8")
    sides = ["--rendered-before", str(tmp_path / "before"), "--rendered-after", str(tmp_path / "after")]
    said = CliRunner().invoke(main, ["diff", *sides, "--format", "concise"])
    assert said.exit_code in (0, 1), said.output
    return said.output


@pytest.mark.parametrize(
    ("before", "after", "finding"),
    [
        pytest.param(pay(), pay("istio.io/use-waypoint: none"), "error[GWP304]", id="a-service-leaves-its-waypoint"),
        pytest.param(
            shop(
                app("orders", "shop"),
                LINKERD.replace("IDENTITY", f"web.shop.{'serviceaccount.identity.linkerd.cluster.local'}"),
            ),
            shop(app("orders", "shop"), LINKERD.replace("IDENTITY", "'*'")),
            "error[GWP304]",
            id="what-a-policy-names-lets-everybody-in",
        ),
        pytest.param(
            [app("admin", "shop"), KONG.replace("ANONYMOUS", "")],
            [app("admin", "shop"), KONG.replace("ANONYMOUS", ", anonymous: guest")],
            "error[GWP304]",
            id="a-plugin-of-a-door-no-longer-insists",
        ),
        pytest.param(
            [app("admin", "shop"), EDGE.replace("SECTION", ", sectionName: https")],
            [app("admin", "shop"), EDGE.replace("SECTION", "")],
            "error[GWP302]",
            id="a-way-past-the-client-certificate",
        ),
        pytest.param(
            [app("gate", "shop", annotations=SENDER % 1), CALLERS],
            [app("gate", "shop", annotations=SENDER % 3), CALLERS],
            "warning[GWP325]",
            id="pods-believe-more-addresses",
        ),
    ],
)
def test_a_weakening(tmp_path: Path, before: list[str], after: list[str], finding: str) -> None:
    assert finding in told(tmp_path / "there", before, after)
    back = told(tmp_path / "back", after, before)
    assert "error[" not in back
    assert "warning[GWP3" not in back


def test_whoever_sends_it_on_has_an_identity(tmp_path: Path) -> None:
    """Nobody knows whether an account's pods are captured; the waypoint and they are let in by STRICT alike."""
    around = ", labels: {istio.io/dataplane-mode: ambient}"
    said = told(tmp_path, pay(), pay("istio.io/use-waypoint: gate", around))
    assert "error[" not in said


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(authelia(*FIRST_MATCH), authelia(*FIRST_MATCH[::-1]), id="another-rule-is-the-first"),
        pytest.param(text("Caddyfile", *CADDY), text("Caddyfile", *CADDY[:3]), id="refuses-without-the-word"),
        pytest.param(text("nginx.conf", *NGINX), text("nginx.conf", NGINX[0], *NGINX[2:]), id="answers-403-no-more"),
    ],
)
def test_a_text_in_which_nobody_is_turned_away_any_more_is_told(
    tmp_path: Path, before: list[str], after: list[str]
) -> None:
    assert "note[GWP304]" in told(tmp_path, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            text("proxy.cfg", 'email_domains = [ "example.com" ]'),
            text("proxy.cfg", 'email_domains = ["example.com"]'),
            id="spaces",
        ),
        pytest.param(
            authelia("- {domain: admin.example.com, policy: two_factor}"),
            authelia("- {policy: two_factor, domain: admin.example.com}"),
            id="keys-in-another-order",
        ),
    ],
)
def test_the_same_text_is_silent(tmp_path: Path, before: list[str], after: list[str]) -> None:
    assert "GWP304" not in told(tmp_path, before, after)
