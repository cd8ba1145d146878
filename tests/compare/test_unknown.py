"""The third answer of `diff`: what was not seen may change, and nothing is said to stay as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from policylint.compare import compare, pair_sides
from policylint.compare.change import EnvironmentChange
from policylint.workspace import open_workspace

WORLD = """
apiVersion: v1
kind: Service
metadata: {name: app, namespace: shop}
spec: {selector: {app: app}, ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: eg, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: app, namespace: shop}
spec: {parentRefs: [{name: edge}], rules: [{backendRefs: [{name: app, port: 80}]}]}
"""
ROOT = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}, prune: true, interval: 1h}
"""
POLICY = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: login, namespace: ingress}
spec:
  selector: {matchLabels: {app: proxy}}
  action: ALLOW
  rules: [{from: [{source: {requestPrincipals: ["*"]}}]}]
"""
EVERYBODY = POLICY.replace('from: [{source: {requestPrincipals: ["*"]}}]', 'to: [{operation: {paths: ["/*"]}}]')


def changed(tmp_path: Path, before: Mapping[str, str], after: Mapping[str, str]) -> EnvironmentChange:
    """Return what changes in the one environment of a tree."""
    simulations = []
    for name, files in (("before", before), ("after", after)):
        for file, content in files.items():
            place = tmp_path / name / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8")
        simulations.append(open_workspace([str(tmp_path / name)]).simulations)
    (found,) = compare(pair_sides(*simulations))
    return found


def unknown(found: EnvironmentChange) -> dict[str, str]:
    return {str(subject.key): subject.reason for subject in found.subjects if subject.change == "unknown"}


@pytest.mark.parametrize(("after", "told"), [(POLICY, False), (POLICY.replace('"*"', "'*'"), False), (EVERYBODY, True)])
def test_a_policy_whose_pods_were_not_seen(after: str, told: bool, tmp_path: Path) -> None:
    found = changed(tmp_path, {"a.yaml": f"{WORLD}---{POLICY}"}, {"a.yaml": f"{WORLD}---{after}"})
    said = unknown(found)
    assert list(said) == (["AuthorizationPolicy ingress/login"] if told else [])
    assert all(reason.startswith("what it selects was not seen: no workload") for reason in said.values())
    assert found.requests is not None and found.requests.same is not told


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"old/policy.yaml": POLICY}, ""),
        ({"old/policy.yaml": EVERYBODY}, "changes, and nothing here deploys"),
        ({}, "goes, and nothing here deploys"),
        ({"apps/policy.yaml": POLICY}, ""),  # deployed now: a change like others
        ({"old/policy.yaml": POLICY, "old/more.yaml": POLICY.replace("login", "other")}, ""),
    ],
)
def test_a_policy_that_nothing_here_deploys(after: dict[str, str], told: str, tmp_path: Path) -> None:
    deployed = {"clusters/prod/apps.yaml": ROOT, "apps/world.yaml": WORLD}
    found = changed(tmp_path, {**deployed, "old/policy.yaml": POLICY}, {**deployed, **after})
    said = [reason for key, reason in unknown(found).items() if reason.startswith(("changes", "goes"))]
    assert (len(said), all(reason.startswith(told) for reason in said)) == (1 if told else 0, True)
    if told:
        assert found.requests is not None and not found.requests.same


MTLS = """
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default, namespace: shop}
spec: {mtls: {mode: STRICT}}
"""
HOME = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {istio-injection: enabled}}
"""
PODS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {containers: [{name: app, image: example.com/app:1}]}
"""


@pytest.mark.parametrize(
    ("pods", "after", "told"),
    [
        ("", MTLS.replace("STRICT", "PERMISSIVE"), ["Namespace shop"]),
        ("", "", ["Namespace shop"]),
        ("", MTLS.replace("{mode: STRICT}", "{'mode': STRICT}"), []),
        (PODS, MTLS.replace("STRICT", "PERMISSIVE"), []),
    ],
    ids=["weaker", "gone", "written otherwise", "its pods are seen"],
)
def test_a_policy_of_a_namespace_whose_pods_were_not_seen(
    pods: str, after: str, told: list[str], tmp_path: Path
) -> None:
    base = f"{HOME}---{pods}" if pods else HOME
    found = changed(tmp_path, {"a.yaml": f"{base}---{MTLS}"}, {"a.yaml": f"{base}---{after}" if after else base})
    assert list(unknown(found)) == told


@pytest.mark.parametrize(
    ("pods", "labels", "told"),
    [
        ("", "{}", ["Namespace shop"]),
        ("", "{istio-injection: enabled, pod-security.kubernetes.io/enforce: restricted}", []),
        (PODS, "{}", []),
    ],
    ids=["it leaves the mesh", "what no mesh reads", "its pods are seen"],
)
def test_labels_of_a_namespace_whose_pods_were_not_seen(
    pods: str, labels: str, told: list[str], tmp_path: Path
) -> None:
    rest = f"{pods}---{MTLS}" if pods else MTLS
    after = HOME.replace("{istio-injection: enabled}", labels)
    found = changed(tmp_path, {"a.yaml": f"{HOME}---{rest}"}, {"a.yaml": f"{after}---{rest}"})
    assert list(unknown(found)) == told
