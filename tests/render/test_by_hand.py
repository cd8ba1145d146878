"""What a script applies is there, though no deployer of the tree takes it in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.test_alternatives import GATEWAY, ROUTE, SERVICE, tree

FILES = {
    "apps/kustomization.yaml": "resources: [route.yaml, service.yaml]\n",
    "apps/route.yaml": ROUTE.format(section=""),
    "apps/service.yaml": SERVICE,
    "other/kustomization.yaml": "resources: [gateway.yaml]\n",
    "other/gateway.yaml": GATEWAY.format(listener="http").replace("name: edge", "name: other"),
    "clusters/main/apps.yaml": """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: other, namespace: flux-system}
spec: {path: ./other, sourceRef: {kind: GitRepository, name: flux-system}}
""",
    "bootstrap/gateway.yaml": GATEWAY.format(listener="http"),
}


def missing(root: Path, files: dict[str, str]) -> list[str]:
    return [each.confidence for each in tree(root, files).findings() if each.rule == "GWP401"]


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("setup.sh", "kubectl apply -f bootstrap/gateway.yaml"),
        ("bootstrap/run.sh", "kubectl apply --server-side -f gateway.yaml"),
        ("Makefile", "up:\n\tkubectl --context kind apply -f bootstrap/"),
        ("setup.sh", "kubectl apply \\\n  --namespace shop \\\n  -f ./bootstrap/gateway.yaml"),
        ("README.md", "```sh\noc apply -f bootstrap/gateway.yaml\n```"),
    ],
)
def test_a_gateway_that_a_script_applies_is_not_missing(script: str, command: str, tmp_path: Path) -> None:
    assert missing(tmp_path, {**FILES, script: command}) == ["unknown"]


@pytest.mark.parametrize("command", ["", "kubectl apply -f bootstrap/other.yaml", "echo bootstrap/gateway.yaml"])
def test_one_that_no_script_applies_is(command: str, tmp_path: Path) -> None:
    assert missing(tmp_path, {**FILES, "setup.sh": command}) == ["certain"]
