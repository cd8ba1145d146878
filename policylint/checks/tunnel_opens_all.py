"""GWP624: a rule for the port of a mesh's tunnel, and so for every port of the pods, beside rules for single ones."""

from __future__ import annotations

from collections import defaultdict
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
    if not simulation.meshes.all:
        return
    for number, policy, rule in rules(simulation):
        if rule.action != "Allow" or rule.ports is None:
            continue
        peers: dict[int, int] = defaultdict(int)
        for subject, stretch in stretches(network, number, rule):
            peers[subject] |= stretch.maybe & network.universe.pods
        found: list[tuple[ResourceKey, Tunnel, PolicySpec, RuleSpec]] = []
        for subject in numbers_of(network.subjects[number].sure):
            for opened, tunnel in _tunnels(simulation, rule, subject, peers[subject]):
                narrow = _narrow(simulation, subject, policy, rule, tunnel)
                if narrow is not None and all(key != opened for key, *_ in found):
                    found.append((opened, tunnel, *narrow))
        if found:
            yield _finding(policy, rule, found)


def _tunnels(simulation: Simulation, rule: RuleSpec, subject: int, peers: int) -> Iterator[tuple[ResourceKey, Tunnel]]:
    """Yield the pods whose tunnel a rule opens: the subject of what comes in, the peers of what goes out."""
    ends = simulation.network.universe.endpoints
    end = ends[subject]
    if not peers or end.role != "workload":
        return
    for other in (end,) if rule.direction == "ingress" else (ends[number] for number in numbers_of(peers)):
        tunnel = simulation.meshes.tunnel(end, other) if other.role == "workload" else None
        if tunnel is not None and any(_covers(port, tunnel.port) for port in rule.ports or ()):
            yield other.key, tunnel


def _narrow(
    simulation: Simulation, subject: int, policy: PolicySpec, rule: RuleSpec, tunnel: Tunnel
) -> tuple[PolicySpec, RuleSpec] | None:
    """Return what opens single ports of the same pods: the rule itself, or another one."""
    if any(not _covers(port, tunnel.port) for port in rule.ports or ()):
        return policy, rule
    others = (
        (entry.policy, other)
        for entry in simulation.network.entries(subject, rule.direction)
        for other, _ in entry.rules
        if other.action == "Allow" and other.ports
        if not any(_covers(each, tunnel.port) for each in other.ports)
    )
    return next(others, None)


def _covers(port: PortSpec, number: int) -> bool:
    return port.protocol in ("", "TCP") and not port.name and port.certain and port.low <= number <= port.high


def _finding(
    policy: PolicySpec, rule: RuleSpec, found: list[tuple[ResourceKey, Tunnel, PolicySpec, RuleSpec]]
) -> Finding:
    _, tunnel, other, narrow = found[0]
    keys = [key for key, *_ in found]
    whom = "pods of the mesh" if rule.direction == "ingress" else "its pods"
    return Finding(
        RULE,
        "note",
        f"{policy.key} opens every port of {leading(keys, 3)} to {whom}, with port {tunnel.port} in "
        f"{rule.direction}[{rule.position}]",
        policy.resource.location(*rule.pointer),
        resources=(policy.key, *keys[:20]),
        label=tunnel.why,
        related=()
        if narrow is rule
        else (Related("this rule for single ports keeps them from none", other.resource.location(*narrow.pointer)),),
        help=("fix: say in a policy of the mesh who may ask which port",),
        confidence="certain" if tunnel.certain else "assumed",
        ground="" if tunnel.certain else "which release of the mesh runs",
        field=path(rule.pointer),
    )
