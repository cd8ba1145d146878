"""What a controller does not read: values of another namespace (Flux), plugins without a class (Kong).

Predicted from fluxcd/pkg (references of values have no namespace, `optional` leaves them out) and from Kong's
ingress controller, whose 0.10.0 asks KongClusterPlugins for a class.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

HELD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: %s}\n---\n"
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: flux-system}
spec: {chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: web}}}, valuesFrom: [%s]}
"""
CLUSTER_PLUGIN = """\
apiVersion: configuration.konghq.com/v1
kind: KongClusterPlugin
metadata: {name: limit%s}
plugin: rate-limiting
"""


CONSUMER = """\
apiVersion: configuration.konghq.com/%s
kind: %s
metadata: {name: alice, namespace: shop%s}
"""


KONNECT = "spec: {controlPlaneRef: {type: konnectNamespacedRef, konnectNamespacedRef: {name: a}}}\n"


def found(root: Path, text: str, rule: str) -> list[str]:
    (root / "all.yaml").write_text(text, encoding="utf-8")
    findings = open_workspace([str(root)]).findings()
    return [f"{each.severity} {each.confidence}: {each.message}" for each in findings if each.rule == rule]


@pytest.mark.parametrize(
    ("namespaces", "more", "told"),
    [
        (("shop",), "", True),
        (("shop",), ", optional: true", False),
        (("shop", "flux-system"), "", False),
        ((), "", False),
    ],
)
def test_values_are_of_the_same_namespace(namespaces: tuple[str, ...], more: str, told: bool, tmp_path: Path) -> None:
    text = "".join(HELD % namespace for namespace in namespaces)
    findings = found(tmp_path, text + RELEASE % f"{{kind: ConfigMap, name: web{more}}}", "GWP914")
    assert len(findings) == told
    assert all("names ConfigMap flux-system/web, which does not exist" in each for each in findings)


@pytest.mark.parametrize(("more", "told"), [("", 1), (", annotations: {kubernetes.io/ingress.class: kong}", 0)])
def test_a_plugin_without_a_class_is_told_without_any_route(more: str, told: int, tmp_path: Path) -> None:
    assert len(found(tmp_path, CLUSTER_PLUGIN % more, "GWP114")) == told


@pytest.mark.parametrize(
    ("version", "kind", "more", "spec", "told"),
    [
        ("v1", "KongConsumer", "", "", 1),
        ("v1", "KongConsumer", ", annotations: {kubernetes.io/ingress.class: kong}", "", 0),
        ("v1", "KongConsumer", "", KONNECT, 0),
        ("v1beta1", "KongConsumerGroup", "", "", 1),
        ("v1beta1", "TCPIngress", "", "spec: {rules: []}", 1),
        ("v1beta1", "UDPIngress", "", "spec: {rules: []}", 1),
        ("v1beta1", "UDPIngress", ", annotations: {kubernetes.io/ingress.class: kong}", "spec: {rules: []}", 0),
        ("v1alpha1", "KongVault", "", "spec: {backend: env, prefix: a}", 1),
    ],
)
def test_clients_without_a_class_are_told(
    version: str, kind: str, more: str, spec: str, told: int, tmp_path: Path
) -> None:
    assert len(found(tmp_path, CONSUMER % (version, kind, more) + spec, "GWP114")) == told
