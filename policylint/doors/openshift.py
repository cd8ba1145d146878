"""Routes of OpenShift as doors: hosts, paths, where TLS ends, what becomes of requests without it.

Source: openshift/router images/router/haproxy/conf/haproxy-config.template, pkg/router/template; docs.openshift.com,
Ingress and load balancing, Configuring Routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policylint.documents import Pointer
from policylint.doors.failing import FAILS, Backends, with_faults
from policylint.doors.lowered import Door, DoorRule, Guard, Opening, door, made_of
from policylint.doors.vendors import guards
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import Resource, ResourceKey, World, is_symbolic, mapping, sequence, text
from policylint.model.words import listing
from policylint.spaces.predicates import PREFIX

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
        yield door(holder, "", rules, guards(), with_faults(backends), (_HTTP, _HTTPS))


def portless(world: World) -> Iterator[DeadEnd]:
    """Yield the Routes for a port that no port of their Services is called, or leads to.

    Source: openshift/router, pkg/router/template/template_helper.go, endpointsForAlias: of the endpoints those count
    whose port has that name or number.
    """
    for route in world.of_kind(*KIND):
        for backend in (route.spec.get("to"), *sequence(route.spec.get("alternateBackends"))):
            service = _service(world, route, mapping(backend))
            wanted = mapping(route.spec.get("port")).get("targetPort")
            if service is not None and _is_none_of(service, wanted):
                opened = [mapping(each) for each in sequence(service.spec.get("ports"))]
                does = f"sends requests to port {wanted} of {service.key}, which it does not have"
                names = [each.get("name") or each.get("targetPort", each.get("port")) for each in opened]
                fix = f"name one that it has: {listing(names, word='or')}"
                then = "these requests are answered with 503"
                yield DeadEnd(route, ("spec", "port", "targetPort"), does, fix, (service.key,), then=then)


def _service(world: World, route: Resource, backend: Mapping[str, Any]) -> Resource | None:
    return world.get(ResourceKey("", "Service", route.key.namespace, text(backend.get("name"))))


def _is_none_of(service: Resource, wanted: object) -> bool:
    """Return whether no port of a Service has a name, or leads to a number, for certain."""
    opened = [mapping(each) for each in sequence(service.spec.get("ports"))]
    known = {value for each in opened for value in (each.get("name"), each.get("targetPort", each.get("port")))}
    if wanted is None or wanted in known or service.provisional:
        return False
    if not opened or service.spec.get("type") == "ExternalName":
        return False
    if any(map(is_symbolic, map(str, (wanted, *known)))):
        return False
    # which number a name of a target port is the pods say
    return isinstance(wanted, str) or all(isinstance(each.get("targetPort", 0), int) for each in opened)


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
    wanted = mapping(route.spec.get("port")).get("targetPort")
    service = _service(world, route, backend)
    ports = [] if service is None else [mapping(port) for port in sequence(service.spec.get("ports"))]
    meant = (port for port in ports if wanted in (None, port.get("name"), port.get("targetPort", port.get("port"))))
    number = next((port.get("port") for port in meant), wanted if isinstance(wanted, int) else 80)
    if service is not None and _is_none_of(service, wanted):
        return {"name": name, "weight": weight, FAILS: f"{service.key} has no port {wanted}"}
    return {"name": name, "port": number, "weight": weight}
