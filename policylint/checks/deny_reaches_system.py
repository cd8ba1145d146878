"""GWP611: a cluster policy for all pods that denies, DNS and the system's own pods included."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import acting
from policylint.model import Finding
from policylint.network.addresses import is_everything
from policylint.network.kinds import NOT_EVALUATED
from policylint.network.rules import Block, Peer, Pods, PolicySpec, RuleSpec
from policylint.simulation import Simulation

RULE = "GWP611"


def check(simulation: Simulation) -> Iterator[Finding]:
    policies = [
        policy for _, policy in acting(simulation) if policy.tier == "Admin" and policy.key[:2] not in NOT_EVALUATED
    ]
    for policy in policies:
        if not _is_everybody(policy.subject):
            continue
        for rule in policy.rules:
            if rule.action == "Deny" and _is_wide(rule) and not _is_spared(policies, policy, rule):
                way = "from" if rule.direction == "ingress" else "to"
                yield Finding(
                    RULE,
                    "warning",
                    f"{rule.direction}[{rule.position}] of {policy.key} denies connections {way} all pods, "
                    "DNS and the proxies of Gateways included",
                    policy.resource.location(*rule.pointer),
                    resources=(policy.key,),
                    label="no rule before it accepts or passes anything",
                    help=("fix: put rules for DNS and the system's namespaces before it, or limit the subject",),
                    field=path(rule.pointer),
                )


def _is_everybody(peer: Peer | None) -> bool:
    if isinstance(peer, Block):
        return is_everything(peer.cidr)
    return isinstance(peer, Pods) and not any(peer.namespaces.values()) and not any(peer.pods.values())


def _is_wide(rule: RuleSpec) -> bool:
    return rule.ports is None and any(_is_everybody(peer) for peers, _ in rule.peers for peer in peers)


def _is_spared(policies: list[PolicySpec], policy: PolicySpec, rule: RuleSpec) -> bool:
    """Return whether a rule that comes before lets anything past."""
    return any(
        other.direction == rule.direction
        and other.action != "Deny"
        and (earlier.priority < policy.priority or (earlier is policy and other.position < rule.position))
        for earlier in policies
        for other in earlier.rules
    )
