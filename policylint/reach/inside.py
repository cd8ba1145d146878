"""Requests from inside the mesh: the Services that they are for, and the clients that are told apart there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, count

from policylint.model import Resource, ResourceKey, is_symbolic, mapping, sequence, text
from policylint.model.hosts import readers_of
from policylint.network.kinds import has_policies
from policylint.policy.authorizing import Client
from policylint.reach.entries import EntryPoint
from policylint.spaces.dimension import Dimension
from policylint.spaces.predicates import Predicate
from policylint.topology.backends import labels_of
from policylint.topology.workloads import Labels, container_port, is_workload, pod_spec, services_selecting
from policylint.trace import Trace, Tracer
from policylint.trace.mesh import MetBy, consumers, met_by, routing, server_names
from policylint.trace.network import met_by_network

IDENTIFIED = Predicate("Pair", "*/*")
"""Every client with an identity of the mesh."""
_OTHER = "other"
_STREAMS = ("tcp", "tls", "https", "mongo", "mysql", "redis")


def entries_inside(tracer: Tracer, services: Collection[ResourceKey] | None = None) -> Iterator[EntryPoint]:
    """Yield the ports of those of some Services, or of all, that are called from a mesh.

    Clients of a namespace with routes of its own to a Service come in by an entry of theirs.
    """
    for service in called_inside(tracer, services):
        yield from entries_of(tracer, service)


def called_inside(tracer: Tracer, services: Collection[ResourceKey] | None = None) -> Iterator[Resource]:
    """Yield those of some Services, or of all, whose pods are in a mesh or may be; none where no mesh is in sight."""
    world = tracer.simulation.world
    for service in world.of_kind("", "Service"):
        key = service.key
        if service.spec.get("type") == "ExternalName" or (services is not None and key not in services):
            continue
        if not tracer.admissions.any and key not in tracer.in_mesh and not any(routing(world, key)):
            continue
        behind = tracer.simulation.acting.workloads(key)
        if not behind or any(tracer.simulation.meshes.proxied(workload) is not False for workload in behind):
            yield service


def entries_of(tracer: Tracer, service: Resource) -> Iterator[EntryPoint]:
    """Yield the ports of a Service as clients in a mesh call it."""
    key, listed = service.key, map(mapping, sequence(service.spec.get("ports")))
    found = [one for one in listed if isinstance(one.get("port"), int) and text(one.get("protocol"), "TCP") == "TCP"]
    for number, scheme in {port["port"]: _scheme(port) for port in found}.items():
        for consumer in ("", *consumers(tracer, key, number)):
            yield EntryPoint(key, scheme, number, "", f"{key.name}.{key.namespace}", consumer)
            for name in server_names(tracer, key, number):
                yield EntryPoint(key, "tls", number, "", name.replace("*", "other", 1), consumer)


def entries_at_pods(tracer: Tracer, workload: Resource, port: int | None = None) -> Iterator[EntryPoint]:
    """Yield the ports of the pods of a workload, or one of them, where clients come in past every Service."""
    ports: dict[int | None, str] = {}
    for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
        for each in map(mapping, sequence(container.get("ports"))):
            ports[container_port(workload, each.get("containerPort"))] = _scheme(each)
    for service in services_selecting(tracer.simulation.world, workload):
        for each in map(mapping, sequence(service.spec.get("ports"))):
            ports[container_port(workload, each.get("targetPort", each.get("port")))] = _scheme(each)
    ports.pop(None, None)
    chosen = {port: ports.get(port, "http")} if port is not None else ports or {None: "http"}
    yield from (EntryPoint(workload.key, scheme, number, "", workload.key.name) for number, scheme in chosen.items())


def _scheme(port: Mapping[str, object]) -> str:
    """Return whether proxies see HTTP requests at a port, by its name or `appProtocol`."""
    named = text(port.get("appProtocol")) or text(port.get("name")).partition("-")[0]
    return "tcp" if named.lower() in _STREAMS else "http"


def of_consumers(tracer: Tracer, entry: EntryPoint, dimension: Dimension) -> int:
    """Return the clients that come in by an entry: those of its namespace, or of none that has an entry of its own.

    Who meets the routes of the Service's namespace although its own one has others comes in with all others.
    """
    masks = {name: dimension.masks[clients_of(name)] for name in consumers(tracer, entry.gateway, entry.port)}
    produced = met_by(tracer, entry.gateway, Client(), entry.port, entry.scheme).routes
    alike = sum(mask for mask, met in _masks(tracer, entry, dimension) if met.routes == produced)
    others = alike & sum(masks.values())
    if entry.consumer:  # which on the other side of a change may be that of no consumer
        return dimension.masks[clients_of(entry.consumer)] & ~others
    return dimension.all & ~sum(masks.values()) | others


def told_apart(tracer: Tracer, entry: EntryPoint) -> set[Predicate]:
    """Return by what the clients of an entry are told apart before anybody asks who they are."""
    if not entry.inside:
        return set()
    homes = (entry.consumer, *consumers(tracer, entry.gateway, entry.port))
    return {IDENTIFIED, *map(clients_of, filter(None, homes)), *_met(tracer, entry)}


def parts(tracer: Tracer, entry: EntryPoint, dimension: Dimension) -> Iterator[tuple[int, MetBy | None]]:
    """Yield the clients of an entry by what their requests meet before they come to the Service, None where they meet
    none of its routes: first those without an identity, last those of whom no workload was seen."""
    found: dict[MetBy, int] = {}
    for mask, met in _masks(tracer, entry, dimension):
        found[met] = found.get(met, 0) | mask
    yield 1, None
    yield from ((mask, met if met.is_led_by_rules else None) for met, mask in found.items() if mask)
    home = entry.consumer or _OTHER
    others = met_by(tracer, entry.gateway, Client(None, home, f"{home}/{_OTHER}"), entry.port, entry.scheme)
    yield dimension.all & ~(sum(found.values()) | 1), others if others.is_led_by_rules else None


def _masks(tracer: Tracer, entry: EntryPoint, dimension: Dimension) -> list[tuple[int, MetBy]]:
    """Return the clients that meet at an entry what others do not, each of them once: accounts, then all the others of
    a namespace."""
    found: list[tuple[int, MetBy]] = []
    known = 0
    for clients, met in sorted(_met(tracer, entry).items(), key=lambda told: _is_namespace(told[0])):
        mask = dimension.masks.get(clients, 0) & ~known
        known |= mask
        found.append((mask, met))
    return found


def _is_namespace(clients: Predicate) -> bool:
    return clients.value.endswith("/*")


def _met(tracer: Tracer, entry: EntryPoint) -> Mapping[Predicate, MetBy]:
    """Return the accounts of workloads whose requests do not meet at an entry what those of unseen clients of their
    namespace would, and the namespaces whose unseen clients do not meet there what those of any other one would."""
    place = entry.gateway, entry.port, entry.scheme
    if place not in tracer.met_inside:
        tracer.met_inside[place] = {}
        world, service, clients = tracer.simulation.world, entry.gateway, tracer.simulation.clients
        routed = service.kind != "Service" or service in tracer.in_mesh
        routed = routed or any(routing(world, service))
        meshes = tracer.simulation.meshes.all
        routed = routed or tracer.admissions.has_front(service) or len(meshes) > 1
        routed = routed or any(mesh.hides_clients(world) for mesh in meshes)
        if routed or world.once(has_policies):
            accounts = [each for each in clients.by_account if not is_symbolic(each)]
            named = {key.name for key in world.resources if key[:2] == ("", "Namespace") and not is_symbolic(key.name)}
            readers = chain.from_iterable(map(readers_of, routing(world, service)))
            spaces = sorted(named.union(readers, (account.partition("/")[0] for account in accounts)))
            tracer.met_inside[place] = dict(_apart(tracer, entry, accounts, spaces))
    return tracer.met_inside[place]


def _apart(
    tracer: Tracer, entry: EntryPoint, accounts: Sequence[str], spaces: Sequence[str]
) -> Iterator[tuple[Predicate, MetBy]]:
    """Yield the accounts and the namespaces that are told apart at an entry; see `_met`."""
    usual = {namespace: met_inside(tracer, entry, f"{namespace}/*")[1] for namespace in spaces}
    unused = next(name for name in (_OTHER * times for times in count(1)) if name not in usual)
    elsewhere = met_inside(tracer, entry, f"{unused}/*")[1]
    yield from ((clients_of(namespace), met) for namespace, met in usual.items() if met != elsewhere)
    for account in accounts:
        identity, met = met_inside(tracer, entry, account)
        if identity and met != usual[account.partition("/")[0]]:
            yield Predicate("Pair", account), met


def met_inside(tracer: Tracer, entry: EntryPoint, client: str) -> tuple[str | None, MetBy]:
    """Return the identity of an account, or of unseen clients of a namespace (`shop/*`), and what they meet there."""
    home, _, name = client.partition("/")
    account = f"ServiceAccount/{client}"
    sender = Client(None, home, f"{home}/{_OTHER}") if name == "*" else tracer.sender(account)
    met = met_by(tracer, entry.gateway, sender, entry.port, entry.scheme)
    if name != "*" and sender.account and tracer.simulation.world.once(has_policies):
        network = met_by_network(tracer.simulation, account, _backends(tracer, entry), answering=tracer.networks_ask)
        met = met._replace(network=network)
    return sender.account, met


def _backends(tracer: Tracer, entry: EntryPoint) -> list[tuple[ResourceKey, int | None, Labels]]:
    """Return where requests at an entry may end: at the Service, and at the backends of its routes."""
    found: dict[tuple[ResourceKey, int | None, Labels], None] = {(entry.gateway, entry.port, ()): None}
    for _, state in tracer.in_mesh.get(entry.gateway, ()):
        named = (each for each in state.backends if each.role == "backend")
        found |= {(each.wanted, each.port, labels_of(state.route, each.pointer)): None for each in named}
    return list(found)


def clients_of(namespace: str) -> Predicate:
    return Predicate("Pair", f"{namespace}/*")


def doubt(trace: Trace) -> str:
    """Return on what it depends whether a request through the mesh is let in; "" where it certainly is, or is not."""
    return next((each.decision.why for each in trace.admissions if each.decision.answer == "depends"), "")


def leading_to(tracer: Tracer, objects: Collection[ResourceKey]) -> set[ResourceKey]:
    """Return some objects with the Services of the workloads among them, and those whose routes lead to any of them."""
    world = tracer.simulation.world
    found = set(objects)
    for key in objects:
        workload = world.get(key) if is_workload(key.group, key.kind) else None
        found.update(service.key for service in (services_selecting(world, workload) if workload is not None else ()))
    return found


def with_routes(tracer: Tracer, objects: Collection[ResourceKey]) -> set[ResourceKey]:
    """Return some objects, and the Services of which routes in the mesh are among them or lead there."""
    led = {
        service
        for service, attached in tracer.in_mesh.items()
        for _, state in attached
        if state.route.key in objects or any(backend.wanted in objects for backend in state.backends)
    }
    return {*objects, *led}
