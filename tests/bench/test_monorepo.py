"""bench/monorepo.py: two clusters for each team, of which PATH picks those that it has a part in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import policylint

MONOREPO = Path(__file__).parents[2] / "bench" / "monorepo.py"
OF_ONE_TEAM = 509
"""Files of the first team, and the GatewayClass."""


def write(place: Path, files: int) -> Path:
    """Write one as a user would, and return the directory of an application."""
    command = [sys.executable, str(MONOREPO), str(place), "--files", str(files)]
    return Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def test_one_application_is_judged_in_both_clusters_of_its_team_and_in_no_other(tmp_path: Path) -> None:
    part = write(tmp_path / "fleet", 2 * OF_ONE_TEAM - 1)
    subprocess.run(["git", "init", "-q", str(tmp_path / "fleet")], check=True)
    session = policylint.open(part)
    assert [simulation.world.name for simulation in session.simulations] == ["team-000-production", "team-000-staging"]
    assert session.lint().known == []
    assert session.coverage.routes == 2 * 48
    assert len(policylint.open(tmp_path / "fleet").simulations) == 4


def test_the_same_seed_writes_the_same_files(tmp_path: Path) -> None:
    contents = []
    for place in (tmp_path / "one", tmp_path / "two"):
        write(place, 200)
        contents.append({file.relative_to(place): file.read_bytes() for file in place.rglob("*.yaml")})
    assert len(contents[0]) == 200
    assert contents[0] == contents[1]
