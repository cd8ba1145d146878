"""GWP523: a DENY that only speaks of HTTP: to a TCP port it has no condition left, and denies everything (IST0133)."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.mesh_policies import action, http_only, is_wide
from policylint.model import Finding, sequence
from policylint.model.kinds import AUTHORIZATION
from policylint.policy.results import Target
from policylint.simulation import Simulation

RULE = "GWP523"


def check(simulation: Simulation) -> Iterator[Finding]:
    for state in simulation.policies.values():
        policy = state.policy
        if (state.key.group, state.key.kind) != AUTHORIZATION or action(policy) != "DENY" or state.invalid_code:
            continue
        if state.idle is not None:  # ztunnel drops such a rule: GWP106 says so
            continue
        if state.targets and all(_takes_requests(target, simulation) for target in state.targets):
            continue
        for index, rule in enumerate(sequence(policy.spec.get("rules"))):
            attributes = http_only(rule)
            if not attributes:
                continue
            yield Finding(
                RULE,
                "warning" if is_wide(policy) else "note",  # what is selected is mostly HTTP; in a namespace is anything
                f"{state.key} denies all traffic to TCP ports: a rule has only HTTP conditions",
                policy.location("spec", "rules", index),
                resources=(state.key,),
                label=f"a TCP connection has no {', '.join(attributes)}, so the rule matches every connection",
                help=("fix: name the HTTP ports in the rule: `to: [{operation: {ports: [...]}}]`",),
                field=path(("spec", "rules", index)),
            )
            break


def _takes_requests(target: Target, simulation: Simulation) -> bool:
    """Return whether a target is a Gateway whose listeners are all of HTTP, so that no connection comes to it."""
    gateway = simulation.topology.gateway(target.key)
    if gateway is None or gateway.attached_listener_sets or not gateway.listeners:
        return False
    return all(listener.protocol in ("HTTP", "HTTPS") for listener in gateway.listeners)
