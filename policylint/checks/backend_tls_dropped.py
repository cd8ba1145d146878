"""GWP303: routes use a port of a Service that its BackendTLSPolicy does not cover."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from policylint.checks.kit.locations import at, path
from policylint.model import GATEWAY_GROUP, Finding, Related, Resource, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState, Target
from policylint.simulation import Simulation
from policylint.topology import BackendState

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
