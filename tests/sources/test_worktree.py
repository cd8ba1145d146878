"""The work tree as a source: what is listed, what is skipped and why, how it is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policylint import documents, sources
from policylint.sources import Source, SourceError, open_source

OBJECT = "apiVersion: v1\nkind: X\n"


def write(root: Path, *names: str, text: str = OBJECT) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def paths(source: Source) -> list[str]:
    return [file.path for file in source.files()]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def repository(tree: Path) -> Path:
    git(tree, "init", "-q")
    return tree


def test_both_rooms_have_the_same_limit() -> None:
    assert sources.MAX_BYTES == documents.MAX_BYTES


def test_a_directory_is_walked_and_named_as_the_user_named_it(tree: Path) -> None:
    write(tree, "d/b.yaml", "d/a/c.yml", "d/x.txt", "d/.git2/e.yaml", "d/node_modules/n.yaml", "d/.terraform/t.yaml")
    assert paths(open_source(["d"])) == ["d/.git2/e.yaml", "d/a/c.yml", "d/b.yaml"]
    assert paths(open_source(["./d/../d/"])) == ["d/.git2/e.yaml", "d/a/c.yml", "d/b.yaml"]
    assert paths(open_source([str(tree / "d" / "a")])) == [f"{tree}/d/a/c.yml"]
    source = open_source(["d"])
    assert source.root == str(tree.resolve() / "d")
    assert [file.relative for file in source.files()] == [".git2/e.yaml", "a/c.yml", "b.yaml"]


def test_patterns_of_ignored_files_are_the_users(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`core.excludesFile` counts where the user says it, and not where the repository does."""
    write(repository, "a.yaml", "scratch/b.yaml")
    (repository / "patterns").write_text("scratch/\n")
    (repository / "user").write_text(f"[core]\n\texcludesFile = {repository}/patterns\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git(repository, "config", "core.excludesFile", str(repository / "patterns"))
    assert paths(open_source(["."])) == ["a.yaml", "scratch/b.yaml"]
    git(repository, "config", "--unset", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(repository / "user"))
    assert paths(open_source(["."])) == ["a.yaml"]


def test_the_work_tree_is_not_elsewhere(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever `core.worktree` says; a submodule's says the same as its place."""
    other = tmp_path_factory.mktemp("other")
    write(repository, "a.yaml", "sub/b.yaml")
    write(other, "secret.yaml", "sub/secret.yaml")
    git(repository, "config", "core.worktree", str(other))
    assert paths(open_source(["."])) == ["a.yaml", "sub/b.yaml"]
    assert paths(open_source(["sub"])) == ["sub/b.yaml"]


def test_a_repository_is_listed_as_git_sees_it(repository: Path) -> None:
    write(repository, "kept.yaml", "deleted.yaml", "sub/x.yaml", "ignored/y.yaml", "untracked.yaml")
    write(repository, ".gitignore", text="ignored/\n")
    git(repository, "add", "kept.yaml", "deleted.yaml", "sub", ".gitignore")
    git(repository, "commit", "-qm", "x")
    (repository / "deleted.yaml").unlink()
    assert paths(open_source([])) == ["kept.yaml", "sub/x.yaml", "untracked.yaml"]
    source = open_source(["sub"])
    assert paths(source) == ["sub/x.yaml"]
    assert source.root == str(repository.resolve())
    assert source.files()[0].relative == "sub/x.yaml"
    assert not source.problems


def test_what_the_user_names_is_read_even_if_git_ignores_it(repository: Path) -> None:
    write(repository, "ignored/y.yaml", "ignored/z.txt")
    write(repository, ".gitignore", text="ignored/\n")
    assert paths(open_source(["ignored"])) == ["ignored/y.yaml"]
    assert paths(open_source(["ignored/z.txt"])) == ["ignored/z.txt"]


def test_git_missing_means_walking(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repository, "a.yaml")
    monkeypatch.setenv("PATH", str(repository / "nowhere"))
    assert paths(open_source(["."])) == ["a.yaml"]


def test_names_with_spaces_newlines_and_bytes_that_are_not_utf8(repository: Path) -> None:
    write(repository, "a b.yaml", "é.yaml", "n\nl.yaml")
    Path(os.fsdecode(os.fsencode(repository) + b"/\xff.yaml")).write_text(OBJECT)
    source = open_source(["."])
    assert paths(source) == ["a b.yaml", "n\nl.yaml", "é.yaml", "\ufffd.yaml"]
    assert all(file.read() == OBJECT.encode() for file in source.files())


def test_several_paths_and_each_file_once(tree: Path) -> None:
    write(tree, "d/a.yaml", "d/b.yaml", "e/c.yaml")
    assert paths(open_source(["d", "e", "d/a.yaml", "."])) == ["d/a.yaml", "d/b.yaml", "e/c.yaml"]


def test_exclude(tree: Path) -> None:
    write(tree, "a.yaml", "d/a.yaml", "d/e/b.yaml", "f/b.yaml")
    assert paths(open_source(["."], exclude=["d"])) == ["a.yaml", "f/b.yaml"]
    assert paths(open_source(["."], exclude=["**/b.yaml", "f/"])) == ["a.yaml", "d/a.yaml"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("chart/templates/a.yaml", "Helm template"),
        ("chart/templates/deep/a.yaml", "Helm template"),
        ("chart/Chart.yaml", "Helm chart metadata"),
        ("chart/values.yaml", "Helm values"),
        ("chart/values-prod.yaml", "Helm values"),
        ("chart/crds/a.yaml", None),
        ("chart/files/a.yaml", "Helm values"),
        ("templates/a.yaml", None),
        ("values.yaml", None),
        ("a.yaml.j2", "template"),
        ("a.tftpl.yaml", "template"),
        ("a.template.yaml", "template"),
        ("a.tmpl.yml", "template"),
        (".github/workflows/ci.yaml", "CI configuration"),
        (".gitlab-ci.yml", "CI configuration"),
        ("mkdocs.yml", "tool configuration"),
        (".pre-commit-config.yaml", "tool configuration"),
        ("Taskfile.yaml", "tool configuration"),
        ("docker-compose.yml", "Docker Compose"),
        ("compose.override.yaml", "Docker Compose"),
        ("package.json", "package metadata"),
        ("pnpm-lock.yaml", "package metadata"),
        ("x.schema.json", "JSON Schema"),
        ("kustomization.yaml", None),
        ("compose/app.yaml", None),
    ],
)
def test_classification_by_path(tree: Path, name: str, reason: str | None) -> None:
    write(tree, name, text=OBJECT if "/" in name or reason is None else "a: 1\n")
    if name.startswith("chart/"):
        write(tree, "chart/Chart.yaml", text="name: x\n")
    source = open_source(["."])
    assert (name in paths(source)) == (reason is None)
    assert next((why for why, names in source.skipped.items() if name in names), None) == reason


@pytest.mark.parametrize(
    "name",
    [
        *(
            "codecov.yaml",
            ".gitlab-ci.yml",
            "mkdocs.yml",
            "compose.x.yaml",
            "pnpm-lock.yaml",
            "package.json",
            "a.lock.yaml",
        ),
        *("x.schema.json", "tsconfig.json", "a.tmpl.yaml"),
    ],
)
@pytest.mark.parametrize(
    "content",
    [
        OBJECT.encode(),
        OBJECT.encode("utf-16"),
        OBJECT.encode("utf-32"),
        b'{"\\u0061piVersion": v1, "\\x6bind": X}',
        b'{"api\\\n  Version": v1, "\\U0000006bind": X}',
        b"!!binary a2luZA==: X\n",
    ],
)
def test_a_file_that_holds_an_object_is_read_whatever_its_name(tree: Path, name: str, content: bytes) -> None:
    write(tree, name)
    (tree / name).write_bytes(content)
    source = open_source(["."])
    assert (paths(source), source.skipped) == ([name], {})


def test_a_hidden_directory_is_read_where_it_is_named(tree: Path) -> None:
    (tree / ".git").mkdir()
    write(tree, ".github/a.yaml")
    write(tree, ".github/ci.yaml", text="on: push\n")
    assert paths(open_source(["."])) == []
    source = open_source([".github"])
    assert paths(source) == [".github/a.yaml"]
    assert source.skipped == {"CI configuration": [".github/ci.yaml"]}


def test_a_directory_inside_a_chart_is_still_part_of_the_chart(repository: Path) -> None:
    write(repository, "chart/Chart.yaml", "chart/templates/a.yaml")
    source = open_source(["chart/templates"])
    assert paths(source) == []
    assert source.skipped == {"Helm template": ["chart/templates/a.yaml"]}
    assert paths(open_source(["chart/templates/a.yaml"])) == ["chart/templates/a.yaml"]


def test_json_counts_only_when_it_looks_like_an_object(tree: Path) -> None:
    write(tree, "object.json", text='{"apiVersion": "v1", "kind": "X"}')
    write(tree, "other.json", text='{"a": 1}')
    source = open_source(["."])
    assert paths(source) == ["object.json"]
    assert source.skipped == {}
    assert paths(open_source(["other.json"])) == ["other.json"]


def test_any_file_by_its_path_and_text_for_snippets(tree: Path) -> None:
    write(tree, "chart/Chart.yaml", "chart/values.yaml")
    (tree / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: \xff\n")
    source = open_source(["."])
    assert source.file("chart/values.yaml").read() == OBJECT.encode()
    assert source.text("a.yaml") == ["a: 1", "b: \ufffd", ""]
    assert source.text("nothing.yaml") == []
    with pytest.raises(SourceError, match=r"nothing\.yaml: no such file"):
        source.file("nothing.yaml")


def test_stdin() -> None:
    code = (
        "from policylint.sources import open_source\n"
        "s = open_source(['-'])\n"
        "print([(f.path, f.read()) for f in s.files()], s.root, s.text('<stdin>'), s.problems)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"a: 1\n",
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.stdout.decode().strip() == "[('<stdin>', b'a: 1\\n')] None ['a: 1', ''] []"


def test_process_substitution() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a: 1\n")
    os.close(writer)
    source = open_source([f"/dev/fd/{reader}"])
    assert [file.read() for file in source.files()] == [b"a: 1\n"]
    os.close(reader)
