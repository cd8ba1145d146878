"""Policies of admission that go: what they rejected passes, and what only rewrites or makes others rejected nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare, removed_protections
from tests.compare.test_compare import sides
from tests.worlds import manifest, service

NETWORK = manifest("networking.k8s.io/v1", "NetworkPolicy", "all", "shop", "spec: {podSelector: {}}")
OTHER = [service("other"), NETWORK]


def policy(*rules: str, kind: str = "ClusterPolicy", version: str = "kyverno.io/v1") -> str:
    listed = ", ".join(f"{{name: r{number}, match: {{}}, {rule}}}" for number, rule in enumerate(rules))
    body = f"spec: {{rules: [{listed}]}}" if rules else "spec: {mutations: []}"
    return manifest(version, kind, "p", "", body)


SCALERS = "generate: {kind: VerticalPodAutoscaler, name: x, synchronize: true}"
NETWORKS = "generate: {kind: NetworkPolicy, name: x, synchronize: true}"
LABELS = "mutate: {patchStrategicMerge: {metadata: {labels: {a: b}}}}"
CHECKS = "validate: {message: no, pattern: {spec: {hostNetwork: false}}}"
PASSES, UNMADE = "what it rejected passes", "what it changed or made is as others left it"


@pytest.mark.parametrize(
    ("gone", "severity", "says"),
    [
        (policy(CHECKS), "warning", PASSES),
        (policy(CHECKS, SCALERS), "warning", PASSES),
        (policy(SCALERS), "note", UNMADE),
        (policy(LABELS), "note", UNMADE),
        (policy(LABELS, NETWORKS), "warning", UNMADE),
        (policy("verifyImages: []"), "warning", PASSES),
        (policy(kind="MutatingPolicy", version="policies.kyverno.io/v1"), "note", UNMADE),
        (policy(kind="ValidatingPolicy", version="policies.kyverno.io/v1"), "warning", PASSES),
        (policy(kind="MutatingAdmissionPolicy", version="admissionregistration.k8s.io/v1"), "note", UNMADE),
        (policy(kind="Assign", version="mutations.gatekeeper.sh/v1"), "note", UNMADE),
        (policy(kind="ModifySet", version="mutations.gatekeeper.sh/v1"), "note", UNMADE),
        (policy(kind="ClusterCleanupPolicy", version="kyverno.io/v2"), "note", UNMADE),
        (policy(kind="ValidatingAdmissionPolicy", version="admissionregistration.k8s.io/v1"), "warning", PASSES),
    ],
)
def test_what_is_said_of_a_policy_that_goes(tmp_path: Path, gone: str, severity: str, says: str) -> None:
    pair = sides(tmp_path, (*OTHER, gone), OTHER)
    (found,) = removed_protections([pair], compare([pair]), {"GWP304"})
    assert (found.severity, says in found.message) == (severity, True)


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("ModifySet", "mutations.gatekeeper.sh/v1"),
        ("K8sRequiredLabels", "constraints.gatekeeper.sh/v1beta1"),
        ("ValidatingPolicy", "policies.kyverno.io/v1"),
        ("ClusterCleanupPolicy", "kyverno.io/v2"),
    ],
)
def test_what_has_no_namespace_is_called_by_its_name(tmp_path: Path, kind: str, version: str) -> None:
    pair = sides(tmp_path, (*OTHER, policy(kind=kind, version=version)), OTHER)
    (found,) = removed_protections([pair], compare([pair]), {"GWP304"})
    assert found.message.startswith(f"{kind} p is less protected")


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("ClusterAdmissionPolicy", "policies.kubewarden.io/v1"),
        ("SecurityContextConstraints", "security.openshift.io/v1"),
        ("TrafficPermission", "kuma.io/v1alpha1"),
        ("IngressClassParams", "elbv2.k8s.aws/v1beta1"),
        ("ClusterGroup", "crd.antrea.io/v1beta1"),
    ],
)
def test_kinds_of_clusters_whose_crds_are_not_here_have_no_namespace(tmp_path: Path, kind: str, version: str) -> None:
    pair = sides(tmp_path, (*OTHER, policy(kind=kind, version=version)), OTHER)
    assert [key.path for key in pair[0].world.resources if key.kind == kind] == ["p"]
