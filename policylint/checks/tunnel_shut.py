"""GWP625: a rule for single ports of pods that get everything through the tunnel of a mesh, whose port is shut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules, stretches
from policylint.model import Finding, ResourceKey
from policylint.model.words import leading
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.network.meshes import Tunnel
from policylint.network.rules import ANYBODY, RuleSpec
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
        ends, tunnel, sources = shut
        gets = "gets" if rule.direction == "ingress" else "sends"
        yield Finding(
            RULE,
            "warning",
            f"{policy.key} lets nothing{f' of {leading(sources, 3)}' if sources else ''} through with "
            f"{rule.direction}[{rule.position}]: its ports are inside a tunnel, "
            f"{leading(ends, 3)} {gets} everything by TCP {tunnel.port}",
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


class _Shut(NamedTuple):
    """What a rule means to let through, and a tunnel keeps from it.

    Args:
        ends: the subjects of the rule.
        sources: the other ends, where the rule is for others as well; none where it is for these alone.
    """

    ends: list[ResourceKey]
    tunnel: Tunnel
    sources: list[ResourceKey]


def _shut(simulation: Simulation, rule: RuleSpec, peers: dict[int, int]) -> _Shut | None:
    """Return what a rule does not let through, None where a connection that it may be about gets through.

    A rule without peers is for everybody: then the pods of the mesh in the same namespace are meant, at least.
    """
    network = simulation.network
    ends = network.universe.endpoints
    for_all = all(peer == (ANYBODY,) for peer, _ in rule.peers)
    within = (1 << len(ends)) - 1 if for_all else -1
    pairs = [(subject, peer) for subject, bits in peers.items() for peer in numbers_of(bits & within)]
    if for_all:
        homes = {subject: ends[subject].namespace for subject in peers}
        pairs = [each for each in pairs if each[0] != each[1] and ends[each[1]].namespace == homes[each[0]]]
        pairs = [each for each in pairs if ends[each[1]].role == "workload"]
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
    others = sorted({ends[peer].key for _, peer in pairs}) if for_all else []
    return None if tunnel is None else _Shut(sorted({end.key for end in shown}), tunnel, others)
