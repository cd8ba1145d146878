"""GWP625: a rule for single ports of pods that get everything through the tunnel of a mesh, whose port is shut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules, stretches
from policylint.model import Finding, ResourceKey
from policylint.model.words import leading
from policylint.network.endpoints import Endpoint
from policylint.network.meshes import Tunnel
from policylint.network.rules import RuleSpec
from policylint.network.selecting import numbers_of
from policylint.simulation import Simulation

RULE = "GWP625"
_MOST = 256
"""Pairs of ends that are asked about for one rule."""


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield the rules that let nothing through, as all connections between their ends go through a tunnel."""
    network = simulation.network
    tunnelled = _tunnelled(simulation) if simulation.meshes.all else 0
    if not tunnelled:
        return
    for number, policy, rule in rules(simulation):
        if rule.action != "Allow" or not rule.ports or not network.subjects[number].maybe & tunnelled:
            continue
        peers: dict[int, int] = defaultdict(int)
        for subject, stretch in stretches(network, number, rule):
            peers[subject] |= stretch.maybe
        shut = _shut(simulation, rule, peers)
        if shut is None:
            continue
        ends, tunnel = shut
        yield Finding(
            RULE,
            "warning",
            f"{policy.key} lets nothing through with {rule.direction}[{rule.position}]: its ports are inside a tunnel, "
            f"{leading(ends, 3)} {'gets' if rule.direction == 'ingress' else 'sends'} everything by TCP {tunnel.port}",
            policy.resource.location(*rule.pointer),
            resources=(policy.key, *ends[:20]),
            label=tunnel.why,
            help=(f"fix: open TCP {tunnel.port} there, and say in a policy of the mesh who may ask which port",),
            field=path(rule.pointer),
        )


def _tunnelled(simulation: Simulation) -> int:
    """Return the set of the pods that certainly reach pods like themselves through a tunnel."""
    found = 0
    for number, end in enumerate(simulation.network.universe.endpoints):
        tunnel = simulation.meshes.tunnel(end, end) if _is_seen(end) else None
        if tunnel is not None and tunnel.certain:
            found |= 1 << number
    return found


def _is_seen(end: Endpoint) -> bool:
    """Tell whether an end is pods that were seen: others may have a label that keeps them out of the mesh."""
    return end.is_pod and not end.open


def _shut(simulation: Simulation, rule: RuleSpec, peers: dict[int, int]) -> tuple[list[ResourceKey], Tunnel] | None:
    """Return the subjects of a rule and the tunnel; None where a connection that it may be about gets through."""
    network = simulation.network
    ends = network.universe.endpoints
    pairs = [(subject, peer) for subject, bits in peers.items() for peer in numbers_of(bits)]
    if not pairs or len(pairs) > _MOST:
        return None
    tunnel = None
    for subject, peer in pairs:
        source, target = (peer, subject) if rule.direction == "ingress" else (subject, peer)
        if max(source, target) >= len(ends) or not (_is_seen(ends[source]) and _is_seen(ends[target])):
            return None  # beyond the ends stand addresses
        tunnel = simulation.meshes.tunnel(ends[source], ends[target])
        if tunnel is None or not tunnel.certain:
            return None
        at = network.universe.ports.at("TCP", tunnel.port)
        if network.check(subject, rule.direction, 1 << peer, at) != "denied":
            return None
    found = [ends[subject] for subject in peers]
    shown = [end for end in found if end.role == "workload"] or found
    return (sorted({end.key for end in shown}), tunnel) if tunnel is not None else None
