"""Where objects of doors send requests that nothing answers: what their controllers refuse, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.content import places
from policylint.documents import Pointer
from policylint.doors.annotations import astray, closed, ended, refuses, risky, server_of, without_backends
from policylint.doors.canaries import without_main
from policylint.doors.certificates import misplaced
from policylint.doors.contour import invalid
from policylint.doors.handshakes import unusable
from policylint.doors.istio import hidden
from policylint.doors.istio_rules import undelegated
from policylint.doors.istio_unserved import unreached, unserved
from policylint.doors.kong_groups import anonymous_nobody, groups_of_nobody
from policylint.doors.nginx import contended
from policylint.doors.nginx_servers import rejected
from policylint.doors.openshift import portless
from policylint.doors.traefik import TRAEFIK_SERVICE, replaced, unrouted
from policylint.doors.traefik_first import never_reached
from policylint.doors.traefik_unmade import unparsed, without_tls
from policylint.doors.vendors import naming, objects_named
from policylint.implementations.generic.dead_ends import COPIES, DeadEnd
from policylint.model import (
    GATEWAY_GROUP,
    Resource,
    ResourceKey,
    Severity,
    World,
    is_symbolic,
    mapping,
    sequence,
    text,
    texts,
    value_at,
)
from policylint.model.kinds import INGRESS
from policylint.model.words import listing
from policylint.topology.service_ports import BY_NUMBER_OR_NAME, called, is_external, ports

_CLASS = "kubernetes.io/ingress.class"
_BY_ANNOTATION = "use-annotation"
"""The port of a Service that is the name of an action in an annotation."""


def dead_ends(world: World) -> Iterator[DeadEnd]:
    """Yield where objects that are doors by themselves lead to nothing."""
    yield from invalid(world)
    yield from unrouted(world)
    yield from unparsed(world)
    yield from without_tls(world)
    yield from replaced(world)
    yield from never_reached(world)
    yield from without_service(world)
    yield from _without_pods(world)
    yield from _without_port(world)
    yield from portless(world)
    yield from without_object(world)
    yield from astray(world)
    yield from contended(world)
    yield from rejected(world)
    yield from unusable(world)
    yield from hidden(world)
    yield from unserved(world)
    yield from unreached(world)
    yield from undelegated(world)
    yield from risky(world)
    yield from ended(world)
    yield from closed(world)
    yield from without_main(world)
    yield from groups_of_nobody(world)
    yield from anonymous_nobody(world)
    yield from misplaced(world)
    yield from _of_two_classes(world)


def _of_two_classes(world: World) -> Iterator[DeadEnd]:
    """Yield the Ingresses whose annotation names another class than they state.

    Source: Kubernetes, pkg/apis/networking/validation, ValidateIngressCreate: both must match. An update may differ.
    """
    for ingress in world.of_kind(*INGRESS):
        named, stated = ingress.annotations.get(_CLASS), ingress.spec.get("ingressClassName")
        are_told = isinstance(named, str) and isinstance(stated, str) and "" not in (named, stated)
        if are_told and named != stated and not is_symbolic(named) and not is_symbolic(stated):
            does = f"is of class {stated}, and of {named} by an annotation"
            then = "the API server refuses to create it"
            yield DeadEnd(ingress, ("metadata", "annotations", _CLASS), does, "leave the annotation out", then=then)


def without_service(world: World) -> Iterator[DeadEnd]:
    """Yield what sends requests, or copies of them, to a Service that is missing, or to an object in its place."""
    told: set[tuple[ResourceKey, ResourceKey]] = set()
    for resource, pointer, value, key in services_named(world):
        if (resource.key, key) in told or not world.resolve(key).missing or world.elsewhere(key):
            continue
        if key.kind == "Service" and _is_of_a_gateway(key, world):
            continue
        told.add((resource.key, key))
        is_copy = mapping(value).get("mirror") is True
        does = f"{'mirrors' if is_copy else 'sends'} requests to {key}, which is missing"
        fix = f"name a {key.kind} that is there"
        then = COPIES if is_copy else _answered(world, resource)
        place = (*pointer, "name") if isinstance(value, dict) else pointer
        severity: Severity = "warning" if is_copy else "error"
        yield DeadEnd(resource, place, does, fix, (key,), then=then, severity=severity)


def _without_pods(world: World) -> Iterator[DeadEnd]:
    """Yield the paths of Ingresses for Services of type ExternalName whose controller certainly takes none."""
    told: set[tuple[ResourceKey, ResourceKey]] = set()
    for resource, pointer, value, key in services_named(world):
        vendor = server_of(world, resource.key)
        if vendor is None or (resource.key, key) in told or not refuses(world, resource.key, key):
            continue
        if pointer[1] == "defaultBackend" and vendor.defaults_alone and sequence(resource.spec.get("rules")):
            continue
        told.add((resource.key, key))
        option = text(vendor.externals.get("argument"))
        does = f"sends requests to {key}, an ExternalName, which its controller takes only with {option}"
        fix = f"set {option}=true, or name a Service that selects pods"
        place = (*pointer, "name") if isinstance(value, dict) else pointer
        yield DeadEnd(resource, place, does, fix, (key,), then=_answered(world, resource))


def _without_port(world: World) -> Iterator[DeadEnd]:
    """Yield what sends requests, or copies of them, to a port that the Service does not have."""
    fields = {each.kind: each.port for each in naming() if each.port}
    told: set[tuple[ResourceKey, ResourceKey, object]] = set()
    for resource, pointer, value, key in services_named(world):
        field = fields.get(resource.key[:2])
        service = world.get(key) if field and key.kind == "Service" else None
        if field is None or service is None or is_external(service):
            continue
        place = pointer if isinstance(value, dict) else pointer[:-1]
        port = _port(mapping(value_at(resource.body, place)).get(field))
        vendor = server_of(world, resource.key)
        words = BY_NUMBER_OR_NAME if vendor is None else vendor.ports
        if port is not None and called(service, port, words).found is False and (resource.key, key, port) not in told:
            told.add((resource.key, key, port))
            is_copy = mapping(value).get("mirror") is True
            does = f"{'mirrors' if is_copy else 'sends'} requests to port {port} of {key}, which it does not have"
            fix = f"name one that it has: {listing([each.number for each in ports(service)], word='or')}"
            status, unmade = without_backends(world, resource.key)
            then = COPIES if is_copy else _answered(world, resource)
            if unmade == "missing" and not is_copy:  # for want of a Service alone
                then = f"these requests are answered with {status or 'an error'}"
            severity: Severity = "warning" if is_copy else "error"
            yield DeadEnd(resource, (*place, field), does, fix, (key,), then=then, severity=severity)


def _port(stated: object) -> int | str | None:
    """Return the port that is named, by number or by name; None for none."""
    if isinstance(stated, dict):
        stated = stated.get("number", stated.get("name"))
    return stated if isinstance(stated, int | str) and stated != "" else None


def services_named(world: World) -> Iterator[tuple[Resource, Pointer, object, ResourceKey]]:
    """Yield the Services, and objects in their place, that objects name, each with where and how it is written."""
    for naming_kind in naming():
        for resource in world.of_kind(*naming_kind.kind):
            for path in naming_kind.at:
                for pointer, value in places(resource.spec, path, ("spec",)):
                    key = _named(value, resource, is_address=naming_kind.is_address)
                    if key is not None:
                        yield resource, pointer, value, key


def _answered(world: World, door: Resource) -> str:
    """Return in words what becomes of requests whose Service is missing."""
    status, unmade = without_backends(world, door.key)
    if unmade:
        return "no rule is made of it: its requests go to another one that fits, else they are answered with 404"
    return f"these requests are answered with {status or 'an error'}"


def without_object(world: World) -> Iterator[DeadEnd]:
    """Yield what names an object of its controller that is missing: plugins, policies, upstreams."""
    for resource, place, key, entry in _objects(world, objects_named()):
        if world.resolve(key).missing and not world.elsewhere(key):
            does, fix = f"names {key}, which is missing", "name one that is there"
            yield DeadEnd(resource, place, does, fix, (key,), then=text(entry["then"]))


def _objects(
    world: World, entries: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[Resource, Pointer, ResourceKey, Mapping[str, Any]]]:
    """Yield what objects name of their controller's, and where, by entries of the data."""
    for entry in entries:
        (group, _, kind), (of_group, _, wanted) = (text(entry[name]).rpartition("/") for name in ("kind", "names"))
        for resource in world.of_kind(group, kind):
            written = (each for path in texts(entry["at"]) for each in places(resource.spec, path, ("spec",)))
            for pointer, value in written:
                stated = mapping(value)
                around = mapping(value_at(resource.body, pointer[:-1]))
                spelled = text(stated.get("name")) if stated else text(value)
                namespace, _, name = spelled.rpartition("/")
                namespace = text(stated.get("namespace")) or text(around.get(text(entry.get("home")))) or namespace
                key = ResourceKey(of_group, wanted, namespace or resource.key.namespace, name)
                is_given = "@" in name or name in texts(entry.get("given"))  # of another provider, or always there
                if name and not is_given and not is_symbolic(spelled):
                    yield resource, (*pointer, "name") if stated else pointer, key, entry


def holders(world: World, key: ResourceKey) -> Iterator[tuple[ResourceKey, Pointer]]:
    """Yield the objects beside Gateway API that name an object of their controller's, each with the place."""
    wanted = f"{key.group}/{key.kind}"
    found = _objects(world, [entry for entry in objects_named() if entry.get("names") == wanted])
    yield from ((resource.key, place) for resource, place, named, _ in found if named == key)
    for ingress in world.in_namespace(*INGRESS, key.namespace):
        vendor = server_of(world, ingress.key)
        if vendor is None or (vendor.front.get("group"), vendor.front.get("kind")) != key[:2]:
            continue
        annotation = text(vendor.front.get("annotation"))
        if vendor.value(ingress, annotation) == key.name:
            yield ingress.key, ("metadata", "annotations", f"{vendor.prefix}{annotation}")


def _named(value: object, holder: Resource, *, is_address: bool) -> ResourceKey | None:
    """Return the Service, or the object of the holder's API in its place, that a value names; None for any other."""
    namespace, home = "", holder.key.namespace
    if isinstance(value, str):
        if is_address:  # `https://web.shop.svc.cluster.local:8443`; a name with dots may be one outside
            name, _, rest = value.rpartition("://")[2].partition(":")[0].partition(".")
            namespace, _, domain = rest.partition(".")
            if domain and domain.split(".")[0] != "svc":
                return None
        else:
            namespace, _, name = value.rpartition("/")
        return ResourceKey("", "Service", namespace or home, name) if name and not is_symbolic(value) else None
    named = mapping(value)
    name, kind = text(named.get("name")), text(named.get("kind"), "Service")
    namespace = text(named.get("namespace")) or home
    if not name or mapping(named.get("port")).get("name") == _BY_ANNOTATION:
        return None
    if kind == "Service":
        return ResourceKey("", kind, namespace, name)
    is_own = kind == TRAEFIK_SERVICE[1] and holder.key.group == TRAEFIK_SERVICE[0] and "@" not in name
    return ResourceKey(*TRAEFIK_SERVICE, namespace, name) if is_own else None


def _is_of_a_gateway(service: ResourceKey, world: World) -> bool:
    """Return whether a Service is called as the controllers of Gateways call those that they make."""
    return any(
        service.name in (gateway.key.name, f"{gateway.key.name}-{of_class}")
        or service.name.endswith(f"-gateway-{gateway.key.name}")
        for gateway in world.of_kind(GATEWAY_GROUP, "Gateway")
        if gateway.key.namespace == service.namespace and (of_class := text(gateway.spec.get("gatewayClassName")))
    )
