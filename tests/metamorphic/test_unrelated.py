"""What has nothing to do with a real tree changes no answer about it: a policy, a chart, a namespace far away."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.reach import all_ways, asked, end_in_words
from policylint.trace import Tracer
from policylint.trace.requirements import Requirements
from policylint.workspace import open_workspace
from tests.metamorphic.test_same_answers import is_far
from tests.nightly import sampled

SHARED = Path(__file__).parents[3] / "shared"
TREES = sorted(path for kind in ("wild", "trees", "field") for path in (SHARED / kind).glob("*/"))
NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: NAME, labels: {team: far}}}"
FAR = """
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: far, namespace: far-away}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: far}]
  cors: {allowOrigins: ["https://far.example.com"]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: far, namespace: far-away}
spec: {selector: {matchLabels: {app: far}}, action: DENY, rules: [{to: [{operation: {paths: [/far]}}]}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: far, namespace: far-away}
spec: {podSelector: {}, policyTypes: [Ingress]}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: far, namespace: far-away}
spec: {chart: {spec: {chart: far}}, values: {securityPolicy: {enabled: true}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: far, namespace: far-away}, stringData: {a: b}}
"""

pytestmark = pytest.mark.skipif(not TREES, reason="../shared is not there")


def said(tree: Path, dump: str) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return what readers say of each environment of a tree, without what is far away."""
    workspace = open_workspace([str(tree)], snapshot="far.yaml", dump=dump.encode())
    answers = {
        "findings": frozenset(
            (finding.rule, finding.severity, finding.confidence, finding.message)
            for finding in workspace.findings()
            if not is_far(finding.message) and "far.yaml" not in finding.location.file
        )
    }
    for simulation in workspace.simulations:
        requirements = Requirements(Tracer(simulation))
        answers[f"verdicts of {simulation.world.name}"] = frozenset(
            (str(key), state.verdict) for key, state in simulation.policies.items() if not is_far(str(key))
        )
        answers[f"ways of {simulation.world.name}"] = frozenset(
            (way.entry.host, str(way.entry.gateway), str(way.entry.port), way.requests, end_in_words(way.trace),
             str(asked(requirements, way, "authentication")), str(asked(requirements, way, "authorization")))
            for way in all_ways(simulation)
        )  # fmt: skip
    return answers


@pytest.mark.parametrize("tree", sampled(TREES, "unrelated", 13), ids=lambda tree: tree.name)
def test_what_is_far_away_changes_no_answer(tree: Path) -> None:
    alone = said(tree, NAMESPACE.replace("NAME", "far-off"))
    beside = said(tree, NAMESPACE.replace("NAME", "far-away") + "\n---" + FAR)
    assert set(alone) == set(beside)
    for question, ours in alone.items():
        assert ours ^ beside[question] == frozenset(), question
