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
