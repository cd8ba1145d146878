"""Objects that others name: filters of routes, annotations, parameters of classes and Gateways.

The catalog says which kinds are bound so (`boundBy`), and by which annotation. Each binding is found, missing or
unknown; most of the kinds have no evaluator, and reports name them instead of passing over them.

Source: GEP-713 «Gateway API support for extensions»; HTTPRouteFilter.extensionRef; GatewayClassSpec.parametersRef.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from policylint.catalog.kinds import Catalog
from policylint.documents import Pointer
from policylint.model import (
    GATEWAY_GROUP,
    Node,
    PolicyKind,
    Resolution,
    Resource,
    ResourceKey,
    World,
    mapping,
    text,
    value_at,
)
from policylint.namedtuple import NamedTuple
from policylint.topology import Topology, whole
from policylint.topology.extensions import extensions
from policylint.topology.grants import Grants
from policylint.topology.routes import rules

Form = Literal["filter", "annotation", "parameters", "target"]


class ObjectBinding(NamedTuple):
    """One object that another one names.

    Args:
        form: what names it.
        holder: the object that does, and `pointer` where; a policy of an unknown kind itself, by its target reference.
        node: where it acts: a rule, a route, a Service, a Gateway, a GatewayClass.
        kind: what the catalog knows of its kind, None where that is nothing.
    """

    form: Form
    holder: Resource
    pointer: Pointer
    node: Node
    wanted: ResourceKey
    kind: PolicyKind | None
    resolution: Resolution

    @property
    def by(self) -> str:
        """Return what names it: `filter`, `annotation konghq.com/plugins`, `parametersRef`."""
        match self.form:
            case "annotation":
                return f"annotation {self.pointer[-1]}"
            case "parameters":
                return "parametersRef"
            case "target":
                return str(self.pointer[1])
            case _:
                return "filter"

    @property
    def says(self) -> str:
        """Return in short what the object does: the value of the field that tells, else the fields of its spec."""
        resource = self.resolution.resource
        if resource is None:
            return ""
        if self.kind is not None and self.kind.says:
            return text(resource.body.get(self.kind.says))
        references = self.kind.target_fields if self.kind is not None else ()
        return ", ".join(sorted(str(field) for field in resource.spec if field not in references))

    @property
    def authenticates(self) -> dict[str, bool]:
        """Return how the object authenticates clients, and for each way whether it must (`settings` and `weaker`)."""
        resource, kind = self.resolution.resource, self.kind
        if resource is None or kind is None:
            return {}
        spec: Mapping[str, Any] = resource.body if kind.says else resource.spec
        if spec.get("disabled") is True:
            return {}
        ways = (entry.partition("=") for entry in kind.settings.authentication)
        named = [value or field for field, _, value in ways if field in spec and value in ("", text(spec[field]))]
        grants = (weak.path.split(".") for weak in kind.weaker if weak.opens and weak.presence == "grants")
        optional = any(value_at(spec, tuple(steps)) is not None for steps in grants)
        return dict.fromkeys(named, not optional)


def superseded(named: Sequence[ObjectBinding]) -> dict[ResourceKey, ObjectBinding]:
    """Return the objects named on one way that another one keeps from running, and which binding does.

    Where the kind says so by a field (Kong's `plugin`), one of each sort runs, and that of a route before that of a
    Service (developer.konghq.com/gateway/entities/plugin, «Plugin precedence»).
    """
    first: dict[tuple[str, str], ObjectBinding] = {}
    beaten: dict[ResourceKey, ObjectBinding] = {}
    for binding in sorted(named, key=lambda binding: binding.holder.key[:2] == ("", "Service")):
        if binding.kind is None or not binding.kind.says or not binding.resolution.found:
            continue
        winner = first.setdefault((binding.kind.group, binding.says), binding)
        if winner.wanted != binding.wanted:
            beaten[binding.wanted] = winner
    return beaten


def bindings(topology: Topology, catalog: Catalog, grants: Grants) -> list[ObjectBinding]:
    """Return every binding of a world: of classes and Gateways, then of routes, then of Services, by name."""
    world = topology.world
    found: list[ObjectBinding] = []
    for name in ("GatewayClass", "Gateway"):
        for holder in world.of_kind(GATEWAY_GROUP, name):
            found += _parameters(holder, world, catalog)
            found += _annotated(holder, world, catalog, grants)
    for state in topology.routes:
        found += _filters(state.route, world, catalog)
        found += _annotated(state.route, world, catalog, grants)
    for service in world.of_kind("", "Service"):
        found += _annotated(service, world, catalog, grants)
    return found


def _parameters(holder: Resource, world: World, catalog: Catalog) -> Iterator[ObjectBinding]:
    """Yield the parameters of a GatewayClass, or of a Gateway (`infrastructure`)."""
    is_class = holder.key.kind == "GatewayClass"
    place: Pointer = ("spec", "parametersRef") if is_class else ("spec", "infrastructure", "parametersRef")
    body = holder.spec if is_class else mapping(holder.spec.get("infrastructure"))
    reference = mapping(body.get("parametersRef"))
    group, kind, name = (text(reference.get(field)) for field in ("group", "kind", "name"))
    if not kind or not name:
        return
    namespace = holder.key.namespace or text(reference.get("namespace"))
    wanted = ResourceKey(group, kind, namespace, name)
    yield ObjectBinding(
        "parameters", holder, place, whole(holder.key), wanted, catalog.get(group, kind), world.resolve_inner(wanted)
    )


def _filters(route: Resource, world: World, catalog: Catalog) -> Iterator[ObjectBinding]:
    """Yield what the ExtensionRef filters of a route name: those of its rules, and of their backendRefs."""
    nodes = {rule.number: rule.node for rule in rules(route)}
    for pointer, wanted, resolution in extensions(world, route):
        node, kind = nodes[int(pointer[2])], catalog.get(wanted.group, wanted.kind)
        yield ObjectBinding("filter", route, pointer, node, wanted, kind, resolution)


def _annotated(holder: Resource, world: World, catalog: Catalog, grants: Grants) -> Iterator[ObjectBinding]:
    """Yield what the annotations of an object name that the catalog knows."""
    for annotation, value in holder.annotations.items():
        kinds = [kind for kind in catalog.bound_by(str(annotation)) if kind.may_target(*holder.key[:2])]
        if not kinds or not isinstance(value, str):
            continue
        pointer: Pointer = ("metadata", "annotations", annotation)
        for name in filter(None, (entry.strip() for entry in value.split(","))):
            kind, wanted, resolution = _named(holder, name, kinds, world, grants)
            yield ObjectBinding("annotation", holder, pointer, whole(holder.key), wanted, kind, resolution)


def _named(
    holder: Resource, name: str, kinds: list[PolicyKind], world: World, grants: Grants
) -> tuple[PolicyKind, ResourceKey, Resolution]:
    """Return the object that an entry of an annotation names: the first kind of which there is one counts."""
    namespace, crosses, rest = name.rpartition(":")
    candidates = []
    for kind in kinds:
        home = "" if kind.cluster_scoped else namespace or holder.key.namespace
        wanted = ResourceKey(kind.group, kind.kind, home, rest if crosses else name)
        resolution = world.resolve_inner(wanted)
        elsewhere = world.elsewhere(wanted) if resolution.missing else ""
        resolution = Resolution("unknown", elsewhere) if elsewhere else resolution
        foreign = home not in ("", holder.key.namespace)
        if resolution.found and foreign and grants.allows(holder.key, wanted) is False:
            reason = f"no ReferenceGrant in namespace {home} lets {holder.key} name it"
            return kind, wanted, Resolution("missing", reason)
        if resolution.found:
            return kind, wanted, resolution
        candidates.append((kind, wanted, resolution))
    unknown = next((candidate for candidate in candidates if candidate[2].unknown), None)
    kind, wanted, resolution = candidates[0]
    return kind, wanted, resolution if unknown is None else unknown[2]
