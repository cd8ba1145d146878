"""What lies in a tree and was not checked is said, in the last lines and in JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from policylint.workspace.left_out import folded
from tests.diff.history import commit, run

ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: {name}, namespace: shop}}
spec: {{parentRefs: [{{name: edge}}]}}
"""
ANTREA = "apiVersion: crd.antrea.io/v1beta1\nkind: ClusterNetworkPolicy\nmetadata: {name: a}\nspec: {}\n"
KYVERNO = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec: {rules: []}\n"
VAP = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\nspec: {}\n"


def written(directory: Path, files: dict[str, str]) -> None:
    for path, content in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(content)


def left_out(directory: Path, files: dict[str, str]) -> list[str]:
    written(directory, files)
    return [str(entry) for entry in open_workspace([str(directory)]).coverage.left_out]


def test_what_nothing_deploys_comes_first(tmp_path: Path) -> None:
    files = {
        "kustomization.yaml": "resources: [antrea.yaml, kyverno.yaml, vap.yaml]\n",
        "antrea.yaml": ANTREA,
        "kyverno.yaml": KYVERNO,
        "vap.yaml": VAP,
        "old/a.yaml": ROUTE.format(name="a"),
        "old/kustomization.yaml": "resources: []\n",
        "main.jsonnet": "{}",
        "lib.libsonnet": "{}",
        "shop.cue": "a: 1",
        "main.tf": 'resource "kubernetes_manifest" "a" {}',
        "dns.tf": 'resource "aws_route53_record" "a" {}',
    }
    assert left_out(tmp_path, files) == [
        "1 Gateway API object or policy in a file that no Flux, Argo CD or kustomize root references",
        "1 Antrea network policy",
        "1 Kubernetes admission policy",
        "1 Kyverno admission policy",
        "2 jsonnet files",
        "1 CUE file",
        "1 Terraform file with manifests",
    ]


def test_ways_in_through_other_apis(tmp_path: Path) -> None:
    """An Istio Gateway is another kind than Gateway API's, which is checked; of a Knative Ingress nothing is said."""
    kinds = {
        "networking.istio.io/v1": ("Gateway", "VirtualService"),
        "gateway.networking.k8s.io/v1": ("Gateway",),
        "networking.k8s.io/v1": ("Ingress", "IngressClass"),
        "networking.internal.knative.dev/v1alpha1": ("Ingress",),
        "route.openshift.io/v1": ("Route",),
    }
    objects = [(version, kind, name) for version, found in kinds.items() for kind in found for name in "ab"]
    files = {
        f"{number}.yaml": f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\n"
        for number, (version, kind, name) in enumerate(objects)
    }
    assert left_out(tmp_path, files) == [
        "2 Gateways of Istio's own (reach and trace know them)",
        "2 Ingresses (reach and trace know them)",
        "2 Routes of OpenShift (reach and trace know them)",
        "2 VirtualServices of Istio (reach and trace know them)",
    ]


def flux(path: str) -> str:
    return f"""apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {path.rpartition("/")[2]}, namespace: flux-system}}
spec: {{path: ./{path}, interval: 1h, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}
"""


APPLICATION = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: all, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://git.example.com/fleet", path: apps, targetRevision: HEAD}
  destination: {server: "https://kubernetes.default.svc", namespace: shop}
"""


@pytest.mark.parametrize(
    ("files", "roots"),
    [
        pytest.param({"clusters/prod/apps.yaml": flux("apps")}, [], id="all is deployed"),
        pytest.param(
            {"clusters/prod/apps.yaml": flux("apps"), "edge/ks.yaml": flux("apps")}, ["edge"], id="a second one of Flux"
        ),
        pytest.param(
            {"clusters/prod/apps.yaml": flux("apps"), "argo/all.yaml": APPLICATION}, ["argo"], id="Argo CD beside Flux"
        ),
        pytest.param(
            {
                "argo/all.yaml": APPLICATION,
                "old/prod/kustomization.yaml": "resources: [../base]\n",
                "old/base/kustomization.yaml": "resources: [route.yaml]\n",
                "old/base/route.yaml": ROUTE.format(name="old"),
                "old/monitoring/kustomization.yaml": "resources: [service.yaml]\n",
                "old/monitoring/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
            },
            ["old/prod"],
            id="an overlay that no Application deploys",
        ),
        pytest.param(
            {
                "argo/all.yaml": APPLICATION,
                "lib/kustomization.yaml": "kind: Component\nresources: [route.yaml]\n",
                "lib/route.yaml": ROUTE.format(name="old"),
                "examples/kustomization.yaml": "resources: [route.yaml]\n",
                "examples/route.yaml": ROUTE.format(name="example"),
                "plain/route.yaml": ROUTE.format(name="plain"),
            },
            [],
            id="components, examples and plain files are none",
        ),
    ],
)
def test_roots_that_were_not_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], roots: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {**files, "apps/route.yaml": ROUTE.format(name="web")})
    coverage = open_workspace(["."]).coverage
    found = [(entry.number, str(entry)) for entry in coverage.left_out if entry.sort == "roots"]
    assert found == [(len(roots), f"{len(roots)} unused deployment root ({', '.join(roots)})")] * bool(roots)
    _, out, _ = run(tmp_path, "lint")
    assert ("not checked: 1 unused deployment root" in out) == bool(roots)
    entries = json.loads(run(tmp_path, "lint", "-o", "json")[1])["coverage"]["left_out"]
    assert any(entry["sort"] == "roots" for entry in entries) == bool(roots)


def test_alternatives_are_checked_each(tmp_path: Path) -> None:
    files = {f"k8s/{name}/route.yaml": ROUTE.format(name="web") for name in ("dev", "prod")}
    assert left_out(tmp_path, files) == []


OF_OTHERS = {
    "kustomization.yaml": "resources: [service.yaml]\n",
    "service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n",
    "apps/kustomization.yaml": "resources: []\n",
}


@pytest.mark.parametrize(("number", "objects"), [(1, "1 object: no"), (2, "2 objects: no")])
def test_what_nothing_deploys_is_checked_where_nothing_else_is(tmp_path: Path, number: int, objects: str) -> None:
    written(tmp_path, {**OF_OTHERS, **{f"apps/{name}.yaml": ROUTE.format(name=name) for name in "ab"[:number]}})
    code, out, err = run(tmp_path, "lint")
    assert (code, err) == (0, "")
    assert f"not seen: what deploys {objects} Flux, Argo CD or kustomize root references" in out
    assert f"0 policies on {number} route" in out


def test_what_nothing_deploys_is_not_checked_beside_what_is(tmp_path: Path) -> None:
    written(tmp_path, {**OF_OTHERS, "apps/b.yaml": ROUTE.format(name="b"), "a.yaml": ROUTE.format(name="a")})
    written(tmp_path, {"kustomization.yaml": "resources: [service.yaml, a.yaml]\n"})
    out = run(tmp_path, "lint")[1]
    assert "0 policies on 1 route" in out
    assert "not checked: 1 Gateway API object or policy in a file that no Flux" in out


WAYS_IN = {
    "ingress": """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
""",
    "service": """apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: LoadBalancer, ports: [{port: 80}]}
""",
}


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_what_lets_requests_in_is_deployed(tmp_path: Path, way_in: str) -> None:
    """A cluster of Ingresses stays what is asked about, whatever lies beside it."""
    written(tmp_path, {**OF_OTHERS, "web.yaml": WAYS_IN[way_in], "apps/a.yaml": ROUTE.format(name="a")})
    written(tmp_path, {"kustomization.yaml": "resources: [service.yaml, web.yaml]\n"})
    workspace = open_workspace([str(tmp_path)], undeployed=True)
    assert (workspace.coverage.routes, workspace.coverage.orphans) == (0, 1)
    written(tmp_path, {"kustomization.yaml": "resources: [service.yaml]\n"})
    workspace = open_workspace([str(tmp_path)], undeployed=True)
    assert (workspace.coverage.routes, workspace.coverage.orphans) == (1, 0)


def test_one_way_in_hides_nothing_that_is_more(tmp_path: Path) -> None:
    """An agent on the network of its node, say, of the one chart that could be rendered, is not the cluster."""
    routes = {f"apps/{name}.yaml": ROUTE.format(name=name) for name in "ab"}
    written(tmp_path, {**OF_OTHERS, **routes, "web.yaml": WAYS_IN["service"]})
    written(tmp_path, {"kustomization.yaml": "resources: [service.yaml, web.yaml]\n"})
    workspace = open_workspace([str(tmp_path)], undeployed=True)
    assert (workspace.coverage.routes, workspace.coverage.orphans) == (2, 0)


@pytest.mark.parametrize(("number", "pronoun"), [(1, "it"), (2, "them")])
def test_nothing_was_checked_says_where_there_is_something(tmp_path: Path, number: int, pronoun: str) -> None:
    """Where a build that fails takes away what would be deployed, that is what is wrong."""
    written(tmp_path, {**OF_OTHERS, **{f"apps/{name}.yaml": ROUTE.format(name=name) for name in "ab"[:number]}})
    twice = {"kustomization.yaml": "resources: [service.yaml, copy.yaml]\n", "copy.yaml": OF_OTHERS["service.yaml"]}
    written(tmp_path, twice)
    code, out, err = run(tmp_path, "lint")
    assert (code, "0 Gateway API resources" in err) == (1, False)
    assert "error[GWP914]" in out
    assert err.startswith("nothing was checked: ") and f"references (--show-orphans lists {pronoun})" in err
    assert f"not checked: {number} Gateway API" in out
    (entry,) = json.loads(run(tmp_path, "lint", "-o", "json")[1])["coverage"]["left_out"]
    assert (entry["sort"], entry["number"]) == ("orphans", number)


@pytest.mark.parametrize(("deployed", "alone", "code"), [(1, 2, 3), (1, 1, 0), (2, 1, 0), (2, 3, 3)])
def test_strict_ends_with_3_where_most_is_deployed_by_nothing(
    tmp_path: Path, deployed: int, alone: int, code: int
) -> None:
    """An environment that was not found is worse than a finding too few."""
    names = [f"web{number}" for number in range(deployed)]
    written(tmp_path, {**OF_OTHERS, **{f"{name}.yaml": ROUTE.format(name=name) for name in names}})
    written(tmp_path, {f"apps/a{number}.yaml": ROUTE.format(name=f"a{number}") for number in range(alone)})
    listed = ", ".join(["service.yaml", *(f"{name}.yaml" for name in names)])
    written(tmp_path, {"kustomization.yaml": f"resources: [{listed}]\n"})
    assert run(tmp_path, "lint")[0] == 0
    ended, _, err = run(tmp_path, "lint", "--strict")
    assert (ended, err.startswith("most was not checked: ")) == (code, code == 3)


def test_a_loss_is_no_other_way_to_deploy(tmp_path: Path) -> None:
    """`diff` asks what is deployed: a route that a kustomization no longer names is gone."""
    files = {
        **OF_OTHERS,
        "kustomization.yaml": "resources: [service.yaml, apps]\n",
        "apps/a.yaml": ROUTE.format(name="a"),
    }
    commit(tmp_path, {**files, "apps/kustomization.yaml": "resources: [a.yaml]\n"})
    commit(tmp_path, files)
    out = run(tmp_path, "diff", "HEAD~1..HEAD")[1]
    assert "HTTPRoute shop/a" in out


def test_sentences_of_many_environments_are_one() -> None:
    said = [
        "3 missing files",
        "1 remote base",
        "1 missing file",
        "4 remote bases",
        "2 charts",
    ]
    assert folded(said) == ("up to 3 missing files", "up to 4 remote bases", "2 charts")
