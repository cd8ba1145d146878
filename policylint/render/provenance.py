"""The place of each value of a rendered object: a tree of sources that is as sparse as the changes were few.

A value that nothing changed is written where its object is; a patch, a namespace or a chart's values leave a mark at
the pointer they set. Both the body and its provenance are treated as immutable: a change copies the containers on the
way to it and shares the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policylint.documents import Document, Pointer
from policylint.load.objects import called, objects_of
from policylint.model import Resource, ResourceKey, mapping, sequence, text
from policylint.model.resource import Written

_NONE: dict[Any, Provenance] = {}


class Provenance:
    """The origin of one value, and of those parts of it that come from elsewhere.

    Args:
        document, pointer: where the value itself is written.
        children: origins of the entries that are not written at `pointer` + their own step.
    """

    __slots__ = ("children", "document", "pointer")

    def __init__(self, document: Written, pointer: Pointer = (), children: dict[Any, Provenance] = _NONE) -> None:
        self.document = document
        self.pointer = pointer
        self.children = children

    def child(self, step: str | int) -> Provenance:
        """Return the origin of an entry."""
        return self.children.get(step) or Provenance(self.document, (*self.pointer, step))

    def at(self, *pointer: str | int) -> Provenance:
        """Return the origin of a value further down."""
        origin = self
        for depth, step in enumerate(pointer):
            if not origin.children:
                return Provenance(origin.document, (*origin.pointer, *pointer[depth:]))
            origin = origin.child(step)
        return origin

    def locate(self, pointer: Pointer) -> tuple[Written, Pointer]:
        """Return the document and the pointer in it at which a value of the object is written."""
        origin = self.at(*pointer)
        return origin.document, origin.pointer

    def with_children(self, children: dict[Any, Provenance]) -> Provenance:
        """Return the same place with these entries from elsewhere, and no others."""
        return Provenance(self.document, self.pointer, children)

    def with_child(self, step: str | int, origin: Provenance) -> Provenance:
        """Return the same place with one more entry from elsewhere."""
        return self.with_children({**self.children, step: origin})

    def with_items(self, items: Iterable[Provenance]) -> Provenance:
        """Return the origin of a list with these items."""
        return self.with_children(dict(enumerate(items)))


def entries(body: Any, origin: Provenance, field: str) -> Iterator[tuple[Any, Provenance]]:
    """Yield the entries of a list field, each with its origin."""
    place = origin.child(field)
    for index, entry in enumerate(sequence(mapping(body).get(field))):
        yield entry, place.child(index)


def put(value: Any, origin: Provenance, pointer: Pointer, new: Any, source: Provenance) -> tuple[Any, Provenance]:
    """Return the value with `new` at the pointer (mappings on the way are made where missing), and its provenance.

    A step into a list must name an item that is there; otherwise, and where a scalar is in the way, nothing changes.
    """
    if not pointer:
        return new, source
    step = pointer[0]
    inner: Any = None
    place = origin.child(step)
    if isinstance(value, dict):
        inner = value.get(step)
        if not isinstance(inner, (dict, list)):
            inner, place = {} if len(pointer) > 1 else None, source
        inner, place = put(inner, place, pointer[1:], new, source)
        return {**value, step: inner}, origin.with_child(step, place)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        inner, place = put(value[step], place, pointer[1:], new, source)
        return [*value[:step], inner, *value[step + 1 :]], origin.with_child(step, place)
    return value, origin


_Told = tuple[str, str, str, str]


class Manifest:
    """One object on its way through renderers.

    Attributes:
        body, origin: the object as it is by now, and where it is written.
        names: the (namespace, name) pairs it has had before, oldest first: patches may name any of them.
        linked: pointers whose values kustomize holds as one: it changes them together.
        affixes: the prefixes and suffixes that its name was given, pairs with one of the two.
        hashed: for what a generator makes: the suffix its name will end in.
        provisional: why it may be deployed with other values: what changes it could not be applied; "" where it is
            whole.
        weight: about how many values there are in it.
    """

    __slots__ = ("_told", "affixes", "body", "hashed", "linked", "names", "origin", "provisional", "weight")

    def __init__(
        self,
        body: dict[str, Any],
        origin: Provenance,
        names: tuple[tuple[str, str], ...] = (),
        hashed: str = "",
        provisional: str = "",
        weight: int = 20,
        affixes: tuple[tuple[str, str], ...] = (),
        linked: tuple[tuple[Pointer, ...], ...] = (),
    ) -> None:
        self.affixes = affixes
        self.linked = linked
        self.body = body
        self.origin = origin
        self.names = names
        self.hashed = hashed
        self.provisional = provisional
        self.weight = weight
        self._told: tuple[Any, _Told] | None = None

    def copy(self) -> Manifest:
        """Return another one that shares everything until one of the two changes."""
        state = (self.names, self.hashed, self.provisional, self.weight, self.affixes, self.linked)
        copy = Manifest(self.body, self.origin, *state)
        copy._told = self._told
        return copy

    @property
    def told(self) -> _Told:
        """What the object is called: apiVersion, kind, namespace as written, and name."""
        told = self._told
        if told is None or told[0] is not self.body:  # a body is never changed, only replaced
            body, metadata = self.body, mapping(self.body.get("metadata"))
            api_version, kind = text(body.get("apiVersion")), text(body.get("kind"))
            namespace, name = called(metadata.get("namespace")), called(metadata.get("name"))
            self._told = told = (body, (api_version, kind, namespace, name))
        return told[1]

    @property
    def kind(self) -> str:
        return self.told[1]

    @property
    def api_version(self) -> str:
        return self.told[0]

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def spec(self) -> Any:
        return mapping(self.body.get("spec"))

    @property
    def metadata(self) -> Any:
        return mapping(self.body.get("metadata"))

    @property
    def name(self) -> str:
        return self.told[3]

    @property
    def namespace(self) -> str:
        return self.told[2]

    @property
    def file(self) -> str:
        return self.origin.document.file

    def put(self, pointer: Pointer, value: Any, source: Provenance) -> None:
        """Set the value at a pointer, written at `source`."""
        self.body, self.origin = put(self.body, self.origin, pointer, value, source)

    def leave_open(self, reason: str) -> None:
        """Note why the object may be deployed with other values; the first reason stays."""
        self.provisional = self.provisional or reason

    def remember(self) -> None:
        """Note the present namespace and name before they change."""
        pair = (self.namespace, self.name)
        if pair not in self.names:
            self.names = (*self.names, pair)

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"


def manifests_of(documents: Iterable[Document]) -> list[Manifest]:
    """Return the objects in some documents."""
    manifests: list[Manifest] = []
    for document in documents:
        objects = list(objects_of(document.value))
        weight = document.size // max(len(objects), 1)
        manifests += (Manifest(body, Provenance(document, root), weight=weight) for body, root in objects)
    return manifests


def identity(manifest: Manifest) -> tuple[str, str, str, str]:
    """Return what tells an object from the others of a cluster."""
    return manifest.group, manifest.kind, manifest.namespace, manifest.name


def resources_of(manifest: Manifest, cluster_scoped: frozenset[tuple[str, str]]) -> Iterator[Resource]:
    """Yield the resource that a manifest is, if it is one, in `default` where it names no namespace."""
    kind, api_version, metadata, origin = manifest.kind, manifest.api_version, manifest.metadata, manifest.origin
    name = manifest.name or called(metadata.get("generateName"))
    if kind and api_version and name:
        group, _, version = api_version.rpartition("/")
        namespace = "" if (group, kind) in cluster_scoped else manifest.namespace or "default"
        key = ResourceKey(group, kind, namespace, name)
        sources = origin if origin.children else None
        yield Resource(
            key,
            version,
            manifest.body,
            origin.document,
            origin.pointer,
            sources,
            provisional=manifest.provisional,
        )


def fill_in_namespace(
    manifests: Iterable[Manifest], namespace: str, cluster_scoped: frozenset[tuple[str, str]], source: Provenance | None
) -> None:
    """Put objects that name no namespace into one, written at `source`; None stands for each object's name.

    Args:
        cluster_scoped: kinds (group, kind) without a namespace.
    """
    for manifest in manifests:
        if not manifest.namespace and (manifest.group, manifest.kind) not in cluster_scoped:
            manifest.put(("metadata", "namespace"), namespace, source or manifest.origin.at("metadata", "name"))
