"""Trace mesh traffic: from a workload to a Service, through consumer or producer routes.

Source: docs/design/request-precedence.md §9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policylint.model import Resource, ResourceKey, World, text, texts
from policylint.model.hosts import names_service
from policylint.model.spelling import find, same_kind, spelling
from policylint.topology import RouteState, whole
from policylint.topology.backends import port_node, ports
from policylint.topology.workloads import WORKLOADS, services_selecting
from policylint.trace.nearby import nearest_rules
from policylint.trace.policies import facts
from policylint.trace.precedence import can_match, doubt, ordered, rule_candidates
from policylint.trace.request import Request, RequestError
from policylint.trace.result import Forwarded, Outcome, Share, Trace

if TYPE_CHECKING:
    from policylint.trace.tracing import Tracer

_WORKLOADS = tuple(kind for _, kind in WORKLOADS)


def to_service(tracer: Tracer, request: Request) -> Trace:
    """Return the trace of a request to a Service.

    The client's own routes for it come first, then those of the Service's namespace; else it goes straight there.
    """
    service = _object(tracer.simulation.world, request.service, ("Service", "ServiceImport"))
    client = _namespace(tracer.simulation.world, request.client)
    start = Trace(request, Outcome())
    other = _routed_otherwise(tracer.simulation.world, service, client)
    if other is not None:
        reason = f"{other.key} routes requests for {service}, and VirtualServices are not evaluated"
        return start._replace(outcome=Outcome(unknown=True, reason=reason))
    attached = _routes(tracer, service, request)
    consumer = client != service.namespace and client
    consumer_routes = [state for state in attached if consumer and state.route.key.namespace == client]
    chosen = consumer_routes or [state for state in attached if state.route.key.namespace == service.namespace]
    kinds = ("GRPCRoute",) if request.grpc else ("HTTPRoute",)
    if request.grpc and not any(state.route.key.kind == "GRPCRoute" for state in chosen):
        kinds = ("HTTPRoute",)
    streams = {"tcp": "TCPRoute", "tls": "TLSRoute", "udp": "UDPRoute"}
    if request.scheme in streams:
        from policylint.trace.layer4 import along_route

        fitting = [state for state in chosen if state.route.key.kind == streams[request.scheme]]
        fitting.sort(key=lambda state: (not state.route.created, state.route.created, state.route.key.path))
        return along_route(tracer, start, fitting[0], ()) if fitting else _direct(tracer, start, service)
    listed = [(state.route, state.hostnames) for state in chosen if state.route.key.kind in kinds]
    if not listed:
        return _direct(tracer, start, service)
    candidates = list(rule_candidates(listed, request, grpc=kinds == ("GRPCRoute",)))
    takers = ordered(candidates)
    if why := doubt(candidates, takers):
        return start._replace(outcome=Outcome(unknown=True, reason=why))
    if not takers:
        grpc = "Unimplemented" if request.grpc else ""
        outcome = Outcome(status=404, reason="no rule of the Service's routes matches", grpc_status=grpc)
        return start._replace(outcome=outcome, nearest=nearest_rules((), filter(can_match, candidates), request))
    winner = takers[0]
    trace = tracer.finish(start, winner, takers, (), request.port)
    kind = "consumer" if consumer_routes else "producer"
    return trace._replace(notes=(*trace.notes, f"{winner.route.key} is a {kind} route of {service}"))


def to_pod(tracer: Tracer, request: Request) -> Trace:
    """Return the trace of a request to a Pod: no route applies; the Service selecting it most closely is named."""
    world = tracer.simulation.world
    workload = _object(world, request.pod, _WORKLOADS)
    if request.scheme in ("tcp", "udp", "sctp") and request.port is not None:
        return Trace(request, Outcome((Share(workload, request.port, 1, 1.0),)), path=(whole(workload),))
    resource = world.get(workload)
    services = services_selecting(world, resource) if resource is not None else []
    trace = _direct(tracer, Trace(request, Outcome()), workload)
    if trace.outcome.refused or trace.outcome.status is not None:
        return trace
    if not services:
        return Trace(request, Outcome(refused=True, reason=f"no Service selects {workload}"))
    straight = _direct(tracer, Trace(request, Outcome()), services[0].key, ported=False)
    shares = tuple(share._replace(problem="") for share in straight.outcome.shares)
    policies = trace.policies if trace.beyond else straight.policies
    return straight._replace(
        outcome=Outcome(shares), policies=policies, beyond=trace.beyond, admissions=trace.admissions
    )


def _routed_otherwise(world: World, service: ResourceKey, client: str) -> Resource | None:
    """Return a VirtualService of Istio that routes the requests of a namespace to a Service inside the mesh.

    One of the mesh for every host (`*`) is refused (pkg/config/validation of Istio).
    """
    for virtual in world.of_kind("networking.istio.io", "VirtualService"):
        hosts, gateways, readers = (texts(virtual.spec.get(field)) for field in ("hosts", "gateways", "exportTo"))
        home = virtual.key.namespace
        shown = not readers or "*" in readers or client in readers or (client == home and "." in readers)
        meant = any(host != "*" and names_service(host, home, service) for host in hosts)
        if meant and shown and (not gateways or "mesh" in gateways):
            return virtual
    return None


def _routes(tracer: Tracer, service: ResourceKey, request: Request) -> list[RouteState]:
    """Return the routes whose parentRef is the Service, on the request's port where they name one."""
    return [
        state
        for state in tracer.topology.routes
        if any(
            parent.mesh and parent.wanted == service and (parent.accepted or parent.resolution.unknown)
            for parent in state.parents
            if parent.port is None or request.port is None or parent.port == request.port
        )
    ]


def _direct(tracer: Tracer, start: Trace, service: ResourceKey, *, ported: bool = True) -> Trace:
    """Return the trace of traffic that reaches the Service without any route."""
    request = start.request
    resource = tracer.simulation.world.get(service)
    port = request.port if ported else None
    section = None
    for service_port in ports(resource) if resource is not None else ():
        if port is not None and service_port.number == port and service_port.name:
            section = port_node(service, service_port.name)
    share = Share(service, port, 1, 1.0, (), section)
    path = tuple(filter(None, (whole(service), section)))
    tls = tracer.tls.of(share)
    trace = start._replace(
        outcome=Outcome((share,)),
        path=path,
        forwarded=Forwarded(request.method, request.host, request.path, dict(request.headers)),
        response=dict(sorted(request.backend_headers)),
        backend_tls=tls is not None,
        policies=tracer.policies.met((), [share], tracer.beyond(start), facts(request)),
        beyond=tracer.beyond(start)(service),
        extensions=tracer.policies.extensions((), [share]),
    )
    return tracer.admissions.applied(trace, *tracer.client(start))


def _object(world: World, name: str, kinds: tuple[str, ...]) -> ResourceKey:
    known = [key for key in world.resources if key.kind in kinds]
    matching = find(name, known)
    if len(matching) == 1:
        return matching[0]
    from policylint.trace.tracing import ambiguous

    raise RequestError(ambiguous(name, spelling(name).kind or kinds[0], matching, known))


def client(world: World, name: str) -> tuple[Resource | None, str | None]:
    """Return the workload that a client is, None where it is not in the tree, and its namespace, None where unknown."""
    if not name:
        return None, None
    matching = [key for key in find(name, world.resources) if key.kind in _WORKLOADS]
    resource = world.get(matching[0]) if len(matching) == 1 else None
    return resource, _namespace(world, name) or None


def _namespace(world: World, client: str) -> str:
    """Return the namespace of a client; the workload itself need not be among the manifests."""
    if not client:
        return ""
    parsed = spelling(client)
    if parsed.kind and same_kind(parsed.kind, "Namespace"):
        return parsed.name
    if parsed.namespace is not None:
        return parsed.namespace
    matching = find(client, world.resources)
    if len(matching) == 1:
        return text(matching[0].namespace)
    raise RequestError(f"--from takes Kind/namespace/workload, not {client!r}")
