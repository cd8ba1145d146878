"""What is gone while something that acts on requests goes by it: a class, parameters, an account, what makes a Secret.

No policy names it, and no request is answered by it; so no answer tells. What depends on it is found by what every
object says: a field that names an object of that kind, and what operators make of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.catalog.operators import products
from policylint.catalog.weakenings import deciding
from policylint.compare.pairing import Sides
from policylint.compare.texts import TextChanges
from policylint.documents.written import written
from policylint.doors import with_doors
from policylint.doors.peculiar import ENTRIES
from policylint.model import GATEWAY_GROUP, Finding, Location, Resource, ResourceKey, Spot, World, mapping, text
from policylint.model.kinds import DEFINITION
from policylint.model.words import count
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import EVALUATED as NETWORK_POLICIES
from policylint.patterns import Pattern
from policylint.policy.content import content_references
from policylint.render.left_over import MAKERS
from policylint.simulation import Simulation
from policylint.topology.workloads import WORKLOADS, is_workload, workloads_selected

RULE = "GWP325"
_Identity = tuple[str, str, str]
"""The kind, the namespace ("" for none) and the name of what may be named."""
_HOLDERS = frozenset({("", "ConfigMap"), ("", "Secret")})
_CONTENTS = ("data", "stringData", "binaryData")
_SLICE = ("discovery.k8s.io", "EndpointSlice")
_SERVICE = ("", "Service")
_NAMESPACE = ("", "Namespace")
_NAMED = Pattern(
    r"(?m)(?:^[ \t]+|[{,][ \t]*)names:[ \t]*(?:\{[^}]*?|\r?\n(?:[ \t]+.*\n)*?[ \t]+)\bkind:[ \t]*[\"']?(\w+)"
)
"""Where a definition says what its objects are called."""
_FARTHEST = 3
"""How many objects may lie between: an issuer, a certificate, its Secret, the Gateway."""
_MEANT = {"certificateref": "secret", "cacertificateref": "configmap", "credential": "secret"}
"""The kind that fields mean, by what they begin with, where they do not say it themselves."""


def missed_objects(sides: Sides) -> Iterator[tuple[Resource, str]]:
    """Yield the objects that are gone, or lack what they held, while something depends on them, and those that are new
    while something did already: each with that."""
    lost = dict.fromkeys(sides.pairing.removed, "is gone while {} depends on it")
    lost |= dict.fromkeys(sides.pairing.renamed, "is called otherwise now while {} depends on it")
    yield from _of_one_side(sides, lost, sides.before, sides.after)
    emptied: dict[ResourceKey, str] = {}
    for kind in _HOLDERS:
        for old, new in sides.edited(*kind):
            if missing := sorted(_entries(old) - _entries(new)):
                emptied[new.key] = f"lacks {missing[0]}, which it had, while {{}} depends on it"
    yield from _of_one_side(sides, emptied, sides.after, sides.after)
    come = dict.fromkeys(sides.pairing.added, "is new, and {} depended on it before")
    yield from _of_one_side(sides, come, sides.after, sides.before)


def _of_one_side(
    sides: Sides, keys: Mapping[ResourceKey, str], having: Simulation, lacking: Simulation
) -> Iterator[tuple[Resource, str]]:
    """Yield the objects that one side has and on which something depends on the side that lacks them.

    Args:
        keys: the objects, each with what becomes of it in words, with a place for what depends on it.
    """
    objects = {key: having.world.resources[key] for key in sorted(keys) if key in having.world.resources}
    objects = {key: each for key, each in objects.items() if not _is_route(key)}
    if not objects:
        return
    dependants = _Dependants(lacking)
    named = dependants.of(objects.values(), {key: lacking.world.get(sides.pairing.key(key)) for key in objects})
    of_pods = dict(_without_pods(objects, having, lacking, dependants))
    for key, resource in objects.items():
        says = resource.labels or resource.annotations or having is sides.before
        left = _left_in(lacking, key) if key[:2] == _NAMESPACE and says else None
        holder = named.get(key) or of_pods.get(key) or left
        kept = holder is not None and (lacking is sides.after or sides.pairing.key(holder) in having.world.resources)
        if holder is not None and kept:
            yield resource, keys[key].format(holder)


def _is_route(key: ResourceKey) -> bool:
    return key.group == GATEWAY_GROUP and key.kind.endswith("Route")


class DefinitionGone(NamedTuple):
    """A definition that is gone, and the kind whose objects go with it."""

    key: ResourceKey
    kind: tuple[str, str]
    location: Location


def definitions_gone(sides: Sides, written_before: Iterable[DefinitionGone] = ()) -> Iterator[Finding]:
    """Yield the definitions that are gone while there are objects of theirs that guard something: these go, too.

    Args:
        written_before: those that texts show (`unread_definitions`), whichever environment takes their files in.
    """
    new = any(key[:2] in MAKERS for key in sides.pairing.added)  # what installs them otherwise
    told: set[ResourceKey] = set()
    taken = {file for of in sides.before.world.entries.values() for file in of}
    for gone in (*_read(sides), *(each for each in written_before if not taken or each.location.file in taken)):
        kind, after = gone.kind, sides.after
        entry = deciding(*kind)
        held = [each for each in after.world.of_kind(*kind) if sides.before.world.get(sides.pairing.was(each.key))]
        known = after.catalog.get(*kind) is not None or kind in NETWORK_POLICIES or kind[0] == GATEWAY_GROUP
        known = known or (bool(held) and kind in _asked_of(sides.before))
        if held and gone.key not in told and (known or (entry and entry.guards)):
            told.add(gone.key)
            others = f" and {count(len(held) - 1, 'other object')} of its kind are" if held[1:] else " is"
            yield Finding(
                RULE,
                "note" if new else "warning",
                f"{held[0].key}{others} deleted with {gone.key}, which is gone",
                gone.location,
                resources=(held[0].key, gone.key, *(each.key for each in held[1:20])),
                label="with a definition all of its objects are deleted",
                environments=(after.world.name,),
            )


def _asked_of(simulation: Simulation) -> set[tuple[str, str]]:
    """Return the kinds of what requests come in by, of Gateways or not, and of what policies are about."""
    targets = (target for state in simulation.policies.values() for target in state.targets)
    nodes = (node.key[:2] for target in targets for node in target.nodes)
    return {*nodes, *(state.route.key[:2] for state in with_doors(simulation).topology.routes)}


def _read(sides: Sides) -> Iterator[DefinitionGone]:
    """Yield the definitions that are gone, of those that were read as objects."""
    for key in sorted(sides.pairing.removed):
        definition = sides.before.world.get(key) if key[:2] == DEFINITION else None
        if definition is not None:
            kind = text(definition.spec.get("group")), text(mapping(definition.spec.get("names")).get("kind"))
            yield DefinitionGone(key, kind, definition.name_location)


def unread_definitions(texts: TextChanges) -> Iterator[DefinitionGone]:
    """Yield the definitions that are gone from the files that differ: most are never read as objects."""
    kept = {name for _, _, after, _ in texts.beside for name, _, _ in _definitions(after)}
    for file, before, _, is_template in texts.beside:
        for name, kind, line in _definitions(before) if not is_template else ():
            if name not in kept and kind:
                key, group = ResourceKey(*DEFINITION, "", name), name.partition(".")[2]
                yield DefinitionGone(key, (group, kind), Location(Spot(file, line, 1)))


def _definitions(content: str) -> Iterator[tuple[str, str, int]]:
    """Yield the definitions in a text by their names, with the kind that each defines, "" where it is not found, and
    the line."""
    for each in written(content) if DEFINITION[1] in content else ():
        if (each.group, *each.kinds[:1]) == DEFINITION and each.name:
            named = _NAMED.search(each.text)
            yield each.name, named[1] if named else "", each.line


def _entries(resource: Resource) -> set[str]:
    return {str(name) for field in _CONTENTS for name in mapping(resource.body.get(field))}


def _without_pods(
    objects: Mapping[ResourceKey, Resource], having: Simulation, lacking: Simulation, dependants: _Dependants
) -> Iterator[tuple[ResourceKey, ResourceKey]]:
    """Yield the workloads and EndpointSlices without which a Service has nothing behind it, each with the Service."""
    places = {key.namespace for key in objects if key[:2] in WORKLOADS or key[:2] == _SLICE}
    for service in lacking.world.of_kind(*_SERVICE) if places else ():
        other = having.world.get(service.key)
        if other is None or service.key.namespace not in places or not dependants.matters(service):
            continue
        if not _behind(lacking.world, service):
            for key in _behind(having.world, other):
                yield key, service.key


def _behind(world: World, service: Resource) -> list[ResourceKey]:
    """Return the workloads that a Service selects, and the EndpointSlices that are of it."""
    listed = world.in_namespace(*_SLICE, service.key.namespace)
    slices = [each.key for each in listed if each.labels.get("kubernetes.io/service-name") == service.key.name]
    return [*(each.key for each in workloads_selected(world, service)), *slices]


def _left_in(side: Simulation, namespace: ResourceKey) -> ResourceKey | None:
    """Return what is left of a namespace whose requests come in, or that decides on them."""
    for state in side.topology.routes:
        if state.route.key.namespace == namespace.name:
            return state.route.key
    keys = (*side.policies, *(gateway.gateway.key for gateway in side.topology.gateways))
    return next((key for key in sorted(keys) if key.namespace == namespace.name), None)


class _Dependants:
    """What the objects of a side name, looked for by name."""

    def __init__(self, side: Simulation) -> None:
        self._side = side
        self._world = side.world
        self._used: frozenset[ResourceKey] | None = None

    def of(
        self, gone: Iterable[Resource], now: Mapping[ResourceKey, Resource | None]
    ) -> dict[ResourceKey, ResourceKey]:
        """Return for each of some objects, and what is made of them, what depends on it and acts on requests.

        Args:
            now: those that they are after a change, under another name: what is made of these is there.
        """
        found: dict[ResourceKey, ResourceKey] = {}
        seeking: dict[_Identity, list[ResourceKey]] = {}
        for each in gone:
            other = now.get(each.key)
            there = set(self._stands_for(other)) if other is not None and other.key != each.key else set()
            seeking |= {identity: [each.key] for identity in self._stands_for(each) if identity not in there}
        for _ in range(_FARTHEST):
            further: dict[_Identity, list[ResourceKey]] = {}
            for holder, identity in self._naming(seeking) if seeking else ():
                roots = [root for root in seeking[identity] if root not in found and root != holder.key]
                if not roots:
                    continue
                if self.matters(holder):
                    found.update(dict.fromkeys(roots, holder.key))
                else:
                    for inner in self._stands_for(holder):
                        further.setdefault(inner, []).extend(roots)
            seeking = further
        return found

    def matters(self, holder: Resource) -> bool:
        """Tell whether an object lets requests in, decides on them, or is where they end."""
        key = holder.key
        if key[:2] == _SERVICE or is_workload(*key[:2]):
            return key in self._ends()
        known = self._side.catalog.get(*key[:2])
        decides = key.group == GATEWAY_GROUP or key[:2] in ENTRIES or deciding(*key[:2]) is not None
        return decides or (known is not None and (key in self._side.policies or known.policy_class == "Other"))

    def _ends(self) -> frozenset[ResourceKey]:
        """Return the Services that requests are sent to, or that policies ask, and the workloads behind them."""
        if self._used is None:
            topology = with_doors(self._side).topology
            services = {backend.wanted for route in topology.routes for backend in route.backends}
            for state in self._side.policies.values():
                services |= {each.wanted for each in content_references(state.policy, self._world)}
            listed = [each for each in map(self._world.get, sorted(services)) if each is not None]
            behind = (
                each.key for one in listed if one.key[:2] == _SERVICE for each in workloads_selected(self._world, one)
            )
            self._used = frozenset({*(each.key for each in listed), *behind})
        return self._used

    def _stands_for(self, resource: Resource) -> Iterator[_Identity]:
        """Yield an object, and what its operator makes of it, but for what something else is here for."""
        key = resource.key
        yield key.kind.lower(), key.namespace, key.name
        for product in products(*key[:2]) or ():
            name = product.name(resource.body)
            made = ResourceKey(*product.kind, key.namespace, name)
            if name and self._world.get(made) is None:
                yield product.kind[1].lower(), key.namespace, name

    def _naming(self, wanted: Mapping[_Identity, Any]) -> Iterator[tuple[Resource, _Identity]]:
        names = {name for _, _, name in wanted}
        kinds = {(kind, name): namespace for kind, namespace, name in wanted}
        for holder in self._world.resources.values():
            for reference in content_references(holder, self._world):
                identity = (reference.wanted.kind.lower(), reference.wanted.namespace, reference.wanted.name)
                if identity in wanted:
                    yield holder, identity
            for field, kind, namespace, name in _mentions(holder, names):
                for (of_kind, of_name), place in kinds.items():
                    if name != of_name or not (kind == of_kind if kind else _means(field, of_kind)):
                        continue
                    if not place or place == (namespace or holder.key.namespace or place):
                        yield holder, (of_kind, place, name)


def _mentions(holder: Resource, names: set[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield where an object says one of some names: the field, and the kind and namespace stated with it, or ""."""
    stack: list[tuple[str, Any]] = [(str(field), value) for field, value in holder.body.items() if field != "metadata"]
    stack += [(str(field), value) for field, value in holder.annotations.items()]
    while stack:
        field, value = stack.pop()
        if isinstance(value, dict):
            if isinstance(name := value.get("name"), str) and name in names:
                yield field, text(value.get("kind")).lower(), text(value.get("namespace")), name
            stack += [(str(inner), each) for inner, each in value.items() if inner not in ("name", "namespace")]
        elif isinstance(value, list):
            stack += [(field, each) for each in value]
        elif isinstance(value, str) and value in names:
            yield field, "", "", value


def _means(field: str, kind: str) -> bool:
    """Tell whether a field is one that names objects of a kind: `gatewayClassName`, `secretRef`, `cluster-issuer`."""
    plain = field.rpartition("/")[2].replace("-", "").replace("_", "").lower().removesuffix("s")
    meant = next((means for begins, means in _MEANT.items() if plain.startswith(begins)), "")
    of_field = plain.removesuffix("name").removesuffix("ref").removesuffix("key").removesuffix("ref")
    return kind in (meant, of_field) or (kind in ("configmap", "secret") and of_field.endswith(kind))


__all__ = ["DefinitionGone", "definitions_gone", "missed_objects", "unread_definitions"]
