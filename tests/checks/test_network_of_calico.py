"""GWP611: when a policy of Calico closes the pods of all namespaces, and not those of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.linting import lint, only, rules

GROUPS = ("crd.projectcalico.org/v1", "projectcalico.org/v3")
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: example.com/web:1}]}}
"""


def calico(version: str, kind: str, spec: str) -> str:
    home = ", namespace: shop" * (kind == "NetworkPolicy")
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: closed{home}}}\nspec: {{{spec}}}\n"


@pytest.mark.parametrize("version", GROUPS)
@pytest.mark.parametrize("selection", ["", "selector: all(), "])
def test_a_global_policy_of_all_pods_closes_all_namespaces(version: str, selection: str, tmp_path: Path) -> None:
    said = only(lint(tmp_path, WEB, calico(version, "GlobalNetworkPolicy", f"{selection}types: [Ingress]")), "GWP611")
    assert said.message == (
        "GlobalNetworkPolicy closed closes the pods of all namespaces for ingress: DNS and the system, too"
    )


@pytest.mark.parametrize("version", GROUPS)
@pytest.mark.parametrize("selection", ["", "selector: all(), "])
@pytest.mark.parametrize("direction", ["Ingress", "Egress"])
def test_a_policy_in_a_namespace_is_for_its_pods(version: str, selection: str, direction: str, tmp_path: Path) -> None:
    closing = calico(version, "NetworkPolicy", f"{selection}types: [{direction}]")
    assert "GWP611" not in rules(lint(tmp_path, WEB, closing))


@pytest.mark.parametrize("version", GROUPS)
def test_who_leaves_namespaces_out_is_left_alone(version: str, tmp_path: Path) -> None:
    spec = "namespaceSelector: has(team), types: [Ingress]"
    assert "GWP611" not in rules(lint(tmp_path, WEB, calico(version, "GlobalNetworkPolicy", spec)))
