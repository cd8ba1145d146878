"""Linkerd: authorizations on one target add up; of two rate limits on one Server the oldest counts (§4)."""

from __future__ import annotations

from policylint.implementations.generic import Implementation
from policylint.policy.state import PolicyState
from policylint.topology import Condition, Topology


class Linkerd(Implementation):
    """AuthorizationPolicy and HTTPLocalRateLimitPolicy."""

    name = "linkerd"

    def conditions(self, state: PolicyState, topology: Topology) -> tuple[Condition, ...]:  # noqa: ARG002
        """What the policy controller writes on a rate limit (policy-controller/k8s/status/src/index.rs)."""
        if state.kind.status != "conditions" or state.invalid_code:
            return ()
        if state.refused:
            return (Condition("Accepted", "False", "RateLimitReasonAlreadyExists"),)
        if any(target.resolution.unknown for target in state.targets):
            return ()
        if not any(target.nodes for target in state.targets):
            return (Condition("Accepted", "False", "NoMatchingTarget"),)
        return (Condition("Accepted", "True", "Accepted"),)
