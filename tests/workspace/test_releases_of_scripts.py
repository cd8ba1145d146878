"""The release that a script or a README of plain files installs, and what is judged by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.catalog.releases import shown
from policylint.workspace import open_workspace
from policylint.workspace.assumptions import Assumptions
from tests.workspace.test_alternatives import tree

BACKEND = """
apiVersion: gateway.kgateway.dev/v1alpha1
kind: Backend
metadata: {name: models, namespace: shop}
spec: {type: AI, ai: {llm: {provider: {openai: {}}}}}
"""
CRDS = "oci://cr.kgateway.dev/kgateway-dev/charts/kgateway-crds"
OF_FLUX = """
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}
"""


@pytest.mark.parametrize(
    ("script", "release"),
    [
        (f"helm install crds {CRDS} --version v2.2.1\n", "2.2"),
        (f"helm upgrade -i --namespace a --version=v2.1.0-main crds \\\n  {CRDS} --set a.b=c\n", "2.1"),
        (f"helm upgrade --set a=b --install crds {CRDS} --version '2.4.0'\n", "2.4"),
        (f"VERSION=v2.2.0\nhelm install crds {CRDS} --version $VERSION\n", "2.2"),
        (f"helm install crds {CRDS} --version ${{VERSION}}\n", ""),
        (f"helm install crds {CRDS}\n", ""),
        ("helm install other oci://example.com/charts/other --version 2.2.0\n", ""),
        (f"helm install a {CRDS} --version v2.2.1\nhelm install b {CRDS} --version v2.4.0\n", ""),  # which one?
    ],
)
@pytest.mark.parametrize("name", ["install.sh", "README.md"])
def test_a_script_says_which_release_it_installs(tmp_path: Path, script: str, release: str, name: str) -> None:
    files = {"backend.yaml": BACKEND, name: script}
    (simulation,) = tree(tmp_path, files).simulations
    known = simulation.catalog.releases
    assert (shown(known["kgateway"]) if known else "") == release
    assert not known or name in simulation.catalog.told["kgateway"]


@pytest.mark.parametrize("place", ["suite/backend.yaml", "suite/deep/er/backend.yaml"])
@pytest.mark.parametrize("script", ["install.sh", "suite/README.md"])
def test_scripts_of_other_directories_say_nothing(tmp_path: Path, place: str, script: str) -> None:
    other = f"helm install crds {CRDS} --version v2.4.0\n"
    files = {place: BACKEND, script: f"helm install crds {CRDS} --version v2.2.1\n", "examples/one/README.md": other}
    (simulation,) = tree(tmp_path, files).simulations
    assert shown(simulation.catalog.releases["kgateway"]) == "2.2"


def test_what_a_deployer_applies_is_not_judged_by_a_readme(tmp_path: Path) -> None:
    files = {"clusters/main/apps.yaml": OF_FLUX, "apps/backend.yaml": BACKEND}
    (simulation,) = tree(tmp_path, {**files, "README.md": f"helm install a {CRDS} --version v2.2.0\n"}).simulations
    assert not simulation.catalog.releases


@pytest.mark.parametrize(
    ("release", "said"),
    [("v2.0.4", []), ("v2.1.2", []), ("v2.2.0", ["GWP501"]), ("v2.3.0", ["GWP501"]), ("v2.4.0", ["GWP501"])],
)
@pytest.mark.parametrize("by", ["tree", "configuration"])
def test_a_release_before_all_whose_schemas_are_there_may_take_anything(
    tmp_path: Path, release: str, said: list[str], by: str
) -> None:
    """Backends of kgateway 2.1 and before have the types AI and MCP, which 2.2 took away."""
    script = f"helm install crds {CRDS} --version {release}\n" if by == "tree" else ""
    workspace = tree(tmp_path, {"backend.yaml": BACKEND, "install.sh": script})
    if by == "configuration":
        given = Assumptions()._replace(releases={"kgateway": release[1:4]})
        workspace = open_workspace([str(tmp_path)], given=given)
    found = {each.rule for each in workspace.findings() if each.severity != "note" and each.rule == "GWP501"}
    assert sorted(found) == said


OLD = """
apiVersion: gateway.networking.k8s.io/v1beta1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
"""
OF_GITHUB = "https://github.com/kubernetes-sigs/gateway-api"
EG = "oci://docker.io/envoyproxy/gateway-helm"
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: httproutes.gateway.networking.k8s.io}
spec:
  group: gateway.networking.k8s.io
  names:
    kind: HTTPRoute
    plural: httproutes
  scope: Namespaced
  versions: [{name: v1beta1, served: true, storage: true}, {name: v1, served: %s, storage: false}]
"""


STANDARD = f"{OF_GITHUB}/releases/download/v1.3.0/standard-install.yaml"
OLD_CRDS = f"kubectl apply -f {OF_GITHUB}/releases/download/v0.8.0/standard-install.yaml\n"
TAGGED = f"{OF_GITHUB}/releases/download/v$V/standard-install.yaml"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@pytest.mark.parametrize(
    ("files", "is_superseded"),
    [
        ({}, True),
        ({"up.sh": f'kubectl kustomize "{OF_GITHUB}/config/crd?ref=v0.5.1" | kubectl apply -f -\n'}, False),
        (
            {"up.sh": "kubectl apply -k github.com/kubernetes-sigs/gateway-api/config/crd/experimental?ref=v0.6.1\n"},
            False,
        ),
        ({"up.sh": f"kubectl apply -f {OF_GITHUB}/releases/download/v0.8.0/standard-install.yaml\n"}, False),
        ({"up.sh": f"kubectl apply -f {OF_GITHUB}/releases/download/v1.1.0/standard-install.yaml\n"}, True),
        ({"up.sh": f"V=v0.8.1\nkubectl apply -f {OF_GITHUB}/releases/download/$V/standard-install.yaml\n"}, False),
        ({"up.sh": f"kubectl apply -f {OF_GITHUB}/releases/download/$V/standard-install.yaml\n"}, True),
        ({"up.sh": f"helm install eg {EG} --version v0.5.0\n"}, False),
        ({"up.sh": f"helm install eg {EG} --version v1.2.0\n"}, True),
        ({"up.sh": f"helm install eg {EG} --version ${{EG}}\n", "versions.env": 'EG="v0.4.0"\n'}, False),
        (
            {"up.sh": f"helm install eg {EG} --version v${{EG}}\n", "00-versions.sh": "declare -rx EG=0.4.0\n"},
            False,
        ),
        (
            {"up.sh": f"helm install eg {EG} --version v${{EG}}\n", "common.sh": "readonly EG=1.4.0\n"},
            True,
        ),
        ({"mise.toml": f'[env]\nV = "0.8.0"\n[tasks.up]\nrun = "kubectl apply -f {TAGGED}"\n'}, False),
        ({"up.ps1": OLD_CRDS}, False),
        ({"Tiltfile": f"local('{OLD_CRDS.strip()}')\n"}, False),
        ({"README.md": "linkerd install --crds | kubectl apply -f -\n"}, False),
        ({"README.md": "linkerd install --context one --crds | kubectl --context one apply -f -\n"}, False),
        ({"README.md": "linkerd install --crds \\\n  --set enableHttpRoutes=false | kubectl apply -f -\n"}, True),
        ({"README.md": "linkerd install --set installGatewayAPI=false --crds | kubectl apply -f -\n"}, True),
        ({"README.md": "linkerd install | kubectl apply -f -\nlinkerd viz install --crds-only\n"}, True),
        ({"up.sh": "linkerd install | kubectl apply -f -\n"}, True),
        (
            {"up.sh": "linkerd install --crds | kubectl apply -f -\n", "README.md": f"kubectl apply -f {STANDARD}\n"},
            True,
        ),
        ({"app/kustomization.yaml": "resources: [cm.yaml]\n", "app/cm.yaml": CONFIG, "up.sh": OLD_CRDS}, False),
        ({"crd.yaml": CRD % "false"}, False),
        ({"crd.yaml": CRD % "true"}, True),
    ],
)
def test_what_the_release_in_use_does_not_serve_supersedes_nothing(
    tmp_path: Path, files: dict[str, str], is_superseded: bool
) -> None:
    found = [each.rule for each in tree(tmp_path, {"route.yaml": OLD, **files}).findings()]
    assert ("GWP502" in found) == is_superseded


TLS = """
apiVersion: gateway.networking.k8s.io/v1alpha3
kind: BackendTLSPolicy
metadata: {name: web, namespace: shop}
spec:
  targetRefs: [{group: "", kind: Service, name: web}]
  validation: {hostname: web.shop.svc, wellKnownCACertificates: System}
"""


@pytest.mark.parametrize(("release", "is_superseded"), [("v1.5.0", False), ("v1.6.1", True), ("v1.7.2", True)])
def test_a_chart_brings_the_release_of_gateway_api_that_it_is_built_with(
    tmp_path: Path, release: str, is_superseded: bool
) -> None:
    files = {"tls.yaml": TLS, "up.sh": f"helm install eg {EG} --version {release}\n"}
    assert ("GWP502" in [each.rule for each in tree(tmp_path, files).findings()]) == is_superseded


def test_each_of_several_labs_is_judged_by_what_its_own_scripts_install(tmp_path: Path) -> None:
    new = f"kubectl apply -f {STANDARD}\n"
    labs = {"labs/one/route.yaml": OLD, "labs/two/route.yaml": OLD, "labs/three/route.yaml": OLD}
    scripts = {"labs/one/up.sh": OLD_CRDS, "labs/two/up.sh": new, "README.md": new}
    found = [each for each in tree(tmp_path, {**labs, **scripts}).findings() if each.rule == "GWP502"]
    assert sorted(each.location.file.rpartition("labs/")[2] for each in found) == ["three/route.yaml", "two/route.yaml"]


ARRANGED = {
    "kustomize/base/kustomization.yaml": "resources: [cm.yaml]\n",
    "kustomize/base/cm.yaml": CONFIG,
    "kustomize/environments/test/kustomization.yaml": "resources: [../../base]\n",
    "kustomize/environments/prod/kustomization.yaml": "resources: [../../base]\n",
}
APPLICATION = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec: {}\n"


@pytest.mark.parametrize("beside", [{}, {"argo/app.yaml": APPLICATION}])
def test_a_lab_beside_environments_is_judged_by_its_own_scripts(tmp_path: Path, beside: dict[str, str]) -> None:
    """It is there in each of them (`prod/labs/one`); a stray object of a deployer does not deploy it."""
    new = f"kubectl apply -f {STANDARD}\n"
    labs = {"labs/one/route.yaml": OLD, "labs/two/route.yaml": OLD, "labs/one/up.sh": OLD_CRDS, "README.md": new}
    found = [each for each in tree(tmp_path, {**ARRANGED, **labs, **beside}).findings() if each.rule == "GWP502"]
    assert {each.location.file.rpartition("labs/")[2] for each in found} == {"two/route.yaml"}


def test_a_crd_of_another_lab_serves_nothing_here(tmp_path: Path) -> None:
    labs = {"labs/one/route.yaml": OLD, "labs/two/route.yaml": OLD, "labs/one/up.sh": OLD_CRDS}
    found = tree(tmp_path, {**labs, "labs/two/crd.yaml": CRD % "true"}).findings()
    assert [each.location.file.rpartition("labs/")[2] for each in found if each.rule == "GWP502"] == ["two/route.yaml"]


def test_a_lab_whose_scripts_say_nothing_of_a_product_is_judged_by_the_others(tmp_path: Path) -> None:
    labs = {"labs/one/backend.yaml": BACKEND, "labs/two/backend.yaml": BACKEND, "labs/two/up.sh": OLD_CRDS}
    workspace = tree(tmp_path, {**labs, "labs/one/up.sh": f"helm install crds {CRDS} --version v2.1.0\n"})
    assert not [each.rule for each in workspace.findings() if each.rule == "GWP501" and each.severity != "note"]
