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
