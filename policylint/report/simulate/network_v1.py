"""The network's part of `simulation-v1`: verdicts on network policies, connections, and what nothing orders."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from policylint.network.connections import apart
from policylint.network.connections import connections as all_connections
from policylint.network.rules import TOGETHER
from policylint.network.selecting import numbers_of
from policylint.network.state import Network
from policylint.network.status import Decider, NetworkStatus
from policylint.report.kit.identity import Names, json_place
from policylint.report.simulate.simulation_v1 import verdict
from policylint.simulation import Simulation

Entry = dict[str, Any]


def policies(simulation: Simulation, names: Names) -> Iterator[Entry]:
    """Yield the verdict on every network policy, with its rules."""
    network = simulation.network
    for status in network.statuses.policies:
        yield policy(network, status, names)


def policy(network: Network, status: NetworkStatus, names: Names) -> Entry:
    """Return the verdict on one network policy, with its rules."""
    first = network.policies[status.numbers[0]]
    entry: Entry = {
        "policy": names.key(status.key),
        **verdict(status.verdict),
        "by": names.keys(status.by),
        "location": json_place(first.resource.name_location),
        "tier": first.tier,
    }
    if first.refused:
        return {**entry, "reason": first.refused, "targets": [], "rules": []}
    if first.tier != TOGETHER and isfinite(first.priority):
        entry["priority"] = first.priority
    found = [(name, "found") for name in ends(network, status.subjects, names)]
    found += [(name, "unknown") for name in ends(network, status.perhaps & ~status.subjects, names)]
    entry["targets"] = [{"target": name, "resolution": resolution} for name, resolution in sorted(found)]
    entry["rules"] = [
        {
            "direction": state.rule.direction,
            "index": state.rule.position,
            "name": state.rule.name,
            "action": state.rule.action,
            "shadowed": state.shadowed,
            "always": state.always,
            "by": sorted({decider_name(network, decider, names) for decider in state.by}),
        }
        for state in status.rules
    ]
    return entry


def decider_name(network: Network, decider: Decider, names: Names) -> str:
    """Name who decides: `ClusterNetworkPolicy first ingress[2]`, or a NetworkPolicy as a whole."""
    number, rule = decider
    policy_spec = network.policies[number]
    name = names.key(policy_spec.key)
    return name if rule is None or policy_spec.tier == TOGETHER else f"{name} {rule.direction}[{rule.position}]"


def connections(simulation: Simulation, names: Names) -> Iterator[Entry]:
    """Yield everything that is allowed or may be, as classes; what is not listed is denied."""
    network = simulation.network
    rows = [
        {
            "from": ends(network, row.sources, names),
            "to": ends(network, row.targets, names),
            "ports": network.universe.ports.words(row.ports),
            "allowed": "yes" if row.certain else "unknown",
        }
        for row in all_connections(network)
    ]
    yield from sorted(rows, key=str)


def ambiguous(simulation: Simulation, names: Names) -> Iterator[Entry]:
    """Yield the traffic on which policies of one tier and priority disagree."""
    network = simulation.network
    rows = []
    for overlap in network.statuses.overlaps:
        for subjects, peers in apart(overlap.subjects, overlap.peers, network.universe.several):
            ways = (subjects, peers) if overlap.direction == "egress" else (peers, subjects)
            source, target = (ends(network, way, names) for way in ways)
            if source and target:
                keys = (network.policies[number].key for number in (overlap.first, overlap.second))
                rows.append(
                    {
                        "from": source,
                        "to": target,
                        "ports": network.universe.ports.words(overlap.ports),
                        "policies": names.keys(keys),
                        "harmless": overlap.harmless,
                    }
                )
    yield from sorted(rows, key=str)


def ends(network: Network, bits: int, names: Names) -> list[str]:
    """Return the names of a set of ends: workloads, then address ranges, neighbours as one."""
    universe = network.universe
    count = len(universe.endpoints)
    numbers = list(numbers_of(bits & universe.shown))
    seen = (universe.endpoints[number] for number in numbers if number < count)
    named = sorted({names.key(endpoint.key) + endpoint.suffix for endpoint in seen})
    return named + universe.addresses.words(number for number in numbers if number >= count)
