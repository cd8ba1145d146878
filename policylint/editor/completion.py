"""What may stand at a place: objects that are there, sections of them, kinds, and what the schema of the kind knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from policylint.catalog.content import content_of
from policylint.catalog.kinds import load_catalog
from policylint.editor.references import MEANT, SECTIONS
from policylint.editor.surroundings import Surroundings
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Resource, mapping, sequence, text
from policylint.model.policy_kind import PolicyKind
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.report.kit.display import place as place_of
from policylint.schema.known import shipped_schema
from policylint.simulation import Simulation

Sort = Literal["object", "section", "kind", "value", "field"]
_TARGETS: Final = ("targetRef", "targetRefs", "targetSelectors")
_PARENTS: Final = ((GATEWAY_GROUP, "Gateway"), (GATEWAY_GROUP, "ListenerSet"), ("", "Service"))
_OWN_KINDS: Final = ("Gateway", "GatewayClass", "ListenerSet", "ReferenceGrant", *ROUTE_KINDS)
_NAMED: Final = 20
"""Objects that the documentation of a value lists at most."""


class Offer(NamedTuple):
    """One thing that may be written.

    Args:
        detail: in a few words what it is.
        about: more of it, in sentences; "" for no more.
    """

    sort: Sort
    word: str
    detail: str = ""
    about: str = ""


def offers(place: Surroundings, simulations: Iterable[Simulation]) -> list[Offer]:
    """Return what may stand at a place, the likeliest first, each once."""
    first, *others = simulations
    found: dict[str, Offer] = {}
    for simulation in (first, *others):
        for offer in _offers(place, simulation):
            if offer.word not in place.siblings or offer.sort != "field":
                found.setdefault(offer.word, offer)
    return list(found.values())


def _offers(place: Surroundings, simulation: Simulation) -> Iterator[Offer]:
    schema = _schema(place)
    if not place.key:
        yield from _fields(schema, _policy_kind(place, simulation))
        return
    holder = place.path[-1] if place.path else ""
    kinds = _kinds(place, simulation, holder)
    if place.path == ("spec",) and place.key == "gatewayClassName":
        for resource in _objects(simulation, [(GATEWAY_GROUP, "GatewayClass")], ""):
            yield Offer("object", resource.key.name, text(resource.spec.get("controllerName")))
    elif not place.path and place.key == "kind":
        yield from _top_kinds()
    elif kinds and place.key == "name":
        namespace = _namespace(place, simulation)
        for resource in _objects(simulation, kinds, namespace):
            yield Offer("object", resource.key.name, str(resource.key), place_of(resource.name_location))
    elif kinds and place.key == "namespace":
        named = place.siblings.get("name")
        for resource in _objects(simulation, kinds, None):
            if resource.key.namespace and (not named or resource.key.name == named):
                yield Offer("object", resource.key.namespace, str(resource.key))
    elif kinds and place.key == "kind":
        for group, kind in kinds:
            yield Offer("kind", kind, group or "core")
    elif kinds and place.key == "group":
        wanted = place.siblings.get("kind")
        for group, kind in kinds:
            if group and wanted in (None, "", kind):
                yield Offer("value", group, kind)
    elif kinds and place.key in ("sectionName", "port"):
        name, namespace = place.siblings.get("name"), _namespace(place, simulation)
        for resource in _objects(simulation, kinds, namespace):
            if resource.key.name == name:
                yield from _sections(resource, "port" if place.key == "port" else "name")
    yield from _values(mapping(mapping(schema.get("properties")).get(place.key)))


def _kinds(place: Surroundings, simulation: Simulation, holder: str) -> list[tuple[str, str]]:
    """Return which kinds may be named at a place, by the field that holds the name and by what is said already."""
    group, kind = _identity(place.top)
    policy = simulation.catalog.get(group, kind)
    kinds: list[tuple[str, str]] = []
    if holder in _TARGETS or (policy is not None and any(holder in each.path.split(".") for each in policy.references)):
        kinds = _targeted(policy, simulation)
    elif holder in ("parentRef", "parentRefs"):
        kinds = [*_PARENTS]
    elif fields := [each for each in content_of(group, kind) if each.name == holder]:
        kinds = [one for each in fields for one in each.kinds]
    elif holder in MEANT:
        kinds = [MEANT[holder]]
    if place.key == "kind":
        return kinds
    if wanted := place.siblings.get("kind"):
        return [one for one in kinds if one[1] == wanted] or _of_kind(simulation, wanted)
    return kinds[:1] if holder in MEANT and place.key != "group" else kinds


def _targeted(policy: PolicyKind | None, simulation: Simulation) -> list[tuple[str, str]]:
    """Return the kinds that a policy may target; for any kind, those of Gateway API that are there."""
    targets = policy.targets if policy is not None else ()
    kinds = [(each.group, each.kind) for each in targets if "*" not in (each.group, each.kind)]
    if len(kinds) == len(targets) and kinds:
        return kinds
    there = {(key.group, key.kind) for key in simulation.world.resources}
    return kinds + sorted(one for one in there if one[0] == GATEWAY_GROUP or one == ("", "Service"))


def _of_kind(simulation: Simulation, kind: str) -> list[tuple[str, str]]:
    return sorted({(key.group, key.kind) for key in simulation.world.resources if key.kind == kind})


def _objects(simulation: Simulation, kinds: Iterable[tuple[str, str]], namespace: str | None) -> Iterator[Resource]:
    """Yield the objects of some kinds: of a namespace and of the cluster, of all namespaces where it is None."""
    wanted = list(kinds)
    for resource in sorted(simulation.world.resources.values(), key=lambda one: one.key):
        key = resource.key
        if (key.group, key.kind) in wanted and (namespace is None or key.namespace in ("", namespace)):
            yield resource


def _namespace(place: Surroundings, simulation: Simulation) -> str | None:
    """Return the namespace in which a name is looked up; None where that is not known."""
    stated = place.siblings.get("namespace") or place.top.get("metadata.namespace")
    if stated:
        return stated
    group, kind = _identity(place.top)
    name = place.top.get("metadata.name")
    return next(
        (key.namespace for key in simulation.world.resources if (key.group, key.kind, key.name) == (group, kind, name)),
        None,
    )


def _sections(resource: Resource, field: str) -> Iterator[Offer]:
    """Yield the listeners, rules or ports of an object, by name or number."""
    for holder in SECTIONS:
        for entry in map(mapping, sequence(resource.spec.get(holder))):
            if (word := str(entry.get(field) or "")) and not isinstance(entry.get(field), (dict, list)):
                told = [f"{name}: {entry[name]}" for name in ("port", "protocol", "hostname") if name in entry]
                yield Offer("section", word, ", ".join(told), f"{holder[:-1]} of {resource.key}")


def _top_kinds() -> Iterator[Offer]:
    for kind in _OWN_KINDS:
        yield Offer("kind", kind, GATEWAY_GROUP)
    for policy in load_catalog().kinds():
        if policy.kind != "*":
            yield Offer("kind", policy.kind, policy.group, policy.notes)


def _identity(top: Mapping[str, str]) -> tuple[str, str]:
    return top.get("apiVersion", "").rpartition("/")[0], top.get("kind", "")


def _policy_kind(place: Surroundings, simulation: Simulation) -> PolicyKind | None:
    """Return the kind of the policy whose settings are written at a place."""
    return simulation.catalog.get(*_identity(place.top)) if place.path[:1] == ("spec",) else None


def _schema(place: Surroundings) -> Mapping[str, Any]:
    """Return the schema of the mapping around a place; an empty one where none is known."""
    group, kind = _identity(place.top)
    known = shipped_schema(group, kind, place.top.get("apiVersion", "").rpartition("/")[2])
    schema: Mapping[str, Any] = known[0].schema if known else {}
    for step in place.path:
        schema = mapping(mapping(schema.get("properties")).get(step)) or mapping(schema.get("additionalProperties"))
        while "items" in schema:
            schema = mapping(schema["items"])
    return schema


def _fields(schema: Mapping[str, Any], policy: PolicyKind | None) -> Iterator[Offer]:
    """Yield the fields of a mapping, those that must be there first."""
    required = set(sequence(schema.get("required")))
    fields = mapping(schema.get("properties"))
    for name in sorted(fields, key=lambda name: (name not in required, name)):
        field = mapping(fields[name])
        detail = f"{_type(field)}, required" if name in required else _type(field)
        yield Offer("field", name, detail, " ".join(_about(name, field, policy)))


def _type(field: Mapping[str, Any]) -> str:
    if field.get("x-kubernetes-int-or-string"):
        return "integer or string"
    items = mapping(field.get("items"))
    return f"list of {items.get('type', 'values')}s" if items else text(field.get("type")) or "any value"


def _about(name: str, field: Mapping[str, Any], policy: PolicyKind | None) -> Iterator[str]:
    """Yield sentences on a field: what it may be, and what hangs on it."""
    if policy is not None:
        for purpose in ("authentication", "authorization", "protection"):
            if name in getattr(policy.settings, purpose):
                yield f"A setting of {purpose}: its loss is reported."
        directive = policy.merge.directive
        if directive is not None and directive.field == name:
            yield "It decides how this policy is merged with others."
    if values := sequence(mapping(field.get("items")).get("enum") or field.get("enum")):
        yield f"One of {listing([str(value) for value in values], most=_NAMED)}."
    if "default" in field:
        yield f"Default: {field['default']}."
    limits = (("minimum", "At least"), ("maximum", "At most"), ("maxItems", "Entries, at most:"))
    for limit, words in (*limits, ("maxLength", "Characters, at most:")):
        if limit in field:
            yield f"{words} {field[limit]}."
    if field.get("x-experimental"):
        yield "Of the experimental channel."


def _values(field: Mapping[str, Any]) -> Iterator[Offer]:
    """Yield the values that a schema lists."""
    default = field.get("default")
    for value in sequence(field.get("enum")):
        yield Offer("value", str(value), "default" if value == default else "")
    if field.get("type") == "boolean":
        for word in ("true", "false"):
            yield Offer("value", word, "default" if str(default).lower() == word else "")


__all__ = ["Offer", "offers"]
