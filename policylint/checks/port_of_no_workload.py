"""GWP310: `portLevelMtls` names a port of the Service, where the port of the workload is meant."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.digits import whole_number
from policylint.model import Finding, Resource, World, integer, mapping, sequence
from policylint.model.selectors import matches
from policylint.policy.results import PolicyState
from policylint.simulation import Simulation
from policylint.topology.workloads import WORKLOADS, container_port, pod_labels, pod_spec, services_selecting

RULE = "GWP310"
_FIELD = "portLevelMtls"


def check(simulation: Simulation) -> Iterator[Finding]:
    """Yield a finding for each port that is one of a Service, and of no workload behind it.

    Source: istio.io/docs/reference/config/security/peer_authentication, «Port specific mutual TLS settings»: a port of
    the workload, not that of the Service.
    """
    for state in simulation.policies.values():
        if state.key.kind == "PeerAuthentication":
            for name in mapping(state.policy.spec.get(_FIELD)):
                number = whole_number(str(name))
                if number is not None:
                    yield from _of_port(simulation.world, state, str(name), number)


def _of_port(world: World, state: PolicyState, name: str, number: int) -> Iterator[Finding]:
    workloads = list(_selected(world, state.policy))
    if not workloads or any(number in _ports(workload) for workload in workloads):
        return
    for workload in workloads:
        for service in services_selecting(world, workload):
            ports = [mapping(entry) for entry in sequence(service.spec.get("ports"))]
            targets = {container_port(workload, port.get("targetPort", port.get("port"))) for port in ports}
            of_service = next((port for port in ports if integer(port.get("port")) == number), None)
            if of_service is None or number in targets or None in targets:
                continue
            meant = container_port(workload, of_service.get("targetPort"))
            yield Finding(
                RULE,
                "warning",
                f"{state.key} sets mTLS for port {number}, which {workload.key} does not have",
                state.policy.location("spec", _FIELD, name, key=True),
                resources=(state.key, workload.key, service.key),
                label=f"{number} is the port of {service.key}; the workload listens on {meant}",
                help=(f"fix: write `{meant}`",),
                field=f"{_FIELD}.{name}",
            )
            return


def _selected(world: World, policy: Resource) -> Iterator[Resource]:
    """Yield the workloads that a policy selects."""
    selector = mapping(policy.spec.get("selector"))
    for kind in WORKLOADS if mapping(selector.get("matchLabels")) else ():
        for workload in world.in_namespace(*kind, policy.key.namespace):
            if matches(selector, pod_labels(workload)):
                yield workload


def _ports(workload: Resource) -> set[int | None]:
    containers = map(mapping, sequence(pod_spec(workload).get("containers")))
    listed = (mapping(port) for container in containers for port in sequence(container.get("ports")))
    return {integer(port.get("containerPort")) for port in listed}
