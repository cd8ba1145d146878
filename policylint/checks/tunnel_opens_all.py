"""GWP624: a rule for the port of a mesh's tunnel, and so for every port of the pods, beside rules for single ones."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules, stretches
from policylint.model import Finding, Related, ResourceKey
from policylint.model.words import leading
from policylint.network.meshes import Tunnel
from policylint.network.ports import PortSpec
from policylint.network.rules import PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.simulation import Simulation

RULE = "GWP624"


def check(simulation: Simulation) -> Iterator[Finding]:
    network = simulation.network
    ends = network.universe.endpoints
    if not simulation.meshes.all:
        return
    for number, policy, rule in rules(simulation):
        if rule.direction != "ingress" or rule.action != "Allow" or rule.ports is None:
            continue
        if not any(stretch.maybe & network.universe.pods for _, stretch in stretches(network, number, rule)):
            continue
        found: list[tuple[ResourceKey, Tunnel, PolicySpec, RuleSpec]] = []
        for subject in numbers_of(network.subjects[number].sure):
            end = ends[subject]
            tunnel = simulation.meshes.tunnel(end, end) if end.role == "workload" else None
            if tunnel is None or not any(_covers(port, tunnel.port) for port in rule.ports):
                continue
            narrow = next(
                (
                    (entry.policy, other)
                    for entry in network.entries(subject, "ingress")
                    for other, _ in entry.rules
                    if other.action == "Allow" and other.ports
                    if not any(_covers(each, tunnel.port) for each in other.ports)
                ),
                None,
            )
            if narrow is not None:
                found.append((end.key, tunnel, *narrow))
        if found:
            yield _finding(policy, rule, found)


def _covers(port: PortSpec, number: int) -> bool:
    return port.protocol in ("", "TCP") and not port.name and port.certain and port.low <= number <= port.high


def _finding(
    policy: PolicySpec, rule: RuleSpec, found: list[tuple[ResourceKey, Tunnel, PolicySpec, RuleSpec]]
) -> Finding:
    _, tunnel, other, narrow = found[0]
    keys = [key for key, *_ in found]
    return Finding(
        RULE,
        "note",
        f"{policy.key} opens every port of {leading(keys, 3)} to pods of the mesh, with port {tunnel.port} in "
        f"{rule.direction}[{rule.position}]",
        policy.resource.location(*rule.pointer),
        resources=(policy.key, *keys[:20]),
        label=tunnel.why,
        related=(Related("this rule for single ports keeps them from none", other.resource.location(*narrow.pointer)),),
        help=("fix: say in a policy of the mesh who may ask which port",),
        confidence="certain" if tunnel.certain else "assumed",
        ground="" if tunnel.certain else "which release of the mesh runs",
        field=path(rule.pointer),
    )
