"""GWP604 in front of the proxies: the port of a listener that network policies do not open to clients.

Envoy Gateway has its proxies listen on 10000 more where a port is below 1024, and else on the port itself.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

WORLD = """
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {{name: eg}}
spec: {{controllerName: gateway.envoyproxy.io/gatewayclass-controller}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: infra}}
spec:
  gatewayClassName: eg
  listeners: [{{name: http, port: {port}, protocol: HTTP, allowedRoutes: {{namespaces: {{from: All}}}}}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: shop, namespace: shop}}
spec:
  parentRefs: [{{name: edge, namespace: infra}}]
  rules: [{{backendRefs: [{{name: shop, port: 80}}]}}]
---
apiVersion: v1
kind: Service
metadata: {{name: shop, namespace: shop}}
spec: {{selector: {{app: shop}}, ports: [{{port: 80}}]}}
"""
POLICY = """---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: proxies, namespace: {namespace}}}
spec:
  podSelector: {{}}
  policyTypes: [Ingress]
  ingress: [{{{peers}ports: [{{port: {opened}}}]}}]
"""


@pytest.mark.parametrize(
    ("port", "opened", "peers", "is_closed"),
    [
        (80, 10080, "", False),
        (80, 80, "", True),
        (4190, 4190, "", False),
        (4190, 14190, "", True),
        (80, 10080, "from: [{namespaceSelector: {}}], ", False),
        (80, 10080, "from: [{ipBlock: {cidr: 10.0.0.0/8}}], ", False),
    ],
)
def test_a_listener_is_closed(tmp_path: Path, port: int, opened: int, peers: str, *, is_closed: bool) -> None:
    """Who comes through a load balancer may show the address of a node: a rule for some is not taken for none."""
    places = ("envoy-gateway-system", "infra")  # where the proxies may run
    policies = [POLICY.format(opened=opened, peers=peers, namespace=namespace) for namespace in places]
    (tmp_path / "all.yaml").write_text(WORLD.format(port=port) + "".join(policies))
    found = [finding for finding in open_workspace([str(tmp_path / "all.yaml")]).findings() if finding.rule == "GWP604"]
    assert [(finding.severity, finding.location.file.rpartition("/")[2]) for finding in found] == (
        [("error", "all.yaml")] if is_closed else []
    )
    if is_closed:
        assert found[0].message == (
            f"NetworkPolicy envoy-gateway-system/proxies blocks clients from port {port} of Gateway infra/edge: "
            "every connection for HTTPRoute shop/shop fails"
        )
