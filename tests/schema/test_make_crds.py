"""The script makes the shipped schemas, byte for byte, from the CRDs of the release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRDS = ROOT.parent / "shared" / "crds"


@pytest.mark.skipif(not CRDS.is_dir(), reason="no ../shared/crds")
def test_the_shipped_schemas_are_what_the_script_makes(tmp_path: Path) -> None:
    script = ROOT / "schemas" / "make_crds.py"
    subprocess.run([sys.executable, str(script), str(CRDS), "--output", str(tmp_path)], check=True)
    assert contents(tmp_path) == contents(ROOT / "schemas" / "crds")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/*.json")}
