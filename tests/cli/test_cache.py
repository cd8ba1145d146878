"""`policylint cache`: where, how much, clean; and what --no-cache and POLICYLINT_NO_CACHE leave undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.diff.history import run


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """As many files as a pack is made for."""
    place = tmp_path / "tree"
    place.mkdir()
    for number in range(30):
        (place / f"{number}.yaml").write_text(
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{number}}}\nspec: {{ports: [{{port: 80}}]}}\n"
        )
    return place


def test_it_says_where_it_is_how_much_it_holds_and_cleans_it(tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    said = {"POLICYLINT_CACHE_DIR": str(cache)}
    assert run(tree, "cache", "dir", **said) == (0, f"{cache}\n", "")
    assert run(tree, "cache", "info", **said)[1] == f"{cache}: 0 files, 0 KiB of at most 256.0 MiB\n"
    assert run(tree, "lint", ".", **said)[0] == 0
    assert run(tree, "cache", "info", **said)[1].startswith(f"{cache}: 1 file, ")
    (cache / "notes.txt").write_text("mine")
    assert run(tree, "cache", "clean", **said)[1].startswith(f"{cache}: deleted 1 file, ")
    assert [each.name for each in cache.iterdir()] == ["notes.txt"]
    assert run(tree, "cache", "dir", "--cache-dir", str(tree), **said)[1] == f"{tree}\n"


def test_without_a_home_it_says_so_and_lint_does_without(tree: Path) -> None:
    nowhere = {"POLICYLINT_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "/"}
    code, _, said = run(tree, "cache", "dir", **nowhere)
    assert (code, "--cache-dir" in said) == (2, True)
    assert run(tree, "lint", ".", **nowhere)[0] == 0


@pytest.mark.parametrize("command", ["lint", "simulate", "list"])
def test_every_command_that_reads_can_do_without(tree: Path, tmp_path: Path, command: str) -> None:
    cache = tmp_path / "cache"
    arguments = [command, "routes"] if command == "list" else [command, "."]
    for option, environment in (
        ("--no-cache", {}),
        ("--cache-dir=/proc/nowhere", {}),
        ("-v", {"POLICYLINT_NO_CACHE": "1"}),
    ):
        options = [option] if option != "-v" else []
        code, _, said = run(tree, *arguments, *options, POLICYLINT_CACHE_DIR=str(cache), **environment)
        assert (code, said.replace("0 Gateway API resources in 30 files: nothing was checked\n", "")) == (0, "")
        assert not cache.exists()
    assert run(tree, *arguments, POLICYLINT_CACHE_DIR=str(cache))[0] == 0
    assert cache.exists()


def test_nothing_is_written_into_the_tree(tree: Path, tmp_path: Path) -> None:
    before = sorted(each.name for each in tree.iterdir())
    run(tree, "lint", ".", POLICYLINT_CACHE_DIR="", XDG_CACHE_HOME="", HOME=str(tmp_path / "home"))
    assert sorted(each.name for each in tree.iterdir()) == before
    assert (tmp_path / "home" / ".cache" / "policylint").is_dir()
