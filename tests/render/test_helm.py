"""How helm is called, and what happens when it cannot answer: with a stand-in that records what it was given."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.render.test_charts import FLUX, RELEASE, rendered
from tests.render.trees import deployed, written

STAND_IN = """#!/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin
{
  printf '%s\\n' "$@"
  env | grep -E '^(KUBECONFIG|HTTPS_PROXY|HELM_PLUGINS|HELM_KUBETOKEN)='
} > CALLS
for each in "$@"; do case "$each" in --values=*) cat "${each#--values=}" > VALUES ;; esac; done
ANSWER
"""
PRINTED = """cat <<'END'
---
# Source: shop/templates/route.yaml
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: made}
END"""


def stand_in(directory: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> Path:
    """A `helm` that records how it is called in files beside itself, and answers with a piece of shell."""
    directory.mkdir()
    program = directory / "helm"
    text = STAND_IN.replace("CALLS", str(directory / "calls")).replace("VALUES", str(directory / "values"))
    program.write_text(text.replace("ANSWER", answer))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")
    return directory


def test_how_helm_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = stand_in(tmp_path / "bin", monkeypatch, PRINTED)
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/config")
    monkeypatch.setenv("HELM_KUBETOKEN", "secret")
    found = rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    assert deployed(found) == {"prod": ["Gateway infra/edge", "HTTPRoute shop/made"]}
    said = (calls / "calls").read_text().splitlines()
    assert said[0] == "template"
    assert said[said.index("--") + 1] == "front"
    assert said[said.index("--") + 2].endswith("/tree/charts/shop")
    assert "--namespace=shop" in said
    assert "--api-versions=gateway.networking.k8s.io/v1/HTTPRoute" in said
    assert json.loads((calls / "values").read_text()) == {"section": "https"}
    assert "KUBECONFIG=/dev/null" in said
    assert "HTTPS_PROXY=http://127.0.0.1:9" in said
    assert not any(each.startswith("HELM_KUBETOKEN") for each in said)


@pytest.mark.parametrize("render", ["builtin", "external", "off"])
def test_helm_is_never_called_without_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, render: str) -> None:
    calls = stand_in(tmp_path / "bin", monkeypatch, PRINTED)
    rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE}, render)
    assert not (calls / "calls").exists()


def test_a_helm_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "bin", monkeypatch, "exec sleep 60")
    monkeypatch.setattr("policylint.render.helm.program.TIMEOUT", 0.3)
    found = rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    assert [each.message for each in found.simulations[0].world.notes] == [
        "chart charts/shop is not rendered: helm gave no answer in 0 s"
    ]


def test_without_helm_the_coverage_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    chance = {"charts/shop/templates/secret.yaml": '{{ $_ := set .Values "a" 1 }}a: {{ randAlpha 3 }}\n'}
    found = rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE, **chance})
    assert deployed(found) == {"prod": ["Gateway infra/edge"]}
    assert found.coverage.not_rendered == (
        "1 HelmRelease of 1 not rendered",
        "1 chart not rendered: helm is not installed",
    )
    assert [each.message for each in found.findings() if each.rule == "GWP911"] == [
        "chart charts/shop is not rendered: without helm it is not known what it makes: `randAlpha`"
    ]


def test_a_chart_that_prints_without_end_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "bin", monkeypatch, "head -c 2000000 /dev/zero")
    monkeypatch.setattr("policylint.render.helm.program.MAX_OUTPUT", 2**20)
    found = rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    assert [each.message for each in found.simulations[0].world.notes] == [
        "chart charts/shop is not rendered: it makes more than 1 MiB"
    ]


@pytest.mark.parametrize("answer", ["printf 'a: [\\n---\\n# Source: x\\n- 1\\n'", "printf '\\000'", "exit 0"])
def test_nonsense_from_helm_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    stand_in(tmp_path / "bin", monkeypatch, answer)
    found = rendered(tmp_path / "tree", {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    assert deployed(found) == {"prod": ["Gateway infra/edge"]}


def test_a_link_out_of_the_repository_is_not_given_to_helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(
        tmp_path / "bin",
        monkeypatch,
        'for last; do :; done; find "$last" -type f | sed "s/.*charts.shop.//" | sort > FILES',
    )
    program = tmp_path / "bin/helm"
    program.write_text(program.read_text().replace("FILES", str(tmp_path / "files")))
    (tmp_path / "secret.yaml").write_text("password: x\n")
    tree = tmp_path / "tree"
    written(tree, {**FLUX, "clusters/prod/shop.yaml": RELEASE})
    (tree / "charts/shop/templates/link.yaml").symlink_to(tmp_path / "secret.yaml")
    rendered(tree, {})
    assert (tmp_path / "files").read_text().split() == [
        "Chart.yaml",
        "templates/_helpers.tpl",
        "templates/route.yaml",
        "values.yaml",
    ]
