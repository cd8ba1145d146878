"""Mesh traffic: from a workload to a Service, through consumer or producer routes.

Source: docs/design/request-precedence.md §9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.model import ResourceKey, World, text
from policylint.model.spelling import find, spelling
from policylint.topology import RouteState, whole
from policylint.topology.backends import port_node, ports
from policylint.topology.workloads import WORKLOADS, selecting
from policylint.trace.nearby import nearest_rules
from policylint.trace.precedence import can_match, options, ordered
from policylint.trace.request import Request, RequestError
from policylint.trace.result import Forwarded, Outcome, Share, Trace

if TYPE_CHECKING:
    from policylint.trace.tracing import Tracer

_WORKLOADS = tuple(kind for _, kind in WORKLOADS)


def to_service(tracer: Tracer, request: Request) -> Trace:
    """A request to a Service: the client's own routes for it, else those of the Service's namespace, else straight."""
    service = _object(tracer.simulation.world, request.service, ("Service", "ServiceImport"))
    client = _namespace(tracer.simulation.world, request.client)
    start = Trace(request, Outcome())
    attached = _routes(tracer, service, request)
    own = [each for each in attached if client and each.route.key.namespace == client != service.namespace]
    chosen = own or [each for each in attached if each.route.key.namespace == service.namespace]
    kinds = ("GRPCRoute",) if request.grpc else ("HTTPRoute",)
    if request.grpc and not any(each.route.key.kind == "GRPCRoute" for each in chosen):
        kinds = ("HTTPRoute",)
    streams = {"tcp": "TCPRoute", "tls": "TLSRoute", "udp": "UDPRoute"}
    if request.scheme in streams:
        from policylint.trace.layer4 import towards

        fitting = [each for each in chosen if each.route.key.kind == streams[request.scheme]]
        fitting.sort(key=lambda each: (not each.route.created, each.route.created, each.route.key.path))
        return towards(tracer, start, fitting[0], ()) if fitting else _straight(tracer, start, service)
    listed = [(each.route, each.hostnames) for each in chosen if each.route.key.kind in kinds]
    if not listed:
        return _straight(tracer, start, service)
    found = list(options(listed, request, grpc=kinds == ("GRPCRoute",)))
    fitting_options = ordered(found)
    if not fitting_options:
        grpc = "Unimplemented" if request.grpc else ""
        outcome = Outcome(status=404, reason="no rule of the Service's routes matches", grpc_status=grpc)
        return start._replace(outcome=outcome, nearest=nearest_rules((), filter(can_match, found), request))
    option = fitting_options[0]
    trace = tracer.finish(start, option, fitting_options, (), request.port)
    kind = "consumer" if own else "producer"
    return trace._replace(notes=(*trace.notes, f"{option.route.key} is a {kind} route of {service}"))


def to_pod(tracer: Tracer, request: Request) -> Trace:
    """A request straight to a Pod: no route applies; named is the Service that selects it most closely."""
    world = tracer.simulation.world
    workload = _object(world, request.pod, _WORKLOADS)
    resource = world.get(workload)
    services = selecting(world, resource) if resource is not None else []
    if not services:
        return Trace(request, Outcome(refused=True, reason=f"no Service selects {workload}"))
    return _straight(tracer, Trace(request, Outcome()), services[0].key, ported=False)


def _routes(tracer: Tracer, service: ResourceKey, request: Request) -> list[RouteState]:
    """The routes whose parentRef is the Service, on the request's port where they name one."""
    found = []
    for state in tracer.topology.routes:
        for parent in state.parents:
            on_port = parent.port is None or request.port is None or parent.port == request.port
            if parent.mesh and parent.wanted == service and parent.accepted and on_port:
                found.append(state)
                break
    return found


def _straight(tracer: Tracer, start: Trace, service: ResourceKey, *, ported: bool = True) -> Trace:
    """Traffic that no route touches reaches the Service as it is."""
    request = start.request
    resource = tracer.simulation.world.get(service)
    port = request.port if ported else None
    section = None
    for each in ports(resource) if resource is not None else ():
        if port is not None and each.number == port and each.name:
            section = port_node(service, each.name)
    share = Share(service, port, 1, 1.0, (), section)
    path = tuple(filter(None, (whole(service), section)))
    secured = tracer.tls.of(share)
    return start._replace(
        outcome=Outcome((share,)),
        path=path,
        forwarded=Forwarded(request.method, request.host, request.path, dict(request.headers)),
        response=dict(sorted(request.backend_headers)),
        backend_tls=secured is not None,
        policies=tracer.policies.met((), [share]),
    )


def _object(world: World, asked: str, kinds: tuple[str, ...]) -> ResourceKey:
    known = [key for key in world.resources if key.kind in kinds]
    found = find(asked, known)
    if len(found) == 1:
        return found[0]
    from policylint.trace.tracing import unclear

    raise RequestError(unclear(asked, spelling(asked).kind or kinds[0], found, known))


def _namespace(world: World, client: str) -> str:
    """The namespace of a client; the workload itself need not be among the manifests."""
    if not client:
        return ""
    wanted = spelling(client)
    if wanted.kind and same(wanted.kind):
        return wanted.name
    if wanted.namespace is not None:
        return wanted.namespace
    found = find(client, world.resources)
    if len(found) == 1:
        return text(found[0].namespace)
    raise RequestError(f"--from takes Kind/namespace/workload, not {client!r}")


def same(kind: str) -> bool:
    """Whether a client is named by its namespace alone: `Namespace/shop`."""
    from policylint.model.spelling import same_kind

    return same_kind(kind, "Namespace")
