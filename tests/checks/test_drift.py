"""GWP525: what Argo CD shows as a difference, and who told it not to.

Source: argo-cd.readthedocs.io, «Diffing customization» and «Diff strategies».
"""

from __future__ import annotations

from pathlib import Path

import pytest

import policylint
from policylint.model import Finding
from policylint.workspace import open_workspace
from tests.checks.linting import WORLD, lint

ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [BACKEND]}]
"""
BARE = "{name: cart, port: 80}"
WHOLE = "{group: '', kind: Service, name: cart, port: 80, weight: 1}"
SERVER = "argocd.argoproj.io/compare-options: ServerSideDiff=true"
IGNORED = "ignoreDifferences: [{group: gateway.networking.k8s.io, kind: HTTPRoute, jqPathExpressions: ['.spec.rules']}]"


def application(path: str = "shop", annotations: str = "", more: str = "") -> str:
    return f"""
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd, annotations: {{{annotations}}}}}
spec:
  source: {{repoURL: https://git.example.com/x.git, path: {path}, targetRevision: HEAD}}
  destination: {{server: https://kubernetes.default.svc, namespace: shop}}
  {more}
"""


def drifting(folder: Path, owner: str, deployed: str) -> list[Finding]:
    for name, text in {"apps/shop.yaml": owner, "shop/route.yaml": deployed}.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
    return [each for each in open_workspace([str(folder)]).findings() if each.rule == "GWP525"]


def test_in_the_root_of_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the run starts changes nothing (argoproj/argo-helm#3538)."""
    assert len(drifting(tmp_path, application(), ROUTE.replace("BACKEND", BARE))) == 1
    monkeypatch.chdir(tmp_path)
    assert [each.rule for each in open_workspace(["."]).findings() if each.rule == "GWP525"] == ["GWP525"]


@pytest.mark.parametrize(
    ("owner", "backend", "said"),
    [
        (application(), BARE, 1),
        (application(), WHOLE, 0),
        (application("shop/"), BARE, 1),
        (application("other"), BARE, 0),
        (application(annotations=SERVER), BARE, 0),
        (application(more=IGNORED), BARE, 0),
        (application(more=IGNORED.replace("HTTPRoute", "Gateway")), BARE, 1),
        ("", BARE, 0),
    ],
)
def test_a_route_that_argo_cd_deploys(tmp_path: Path, owner: str, backend: str, said: int) -> None:
    found = drifting(tmp_path, owner, ROUTE.replace("BACKEND", backend))
    assert len(found) == said
    if found:
        (fix,) = found[0].fixes
        written = [(change.old, change.new) for change in fix.changes]
        assert written == [("weight", "1"), ("kind", '"Service"'), ("group", '""')]


@pytest.mark.parametrize(
    ("option", "entry", "frozen"),
    [
        ("RespectIgnoreDifferences=true", "jqPathExpressions: ['.spec.parentRefs[].group']", ".spec.parentRefs"),
        ("RespectIgnoreDifferences=true", "jqPathExpressions: ['.spec.rules[0].backendRefs[].weight']", ".spec.rules"),
        ("RespectIgnoreDifferences=true", "jsonPointers: [/spec/parentRefs/0/group]", "/spec/parentRefs"),
        (  # one list, said once
            "RespectIgnoreDifferences=true",
            "jqPathExpressions: ['.spec.rules[].matches', '.spec.rules[].filters[].requestRedirect.port']",
            ".spec.rules",
        ),
        ("RespectIgnoreDifferences=true", "jsonPointers: [/spec/hostnames]", ""),
        ("RespectIgnoreDifferences=true", "jqPathExpressions: [.spec.hostnames]", ""),
        ("ServerSideApply=true", "jqPathExpressions: ['.spec.parentRefs[].group']", ""),
    ],
)
def test_items_of_lists_that_are_taken_from_the_cluster(tmp_path: Path, option: str, entry: str, frozen: str) -> None:
    """argoproj/argo-cd#25284."""
    of_routes = f"{{group: gateway.networking.k8s.io, kind: HTTPRoute, {entry}}}"
    of_pods = of_routes.replace("gateway.networking.k8s.io, kind: HTTPRoute", "apps, kind: Deployment")
    application = f"""
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd}}
spec: {{syncPolicy: {{syncOptions: [{option}]}}, ignoreDifferences: [{of_pods}, {of_routes}]}}
"""
    found = [each.message for each in lint(tmp_path, application, *WORLD) if each.rule == "GWP527"]
    assert [message.partition(" items of ")[2].partition(" of ")[0] for message in found] == (
        [frozen] if frozen else []
    )


@pytest.mark.parametrize(
    ("kind", "further", "said"),
    [
        ("HTTPRoute", "", "every HTTPRoute"),
        ("HTTPRoute", "name: canary, namespace: shop", "HTTPRoute shop/canary"),
        ("HTTPRoute", "name: canary", "HTTPRoute canary"),
        ("HTTPRoute", "namespace: shop", "every HTTPRoute in shop"),
        ("'*'", "", "every object"),
    ],
)
def test_whose_items_are_taken_from_the_cluster(tmp_path: Path, kind: str, further: str, said: str) -> None:
    entry = f"{{group: '*', kind: {kind}, jqPathExpressions: ['.spec.rules[].weight'], {further}}}"
    application = f"""
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: shop, namespace: argocd}}
spec: {{syncPolicy: {{syncOptions: [RespectIgnoreDifferences=true]}}, ignoreDifferences: [{entry}]}}
"""
    (found,) = [each.message for each in lint(tmp_path, application, *WORLD) if each.rule == "GWP527"]
    assert f" of {said} as they are" in found


@pytest.mark.parametrize(("option", "told"), [("RespectIgnoreDifferences=true", True), ("ServerSideApply=true", False)])
def test_items_of_lists_in_the_template_of_a_set(tmp_path: Path, option: str, told: bool) -> None:
    ignored = "{group: gateway.networking.k8s.io, kind: HTTPRoute, jsonPointers: [/spec/rules/0/backendRefs/0/weight]}"
    ends = "source: {repoURL: https://example.com/r, path: a}, destination: {name: in-cluster, namespace: shop}"
    template = f"{{project: default, {ends}, syncPolicy: {{syncOptions: [{option}]}}, ignoreDifferences: [{ignored}]}}"
    of_sets = f"""
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: shop, namespace: argocd}}
spec:
  generators: [{{list: {{elements: [{{a: b}}]}}}}]
  template: {{metadata: {{name: shop}}, spec: {template}}}
"""
    (tmp_path / "a.yaml").write_text(of_sets, encoding="utf-8")
    findings = [each for each in policylint.lint(tmp_path).known if each.rule == "GWP527"]
    assert [each.message.startswith("ApplicationSet argocd/shop keeps") for each in findings] == (
        [True] if told else []
    )
