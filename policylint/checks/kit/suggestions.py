"""Objects that a wrong name may have meant: of the same kind in its namespace, or of that name elsewhere."""

from __future__ import annotations

from collections import defaultdict

from policylint.checks.kit.sections import section_names
from policylint.checks.kit.wording import Effort, Spellings, near
from policylint.documents import Document
from policylint.model import UNKNOWN_NAMESPACE, Resource, ResourceKey, World
from policylint.model.resource import value_at
from policylint.model.words import listing


class Nearby:
    """The names of one world, indexed when first asked for."""

    __slots__ = ("_effort", "_guesses", "_homes", "_names", "_sections", "_spellings", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._effort = Effort()
        self._guesses: dict[ResourceKey, str] = {}
        self._spellings: dict[tuple[str, str, str], Spellings] = {}
        self._sections: dict[ResourceKey, tuple[list[str], Spellings]] = {}
        self._names: dict[tuple[str, str], dict[str, list[str]]] = {}
        self._homes: dict[tuple[str, str], dict[str, list[str]]] = {}

    def name(self, key: ResourceKey) -> str:
        """Return the name of an object of that kind in that namespace that is nearly the same, "" without one.

        Where a file has the very object, and nothing deploys that file or kustomize renames it, the name is right.
        """
        if key not in self._guesses:
            right = self._world.orphan(key) or self._renamed(key)
            self._guesses[key] = "" if right else near(key.name, self.names(key))
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
        """Return the other namespaces that have an object of that kind and name, where none of it was meant here."""
        if self._renamed(key):
            return []
        self._index(key)
        homes = self._homes[key.group, key.kind].get(key.name, [])
        return [home for home in homes if home != key.namespace and home[:1] != UNKNOWN_NAMESPACE]

    def is_shown(self, key: ResourceKey) -> bool:
        """Return whether the tree shows what a name meant: its object, not deployed or elsewhere, or one like it."""
        return bool(self._world.is_near(key) or self.name(key) or self.namespaces(key))

    def elsewhere(self, key: ResourceKey) -> str:
        """Return why an object of no kind that others make may come from outside this tree; as `World.elsewhere`."""
        return self._world.elsewhere(key) if self._world.resolve(key).missing else ""

    def describe(self, key: ResourceKey) -> str:
        """Return `no HTTPRoute "chekout" in namespace shop (did you mean "checkout"?)`."""
        orphan = self._world.orphan(key)
        if orphan is not None:
            return f"nothing deploys {orphan.document.file}, which has it"
        where = f" in namespace {key.namespace}" if key.namespace and not key.unplaced else ""
        guess, homes, renamed = self.name(key), self.namespaces(key), self._renamed(key)
        if renamed:
            hint = f' (kustomize renames it to "{renamed}" and leaves this reference as it is)'
        elif homes:
            hint = f" (there is one in {listing(homes, most=3)})"
        elif siblings := self._world.siblings(key):
            hint = f" ({siblings[0]} is there)"
        else:
            hint = f' (did you mean "{guess}"?)' if guess else ""
        return f'no {key.kind} "{key.name}"{where}{hint}'

    def _renamed(self, key: ResourceKey) -> str:
        """Return the name that kustomize gives the object of this name, "" where it renames none there.

        Source: kustomize api/internal/konfig/builtinpluginconsts/namereference.go: routes and policies are not in it.
        """
        if self._world.plain:
            return ""
        for resource in self._world.in_namespace(key.group, key.kind, key.namespace):
            document = resource.document
            if key.name in resource.key.name and isinstance(document, Document):
                written = value_at(document.value, (*resource.root, "metadata", "name"))
                if written == key.name:
                    return resource.key.name
        return ""

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
