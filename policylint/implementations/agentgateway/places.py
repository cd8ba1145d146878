"""The targets of AgentgatewayPolicies beyond listeners and rules, and the Gateways that lead to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from itertools import chain
from operator import getitem
from typing import Any

from policylint.implementations.generic import resolved_to, unresolved, walk
from policylint.model import Node, Resource, ResourceKey, mapping, sequence, text
from policylint.policy.results import PolicyState, Target
from policylint.topology import Topology, whole
from policylint.topology.ancestry import gateways_above
from policylint.topology.service_ports import port_node, ports

GROUP = "agentgateway.dev"
BACKEND = "AgentgatewayBackend"
SOLE_PROVIDER = "backend"
"""The section of the one provider of a backend without groups of them (pkg/agentgateway/utils)."""


def with_section(policy: Resource, target: Target, topology: Topology) -> Target:
    """Resolve sections that the topology has no nodes for.

    Sections of Services are port numbers, those of an AgentgatewayBackend its providers and targets by name; a
    Gateway's listeners may be named by their port.
    """
    if target.selector is None and target.key.kind == "Gateway":
        return _with_port(policy, target, topology)
    if target.selector is not None or target.key.kind not in ("Service", BACKEND):
        return target
    resource = topology.world.get(target.key)
    if resource is None or not target.section:
        return target
    is_service = target.key.kind == "Service"
    node = (_port_of if is_service else _part_of)(resource, target.section)
    if node is not None:
        return resolved_to(target, node, resource=resource)
    name = "port" if is_service else "section"
    return unresolved(target, "section-not-found", f"{name} {target.section} not found in {target.key}")


def _with_port(policy: Resource, target: Target, topology: Topology) -> Target:
    """Resolve a reference that names the `port` of a Gateway and no section: to the listeners with that port."""
    reference: Any = reduce(getitem, target.pointer, policy.body)  # type: ignore[arg-type]
    port = mapping(reference).get("port")
    gateway = topology.gateway(target.key)
    if port is None or target.section or gateway is None:
        return target
    nodes = tuple(listener.node for listener in gateway.listeners if listener.port == port)
    if nodes:
        return target._replace(nodes=nodes)
    return unresolved(target, "section-not-found", f"port {port} not found in {target.key}")


def _port_of(service: Resource, section: str) -> Node | None:
    for port in ports(service):
        if section in (str(port.number), port.name):
            return port_node(service.key, port.name) if port.name else whole(service.key)
    return None


def _part_of(backend: Resource, section: str) -> Node | None:
    """Return the node of a provider of `ai` or a target of `mcp`."""
    parts = [sequence(value) for pointer, value in walk(backend.spec) if pointer[-1:] in (("providers",), ("targets",))]
    named = any(text(mapping(part).get("name")) == section for part in chain(*parts))
    named = named or (section == SOLE_PROVIDER and "provider" in mapping(backend.spec.get("ai")))
    return Node(backend.key, section, BACKEND) if named else None


class Gateways:
    """The Gateways that lead to a target: by routes, by backends that name other backends, and by policies.

    The targets of a policy lead to the backends that it names (traffic_plugin.go, BackendReferencesFromPolicy).
    """

    def __init__(self, topology: Topology, states: Iterable[PolicyState] = ()) -> None:
        self._topology = topology
        self._naming: dict[ResourceKey, set[ResourceKey]] = defaultdict(set)
        """For each backend what leads to it: backends that name it, and targets of policies that do."""
        for backend in topology.world.of_kind(GROUP, BACKEND):
            for named in _named_backends(backend.spec, backend.key.namespace):
                self._naming[named].add(backend.key)
        for state in states:
            targets = {node.key for target in state.targets for node in target.nodes}
            for named in _named_backends(state.policy.spec, state.key.namespace):
                self._naming[named] |= targets

    def of(self, key: ResourceKey) -> list[ResourceKey]:
        """Return the Gateways that lead to an object, sorted; for a Gateway itself."""
        pending, seen = [key], {key}
        while pending:
            backends = seen.union(self._naming.get(pending.pop(), ())) - seen
            seen |= backends
            pending += backends
        return sorted({gateway for below in seen for gateway in gateways_above(self._topology, below)})


def _named_backends(spec: Any, home: str) -> set[ResourceKey]:
    references = [inner for pointer, inner in walk(spec) if pointer[-1:] == ("backendRef",) and isinstance(inner, dict)]
    return {
        ResourceKey(
            text(reference.get("group")),
            text(reference.get("kind")) or "Service",
            text(reference.get("namespace")) or home,
            text(reference.get("name")),
        )
        for reference in references
    }
