"""GWP415 and GWP313 at Istio: what `istioctl analyze` calls IST0101, IST0104, IST0113 and IST0132, from its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint

GATEWAY = """
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {{name: edge, namespace: infra}}
spec:
  selector: {{istio: ingress}}
  servers: [{{port: {{number: {port}, name: web, protocol: HTTP}}, hosts: [{hosts}]}}]
"""
PROXIES = """
apiVersion: v1
kind: Service
metadata: {name: ingress, namespace: infra}
spec:
  selector: {istio: ingress}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: tls, port: 443, targetPort: https}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress, namespace: infra}
spec:
  selector: {matchLabels: {istio: ingress}}
  template:
    metadata: {labels: {istio: ingress}, annotations: {inject.istio.io/templates: gateway}}
    spec: {containers: [{name: istio-proxy, image: auto, ports: [{name: https, containerPort: 8443}]}]}
"""
SHOP = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:1, ports: [{containerPort: 8080}]}]}
"""
STRICT = """
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: strict, namespace: shop}
spec: {mtls: {mode: STRICT}}
"""


def virtual(hosts: str, gateways: str = "infra/edge") -> str:
    return f"""
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: web, namespace: shop}}
spec: {{hosts: [{hosts}], gateways: [{gateways}], http: [{{route: [{{destination: {{host: web}}}}]}}]}}
"""


def rule(host: str, policy: str, namespace: str = "shop") -> str:
    return f"""
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: web, namespace: {namespace}}}
spec: {{host: {host}, trafficPolicy: {{{policy}}}}}
"""


def told(directory: Path, *manifests: str) -> list[tuple[str, str, str]]:
    found = lint(directory, *manifests)
    return [(each.rule, each.severity, each.message) for each in found if each.rule in ("GWP415", "GWP313")]


@pytest.mark.parametrize(
    ("offered", "hosts", "severity"),
    [
        ("shop.example.com", "shop.example.com", None),
        ("'*'", "shop.example.com", None),
        ("'*.example.com'", "shop.example.com", None),
        ("shop.example.com", "'*.example.com'", None),
        ("shop/shop.example.com", "shop.example.com", None),
        ("'*/shop.example.com'", "shop.example.com", None),
        ("'${HOST}'", "shop.example.com", None),
        ("shop.example.com", "'${HOST}'", None),
        ("shop.example.com", "other.example.com", "error"),
        ("'*.example.com'", "example.com", "error"),
        ("infra/shop.example.com", "shop.example.com", "error"),
        ("./shop.example.com", "shop.example.com", "error"),
        ("shop.example.com", "shop.example.com, other.example.com", "warning"),
    ],
)
def test_hosts_that_no_server_takes(tmp_path: Path, offered: str, hosts: str, severity: str | None) -> None:
    found = told(tmp_path, GATEWAY.format(port=80, hosts=offered), SHOP, virtual(hosts))
    assert [each[1] for each in found] == ([] if severity is None else [severity])
    if severity is not None:
        assert "which no server of Gateway infra/edge takes" in found[0][2]


@pytest.mark.parametrize("gateways", ["infra/edge, mesh", "infra/edge, infra/other", "'${GATEWAY}'", "mesh"])
def test_hosts_that_others_may_take(tmp_path: Path, gateways: str) -> None:
    found = told(tmp_path, GATEWAY.format(port=80, hosts="shop.example.com"), SHOP, virtual("web", gateways))
    assert not [each for each in found if "which no server" in each[2]]


@pytest.mark.parametrize(("port", "reached"), [(80, True), (8080, True), (8443, True), (9090, False), (8081, False)])
def test_ports_that_no_service_leads_to(tmp_path: Path, port: int, reached: bool) -> None:
    found = told(tmp_path, GATEWAY.format(port=port, hosts="'*'"), PROXIES)
    assert (found == []) is reached
    on_nodes = PROXIES.replace("spec: {containers: [{", "spec: {hostNetwork: true, containers: [{")
    assert told(tmp_path, GATEWAY.format(port=port, hosts="'*'"), on_nodes) == []
    assert told(tmp_path, GATEWAY.format(port=port, hosts="'*'")) == [], "whose pods were not seen"


@pytest.mark.parametrize(
    ("host", "lost"),
    [
        ("web", False),
        ("web.shop.svc.cluster.local", False),
        ("wbe", True),
        ("wbe.shop.svc.cluster.local", True),
        ("web.store.svc.cluster.local", True),
        ("api.example.com", False),
        ("'*.shop.svc.cluster.local'", False),
        ("'${HOST}'", False),
    ],
)
def test_rules_for_services_that_are_not_there(tmp_path: Path, host: str, lost: bool) -> None:
    found = told(tmp_path, SHOP, rule(host, "loadBalancer: {simple: RANDOM}"))
    assert [each[1] for each in found] == (["warning"] if lost else [])


@pytest.mark.parametrize(
    ("policy", "turned_away"),
    [
        ("tls: {mode: DISABLE}", True),
        ("tls: {mode: SIMPLE}", True),
        ("portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]", True),
        ("portLevelSettings: [{port: {number: 81}, tls: {mode: DISABLE}}]", False),
        ("tls: {mode: ISTIO_MUTUAL}", False),
        ("loadBalancer: {simple: RANDOM}", False),
    ],
)
def test_pods_that_show_no_certificate_to_those_that_want_one(tmp_path: Path, policy: str, turned_away: bool) -> None:
    found = [each for each in told(tmp_path, SHOP, STRICT, rule("web", policy)) if each[0] == "GWP313"]
    assert bool(found) is turned_away
    if found:
        assert "pods of the mesh in namespace shop send to Service shop/web, because of DestinationRule" in found[0][2]
    permissive = STRICT.replace("STRICT", "PERMISSIVE")
    assert "GWP313" not in [each[0] for each in told(tmp_path, SHOP, permissive, rule("web", policy))]
