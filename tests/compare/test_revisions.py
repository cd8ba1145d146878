"""GWP304: a deployer that takes another revision of this tree, or another repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.compare import compare as compared
from policylint.compare import pair_sides, removed_protections
from policylint.workspace import open_workspace
from tests.render.test_flux import kustomization
from tests.render.trees import ROUTE, written

POLICY = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: shop, namespace: default}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}]
  basicAuth: {users: {name: users}}
"""
APPLICATION = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: default}
  source: {repoURL: https://git.example.com/me/fleet, path: app, targetRevision: main}
"""
REPOSITORY = """
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: https://git.example.com/me/fleet, ref: {branch: main}}
"""


def said(directory: Path, files: dict[str, str], old: str, new: str) -> list[str]:
    """What GWP304 says where one text takes the place of another."""
    files = {**files, "app/route.yaml": ROUTE, "app/policy.yaml": POLICY}
    before = written(directory / "before", files)
    after = written(directory / "after", {path: content.replace(old, new) for path, content in files.items()})
    sides = pair_sides(*(open_workspace([str(place)]).simulations for place in (before, after)))
    return [finding.message for finding in removed_protections(sides, compared(sides), {"GWP304"})]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("targetRevision: main", "targetRevision: v1.2.0", "now deploys v1.2.0 instead of main"),
        ("targetRevision: main", "targetRevision: old", "now deploys old instead of main"),
        (
            "me/fleet",
            "me/other",
            "now deploys https://git.example.com/me/other instead of https://git.example.com/me/fleet",
        ),
        ("targetRevision: main", "targetRevision: HEAD", ""),
        ("https://git.example.com/me/fleet", "git@mirror.example.com:me/fleet.git", ""),
        ("targetRevision: main", "targetRevision: '${BRANCH}'", ""),
    ],
)
def test_an_application(tmp_path: Path, old: str, new: str, expected: str) -> None:
    messages = said(tmp_path, {"argo/app.yaml": APPLICATION}, old, new)
    assert messages == ([f"Application argocd/app {expected}: its policies may differ from these"] if expected else [])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("branch: main", "tag: v1", "now deploys tag v1 instead of branch main"),
        ("ref: {branch: main}", "interval: 1m", "now deploys the default branch instead of branch main"),
        ("branch: main}", "branch: main}, interval: 5m", ""),
    ],
)
def test_a_source_of_flux(tmp_path: Path, old: str, new: str, expected: str) -> None:
    files = {
        "clusters/prod/source.yaml": REPOSITORY,
        "clusters/prod/sync.yaml": kustomization("flux-system", "./clusters/prod"),
        "clusters/prod/app.yaml": kustomization("app", "./app"),
    }
    messages = said(tmp_path, files, old, new)
    assert messages == (
        [f"GitRepository flux-system/flux-system {expected}: its policies may differ from these"] if expected else []
    )


@pytest.mark.parametrize(("new", "expected"), [("refs/tags/v1", 1), ("main", 0)])
def test_an_instance_of_flux(tmp_path: Path, new: str, expected: int) -> None:
    instance = (
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n"
        "spec: {sync: {kind: GitRepository, url: https://git.example.com/fleet, ref: refs/heads/main, path: start}}\n"
    )
    files = {"start/flux.yaml": instance, "start/app.yaml": kustomization("app", "./app")}
    assert len(said(tmp_path, files, "refs/heads/main", new)) == expected


def test_the_revision_of_a_chart_is_not_that_of_this_tree(tmp_path: Path) -> None:
    chart = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: chart, namespace: argocd}\n"
        "spec: {destination: {name: in-cluster}, source: {repoURL: https://x, chart: c, targetRevision: 1.0.0}}\n"
    )
    assert said(tmp_path, {"argo/app.yaml": APPLICATION, "argo/chart.yaml": chart}, "1.0.0", "2.0.0") == []


def test_network_policies_are_judged_as_written_in_this_tree_too(tmp_path: Path) -> None:
    closed = (
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: closed}\nspec: {podSelector: {}}\n"
    )
    sides = []
    for side, revision in (("before", "main"), ("after", "legacy")):
        files = {"apps/app.yaml": APPLICATION.replace("targetRevision: main", f"targetRevision: {revision}")}
        place = written(tmp_path / side, {**files, "app/closed.yaml": closed})
        sides.append(open_workspace([str(place)]).simulations)
    pairs = pair_sides(*sides)
    (finding,) = removed_protections(pairs, compared(pairs), {"GWP304"})
    assert (finding.severity, finding.label) == ("warning", "1 policy judged as written in this tree")


ROOT = APPLICATION.replace("name: app,", "name: root,").replace("path: app,", "path: argo/apps,")


@pytest.mark.parametrize(
    ("after", "is_told"),
    [
        ({"argo/root.yaml": ROOT.replace("argo/apps", "argo/next")}, True),
        ({"argo/root.yaml": ROOT.replace("argo/apps", "argo/nowhere")}, True),
        ({"argo/root.yaml": ROOT.replace("argo/apps", "argo")}, False),
        ({"argo/root.yaml": ROOT.replace("argo/apps", "./argo/apps/")}, False),
        ({"argo/root.yaml": ROOT.replace("argo/apps", "${TEAM}/apps"), "argo/apps/app.yaml": ""}, False),
        (
            {
                "argo/root.yaml": ROOT.replace("argo/apps", "argo/next"),
                "argo/next/app.yaml": APPLICATION,
                "argo/apps/app.yaml": "",
            },
            False,
        ),
        (
            {
                "argo/root.yaml": ROOT.replace("argo/apps", "argo/next"),
                "argo/second.yaml": ROOT.replace("name: root,", "name: second,"),
            },
            False,
        ),
    ],
)
def test_what_an_application_takes_in_no_more_may_be_pruned(
    tmp_path: Path, after: dict[str, str], is_told: bool
) -> None:
    files = {
        "argo/root.yaml": ROOT,
        "argo/apps/app.yaml": APPLICATION,
        "argo/next/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: next}\n",
        "app/route.yaml": ROUTE,
        "app/policy.yaml": POLICY,
    }
    places = written(tmp_path / "before", files), written(tmp_path / "after", {**files, **after})
    sides = pair_sides(*(open_workspace([str(place)]).simulations for place in places))
    found = [each.message for each in removed_protections(sides, compared(sides), {"GWP304"})]
    said = [
        each for each in found if each.endswith("instead of argo/apps: Application argocd/app may be applied no more")
    ]
    assert bool(said) == is_told
