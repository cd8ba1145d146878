"""GWP303: routes use a port of a Service that its BackendTLSPolicy does not cover, or for which none is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from policylint.checks.kit.locations import at, path
from policylint.implementations import implementation
from policylint.model import GATEWAY_GROUP, Finding, Related, Resource, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology import BackendState
from policylint.topology.ancestry import implementation_of

RULE = "GWP303"
_TLS = ("https", "kubernetes.io/wss", "tls")
_TLS_PORTS = (443, 8443)


class Cover(NamedTuple):
    """The coverage of a Service by BackendTLSPolicies: all ports (`whole`), or the sections that they name."""

    policies: list[tuple[PolicyState, Target]]
    whole: bool
    sections: set[str]


def check(simulation: Simulation) -> Iterator[Finding]:
    covers = _covers(simulation)
    if not covers:
        return
    used: dict[ResourceKey, list[tuple[Resource, BackendState]]] = {}
    for state in simulation.topology.routes:
        for backend in state.backends:
            if backend.role == "backend" and backend.wanted in covers and backend.port_found:
                used.setdefault(backend.wanted, []).append((state.route, backend))
    yield from _unread(simulation, covers, used)
    for service, cover in covers.items():
        resource = simulation.world.get(service)
        if cover.whole or resource is None or service not in used:
            continue
        ports = {str(port.get("name", "")): port for port in map(mapping, sequence(resource.spec.get("ports")))}
        names = {number: name for name, port in ports.items() if isinstance(number := port.get("port"), int | None)}
        reached = {names.get(backend.port, "") for _, backend in used[service]}
        reported: set[str] = set()
        for route, backend in used[service]:
            name = names.get(backend.port, "")
            if name in cover.sections or name in reported:
                continue
            if not reached.isdisjoint(cover.sections) and not _speaks_tls(name, ports.get(name, {})):
                continue  # one port with TLS and one without: on purpose
            reported.add(name)
            yield _finding(cover, route, backend, name)


def _unread(
    simulation: Simulation,
    covers: Mapping[ResourceKey, Cover],
    used: Mapping[ResourceKey, list[tuple[Resource, BackendState]]],
) -> Iterator[Finding]:
    """Yield routes of a kind for which the implementation of one of their Gateways reads no BackendTLSPolicy."""
    reported: set[tuple[ResourceKey, ResourceKey]] = set()
    for service, users in used.items():
        state, target = covers[service].policies[0]
        for route, backend in users:
            name = _without_tls(simulation, route)
            if not name or (route.key, service) in reported:
                continue
            reported.add((route.key, service))
            yield Finding(
                RULE,
                "warning",
                f"{route.key} reaches {service} without TLS: {name} does not read {state.key} for a {route.key.kind}",
                at(route, backend.pointer, "port", "name"),
                resources=(state.key, route.key, service),
                label="this connection is not encrypted",
                related=(Related("this policy has no effect on it", at(state.policy, target.pointer, "name")),),
                help=(f"fix: use an HTTPRoute, for which {name} reads it",),
                confidence="assumed",
                ground=f"it rests on the releases of {name} so far; a later one may read the policy there too",
                field=path(backend.pointer),
            )


def _without_tls(simulation: Simulation, route: Resource) -> str:
    """Return the implementation that serves a route and never reaches its backends with TLS, "" where there is none."""
    state = simulation.topology.route(route.key)
    for parent in () if state is None else state.parents:
        gateway = None if parent.gateway is None or not parent.attached else simulation.topology.gateway(parent.gateway)
        name = None if gateway is None else implementation_of(gateway, simulation.catalog)
        if name and route.key.kind in implementation(name).without_tls:
            return name
    return ""


@lru_cache(maxsize=1)
def reported_policies(simulation: Simulation) -> frozenset[ResourceKey]:
    """Return the policies that this rule reports: GWP106 need not say that one covers no port that is used."""
    return frozenset(finding.resources[0] for finding in check(simulation))


def _covers(simulation: Simulation) -> dict[ResourceKey, Cover]:
    """Return what the policies that take effect cover, by Service; where one is in doubt, everything."""
    covers: dict[ResourceKey, Cover] = {}
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) != (GATEWAY_GROUP, "BackendTLSPolicy"):
            continue
        refused = {refusal.attachment.node for refusal in state.refused}
        for target in state.targets:
            if target.key.kind != "Service":
                continue
            cover = covers.setdefault(target.key, Cover([], whole=False, sections=set()))
            doubtful = bool(state.invalid_code or target.problem or refused.intersection(target.nodes))
            whole = cover.whole or doubtful or not target.section
            cover.sections.add(target.section)
            covers[target.key] = cover._replace(whole=whole, policies=[*cover.policies, (state, target)])
    return covers


def _speaks_tls(name: str, port: Any) -> bool:
    """Return whether a port is evidently meant to be reached with TLS."""
    protocol = str(port.get("appProtocol", "")).lower()
    if protocol:
        return protocol in _TLS
    return "https" in name or "tls" in name or port.get("port") in _TLS_PORTS


def _finding(cover: Cover, route: Resource, backend: BackendState, name: str) -> Finding:
    state, target = cover.policies[0]
    port = f"port {name or backend.port}"
    return Finding(
        RULE,
        "warning",
        f"{route.key} reaches {port} of {backend.wanted} without TLS: {state.key} covers another port",
        at(state.policy, target.pointer, "sectionName", "name"),
        resources=(state.key, route.key, backend.wanted),
        label=f"covers {target.section} only" if len(cover.policies) == 1 else "the other ports are not covered",
        related=(Related("this port is used", at(route, backend.pointer, "port", "name")),),
        help=(f"fix: add a target with `sectionName: {name}`" if name else "fix: leave `sectionName` out",),
        field=f"{path(target.pointer)} {name or backend.port}",
    )
