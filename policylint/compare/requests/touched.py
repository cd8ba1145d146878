"""The hosts of which a change touches a rule, a policy, an attachment or a backend: only theirs are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import product

from policylint.compare.change import ContextChange
from policylint.compare.pairing import Sides
from policylint.compare.requests.named import naming
from policylint.doors import PUBLISHED
from policylint.doors.peculiar import READING
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Resource, ResourceKey, texts
from policylint.model.hosts import names_service
from policylint.model.kinds import INGRESS, VIRTUAL_SERVICE
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import KINDS, has_policies
from policylint.network.universe import is_unplaced
from policylint.reach import Door, EntryPoint, Named, doors, entries_at, entries_at_pods, with_routes
from policylint.reach.inside import called_inside, entries_of, met_inside
from policylint.simulation.ranking import sharing
from policylint.topology.workloads import WORKLOADS, is_workload, pod_spec, pod_template, services_selecting
from policylint.trace import Tracer
from policylint.trace.hosts import is_exact, serves

_GATEWAYS = ("Gateway", "ListenerSet", "XListenerSet", "GatewayClass")
Serving = dict[Door, set[str]]
"""The hosts for which routes take requests at each door."""
_FILES = (("", "ConfigMap"), ("", "Secret"))
"""Kinds that matter to requests where a listener or a policy reads them."""


class Touched(NamedTuple):
    """What a change touches on one side; what stands in the way of requests to a route touches the route.

    Args:
        objects, namespaces: of which clients in a mesh may meet something; all where the `whole_mesh` is touched.
    """

    gateways: Collection[ResourceKey]
    routes: Collection[ResourceKey]
    objects: Collection[ResourceKey]
    namespaces: Collection[str]
    everything: bool = False
    whole_mesh: bool = False

    def hosts(self, door: Door, named: Named) -> Iterator[str]:
        """Yield the patterns of hosts at a door of which something is touched."""
        whole = self.everything or door[0] in self.gateways
        for hostname, routes in named.items():
            if whole or not routes.isdisjoint(self.routes):
                yield hostname


def touched_entries(
    sides: Sides, tracers: tuple[Tracer, Tracer], contexts: Iterable[ContextChange], changed: Collection[ResourceKey]
) -> Iterator[tuple[EntryPoint, EntryPoint]]:
    """Yield the entries that a change touches, those of both sides told apart alike, in names of the side after.

    Each comes with the entry to compare it with on the side before: itself, or the one from which a host moves here
    (`moves`).

    Args:
        changed: the objects that differ between the sides, by their identity after, or before where they are gone.
    """
    listed = list(contexts)
    named: dict[Door, dict[str, bool]] = {}
    services: set[ResourceKey] = set()
    served: tuple[Serving, Serving] = {}, {}
    asks = any(tracer.admissions.any for tracer in tracers)
    inside = asks or any(tracer.in_mesh or tracer.simulation.world.of_kind(*VIRTUAL_SERVICE) for tracer in tracers)
    for number, (tracer, translate) in enumerate(zip(tracers, (sides.pairing.was, _same), strict=True)):
        side = _touched(sides, tracer, translate, listed, changed, asks=asks)
        for (gateway, scheme, port), hostnames in doors(tracer).items():
            hit = set(side.hosts((gateway, scheme, port), hostnames))
            after = gateway if tracer is tracers[1] else sides.pairing.key(gateway)
            patterns = named.setdefault((after, scheme, port), {})
            served[number][after, scheme, port] = {name for name, routes in hostnames.items() if routes}
            for hostname in hostnames:
                patterns[hostname] = patterns.get(hostname, False) or hostname in hit
        called = _services(tracer, side, asks=asks) if inside else ()
        services |= {key if tracer is tracers[1] else sides.pairing.key(key) for key in called}
    if inside:
        services |= set(_sent_otherwise(sides, tracers, changed, services))
    _place_unseen(named, served)
    for door in served[0].keys() & served[1].keys():
        # for whatever reason one side alone serves it; what waits for a Gateway that was not seen is served by nobody
        for hostname in served[0][door] ^ served[1][door] if door[2] is not None else ():
            named[door][hostname] = True
    moved = moves(*served)
    for door, hostname in moved:
        named[door].setdefault(hostname, True)
    left = {(former, hostname) for (_, hostname), former in moved.items()}
    mates = _mates(sides, tracers, named)
    for door, patterns in named.items():
        hit = {hostname for each in mates.get(door, (door,)) for hostname, is_hit in named[each].items() if is_hit}
        wide = [hostname for hostname in hit if not is_exact(hostname)]
        for entry in entries_at(door, patterns) if hit else ():
            former = moved.get((door, entry.hostname))
            if former is not None:
                yield entry, entry._replace(gateway=former[0], scheme=former[1], port=former[2])
            elif (door, entry.hostname) in left and entry.hostname not in served[1].get(door, ()):
                continue  # all that is left of it is elsewhere
            elif entry.host in hit or any(serves(entry.host, pattern) for pattern in wide):
                was, now = (_standing(door, mates.get(door, ()), side) for side in served)
                yield entry._replace(gateway=now), entry._replace(gateway=was)
    for entry in _inside(sides, tracers, services):
        yield entry, entry


def _mates(sides: Sides, tracers: Iterable[Tracer], doors: Collection[Door]) -> Mapping[Door, list[Door]]:
    """Return for each door of a proxy that several Gateways share, on either side, the doors there."""
    keys: dict[ResourceKey, set[ResourceKey]] = {}
    for tracer, names in zip(tracers, (sides.pairing.key, _same), strict=True):
        for key, together in sharing(tracer.simulation).items():
            keys.setdefault(names(key), set()).update(map(names, together))
    shared = (door for door in doors if door[0] in keys)
    return {door: [other for key in keys[door[0]] if (other := (key, *door[1:])) in doors] for door in shared}


def _standing(door: Door, mates: Iterable[Door], served: Serving) -> ResourceKey:
    """Return the Gateway at which requests of a door come in on one side, in names of the side after.

    Where the side does not have the door's Gateway, another one of the same proxy takes its requests.
    """
    if any(gateway == door[0] for gateway, _, _ in served):
        return door[0]
    return next((mate[0] for mate in mates if mate in served), door[0])


def moves(before: Serving, after: Serving) -> dict[tuple[Door, str], tuple[ResourceKey, str, int | None]]:
    """Return the hosts that a door of another kind takes over, or takes beside the one that had it, with that one.

    Whoever replaces Ingresses by routes wants to know what becomes of the requests for a host, whichever object serves
    them; a host that goes from one Gateway to another one is opened there and closed here.
    """
    found: dict[tuple[Door, str], tuple[ResourceKey, str, int | None]] = {}
    had_at: dict[ResourceKey, set[str]] = {}
    for door, had in before.items():
        had_at.setdefault(door[0], set()).update(had)
    for door in after:
        # a Gateway that served a host already has one more port for it, and takes it from nobody
        for hostname in _taken(door, after[door] - had_at.get(door[0], set()), before, after):
            others = [other for other, had in before.items() if _is_another(other, door) and hostname in had]
            others.sort(key=lambda other: (other[1] != door[1], other[1] != "https", hostname in after.get(other, ())))
            if others and (others[0][1] == door[1] or None in (others[0][2], door[2])):
                found[door, hostname] = others[0]
    return found


def _taken(door: Door, new: set[str], before: Serving, after: Serving) -> set[str]:
    """Return the hosts that a door has come to serve, under a wider pattern those that another door has lost to it.

    Args:
        new: what it serves and no door of its Gateway has served.
    """
    wide = [hostname for hostname in new if not is_exact(hostname)]
    lost = (
        hostname
        for other, had in before.items()
        if wide and other[1] == door[1] and _is_another(other, door)
        for hostname in had - after.get(other, set())
    )
    return {hostname for hostname in new if hostname} | {
        hostname
        for hostname in lost
        if hostname
        and not any(hostname in named for at, named in after.items() if at[1] == door[1])
        and any(serves(hostname, pattern) for pattern in wide)
    }


def _is_another(other: Door, door: Door) -> bool:
    return other[0][:2] != door[0][:2] and not PUBLISHED.intersection((other[0].kind, door[0].kind))


def _inside(sides: Sides, tracers: tuple[Tracer, Tracer], services: Collection[ResourceKey]) -> Iterator[EntryPoint]:
    """Yield the entries of clients in a mesh to Services that both sides have, in names of the side after."""
    found: dict[EntryPoint, None] = {}
    was = {key: sides.pairing.was(key) for key in services}
    shared = {key for key in services if tracers[0].knows(was[key]) and tracers[1].knows(key)}
    for key in sorted(shared):
        if key[:2] != ("", "Service"):
            for tracer, own in ((tracers[0], was[key]), (tracers[1], key)):
                for entry in entries_at_pods(tracer, tracer.simulation.world.resources[own]):
                    found[entry._replace(gateway=key, host=key.name)] = None
    # where one side alone shows that the Service is called from a mesh, its ports are looked at on both
    called = {sides.pairing.key(each.key) for each in called_inside(tracers[0], {was[key] for key in shared})}
    called |= {each.key for each in called_inside(tracers[1], shared)}
    for key in sorted(called):
        for tracer, own in ((tracers[0], was[key]), (tracers[1], key)):
            for entry in entries_of(tracer, tracer.simulation.world.resources[own]):
                found[entry._replace(gateway=key)] = None
    yield from found


def _same(key: ResourceKey) -> ResourceKey:
    return key


def _place_unseen(named: dict[Door, dict[str, bool]], served: Iterable[Serving]) -> None:
    """Let the hosts at a Gateway that only one side shows stand at its ports: the other side has none.

    Args:
        served: what each side serves there.
    """
    for away in [door for door in named if door[2] is None]:
        seen = [door for door in named if door[0] == away[0] and door[2] is not None and door[1] in ("http", "https")]
        if seen:
            patterns = named.pop(away)
            for door in seen:
                for hostname, is_hit in patterns.items():
                    named[door][hostname] = named[door].get(hostname, False) or is_hit
            for side in served:
                names = side.pop(away, set())
                side |= {door: side.get(door, set()) | names for door in seen if names}


def _touched(
    sides: Sides,
    tracer: Tracer,
    translate: Callable[[ResourceKey], ResourceKey],
    contexts: Iterable[ContextChange],
    changed: Collection[ResourceKey],
    *,
    asks: bool,
) -> Touched:
    """Return what is touched on one side, by its own identities; `asks` as in `_services`."""
    simulation = tracer.simulation
    topology = simulation.topology
    keys: set[ResourceKey] = {translate(key) for key in changed}
    namespaces: set[str] = set()
    everything = whole_mesh = False
    for key in tuple(keys):
        state = simulation.policies.get(key)
        if state is not None:
            heard = tracer.admissions.hears(state.kind.implementation)
            everything = everything or heard
            keys.update(node.key for group in (state.groups if heard else ()) for node in group.nodes)
            keys.update(node.key for target in state.targets for node in target.nodes)
        elif key[:2] == ("", "Namespace"):
            namespaces.add(key.name)
        elif key[:2] in KINDS and (not key.namespace or is_unplaced(key.namespace)):
            everything = whole_mesh = True
        elif _matters_nearby(sides, key, asks=asks):
            namespaces.add(key.namespace)
            whole_mesh = whole_mesh or tracer.admissions.is_of_whole_mesh(key)
    for group, moved in zip(simulation.groups, simulation.acting.groups, strict=True):
        # a filter that looks at hosts and paths alone makes it act on requests of other routes, or on some of them
        if moved is not group and any(each.key in keys or each.node.key in keys for each in group.effective.stack):
            keys.update(moved.routes())
    acting = [binding for binding in simulation.bindings if binding.wanted in keys]
    keys.update(key for binding in acting for key in (binding.holder.key, binding.node.key))
    files = [key for key in keys if key[:2] in _FILES]
    for named in naming(simulation, files) if files else ():
        keys.update(node.key for target in simulation.policies[named].targets for node in target.nodes)
    for context in contexts:
        routes = [node.key for node in context.path if node.key.kind in ROUTE_KINDS]
        keys.add(translate(routes[-1] if routes else context.path[-1].key))
    classes = any(key[:2] == (GATEWAY_GROUP, "GatewayClass") for key in keys)
    gateways = {
        state.gateway.key
        for state in topology.gateways
        if not keys.isdisjoint((state.gateway.key, state.class_key))
        or (classes and not state.class_resolution.found)  # whether it is missing hangs on the classes that are here
        or state.gateway.key.namespace in namespaces
        or any(
            listener.holder.key in keys
            or any(each.wanted in keys or each.wanted.namespace in namespaces for each in listener.references)
            for listener in tracer.listeners(state)
        )
    }
    gateways.update(key for key in topology.unseen if key in keys)
    gateways |= _sending_from(tracer, keys)
    if any(key[:2] == INGRESS and topology.route(key) is None for key in keys):  # a canary is part of another Ingress
        gateways.update(state.gateway.key for state in topology.gateways if state.gateway.key.kind == "IngressClass")
    routes_touched = {
        state.route.key
        for state in topology.routes
        if state.route.key in keys
        or state.route.key.namespace in namespaces
        or any(backend.wanted in keys or backend.wanted.namespace in namespaces for backend in state.backends)
    }
    while delegating := {each.parent for each in topology.delegations if each.child in routes_touched} - routes_touched:
        routes_touched |= delegating
    return Touched(gateways, routes_touched, keys, namespaces, everything or whole_mesh, whole_mesh)


def _sending_from(tracer: Tracer, keys: Collection[ResourceKey]) -> set[ResourceKey]:
    """Return the Gateways whose proxies run, or may run, where network policies or namespaces are touched."""
    homes = {key.namespace if key[:2] in KINDS else key.name for key in keys if key[:2] in (*KINDS, ("", "Namespace"))}
    if not homes or not has_policies(tracer.simulation.world):
        return set()
    likeliest = ((gateway, planes[0].endpoint) for gateway, planes in tracer.simulation.hops.planes.items())
    return {gateway for gateway, end in likeliest if end.namespace in homes or is_unplaced(end.namespace)}


def _services(tracer: Tracer, side: Touched, *, asks: bool) -> set[ResourceKey]:
    """Return the Services, and the workloads without one, of which something is touched that clients in a mesh meet,
    at their own pods or where their routes lead.

    Args:
        asks: whether proxies of a mesh are asked on either side: the first policy of a mesh makes both sides count.
    """
    world, keys, namespaces, everywhere = tracer.simulation.world, side.objects, side.namespaces, side.whole_mesh
    alone = (
        workload.key
        for kind in WORKLOADS
        for workload in world.of_kind(*kind)
        if (
            everywhere
            or workload.key in keys
            or workload.key.namespace in namespaces
            or any(node.key in keys for node in tracer.simulation.acting.beyond(workload.key, None))
        )
        and _is_entry(tracer, workload)
    )
    called = {*(alone if asks else ()), *_called(tracer, keys, namespaces, everywhere=everywhere)}
    return with_routes(tracer, called.union(side.routes)).difference(side.routes)


def _sent_otherwise(
    sides: Sides, tracers: tuple[Tracer, Tracer], changed: Collection[ResourceKey], known: Collection[ResourceKey]
) -> Iterator[ResourceKey]:
    """Yield the Services before which clients meet something else than before, by what is set for their namespace, or
    said of their own pods.

    Args:
        known: the Services of which that need not be asked.
    """
    homes = {
        key.name if key[:2] == ("", "Namespace") else key.namespace for key in changed if _is_of_clients(sides, key)
    }
    accounts = tracers[1].simulation.clients.by_account
    clients = [account for account in accounts if account.partition("/")[0] in homes]
    clients += [f"{home}/*" for home in sorted(homes)]
    for service in called_inside(tracers[1]) if homes else ():
        was = sides.pairing.was(service.key)
        if service.key not in known and tracers[0].knows(was):
            places = ((tracers[0], was), (tracers[1], service.key))
            entries = [entry for entry in entries_of(tracers[1], service) if not entry.consumer]
            if any(
                len({met_inside(tracer, entry._replace(gateway=key), client) for tracer, key in places}) > 1
                for entry, client in product(entries, clients)
            ):
                yield service.key


def _is_of_clients(sides: Sides, key: ResourceKey) -> bool:
    """Return whether a changed object may say what clients of its namespace meet before they come to a Service."""
    if key[:2] == ("", "Namespace") or key[:2] in KINDS:
        return True
    if is_workload(key.group, key.kind):
        before, after = sides.before.world.get(sides.pairing.was(key)), sides.after.world.get(key)
        return _seen_by_policies(before) != _seen_by_policies(after)
    return any(mesh.is_of_clients(key) for side in sides[:2] for mesh in side.meshes.all)


def _is_entry(tracer: Tracer, workload: Resource) -> bool:
    """Return whether what comes to the addresses of pods meets other policies than what their Services get, if any."""
    services = services_selecting(tracer.simulation.world, workload)
    return not services or any(map(tracer.admissions.has_front, (workload.key, *(each.key for each in services))))


def _called(
    tracer: Tracer, keys: Collection[ResourceKey], namespaces: Collection[str], *, everywhere: bool
) -> Iterator[ResourceKey]:
    world = tracer.simulation.world
    routing = [each for each in map(world.get, keys) if each is not None and each.key[:2] == VIRTUAL_SERVICE]
    hosts = [(host, each.key.namespace) for each in routing for host in texts(each.spec.get("hosts"))]
    yield from (
        service.key
        for service in world.of_kind("", "Service")
        if everywhere
        or service.key in keys
        or service.key.namespace in namespaces
        or any(node.key in keys for node in tracer.simulation.acting.beyond(service.key, None))
        or any(state.route.key in keys for _, state in tracer.in_mesh.get(service.key, ()))
        or any(names_service(host, home, service.key) for host, home in hosts)
    )


def _matters_nearby(sides: Sides, key: ResourceKey, *, asks: bool) -> bool:
    """Return whether an object may matter to requests that pass its namespace, other than by what names it."""
    if (
        not key.namespace
        or key.kind in (*ROUTE_KINDS, "Ingress", "Route")
        or key.kind in _GATEWAYS
        or key[:2] == ("", "Service")
    ):
        return False
    before, after = sides.before.world.get(sides.pairing.was(key)), sides.after.world.get(key)
    if key[:2] in _FILES:
        kinds = ((GATEWAY_GROUP, "BackendTLSPolicy"), *(READING if key.kind == "Secret" else ()))
        places = product((sides.before, sides.after), kinds)
        return any(bool(side.world.in_namespace(group, kind, key.namespace)) for side, (group, kind) in places)
    if is_workload(key.group, key.kind):
        looked_at = asks or any(has_policies(side.world) for side in (sides.before, sides.after))
        return looked_at and _seen_by_policies(before) != _seen_by_policies(after)
    return True


def _seen_by_policies(workload: Resource | None) -> object:
    """Return what policies select pods by, and their ports."""
    if workload is None:
        return None
    spec = pod_spec(workload)
    containers = spec.get("containers")
    ports = (
        [each.get("ports") for each in containers if isinstance(each, Mapping)] if isinstance(containers, list) else []
    )
    return pod_template(workload).get("metadata"), spec.get("serviceAccountName"), spec.get("hostNetwork"), ports
