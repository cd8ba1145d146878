"""Objects that a wrong name may have meant: of the same kind in its namespace, or of that name elsewhere."""

from __future__ import annotations

from collections import defaultdict

from policylint.checks.kit.sections import section_names
from policylint.checks.kit.wording import Effort, Spellings, near
from policylint.model import GATEWAY_GROUP, UNKNOWN_NAMESPACE, Resource, ResourceKey, World
from policylint.model.words import listing


class Nearby:
    """The names of one world, indexed when first asked for."""

    __slots__ = ("_effort", "_guesses", "_homes", "_names", "_orphans", "_sections", "_spellings", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._effort = Effort()
        self._guesses: dict[ResourceKey, str] = {}
        self._spellings: dict[tuple[str, str, str], Spellings] = {}
        self._sections: dict[ResourceKey, tuple[list[str], Spellings]] = {}
        self._orphans: dict[tuple[str, str, str], ResourceKey] | None = None
        self._names: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._homes: dict[tuple[str, str], dict[str, list[str]]] = {}

    def name(self, key: ResourceKey) -> str:
        """Return the name of an object of that kind in that namespace that is nearly the same, "" without one."""
        if key not in self._guesses:
            self._guesses[key] = near(key.name, self.names(key))
        return self._guesses[key]

    def names(self, key: ResourceKey) -> Spellings:
        """Return the names of all objects of that kind in that namespace."""
        place = (key.group, key.kind, key.namespace)
        if place not in self._spellings:
            self._index(key)
            self._spellings[place] = Spellings(self._names[place[:2]].get(key.namespace, ()), self._effort)
        return self._spellings[place]

    def sections(self, resource: Resource) -> tuple[list[str], Spellings]:
        """Return the names of an object's sections as they are written, and for comparing."""
        if resource.key not in self._sections:
            names = section_names(resource)
            self._sections[resource.key] = names, Spellings(names, self._effort)
        return self._sections[resource.key]

    def namespaces(self, key: ResourceKey) -> list[str]:
        """Return the other namespaces that have an object of that kind and name."""
        self._index(key)
        homes = self._homes[key.group, key.kind].get(key.name, [])
        return [home for home in homes if home != key.namespace and home[:1] != UNKNOWN_NAMESPACE]

    def orphan(self, key: ResourceKey) -> Resource | None:
        """Return the object that is meant, by name and (if it has one) namespace, in a file that nothing deploys."""
        orphans = self._world.orphans
        if key in orphans:
            return orphans[key]
        if self._orphans is None:
            unplaced = sorted((other for other in orphans if other.unplaced), reverse=True)
            self._orphans = {(*other[:2], other.name): other for other in unplaced}
        meant = self._orphans.get((*key[:2], key.name))
        return None if meant is None else orphans[meant]

    def elsewhere(self, key: ResourceKey) -> str:
        """Return why a missing object probably comes from outside this tree, "" when its place is here.

        A tree without any object of a Gateway API kind leaves them to another repository, and so does one without
        any Service (or the like) in a namespace (docs/design/field-notes.md §1, need 1).
        """
        if self.orphan(key) is not None:
            return ""
        self._index(key)
        kind = (key.group, key.kind)
        if key.group == GATEWAY_GROUP:
            return "" if self._names[kind] else f"no {key.kind} is in the tree, so they come from elsewhere"
        if self._names[kind].get(key.namespace) or self.namespaces(key):
            return ""
        return f"no {key.kind} of namespace {key.namespace} is in the tree, so they come from elsewhere"

    def describe(self, key: ResourceKey) -> str:
        """Return `no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)`."""
        where = f" in namespace {key.namespace}" if key.namespace and not key.unplaced else ""
        guess, homes = self.name(key), self.namespaces(key)
        if homes:
            hint = f" (there is one in {listing(homes, most=3)})"
        else:
            hint = f' (did you mean "{guess}"?)' if guess else ""
        return f'no {key.kind} "{key.name}"{where}{hint}'

    def _index(self, key: ResourceKey) -> None:
        kind = (key.group, key.kind)
        if kind in self._names:
            return
        names: dict[str, list[str]] = defaultdict(list)
        homes: dict[str, list[str]] = defaultdict(list)
        for resource in self._world.of_kind(*kind):
            names[resource.key.namespace].append(resource.key.name)
            homes[resource.key.name].append(resource.key.namespace)
        self._names[kind], self._homes[kind] = names, homes
