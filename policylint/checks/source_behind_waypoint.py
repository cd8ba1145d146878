"""GWP313: callers that an authorization at pods lists, whose requests come there as the waypoint's."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.checks.kit.mesh_policies import AUTHORIZATION
from policylint.model import Finding, Related, Resource, ResourceKey, mapping, sequence
from policylint.policy.authorizing import Checkpoint, Client, Decision, RequestFacts
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.workloads import container_port

RULE = "GWP313"
_OF_CLIENTS = ("principals", "namespaces", "serviceAccounts", "trustDomains", "source.", "ipBlocks")
"""How conditions on who sends a request begin, as `NearestRule.unmet` words them."""


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    asked = [
        (mesh, [group for group in simulation.groups if group.kind.implementation == mesh.name])
        for mesh in simulation.meshes.all
    ]
    told: set[ResourceKey] = set()
    for service in world.of_kind("", "Service") if asked else ():
        for front in simulation.acting.fronts(service.key, None):
            if front.resource.key == service.key:
                continue  # nobody knows which waypoint it is
            for workload in simulation.acting.workloads(service.key):
                for call in _calls(service, workload, front):
                    hop = Checkpoint((whole(workload.key),), workload)
                    answers = (mesh.admit(call, hop, groups, world) for mesh, groups in asked)
                    denied = next((each for each in answers if each is not None and each.answer == "denied"), None)
                    if denied is None or not _for_its_sender(denied) or denied.by is None:
                        continue
                    if denied.by.key not in told:
                        told.add(denied.by.key)
                        yield _finding(denied, denied.by, service, workload, front)


def _calls(service: Resource, workload: Resource, front: Checkpoint) -> Iterator[RequestFacts]:
    """Yield what the waypoint sends on to the pods, one request for each port of the Service."""
    sender = Client(front.resource, front.resource.key.namespace)
    for port in map(mapping, sequence(service.spec.get("ports"))):
        number = container_port(workload, port.get("targetPort", port.get("port")))
        dialled = port.get("port")
        yield RequestFacts(
            "GET",
            "",
            "/",
            {},
            number,
            sender=sender,
            dialled=dialled if isinstance(dialled, int) else None,
            service=service,
        )


def _for_its_sender(denied: Decision) -> bool:
    """Return whether a request is turned away because of who sends it."""
    by_list = denied.by is not None and (denied.by.key.group, denied.by.key.kind) == AUTHORIZATION
    return by_list and denied.nearest is not None and denied.nearest.unmet.startswith(_OF_CLIENTS)


def _finding(denied: Decision, policy: Resource, service: Resource, workload: Resource, front: Checkpoint) -> Finding:
    nearest = denied.nearest
    place = nearest.pointer if nearest is not None and nearest.by is policy else ("spec",)
    waypoint = front.resource
    return Finding(
        RULE,
        "warning",
        f"{policy.key} turns away all requests to {service.key} that come through waypoint {waypoint.key.path}",
        policy.location(*place),
        resources=(policy.key, service.key, workload.key, waypoint.key),
        label=f"{workload.key} sees the identity of the waypoint, not that of its callers",
        related=(Related("the waypoint that sends the requests on", waypoint.name_location),),
        help=(
            (
                "fix: name the Service in `targetRefs`, so that the waypoint asks who calls; "
                "and let the waypoint's identity in at the pods"
            ),
        ),
    )
