"""GWP309: a DestinationRule for a Service, or for the host of a ServiceEntry, lies where none of its clients looks."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.model import GATEWAY_GROUP, Finding, Resource, ResourceKey, World, is_symbolic, text, texts
from policylint.model.hosts import services_named
from policylint.model.kinds import MACHINE
from policylint.simulation import Simulation
from policylint.topology.hostnames import covers
from policylint.topology.workloads import WORKLOADS

RULE = "GWP309"
_KIND = "DestinationRule"
_CLIENTS = (*WORKLOADS, MACHINE, (GATEWAY_GROUP, "Gateway"))
"""What runs proxies that send requests: workloads, and Gateways."""


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each rule of a namespace without clients, for what another namespace calls by its host.

    Source: istio.io/docs/ops/best-practices/traffic-management, «Cross-namespace configuration sharing»; istio
    pilot/pkg/model/push_context.go, destinationRule.
    """
    world, catalog = simulation.world, simulation.catalog
    for rule in [each for each in world.resources.values() if each.key.kind == _KIND]:
        kind = catalog.get(rule.key.group, _KIND)
        if kind is None:
            continue
        root = text(catalog.settings(kind.implementation).get("rootNamespace"))
        home, host = rule.key.namespace, text(rule.spec.get("host"))
        if home == root or not host or is_symbolic(host) or host.startswith("*"):
            continue
        called = _called(world, host, home, rule.key.group)
        if called and all(each.namespace != home for each in called) and not _has_clients(world, home):
            yield _finding(world, rule, called[0], root)


def _called(world: World, host: str, home: str, group: str) -> list[ResourceKey]:
    """Return the Service that a full host names, and the ServiceEntries that have the host."""
    found = [each.key for each in services_named(world, host, home)]
    entries = world.of_kind(group, "ServiceEntry")
    whole = host.lower()
    return found + [
        entry.key for entry in entries if any(covers(each.lower(), whole) for each in texts(entry.spec.get("hosts")))
    ]


def _has_clients(world: World, namespace: str) -> bool:
    return any(world.in_namespace(*kind, namespace) for kind in _CLIENTS)


def _finding(world: World, rule: Resource, service: ResourceKey, root: str) -> Finding:
    home = rule.key.namespace
    reasons = (world.unseen.reason(ResourceKey(*kind, home, "")) for kind in _CLIENTS)
    unseen = next(filter(None, reasons), "")
    return Finding(
        RULE,
        "note" if unseen else "warning",
        f"{rule.key} is not used for {service}: only clients in namespace {home} would read it",
        rule.location("spec", "host"),
        resources=(rule.key, service),
        label=f"clients look in their own namespace, in {service.namespace} and in {root}",
        help=(f"fix: move it to namespace {service.namespace}",),
        confidence="unknown" if unseen else "assumed" if world.partial else "certain",
        ground=f"clients there may not have been seen: {unseen}"
        if unseen
        else f"no workload of namespace {home} was seen",
    )
