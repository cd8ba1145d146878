"""The pack: whole and of this version, or nothing; bounded; written at once or not at all; silent about everything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policylint.sources import pack as module
from policylint.sources.pack import SECRET, Pack, cache_directory, clean, content_id, evict, packs
from tests.diff.history import MAKE


def kept(directory: Path, tree: str = "/a", stamp: str = "1", **lines: str) -> Path:
    """The one file of a cache after a run that put these lines."""
    before = {path for _, _, path in packs(str(directory))}
    pack = Pack(str(directory), tree, stamp)
    for key, line in lines.items():
        pack.put(key, line)
    pack.close()
    after = {path for _, _, path in packs(str(directory))}
    return Path((after - before or after).pop())


def test_what_is_put_is_found_by_the_next_run(tmp_path: Path) -> None:
    kept(tmp_path, a='["\u00fc"]', b="[2]")
    pack = Pack(str(tmp_path), "/a", "1")
    assert (pack.get("a"), pack.get("b"), pack.get("c")) == ('["\u00fc"]'.encode(), b"[2]", None)
    assert "a" in pack
    assert "c" not in pack


def test_later_runs_add_to_it(tmp_path: Path) -> None:
    kept(tmp_path, a="[1]", b="[2]")
    pack = Pack(str(tmp_path), "/a", "1")
    pack.get("b")
    pack.put("c", "[3]")
    pack.close()
    place = packs(str(tmp_path))[0][2]
    assert [line.split(b" ")[0] for line in Path(place).read_bytes().splitlines()] == [b"c", b"b", b"a", b"digest"]


def test_other_trees_and_other_versions_have_their_own(tmp_path: Path) -> None:
    places = {kept(tmp_path, tree, stamp, a="[1]") for tree in ("/a", "/b") for stamp in ("1", "2")}
    assert len(places) == 4
    assert Pack(str(tmp_path), "/c", "1").get("a") is None
    assert Pack(str(tmp_path), "/a", "3").get("a") is None


def test_a_pack_in_the_place_of_one_of_another_version_is_none(tmp_path: Path) -> None:
    one, other = kept(tmp_path, stamp="1", a="[1]"), kept(tmp_path, stamp="2", b="[1]")
    other.write_bytes(one.read_bytes())
    assert Pack(str(tmp_path), "/a", "2").get("a") is None


def test_a_pack_that_is_not_whole_is_none(tmp_path: Path) -> None:
    place = kept(tmp_path, a="[1]", b="[2]")
    whole = place.read_bytes()
    for damaged in (
        *(whole[:length] for length in range(len(whole) - 1)),
        *(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole) - 1)),
        whole + b"x",
        b"\0" * 1000,
    ):
        place.write_bytes(damaged)
        assert Pack(str(tmp_path), "/a", "1").get("a") is None
    place.write_bytes(whole)
    assert Pack(str(tmp_path), "/a", "1").get("a") == b"[1]"


def test_with_a_secret_only_who_knows_it_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(tmp_path, a="[1]")
    monkeypatch.setenv(SECRET, "one")
    assert Pack(str(tmp_path), "/a", "1").get("a") is None
    kept(tmp_path, a="[2]")
    assert Pack(str(tmp_path), "/a", "1").get("a") == b"[2]"
    for other in ("two", ""):
        monkeypatch.setenv(SECRET, other)
        assert Pack(str(tmp_path), "/a", "1").get("a") is None


def test_neither_links_nor_pipes_are_read(tmp_path: Path) -> None:
    place = kept(tmp_path, a="[1]")
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    assert Pack(str(tmp_path), "/a", "1").get("a") is None
    place.unlink()
    os.mkfifo(place)
    assert Pack(str(tmp_path), "/a", "1").get("a") is None


def test_lines_and_packs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE", 10)
    monkeypatch.setattr(module, "MAX_PACK", 40)
    place = kept(tmp_path, a="[1]", b=f"[{'1' * 20}]", c="[12345]", d="[123456]", e="[1234567]")
    assert [line.split(b" ")[0] for line in place.read_bytes().splitlines()] == [b"a", b"c", b"d", b"e", b"digest"]
    kept(tmp_path, f="[1234567]", g="[12]")
    assert [line.split(b" ")[0] for line in place.read_bytes().splitlines()][:2] == [b"f", b"g"]
    assert place.stat().st_size < 40 + 100
    monkeypatch.setattr(module, "MAX_PACK", -1000)
    assert Pack(str(tmp_path), "/a", "1").get("f") is None


@pytest.mark.parametrize("where", ["file", "below-a-file", "proc"])
def test_where_nothing_can_be_written_nothing_happens(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    place = {"file": tmp_path / "file", "below-a-file": tmp_path / "file" / "x", "proc": Path("/proc/policylint")}[
        where
    ]
    pack = Pack(str(place), "/a", "1")
    pack.put("a", "[1]")
    pack.put("b", "[1]")
    pack.close()
    assert packs(str(place)) == []
    assert clean(str(place)) == (0, 0)


def test_a_disk_that_fills_up_leaves_the_pack_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = kept(tmp_path, a="[1]")
    whole = place.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    kept(tmp_path, b="[2]")
    assert (place.read_bytes(), [path for _, _, path in packs(str(tmp_path))]) == (whole, [str(place)])


def test_a_run_that_fails_leaves_the_pack_as_it_was(tmp_path: Path) -> None:
    place = kept(tmp_path, a="[1]")
    whole = place.read_bytes()
    pack = Pack(str(tmp_path), "/a", "1")
    pack.put("b", "[2]")
    pack.discard()
    pack.close()
    assert (place.read_bytes(), [path for _, _, path in packs(str(tmp_path))]) == (whole, [str(place)])


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    places = [kept(tmp_path, f"/{number}", a="[1]") for number in range(4)]
    for age, place in zip((400, 300, 200, 100), places, strict=True):
        os.utime(place, (1_000_000_000 - age, 1_000_000_000 - age))
    Pack(str(tmp_path), "/0", "1").close()  # looked at, nothing found
    used = Pack(str(tmp_path), "/1", "1")
    used.get("a")
    used.close()
    evict(str(tmp_path), limit=2 * places[0].stat().st_size)
    assert sorted(path for _, _, path in packs(str(tmp_path))) == sorted(map(str, (places[1], places[3])))


def test_what_a_killed_run_left_is_swept_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    place = kept(tmp_path, a="[1]")
    old, new = tmp_path / "x.tmp", tmp_path / "y.tmp"
    for each in (old, new):
        each.write_bytes(b"x")
    os.utime(old, (1, 1))
    (tmp_path / "notes.txt").write_bytes(b"x")
    evict(str(tmp_path))
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([place.name, "y.tmp", "notes.txt"])
    assert clean(str(tmp_path))[0] == 2
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_the_id_of_a_content_is_gits(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a: \xff\r\n")
    assert content_id(b"a: \xff\r\n") == str(MAKE.git(tmp_path, "hash-object", "--no-filters", "x")).strip()


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POLICYLINT_CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert cache_directory() == str(tmp_path / ".cache" / "policylint")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_directory() == "/x/policylint"
    monkeypatch.setenv("POLICYLINT_CACHE_DIR", "~/mine")
    assert cache_directory() == str(tmp_path / "mine")
    assert cache_directory("/given") == "/given"
    monkeypatch.setenv("POLICYLINT_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/")
    assert cache_directory() is None
