"""Where each value of a rendered object is written: a tree of sources that is as sparse as the changes were few.

A value that nothing changed is written where its object is; a patch, a namespace or a chart's values leave a mark at
the pointer they set. Both the body and the trace are treated as immutable: a change copies the containers on the way
to it and shares the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policylint.documents import Pointer
from policylint.model.resource import Written

_NONE: dict[str | int, Trace] = {}


class Trace:
    """The source of one value, and of those parts of it that come from elsewhere.

    Args:
        document, pointer: where the value itself is written.
        children: traces of the entries that are not written at `pointer` + their own step.
    """

    __slots__ = ("children", "document", "pointer")

    def __init__(self, document: Written, pointer: Pointer = (), children: dict[str | int, Trace] = _NONE) -> None:
        self.document = document
        self.pointer = pointer
        self.children = children

    def child(self, step: str | int) -> Trace:
        """The trace of an entry."""
        return self.children.get(step) or Trace(self.document, (*self.pointer, step))

    def at(self, pointer: Pointer) -> Trace:
        here = self
        for depth, step in enumerate(pointer):
            if not here.children:
                return Trace(here.document, (*here.pointer, *pointer[depth:]))
            here = here.child(step)
        return here

    def locate(self, pointer: Pointer) -> tuple[Written, Pointer]:
        """The document and the pointer in it at which a value of the object is written."""
        found = self.at(pointer)
        return found.document, found.pointer

    def with_child(self, step: str | int, trace: Trace) -> Trace:
        return Trace(self.document, self.pointer, {**self.children, step: trace})

    def with_items(self, items: Iterable[Trace]) -> Trace:
        """The trace of a list whose items were put together anew."""
        return Trace(self.document, self.pointer, dict(enumerate(items)))


def put(value: Any, trace: Trace, pointer: Pointer, new: Any, source: Trace) -> tuple[Any, Trace]:
    """The value with `new` at the pointer (mappings on the way are made where missing), and its trace.

    A step into a list must name an item that is there; otherwise, and where a scalar is in the way, nothing changes.
    """
    if not pointer:
        return new, source
    step = pointer[0]
    if isinstance(value, dict):
        missing = not isinstance(value.get(step), (dict, list))
        inner, inner_trace = put(
            value[step] if not missing else {} if len(pointer) > 1 else None,
            source if missing else trace.child(step),
            pointer[1:],
            new,
            source,
        )
        return {**value, step: inner}, trace.with_child(step, inner_trace)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        inner, inner_trace = put(value[step], trace.child(step), pointer[1:], new, source)
        return [*value[:step], inner, *value[step + 1 :]], trace.with_child(step, inner_trace)
    return value, trace


class Manifest:
    """One object on its way through renderers.

    Attributes:
        body, trace: the object as it is by now, and where it is written.
        names: the (namespace, name) pairs it has had before, oldest first: patches may name any of them.
        hashed: for what a generator makes: the suffix its name will end in.
    """

    __slots__ = ("body", "hashed", "names", "trace")

    def __init__(
        self, body: dict[str, Any], trace: Trace, names: tuple[tuple[str, str], ...] = (), hashed: str = ""
    ) -> None:
        self.body = body
        self.trace = trace
        self.names = names
        self.hashed = hashed

    def copy(self) -> Manifest:
        """Another one that shares everything until one of the two changes."""
        return Manifest(self.body, self.trace, self.names, self.hashed)

    @property
    def kind(self) -> str:
        kind = self.body.get("kind")
        return kind if isinstance(kind, str) else ""

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def api_version(self) -> str:
        found = self.body.get("apiVersion")
        return found if isinstance(found, str) else ""

    def _metadata(self, field: str) -> str:
        metadata = self.body.get("metadata")
        found = metadata.get(field) if isinstance(metadata, dict) else None
        return found if isinstance(found, str) else ""

    @property
    def name(self) -> str:
        return self._metadata("name")

    @property
    def namespace(self) -> str:
        return self._metadata("namespace")

    @property
    def generate_name(self) -> str:
        return self._metadata("generateName")

    @property
    def file(self) -> str:
        return self.trace.document.file

    def put(self, pointer: Pointer, value: Any, source: Trace) -> None:
        self.body, self.trace = put(self.body, self.trace, pointer, value, source)

    def remember(self) -> None:
        """Note the present namespace and name before they change."""
        pair = (self.namespace, self.name)
        if pair not in self.names:
            self.names = (*self.names, pair)

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {place}"
