"""What kubectl deploys is read, however it is written: whoever could hide a policy from a linter would."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

import policylint
from bench import fuzz_kubectl
from policylint.documents import read
from policylint.sources import open_source
from policylint.sources.git import Repository
from policylint.sources.revision import at_revision
from tests.diff.history import commit

ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: hidden, namespace: shop}
spec: {parentRefs: [{name: nowhere}]}
"""


def kinds(data: bytes) -> list[str]:
    """Return the kinds of the documents that a reader finds who wants HTTPRoutes alone."""
    reading = read(data, "f.yaml", wanted=lambda _, kind: kind == "HTTPRoute")
    return [document.value["kind"] for document in reading.documents]


@pytest.mark.parametrize(
    "data",
    [
        "# a comment\r" + ROUTE.replace("\n", "\r"),
        "# a comment\u0085" + ROUTE,
        "# a comment\u2028" + ROUTE,
        "# a comment\u2029" + ROUTE,
        "kind: ConfigMap # no\rkind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\n",
        "kind: ConfigMap # no\u0085kind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\n",
        '"kind": HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: "\nkind: ConfigMap\n"\n',
        "'kind': HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        "? kind\n: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        "!!str kind: HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        "kind : HTTPRoute\napiVersion: gateway.networking.k8s.io/v1\nnote: '\nkind: ConfigMap\n'\n",
        '{"kind": HTTPRoute,\napiVersion: gateway.networking.k8s.io/v1, note: {\nkind: ConfigMap\n}}\n',
        "--- {kind: HTTPRoute, apiVersion: gateway.networking.k8s.io/v1, no: '\nkind: ConfigMap\napiVersion: v1\n'}\n",
        "apiVersion: v1\nkind: ConfigMap\n%YAML 1.2\n---\n  " + ROUTE.strip().replace("\n", "\n  "),
    ],
)
def test_an_object_whose_kind_is_in_disguise_is_read(data: str) -> None:
    assert "HTTPRoute" in kinds(data.encode())


def test_a_plain_object_of_another_kind_is_left_unread() -> None:
    assert kinds(b"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n") == []
    assert kinds(b"apiVersion: v1\r\nkind: ConfigMap\r\ndata:\r\n  a: b\r\n") == []


def rules(directory: Path) -> set[str]:
    return {finding.rule for finding in policylint.lint(directory).findings}


def test_items_of_any_object_are_objects_as_kubectl_sees_it(tmp_path: Path) -> None:
    item = "\n".join(f"  {line}" for line in ROUTE.splitlines()).replace("  apiVersion", "- apiVersion", 1)
    (tmp_path / "bundle.yaml").write_text(f"apiVersion: example.com/v1\nkind: Bundle\nitems:\n{item}\n")
    assert "GWP401" in rules(tmp_path)


def test_what_stands_above_a_trailer_that_looks_like_a_template_is_read(tmp_path: Path) -> None:
    (tmp_path / "route.yaml").write_text(f"{ROUTE}---\n{{% trailer\n")
    assert {"GWP401", "GWP910"} <= rules(tmp_path)


def test_a_file_that_begins_as_a_template_is_none(tmp_path: Path) -> None:
    (tmp_path / "route.yaml").write_text(f"{{% if x %}}\n---\n{ROUTE}")
    assert rules(tmp_path) == set()


def test_a_long_pattern_of_a_patch_is_a_pattern(tmp_path: Path) -> None:
    names = "|".join(f"other-{number:03}" for number in range(40))
    (tmp_path / "route.yaml").write_text(ROUTE)
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [route.yaml]\n"
        f"patches: [{{target: {{kind: HTTPRoute, name: {names}|hidden}},"
        ' patch: "[{op: replace, path: /spec/parentRefs/0/name, value: elsewhere}]"}]\n'
    )
    (finding,) = [each for each in policylint.lint(tmp_path).findings if each.rule == "GWP401"]
    assert "elsewhere" in finding.message


@pytest.mark.parametrize("line_break", ["\u2028", "\u2029", "\u0085", "\r"])
def test_a_comment_hides_nothing_behind_another_line_break(line_break: str) -> None:
    assert kinds(f"# a comment\n---\n{ROUTE}".replace("\n", line_break).encode()) == ["HTTPRoute"]


def test_what_libyaml_refuses_above_a_template_is_said(tmp_path: Path) -> None:
    # kubectl takes a byte order mark in the middle of a text.
    (tmp_path / "route.yaml").write_text(f"note: |-\n\ufeff  x\n{ROUTE}---\n{{{{ .Values.x }}}}\n", encoding="utf-8")
    assert "GWP910" in rules(tmp_path)


FLUX = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}, interval: 1h, prune: true}
"""
ARGO = """apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: apps, namespace: argocd}
spec:
  source: {path: apps, repoURL: https://example.com/apps}
  destination: {server: https://kubernetes.default.svc, namespace: shop}
"""
KUSTOMIZE = "resources: [apps/ok.yaml, apps/NAME]\n"


@pytest.mark.parametrize("name", ["codecov.yaml", "compose.x.yaml", "mkdocs.yaml", "route.tmpl.yaml", "a.lock.yaml"])
@pytest.mark.parametrize(
    "deployer", [{}, {"flux.yaml": FLUX}, {"argo.yaml": ARGO}, {"kustomization.yaml": KUSTOMIZE}], ids=str
)
def test_a_name_hides_nothing_that_is_deployed(name: str, deployer: dict[str, str], tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "ok.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: ok}\n")
    (tmp_path / "apps" / name).write_text(ROUTE)
    for file, text in deployer.items():
        (tmp_path / file).write_text(text.replace("NAME", name))
    (simulation,) = policylint.open(tmp_path).simulations
    assert [route.route.location().file.endswith(f"apps/{name}") for route in simulation.topology.routes] == [True]


def test_a_name_hides_nothing_in_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = ["a.lock.yaml", "codecov.yaml", "docker-compose.yml", "package.json", "x.schema.json", ".github/a.yaml"]
    commit(
        tmp_path, {**dict.fromkeys(objects, ROUTE), "mkdocs.yaml": "site_name: x\n", ".github/ci.yaml": "on: push\n"}
    )
    monkeypatch.chdir(tmp_path)
    for source in (open_source(["."]), at_revision(Repository("."), "HEAD")):
        assert [file.path for file in source.files()] == objects[:-1]
        assert source.skipped == {
            "CI configuration": [".github/a.yaml", ".github/ci.yaml"],
            "tool configuration": ["mkdocs.yaml"],
        }
    for source in (open_source([".github"]), at_revision(Repository("."), "HEAD", [".github"])):
        assert [file.path for file in source.files()] == [".github/a.yaml"]
        assert source.skipped == {"CI configuration": [".github/ci.yaml"]}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_sees_nothing_more(tmp_path: Path) -> None:
    random_ = random.Random(18)
    for number in range(150):
        name, data = fuzz_kubectl.written(random_, number)
        (tmp_path / f"c{number}").mkdir()
        (tmp_path / f"c{number}" / Path(name).name).write_bytes(data)
    missed = {identity.name.partition("-")[0].replace("o", "c") for identity in fuzz_kubectl.blind(tmp_path)}
    assert [name for name in missed if not fuzz_kubectl.by_policylint(tmp_path / name)[1]] == []
