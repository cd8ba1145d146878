"""bench/policies.py: policies of eight implementations, all of which are read, and mistakes that are found."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import policylint

POLICIES = Path(__file__).parents[2] / "bench" / "policies.py"


def test_lint_finds_mistakes_and_knows_every_kind(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(POLICIES), str(tmp_path), "--documents", "1200"], check=True)
    session = policylint.open(tmp_path)
    (simulation,) = session.simulations
    assert {key.namespace.partition("-")[0] for key in simulation.policies} == {
        *("envoy", "istio", "kuadrant", "kgateway", "nginx", "agentgateway", "gke")
    }
    found = Counter(finding.rule for finding in session.lint().known)
    assert found.keys() >= {"GWP101", "GWP202", "GWP501"}
    assert session.coverage.policies > 400 and session.coverage.network_policies > 40
    assert session.coverage.unread == 0
