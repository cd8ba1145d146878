"""The script makes the schemas of releases, byte for byte, and the page that shows what changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "schemas" / "make_releases.py"
RELEASES = ROOT.parent / "shared" / "releases"


@pytest.mark.slow
@pytest.mark.skipif(not RELEASES.is_dir(), reason="no ../shared/releases")
def test_the_schemas_of_releases_are_what_the_script_makes(tmp_path: Path) -> None:
    """Of each project whose CRDs are there: those of others stay as they are, what is gone goes."""
    projects = [folder.name for folder in RELEASES.iterdir() if folder.is_dir()]
    kept, gone = (tmp_path / project / "Gone.example.com.json" for project in ("another", projects[0]))
    for stale in (kept, gone):
        stale.parent.mkdir()
        stale.write_text("{}", encoding="utf-8")
    subprocess.run([sys.executable, str(SCRIPT), str(RELEASES), "--output", str(tmp_path)], check=True)
    assert kept.exists()
    assert contents(tmp_path, projects) == contents(ROOT / "schemas" / "releases", projects)


def contents(folder: Path, projects: list[str]) -> dict[str, bytes]:
    found = [path for project in projects for path in folder.glob(f"{project}/*.json")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_the_page_of_changes_is_fresh() -> None:
    made = subprocess.run([sys.executable, str(SCRIPT), "--table"], capture_output=True, text=True, check=True).stdout
    shown = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
    assert shown == made, "run: python schemas/make_releases.py --table > docs/releases.md"
