"""What an implementation supports of routes, as its catalog file states it (`filters`, `alike`), what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policylint.catalog.kinds import Catalog
from policylint.implementations.generic import Implementation
from policylint.model import Resource, ResourceKey, World, mapping, sequence, text

_EXTENSION = "ExtensionRef"


def unsupported_filters(
    kind: str, rule: Mapping[str, Any], implementation: str, catalog: Catalog
) -> Iterator[tuple[int, str]]:
    """Yield the filters of a rule of a route that its controller does not support, each with its number among them.

    Nothing where that is not known of the kind of routes or of the controller.
    """
    supported = catalog.limits(implementation).filters
    if kind != "HTTPRoute" or not supported or "filters" not in rule:
        return
    for number, filter_ in enumerate(map(mapping, sequence(rule.get("filters")))):
        name, reference = text(filter_.get("type")), mapping(filter_.get("extensionRef"))
        named = catalog.get(text(reference.get("group")), text(reference.get("kind")))
        if name and name not in supported:
            yield number, name
        elif name == _EXTENSION and reference and (named is None or not catalog.reads(implementation, named)):
            yield number, f"of kind {text(reference.get('kind'))}"


def unserved(
    route: Resource,
    rule: Mapping[str, Any],
    services: Sequence[ResourceKey],
    behaviour: Implementation,
    catalog: Catalog,
    world: World,
) -> Iterator[tuple[int, str]]:
    """Yield how a controller answers the requests of a rule that it does not serve as it is written, and why.

    With 404 it makes nothing of the rule: another one that fits takes its requests.

    Args:
        services: those that the rule sends requests to.
    """
    name = behaviour.name
    if refused := behaviour.refuses(route):
        yield 404, f"{name} does not accept {route.key}: {refused}"
    for _, unsupported in unsupported_filters(route.key.kind, rule, name, catalog):
        yield catalog.limits(name).unsupported, f"{name} supports no filter {unsupported}"
    alike = catalog.limits(name).alike
    if differing := _differing(services, alike, world) if alike and len(services) > 1 else "":
        yield 404, f"its Services differ in annotation {differing}, and {name} leaves the rule out"


def _differing(services: Sequence[ResourceKey], prefix: str, world: World) -> str:
    """Return the first annotation with a prefix that some of the Services lack, or have with another value."""
    seen: list[Resource] = [resource for key in services if (resource := world.get(key)) is not None]
    names = sorted({str(name) for service in seen for name in service.annotations if str(name).startswith(prefix)})
    return next((name for name in names if len({repr(service.annotations.get(name)) for service in seen}) > 1), "")
