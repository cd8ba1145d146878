"""The fuzzer: what it finds, keeps and goes on from; and a few of its inputs, the same in every run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nightly import NIGHTLY

BENCH = Path(__file__).parents[2] / "bench"
DRIVER = """
import os, sys, time
from pathlib import Path
import campaign
from campaign import Campaign, Tried, WrongError

campaign.SECONDS, campaign.PATIENCE, campaign.IDLE, campaign.BATCH = 0.2, 4, 2, 4

def attempt(random):
    number = int(open(PLACE / "number").read()) + 1
    open(PLACE / "number", "w").write(str(number))
    if number == 2:
        return Tried(1, [(WrongError("no"), {"world/a.yaml": "long"})])
    if number == 3:
        return Tried(1, [(WrongError("no"), {"world/a.yaml": "a"})])
    if number == 5:
        while True: pass
    if number == 6:
        return Tried(1, [(MemoryError(), {})]) if not bytearray(2**40) else Tried(0, [])
    if number == 7:
        os._exit(1)
    if number == 8:
        time.sleep(60)
    if number == 9:
        time.sleep(5)  # other processes have the machine
    return Tried(2, [])

PLACE = Path(sys.argv[1])
(PLACE / "number").exists() or open(PLACE / "number", "w").write("0")
one = Campaign(attempt, PLACE / "kept", 5)
one.go(int(sys.argv[2]), None)
print(one.summary())
"""


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(BENCH)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
def test_a_campaign_outlives_what_it_tries(tmp_path: Path) -> None:
    done = script("-c", DRIVER, str(tmp_path), "6")
    assert "6 inputs" in done.stdout, done.stderr
    state = json.loads((tmp_path / "kept" / "state-5.json").read_text())
    assert {kind: failure["times"] for kind, failure in state["failures"].items()} == {
        "WrongError: no": 2,
        "SlowError: more than 0.2 s of CPU time": 1,
        "MemoryError: ": 1,
    }
    assert (tmp_path / "kept" / "WrongError--no" / "world" / "a.yaml").read_text() == "a", "the smaller one is kept"
    done = script("-c", DRIVER, str(tmp_path), "4")
    assert "10 inputs" in done.stdout, done.stderr
    state = json.loads((tmp_path / "kept" / "state-5.json").read_text())
    assert state["failures"]["killed: no end, or no memory"]["times"] == 2


A_FEW = [  # by day a quarter of them: `.ci/run` tries hundreds
    ("tool", "20"),
    ("network", "20"),
    ("reader", "10"),
    ("requests", "20"),
    ("metamorphic", "10"),
    ("edits", "3"),
    ("editor", "4"),
]


@pytest.mark.slow
@pytest.mark.parametrize("what", A_FEW, ids=lambda what: what[0])
def test_a_few_inputs_of_a_campaign(tmp_path: Path, what: tuple[str, str]) -> None:
    name, inputs = what[0], what[1] if NIGHTLY else str(1 + int(what[1]) // 4)
    done = script(str(BENCH / "fuzz.py"), name, "--seed", "3", "--inputs", inputs, "--keep", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"seed 3: {inputs} inputs" in done.stdout
