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
    subprocess.run([sys.executable, str(SCRIPT), str(RELEASES), "--output", str(tmp_path)], check=True)
    assert contents(tmp_path) == contents(ROOT / "schemas" / "releases")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/*.json")}


def test_the_page_of_changes_is_fresh() -> None:
    made = subprocess.run([sys.executable, str(SCRIPT), "--table"], capture_output=True, text=True, check=True).stdout
    shown = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
    assert shown == made, "run: python schemas/make_releases.py --table > docs/releases.md"
