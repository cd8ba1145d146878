"""GWP523: a DENY that only speaks of HTTP: to a TCP port it has no condition left, and denies everything (IST0133).

One that speaks of other things as well denies by these alone, where a Gateway takes connections.
"""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import path
from policylint.checks.kit.mesh_policies import action, http_only, ignored_on_connections, is_wide
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.model import Finding, Related, Resource, mapping, sequence, text
from policylint.model.kinds import AUTHORIZATION
from policylint.model.words import listing
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology.workloads import is_workload, pod_labels

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
        yield from _partly(state, simulation)
        for index, rule in enumerate(sequence(policy.spec.get("rules"))):
            attributes = http_only(rule)
            if not attributes:
                continue
            taking = _taking_connections(state, simulation)
            is_met = taking is not None or is_wide(policy)  # what labels select is mostly HTTP; a namespace holds all
            yield Finding(
                RULE,
                "warning" if is_met else "note",
                f"{state.key} denies all traffic to TCP ports: a rule has only HTTP conditions",
                policy.location("spec", "rules", index),
                resources=(state.key,),
                label=f"a TCP connection has no {', '.join(attributes)}, so the rule matches every connection",
                related=() if taking is None else (Related("it takes connections", taking.name_location),),
                help=("fix: name the HTTP ports in the rule: `to: [{operation: {ports: [...]}}]`",),
                field=path(("spec", "rules", index)),
            )
            break


def _partly(state: PolicyState, simulation: Simulation) -> Iterator[Finding]:
    """Yield the first rule that loses some of its conditions on the connections of a Gateway."""
    for index, rule in enumerate(sequence(state.policy.spec.get("rules"))):
        attributes = ignored_on_connections(rule)
        taking = _taking_connections(state, simulation) if attributes else None
        if taking is not None:
            yield Finding(
                RULE,
                "warning",
                f"{state.key} denies connections through {taking.key} whatever their {listing(attributes)}",
                state.policy.location("spec", "rules", index),
                resources=(state.key, taking.key),
                label=f"a connection has no {listing(attributes)}: the other conditions of the rule decide",
                related=(Related("it takes connections", taking.name_location),),
                help=("fix: name the HTTP ports in the rule: `to: [{operation: {ports: [...]}}]`",),
                field=path(("spec", "rules", index)),
            )
            return


def _taking_connections(state: PolicyState, simulation: Simulation) -> Resource | None:
    """Return a Gateway of Istio's own with a server of connections at whose pods a policy acts."""
    paths = (path for group in state.groups for path in group.contexts())
    workloads = (simulation.world.get(path[-1].key) for path in paths)
    pods = [pod_labels(each) for each in workloads if each is not None and is_workload(*each.key[:2])]
    for gateway in simulation.world.of_kind(*OWN_GATEWAY):
        selector = mapping(gateway.spec.get("selector")).items()
        servers = [mapping(server) for server in sequence(gateway.spec.get("servers"))]
        modes = {
            (text(mapping(each.get("port")).get("protocol")).upper(), text(mapping(each.get("tls")).get("mode")))
            for each in servers
        }
        is_open = any(protocol in ("TCP", "TLS") or mode.endswith("PASSTHROUGH") for protocol, mode in modes)
        if is_open and selector and any(selector <= labels.items() for labels in pods):
            return gateway
    return None


def _takes_requests(target: Target, simulation: Simulation) -> bool:
    """Return whether a target is a Gateway whose listeners are all of HTTP, so that no connection comes to it."""
    gateway = simulation.topology.gateway(target.key)
    if gateway is None or gateway.attached_listener_sets or not gateway.listeners:
        return False
    return all(listener.protocol in ("HTTP", "HTTPS") for listener in gateway.listeners)
