"""Azure Application Gateway for Containers: what its controller refuses, and policies for some ports of a Service.

Source: ALB Controller 1.7, apis/v1: «Override is currently not supported and results in a validation error»; `ports` of
BackendTLSPolicyConfig and of the targets of a BackendLoadBalancingPolicy.
"""

from __future__ import annotations

from typing import Any

from policylint.implementations.generic import Implementation
from policylint.model import PolicyKind, Resolution, Resource, World, integer, mapping, sequence
from policylint.model.resource import value_at
from policylint.policy.results import Target, TargetProblem
from policylint.topology import Topology
from policylint.topology.grants import Grants
from policylint.topology.service_ports import port_node, ports_by_number


class AzureAgc(Implementation):
    """The kinds of alb.networking.azure.io, which follow their catalog entries but for `override` and `ports`."""

    name = "azure-agc"

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve the references, to ports of Services where some are listed."""
        targets = super().targets(policy, kind, topology, grants)
        of_policy = mapping(policy.spec.get("default")).get("ports")
        return tuple(_at_ports(target, of_policy or _beside(target, policy), topology.world) for target in targets)


def _beside(target: Target, policy: Resource) -> Any:
    """Return the list of ports that stands beside one of several targets."""
    return mapping(value_at(policy.body, target.pointer[:-1])).get("ports")


def _at_ports(target: Target, ports: Any, world: World) -> Target:
    """Return a target with the named ports of its Service in place of all of it."""
    service = world.get(target.key)
    wanted = {integer(mapping(entry).get("port")) for entry in sequence(ports)}
    if not wanted or service is None or target.section or not target.nodes or target.key.kind != "Service":
        return target
    there = ports_by_number(service)
    nodes = tuple(port_node(target.key, port.name) for number in wanted for port in there.get(number, ()) if port.name)
    if wanted >= set(there):
        return target
    if not wanted & set(there):
        numbers = ", ".join(map(str, wanted))
        missing = Resolution("missing", f"{target.key} has no port {numbers}")
        problem: TargetProblem = "section-not-found"
        return target._replace(nodes=(), section=numbers, resolution=missing, problem=problem, detail=missing.reason)
    return target._replace(nodes=nodes)
