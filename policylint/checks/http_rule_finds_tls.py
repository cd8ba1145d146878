"""GWP626: rules of network policies about requests whose clients send TLS: no connection of theirs gets through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from policylint.checks.kit.locations import path
from policylint.checks.kit.network import rules, stretches
from policylint.checks.kit.tracing import tracer_of
from policylint.documents import Pointer
from policylint.model import Finding, Resource, ResourceKey, integer, mapping, sequence
from policylint.model.kinds import SERVICE
from policylint.model.words import leading
from policylint.namedtuple import NamedTuple
from policylint.network.endpoints import Endpoint
from policylint.network.rules import PolicySpec, RuleSpec
from policylint.network.selecting import numbers_of
from policylint.simulation import Simulation
from policylint.trace.network import Unheard, sent_by, unheard
from policylint.trace.result import Share

RULE = "GWP626"
_MOST = 512
"""Pairs of ends that are asked about for one rule."""


class _Sent(NamedTuple):
    """What an end sends to a port of a Service, and why TLS ends at its pods ("" where nothing says so)."""

    source: Endpoint
    service: Resource
    port: int | None
    own: str = ""


def check(simulation: Simulation) -> Iterator[Finding]:
    reading = [each for each in rules(simulation) if each[2].calls is not None and each[2].reads == "wire"]
    if not reading:
        return
    found: dict[tuple[ResourceKey, Pointer], list[tuple[ResourceKey, ResourceKey, Unheard]]] = defaultdict(list)
    for each in chain(_of_gateways(simulation), _of_pods(simulation, reading)):
        for hop in simulation.hops.to_backend(each.source, each.service.key, each.port):
            deaf = unheard(simulation, hop, each.service, each.port, each.own)
            if deaf is not None:
                found[deaf.policy.key, deaf.rule.pointer].append((each.source.key, hop.target.key, deaf))
    for (key, pointer), cut in sorted(found.items(), key=lambda item: (item[0][0], str(item[0][1]))):
        sources, targets = (list(dict.fromkeys(keys)) for keys in zip(*(each[:2] for each in cut), strict=True))
        deaf = cut[0][2]
        yield Finding(
            RULE,
            "warning",
            f"{key} lets nothing of {leading(sources, 3)} through to {leading(targets, 3)}: its HTTP rules find TLS",
            deaf.policy.resource.location(*pointer),
            resources=(key, *sources[:10], *targets[:10]),
            label=deaf.why,
            help=("fix: leave the rules for HTTP out, and have what ends TLS there say which requests may come",),
            field=path(pointer),
        )


def _of_gateways(simulation: Simulation) -> Iterator[_Sent]:
    tls = tracer_of(simulation).tls
    for route in simulation.topology.routes:
        gateways = {parent.gateway for parent in route.parents if parent.accepted and parent.gateway is not None}
        for backend in route.backends:
            service = simulation.world.get(backend.wanted) if backend.wanted[:2] == SERVICE else None
            share = Share(backend.wanted, backend.port, 1, 1.0, (), backend.section)
            refused = tls.of(share)
            if service is None or backend.role != "backend" or (refused is not None and refused.problem):
                continue
            for gateway in sorted(gateways):
                for plane in simulation.hops.planes.get(gateway, ())[:1]:
                    own = sent_by(tls.session(share, route.route, gateway))
                    yield _Sent(plane.endpoint, service, backend.port, own)


def _of_pods(simulation: Simulation, reading: Iterable[tuple[int, PolicySpec, RuleSpec]]) -> Iterator[_Sent]:
    """Yield what pods that the rules let through may send to each other by a Service, where a mesh is."""
    network, hops = simulation.network, simulation.hops
    ends = network.universe.endpoints
    behind: dict[int, list[Resource]] = defaultdict(list)
    for service in simulation.world.of_kind(*SERVICE) if simulation.meshes.all else ():
        for number in hops.pods(service):
            behind[number].append(service)
    for number, _, rule in reading if behind else ():
        pairs = (
            (subject, peer) for subject, part in stretches(network, number, rule) for peer in numbers_of(part.sure)
        )
        for subject, peer in list(dict.fromkeys(pairs))[:_MOST]:
            source, target = (peer, subject) if rule.direction == "ingress" else (subject, peer)
            for service in behind.get(target, ()) if source < len(ends) and ends[source].role == "workload" else ():
                for port in map(mapping, sequence(service.spec.get("ports"))):
                    yield _Sent(ends[source], service, integer(port.get("port")))
