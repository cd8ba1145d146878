"""GWP611: a policy for the pods of all namespaces that denies or closes, DNS and the system's own pods included."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import acting
from policylint.model import Finding
from policylint.model.words import listing
from policylint.network.addresses import is_everything
from policylint.network.kinds import CALICO, NOT_EVALUATED
from policylint.network.rules import DIRECTIONS, Block, Peer, Pods, PolicySpec, RuleSpec
from policylint.simulation import Simulation

RULE = "GWP611"
_SYSTEM = ("kube-system",)


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

    yield from _closing(simulation)


def _closing(simulation: Simulation) -> Iterator[Finding]:
    """Yield the policies that close all pods, where no other one that may be about the system's opens any."""
    policies = [policy for _, policy in acting(simulation)]
    opened = {
        rule.direction
        for policy in policies
        if isinstance(policy.subject, Pods) and policy.subject.home in (None, *_SYSTEM)
        for rule in policy.rules
        if rule.action != "Deny"
    }
    for policy in policies:
        if policy.key[:2] not in CALICO or not _is_everybody(policy.subject):
            continue
        shut = [direction for direction in DIRECTIONS if direction in policy.isolates - opened]
        if shut:
            yield Finding(
                RULE,
                "warning",
                f"{policy.key} closes the pods of all namespaces for {listing(shut)}: DNS and the system, too",
                policy.resource.name_location,
                resources=(policy.key,),
                label="nothing here that may be about them lets anything through",
                help=("fix: leave the namespaces of the system out, as `kube-system`, or let what they need through",),
                confidence="assumed",
                ground="policies of the cluster's own, which no repository has, may open them",
                field="isolates",
            )


def _is_everybody(peer: Peer | None) -> bool:
    if isinstance(peer, Block):
        return is_everything(peer.cidr)
    return isinstance(peer, Pods) and peer.are_all


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
