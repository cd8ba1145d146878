"""Routes of OpenShift as doors: hosts, paths, where TLS ends, what becomes of requests without it.

Source: openshift/router images/router/haproxy/conf/haproxy-config.template, pkg/router/template; docs.openshift.com,
Ingress and load balancing, Configuring Routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.digits import whole_number
from policylint.documents import Pointer
from policylint.doors.failing import FAILS
from policylint.doors.lowered import Backends, Door, DoorRule, Guard, Opening, door, granted, made_of
from policylint.doors.vendors import guards
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, ResourceKey, World, integer, mapping, sequence, text
from policylint.model.words import listing
from policylint.spaces.predicates import PREFIX
from policylint.topology.service_ports import OF_ENDPOINTS, PortFound, called, is_external, ports

KIND = ("route.openshift.io", "Route")
_ROUTER = ResourceKey("route.openshift.io", "Router", "", "default")
_PREFIX = "haproxy.router.openshift.io/"
_ALLOWED = ("ip_allowlist", "ip_whitelist")
_DOMAIN = "${ROUTER_DOMAIN}"
_HTTP, _HTTPS = Opening("http", 80), Opening("https", 443)


def openshift_doors(world: World, backends: Backends) -> Iterator[Door]:
    """Yield the router, where there are routes."""
    routes = world.of_kind(*KIND)
    if routes:
        holder = made_of(routes[0], {}, {}, _ROUTER)
        rules = [rule for route in routes for rule in _rules(world, route)]
        yield door(holder, "", rules, guards(), granted(backends), (_HTTP, _HTTPS))


def portless(world: World) -> Iterator[DeadEnd]:
    """Yield the Routes for a port that no port of their Services is called, or leads to.

    Source: openshift/router, pkg/router/template/template_helper.go, endpointsForAlias: of the endpoints those count
    whose port has that name or number.
    """
    for route in world.of_kind(*KIND):
        for backend in (route.spec.get("to"), *sequence(route.spec.get("alternateBackends"))):
            service = _service(world, route, mapping(backend))
            wanted = _wanted(route)
            if service is not None and _meant(service, wanted).found is False:
                does = f"sends requests to port {wanted} of {service.key}, which it does not have"
                names = [each.name or each.target for each in ports(service)]
                fix = f"name one that it has: {listing(names, word='or')}"
                then = "these requests are answered with 503"
                yield DeadEnd(route, ("spec", "port", "targetPort"), does, fix, (service.key,), then=then)


def _service(world: World, route: Resource, backend: Mapping[str, Any]) -> Resource | None:
    return world.get(ResourceKey("", "Service", route.key.namespace, text(backend.get("name"))))


def _wanted(route: Resource) -> int | str | None:
    """Return the port that a Route names: digits are compared with numbers, which the router writes as texts."""
    wanted = mapping(route.spec.get("port")).get("targetPort")
    return whole_number(wanted) or wanted or None if isinstance(wanted, str) else integer(wanted)


def _meant(service: Resource | None, wanted: int | str | None) -> PortFound:
    """Return which port of a Service a Route means, as far as that is known: the router looks at endpoints."""
    return PortFound(None) if service is not None and is_external(service) else called(service, wanted, OF_ENDPOINTS)


def _rules(world: World, route: Resource) -> Iterator[DoorRule]:
    host, path = text(route.spec.get("host")) or _made_up(route), text(route.spec.get("path")) or "/"
    tls = mapping(route.spec.get("tls"))
    insecure = text(tls.get("insecureEdgeTerminationPolicy"), "None")
    pattern = f"*.{host.partition('.')[2]}" if route.spec.get("wildcardPolicy") == "Subdomain" else host
    place: Pointer = ("spec", "host")
    weights = (1, len(path.rstrip("/")) + 1, 0, 0, 0)
    matches = [{"path": {"type": PREFIX, "value": path}}]
    references = [_reference(world, route, mapping(route.spec.get("to")))]
    alternates = sequence(route.spec.get("alternateBackends"))
    references += [_reference(world, route, mapping(alternate)) for alternate in alternates]
    name = f"{host}{path}"
    plain = {"matches": matches, "precedence": weights, "backendRefs": references}
    asked = _asked(route)
    if tls.get("termination") == "passthrough":
        opening = Opening("tls", _HTTPS.port, pattern, passes=True)
        yield DoorRule(route, opening, pattern, name, {"backendRefs": references}, place)
    elif tls:
        yield DoorRule(route, _HTTPS, pattern, name, plain, place, asked)
    if not tls or insecure == "Allow":
        yield DoorRule(route, _HTTP, pattern, name, plain, place, asked)
    elif insecure == "Redirect":
        to_https = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 302}}
        body = {"matches": matches, "precedence": weights, "filters": [to_https]}
        yield DoorRule(route, _HTTP, pattern, f"{name} to https", body, place)


def _made_up(route: Resource) -> str:
    """Return the host that the router gives a route without one: below its own domain, which no route states."""
    return f"{text(route.spec.get('subdomain')) or f'{route.key.name}-{route.key.namespace}'}.{_DOMAIN}"


def _asked(route: Resource) -> tuple[Guard, ...]:
    """Return who is let in by address; more than 61 entries are kept elsewhere, and mean the same."""
    for name in _ALLOWED:
        if networks := text(route.annotations.get(f"{_PREFIX}{name}")).split():
            return (Guard(route, {"allow": networks}, {("allow",): ("metadata", "annotations", f"{_PREFIX}{name}")}),)
    return ()


def _reference(world: World, route: Resource, backend: Mapping[str, Any]) -> dict[str, Any]:
    """Return a backend as routes name it: by the port of the Service that leads to the port which is wanted."""
    name, weight = text(backend.get("name")), backend.get("weight", 100)
    wanted, service = _wanted(route), _service(world, route, backend)
    meant = _meant(service, wanted)
    if service is not None and meant.found is False:
        return {"name": name, "weight": weight, FAILS: f"{service.key} has no port {wanted}"}
    opened = [] if service is None or wanted is not None else ports(service)
    port = next(iter(opened), meant.port)
    number = wanted if isinstance(wanted, int) else 80
    return {"name": name, "port": number if port is None else port.number, "weight": weight}
