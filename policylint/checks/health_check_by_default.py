"""GWP314: a load balancer that probes pods by its default, where the pods say that they are healthy elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policylint.checks.kit.routing import served_services
from policylint.model import Finding, PolicyKind, Related, Resource, ResourceKey, mapping, sequence, text
from policylint.model.policy_kind import HealthProbe
from policylint.model.resource import value_at
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.workloads import pod_spec

RULE = "GWP314"
_PROBES = ("readinessProbe", "livenessProbe", "startupProbe")
_GRPC = "gRPC"


def check(simulation: Simulation) -> Iterator[Finding]:
    for name, services in served_services(simulation).items():
        for kind in simulation.catalog.probing(name):
            speaking = _speaking(simulation, kind)
            for service, gateway in services.items():
                if kind.probes is not None and not _is_set(speaking.get(service.key, ()), kind.probes):
                    for workload in simulation.acting.workloads(service.key):
                        wanted = _wanted(workload)
                        if wanted and kind.probes.unset not in wanted:
                            yield _finding(kind, kind.probes.unset, service, gateway, workload, wanted)
                            break


def _speaking(simulation: Simulation, kind: PolicyKind) -> dict[ResourceKey, list[PolicyState]]:
    """Return the policies of a kind by what they target."""
    speaking: dict[ResourceKey, list[PolicyState]] = {}
    for state in simulation.policies.values():
        if (state.key.group, state.key.kind) == (kind.group, kind.kind):
            for target in state.targets:
                speaking.setdefault(target.key, []).append(state)
    return speaking


def _is_set(states: Iterable[PolicyState], probes: HealthProbe) -> bool:
    """Return whether one of the policies on a Service sets its probe, or may set it."""
    for state in states:
        if state.verdict == "Unknown" or not state.groups:
            return True  # another rule speaks of it
        paths = [tuple(path.split(".")) for path in (probes.path, probes.grpc) if path]
        if any(value_at(group.effective.spec, path) is not None for group in state.groups for path in paths):
            return True
    return False


def _wanted(workload: Resource) -> dict[str, str]:
    """Return the URL paths that the probes of the pods ask, with their probes; none where one asks otherwise."""
    paths: dict[str, str] = {}
    for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
        for name in _PROBES:
            probe = mapping(container.get(name))
            if probe.get("grpc"):
                return {_GRPC: name}
            if probe.get("tcpSocket") or probe.get("exec"):
                return {}
            if probe.get("httpGet"):
                paths.setdefault(text(mapping(probe["httpGet"]).get("path")) or "/", name)
    return paths


def _finding(
    kind: PolicyKind, asked: str, service: Resource, gateway: ResourceKey, workload: Resource, wanted: dict[str, str]
) -> Finding:
    path, probe = next(iter(wanted.items()))
    how = "asks by gRPC" if path == _GRPC else f"asks {path}"
    return Finding(
        RULE,
        "warning" if path == _GRPC else "note",
        f"{gateway} considers pods of {service.key} healthy where GET {asked} returns 200; their {probe} {how}",
        service.name_location,
        resources=(service.key, workload.key, gateway),
        label=f"no {kind.kind} says how to check the health of its pods",
        related=(Related(f"its {probe} {how}", workload.name_location),),
        help=(f"fix: add a {kind.kind} for {service.key} that {how}",),
        confidence="certain" if path == _GRPC else "assumed",
        ground="" if path == _GRPC else f"the pods may answer GET {asked} as well",
    )
