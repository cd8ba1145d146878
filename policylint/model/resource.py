"""A Kubernetes object as deployed, and the places where its values are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, TypeVarTuple

from policylint.documents import Pointer, Position
from policylint.model.keys import ResourceKey
from policylint.namedtuple import NamedTuple

NEW = "new in this change"
"""In a diff the creationTimestamp of what only one side has: younger than all that both have."""
_NEVER = "9999"
_NOTHING: Mapping[str, Any] = {}
_T = TypeVar("_T")
_About = TypeVarTuple("_About")


class Written(Protocol):
    """Anything that a Location can point into: a document, or a mere spot in a file that could not be read as one."""

    @property
    def file(self) -> str: ...

    def position(self, pointer: Pointer, *, key: bool = False) -> Position: ...


class Spot(NamedTuple):
    """A line and column of a file without a document behind it, for what is wrong with the file itself."""

    file: str
    line: int = 1
    column: int = 1

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:  # noqa: ARG002 - the Written protocol
        return Position(self.line, self.column)


class Location(NamedTuple):
    """A place in a document, symbolic until a report asks for line and column.

    `key` points at the mapping key instead of the value.
    """

    document: Written
    pointer: Pointer = ()
    key: bool = False

    @property
    def file(self) -> str:
        """The path of the file, as shown."""
        return self.document.file

    def at(self) -> tuple[int, int]:
        """Return line and column, 1-based, columns in code points."""
        position = self.document.position(self.pointer, key=self.key)
        return position.line, position.column

    def sort_key(self) -> tuple[str, int, int]:
        """Return file, line and column."""
        return (self.file, *self.at())


class Sources(Protocol):
    """The places where a rendered object's values are written: its file, a patch, a kustomization, chart values."""

    def locate(self, pointer: Pointer) -> tuple[Written, Pointer]: ...


ENCRYPTED = "it is encrypted with SOPS"
"""Why an object is provisional whose values only a key shows."""
GUESSED = "its chart is not rendered, and may make another one of these values"
"""Why an object is provisional that is read off the values of a chart: one that is written counts before it."""
PUT_OUT = "a chart that is not rendered is taken to put out what stands whole in its values"
"""Why an object is not certain that stands so in values: findings about it are assumed, and no more open than that."""


class Resource:
    """A Kubernetes object with its identity and the document it came from.

    Args:
        key: its identity; the namespace is the effective one, not necessarily what the file says.
        version: the API version without the group.
        body: the whole object, as read.
        document: the document that holds it.
        root: the pointer of the object inside the document (empty, or `items/3` in a `kind: List`).
        sources: the places of its values, if not all of them are in `document` below `root`.
        provisional: why it may be deployed with other values (a patch that could not be applied…); "" where it is
            whole.

    Attributes:
        spec, metadata: of the body, empty where it has none.
        answers: the results of `once`; None where only one side has the object, and computing again is cheaper.
    """

    __slots__ = ("answers", "body", "document", "key", "metadata", "provisional", "root", "sources", "spec", "version")

    def __init__(
        self,
        key: ResourceKey,
        version: str,
        body: dict[str, Any],
        document: Written,
        root: Pointer = (),
        sources: Sources | None = None,
        *,
        provisional: str = "",
    ) -> None:
        self.key = key
        self.version = version
        self.body = body
        self.document = document
        self.root = root
        self.sources = sources
        self.provisional = provisional or (ENCRYPTED if isinstance(body.get("sops"), dict) else "")
        self.spec: Mapping[str, Any] = mapping(body.get("spec"))
        self.metadata: Mapping[str, Any] = mapping(body.get("metadata"))
        self.answers: dict[object, tuple[Any, tuple[object, ...]]] | None = None

    def replaced(
        self, *, key: ResourceKey | None = None, body: dict[str, Any] | None = None, provisional: str = ""
    ) -> Resource:
        """Return a copy with another identity or body, or less certain, which is written where this one is."""
        return Resource(
            self.key if key is None else key,
            self.version,
            self.body if body is None else body,
            self.document,
            self.root,
            self.sources,
            provisional=self.provisional or provisional,
        )

    def once(self, compute: Callable[[Resource, *_About], _T], *arguments: *_About) -> _T:
        """Return `compute(self, *arguments)`, once for all where both sides of a diff share the object.

        render/shared.py says which they share; those of routes are kept in any case. Only for results that depend on
        nothing but the object and the arguments, which are compared by identity; what depends on the rest of a world
        does not qualify. Nobody may change a result.
        """
        answers = self.answers
        if answers is None:
            return compute(self, *arguments)
        key = (compute, *map(id, arguments)) if arguments else compute
        known = answers.get(key)
        if known is None:
            known = answers[key] = compute(self, *arguments), arguments  # kept, so that the ids stay their own
        answer: _T = known[0]
        return answer

    def keep_answers(self) -> None:
        """Keep the results of `once` from now on, since many ask."""
        if self.answers is None:
            self.answers = {}

    def __repr__(self) -> str:
        return f"<{self.key} {self.document.file}>"

    def __str__(self) -> str:
        return str(self.key)

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.key.group}/{self.version}" if self.key.group else self.version

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels, empty where there are none."""
        return mapping(self.metadata.get("labels"))

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The annotations, empty where there are none."""
        return mapping(self.metadata.get("annotations"))

    @property
    def created(self) -> str:
        """`metadata.creationTimestamp` as written, "" where the manifests do not state it (they rarely do)."""
        stamp = self.metadata.get("creationTimestamp")
        return stamp if isinstance(stamp, str) else ""

    @property
    def age(self) -> tuple[str, str]:
        """The sort key of creation order, the oldest first: creationTimestamp, then `{namespace}/{name}`.

        Gateway API has one order for policies (GEP-713, conflict resolution), routes, listeners and ListenerSets. Git
        rarely has timestamps: an object without one is as old as any other without one, and younger than one that
        states its age, since what a cluster already has is older than what a manifest adds.
        """
        return (self.created or _NEVER, self.key.path)

    def location(self, *pointer: str | int, key: bool = False) -> Location:
        """Return the place of a value (or of its key) of this object."""
        if self.sources is not None:
            document, place = self.sources.locate(pointer)
            return Location(document, place, key)
        return Location(self.document, (*self.root, *pointer), key)

    @property
    def name_location(self) -> Location:
        """The place of the object's name."""
        return self.location("metadata", "name")


def mapping(value: object) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one: manifests may hold anything anywhere."""
    return value if isinstance(value, dict) else _NOTHING


def sequence(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object, default: str = "") -> str:
    """Return the value if it is a string, else the default. Numbers are not names."""
    return value if isinstance(value, str) else default


def texts(value: object) -> list[str]:
    """Return the strings of a list; none if the value is something else."""
    return [entry for entry in sequence(value) if isinstance(entry, str)]


def integer(value: object) -> int | None:
    """Return the value if it is a number, None if it is something else: YAML's `yes` is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def value_at(body: object, pointer: Pointer) -> Any:
    """Return the value at a pointer, None where nothing is."""
    for step in pointer:
        if isinstance(body, dict):
            body = body.get(step)
        elif isinstance(body, list) and isinstance(step, int) and step < len(body):
            body = body[step]
        else:
            return None
    return body


def deepest_written(body: object, pointer: Pointer) -> Pointer:
    """Return the part of a pointer down to the deepest value that is written."""
    while pointer and value_at(body, pointer) is None:
        pointer = pointer[:-1]
    return pointer


def dotted(pointer: Pointer) -> str:
    """Return a pointer as text: `spec.targetRefs[1].name`."""
    text = ""
    for step in pointer:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text
