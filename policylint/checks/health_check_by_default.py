"""GWP314: a load balancer that probes pods by its default, where the pods say that they are healthy elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from policylint.catalog.operators import products
from policylint.checks.kit.routing import served_services
from policylint.model import (
    GATEWAY_GROUP,
    Finding,
    PolicyKind,
    Related,
    Resource,
    ResourceKey,
    is_symbolic,
    mapping,
    sequence,
    text,
)
from policylint.model.kinds import SERVICE
from policylint.model.policy_kind import HealthProbe
from policylint.model.resource import value_at
from policylint.model.spelling import spelled
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology import BackendState, GatewayState
from policylint.topology.ancestry import implementation_of
from policylint.topology.workloads import pod_spec

RULE = "GWP314"
_PROBES = ("readinessProbe", "livenessProbe", "startupProbe")
_GRPC = "gRPC"
_ERRORS = 400


def check(simulation: Simulation) -> Iterator[Finding]:
    speaking = _Speaking(simulation)
    yield from _at_gateways(simulation, speaking)
    for name, services in served_services(simulation).items():
        for kind in simulation.catalog.probing(name):
            for service, gateway in services.items():
                if kind.probes is not None and not _is_set(speaking.of(kind, service.key), kind.probes):
                    for workload in simulation.acting.workloads(service.key):
                        wanted = _wanted(workload)
                        if wanted and kind.probes.unset not in wanted:
                            yield _finding(kind, kind.probes.unset, service, gateway, workload, wanted)
                            break


class _Speaking:
    """The policies of each kind by what they target, found once."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._known: dict[tuple[str, str], Mapping[ResourceKey, Sequence[PolicyState]]] = {}

    def of(self, kind: PolicyKind, target: ResourceKey) -> Sequence[PolicyState]:
        """Return the policies of a kind that target an object."""
        wanted = kind.group, kind.kind
        if wanted not in self._known:
            found: dict[ResourceKey, list[PolicyState]] = {}
            for state in self._simulation.policies.values():
                if state.key[:2] == wanted:
                    for each in state.targets:
                        found.setdefault(each.key, []).append(state)
            self._known[wanted] = found
        return self._known[wanted].get(target, ())


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


def _at_gateways(simulation: Simulation, speaking: _Speaking) -> Iterator[Finding]:
    """Yield the Gateways behind load balancers that answer the requests of their health checks with an error.

    These ask the pods by their addresses: no host of a route is in them, unless the policy says so.
    """
    told: set[tuple[ResourceKey, ResourceKey]] = set()
    for route in simulation.topology.routes:
        fronts = {parent.gateway for parent in route.parents if parent.attached and parent.gateway is not None}
        for front in filter(None, map(simulation.topology.gateway, sorted(fronts))):
            name = implementation_of(front, simulation.catalog)
            for kind in simulation.catalog.probing(name) if name else ():
                for backend in route.backends:
                    behind = _gateway_of(simulation, backend.wanted)
                    place = (front.gateway.key, backend.wanted)
                    if behind is not None and kind.probes is not None and place not in told:
                        told.add(place)
                        states = speaking.of(kind, backend.wanted)
                        yield from _answered(simulation, front.gateway.key, behind, backend, kind.probes, states)


def _gateway_of(simulation: Simulation, service: ResourceKey) -> GatewayState | None:
    """Return the Gateway for whose proxies its controller makes a Service of this name, None where there is none."""
    if service[:2] != SERVICE or simulation.world.get(service) is not None:
        return None
    made = [each for each in products(GATEWAY_GROUP, "Gateway") or () if each.kind == SERVICE]
    return next(
        (
            state
            for state in simulation.topology.gateways
            if state.gateway.key.namespace == service.namespace
            and any(each.name(state.gateway.body) == service.name for each in made)
        ),
        None,
    )


def _answered(
    simulation: Simulation,
    front: ResourceKey,
    behind: GatewayState,
    backend: BackendState,
    probes: HealthProbe,
    states: Sequence[PolicyState],
) -> Iterator[Finding]:
    """Yield a finding where a Gateway answers a health check with an error."""
    at, key = tuple(probes.path.split(".")), behind.gateway.key
    specs = [declared.proper for state in states if not state.invalid_code for declared in state.declared]
    asked = next((text(value_at(spec, at)) for spec in specs if value_at(spec, at)), probes.unset)
    host = next((text(value_at(spec, (*at[:-1], "host"))) for spec in specs if value_at(spec, (*at[:-1], "host"))), "")
    if any(map(is_symbolic, (asked, host))) or any(each.holder.key != key for each in behind.listeners):
        return
    from policylint.checks.kit.tracing import tracer_of
    from policylint.trace import Request

    trace = tracer_of(simulation).trace(Request(host=host, path=asked, port=backend.port, gateway=spelled(key)))
    status = trace.outcome.status
    if trace.outcome.unknown or status is None or status < _ERRORS:
        return
    by = states[0].policy if states else None
    yield Finding(
        RULE,
        "warning",
        f"{front} finds no pod of {key} healthy: GET {asked} without a host gets {status} there"
        if not host
        else f"{front} finds no pod of {key} healthy: GET {asked} for {host} gets {status} there",
        behind.gateway.name_location if by is None else by.name_location,
        resources=(key, front, *(() if by is None else (by.key,))),
        label=trace.outcome.reason,
        help=("fix: give that path a route without hostnames, or have the health check ask a port that is for it",),
    )
