"""GWP414: a Service without node ports behind a load balancer that sends to the ports of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.locations import value_at
from policylint.checks.kit.routing import served_services
from policylint.model import Finding, PolicyKind, ResourceKey, text
from policylint.model.policy_kind import NodePorts
from policylint.simulation import Simulation

RULE = "GWP414"
_INSIDE = ("", "ClusterIP")


def check(simulation: Simulation) -> Iterator[Finding]:
    for name, services in served_services(simulation).items():
        for kind in simulation.catalog.by_node_ports(name):
            said = kind.node_ports
            for service, gateway in services.items() if said is not None else ():
                if said is None or text(service.spec.get("type")) not in _INSIDE:
                    continue
                if not _may_be_otherwise(simulation, kind, said, service.key):
                    yield Finding(
                        RULE,
                        "warning",
                        f"{gateway} cannot send to {service.key}, which has no node ports",
                        service.name_location,
                        resources=(service.key, gateway),
                        label=f"the load balancer sends to the ports of nodes: `{said.path}` is {said.unset}",
                        help=(
                            f"fix: add a {kind.kind} for it with another `{said.path}`, or make it a NodePort",
                            "note: one such Service fails the whole load balancer",
                        ),
                        confidence="assumed",
                        ground="the controller may be configured with another default outside these manifests",
                    )


def _may_be_otherwise(simulation: Simulation, kind: PolicyKind, said: NodePorts, service: ResourceKey) -> bool:
    """Return whether an object of the kind says something else of a Service, of its Gateway or by default."""
    path = tuple(said.path.split("."))
    for policy in simulation.world.of_kind(kind.group, kind.kind):
        state = simulation.policies.get(policy.key)
        targets = [] if state is None else [target.key for target in state.targets]
        if any(target[:2] == ("", "Service") and target != service for target in targets):
            continue
        stated = [value_at(each.proper, path) for each in (state.declared if state is not None else ())]
        stated += [value_at(policy.spec, ("defaultConfiguration", *path)), value_at(policy.spec, path)]
        if any(value not in (None, said.value) for value in stated):
            return True
    return False
