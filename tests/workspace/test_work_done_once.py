"""What is the same for many documents or directories is asked once: counted, as time says little on a busy machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policylint.catalog import former
from policylint.render import lessons
from policylint.workspace import open_workspace

UNREAD = "apiVersion: example.net/v1\nkind: {}\nmetadata: {{name: a{}}}\n"


def counted(patch: pytest.MonkeyPatch, module: Any, name: str) -> list[tuple[Any, ...]]:
    """Return the list that takes what a function is asked from here on."""
    asked: list[tuple[Any, ...]] = []
    real = getattr(module, name)

    def ask(*arguments: Any) -> Any:
        asked.append(arguments)
        return real(*arguments)

    patch.setattr(module, name, ask)
    return asked


def test_whether_a_kind_is_read_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of former kinds was read from disk for each document of a kind that nobody knows."""
    asked = counted(monkeypatch, former, "shipped_data")
    documents = [UNREAD.format(kind, number) for number in range(100) for kind in ("Thing", "Other", "Third")]
    (tmp_path / "all.yaml").write_text("---\n".join(documents))
    open_workspace([str(tmp_path)])
    assert len(asked) <= 10


@pytest.mark.parametrize(
    ("directory", "lesson"),
    [
        ("apps/shop/base", None),
        ("courses", None),
        ("labs", None),
        ("chapters/two/a", None),
        ("lessons/2/a", ("lessons", "lessons/2")),
        ("a/lessons/²", ("a/lessons", "a/lessons/²")),
        ("a/Day-3", ("a", "a/Day-3")),
        ("a/step1234", None),
        ("partner1/unit_2b", ("partner1", "partner1/unit_2b")),
        ("tutorials/first/deep/er", ("tutorials", "tutorials/first")),
        ("workshop/one/lab2/x", ("workshop/one", "workshop/one/lab2")),
        ("my-labs/one", None),
    ],
)
def test_directories_that_are_tried_by_themselves(directory: str, lesson: tuple[str, str] | None) -> None:
    assert lessons._tried(directory) == lesson


def test_every_directory_of_such_directories_is_looked_at() -> None:
    assert [
        name for name in lessons._COURSES | lessons._TUTORIALS if not lessons._ON_THE_WAY.search(f"/{name}/x")
    ] == []
