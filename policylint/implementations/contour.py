"""Contour: its Envoy answers preflights of the origins that are allowed, and lets all others go on.

Source: internal/envoy/v3/listener.go, DefaultFilters; Envoy's filter `cors`, forward_not_matching_preflights;
internal/dag/accessors.go, upstreamProtocol (`appProtocol`, else the annotations of the Service), and
internal/envoy/v3/auth.go, UpstreamTLSContext (without an authority and a name nothing is verified); accessors.go,
validateExternalName (Services of type ExternalName are off where its configuration does not have them).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from policylint.documents import Pointer
from policylint.implementations.generic import Implementation
from policylint.implementations.generic.configuration import named_only
from policylint.implementations.generic.sessions import BackendSession, port_of_service
from policylint.model import Resource, ResourceKey, World, text

if TYPE_CHECKING:
    from policylint.topology import RouteState, Topology
    from policylint.topology.workloads import Labels

_ENCRYPTED = ("projectcontour.io/upstream-protocol.tls", "projectcontour.io/upstream-protocol.h2")


class Contour(Implementation):
    """Requests are otherwise as its doors have them."""

    name = "contour"
    upgrades_outlast = True
    preflights = 200, False

    def backend_faults(self, route: RouteState, topology: Topology) -> Mapping[Pointer, tuple[str, str]]:
        """Return the backendRefs to Services that are names, where Contour is told of none."""
        faults = {}
        for backend in route.backends:
            why, is_certain = named_only(backend.resolution.resource, topology.world, self.name, "Contour")
            if is_certain and not backend.reason:
                faults[backend.pointer] = ("BackendNotFound", why)
        return faults

    def session(
        self,
        backend: ResourceKey,
        port: int | None,
        caller: Resource | None,  # noqa: ARG002
        world: World,
        stated: BackendSession | None,
        labels: Labels = (),  # noqa: ARG002
    ) -> BackendSession | None:
        service = world.get(backend)
        entry = port_of_service(service, port)
        if stated is not None or service is None or not entry:
            return stated
        if spoken := text(entry.get("appProtocol")):
            place = ("spec", "ports", service.spec["ports"].index(entry), "appProtocol")
            return BackendSession("unverified", "", service, place) if spoken == "https" else BackendSession("plain")
        for name in _ENCRYPTED:
            ports = {each.strip() for each in text(service.annotations.get(name)).split(",")}
            if not ports.isdisjoint({text(entry.get("name")) or str(port), str(port)}):
                return BackendSession("unverified", "", service, ("metadata", "annotations", name))
        return BackendSession("plain")
