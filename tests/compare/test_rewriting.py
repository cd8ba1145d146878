"""A new object that rewrites or deletes what others apply is told: what stands in the tree is not what comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.repositories import diff
from tests.compare.test_out_of_sight import CLASS, LOGIN, ROUTE

TREE = {"gateway.yaml": CLASS, "route.yaml": ROUTE, "login.yaml": LOGIN}
KYVERNO = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: relax}
spec:
  rules:
  - name: relax
    match: {any: [{resources: {kinds: [KINDS]}}]}
    RULE
"""
MUTATE = "mutate: {patchStrategicMerge: {spec: {jwt: null}}}"
VALIDATE = "validate: {message: no, pattern: {spec: {jwt: '?*'}}}"
ADMISSION = """
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: relax}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [gateway.envoyproxy.io], apiVersions: ['*'], operations: [CREATE], resources: [PLURAL]}]
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[]'}}]
"""
CLEANUP = """
apiVersion: kyverno.io/v2
kind: ClusterCleanupPolicy
metadata: {name: relax}
spec: {schedule: '* * * * *', match: {any: [{resources: {kinds: [SecurityPolicy]}}]}}
"""
ASSIGN = """
apiVersion: mutations.gatekeeper.sh/v1
kind: Assign
metadata: {name: relax}
spec:
  applyTo: [{groups: [gateway.envoyproxy.io], kinds: [SecurityPolicy], versions: [v1alpha1]}]
  location: spec.jwt
"""
TOLD = "GWP304] "


@pytest.mark.parametrize(
    ("new", "severity"),
    [
        (KYVERNO.replace("KINDS", "SecurityPolicy").replace("RULE", MUTATE), "warning"),
        (KYVERNO.replace("KINDS", "gateway.envoyproxy.io/v1alpha1/SecurityPolicy").replace("RULE", MUTATE), "warning"),
        (KYVERNO.replace("KINDS", "Pod").replace("RULE", MUTATE), "note"),
        (KYVERNO.replace("KINDS", "SecurityPolicy").replace("RULE", VALIDATE), ""),
        (ADMISSION.replace("PLURAL", "securitypolicies"), "warning"),
        (ADMISSION.replace("PLURAL", "httproutes"), "warning"),
        (ADMISSION.replace("PLURAL", "configmaps"), "note"),
        (CLEANUP, "warning"),
        (ASSIGN, "warning"),
    ],
)
def test_what_rewrites_others_is_told(tmp_path: Path, new: str, severity: str) -> None:
    said = diff(tmp_path, TREE, {"relax.yaml": new})
    told = [line for line in said.splitlines() if TOLD in line and "relax" in line]
    assert [f"{severity}[" in line for line in told] == [True] * bool(severity), said
    assert not severity or "as before" not in said
