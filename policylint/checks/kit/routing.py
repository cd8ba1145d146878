"""Shared by the rules on routing: severity and confidence, grants, listeners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policylint.implementations import implementation
from policylint.model import Confidence, Finding, Resource, ResourceKey, Severity, mapping, sequence, text
from policylint.model.kinds import OF_WAYPOINTS
from policylint.policy.bindings import ObjectBinding
from policylint.simulation import Simulation
from policylint.topology import ListenerState, Topology
from policylint.topology.ancestry import implementation_of


def is_waypoint(gateway: Resource) -> bool:
    """Return whether a Gateway is a waypoint, which serves what is bound to it by label, without any route.

    Source: kgateway's and agentgateway's guides on ambient waypoints: class `…-waypoint`, or a listener for ztunnel.
    """
    listeners = map(mapping, sequence(gateway.spec.get("listeners")))
    named = text(gateway.spec.get("gatewayClassName")).endswith("-waypoint")
    return named or any(listener.get("protocol") in OF_WAYPOINTS for listener in listeners)


def grade(unknown: object, severity: Severity = "error") -> tuple[Severity, Confidence]:
    """Return severity and confidence: what rests on something unknown is never a defect."""
    return ("note", "unknown") if unknown else (severity, "certain")


def softened(finding: Finding, simulation: Simulation, gateways: Sequence[ResourceKey], does: str) -> Finding:
    """Return what is said of Gateways as what is assumed, where nobody here knows what any of their controllers does.

    Args:
        does: what Gateway API has every controller do: `asks for a grant`.
    """
    unknown = [_unknown_controller(simulation, each) for each in gateways]
    if finding.confidence != "certain" or not unknown or not all(unknown):
        return finding
    ground = f"{unknown[0]} is not known, and not every controller {does}"
    return finding._replace(severity="warning", confidence="assumed", ground=ground)


def _unknown_controller(simulation: Simulation, gateway: ResourceKey) -> str:
    """Return the controller that serves a Gateway where nobody here knows what it does; "" where its class was not
    seen, or it is known: what Gateway API has every controller ask is not asked by all."""
    state = simulation.topology.gateway(gateway)
    if state is None or simulation.catalog.implementation_of_controller(state.controller):
        return ""
    return state.controller


def describe_grant(referrer: ResourceKey, referent: ResourceKey) -> str:
    """Return the words for adding the ReferenceGrant that allows a reference."""
    to = f"{referent.kind} of group {referent.group}" if referent.group else referent.kind
    trusted = f"from {referrer.kind} of group {referrer.group} in {referrer.namespace}"
    return f"add a ReferenceGrant to namespace {referent.namespace}: {trusted}, to {to}"


def listeners(topology: Topology) -> Iterator[ListenerState]:
    """Yield every listener, those of Gateways first."""
    for gateway in topology.gateways:
        yield from gateway.listeners
    for listener_set in topology.listener_sets:
        yield from listener_set.listeners


def unusable_filters(simulation: Simulation) -> Iterator[tuple[ObjectBinding, str]]:
    """Yield the objects that filters name and that cannot be used for what they name in turn, once each, and why."""
    named = {
        binding.wanted: binding
        for binding in simulation.bindings
        if binding.form == "filter" and binding.kind is not None and binding.resolution.found
    }
    for binding in named.values():
        resource, kind = binding.resolution.resource, binding.kind
        if resource is not None and kind is not None:
            fault = implementation(kind.implementation).filter_fault(resource, simulation.topology)
            if fault:
                yield binding, fault


def served_services(simulation: Simulation) -> dict[str, dict[Resource, ResourceKey]]:
    """Return the Services that Gateways send requests to, each with one of them, by implementation."""
    served: dict[str, dict[Resource, ResourceKey]] = {}
    for route in simulation.topology.routes:
        for parent in route.parents:
            gateway = None if parent.gateway is None else simulation.topology.gateway(parent.gateway)
            if gateway is None or not parent.attached:
                continue
            name = implementation_of(gateway, simulation.catalog)
            for backend in route.backends:
                service = simulation.world.get(backend.wanted) if backend.wanted[:2] == ("", "Service") else None
                if name and service is not None:
                    served.setdefault(name, {}).setdefault(service, gateway.gateway.key)
    return served
