"""Where objects of doors send requests that nothing answers: what their controllers refuse, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator

from policylint.catalog.content import places
from policylint.doors.contour import KIND as HTTP_PROXY
from policylint.doors.contour import invalid
from policylint.doors.openshift import KIND as ROUTE
from policylint.doors.traefik import KIND as INGRESS_ROUTE
from policylint.doors.traefik import unrouted
from policylint.implementations.generic.dead_ends import DeadEnd
from policylint.model import ResourceKey, World, mapping, text

_INGRESS = ("networking.k8s.io", "Ingress")
_BACKENDS = {
    _INGRESS: ("rules.*.http.paths.*.backend.service", "defaultBackend.service"),
    ROUTE: ("to", "alternateBackends.*"),
    HTTP_PROXY: ("routes.*.services.*", "tcpproxy.services.*"),
    INGRESS_ROUTE: ("routes.*.services.*",),
}
"""Where kinds name Services, in their specs."""
_BY_ANNOTATION = "use-annotation"
"""The port of a Service that is the name of an action in an annotation."""


def dead_ends(world: World) -> Iterator[DeadEnd]:
    """Yield where objects that are doors by themselves lead to nothing."""
    yield from invalid(world)
    yield from unrouted(world)
    yield from _without_service(world)


def _without_service(world: World) -> Iterator[DeadEnd]:
    for kind, paths in _BACKENDS.items():
        for resource in world.of_kind(*kind):
            told: set[ResourceKey] = set()
            for path in paths:
                for pointer, value in places(resource.spec, path, ("spec",)):
                    named = mapping(value)
                    namespace = text(named.get("namespace")) or resource.key.namespace
                    key = ResourceKey("", "Service", namespace, text(named.get("name")))
                    is_service = key.name and text(named.get("kind"), "Service") == "Service"
                    by_name = mapping(named.get("port")).get("name") == _BY_ANNOTATION
                    if (
                        not is_service
                        or by_name
                        or key in told
                        or not world.resolve(key).missing
                        or world.elsewhere(key)
                    ):
                        continue
                    told.add(key)
                    does, fix = f"sends requests to {key}, which is missing", "name a Service that is there"
                    then = "these requests are answered with 503, or with 404"
                    yield DeadEnd(resource, (*pointer, "name"), does, fix, (key,), then=then)
