"""The edits that rules about network policies offer: the Service's port, and a misspelt label of Cilium's."""

from __future__ import annotations

import difflib
from pathlib import Path

from click.testing import CliRunner

from policylint.cli import main

WORLD = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: shop}
spec:
  podSelector: {matchLabels: {app: web}}
  ingress:
    - ports:
        - port: 80   # the Service's
          protocol: TCP
---
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: web, namespace: shop}
spec:
  endpointSelector: {matchLabels: {app: web}}
  ingress:
    - fromEndpoints:
        - matchLabels:
            k8s:io.kubernetes.podNamespace: shop
        - matchExpressions: [{key: 'io.kubernetes.podNamespace', operator: In, values: [shop]}]
      toPorts:
        - ports: [{port: "80", protocol: TCP}]
---
apiVersion: policy.networking.k8s.io/v1alpha2
kind: ClusterNetworkPolicy
metadata: {name: web}
spec:
  tier: Admin
  priority: 1
  subject: {pods: {podSelector: {matchLabels: {app: web}}, namespaceSelector: {}}}
  ingress:
    - action: Accept
      from: [{namespaces: {}}]
      protocols: [{tcp: {destinationPort: {number: 80}}}]
---
apiVersion: policy.networking.k8s.io/v1alpha1
kind: AdminNetworkPolicy
metadata: {name: web}
spec:
  priority: 2
  subject: {pods: {podSelector: {matchLabels: {app: web}}, namespaceSelector: {}}}
  ingress:
    - action: Allow
      from: [{namespaces: {}}]
      ports: [{portNumber: {protocol: TCP, port: 80}}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: example.com/web:1, ports: [{name: http, containerPort: 8080}]}]
"""
CHANGED = [
    "-        - port: 80   # the Service's",
    "+        - port: 8080   # the Service's",
    "-            k8s:io.kubernetes.podNamespace: shop",
    '+            "k8s:io.kubernetes.pod.namespace": shop',
    "-        - matchExpressions: [{key: 'io.kubernetes.podNamespace', operator: In, values: [shop]}]",
    "+        - matchExpressions: [{key: 'io.kubernetes.pod.namespace', operator: In, values: [shop]}]",
    '-        - ports: [{port: "80", protocol: TCP}]',
    '+        - ports: [{port: "8080", protocol: TCP}]',
    "-      protocols: [{tcp: {destinationPort: {number: 80}}}]",
    "+      protocols: [{tcp: {destinationPort: {number: 8080}}}]",
    "-      ports: [{portNumber: {protocol: TCP, port: 80}}]",
    "+      ports: [{portNumber: {protocol: TCP, port: 8080}}]",
]


def test_every_other_byte_stays(tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    for ends in ("\n", "\r\n"):
        file.write_bytes(WORLD.replace("\n", ends).encode())
        CliRunner().invoke(main, ["lint", str(file), "--fix"])
        assert file.read_bytes() == WORLD.replace("\n", ends).encode(), "they change what is let through"
        CliRunner().invoke(main, ["lint", str(file), "--fix", "--unsafe-fixes"])
        fixed = file.read_bytes().decode()
        assert fixed.count("\r") == WORLD.replace("\n", ends).count("\r")
        lines = difflib.unified_diff(WORLD.splitlines(), fixed.splitlines(), lineterm="", n=0)
        changed = [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]
        assert sorted(changed) == sorted(CHANGED)


def test_a_port_that_others_share_stays(tmp_path: Path) -> None:
    file = tmp_path / "world.yaml"
    shared = WORLD.replace("port: 80   # the Service's", "port: &http 80").replace("number: 80}", "number: *http}")
    file.write_text(shared)
    CliRunner().invoke(main, ["lint", str(file), "--fix", "--unsafe-fixes"])
    assert "port: &http 80\n" in file.read_text()
    assert "number: *http}" in file.read_text()
