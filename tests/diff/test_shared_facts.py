"""What the sides of a diff share of reading changes nothing of what it says; each content is parsed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.documents import FileReading, Unread
from policylint.load import shared_facts as shared_facts_module
from policylint.load.facts import Facts
from policylint.load.reading import load
from policylint.load.shared_facts import SharedFacts
from policylint.session import diff as session_diff
from policylint.sources import open_source
from policylint.workspace import known_groups
from tests.diff.history import MAKE, commit, run, steady

FORMATS = ("concise", "json-v1", "sarif", "markdown")
History = tuple[Path, list[str]]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were parsed, as shown, and as `file#number` documents that were parsed after all."""
    names: list[str] = []
    of_file, of_unread = shared_facts_module.facts_of, shared_facts_module.read_unread

    def counted(data: bytes, file: str, *how: Any) -> Facts:
        names.append(file)
        return of_file(data, file, *how)

    def counted_unread(data: bytes, unread: Unread) -> FileReading:
        names.append(f"{unread.file}#{unread.number}")
        return of_unread(data, unread)

    monkeypatch.setattr(shared_facts_module, "facts_of", counted)
    monkeypatch.setattr(shared_facts_module, "read_unread", counted_unread)
    return names


def every_format(directory: Path, out: Path, *arguments: str) -> dict[str, str]:
    """What a diff writes, in several formats, and its exit code."""
    out.mkdir(exist_ok=True)
    outputs = [part for form in FORMATS for part in ("--output", f"{form}={out / form}")]
    code, text, said = run(directory, "diff", *arguments, "--show-unknown", *outputs)
    written = {form: steady((out / form).read_text(encoding="utf-8")) for form in FORMATS}
    return {"stdout": steady(text), "stderr": said, "code": str(code), **written}


def assert_same(directory: Path, out: Path, *arguments: str) -> None:
    """Hold a diff whose sides share what was read against one whose sides share nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_diff, "SharedFacts", lambda: None)
        alone = every_format(directory, out, *arguments)
    assert every_format(directory, out, *arguments) == alone


@pytest.mark.parametrize("step", range(1, 18))
def test_it_says_the_same_of_every_commit(history: History, step: int, tmp_path: Path) -> None:
    directory, ids = history
    assert_same(directory, tmp_path / "out", f"{ids[step - 1]}..{ids[step]}", *(["--strict"] if step % 2 else []))


def test_it_says_the_same_of_the_work_tree(history: History, tmp_path: Path) -> None:
    directory, ids = history
    MAKE.git(tmp_path, "clone", "-q", str(directory), "clone")
    assert_same(tmp_path / "clone", tmp_path / "out", ids[0])


def test_of_two_sides_each_content_is_parsed_once(history: History, parsed: list[str]) -> None:
    directory, ids = history
    run(directory, "diff", f"{ids[0]}..{ids[0]}")
    files = len(parsed)
    assert files == len(set(parsed)) > 0
    run(directory, "diff", f"{ids[0]}..{ids[1]}")
    assert files < len(parsed) - files < files + 5


def test_the_work_tree_shares_with_a_revision(history: History, tmp_path: Path, parsed: list[str]) -> None:
    """Contents are known by git's own ids, whether or not git was asked for them."""
    directory, _ = history
    MAKE.git(tmp_path, "clone", "-q", str(directory), "clone")
    run(tmp_path / "clone", "diff", "HEAD")
    assert len(parsed) == len(set(parsed)) > 0


def test_documents_that_are_needed_late_are_parsed_once(tmp_path: Path, parsed: list[str]) -> None:
    policy = (
        "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: p, namespace: a}\n"
        "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]\n"
        "  basicAuth: {users: {kind: Secret, name: users}}\n"
    )
    users = "apiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: a}\ndata: {.htpasswd: eA==}\n"
    tree = tmp_path / "tree"
    first = commit(tree, {"policy.yaml": policy, "users.yaml": users})
    second = commit(tree, {"policy.yaml": policy.replace("name: p,", "name: q,")})
    run(tree, "diff", f"{first}..{second}")
    assert sorted(parsed) == ["policy.yaml", "policy.yaml", "users.yaml", "users.yaml#1"]
    assert_same(tree, tmp_path / "out", f"{first}..{second}")


def test_a_file_that_changes_is_read_whatever_its_time_and_size(tmp_path: Path, parsed: list[str]) -> None:
    import os

    place = tmp_path / "gateway.yaml"
    place.write_text("")
    state = place.stat()
    shared_facts, names = SharedFacts(), []
    for name in ("edge", "edgy", "edge"):
        place.write_text(
            f"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: {name}}}\n", encoding="utf-8"
        )
        os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))
        loaded = load(open_source([str(tmp_path)]), known_groups(), shared_facts=shared_facts)
        names += [document.value["metadata"]["name"] for document in loaded.documents]
    assert names == ["edge", "edgy", "edge"]
    assert len(parsed) == 2


def test_without_sharing_no_content_is_kept(tmp_path: Path, parsed: list[str]) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", encoding="utf-8")
    for _ in range(2):
        load(open_source([str(tmp_path)]), known_groups())
    assert len(parsed) == 2


def test_a_pointer_of_lfs_is_not_taken_for_the_content(tmp_path: Path) -> None:
    """In the work tree it is read as text; in a revision it says that the content is not here."""
    tree = tmp_path / "tree"
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    commit(tree, {"big.yaml": pointer})
    assert_same(tree, tmp_path / "out", "HEAD", "--show", "unchanged")
    assert_same(tree, tmp_path / "out", "HEAD..HEAD", "--show", "unchanged")


def test_a_file_that_cannot_be_read_is_a_problem_on_both_sides(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"
    (tree / "sub").mkdir(parents=True)
    (tree / "gone.yaml").symlink_to("nowhere.yaml")
    commit(tree, {"sub/a.yaml": service})
    assert_same(tree, tmp_path / "out", "HEAD", "--show", "unchanged")
    shared_facts = SharedFacts()
    (tree / "sub" / "a.yaml").unlink()
    (tree / "sub" / "a.yaml").symlink_to("a.yaml")
    for _ in range(2):
        loaded = load(open_source([str(tree)]), known_groups(), shared_facts=shared_facts)
        assert {problem.file.rpartition("/")[2] for problem in loaded.problems} == {"a.yaml", "gone.yaml"}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("app/kustomization.yaml", "app/notes.yaml"),
        ("app/notes.yaml", "app/kustomization.yaml"),
        ("app/kustomization.yaml", "chart/templates/kustomization.yaml"),
        ("app/Chart.yaml", "app/kustomization.yaml"),
    ],
)
def test_one_content_under_another_name_is_another_thing(was: str, now: str, tmp_path: Path) -> None:
    """What is kept of a content is found by it alone, and the author of a change chooses what it is called."""
    tree, build = tmp_path / "tree", "name: x\nversion: 1.0.0\nresources: [route.yaml]\nnamePrefix: other-\n"
    route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: shop}\n"
    commit(tree, {was: build, "app/route.yaml": route + "spec: {parentRefs: [{name: edge}]}\n"})
    commit(tree, {was: None, now: build})
    assert_same(tree, tmp_path / "out", "HEAD^..HEAD")
    back = every_format(tree, tmp_path / "back", "HEAD..HEAD^")
    assert ("other-r" in back["json-v1"]) == ("app/kustomization.yaml" in (was, now))


OBJECT = (
    "apiVersion: example.net/v1\nkind: Role\nmetadata:\n  labels:\n    name: all\n  name: '{}'\nspec: {{name: all}}\n"
)


@pytest.mark.parametrize("written", [OBJECT, OBJECT.replace("  ", "    "), OBJECT.replace("'", "")])
def test_of_a_kind_that_nothing_reads_what_is_edited_is_parsed(tmp_path: Path, parsed: list[str], written: str) -> None:
    commit(tmp_path, {f"{name}.yaml": written.format(name) for name in ("one", "other", "third")})
    commit(tmp_path, {"one.yaml": written.format("one") + "# edited\n"})
    run(tmp_path, "diff", "HEAD~1..HEAD")
    assert [name for name in parsed if "#" in name] == ["one.yaml#1"] * 2
