"""docs/python.md: what it shows runs, and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_what_the_page_shows_runs_and_prints_what_it_says() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    code, printed = (re.search(rf"^```{kind}\n(.*?)^```", page, re.M | re.S) for kind in ("python", "text"))
    assert code is not None
    assert printed is not None
    done = subprocess.run([sys.executable, "-c", code[1]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == printed[1]
