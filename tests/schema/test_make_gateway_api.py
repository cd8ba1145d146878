"""The script makes the shipped schemas, byte for byte, from the CRDs of the release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRDS = ROOT.parent / "shared" / "crds" / "gateway-api"


@pytest.mark.skipif(not CRDS.is_dir(), reason="no ../shared/crds")
def test_the_shipped_schemas_are_what_the_script_makes(tmp_path: Path) -> None:
    script = ROOT / "schemas" / "make_gateway_api.py"
    subprocess.run([sys.executable, str(script), str(CRDS), "--output", str(tmp_path)], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.glob("*.json")}
    assert made == {path.name: path.read_bytes() for path in (ROOT / "schemas" / "gateway-api").glob("*.json")}
    assert len(made) >= 13
