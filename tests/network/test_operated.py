"""Pods that operators make of custom resources: no policy of their namespace selects nothing for certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

WORLD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: grafana, namespace: monitoring}
spec:
  selector: {matchLabels: {app: grafana}}
  template:
    metadata: {labels: {app: grafana}}
    spec: {containers: [{name: grafana, image: example.com/grafana:1}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: metrics, namespace: monitoring}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/name: prometheus}}
  ingress: [{from: [{podSelector: {matchLabels: {app.kubernetes.io/name: alertmanager}}}]}]
---
"""
CUSTOM = "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: k8s, namespace: {namespace}}}\nspec: {{}}\n"


def rules(root: Path, custom: str) -> list[str]:
    (root / "all.yaml").write_text(WORLD + custom, encoding="utf-8")
    return [finding.rule for finding in open_workspace([str(root)]).findings() if finding.confidence != "unknown"]


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("monitoring.coreos.com/v1", "Prometheus"),
        ("monitoring.coreos.com/v1alpha1", "PrometheusAgent"),
        ("monitoring.coreos.com/v1", "ThanosRuler"),
        ("postgresql.cnpg.io/v1", "Cluster"),
        ("tekton.dev/v1", "PipelineRun"),
    ],
)
def test_what_makes_pods_may_make_those_that_are_meant(version: str, kind: str, tmp_path: Path) -> None:
    assert rules(tmp_path, CUSTOM.format(version=version, kind=kind, namespace="monitoring")) == []


@pytest.mark.parametrize(
    "custom",
    [
        "",
        CUSTOM.format(version="monitoring.coreos.com/v1", kind="Prometheus", namespace="other"),
        CUSTOM.format(version="monitoring.coreos.com/v1", kind="ServiceMonitor", namespace="monitoring"),
    ],
    ids=["none", "in another namespace", "one of which no pods are made"],
)
def test_nothing_else_does(custom: str, tmp_path: Path) -> None:
    assert rules(tmp_path, custom) == ["GWP601", "GWP607"]


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("acme.cert-manager.io/http01-solver", False),
        ("tekton.dev/pipelineRun", False),
        ("app.kubernetes.io/name", True),
        ("solver", True),
    ],
)
def test_who_owns_a_prefix_puts_it_on_the_pods_that_it_makes(label: str, told: bool, tmp_path: Path) -> None:
    """cert-manager, pkg/issuer/acme/http/pod.go, podLabels: pods that answer a challenge, for as long as it lasts."""
    policy = f"""
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: solver, namespace: shop}}
spec: {{podSelector: {{matchLabels: {{{label}: "true"}}}}, ingress: [{{}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: other, namespace: shop}}
spec: {{template: {{metadata: {{labels: {{app: other}}}}, spec: {{containers: [{{name: c, image: c}}]}}}}}}
"""
    (tmp_path / "all.yaml").write_text(policy, encoding="utf-8")
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP601"]
    assert bool(found) is told


ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: runner, namespace: {namespace}}}
rules: [{{apiGroups: ["{group}"], resources: [{resource}], verbs: [{verb}]}}]
"""


@pytest.mark.parametrize(
    ("group", "resource", "verb"),
    [("", "pods", "create"), ("batch", "jobs", "create"), ("apps", "deployments", '"*"'), ("*", '"*"', '"*"')],
)
def test_a_program_that_may_create_pods_may_make_those_that_are_meant(
    tmp_path: Path, group: str, resource: str, verb: str
) -> None:
    role = ROLE.format(namespace="monitoring", group=group, resource=resource, verb=verb)
    assert rules(tmp_path, role) == []


@pytest.mark.parametrize(
    ("namespace", "group", "resource", "verb"),
    [
        ("monitoring", "", "pods", "list"),
        ("monitoring", "", "pods/exec", "create"),
        ("monitoring", "", "configmaps", "create"),
        ("other", "", "pods", "create"),
    ],
)
def test_a_program_that_may_not_create_pods_there_does_not(
    tmp_path: Path, namespace: str, group: str, resource: str, verb: str
) -> None:
    role = ROLE.format(namespace=namespace, group=group, resource=resource, verb=verb)
    assert rules(tmp_path, role) == ["GWP601", "GWP607"]


def test_a_label_that_is_to_name_the_namespace_does_not(tmp_path: Path) -> None:
    """kubernetes/kubernetes#47797: selectors see labels, and of names only `kubernetes.io/metadata.name`."""
    names = {
        "name: shop": ["GWP607"],
        "example.com/namespace: shop": ["GWP607"],
        "team: shop": [],
        "name: elsewhere": [],
        "kubernetes.io/metadata.name: shop": [],
    }
    for number, (label, found) in enumerate(names.items()):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "all.yaml").write_text(NAMED % label)
        said = open_workspace([str(tmp_path / str(number))]).findings()
        assert [each.rule for each in said] == found, label
        assert [each.help for each in said] == [
            ("fix: select Namespace shop by its label kubernetes.io/metadata.name",)
        ] * len(found)


NAMED = """
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, namespace: data}
spec:
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: example.com/db:1}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: in, namespace: data}
spec:
  podSelector: {matchLabels: {app: db}}
  ingress: [{from: [{namespaceSelector: {matchLabels: {%s}}}]}]
"""
