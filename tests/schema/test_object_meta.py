"""Metadata that no API server takes, of whatever kind: such objects are refused, and take part in nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.checks import run
from policylint.simulation import Simulation
from tests.worlds import opened, simulated

SPECS = {
    ("cilium.io/v2", "CiliumNetworkPolicy"): "spec: {endpointSelector: {}}",
    ("projectcalico.org/v3", "NetworkPolicy"): "spec: {selector: all()}",
    ("networking.k8s.io/v1", "NetworkPolicy"): "spec: {podSelector: {}}",
    ("security.istio.io/v1", "AuthorizationPolicy"): "spec: {}",
    ("policy.linkerd.io/v1beta3", "Server"): "spec: {podSelector: {}, port: 80}",
    ("k8s.nginx.org/v1", "VirtualServer"): "spec: {host: a.example.com}",
    ("traefik.io/v1alpha1", "Middleware"): "spec: {}",
    ("configuration.konghq.com/v1", "KongPlugin"): "plugin: key-auth",
    ("networking.k8s.io/v1", "Ingress"): "spec: {}",
    ("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy"): "spec: {targetRefs: []}",
    ("apps/v1", "Deployment"): "spec: {}",
    ("v1", "Service"): "spec: {ports: [{port: 80}]}",
    ("projectcontour.io/v1", "HTTPProxy"): "spec: {}",
}
REFUSED = {
    "name: n": "metadata.name",
    "name: 1.5": "metadata.name",
    "name: null, generateName: 7": "metadata.generateName",
    "name: Upper": "metadata.name",
    "name: a, namespace: on": "metadata.namespace",
    "name: a, namespace: Shop": "metadata.namespace",
    "name: a, namespace: a.b": "metadata.namespace",
    "name: a, labels: []": "metadata.labels",
    "name: a, labels: {app: 1}": "metadata.labels.app",
    "name: a, labels: {app: {}}": "metadata.labels.app",
    "name: a, labels: {app: 'a b'}": "metadata.labels.app",
    f"name: a, labels: {{app: {'a' * 64}}}": "metadata.labels.app",
    "name: a, labels: {a/b/c: x}": "metadata.labels.a/b/c",
    "name: a, annotations: {a: true}": "metadata.annotations.a",
    "name: a, annotations: {'a b': x}": "metadata.annotations.a b",
    "name: a, finalizers: x": "metadata.finalizers",
    "name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p}]": "metadata.ownerReferences[0].uid",
    "name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: 1}]": "metadata.ownerReferences[0].uid",
    "name: a, creationTimestamp: 5": "metadata.creationTimestamp",
    "name: a, generation: one": "metadata.generation",
}
TAKEN = (
    "name: 'n'",
    "name: a, labels: {app: '1', b: '', c: null, example.com/d_e: A.b_c}",
    f"name: a, labels: {{app: {'a' * 63}}}",
    "name: a, labels: null, annotations: {a: 'any thing: at all', B/C: x}",
    "name: a, labels: {app: '${APP NAME}', '{{ .Key }}': x}",
    "name: a, namespace: ${NAMESPACE}",
    "name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u}], finalizers: [example.com/a]",
    "name: 2024-01-01",
)


def of_kind(tmp_path: Path, kind: tuple[str, str], metadata: str) -> Simulation:
    more = "" if "namespace:" in metadata else ", namespace: shop"
    written = f"apiVersion: {kind[0]}\nkind: {kind[1]}\nmetadata: {{{metadata}{more}}}\n{SPECS[kind]}\n"
    return opened(tmp_path, written)


@pytest.mark.parametrize("kind", SPECS, ids=lambda kind: kind[1])
def test_what_is_no_metadata_is_refused_of_each_kind(kind: tuple[str, str], tmp_path: Path) -> None:
    for metadata, field in REFUSED.items():
        simulation = of_kind(tmp_path, kind, metadata)
        (key,) = simulation.refused
        assert key.kind == kind[1], metadata
        assert field in {each.field for each in run(simulation) if each.severity == "error"}, metadata
        assert key not in simulation.topology.world.resources, metadata


@pytest.mark.parametrize("kind", SPECS, ids=lambda kind: kind[1])
def test_what_is_metadata_is_taken(kind: tuple[str, str], tmp_path: Path) -> None:
    for metadata in TAKEN:
        simulation = of_kind(tmp_path, kind, metadata)
        refused = {key: each.because for key, each in simulation.refused.items() if "metadata" in each.because}
        assert refused == {}, metadata


def test_roles_have_names_that_are_segments_of_paths() -> None:
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: %s, namespace: a}\nrules: []\n"
    assert not simulated(role % "system:Leader").refused
    assert simulated(role % "on").refused


def test_flux_loses_labels_rather_than_objects(tmp_path: Path) -> None:
    """Its client takes all labels for none where one is no text, and adds its own two."""
    policy = (
        "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: a, namespace: b, labels: {c: %s}}\n"
        "spec: {endpointSelector: {}}\n"
    )
    flux = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\n"
        "spec: {path: ./elsewhere, sourceRef: {kind: GitRepository, name: a}}\n"
    )
    assert opened(tmp_path, policy % "1").refused
    beside = opened(tmp_path, policy % "1", flux)
    assert not beside.refused
    assert [each.severity for each in run(beside) if each.rule == "GWP505"] == ["warning"]
    assert opened(tmp_path, policy % "'a b'", flux).refused, "it is a text, and comes to the API server"


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        ("v1 ConfigMap", "data: {port: 8080}", "data.port"),
        ("v1 Secret", "stringData: {on: true}", "stringData.true"),
        ("v1 Service", "spec: {selector: {app: 1}, ports: [{port: 80}]}", "spec.selector.app"),
        ("v1 Pod", "spec: {containers: [{name: a, env: [{name: A, value: 1}]}]}", "spec.containers[0].env[0].value"),
        (
            "apps/v1 Deployment",
            "spec: {template: {metadata: {annotations: {scrape: true}}}}",
            "spec.template.metadata.annotations.scrape",
        ),
        ("apps/v1 StatefulSet", "spec: {template: {spec: {containers: [{args: [1]}]}}}", "containers[0].args[0]"),
        (
            "batch/v1 CronJob",
            "spec: {jobTemplate: {spec: {template: {metadata: {labels: {a: 1}}}}}}",
            "spec.jobTemplate.spec.template.metadata.labels.a",
        ),
        ("networking.k8s.io/v1 NetworkPolicy", "spec: []", "spec"),
        ("networking.k8s.io/v1 NetworkPolicy", "spec: {podSelector: {matchLabels: {a: 1}}}", "podSelector"),
        ("networking.k8s.io/v1 Ingress", "spec: [{}]", "spec"),
    ],
)
def test_fields_of_kinds_of_kubernetes_have_types(kind: str, body: str, field: str) -> None:
    version, name = kind.split()
    simulation = simulated(f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\n{body}\n")
    (key,) = simulation.refused
    assert key.kind == name
    assert [each for each in run(simulation) if each.severity == "error" and field in each.field] != []
