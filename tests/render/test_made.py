"""GWP914 is silent of what a script makes before somebody builds by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.workspace import open_workspace
from tests.diff.history import commit
from tests.render.test_flux import SYNC, kustomization
from tests.render.trees import ROUTE

BUILD = "kustomize build . > all.yaml\n"


def said(tmp_path: Path, files: dict[str, str]) -> list[str]:
    commit(tmp_path, {"app/route.yaml": ROUTE.lstrip(), **files})
    return [each.rule for each in open_workspace([str(tmp_path)]).findings() if each.rule == "GWP914"]


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("app/generate.sh", f"cp -R ../policies policies\n{BUILD}rm -rf policies\n"),
        ("app/generate.sh", f"rsync -a ../policies/ ./policies/\n{BUILD}"),
        ("app/generate.sh", f"helm template x | tee policies/login.yaml\n{BUILD}"),
        ("app/generate.sh", f"helm template x > 'policies/login.yaml'; {BUILD}"),
        ("app/generate.sh", f"curl -sSL https://example.com/login.yaml -o policies/login.yaml\n{BUILD}"),
        ("app/generate.sh", f"git clone --depth 1 https://example.com/policies.git policies\n{BUILD}"),
        ("Makefile", "up:\n\tln -s ../policies app/policies && kubectl apply -k app\n"),
        ("README.md", "```sh\ncd app\ncp ../login.yaml policies/login.yaml\nkubectl apply -k .\n```\n"),
        ("hack/up.sh", 'cp login.yaml "$ROOT/app/policies/login.yaml"\nkubectl apply -k "$ROOT/app"\n'),
    ],
)
def test_what_a_script_makes_is_there_when_it_builds(tmp_path: Path, script: str, text: str) -> None:
    kept = {"app/kustomization.yaml": "resources: [route.yaml, policies/login.yaml]\n"}
    assert said(tmp_path, {**kept, script: text}) == []


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("app/generate.sh", BUILD),
        ("app/generate.sh", f"cp -R policies ../elsewhere\n{BUILD}"),
        ("other/generate.sh", f"cp -R ../policies policies\n{BUILD}"),
        ("app/generate.sh", "cp -R ../policies policies\n"),
    ],
)
def test_what_no_script_makes_that_builds_is_missing(tmp_path: Path, script: str, text: str) -> None:
    kept = {"app/kustomization.yaml": "resources: [route.yaml, policies/login.yaml]\n"}
    assert said(tmp_path, {**kept, script: text}) == ["GWP914"]


def test_deployers_run_no_scripts(tmp_path: Path) -> None:
    files = {
        SYNC: kustomization("flux-system", "./clusters/prod"),
        "clusters/prod/app.yaml": kustomization("app", "./app"),
        "app/kustomization.yaml": "resources: [route.yaml, policies/login.yaml]\n",
        "app/generate.sh": f"cp -R ../policies policies\n{BUILD}",
    }
    assert said(tmp_path, files) == ["GWP914"]
