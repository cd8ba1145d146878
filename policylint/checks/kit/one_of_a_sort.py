"""Objects that a Service names and that do not act on requests of a route, as it names one of the same sort."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.model.kinds import INGRESS
from policylint.namedtuple import NamedTuple
from policylint.policy.bindings import ObjectBinding, superseded
from policylint.simulation import Simulation


class Displaced(NamedTuple):
    """An object that a Service names and that does not act on the requests of a route.

    Args:
        annotation: that of the Service which names it.
        by: the one that acts in its place.
        of: the route, or the Ingress.
    """

    lost: ResourceKey
    service: Resource
    annotation: str
    by: ResourceKey
    of: ResourceKey


def displaced(simulation: Simulation) -> Iterator[Displaced]:
    """Yield what routes and Ingresses keep from acting that their Services name."""
    named: dict[ResourceKey, list[ObjectBinding]] = defaultdict(list)
    for binding in simulation.unevaluated:
        if binding.form == "annotation" and binding.kind is not None and binding.kind.says:
            named[binding.holder.key].append(binding)
    for route in simulation.topology.routes if named else ():
        own = named.get(route.route.key, ())
        for backend in dict.fromkeys(backend.wanted for backend in route.backends) if own else ():
            of_service = named.get(backend, ())
            lost = superseded((*own, *of_service))
            for each in of_service:
                by = lost.get(each.wanted)
                if by is not None and by in own:
                    annotation = str(each.pointer[-1])
                    yield Displaced(each.wanted, each.holder, annotation, by.wanted, route.route.key)
    if named and any(simulation.world.of_kind(*INGRESS)):
        yield from _at_ingresses(simulation)


def _at_ingresses(simulation: Simulation) -> Iterator[Displaced]:
    from policylint.doors.annotations import served
    from policylint.doors.extensions import overruled as beside

    for ingress, vendor, certain in served(simulation.world):
        for name in _services(ingress) if certain else ():
            service = simulation.world.get(ResourceKey("", "Service", ingress.key.namespace, name))
            for lost, by in beside(simulation.world, vendor, ingress, service) if service is not None else ():
                annotation = f"{vendor.prefix}{text(vendor.extensions.get('annotation'))}"
                if service is not None:
                    yield Displaced(lost.key, service, annotation, by.key, ingress.key)


def _services(ingress: Resource) -> Iterator[str]:
    """Yield the names of the Services of an Ingress, each once."""
    backends = [ingress.spec.get("defaultBackend")]
    for rule in map(mapping, sequence(ingress.spec.get("rules"))):
        backends += [mapping(path).get("backend") for path in sequence(mapping(rule.get("http")).get("paths"))]
    names = (text(mapping(mapping(backend).get("service")).get("name")) for backend in backends)
    yield from filter(None, dict.fromkeys(names))
