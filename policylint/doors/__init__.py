"""Ways in that are no Gateways (Ingresses, Services that are published, pods at their nodes), for the request engine.

`with_doors` returns a simulation in which they are holders of listeners with routes like any Gateway's. Whoever looks
at Gateway API alone keeps the one without: the rules of the linter are about its objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from itertools import chain
from typing import Any

from policylint.doors.peculiar import ENTRIES
from policylint.implementations.generic.gateway_pods import OWN_GATEWAY
from policylint.implementations.generic.gateway_pods import selected as proxies
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text, texts
from policylint.model.kinds import SERVICE, VIRTUAL_SERVICE, WORKLOADS
from policylint.network.kinds import has_policies
from policylint.simulation import Simulation

DOORS = frozenset(
    {
        "IngressClass",
        "Router",
        "EntryPoints",
        "HTTPProxies",
        "VirtualServers",
        "Streams",
        "LoadBalancer",
        "NodePort",
        "ExternalIP",
        "HostPort",
        "HostNetwork",
    }
)
"""Kinds of what requests come in at beside Gateways."""
PUBLISHED = DOORS - {"IngressClass", "Router", "EntryPoints", "HTTPProxies", "VirtualServers", "Streams"}
_INSIDE = frozenset({SERVICE, *WORKLOADS})
_BY_NODES = frozenset({"NodePort", "ExternalIP"})
DOOR_GUARDS = "doors"
"""The implementation that judges the guards of doors."""


def is_door(key: ResourceKey) -> bool:
    """Return whether requests come in here, and not through a Gateway of Gateway API."""
    return key.kind in DOORS or key[:2] == OWN_GATEWAY


def is_inside(key: ResourceKey) -> bool:
    """Return whether requests come in here from inside the cluster: at a Service, or at the pods of a workload."""
    return key[:2] in _INSIDE


def with_doors(simulation: Simulation) -> Simulation:
    """Return a simulation with the doors of its environment; itself where there are none."""
    if simulation.kept_doors is None:
        led = simulation.world.of_kind(*VIRTUAL_SERVICE) or any(True for _ in entrances(simulation))
        simulation.kept_doors = _opened(simulation) if led else simulation
    return simulation.kept_doors


def entrances(simulation: Simulation) -> Iterator[Resource]:
    """Yield the objects that requests come in by: Ingresses and the like, published Services, pods at their nodes."""
    world = simulation.world
    yield from chain.from_iterable(world.of_kind(*kind) for kind in ENTRIES)
    yield from filter(published_as, world.of_kind("", "Service"))
    workloads = chain.from_iterable(world.of_kind(*kind) for kind in WORKLOADS)
    yield from (each for each in workloads if is_on_node(each) or any(node_ports(each)))


def published_as(service: Resource) -> list[str]:
    """Return the kinds of doors by which a Service is reached from outside: by its type, by addresses of its own."""
    kind = text(service.spec.get("type"))
    return [
        *([kind] if kind in ("LoadBalancer", "NodePort") else ()),
        *(["ExternalIP"] if texts(service.spec.get("externalIPs")) else ()),
    ]


def comes_by_others(world: World, door: ResourceKey) -> bool:
    """Return whether requests may come to what is published with another address than their client's: that of a node,
    unless the Service keeps the client's, or of a pod that is the load balancer (k3s), or connects to its own node. A
    port of a container at its node keeps the client's (containernetworking/plugins, portmap: SNAT of its own node's).
    """
    if door.kind == "HostPort":
        return False
    service = world.get(ResourceKey("", "Service", door.namespace, door.name))
    kept = service is not None and service.spec.get("externalTrafficPolicy") == "Local"
    return not kept or door.kind not in _BY_NODES


def are_passed_on(simulation: Simulation, entry: ResourceKey) -> bool:
    """Return whether nodes pass clients on to pods of other nodes with their own address, as far as is to be seen."""
    from policylint.doors.hiding_entries import hiding_at

    return entry.kind not in ("HostPort", "HostNetwork") and hiding_at(simulation, entry) is not None


def is_on_node(workload: Resource) -> bool:
    """Return whether the pods of a workload are on the network of their node."""
    from policylint.topology.workloads import pod_spec

    return pod_spec(workload).get("hostNetwork") is True


def node_ports(workload: Resource) -> Iterator[tuple[Any, int]]:
    """Yield the ports of the containers of a workload that are open at its nodes, each with its number there."""
    from policylint.topology.workloads import pod_spec

    field = "containerPort" if is_on_node(workload) else "hostPort"
    for container in map(mapping, sequence(pod_spec(workload).get("containers"))):
        for port in map(mapping, sequence(container.get("ports"))):
            number = port.get(field)
            if isinstance(number, int) and number and not text(port.get("hostIP")).startswith(("127.", "::1")):
                yield port, number


def _opened(simulation: Simulation) -> Simulation:
    from policylint.doors.contour import contour_doors
    from policylint.doors.ingress import ingress_doors
    from policylint.doors.istio import istio_doors
    from policylint.doors.istio_mesh import mesh_doors
    from policylint.doors.nginx_servers import server_doors
    from policylint.doors.openshift import openshift_doors
    from policylint.doors.published import published
    from policylint.doors.streams import stream_doors
    from policylint.doors.traefik import traefik_doors
    from policylint.doors.vendors import guards
    from policylint.policy.bindings import for_clients, of_filters
    from policylint.policy.results import PolicyState, Target
    from policylint.topology.backends import Backends
    from policylint.topology.grants import Grants

    # What the API server refuses is no way in, as it is no Gateway's: the topology has left it out.
    world, catalog = simulation.topology.world, simulation.catalog
    grants = Grants(world)
    read = Backends(world, grants, catalog.knows_group).of_route
    found = [*ingress_doors(world, read), *openshift_doors(world, read), *published(world, read)]
    found += [*istio_doors(world, read, simulation.policies), *traefik_doors(world, read), *contour_doors(world, read)]
    found += [*server_doors(world, read), *stream_doors(world, read), *mesh_doors(world, read)]
    opened = copy(simulation)
    opened.kept_network_policies = simulation.network_policies if world.once(has_policies) else None  # read once
    opened.topology = simulation.topology.opened(
        [each.state for each in found if each.state is not None],
        [route for each in found for route in each.routes],
        {key: route for each in reversed(found) for key, route in each.whole.items()},
    )
    opened.groups = [*simulation.groups, *(group for each in found for group in each.groups)]
    named = (of_filters(route.route, world, catalog, grants) for each in found for route in each.whole.values())
    opened.bindings = tuple(for_clients([*simulation.bindings, *chain.from_iterable(named)], world, catalog, grants))
    opened.policies = dict(simulation.policies)
    for each in found:
        for key, policy in each.policies.items():
            if key in opened.policies:
                continue
            state = PolicyState(policy, guards())
            state.groups = [group for group in each.groups if key in group.effective.owners.values()]
            nodes = tuple(dict.fromkeys(node for group in state.groups for node in group.nodes))
            state.targets = (Target(("metadata", "name"), key, nodes=nodes),)
            state.verdict = "Enforced"
            opened.policies[key] = state
    opened.kept_doors = opened
    # they may have been asked for without doors
    opened.kept_acting = opened.kept_clients = opened.kept_hops = opened.kept_meshes = None
    return opened


__all__ = [
    "DOORS",
    "DOOR_GUARDS",
    "PUBLISHED",
    "are_passed_on",
    "comes_by_others",
    "is_door",
    "is_inside",
    "is_on_node",
    "node_ports",
    "proxies",
    "published_as",
    "with_doors",
]
