"""A work tree and the revision that was committed from it list the same files below every directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.sources import Source, SourceError, open_source
from policylint.sources.git import Repository
from policylint.sources.revision import at_revision
from policylint.workspace import open_workspace
from tests.diff.history import commit

FILES = {
    "apps/one/route.yaml": "a: b\n",
    "apps/one/.hidden.yaml": "a: b\n",
    "apps/one/.drafts/late.yml": "a: b\n",
    "apps-more/config.json": '{"cluster": "one"}\n',
    "apps/values.txt": "text\n",
    ".github/workflow.yaml": "a: b\n",
    "top.yaml": "a: b\n",
}


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Source, Source]:
    monkeypatch.chdir(tmp_path)
    commit(tmp_path, dict(FILES))
    return open_source(["."]), at_revision(Repository("."), "HEAD")


@pytest.mark.parametrize("directory", ["", "apps", "apps/one", "apps/one/.drafts", "apps-more", "nowhere", "top.yaml"])
def test_both_have_the_same_files_below_a_directory(both: tuple[Source, Source], directory: str) -> None:
    tree, revision = both
    expected = sorted(path for path in FILES if not directory or path.startswith(f"{directory}/"))
    assert tree.files_below(directory) == revision.files_below(directory) == expected
    assert sorted(tree.yaml_below(directory)) == sorted(revision.yaml_below(directory))


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("", ["apps/deploy.sh", "node_modules.txt"]),
        ("apps", ["apps/deploy.sh"]),
        ("node_modules", ["node_modules/kit/deploy.sh"]),
    ],
)
def test_packages_and_caches_are_below_a_directory_only_where_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: str, expected: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    places = ("apps", "node_modules/kit", ".venv/bin", "apps/__pycache__", "apps/charts/.terraform/one")
    commit(tmp_path, {"node_modules.txt": "one\n"} | {f"{place}/deploy.sh": "kubectl apply -f .\n" for place in places})
    tree, revision = open_source(["."]), at_revision(Repository("."), "HEAD")
    assert tree.files_below(directory) == revision.files_below(directory) == expected


def test_hidden_directories_are_no_place_for_manifests(both: tuple[Source, Source]) -> None:
    for source in both:
        assert sorted(source.yaml_below("")) == ["apps/one/.hidden.yaml", "apps/one/route.yaml", "top.yaml"]
        assert list(source.yaml_below("apps/one/.drafts")) == ["apps/one/.drafts/late.yml"]


def test_both_give_any_file_and_none_from_outside(both: tuple[Source, Source], tmp_path: Path) -> None:
    (tmp_path.parent / "outside.txt").write_text("no", encoding="utf-8")
    for source in both:
        assert source.at("apps/values.txt", "apps/values.txt").read() == b"text\n"
        for path in ("apps/none.txt", "apps", "../outside.txt"):
            with pytest.raises(SourceError):
                source.at(path, path).read()


APPLICATION_SET = """
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: apps, namespace: argocd}
spec:
  generators: [{git: {repoURL: https://example.org/x, files: [{path: "clusters/*.json"}]}}]
  template:
    metadata: {name: "app-{{cluster}}"}
    spec:
      project: default
      source: {repoURL: https://example.org/x, path: "apps/{{cluster}}"}
      destination: {namespace: shop, server: https://kubernetes.default.svc}
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: one}
spec: {parentRefs: [{name: edge}]}
"""


def test_an_application_set_finds_its_json_files_in_a_revision_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files: dict[str, str | None] = {
        "argo/apps.yaml": APPLICATION_SET,
        "clusters/one.json": '{"cluster": "one"}\n',
        "apps/one/route.yaml": ROUTE,
    }
    commit(tmp_path, files)
    for source in (open_source(["."]), at_revision(Repository("."), "HEAD")):
        (simulation,) = open_workspace(source=source).simulations
        assert [str(state.route.key) for state in simulation.topology.routes] == ["HTTPRoute shop/one"]


def test_what_was_not_rendered_is_counted_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commit(tmp_path, {"apps/kustomization.yaml": "resources: [../../one, ../../two, r.yaml]\n", "apps/r.yaml": ROUTE})
    assert open_workspace(["."]).coverage.not_rendered == ("2 paths out of the tree",)
