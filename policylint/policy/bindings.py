"""Objects that others name: filters of routes, annotations, parameters of classes and Gateways.

The catalog says which kinds are bound so (`boundBy`), and by which annotation. Each binding is found, missing or
unknown; most of the kinds have no evaluator, and reports name them instead of passing over them.

Source: GEP-713 «Gateway API support for extensions»; HTTPRouteFilter.extensionRef; GatewayClassSpec.parametersRef.
"""

from __future__ import annotations

from collections import Counter
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
    sequence,
    text,
    value_at,
)
from policylint.model.kinds import CLASSES
from policylint.namedtuple import NamedTuple
from policylint.policy.units import at_path
from policylint.topology import Topology, whole
from policylint.topology.extensions import extensions
from policylint.topology.grants import Grants
from policylint.topology.routes import rules

_MOST_MEMBERS = 64
_SERVICE = ("", "Service")
_ELSEWHERE = "configFrom"
"""The field of a Kong plugin whose configuration stands in a Secret: whether it lets anybody pass is not known."""
Form = Literal["filter", "annotation", "parameters", "label", "target"]


class ObjectBinding(NamedTuple):
    """One object that another one names.

    Args:
        form: what names it.
        holder: the object that does, and `pointer` where; a policy of an unknown kind itself, by its target reference.
        node: where it acts: a rule, a route, a Service, a Gateway, a GatewayClass.
        kind: what the catalog knows of its kind, None where that is nothing.
        through: what the holder names, where that in turn names the object to run in its place.
        foreign: whether the controller at hand does not read it.
        of_some: whether it runs for some clients alone (`clients`), and `spares` whether some have another of its sort.
        closes: whether whoever does not log in is turned away as the client that stands for them.
    """

    form: Form
    holder: Resource
    pointer: Pointer
    node: Node
    wanted: ResourceKey
    kind: PolicyKind | None
    resolution: Resolution
    through: ResourceKey | None = None
    foreign: bool = False
    of_some: bool = False
    spares: bool = False
    closes: bool = False

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
            case "label":
                return f"label {self.pointer[-1]}"
            case _:
                return "filter"

    @property
    def is_of_unknown_kind(self) -> bool:
        """Return whether nobody knows what objects of its kind do: a CRD, or their shape, says where they attach."""
        return self.kind is None or self.kind.origin != "catalog"

    @property
    def is_off(self) -> bool:
        """Return whether the object is switched off, as a field says that its kind has for that."""
        resource = self.resolution.resource
        return resource is not None and self.kind is not None and is_off(resource, self.kind.off)

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
        return {} if self.kind is None else self._asks(self.kind, self.kind.settings.authentication, "authentication")

    @property
    def authorizes(self) -> dict[str, bool]:
        """Return by what the object lets requests in, as `authenticates` does."""
        return {} if self.kind is None else self._asks(self.kind, self.kind.settings.authorization, "authorization")

    @property
    def protects(self) -> dict[str, bool]:
        """Return by what the object protects backends (limits, firewalls), as `authenticates` does."""
        return {} if self.kind is None else self._asks(self.kind, self.kind.settings.protection, "protection")

    @property
    def is_read(self) -> bool:
        """Return whether all that the object asks of requests is known: something, or nothing as it is switched off."""
        asks = self.authenticates or self.authorizes or self.protects
        return self.is_off or (bool(asks) and not self.may_ask)

    @property
    def may_ask(self) -> bool:
        """Return whether nobody knows what the object asks of requests: its kind, itself or the code that it runs."""
        kind, resource = self.kind, self.resolution.resource
        if self.foreign:
            return False
        if kind is None or self.is_of_unknown_kind or self.form == "target" or self.resolution.unknown:
            return True
        if resource is None:
            return False
        if not kind.says:
            from policylint.policy.asking import unread

            return any(True for _ in unread(kind, resource.spec, [resource.spec]))
        if _ELSEWHERE in resource.body:
            return True
        settings = kind.settings
        known = (*settings.authentication, *settings.authorization, *settings.protection, *settings.plain)
        said = f"{kind.says}={text(resource.body.get(kind.says))}"
        return f"{kind.says}=*" in settings.code and said not in known and not self.is_off

    def _asks(self, kind: PolicyKind, settings: Sequence[str], purpose: str) -> dict[str, bool]:
        resource = self.resolution.resource
        if resource is None:
            return {}
        from policylint.policy.asking import is_weak

        spec: Mapping[str, Any] = resource.body if kind.says else resource.spec
        if self.is_off:
            return {}
        named = []
        for field, _, value in (entry.partition("=") for entry in settings):
            written = [unit.value for unit in at_path(spec, field)]
            named += [value or field] if written and (not value or value in map(text, written)) else []
        optional = _ELSEWHERE in spec or self.of_some or (self.spares and purpose == "authorization")
        optional = optional or any(
            weak.opens == purpose and not self.closes and is_weak(weak, spec) for weak in kind.weaker
        )
        return dict.fromkeys(named, not optional)


def is_off(resource: Resource, field: str) -> bool:
    """Return whether an object is switched off by the field that its kind has for that (`switchedOff`), "" for none."""
    return bool(field) and resource.body.get(field) is True


def as_read(binding: ObjectBinding, controller: str | None, catalog: Catalog) -> ObjectBinding | None:
    """Return a binding as a controller reads it (None: it is not known), None where it does not.

    Annotations that it does not read are nothing, and what it makes of a filter that it does not know is not known.
    """
    if binding.kind is None or catalog.reads(controller, binding.kind):
        return binding
    if binding.form in ("annotation", "label"):
        return None
    resolution = Resolution("unknown", f"{controller} does not read {binding.kind}")
    return binding._replace(resolution=resolution, foreign=True)


def superseded(named: Sequence[ObjectBinding]) -> dict[ResourceKey, ObjectBinding]:
    """Return the objects named on one way that another one keeps from running, and which binding does.

    Where the kind says so by a field (Kong's `plugin`), one of each sort runs, and that of a route before that of a
    Service, which runs before one that acts everywhere (developer.konghq.com/gateway/entities/plugin, «Plugin
    precedence»).
    """
    first: dict[tuple[str, str], ObjectBinding] = {}
    beaten: dict[ResourceKey, ObjectBinding] = {}
    for binding in sorted(named, key=lambda binding: (binding.form == "label", binding.holder.key[:2] == _SERVICE)):
        acts = binding.resolution.found and not binding.of_some and not binding.is_off
        if binding.kind is None or not binding.kind.says or not acts:
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
        found += of_filters(state.route, world, catalog, grants)
        found += _annotated(state.route, world, catalog, grants)
    for service in world.of_kind("", "Service"):
        found += _annotated(service, world, catalog, grants)
    for group, name in world.kinds():
        kind = catalog.get(group, name)
        if kind is not None and kind.everywhere:
            found += _everywhere(kind, topology, catalog)
        for client in () if kind is None or kind.clients is None else kind.clients.kinds:
            for holder in world.of_kind(group, client):  # what is there acts by way of a route: see `narrowed`
                named = _annotated(holder, world, catalog, grants)
                found += (each for each in named if each.kind is kind and not each.resolution.found)
    return for_clients(found, world, catalog, grants)


def for_clients(found: list[ObjectBinding], world: World, catalog: Catalog, grants: Grants) -> list[ObjectBinding]:
    """Return bindings with what the objects name that stand for clients."""
    if any(binding.kind is not None and binding.kind.clients is not None for binding in found):
        from policylint.policy.clients import narrowed

        return list(narrowed(found, world, catalog, lambda client: _annotated(client, world, catalog, grants)))
    return found


def _everywhere(kind: PolicyKind, topology: Topology, catalog: Catalog) -> Iterator[ObjectBinding]:
    """Yield the objects of a kind that act on all Gateways whose controller reads it: by label, one of a sort."""
    named = topology.world.of_kind(kind.group, kind.kind)
    chosen = [each for each in named if kind.everywhere.items() <= each.labels.items()]
    sorts = Counter(text(resource.body.get(kind.says)) for resource in chosen)
    for gateway in topology.gateways:
        if not catalog.reads(catalog.implementation_of_controller(gateway.controller), kind):
            continue
        for resource in chosen:
            if sorts[text(resource.body.get(kind.says))] == 1:
                pointer: Pointer = ("metadata", "labels", next(iter(kind.everywhere)))
                resolution = _as_read(kind, Resolution("found", "", resource))
                node = whole(gateway.gateway.key)
                yield ObjectBinding("label", resource, pointer, node, resource.key, kind, resolution)


def _as_read(kind: PolicyKind, resolution: Resolution) -> Resolution:
    """Return a resolution, unknown where the object lacks the annotation with which its controller surely reads it."""
    resource = resolution.resource
    if resource is None or names_reader(resource, kind.read_with):
        return resolution
    return Resolution("unknown", f"without annotation {kind.read_with} it is read only where its class is the default")


def names_reader(resource: Resource, read_with: str) -> bool:
    """Return whether an object says whose it is, where controllers ask for that; one that does not is read only where
    the class of its controller is the default of the cluster.

    Args:
        read_with: the annotation with the class, "" for a kind that is read without one.
    """
    named = not read_with or resource.annotations.get(read_with) or resource.spec.get("controlPlaneRef")
    return bool(named)


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


def of_filters(route: Resource, world: World, catalog: Catalog, grants: Grants) -> Iterator[ObjectBinding]:
    """Yield what the ExtensionRef filters of a route name: those of its rules, and of their backendRefs.

    A name that an annotation might hold as well is looked up like one.
    """
    nodes = {rule.number: rule.node for rule in rules(route)}
    for pointer, wanted, resolution in extensions(world, route):
        node, kind = nodes[int(pointer[2])], catalog.get(wanted.group, wanted.kind)
        if kind is not None and kind.annotation and not resolution.found:
            kind, wanted, resolution = _named(
                route, wanted.name, list(catalog.bound_by(kind.annotation)), world, grants
            )
        binding = ObjectBinding("filter", route, pointer, node, wanted, kind, resolution)
        yield binding
        yield from _members(binding, world, {wanted})


def _members(binding: ObjectBinding, world: World, seen: set[ResourceKey]) -> Iterator[ObjectBinding]:
    """Yield the objects that run in place of one that a filter names, and those in theirs."""
    resource, kind = binding.resolution.resource, binding.kind
    if resource is None or kind is None or not kind.members:
        return
    for entry in map(mapping, sequence(value_at(resource.spec, tuple(kind.members.split("."))))):
        namespace = text(entry.get("namespace")) or resource.key.namespace
        wanted = ResourceKey(kind.group, kind.kind, namespace, text(entry.get("name")))
        if wanted.name and wanted not in seen and len(seen) < _MOST_MEMBERS:
            seen.add(wanted)
            through = binding.through or binding.wanted
            resolution = world.resolve_inner(wanted)
            if "@" in wanted.name:  # no name of Kubernetes: Traefik has objects of other providers, `auth@file`
                resolution = Resolution("unknown", f"{wanted.name} comes from another provider")
            member = binding._replace(wanted=wanted, resolution=resolution, through=through)
            yield member
            yield from _members(member, world, seen)


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
    """Return the object that an entry of an annotation names: the first kind of which there is one counts.

    Where others of the first kind are in the namespace, a kind for all of them explains nothing if the tree has none of
    it: it deploys the class, and so what whoever runs the controller deploys.
    """
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
            return kind, wanted, _as_read(kind, resolution)
        candidates.append((kind, wanted, resolution))
    kind, wanted, resolution = candidates[0]
    unknown = next((other for _, key, other in candidates if other.unknown and not is_idle(world, key)), None)
    if unknown is None and not resolution.missing:
        unknown = resolution
    return kind, wanted, unknown or resolution


def is_idle(world: World, key: ResourceKey) -> bool:
    """Return whether an object of a cluster-scoped kind would be here, if there were one, and none of the kind is."""
    has_class = any(world.of_kind(*kind) for kind in CLASSES)
    return has_class and not key.namespace and world.resolve(key).missing and not world.of_kind(*key[:2])
