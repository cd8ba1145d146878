"""Which meshes an environment has, and whether a workload is in one: for whoever asks, the same answer.

A mesh is in the environment where a policy of it is, where a Namespace or a pod is made part of it, or where something
is that its proxies alone read (`enrols` of the catalog). That something is kept out of a mesh says nothing: charts
write that for whoever has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from policylint.catalog.kinds import Catalog
from policylint.implementations import Implementation, implementation
from policylint.model import GATEWAY_GROUP, Resource, World, mapping, text
from policylint.model.kinds import WORKLOADS
from policylint.model.ternary import some
from policylint.topology import Topology
from policylint.topology.ancestry import implementation_of

if TYPE_CHECKING:
    from policylint.network.endpoints import Endpoint
    from policylint.network.meshes import Tunnel
    from policylint.policy.results import Group

_KEPT_OUT = ("", "disabled", "false", "none")


class Meshes:
    """The meshes of an environment.

    Attributes:
        all: those that workloads may be in, by name.
    """

    def __init__(self, world: World, catalog: Catalog, topology: Topology, groups: Sequence[Group] = ()) -> None:
        self._world, self._catalog, self._topology, self._groups = world, catalog, topology, groups
        kinds = (catalog.get(group, name) for group, name in world.kinds())
        names = {kind.implementation for kind in kinds if kind is not None} & catalog.meshes
        if names != catalog.meshes:
            names.update(catalog.meshes_told({*map("/".join, world.kinds()), *_enrolments(world)}))
        self.all = [self._behaviour(name) for name in sorted(names)]

    @cached_property
    def groups(self) -> list[tuple[Implementation, list[Group]]]:
        """The meshes, each with its effective policies."""
        return [
            (mesh, [group for group in self._groups if group.kind.implementation == mesh.name]) for mesh in self.all
        ]

    @cached_property
    def routing(self) -> list[Implementation]:
        """Those that may say which routes the requests of workloads meet: these, those that serve Gateways, and those
        whose own routes are of Services."""
        served = {implementation_of(gateway, self._catalog) for gateway in self._topology.gateways}
        for state in self._topology.routes:
            if any(parent.mesh for parent in state.parents):
                served.add(self._catalog.owner(state.route.key.group))
        more = (served & self._catalog.meshes) - {mesh.name for mesh in self.all}
        return self.all + [self._behaviour(name) for name in sorted(filter(None, more))]

    @cached_property
    def relayed(self) -> bool:
        """Whether requests that a route of a Service takes come from a proxy of the nodes, and not from the client."""
        classes = self._world.of_kind(GATEWAY_GROUP, "GatewayClass") if not self.all else ()
        served = {self._catalog.implementation_of_controller(text(each.spec.get("controllerName"))) for each in classes}
        return any(self._behaviour(name).relays for name in served - {None, ""} if name)

    def proxied(self, workload: Resource) -> bool | None:
        """Return whether the pods of a workload are in a mesh; None where it is not known."""
        return some(mesh.proxied(workload, self._world) for mesh in self.all) if self.all else None

    def tunnel(self, source: Endpoint, target: Endpoint) -> Tunnel | None:
        """Return the tunnel that a TCP connection between two ends may go through, None where none is known of."""
        tunnels = (mesh.tunnel(source, target, self._world) for mesh in self.all) if source.is_pod else ()
        return next((tunnel for tunnel in tunnels if tunnel is not None), None)

    def encrypts(
        self, source: Endpoint, target: Endpoint, service: Resource, ports: tuple[int | None, int | None]
    ) -> str:
        """Return why what an end sends to the pods of a Service is certainly encrypted, "" where it may not be.

        Args:
            ports: the one that is asked for, and that of the pods.
        """
        told = (mesh.encrypted(source, target, service, ports, groups, self._world) for mesh, groups in self.groups)
        return next(filter(None, told), "")

    def _behaviour(self, name: str) -> Implementation:
        return implementation(name, self._catalog.settings(name))


def _enrolments(world: World) -> Iterator[str]:
    """Yield the labels and annotations of Namespaces and pods that have a value which does not keep them out."""
    told: list[Mapping[str, Any]] = []
    for namespace in world.of_kind("", "Namespace"):
        told += (namespace.labels, namespace.annotations)
    for kind in WORKLOADS:
        for workload in world.of_kind(*kind):
            from policylint.topology.workloads import pod_template

            metadata = mapping(pod_template(workload).get("metadata"))
            told += (mapping(metadata.get("labels")), mapping(metadata.get("annotations")))
    for entries in told:
        yield from (str(name) for name, value in entries.items() if str(value).lower() not in _KEPT_OUT)
