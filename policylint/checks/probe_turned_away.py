"""GWP311: a probe of pods that the proxy beside them turns away, so that the kubelet takes them for broken."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.documents import Pointer
from policylint.model import Finding, Related, Resource, mapping, sequence, text
from policylint.model.resource import deepest_written
from policylint.policy.authorizing import Checkpoint, Client, Decision, RequestFacts
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.topology.workloads import WORKLOADS, container_port, pod_spec
from policylint.trace import request
from policylint.trace.admissions import taker

RULE = "GWP311"
_KINDS = {
    "liveness": "restarts the container",
    "readiness": "sends it no requests",
    "startup": "restarts the container",
}
"""What the kubelet does about pods of which a probe fails, by kind of probe."""


def check(simulation: Simulation) -> Iterator[Finding]:
    world = simulation.world
    asked = [
        (mesh, [group for group in simulation.groups if group.kind.implementation == mesh.name])
        for mesh in simulation.meshes.all
    ]
    for kind in WORKLOADS if asked else ():
        for workload in world.of_kind(*kind):
            for pointer, name, get in _probes(workload):
                is_call = pointer[-1] == "grpc"
                call = _call(workload, _health_check(get) if is_call else get, "POST" if is_call else "GET")
                answers = ((mesh, mesh.admit_probe(call, _place(workload), groups, world)) for mesh, groups in asked)
                for mesh, denied in answers:
                    if denied is None or denied.answer != "denied":
                        continue
                    is_bare = not is_call and not (text(get.get("path")) or "/").startswith("/")
                    fix = mesh.letting_probes_in(is_call=is_call)
                    if is_bare:
                        fix = f"write `path: {call.path}`: proxies let in only probes whose path begins with a slash"
                    yield _finding(simulation, workload, pointer, name, call, denied, f"fix: {fix}")
                    break


def _probes(workload: Resource) -> Iterator[tuple[Pointer, str, dict[str, object]]]:
    """Yield the probes of the containers by HTTP and gRPC: where they stand in the pod's spec, kind and request.

    Of those that run before the others, the ones that stay (`restartPolicy: Always`) may have probes alone.
    """
    for field in ("containers", "initContainers"):
        for index, container in enumerate(map(mapping, sequence(pod_spec(workload).get(field)))):
            for name in _KINDS:
                probe = mapping(container.get(f"{name}Probe"))
                for by in ("httpGet", "grpc"):
                    if get := mapping(probe.get(by)):
                        yield (field, index, f"{name}Probe", by), name, dict(get)


def _place(workload: Resource) -> Checkpoint:
    return Checkpoint((whole(workload.key),), workload)


def _health_check(probe: dict[str, object]) -> dict[str, object]:
    """Return the call of a gRPC probe as a request."""
    return {"path": "/grpc.health.v1.Health/Check", "port": probe.get("port")}


def _call(workload: Resource, get: dict[str, object], method: str) -> RequestFacts:
    """Return the request of a probe: the kubelet has no identity in any mesh."""
    path = "/" + text(get.get("path")).removeprefix("/")
    headers = {
        text(mapping(each).get("name")): text(mapping(each).get("value")) for each in sequence(get.get("httpHeaders"))
    }
    sent = request({"method": method, "host": "pod", "path": path, "headers": headers})
    port = container_port(workload, get.get("port"))
    lowered = {name.lower(): value for name, value in headers.items()}
    scheme = (text(get.get("scheme")) or "HTTP").lower()
    return RequestFacts(
        method, "", path, lowered, port, sender=Client(None, "", ""), taker=taker(sent, []), scheme=scheme
    )


def _finding(
    simulation: Simulation,
    workload: Resource,
    pointer: Pointer,
    name: str,
    call: RequestFacts,
    denied: Decision,
    fix: str,
) -> Finding:
    below: list[Pointer] = [
        ("spec",),
        ("spec", "template", "spec"),
        ("spec", "jobTemplate", "spec", "template", "spec"),
    ]
    places = [(*start, *pointer) for start in below]
    place = max((deepest_written(workload.body, each) for each in places), key=len)
    by = str(denied.by.key) if denied.by is not None else "the mesh"
    is_sure = simulation.meshes.proxied(workload) is True
    return Finding(
        RULE,
        "error",
        f"{by} rejects the {name} probe {call.method} {call.path} of {workload.key}: {denied.why}",
        workload.location(*place),
        resources=(workload.key, *(() if denied.by is None else (denied.by.key,))),
        label=f"the kubelet {_KINDS[name]}",
        related=() if denied.by is None else (Related("what rejects it", denied.by.name_location),),
        help=(fix,),
        confidence="certain" if is_sure else "assumed",
        ground="" if is_sure else "whether its pods are in the mesh",
    )
