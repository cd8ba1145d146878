"""What AgentgatewayPolicies may name beyond listeners and rules, and the Gateways that lead to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.model import Node, Resolution, Resource, ResourceKey, mapping, sequence, text
from policylint.policy.results import PolicyState, Target
from policylint.topology import Topology, whole
from policylint.topology.ancestry import gateways_above
from policylint.topology.backends import port_node, ports

GROUP = "agentgateway.dev"
BACKEND = "AgentgatewayBackend"
SOLE_PROVIDER = "backend"
"""The section of the one provider of a backend without groups of them (pkg/agentgateway/utils)."""


def with_section(policy: Resource, target: Target, topology: Topology) -> Target:
    """Sections of Services are port numbers, those of an AgentgatewayBackend its providers and targets by name; a
    Gateway's listeners may be named by their port."""
    if target.selector is None and target.key.kind == "Gateway":
        return _with_port(policy, target, topology)
    if target.selector is not None or target.key.kind not in ("Service", BACKEND):
        return target
    found = topology.world.get(target.key)
    section = target.section
    if found is None or not section:
        return target
    node = _port_of(found, section) if target.key.kind == "Service" else _part_of(found, section)
    if node is None:
        what = "port" if target.key.kind == "Service" else "section"
        detail = f"{what} {section} not found in {target.key}"
        return target._replace(
            section=section,
            nodes=(),
            resolution=Resolution("missing", detail),
            problem="section-not-found",
            detail=detail,
        )
    return target._replace(
        section=section, nodes=(node,), resolution=Resolution("found", resource=found), problem="", detail=""
    )


def _with_port(policy: Resource, target: Target, topology: Topology) -> Target:
    """A Gateway of which a reference names the `port` and no section: the listeners with that port."""
    reference: Any = policy.body
    for step in target.pointer:
        reference = reference[step]
    port = mapping(reference).get("port")
    gateway = topology.gateway(target.key)
    if port is None or target.section or gateway is None:
        return target
    nodes = tuple(each.node for each in gateway.listeners if each.port == port)
    if nodes:
        return target._replace(nodes=nodes)
    detail = f"port {port} not found in {target.key}"
    missing = Resolution("missing", detail)
    return target._replace(nodes=(), resolution=missing, problem="section-not-found", detail=detail)


def _port_of(service: Resource, section: str) -> Node | None:
    for each in ports(service):
        if section in (str(each.number), each.name):
            return port_node(service.key, each.name) if each.name else whole(service.key)
    return None


def _part_of(backend: Resource, section: str) -> Node | None:
    named = any(section == name for name in _names(backend.spec))
    named = named or (section == SOLE_PROVIDER and "provider" in mapping(backend.spec.get("ai")))
    return Node(backend.key, section, BACKEND) if named else None


def _names(value: Any) -> Iterator[str]:
    """The names of the providers of `ai` and the targets of `mcp`."""
    for name, inner in mapping(value).items():
        if name in ("providers", "targets"):
            yield from (text(mapping(each).get("name")) for each in sequence(inner))
        yield from _names(inner)
    for each in sequence(value):
        yield from _names(each)


class Gateways:
    """The Gateways that lead to a target: by routes, by backends that name other backends, and by policies, whose
    targets lead to the backends that they name (traffic_plugin.go, BackendReferencesFromPolicy)."""

    def __init__(self, topology: Topology, states: Iterable[PolicyState] = ()) -> None:
        self._topology = topology
        self._naming: dict[ResourceKey, list[ResourceKey]] = {}
        for backend in topology.world.of_kind(GROUP, BACKEND):
            for wanted in set(_named_backends(backend.spec, backend.key.namespace)):
                self._naming.setdefault(wanted, []).append(backend.key)
        for state in states:
            named = sorted(set(_named_backends(state.policy.spec, state.key.namespace)))
            targets = {node.key for target in state.targets for node in target.nodes} if named else ()
            for wanted in named:
                self._naming.setdefault(wanted, []).extend(sorted(targets))

    def of(self, key: ResourceKey) -> list[ResourceKey]:
        """Sorted; the Gateway itself for a Gateway."""
        found: set[ResourceKey] = set()
        pending, seen = [key], {key}
        while pending:
            here = pending.pop()
            found.update(gateways_above(self._topology, here))
            for backend in self._naming.get(here, ()):
                if backend not in seen:
                    seen.add(backend)
                    pending.append(backend)
        return sorted(found)


def _named_backends(value: Any, namespace: str) -> Iterator[ResourceKey]:
    for name, inner in mapping(value).items():
        if name == "backendRef" and isinstance(inner, dict):
            kind, group = text(inner.get("kind")) or "Service", text(inner.get("group"))
            where = text(inner.get("namespace")) or namespace
            yield ResourceKey(group, kind, where, text(inner.get("name")))
        yield from _named_backends(inner, namespace)
    for each in sequence(value):
        yield from _named_backends(each, namespace)
