"""GWP625: ports of ambient pods that are opened, while the port of their tunnel is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.checks.test_tunnel_opens_all import AMBIENT, LINKERD, PODS, POLICY, SIDECARS, rule

OUTSIDE = PODS.replace("name: shop", "name: plain").replace("namespace: shop", "namespace: plain") % "labels: {}"
FROM_PLAIN = "from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: plain}}}]"
EVERYWHERE = "from: [{namespaceSelector: {}}]"
CLIENTS = "from: [{ipBlock: {cidr: 203.0.113.0/24}}]"
OUT = POLICY.replace("Ingress", "Egress").replace("ingress", "egress")
TO = "to: [{podSelector: {}}]"
BESIDE = """
---
apiVersion: v1
kind: Pod
metadata: {name: front, namespace: shop, labels: {app: front}}
spec: {containers: [{name: front, image: example.com/front:1}]}
---
"""
POLICY_OF_WEB = """
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: p, namespace: shop}
spec:
  podSelector: {matchExpressions: [{key: app, operator: NotIn, values: [front]}]}
  policyTypes: [Ingress]
  ingress: [%s]
---
"""
CHART = """
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: db, namespace: shop}
spec: {chart: {spec: {chart: db, sourceRef: {kind: HelmRepository, name: db}}}}
---
"""
CILIUM = """
---
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: c, namespace: shop}
spec: {endpointSelector: {}, %s}
"""


@pytest.mark.parametrize(
    ("around", "policies", "told"),
    [
        (AMBIENT, (POLICY % ("p", rule(8080)),), ["ingress[0]"]),
        (AMBIENT, (OUT % ("p", rule(8080, TO)),), ["egress[0]"]),
        (AMBIENT, (POLICY % ("p", f"{rule(8080)}, {rule(9090)}"),), ["ingress[0]", "ingress[1]"]),
        # the tunnel is open: in the rule, beside it, in another policy, by a rule for every port
        (AMBIENT, (POLICY % ("p", f"{rule(8080)}, {rule(15008)}"),), []),
        (AMBIENT, (POLICY % ("p", rule(8080)), POLICY % ("q", rule(15008))), []),
        (AMBIENT, (POLICY % ("p", "{from: [{podSelector: {}}], ports: [{port: 8080}, {port: 15008}]}"),), []),
        (AMBIENT, (POLICY % ("p", "{from: [{podSelector: {}}]}"),), []),
        # the other end keeps it out, which is not for this rule to say
        (AMBIENT, (POLICY % ("p", f"{rule(8080)}, {rule(15008)}"), OUT % ("q", "")), []),
        # others than pods of the mesh come in plainly
        (AMBIENT, (OUTSIDE, POLICY % ("p", rule(8080, FROM_PLAIN))), []),
        (AMBIENT, (OUTSIDE, POLICY % ("p", rule(8080, EVERYWHERE))), []),
        (AMBIENT, (POLICY % ("p", rule(8080, CLIENTS)),), []),
        (AMBIENT, (POLICY % ("p", "{ports: [{port: 8080}]}"),), []),
        # but a rule for everybody is for the pods of the mesh beside its own, too
        (AMBIENT, (BESIDE, POLICY_OF_WEB % "{ports: [{port: 8080}]}"), ["ingress[0]"]),
        (AMBIENT, (BESIDE, POLICY_OF_WEB % "{ports: [{port: 8080}]}, {ports: [{port: 15008}]}"), []),
        (AMBIENT, (BESIDE, POLICY_OF_WEB % "{ports: [{port: 8080}, {port: 15008}]}"), []),
        (SIDECARS, (BESIDE, POLICY_OF_WEB % "{ports: [{port: 8080}]}"), []),
        (AMBIENT, (OUT % ("p", rule(8080, CLIENTS.replace("from", "to"))),), []),
        (AMBIENT, (CILIUM % "ingress: [{fromCIDR: [203.0.113.0/24], toPorts: [{ports: [{port: '8080'}]}]}]",), []),
        (AMBIENT, (CILIUM % "egress: [{toEntities: [kube-apiserver], toPorts: [{ports: [{port: '443'}]}]}]",), []),
        (AMBIENT, (CILIUM % "egress: [{toEntities: [world], toPorts: [{ports: [{port: '443'}]}]}]",), []),
        # pods that were not seen may be kept out of the mesh by a label of their own
        (AMBIENT, (CHART, POLICY % ("p", rule(8080))), []),
        # no tunnel, or one of which it is not known whether it is there
        (SIDECARS, (POLICY % ("p", rule(8080)),), []),
        (LINKERD, (POLICY % ("p", rule(8080)),), []),
        ("labels: {}", (POLICY % ("p", rule(8080)),), []),
    ],
)
def test_rules_inside_a_tunnel(tmp_path: Path, around: str, policies: tuple[str, ...], told: list[str]) -> None:
    (tmp_path / "all.yaml").write_text(PODS % around + "".join(policies))
    reported = list(open_workspace([str(tmp_path)]).findings())
    found = [each for each in reported if each.rule == "GWP625"]
    assert [each.message.partition(" with ")[2].partition(":")[0] for each in found] == told
    assert all(each.confidence == "certain" for each in found)
    assert "GWP910" not in {each.rule for each in reported}, "stopped by an error"
