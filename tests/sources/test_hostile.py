"""Hostile trees: each thing that is no readable file is a clear problem, never a hang, never a traceback."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from policylint.sources import MAX_BYTES, SourceError, SourceFile, open_source
from policylint.sources.regular_file import read_regular

OBJECT = "apiVersion: v1\nkind: X\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ok.yaml").write_text(OBJECT)
    return tmp_path


def look(*paths: str) -> tuple[list[str], list[tuple[str, str]]]:
    source = open_source(paths or ["."])
    return [file.path for file in source.files()], [(problem.file, problem.code) for problem in source.problems]


def test_empty_directory(tmp_path: Path) -> None:
    assert look(str(tmp_path)) == ([], [])


@pytest.mark.usefixtures("tree")
def test_nothing_there() -> None:
    assert look("nowhere")[1] == [("nowhere", "not-found")]


def test_fifo_is_never_opened(tree: Path) -> None:
    os.mkfifo(tree / "pipe.yaml")
    assert look() == (["ok.yaml"], [("pipe.yaml", "not-a-regular-file")])
    assert look("pipe.yaml") == ([], [("pipe.yaml", "not-a-regular-file")])


@pytest.mark.usefixtures("tree")
def test_socket_and_device() -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.yaml")
        assert look() == (["ok.yaml"], [("s.yaml", "not-a-regular-file")])
    assert look("/dev/zero") == ([], [("/dev/zero", "not-a-regular-file")])


def test_a_file_swapped_for_a_fifo_after_listing_does_not_hang(tree: Path) -> None:
    (file,) = open_source(["."]).files()
    (tree / "ok.yaml").unlink()
    os.mkfifo(tree / "ok.yaml")
    with pytest.raises(SourceError, match="a FIFO"):
        file.read()


def test_large_file_is_not_read(tree: Path) -> None:
    with (tree / "big.yaml").open("wb") as file:
        file.truncate(100 * 2**20)
    assert look() == (["ok.yaml"], [("big.yaml", "too-large")])
    with pytest.raises(SourceError) as raised:
        read_regular("big.yaml", "big.yaml")
    assert raised.value.message == "100 MiB; files over 32 MiB are not read"
    with (tree / "fits.yaml").open("wb") as file:
        file.truncate(MAX_BYTES)
    assert "fits.yaml" in look()[0]


@pytest.mark.usefixtures("tree")
def test_endless_stream_is_cut_off() -> None:
    descriptor = os.open("/dev/zero", os.O_RDONLY)
    try:
        assert look(f"/dev/fd/{descriptor}")[1] == [(f"/dev/fd/{descriptor}", "too-large")]
    finally:
        os.close(descriptor)


def test_links_that_loop_or_lead_nowhere(tree: Path) -> None:
    (tree / "a.yaml").symlink_to("b.yaml")
    (tree / "b.yaml").symlink_to("a.yaml")
    (tree / "broken.yaml").symlink_to("gone.yaml")
    (tree / "loop").symlink_to(".")
    (tree / "self").symlink_to("self")
    files, problems = look()
    assert files == ["ok.yaml"]
    assert problems == [("a.yaml", "symlink-loop"), ("b.yaml", "symlink-loop"), ("broken.yaml", "broken-symlink")]


def test_links_inside_the_tree_are_read_once_and_links_out_of_it_not(tree: Path) -> None:
    inner = tree / "inner"
    (inner / "real").mkdir(parents=True)
    (inner / "real" / "x.yaml").write_text(OBJECT)
    (inner / "a.yaml").symlink_to("real/x.yaml")
    (inner / "dir").symlink_to("real")
    (inner / "out.yaml").symlink_to("../ok.yaml")
    (inner / "outdir").symlink_to("..")
    (inner / "absent.yaml").symlink_to("../absent.yaml")
    (inner / "mounted.yaml").symlink_to("/etc/nowhere/mounted.yaml")
    source = open_source(["inner"])
    assert [file.path for file in source.files()] == ["inner/real/x.yaml"]
    out = ["inner/absent.yaml", "inner/mounted.yaml", "inner/out.yaml"]
    assert {reason: sorted(files) for reason, files in source.skipped.items()} == {"symbolic link out of the tree": out}
    assert source.problems == []
    assert look("inner/out.yaml")[0] == ["inner/out.yaml"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file_and_directory(tree: Path) -> None:
    (tree / "secret.yaml").write_text(OBJECT)
    (tree / "secret.yaml").chmod(0)
    (tree / "closed").mkdir(mode=0)
    files, problems = look()
    assert problems == [("closed", "unreadable")]
    file = next(file for file in open_source(["."]).files() if file.path == "secret.yaml")
    with pytest.raises(SourceError, match="permission denied"):
        file.read()
    (tree / "closed").chmod(0o700)
    assert files == ["ok.yaml", "secret.yaml"]


def test_errors_of_the_operating_system_become_words() -> None:
    from policylint.sources.regular_file import in_words

    assert in_words(PermissionError(13, "Permission denied"), "f").message == "permission denied"
    assert in_words(OSError(5, "Input/output error"), "f").message == "input/output error"


def test_a_repository_that_git_refuses_is_walked(tree: Path) -> None:
    (tree / ".git").write_text("nonsense")
    assert look() == (["ok.yaml"], [])


def test_deleted_between_listing_and_reading(tree: Path) -> None:
    source = open_source(["."])
    file: SourceFile = source.files()[0]
    (tree / "ok.yaml").unlink()
    with pytest.raises(SourceError, match=r"ok\.yaml: no such file"):
        file.read()
    assert source.text("ok.yaml") == []
