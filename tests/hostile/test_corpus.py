"""Manifests that once ended a run, or a kind of them: every command reads them, and no guard is needed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from policylint.report.formats import FORMATS
from tests.diff.history import run

CORPUS = Path(__file__).parent / "corpus"
COMMANDS = (
    *(("lint", "-o", form, "--show-unknown") for form in FORMATS["lint"]),
    ("lint", "--strict", "--semantics", "gep-713-2023"), ("lint", "--render", "off"), ("lint", "--diff"),
    ("simulate", "-o", "json"), ("simulate", "--as", "status"), ("graph", "-o", "html"), ("graph", "-o", "svg"),
    ("list", "policies", "-o", "wide"), ("list", "backends"), ("trace", "GET", "http://a.example.com/a"),
)  # fmt: skip


@pytest.fixture
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file or folder of the corpus, in a place of its own: below a folder `tests` nothing is deployed."""
    place: Path = request.param
    copy = shutil.copytree if place.is_dir() else shutil.copy
    copy(place, tmp_path / place.name)
    return tmp_path


EACH = pytest.mark.parametrize("tree", sorted(CORPUS.iterdir()), ids=lambda place: place.stem, indirect=True)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@EACH
def test_every_command_reads_it(tree: Path, arguments: tuple[str, ...]) -> None:
    code, _, err = run(tree, *arguments, ".", "--no-config", POLICYLINT_DEBUG="1")
    assert code in (0, 1), err
    assert "internal error" not in err


@EACH
def test_every_object_of_it_is_explained(tree: Path) -> None:
    _, out, _ = run(tree, "simulate", ".", "-o", "json", POLICYLINT_DEBUG="1")
    state = json.loads(out)
    names = [one["policy"] for one in state["policies"]] + [one["route"] for one in state["routes"]]
    assert names
    for name in names:
        code, _, err = run(tree, "explain", name.replace(" ", "/"), ".", POLICYLINT_DEBUG="1")
        assert code == 0, err


@pytest.mark.parametrize("name", ["source-that-is-a-list", "rule-that-is-an-object"])
def test_a_value_of_another_type_than_its_field_ends_no_run(tmp_path: Path, name: str) -> None:
    shutil.copy(CORPUS.parent / "malformed" / f"{name}.yaml", tmp_path / "tree.yaml")
    code, _, err = run(tmp_path, "lint", ".", "--no-config", POLICYLINT_DEBUG="1")
    assert (code in (0, 1), "internal error" in err) == (True, False)
