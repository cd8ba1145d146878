"""What is answered otherwise in another simulation, asked one by one: what `diff` says of a change is held against it.

A request is traced on both sides, and a packet walks through the network policies of both. Only what is known on both
sides counts, and only between objects that are there on both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from policylint.network.rules import PolicySpec
    from policylint.network.state import Network
    from policylint.reach import EntryPoint
    from policylint.simulation import Simulation
    from policylint.trace import Request, Requirements, Trace, Tracer

MOST_ENTRIES = 30
"""Entries of a side at which requests are tried."""
MOST_WAYS = 12
"""Requests of an entry."""
MOST_ENDS = 30
"""Workloads that are tried as either end of a connection."""
PURPOSES = ("authentication", "authorization")


class _Side(NamedTuple):
    tracer: Tracer
    requirements: Requirements


def request_answered_otherwise(random: Random, before: Simulation, after: Simulation) -> str:
    """Return a request that ends otherwise than before, or is asked otherwise, with both ends in words; "" for none."""
    from policylint.trace import Requirements, Tracer

    tracers = [Tracer(simulation, nearest=False) for simulation in (before, after)]
    sides = [_Side(tracer, Requirements(tracer)) for tracer in tracers]
    listed = {repr(each): each for side in sides for each in _requests(random, side.tracer)}
    for entry, request in listed.values():
        if all(_is_there(side.tracer, entry) for side in sides):
            was, now = (_answer(side, request) for side in sides)
            if any(None not in (old, new) and old != new for old, new in zip(was, now, strict=True)):
                return f"{request} at {entry.gateway}: {was}, then {now}"
    return ""


def connection_judged_otherwise(random: Random, before: Simulation, after: Simulation) -> str:
    """Return a connection between two workloads that network policies judge otherwise than before; "" for none."""
    networks = before.network, after.network
    pods = [{str(end) for end in network.universe.endpoints[:-2] if end.is_pod} for network in networks]
    both = sorted(pods[0] & pods[1])
    chosen = random.sample(both, min(MOST_ENDS, len(both)))
    for source in chosen:
        for target in chosen:
            for port in _ports(networks[0], target):
                was, now = (_packet(network, source, target, port) for network in networks)
                if {was, now} == {"allowed", "denied"}:
                    return f"{source} to {target} on port {port}: {was}, then {now}"
    return ""


def network_policies(simulation: Simulation) -> Iterator[PolicySpec]:
    """Yield the network policies that certainly select a pod which is there."""
    network = simulation.network
    if not network.universe.facts.idle:
        for policy, selected in zip(network.policies, network.subjects, strict=True):
            if not policy.refused and selected.sure & network.universe.pods and (policy.isolates or policy.rules):
                yield policy


def _requests(random: Random, tracer: Tracer) -> Iterator[tuple[EntryPoint, Request]]:
    """Yield one request of each way at some entries of an environment."""
    from policylint.reach import entries, entries_inside, ways_in

    listed = [*entries(tracer), *entries_inside(tracer)]
    for entry in random.sample(listed, min(MOST_ENTRIES, len(listed))):
        for way in islice(ways_in(tracer, entry), MOST_WAYS):
            if not way.undecided:
                yield entry, way.trace.request


def _is_there(tracer: Tracer, entry: EntryPoint) -> bool:
    if entry.inside:
        return tracer.simulation.world.get(entry.gateway) is not None
    return tracer.topology.gateway(entry.gateway) is not None


def _answer(side: _Side, request: Request) -> Sequence[object]:
    """Return where a request ends, and what is asked of it for each purpose; None for what is not known."""
    trace = side.tracer.trace(request)
    if not trace.outcome.backends:
        return [_end(trace), None, None]
    asked = (side.requirements.of(trace, purpose) for purpose in PURPOSES)
    return [_end(trace), *(None if each.state == "unknown" or each.ground else each.state for each in asked)]


def _end(trace: Trace) -> object:
    ended = trace.outcome
    if ended.unknown or trace.unsettled or trace.authorization == "depends":
        return None
    if trace.rule is None and not ended.backends:
        return "no rule takes it"  # whichever error that is
    to = ended.redirect
    return sorted(map(str, ended.backends)), ended.status, to and (to.status, to.scheme, to.host), ended.refused


def _ports(network: Network, target: str) -> list[int]:
    """Return the ports of a workload that are tried: those that it declares, else one."""
    declared = network.universe.endpoints[network.numbers[target]].listed
    return sorted({number for protocol, number in declared if protocol == "TCP"})[:3] or [8080]


def _packet(network: Network, source: str, target: str, port: int) -> str:
    mask = network.universe.ports.at("TCP", port)
    return network.ask(network.numbers[source], network.numbers[target], mask).verdict
