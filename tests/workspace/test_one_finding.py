"""One finding of several environments is told once, whatever it rests on in each."""

from __future__ import annotations

from pathlib import Path

from policylint.workspace import open_workspace
from tests.render.trees import KUSTOMIZATION, written

CLOSED = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed, namespace: shop}
spec: {podSelector: {}, policyTypes: [Egress]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: shop}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {serviceAccountName: operator, containers: [{name: operator, image: example.com/operator}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: operator, namespace: shop}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: operator, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects: [{kind: ServiceAccount, name: operator, namespace: shop}]
"""


def test_grounds_tell_no_findings_apart(tmp_path: Path) -> None:
    files = {"base/all.yaml": CLOSED, "base/kustomization.yaml": KUSTOMIZATION + "resources: [all.yaml]\n"}
    for name in ("one", "two"):
        files[f"{name}/kustomization.yaml"] = KUSTOMIZATION + f"resources: [../base, lacking-{name}.yaml]\n"
    workspace = open_workspace([str(written(tmp_path, files))])
    (found,) = (each for each in workspace.findings() if each.rule == "GWP623")
    assert found.environments == ("one", "two")
    assert "lacking-one.yaml" in found.ground
