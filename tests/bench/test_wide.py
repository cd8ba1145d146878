"""The benchmark's tree of many routes: each change touches what it says, and every route behind the Gateway."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.diff.history import run

WIDE = Path(__file__).parents[2] / "bench" / "wide.py"
ROUTES = 12


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small one, written as a user would."""
    place = tmp_path_factory.mktemp("wide")
    command = [sys.executable, str(WIDE), str(place), "--routes", str(ROUTES), "--namespaces", "3"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return place


@pytest.mark.parametrize(
    ("change", "routes", "findings"),
    [("changed", ROUTES, ["GWP304"]), ("deleted", ROUTES, ["GWP302"]), ("policy", ROUTES, ["GWP201"] * ROUTES)],
)
def test_every_route_changes(wide: Path, change: str, routes: int, findings: list[str]) -> None:
    found = json.loads(run(wide, "diff", f"base..{change}", "-o", "json-v1")[1])
    assert found["summary"]["routes"]["changed"] == routes
    assert [each["rule"] for each in found["findings"] if each["state"] == "new"] == findings


@pytest.mark.parametrize(("change", "files"), [("renamed", ROUTES + 2), ("hostname", ROUTES)])
def test_files_change_and_nothing_in_effect(wide: Path, change: str, files: int) -> None:
    found = json.loads(run(wide, "diff", f"base..{change}", "-o", "json-v1")[1])
    assert (found["changes"], found["coverage"]["files_differ"]) == ([], files)
