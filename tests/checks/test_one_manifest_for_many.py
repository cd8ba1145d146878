"""A manifest that a component brings to many namespaces: labels choose there what its policy is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace

POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login}
spec:
  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {auth: sso}}]
  extAuth: {http: {backendRefs: [{name: outpost, namespace: identity, port: 9000}]}}
"""
OF_IDENTITY = """
apiVersion: v1
kind: Service
metadata: {name: outpost, namespace: identity}
spec: {ports: [{port: 9000}]}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: logins, namespace: identity}
spec:
  from: [{group: gateway.envoyproxy.io, kind: SecurityPolicy, namespace: media}]
  to: [{group: "", kind: Service}]
"""
EDGE = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: eg
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]
"""


def route(namespace: str, label: str) -> str:
    return f"""
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: web, namespace: {namespace}, labels: {{{label}}}}}
spec:
  parentRefs: [{{name: edge, namespace: infra}}]
  rules: [{{backendRefs: [{{name: web, port: 80}}]}}]
"""


def found(root: Path, media: str) -> list[tuple[str, str, str]]:
    """What GWP105 and GWP111 say of a component in two namespaces, of which the second has no route with its label."""
    of_namespace = "kind: Kustomization\nnamespace: {0}\ncomponents: [../common]\nresources: [web.yaml]\n"
    files = {
        "common/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        "resources: [login.yaml]\n",
        "common/login.yaml": POLICY,
        "media/kustomization.yaml": of_namespace.format("media"),
        "media/web.yaml": route("media", media),
        "games/kustomization.yaml": of_namespace.format("games"),
        "games/web.yaml": route("games", "auth: none"),
        "base.yaml": f"{OF_IDENTITY}---{EDGE}",
        "kustomization.yaml": "kind: Kustomization\nresources: [media, games, base.yaml]\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    wanted = (each for each in open_workspace([str(root)]).findings() if each.rule in ("GWP105", "GWP111"))
    return sorted((each.rule, each.severity, str(each.resources[0])) for each in wanted)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("auth: sso", [("GWP105", "note", "SecurityPolicy games/login")]),
        (
            "auth: other",
            [("GWP105", "warning", "SecurityPolicy games/login"), ("GWP105", "warning", "SecurityPolicy media/login")],
        ),
    ],
)
def test_where_it_selects_nothing_it_is_not_refused(
    tmp_path: Path, label: str, expected: list[tuple[str, str, str]]
) -> None:
    assert found(tmp_path, label) == expected
