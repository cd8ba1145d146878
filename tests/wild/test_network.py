"""The way from each Gateway to each backend of ten real repositories, checked by hand where it is denied.

What is not known rests on pods of charts that are not rendered, whose ports nobody saw, but for one host behind a
Gateway that may send to few. What is denied is so: those pods listen on ports that no rule opens to the Gateways.
"""

from __future__ import annotations

from collections import Counter

import pytest

import policylint
from policylint.network.kinds import has_policies
from tests.wild.test_judgements import SHARED, TREES

KNOWN = {
    "MatherlyNet__talos-cluster": {"allowed": 5, "unknown": 4},
    "bjw-s-labs__home-ops": {"allowed": 39},
    "jrmatherly__talos-k8s-cluster": {"allowed": 5, "unknown": 17},
    "larivierec__home-cluster": {"allowed": 36},
    "onedr0p__home-ops": {"allowed": 21},
    "rafaribe__home-ops": {"allowed": 116},
    "theepicsaxguy__homelab": {"allowed": 59, "unknown": 9, "denied": 5},
}
"""By repository, pairs of a Gateway and a backend port, of its environments with network policies."""
CUT_OFF = {"jmap-webmail/jmap-webmail", "media/audiobookrequest", "media/sonarr"}

pytestmark = pytest.mark.skipif(not TREES, reason="../shared is not there")


@pytest.mark.slow
@pytest.mark.parametrize("tree", sorted(KNOWN))
def test_every_pair_is_answered(tree: str) -> None:
    verdicts: Counter[str] = Counter()
    denied = set()
    for simulation in policylint.open(SHARED / "trees" / tree, no_config=True).simulations:
        if not has_policies(simulation.world):
            continue
        pairs = {
            (parent.gateway, backend.wanted, backend.port)
            for route in simulation.topology.routes
            for parent in route.parents
            if parent.accepted and parent.gateway is not None
            for backend in route.backends
            if backend.role == "backend"
        }
        for gateway, backend, port in pairs:
            verdict = simulation.hops.from_gateway(gateway, None, backend, port).verdict
            verdicts[verdict] += 1
            if verdict == "denied":
                denied.add(backend.path)
    assert verdicts == KNOWN[tree]
    assert denied == (CUT_OFF if tree == "theepicsaxguy__homelab" else set())


@pytest.mark.slow
def test_what_is_said_of_a_repository_behind_cilium() -> None:
    findings = policylint.lint(SHARED / "trees" / "theepicsaxguy__homelab", no_config=True).findings
    network = [finding for finding in findings if finding.rule.startswith("GWP6") or finding.rule == "GWP410"]
    said = {(finding.rule, finding.confidence, key.path) for finding in network for key in finding.resources}
    assert {("GWP604", "assumed", service) for service in CUT_OFF} <= said
    assert ("GWP617", "certain", "qdrant/qdrant-vector-db-access") in said
    assert ("GWP410", "assumed", "media/bazarr") in said
    assert {finding.rule for finding in network} == {"GWP410", "GWP604", "GWP616", "GWP617"}
