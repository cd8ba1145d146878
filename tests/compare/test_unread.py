"""What changes in files that no environment takes in is a row: the diff does not say that nothing changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compare.repositories import diff

ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge, namespace: infra}]}
"""
ROOT = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, interval: 5m, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
"""
DENIAL = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .Release.Name }}-deny
spec:
  podSelector: {}
  policyTypes: [Ingress]
"""
OPEN = f"{DENIAL}  ingress: [{{}}]\n"
LOGIN = """
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata:
  name: login
spec: {action: ALLOW, rules: [{from: [{source: {principals: [a/ns/b/sa/c]}}]}]}
"""
EVERYBODY = LOGIN.replace("a/ns/b/sa/c", "'*'")
BASE = "resources: ['https://example.com/base.yaml']\npatchesStrategicMerge: [login.yaml]\n"
DEPLOYED = {"clusters/prod/apps.yaml": ROOT, "apps/route.yaml": ROUTE}
BROKEN = """
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: {{{ .class }}}
  listeners: [{name: web, port: 443, protocol: HTTPS, tls: {mode: Terminate}}]
---
"""
CILIUM = """apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata:
  name: wide
spec:
  endpointSelector: {}
"""
GUARDED = {"chart/templates/login.yaml": LOGIN}


def gated(version: str, text: str) -> str:
    """Return a template that makes something where the cluster serves an API version."""
    return f'{{{{- if .Capabilities.APIVersions.Has "{version}" }}}}\n{text}{{{{- end }}}}\n'


CHART = {"chart/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 0.1.0\n", "chart/values.yaml": "a: b\n"}


@pytest.mark.parametrize(
    ("tree", "file", "before", "after", "said"),
    [
        pytest.param(CHART, "chart/templates/deny.yaml", DENIAL, OPEN, "is a template that is not", id="chart"),
        pytest.param(
            {**DEPLOYED, **CHART}, "chart/templates/deny.yaml", DENIAL, OPEN, "is a template that is not", id="beside"
        ),
        pytest.param(
            {**DEPLOYED, "old/kustomization.yaml": BASE}, "old/login.yaml", LOGIN, EVERYBODY, "deploys old", id="patch"
        ),
        pytest.param(
            {**DEPLOYED, "one/login.yaml": LOGIN.replace("name: login", "name: login\n  namespace: shop")},
            "two/login.yaml",
            LOGIN.replace("name: login", "name: login\n  namespace: shop"),
            EVERYBODY.replace("name: login", "name: login\n  namespace: shop"),
            "deploys two/login.yaml",
            id="a second one of its name",
        ),
        pytest.param(
            {**CHART, **GUARDED}, "chart/templates/wide.yaml", gated("cilium.io/v2", CILIUM),
            gated("cilium.io/v2", f"{CILIUM}  ingress: [{{fromEntities: [world]}}]\n"), "what the cluster serves",
            id="a part of a template that asks what is served",
        ),
        pytest.param(
            {**CHART, **GUARDED}, "chart/templates/wide.yaml", gated("cilium.io/v2", CILIUM),
            gated("cilium.io/v2", f"# why\n{CILIUM}"), "",
            id="the same part as it was",
        ),
        pytest.param({}, "edge.yaml", BROKEN + ROUTE, BROKEN.replace("Terminate", "Passthrough") + ROUTE,
                     "what is written there is no YAML", id="a document that cannot be read beside one that can"),
        pytest.param({**DEPLOYED}, "apps/edge.yaml", BROKEN + ROUTE.replace("name: web", "name: other"),
                     BROKEN.replace("Terminate", "Passthrough") + ROUTE.replace("name: web", "name: other"),
                     "what is written there is no YAML", id="the same in a file that is deployed"),
        pytest.param(CHART, "chart/templates/deny.yaml", DENIAL, f"# why\n{DENIAL}\n", "", id="a comment"),
        pytest.param(CHART, "chart/templates/tests/deny.yaml", DENIAL, OPEN, "", id="a test of the chart"),
        pytest.param({**DEPLOYED, **CHART}, "docs/login.yaml", LOGIN, EVERYBODY, "", id="documentation"),
        pytest.param(
            CHART, "chart/templates/d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: b\n", "", id="no policy",
        ),
    ],
)  # fmt: skip
def test_a_policy_that_changes_where_nobody_looks_is_a_row(
    tmp_path: Path, tree: dict[str, str], file: str, before: str, after: str, said: str
) -> None:
    printed = diff(tmp_path, {**tree, file: before}, {file: after})
    rows = [line for line in printed.splitlines() if line.startswith("!")]
    assert len(rows) == bool(said), printed
    assert said in " ".join(printed.split())
    assert not said or "answers all requests as before" not in printed


def test_one_that_is_deployed_is_told_once(tmp_path: Path) -> None:
    printed = diff(
        tmp_path,
        {**DEPLOYED, "apps/login.yaml": LOGIN.replace("name: login", "name: login\n  namespace: shop")},
        {"apps/login.yaml": EVERYBODY.replace("name: login", "name: login\n  namespace: shop")},
    )
    assert "nothing here deploys" not in printed


@pytest.mark.parametrize(
    ("tree", "source", "target", "document", "rows"),
    [
        pytest.param(DEPLOYED, "one/login.yaml", "two/entry.yaml", LOGIN, 0, id="manifest"),
        pytest.param(DEPLOYED, "one/login.yaml", "docs/login.yaml", LOGIN, 1, id="out of use"),
        pytest.param(
            {**DEPLOYED, **CHART}, "chart/templates/a.yaml", "chart/templates/b/c.yaml", DENIAL, 0, id="within a chart"
        ),
        pytest.param(
            {**DEPLOYED, **CHART}, "chart/templates/a.yaml", "other/templates/a.yaml", DENIAL, 1, id="to another chart"
        ),
    ],
)
def test_one_that_is_moved_does_not_go(
    tmp_path: Path, tree: dict[str, str], source: str, target: str, document: str, rows: int
) -> None:
    # What stands in the other file already keeps git from pairing the two.
    other = ROUTE.replace("name: web", "name: other")
    charts = {"other/Chart.yaml": CHART["chart/Chart.yaml"]} if target.startswith("other") else {}
    files = {**tree, **charts, source: f"{document}---{other}", target: other}
    printed = diff(tmp_path, files, {source: other, target: f"{other}---{document}"})
    assert sum("goes, and" in line for line in printed.splitlines()) == rows, printed


@pytest.mark.parametrize(
    ("version", "policy", "old", "new"),
    [
        ("security.istio.io/v1/AuthorizationPolicy", LOGIN, "a/ns/b/sa/c", "'*'"),
        (
            "security.istio.io/v1",
            (
                "apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: own}\n"
                "spec: {mtls: {mode: STRICT}}\n"
            ),
            "STRICT",
            "PERMISSIVE",
        ),
        (
            "gateway.envoyproxy.io/v1alpha1",
            (
                "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: own}\n"
                "spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}], "
                "basicAuth: {users: {name: people}}}\n"
            ),
            "basicAuth: {users: {name: people}}",
            "cors: {allowOrigins: ['https://a.example']}",
        ),
    ],
)
def test_a_cluster_with_policies_serves_what_their_templates_ask_for(
    tmp_path: Path, version: str, policy: str, old: str, new: str
) -> None:
    route = ROUTE.replace(", namespace: shop}", "}").replace(
        "}]}", "}], rules: [{backendRefs: [{name: web, port: 80}]}]}"
    )
    tree = {**CHART, "chart/templates/route.yaml": route, "chart/templates/own.yaml": gated(version, policy)}
    printed = diff(tmp_path, tree, {"chart/templates/own.yaml": gated(version, policy.replace(old, new))})
    assert "GWP30" in printed, printed
