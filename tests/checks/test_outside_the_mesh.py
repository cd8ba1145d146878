"""GWP315: the identities of pods that have none; GWP526: what ztunnel makes of rules for requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

NAMESPACE = """
apiVersion: v1
kind: Namespace
metadata: {name: %s, labels: {%s}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: %s}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web, containers: [{name: web}]}}
---
"""
POLICY = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: own, namespace: shop}
spec: {action: %s, rules: [%s]}
---
"""
INSIDE, OUTSIDE, AMBIENT = "istio-injection: enabled", "istio-injection: disabled", "istio.io/dataplane-mode: ambient"


def said(folder: Path, rule: str, of_client: str, of_shop: str, action: str, rules: str) -> list[str]:
    namespaces = NAMESPACE % ("desk", of_client, "desk") + NAMESPACE % ("shop", of_shop, "shop")
    (folder / "all.yaml").write_text(namespaces + POLICY % (action, rules))
    return [each.message for each in open_workspace([str(folder)]).findings() if each.rule == rule]


@pytest.mark.parametrize(
    ("around", "source", "is_told"),
    [
        (OUTSIDE, "principals: [cluster.local/ns/desk/sa/web]", True),
        (OUTSIDE, "namespaces: [desk]", True),
        (OUTSIDE, "serviceAccounts: [desk/web]", True),
        (OUTSIDE, "principals: [cluster.local/ns/desk/sa/other]", False),  # no such pods are here
        (OUTSIDE, "principals: ['*/ns/desk/sa/web']", False),
        (OUTSIDE, "namespaces: [desk, shop]", False),
        (OUTSIDE, "namespaces: [elsewhere]", False),
        (INSIDE, "principals: [cluster.local/ns/desk/sa/web]", False),
        (AMBIENT, "principals: [cluster.local/ns/desk/sa/web]", False),
        ("team: a", "principals: [cluster.local/ns/desk/sa/web]", True),  # assumed: it may be taken in elsewhere
        ("team: a", "principals: [cluster.local/ns/desk/sa/other]", False),
    ],
)
def test_identities_of_pods_outside_the_mesh(tmp_path: Path, around: str, source: str, is_told: bool) -> None:
    found = said(tmp_path, "GWP315", around, INSIDE, "ALLOW", f"{{from: [{{source: {{{source}}}}}]}}")
    assert bool(found) is is_told


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        ("namespaces: [istio-system]", False),  # its gateways were installed elsewhere
        ("namespaces: [istio-system, desk]", False),
        ("serviceAccounts: [istio-system/web]", True),
    ],
)
def test_all_of_the_namespace_of_the_mesh_is_more_than_its_addons(tmp_path: Path, source: str, is_told: bool) -> None:
    namespaces = "".join(NAMESPACE % (name, OUTSIDE, name) for name in ("istio-system", "desk"))
    shop = NAMESPACE % ("shop", INSIDE, "shop")
    (tmp_path / "all.yaml").write_text(namespaces + shop + POLICY % ("ALLOW", f"{{from: [{{source: {{{source}}}}}]}}"))
    found = [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP315"]
    assert bool(found) is is_told


@pytest.mark.parametrize(
    "stated", ["labels: {app: web, istio.io/rev: main}", "annotations: {sidecar.istio.io/inject: yes}"]
)
def test_pods_that_speak_of_the_mesh_may_be_in_it(tmp_path: Path, stated: str) -> None:
    namespaces = NAMESPACE % ("desk", "team: a", "desk") + NAMESPACE % ("shop", INSIDE, "shop")
    own = namespaces.replace("labels: {app: web}}, spec", f"{stated}}}, spec", 1)
    source = "{from: [{source: {namespaces: [desk]}}]}"
    (tmp_path / "all.yaml").write_text(own + POLICY % ("ALLOW", source))
    assert [each for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP315"] == []


DESK = "from: [{source: {namespaces: [desk]}}]"
POST = "to: [{operation: {methods: [POST]}}]"


@pytest.mark.parametrize(
    ("around", "action", "rule", "outcome"),
    [
        (AMBIENT, "ALLOW", f"{{{DESK}, {POST}}}", "allows no connection"),
        (AMBIENT, "ALLOW", "{from: [{source: {requestPrincipals: ['*']}}]}", "allows no connection"),
        (AMBIENT, "ALLOW", "{when: [{key: 'request.headers[x-a]', values: [b]}]}", "allows no connection"),
        (AMBIENT, "ALLOW", f"{{{DESK}}}", ""),
        (AMBIENT, "ALLOW", f"{{{DESK}, to: [{{operation: {{ports: ['8080']}}}}]}}", ""),
        (AMBIENT, "DENY", "{to: [{operation: {methods: [POST], ports: ['8080']}}]}", "denies more than it says"),
        (INSIDE, "ALLOW", f"{{{DESK}, {POST}}}", ""),
    ],
)
def test_what_ztunnel_makes_of_a_rule(tmp_path: Path, around: str, action: str, rule: str, outcome: str) -> None:
    found = said(tmp_path, "GWP526", INSIDE, around, action, rule)
    assert found == ([f"spec.rules[0] of AuthorizationPolicy shop/own {outcome}"] if outcome else [])
