"""Git as a source: revisions, the index, clones of every kind, links, pointers, and what is said when one lacks."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from policylint.sources import SourceError, open_source
from policylint.sources.git import LFS_POINTER, Repository, RevisionError
from policylint.sources.revision import Revision, at_revision, staged
from tests.diff.history import MAKE, commit, run

History = tuple[Path, list[str]]
CLASS = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: envoy}\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_revision_lists_what_the_work_tree_does(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, _ = history
    for place in (directory, directory / "apps" / "shop"):
        monkeypatch.chdir(place)
        source, tree = (
            at_revision(Repository("."), "HEAD"),
            open_source([str(Path("../..") if place != directory else ".")]),
        )
        assert [(each.path, each.relative, each.read()) for each in source.files()] == [
            (each.path, each.relative, each.read()) for each in tree.files()
        ]
        assert (source.root, source.problems) == (tree.root, tree.problems)


def test_paths_narrow_down_and_single_files_count_whatever_their_name(inside: Path) -> None:
    commit(inside, {"a/x.yaml": CLASS, "b/y.yaml": CLASS, "notes.txt": CLASS, "charts/c/Chart.yaml": "name: c\n"})
    repository = Repository(".")
    assert [each.path for each in at_revision(repository, "HEAD", ["a", "notes.txt"]).files()] == [
        "a/x.yaml",
        "notes.txt",
    ]
    assert at_revision(repository, "HEAD", ()).files() == []
    assert at_revision(repository, "HEAD").skipped == {"Helm chart metadata": ["charts/c/Chart.yaml"]}
    assert [each.path for each in at_revision(repository, "HEAD", exclude=["b"]).files()] == ["a/x.yaml"]


def listed(source: Revision) -> Any:
    files = [(each.path, each.relative, each.known_id(), each.read()) for each in source.files()]
    return files, source.skipped, source.problems


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"a/x.yaml": CLASS.replace("envoy", "other")},
        {"a/x.yaml": None},
        {"a/y.yaml": CLASS},
        {"a/Chart.yaml": "name: a\n"},
        {"charts/c/Chart.yaml": None},
        {"real/kept": CLASS.replace("envoy", "other")},
        {"real/kept": None},
        {"real/kept": CLASS, "b/link.yaml": CLASS},
        {"b/one.json": "[]"},
        {"b/two.json": '{"apiVersion": "v1", "kind": "Service"}'},
    ],
    ids=str,
)
def test_a_second_revision_is_listed_as_if_it_were_the_first(inside: Path, changed: dict[str, str | None]) -> None:
    """Files that both have are one, but what an entry is depends on charts, links and contents of its own tree."""
    (inside / "b").mkdir()
    (inside / "b" / "link.yaml").symlink_to("../real/kept")
    one, two = '{"apiVersion": "v1", "kind": "ConfigMap"}', "[]"
    files = {"a/x.yaml": CLASS, "a/values.yaml": CLASS, "a/templates/x.yaml": CLASS, "real/kept": CLASS}
    files |= {"charts/c/Chart.yaml": "name: c\n", "charts/c/values.yaml": CLASS, "b/one.json": one, "b/two.json": two}
    commit(inside, files)
    for path, content in changed.items():
        (inside / path).unlink(missing_ok=True)
        if content is not None:
            (inside / path).write_text(content)
    commit(inside, {"note.txt": "second\n"})
    repository = Repository(".")
    before, after = at_revision(repository, "HEAD~1"), at_revision(repository, "HEAD")
    was, now = listed(before), listed(after)
    assert now == listed(at_revision(Repository("."), "HEAD"))
    assert was == listed(at_revision(Repository("."), "HEAD~1"))
    mine, theirs = ({each.path: each for each in source.files()} for source in (before, after))
    same_charts = not any(path.endswith("Chart.yaml") for path in changed)
    assert (mine["a/x.yaml"] is theirs.get("a/x.yaml")) == ("a/x.yaml" not in changed and same_charts)


@pytest.mark.parametrize("lack", ["function", "memory"])
def test_git_is_read_through_a_pipe_where_there_are_no_files_in_memory(
    inside: Path, monkeypatch: pytest.MonkeyPatch, lack: str
) -> None:
    commit(inside, {"x.yaml": CLASS, "y.yaml": "# \u00e9\n" * 50_000 + CLASS})
    wanted = listed(at_revision(Repository("."), "HEAD"))

    def fail(name: str) -> int:
        raise OSError(28, name)

    monkeypatch.delattr(os, "memfd_create", raising=False)
    if lack == "memory":
        monkeypatch.setattr(os, "memfd_create", fail, raising=False)
    assert listed(at_revision(Repository("."), "HEAD")) == wanted


def test_links_are_followed_inside_the_tree_only(inside: Path) -> None:
    (inside / "real").mkdir()
    for link, target in (
        ("good.yaml", "real/kept"),
        ("out.yaml", "../x.yaml"),
        ("gone.yaml", "nothing"),
        ("me.yaml", "me.yaml"),
    ):
        (inside / link).symlink_to(target)
    commit(inside, {"real/kept": CLASS})
    source = at_revision(Repository("."), "HEAD")
    assert [(each.path, each.read().decode()) for each in source.files()] == [("good.yaml", CLASS)]
    assert {(each.code, each.file) for each in source.problems} == {
        ("broken-symlink", "gone.yaml"),
        ("symlink-loop", "me.yaml"),
    }
    assert source.skipped == {"symbolic link out of the tree": ["out.yaml"]}


def test_pointers_of_lfs_are_named(inside: Path) -> None:
    commit(inside, {"big.yaml": POINTER})
    (file,) = at_revision(Repository("."), "HEAD").files()
    with pytest.raises(SourceError) as caught:
        file.read()
    assert caught.value.code == LFS_POINTER


def test_submodules_are_noted(inside: Path) -> None:
    other = inside / "other"
    commit(other, {"x.yaml": CLASS})
    main = inside / "main"
    commit(main, {"y.yaml": CLASS})
    MAKE.git(main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendored")
    commit(main, {})
    source = at_revision(Repository(str(main)), "HEAD")
    assert [each.relative for each in source.files()] == ["y.yaml"]
    assert list(source.skipped) == ["submodule"]


def test_the_index_is_what_is_staged(inside: Path) -> None:
    commit(inside, {"x.yaml": CLASS})
    (inside / "x.yaml").write_text(CLASS.replace("envoy", "staged"))
    MAKE.git(inside, "add", "-A")
    (inside / "x.yaml").write_text(CLASS.replace("envoy", "not-staged"))
    (file,) = staged(Repository(".")).files()
    assert b"{name: staged}" in file.read()


@pytest.mark.parametrize("kind", ["bare", "worktree", "shallow", "packed"])
def test_clones_of_every_kind_give_the_same_answer(history: History, tmp_path: Path, kind: str) -> None:
    directory, ids = history
    wanted = json.loads(run(directory, "diff", f"{ids[12]}..{ids[13]}", "-o", "json")[1])
    place = tmp_path / "clone"
    match kind:
        case "bare":
            MAKE.git(tmp_path, "clone", "-q", "--bare", str(directory), str(place))
        case "worktree":
            main = tmp_path / "main"
            shutil.copytree(directory, main)
            MAKE.git(main, "worktree", "add", "-q", "--detach", str(place), ids[0])
        case "shallow":
            MAKE.git(tmp_path, "clone", "-q", "--depth", str(len(ids) - 12), f"file://{directory}", str(place))
        case _:
            MAKE.git(tmp_path, "clone", "-q", str(directory), str(place))
            MAKE.git(place, "gc", "-q")
    code, out, _ = run(place, "diff", f"{ids[12]}..{ids[13]}", "-o", "json")
    assert (code, json.loads(out)) == (1, wanted)


FETCH = "`git fetch --refetch --no-filter`"


@pytest.fixture
def origin(tmp_path: Path) -> tuple[Path, list[str]]:
    """A repository that may be cloned in part, of two commits: the second one takes a class away."""
    place = tmp_path / "origin"
    deep = CLASS.replace("envoy", "other")
    ids = [commit(place, {"x.yaml": CLASS, "a/b/y.yaml": deep, ".policylint.yaml": "fail-on: warning\n"})]
    ids.append(commit(place, {"a/b/y.yaml": deep + "# changed\n"}))
    MAKE.git(place, "config", "uploadpack.allowFilter", "true")
    return place, ids


@pytest.mark.parametrize("checkout", ["--no-checkout", "--no-tags"])
@pytest.mark.parametrize("kept", ["blob:none", "tree:0", "tree:1", "tree:2"])
def test_what_a_partial_clone_lacks_ends_the_run(
    origin: tuple[Path, list[str]], tmp_path: Path, kept: str, checkout: str
) -> None:
    """Never as if there were no such file, and never by fetching it; the command that is named helps."""
    place, (first, second) = origin
    MAKE.git(tmp_path, "clone", "-q", checkout, f"--filter={kept}", f"file://{place}", "clone")
    commands = [("diff", f"{first}..{second}"), ("diff", first), ("trace", "GET", "http://a/", "--at", first)]
    commands += [("diff", f"{second}..{first}"), ("diff", "--staged", first)]
    for arguments in commands:
        code, out, err = run(tmp_path / "clone", *arguments)
        assert (code, out) == (3, ""), arguments
        assert "is not in this clone" in err
        assert FETCH in err
    MAKE.git(tmp_path / "clone", "fetch", "-q", "--refetch", "--no-filter")
    assert run(tmp_path / "clone", "diff", f"{first}..{second}")[0] == 0


def test_a_hook_in_a_partial_clone_says_the_same(origin: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (first, second) = origin
    MAKE.git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{place}", "clone")
    for ends in ((first, second), (second, first)):
        given = dict(zip(("PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"), ends, strict=True))
        code, _, err = run(tmp_path / "clone", "diff", "--hook", **given)
        assert (code, FETCH in err) == (3, True)
    code, _, err = run(tmp_path / "clone", "lint", "--hook", **given)
    assert (code, FETCH in err) == (3, True), "what is pushed is not here"


def test_what_a_sparse_checkout_leaves_out_is_not_gone(origin: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (first, second) = origin
    clone = tmp_path / "clone"
    MAKE.git(tmp_path, "clone", "-q", f"file://{place}", "clone")
    MAKE.git(clone, "sparse-checkout", "set", "--cone", "c")
    assert not (clone / "a").exists()
    advice = "1 file is left out by the sparse checkout"
    for arguments in (("diff",), ("diff", first), ("diff", first, "a")):
        code, out, err = run(clone, *arguments)
        assert (code, out) == (3, ""), arguments
        assert advice in err
        assert "`git sparse-checkout disable`" in err
    assert run(clone, "diff", f"{first}..{second}")[0] == 0, "all of both is read from git"
    out = run(clone, "lint")[1]
    assert "warning[GWP910]" in out
    assert advice in out
    MAKE.git(clone, "sparse-checkout", "disable")
    assert run(clone, "diff", first)[0] == 0
    assert "GWP910" not in run(clone, "lint")[1]


def test_a_partial_clone_that_has_all_that_is_read_will_do(origin: tuple[Path, list[str]], tmp_path: Path) -> None:
    place, (_, second) = origin
    MAKE.git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{place}", "clone")
    assert run(tmp_path / "clone", "diff", f"{second}..HEAD")[0] == 0


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("no-such", "cannot read revision 'no-such': unknown."),
        ("no-such..HEAD", "cannot read revision 'no-such': unknown"),
        ("HEAD...no-such", "cannot read revision 'no-such': unknown"),
        ("HEAD~99..HEAD", "cannot read revision 'HEAD~99': unknown"),
    ],
)
def test_an_unknown_revision_is_exit_code_2(history: History, revision: str, said: str) -> None:
    code, out, err = run(history[0], "diff", revision)
    assert (code, out) == (2, "")
    assert said in err


def test_a_shallow_clone_is_told_how_deep_to_fetch(history: History, tmp_path: Path) -> None:
    MAKE.git(tmp_path, "clone", "-q", "--depth", "1", f"file://{history[0]}", "clone")
    code, _, err = run(tmp_path / "clone", "diff", "HEAD^1..HEAD")
    assert code == 2
    assert "cannot read revision 'HEAD^1': unknown. In CI set fetch-depth: 2, or 0 (have: HEAD only)." in err


def test_other_mistakes(history: History, tmp_path: Path) -> None:
    directory, _ = history
    assert run(directory, "diff", "HEAD~1..HEAD", "no/such/path")[0] == 2
    code, _, err = run(directory, "diff", "HEAD~1", "HEAD")
    assert code == 2
    assert "no such file or directory on either side: 'HEAD'; two revisions are written HEAD~1..HEAD" in err
    assert run(directory, "diff", "HEAD~1..HEAD", "--staged")[0] == 2
    assert run(directory, "diff", "--rendered-before", "apps")[0] == 2
    code, _, err = run(directory, "diff", "--hook")
    assert (code, "nothing to compare with" in err) == (0, True)
    assert "not a git repository" in run(tmp_path, "diff", "HEAD")[2]
    with pytest.raises(RevisionError, match="not a git repository"):
        Repository(str(tmp_path))


def text_of(directory: Path, *arguments: str, **environment: str) -> str:
    return run(directory, "diff", *arguments, **environment)[1]


def test_forms_of_the_range(history: History, tmp_path: Path) -> None:
    directory, ids = history
    place = tmp_path / "clone"
    MAKE.git(tmp_path, "clone", "-q", str(directory), str(place))
    MAKE.git(place, "checkout", "-q", ids[1])
    loses = "loses the jwt of its Gateway"
    assert loses in text_of(place, f"{ids[0]}..")
    assert loses in text_of(place, f"{ids[0]}...{ids[1]}")
    assert "no route changes" in text_of(place, f"{ids[1]}...{ids[0]}")
    assert loses in text_of(place, ids[0])
    assert "no route changes" in text_of(place)
    assert loses in text_of(place, "--staged", ids[0])
    assert loses in text_of(place, f"{ids[0]}..{ids[1]}", "apps", "infra", "clusters")
    assert "3 routes" in text_of(place, "0" * 40 + f"..{ids[0]}") or "new route" in text_of(
        place, "0" * 40 + f"..{ids[0]}"
    )
    hook = {"PRE_COMMIT_FROM_REF": ids[0], "PRE_COMMIT_TO_REF": ids[1]}
    assert loses in text_of(place, "--hook", **hook)


def test_work_tree_and_untracked_files_count(history: History, tmp_path: Path) -> None:
    place = tmp_path / "clone"
    MAKE.git(tmp_path, "clone", "-q", str(history[0]), str(place))
    (place / "apps/shop/more.yaml").write_text(MAKE.route("more", "more.example.com", MAKE.rule("/", "cart")))
    found: Any = json.loads(text_of(place, "-o", "json"))
    assert [each["object"] for each in found["routes"]] == ["HTTPRoute shop/more"]
    assert json.loads(text_of(place, "--staged", "-o", "json"))["routes"] == []


def test_a_path_brings_what_its_roots_lead_to_on_both_sides(history: History, tmp_path: Path) -> None:
    place = tmp_path / "clone"
    MAKE.git(tmp_path, "clone", "-q", str(history[0]), str(place))
    MAKE.git(place, "checkout", "-q", history[1][1])
    assert "loses the jwt of its Gateway" in text_of(place, "HEAD~1..HEAD", "clusters")
    assert "loses the jwt of its Gateway" in text_of(place, "HEAD~1", "clusters")
    found: Any = json.loads(text_of(place, "HEAD", "clusters", "-o", "json"))
    assert (found["routes"], found["objects"], found["changes"]) == ([], [], [])


def test_what_lies_below_a_directory_is_what_begins_with_its_name_and_a_slash(inside: Path) -> None:
    names = [
        "a-b/x.yaml",
        "a.yaml",
        "a/.hidden/x.yaml",
        "a/b/c.yml",
        "a/b/note.txt",
        "a/x.yaml",
        "a0/x.yaml",
        "a/é/x.yaml",
    ]
    commit(inside, dict.fromkeys(names, CLASS))
    tree = at_revision(Repository("."), "HEAD")
    for directory in ("", "a", "a/b", "a/é", "a-b", "b", "a.yaml"):
        below = sorted(name for name in names if not directory or name.startswith(f"{directory}/"))
        assert tree.files_below(directory) == below
        seen = [each for each in below if "/." not in each and each.endswith((".yaml", ".yml"))]
        assert tree.yaml_below(directory) == seen
