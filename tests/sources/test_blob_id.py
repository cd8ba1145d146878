"""The id of a content is git's."""

from __future__ import annotations

from pathlib import Path

from policylint.sources.blob_id import blob_id
from tests.diff.history import MAKE


def test_the_id_of_a_content_is_gits(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a: \xff\r\n")
    assert blob_id(b"a: \xff\r\n") == str(MAKE.git(tmp_path, "hash-object", "--no-filters", "x")).strip()
