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
