"""Services and subsets that VirtualServices send requests to and nothing defines, or whose labels no pod has.

Source: istio.io/docs/ops/common-problems/network-issues, «503 errors after setting destination rule», and
docs/reference/config/networking/destination-rule, «Subset».
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.documents import Pointer
from policylint.implementations.generic.dead_ends import COPIES, DeadEnd
from policylint.implementations.istio.client_tls import labels_of
from policylint.model import (
    GATEWAY_GROUP,
    Resource,
    ResourceKey,
    World,
    integer,
    is_symbolic,
    mapping,
    sequence,
    text,
    texts,
)
from policylint.model.hosts import names_service, services_named
from policylint.model.selectors import matches
from policylint.model.words import listing
from policylint.topology.service_ports import BY_NUMBER, called, is_external, ports
from policylint.topology.workloads import WORKLOADS, Labels, is_written_later, labels_at, servers_behind

_MESH = "networking.istio.io"


def dead_ends(world: World) -> Iterator[DeadEnd]:
    """Yield the destinations of VirtualServices at which requests end."""
    yield from _taken_away(world)
    rules = world.of_kind(_MESH, "DestinationRule")
    for rule in rules:
        host = text(rule.spec.get("host"))
        is_here = services_named(world, host, rule.key.namespace)
        if not is_here and (lacking := _lacking(world, host, rule)) is not None:
            does, fix = f"is for {lacking}, which is missing", "name one that is there"
            then = "its settings apply to nothing"
            yield DeadEnd(rule, ("spec", "host"), does, fix, (lacking,), then=then, severity="warning")
    for virtual in world.of_kind(_MESH, "VirtualService"):
        for destination, pointer in _mirrors(virtual):
            host = text(destination.get("host"))
            is_here = services_named(world, host, virtual.key.namespace)
            if not is_here and (lacking := _lacking(world, host, virtual)) is not None:
                does, fix = f"mirrors requests to {lacking}, which is missing", "name one that is there"
                yield DeadEnd(virtual, (*pointer, "host"), does, fix, (lacking,), then=COPIES, severity="warning")
        for destination, pointer in destinations(virtual):
            host, name = text(destination.get("host")), text(destination.get("subset"))
            service = next(iter(services_named(world, host, virtual.key.namespace)), None)
            if service is None and (lacking := _lacking(world, host, virtual)) is not None:
                does = f"sends requests to {lacking}, which is missing"
                fix = "name a Service, or the host of a ServiceEntry: that of another VirtualService is none"
                yield DeadEnd(virtual, (*pointer, "host"), does, fix, (lacking,))
            if service is not None and (number := _port_beside(world, service, destination)) is not None:
                does = f"sends requests to port {number} of {service.key}, which it does not have"
                fix = f"name one that it has: {listing([each.number for each in ports(service)], word='or')}"
                then, place = "these requests are answered with 503", (*pointer, "port", "number")
                yield DeadEnd(virtual, place, does, fix, (service.key,), then=then)
            if not name or is_symbolic(name) or host.startswith("*") or service is None:
                continue
            about = [rule for rule in rules if _is_about(rule, service) or _may_be_about(rule, service, world)]
            subsets = [mapping(subset) for rule in about for subset in sequence(rule.spec.get("subsets"))]
            names = [text(subset.get("name")) for subset in subsets]
            place = (*pointer, "subset")
            if not about and _is_of_another_step(name, service, world):
                continue
            if name not in names and not any(map(is_symbolic, names)):
                does = f"sends requests to subset {name} of {service.key}, which no DestinationRule defines"
                fix = f"define subset {name} in a DestinationRule for {text(destination.get('host'))}"
                ground = "" if about else "a DestinationRule elsewhere may define it"
                yield DeadEnd(virtual, place, does, fix, (service.key, *(rule.key for rule in about)), ground)
            elif name in names:
                labels = mapping(subsets[names.index(name)].get("labels"))
                if _selects_nothing(service, labels, world):
                    does = f"sends requests to subset {name} of {service.key}, whose labels no pod of it has"
                    words = ", ".join(f"{key}: {value}" for key, value in labels.items())
                    fix = f"give pods the label {words}, or select what they have"
                    yield DeadEnd(virtual, place, does, fix, (service.key, *(rule.key for rule in about)))


def picked(world: World) -> Iterator[tuple[Resource, Pointer, Labels]]:
    """Yield the destinations that are subsets of which is known which pods they are, with the labels of these."""
    rules = world.of_kind(_MESH, "DestinationRule")
    about: dict[ResourceKey, list[Resource]] = defaultdict(list)
    for rule in rules:
        host = text(rule.spec.get("host"))
        services = () if is_symbolic(host) else services_named(world, host, rule.key.namespace)
        for named in services:
            about[named.key].append(rule)
    of_any = [rule for rule in rules if is_symbolic(text(rule.spec.get("host")))]
    for virtual in world.of_kind(_MESH, "VirtualService") if rules else ():
        for destination, pointer in destinations(virtual):
            service = next(iter(services_named(world, text(destination.get("host")), virtual.key.namespace)), None)
            if destination.get("subset") and service is not None:
                of_it = [*about[service.key], *of_any]
                if found := _subset_of(world, service, text(destination.get("subset")), of_it):
                    yield virtual, pointer[:-1], found


def _subset_of(world: World, service: Resource, name: str, about: Sequence[Resource]) -> Labels:
    """Return the labels of the pods of a destination's subset; () where all that are called so do not have the same
    ones, where one with the same ones is connected to otherwise, and where it is not seen which pods have them."""
    subsets = [mapping(subset) for rule in about for subset in sequence(rule.spec.get("subsets"))]
    found = {labels_of(each) for each in subsets if text(each.get("name")) == name}
    labels = found.pop() if len(found) == 1 else ()
    same = [mapping(each.get("trafficPolicy")).get("tls") for each in subsets if labels_of(each) == labels]
    if any(each != same[0] for each in same) or any(is_symbolic(text(each.get("name"))) for each in subsets):
        return ()
    behind = [labels_at(each) for each in servers_behind(world, service)]
    is_open = any(is_written_later(label, behind) or is_symbolic(value) for label, value in labels)
    return () if is_open or any(is_symbolic(each.get(label)) for each in behind for label, _ in labels) else labels


def _is_of_another_step(name: str, service: Resource, world: World) -> bool:
    """Return whether an alternative to these files defines a subset of a Service: the step of a walkthrough before this
    one, which leaves it in the cluster."""
    rules = (each for each in world.beside(_MESH, "DestinationRule") if _is_about(each, service))
    return any(
        text(mapping(subset).get("name")) == name for rule in rules for subset in sequence(rule.spec.get("subsets"))
    )


def _taken_away(world: World) -> Iterator[DeadEnd]:
    """Yield the DestinationRules of clients' namespaces without a subset that a VirtualService of the Service's sends
    requests to: such a rule takes the place of the Service's own (push_context.go, destinationRule)."""
    for virtual in world.of_kind(_MESH, "VirtualService"):
        if virtual.spec.get("exportTo") or "mesh" not in (texts(virtual.spec.get("gateways")) or ["mesh"]):
            continue
        home = virtual.key.namespace
        for destination, _ in destinations(virtual):
            host, name = text(destination.get("host")), text(destination.get("subset"))
            named = services_named(world, host, home)
            service = next((each for each in named if each.key.namespace == home), None)
            if not name or is_symbolic(name) or service is None:
                continue
            for client, rules in _rules_of_clients(world, service).items():
                names = [
                    text(mapping(each).get("name")) for rule in rules for each in sequence(rule.spec.get("subsets"))
                ]
                if name not in names and not any(map(is_symbolic, names)):
                    does = f"has no subset {name}, to which {virtual.key} sends requests of clients in {client}"
                    fix = f"define subset {name} here as well, or leave the rule to namespace {home}"
                    yield DeadEnd(rules[0], ("spec", "host"), does, fix, (virtual.key, service.key))


def _rules_of_clients(world: World, service: Resource) -> dict[str, list[Resource]]:
    """Return the DestinationRules of a Service in other namespaces with workloads: those of one are merged."""
    found: dict[str, list[Resource]] = {}
    for rule in world.of_kind(_MESH, "DestinationRule"):
        client = rule.key.namespace
        has_clients = any(world.in_namespace(*kind, client) for kind in WORKLOADS)
        if client != service.key.namespace and has_clients and _is_about(rule, service):
            if world.lands_anywhere(rule):  # with the Service, as likely as not
                continue
            found.setdefault(client, []).append(rule)
    return {
        client: rules for client, rules in found.items() if not any(each.spec.get("workloadSelector") for each in rules)
    }


def _is_about(rule: Resource, service: Resource) -> bool:
    host = text(rule.spec.get("host"))
    return is_symbolic(host) or names_service(host, rule.key.namespace, service.key)


def _may_be_about(rule: Resource, service: Resource, world: World) -> bool:
    """Return whether a DestinationRule, of which nothing tells where it lands, is for a Service if it lands there."""
    return text(rule.spec.get("host")) == service.key.name and world.lands_anywhere(rule)


def destinations(virtual: Resource) -> Iterator[tuple[Mapping[str, Any], Pointer]]:
    """Yield the destinations of routes that get requests, which one of several without weight does not; what is
    mirrored gets no answer."""
    for field in ("http", "tcp", "tls"):
        for number, rule in enumerate(sequence(virtual.spec.get(field))):
            routes = [mapping(each) for each in sequence(mapping(rule).get("route"))]
            for index, route in enumerate(routes):
                place: Pointer = ("spec", field, number, "route", index, "destination")
                if len(routes) == 1 or route.get("weight"):
                    yield mapping(route.get("destination")), place


def _port_beside(world: World, service: Resource, destination: Mapping[str, Any]) -> int | None:
    """Return the port of a destination that neither its Service has nor an entry for the same host; None where one has,
    or may: a cluster is made for each number of either."""
    number = integer(mapping(destination.get("port")).get("number"))
    if is_external(service) or called(service, number, BY_NUMBER).found is not False:
        return None
    own = service.key
    entries = world.of_kind(_MESH, "ServiceEntry")
    named = (host for entry in entries for host in texts(entry.spec.get("hosts")))
    return None if any(is_symbolic(host) or names_service(host, own.namespace, own) for host in named) else number


def _mirrors(virtual: Resource) -> Iterator[tuple[Mapping[str, Any], Pointer]]:
    """Yield the destinations that get copies of requests."""
    for number, rule in enumerate(map(mapping, sequence(virtual.spec.get("http")))):
        place: Pointer = ("spec", "http", number)
        yield mapping(rule.get("mirror")), (*place, "mirror")
        for index, mirror in enumerate(map(mapping, sequence(rule.get("mirrors")))):
            yield mapping(mirror.get("destination")), (*place, "mirrors", index, "destination")


def _lacking(world: World, host: str, holder: Resource) -> ResourceKey | None:
    """Return the Service of the cluster that an object names, where it is missing, and no ServiceEntry has it."""
    name, dot, rest = host.partition(".")
    namespace, _, suffix = rest.partition(".")
    if not name or is_symbolic(host) or "*" in host or (dot and suffix not in ("svc", "svc.cluster.local")):
        return None
    key = ResourceKey("", "Service", namespace or holder.key.namespace, name)
    if world.get(key) is not None or not world.resolve(key).missing or world.elsewhere(key) or _is_made(world, key):
        return None
    full = f"{name}.{key.namespace}.svc.cluster.local"
    for entry in world.of_kind(_MESH, "ServiceEntry"):
        for known in texts(entry.spec.get("hosts")):
            if known in (host, full) or is_symbolic(known) or (known.startswith("*") and full.endswith(known[1:])):
                return None
    return key


def _is_made(world: World, key: ResourceKey) -> bool:
    """Return whether a controller of Gateways makes a Service of that name."""
    gateways = (each.key.name for each in world.in_namespace(GATEWAY_GROUP, "Gateway", key.namespace))
    return any(key.name == each or key.name.startswith(f"{each}-") for each in gateways)


def _selects_nothing(service: Resource, labels: Mapping[str, Any], world: World) -> bool:
    """Return whether pods of a Service were seen, none has the labels of a subset, and none may be elsewhere."""
    selector = mapping(service.spec.get("selector"))
    if not selector or not labels or any(map(is_symbolic, labels.values())):
        return False
    behind = [labels_at(each) for each in servers_behind(world, service)]
    if (
        not behind
        or any(is_written_later(label, behind) for label in labels)
        or world.pods_elsewhere({"matchLabels": {**selector, **labels}}, service.key.namespace)
    ):
        return False
    if any(is_symbolic(labelled.get(label)) for labelled in behind for label in labels):
        return False
    return not any(matches({"matchLabels": labels}, labelled) for labelled in behind)
