"""`--rendered DIR`: what `helm template` printed for releases, in the place of charts that are not seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.diff.history import commit, run
from tests.worlds import gateway, gateway_class, route

FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, targetNamespace: shop, sourceRef: {kind: GitRepository, name: flux-system}}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cart}
spec:
  chart: {spec: {chart: cart, version: 1.2.3, sourceRef: {kind: HelmRepository, name: shop}}}
  values: {route: {enabled: true}}
"""
CORS = """\
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: cors}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  cors: {allowOrigins: ["https://example.com"]}
"""
MADE = """\
---
# Source: cart/templates/route.yaml
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: NAME}
spec:
  parentRefs: [{name: edge}]
  hostnames: [cart.example.com]
  rules: [{backendRefs: [{name: cart, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: cart}
spec: {ports: [{port: 80}]}
"""
TREE = {
    "clusters/prod/apps.yaml": FLUX,
    "clusters/prod/flux-system/kustomization.yaml": "resources: []\n",
    "apps/release.yaml": RELEASE,
    "apps/cors.yaml": CORS,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    commit(tmp_path / "tree", {**TREE, "apps/edge.yaml": "---\n".join((gateway_class(), gateway(namespace="shop")))})
    return tmp_path / "tree"


def rendered(tree: Path, name: str = "cart", place: str = "rendered/shop/cart.yaml") -> str:
    """Lay down what helm printed; the directory."""
    file = tree.parent / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(MADE.replace("NAME", name))
    return str(tree.parent / place.partition("/")[0])


def found(tree: Path, *arguments: str) -> tuple[list[str], list[str]]:
    """Rules with messages of `lint`, and what was not rendered."""
    document = json.loads(run(tree, "lint", "-o", "json", "--show-unknown", *arguments)[1])
    return [each["message"] for each in document["findings"] if each["rule"] == "GWP101"], document["coverage"][
        "not_rendered"
    ]


def test_a_release_that_was_rendered_is_seen(tree: Path) -> None:
    """Without it the target may come from the chart; with it it is there, or certainly not."""
    assert "1 HelmRelease of 1 not rendered" in found(tree)[1]
    assert found(tree, "--rendered", rendered(tree)) == ([], [])
    missing, unseen = found(tree, "--rendered", rendered(tree, "carts"))
    assert (missing, unseen) == (["SecurityPolicy shop/cors points at missing HTTPRoute shop/cart"], [])


def test_an_environment_may_have_its_own(tree: Path) -> None:
    rendered(tree, "carts")
    place = rendered(tree, "cart", "rendered/prod/shop/cart.yaml")
    assert found(tree, "--rendered", place) == ([], [])


def test_both_sides_of_a_diff_have_their_own(tree: Path) -> None:
    """An update of a chart that makes another route, though no manifest of it is in the repository."""
    before, after = rendered(tree, "cart", "before/shop/cart.yaml"), rendered(tree, "carts", "after/shop/cart.yaml")
    commit(tree, {"apps/release.yaml": RELEASE.replace("1.2.3", "2.0.0")})
    document = json.loads(run(tree, "diff", "HEAD~1..HEAD", "--rendered", before, "--rendered", after, "-o", "json")[1])
    renamed = [(each["was"], each["object"]) for each in document["objects"] if each["change"] == "renamed"]
    assert renamed == [("HTTPRoute shop/cart", "HTTPRoute shop/carts")]
    assert [each["rule"] for each in document["findings"] if each["state"] == "new"][:1] == ["GWP101"]
    same = json.loads(run(tree, "diff", "HEAD~1..HEAD", "--rendered", before, "-o", "json")[1])
    assert same["objects"] == []


def test_what_cannot_be_read_leaves_the_release_unseen(tree: Path) -> None:
    place = Path(rendered(tree))
    (place / "shop" / "cart.yaml").write_text("a: [\n")
    _, unseen = found(tree, "--rendered", str(place))
    assert "1 HelmRelease of 1 not rendered" in unseen
    assert any("cart.yaml:" in sentence for sentence in unseen)
    assert "takes a directory" in run(tree, "lint", "--rendered", "nowhere")[2]


def test_a_name_leads_nowhere_else(tree: Path) -> None:
    place = rendered(tree)
    (tree.parent / "secret.yaml").write_text(MADE)
    commit(tree, {"apps/release.yaml": RELEASE.replace("name: cart}", "name: ../../secret}", 1)})
    assert "1 HelmRelease of 1 not rendered" in found(tree, "--rendered", place)[1]


def test_the_route_of_an_application(tmp_path: Path) -> None:
    application = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: cart, namespace: argocd}
spec:
  source: {repoURL: https://charts.example.com, chart: cart, targetRevision: 1.2.3}
  destination: {namespace: shop, name: in-cluster}
"""
    tree = tmp_path / "tree"
    commit(tree, {"apps/cart.yaml": application, "apps/other.yaml": route("other", parents="[{name: edge}]")})
    assert any("not rendered" in sentence for sentence in found(tree)[1])
    assert not any("not rendered" in sentence for sentence in found(tree, "--rendered", rendered(tree))[1])
