"""Linkerd (design/implementations/kgateway-nginx-gloo.md §4)."""

from __future__ import annotations

from pathlib import Path

from policylint.workspace import open_workspace

SERVER = """
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: web, namespace: default}
spec: {podSelector: {matchLabels: {app: web}}, port: 8080}
"""


def limit(name: str, server: str, created: str) -> str:
    return f"""
apiVersion: policy.linkerd.io/v1alpha1
kind: HTTPLocalRateLimitPolicy
metadata: {{name: {name}, namespace: default, creationTimestamp: {created!r}}}
spec:
  targetRef: {{group: policy.linkerd.io, kind: Server, name: {server}}}
  total: {{requestsPerSecond: 1}}
"""


def test_the_oldest_rate_limit_of_a_server_counts(tmp_path: Path) -> None:
    """One flat status: Accepted, or why not."""
    (tmp_path / "world.yaml").write_text(
        "---\n".join(
            (
                SERVER,
                limit("young", "web", "2026-01-02T00:00:00Z"),
                limit("old", "web", "2026-01-01T00:00:00Z"),
                limit("lost", "absent", "2026-01-01T00:00:00Z"),
            )
        )
    )
    simulation = open_workspace([str(tmp_path / "world.yaml")]).simulations[0]
    said = {key.name: (state.verdict, state.conditions[0].reason) for key, state in simulation.policies.items()}
    assert said == {
        "old": ("Enforced", "Accepted"),
        "young": ("Conflicted", "RateLimitReasonAlreadyExists"),
        "lost": ("TargetNotFound", "NoMatchingTarget"),
    }
