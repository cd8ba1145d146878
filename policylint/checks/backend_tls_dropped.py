"""GWP303: routes use a port of a Service that its BackendTLSPolicy does not cover."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from policylint.checks.kit.locations import at, path
from policylint.model import GATEWAY_GROUP, Finding, Related, Resource, ResourceKey, mapping, sequence
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState, Target

if TYPE_CHECKING:
    from policylint.simulation import Simulation
    from policylint.topology import BackendState

RULE = "GWP303"
_PLAIN = ("http", "kubernetes.io/h2c", "kubernetes.io/ws", "grpc")
_PLAIN_PORTS = (80, 8080)


class Cover(NamedTuple):
    """What the BackendTLSPolicies of a Service cover."""

    policies: list[tuple[PolicyState, Target]]
    whole: bool
    sections: set[str]


def check(world: Simulation) -> Iterator[Finding]:
    covers = _covers(world)
    if not covers:
        return
    used: dict[ResourceKey, list[tuple[Resource, BackendState]]] = {}
    for state in world.topology.routes:
        for each in state.backends:
            if each.role == "backend" and each.wanted in covers and each.port_found:
                used.setdefault(each.wanted, []).append((state.route, each))
    for service, cover in covers.items():
        resource = world.world.get(service)
        if cover.whole or resource is None or service not in used:
            continue
        ports = {str(mapping(each).get("name", "")): mapping(each) for each in sequence(resource.spec.get("ports"))}
        numbers = {each.get("port"): name for name, each in ports.items()}
        reached = {numbers.get(backend.port, "") for _, backend in used[service]}
        told: set[str] = set()
        for route, backend in used[service]:
            name = numbers.get(backend.port, "")
            if name in cover.sections or name in told:
                continue
            if not reached.isdisjoint(cover.sections) and _is_plain(name, ports.get(name, {})):
                continue  # one port with TLS and one without: on purpose
            told.add(name)
            yield _finding(cover, route, backend, name)


@lru_cache(maxsize=1)
def told(world: Simulation) -> frozenset[ResourceKey]:
    """The policies that are reported here: where one covers no port that is used, GWP106 need not say so too."""
    return frozenset(each.resources[0] for each in check(world))


def _covers(world: Simulation) -> dict[ResourceKey, Cover]:
    """What is covered by the policies that take effect, by Service; where one is in doubt, everything."""
    found: dict[ResourceKey, Cover] = {}
    for state in world.policies.values():
        if (state.key.group, state.key.kind) != (GATEWAY_GROUP, "BackendTLSPolicy"):
            continue
        refused = {each.attachment.node for each in state.refused}
        for target in state.targets:
            if target.key.kind != "Service":
                continue
            cover = found.setdefault(target.key, Cover([], whole=False, sections=set()))
            doubtful = bool(state.invalid_code or target.problem or refused.intersection(target.nodes))
            whole = cover.whole or doubtful or not target.section
            cover.sections.add(target.section)
            found[target.key] = cover._replace(whole=whole, policies=[*cover.policies, (state, target)])
    return found


def _is_plain(name: str, port: Any) -> bool:
    """Whether a port is evidently meant to be reached without TLS."""
    protocol = str(port.get("appProtocol", "")).lower()
    if protocol:
        return protocol in _PLAIN
    if "https" in name or "tls" in name or port.get("port") == 443:
        return False
    return name.startswith(_PLAIN) or port.get("port") in _PLAIN_PORTS or "metrics" in name


def _finding(cover: Cover, route: Resource, backend: BackendState, name: str) -> Finding:
    state, target = cover.policies[0]
    port = f"port {name or backend.port}"
    return Finding(
        RULE,
        "warning",
        f"{route.key} reaches {port} of {backend.wanted} without TLS, which {state.key} has for another port",
        at(state.policy, target.pointer, "sectionName", "name"),
        resources=(state.key, route.key, backend.wanted),
        label=f"covers {target.section} only" if len(cover.policies) == 1 else "the other ports are not covered",
        related=(Related("this port is used", at(route, backend.pointer, "port", "name")),),
        help=(f"fix: add a target with `sectionName: {name}`" if name else "fix: leave `sectionName` out",),
        field=f"{path(target.pointer)} {name or backend.port}",
    )
