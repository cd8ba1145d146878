"""What objects name besides targets, as the catalog declares it: the one list that tells which kinds are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from policylint.catalog.kinds import shipped_catalog
from policylint.documents import Pointer
from policylint.model.policy_kind import ContentField, Misleading, content_fields, misleadings
from policylint.model.resource import mapping, sequence, text
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.catalog.shipped_file import ShippedFile

Kinds = frozenset[tuple[str, str]]


class Edited(NamedTuple):
    """What a change touches of kinds that are not read unless something names them.

    Args:
        kinds: of third parties, by group and name.
        names: of the objects of these kinds that are touched.
        patched: kinds whose group is not said, as patches of a kustomization name them.
        maps: the names of ConfigMaps.
    """

    kinds: Kinds = frozenset()
    names: frozenset[str] = frozenset()
    patched: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()

    def touches(self, group: str, kind: str, targets: Collection[str]) -> bool:
        """Tell whether any object of a kind may be touched, whatever its name.

        Args:
            targets: the kinds, as regular expressions, whose objects patches with a target change.
        """
        if (group, kind) in self.kinds:
            return any(target == kind or not target.isalnum() for target in targets)
        return kind in self.patched and "." in group


NOTHING_EDITED = Edited()


@cache
def content_of(group: str, kind: str) -> tuple[ContentField, ...]:
    """Return the fields with which objects of a kind name others, as far as the shipped catalog knows them."""
    for file in shipped_catalog():
        if not file.mentions(group):
            continue
        for known in file.kinds():
            if (known.group, known.kind) == (group, kind):
                return known.refers
        for entry in map(mapping, sequence(file.content().get("objects"))):
            if (entry.get("group"), entry.get("kind")) == (group, kind):
                return content_fields(entry.get("refers"))
    return ()


@cache
def selectors_of(group: str, kind: str) -> tuple[str, ...]:
    """Return the fields with which policies of a kind select pods of their namespace."""
    known = (each for file in shipped_catalog() if file.mentions(group) for each in file.kinds())
    references = (path for each in known if (each.group, each.kind) == (group, kind) for path in each.references)
    return tuple(each.path for each in references if each.form in ("workload-selector", "label-selector"))


@cache
def known_object(group: str, kind: str) -> Mapping[str, Any] | None:
    """Return what the catalog says of a kind of objects that are no policies (`objects`), None for any other kind."""
    entries = (
        mapping(entry)
        for file in shipped_catalog()
        if file.mentions(group)
        for entry in sequence(file.content().get("objects"))
    )
    return next((entry for entry in entries if (entry.get("group"), entry.get("kind")) == (group, kind)), None)


@cache
def owner_of_object(group: str, kind: str) -> str:
    """Return the implementation whose kind of objects it is that are no policies, "" for any other kind."""
    for file in shipped_catalog():
        entries = map(mapping, sequence(file.content().get("objects") if file.mentions(group) else ()))
        if any((entry.get("group"), entry.get("kind")) == (group, kind) for entry in entries):
            return str(file.content()["implementation"])
    return ""


class ToldIn(NamedTuple):
    """Where the configuration of a controller may stand: in objects of a kind, below a key of ConfigMaps that hold YAML
    ("" elsewhere), and below a path."""

    kind: tuple[str, str]
    key: str = ""
    pointer: tuple[str, ...] = ()


@cache
def told_in(implementation: str) -> tuple[ToldIn, ...]:
    """Return where the configuration of an implementation's controller may stand."""
    return tuple(
        ToldIn(
            (text(entry.get("kind")).partition(".")[2], text(entry.get("kind")).partition(".")[0]),
            text(entry.get("key")),
            tuple(filter(None, text(entry.get("at")).split("."))),
        )
        for file in shipped_catalog()
        if file.implementation == implementation
        for entry in map(mapping, sequence(file.content().get("configuration")))
    )


@cache
def names_with(implementation: str) -> str:
    """Return the switch without which an implementation sends no requests to Services that are names; "" for none."""
    files = (file for file in shipped_catalog() if file.implementation == implementation)
    return next((text(file.content().get("externalNamesWith")) for file in files), "")


@cache
def generators() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Return what controllers make policies of, by (group, kind): `generates` of the catalog's objects."""
    return {
        (entry["group"], entry["kind"]): mapping(entry["generates"])
        for file in shipped_catalog()
        if b"generates:" in file.data
        for entry in map(mapping, sequence(file.content().get("objects")))
        if entry.get("generates")
    }


def misleading_objects(kinds: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], tuple[Misleading, ...]]]:
    """Yield what misleads in objects of some kinds that are no policies; files without their groups stay unparsed."""
    wanted = set(kinds)
    groups = {group for group, _ in wanted}
    for file in shipped_catalog():
        if file.has(b"misleads:") and any(map(file.mentions, groups)):
            yield from ((kind, entries) for kind, entries in _misleading_objects(file) if kind in wanted)


@cache
def _misleading_objects(file: ShippedFile) -> tuple[tuple[tuple[str, str], tuple[Misleading, ...]], ...]:
    return tuple(
        ((entry["group"], entry["kind"]), misleadings(entry["misleads"]))
        for entry in map(mapping, sequence(file.content().get("objects")))
        if entry.get("misleads")
    )


class ReadSet:
    """The kinds that objects of a kind may name, by the field that names them.

    Args:
        configured: entries of the user's configuration, as in schemas/policy-kinds/.
        edited: the kinds, and the names of ConfigMaps, of which a change touches objects.
    """

    def __init__(self, configured: Iterable[Mapping[str, Any]] = (), edited: Edited = NOTHING_EDITED) -> None:
        self.edited = edited
        self._configured = {
            (entry.get("group"), entry.get("kind")): content_fields(entry.get("refers"))
            for entry in configured
            if entry.get("refers")
        }
        self._named: dict[tuple[str, str], Mapping[str, Kinds]] = {}

    def named(self, group: str, kind: str) -> Mapping[str, Kinds]:
        """Return which kinds a field of this name stands for, wherever it is in an object of a kind."""
        if (group, kind) not in self._named:
            fields = self._configured.get((group, kind)) or content_of(group, kind)
            named: dict[str, Kinds] = {}
            for field in fields:
                named[field.name] = named.get(field.name, frozenset()) | frozenset(field.kinds)
            self._named[group, kind] = named
        return self._named[group, kind]


def places(value: Any, path: str, pointer: Pointer) -> Iterator[tuple[Pointer, Any]]:
    """Yield what stands at a path: `*` is every entry of a list or map, `**` any way down; the value itself at ""."""
    steps = _steps(path)
    for number, step in enumerate(steps):  # most paths lead nowhere at their first steps
        if step == "*" or step == "**":
            found: list[tuple[Pointer, Any]] = []
            _gather(value, steps, number, pointer, found)
            yield from found
            return
        if not isinstance(value, dict) or step not in value:
            return
        value, pointer = value[step], (*pointer, step)
    yield pointer, value


class Within:
    """A value that is asked for several paths: where these begin with `**`, it is gone through once for all of them."""

    __slots__ = ("_inner", "_pointer", "_value")

    def __init__(self, value: Any, pointer: Pointer) -> None:
        self._value, self._pointer = value, pointer
        self._inner: list[tuple[Pointer, dict[str, Any]]] | None = None

    def places(self, path: str) -> Iterable[tuple[Pointer, Any]]:
        """Return what stands at a path, as `places` does."""
        steps = _steps(path)
        if steps[:1] != ["**"] or steps[1:2] in ([], ["*"], ["**"]):
            return places(self._value, path, self._pointer)
        if self._inner is None:
            self._inner = list(_mappings(self._value, self._pointer))
        found: list[tuple[Pointer, Any]] = []
        name = steps[1]
        for pointer, inner in self._inner:
            if name in inner:
                _gather(inner, steps, 1, pointer, found)
        return found


def _mappings(value: Any, pointer: Pointer) -> Iterator[tuple[Pointer, dict[str, Any]]]:
    """Yield the mappings within a value, each before those within it."""
    waiting = [(pointer, value)]
    while waiting:
        pointer, value = waiting.pop()
        entries: Iterable[tuple[str | int, Any]]
        if isinstance(value, dict):
            yield pointer, value
            entries = value.items()
        else:
            entries = enumerate(value) if isinstance(value, list) else ()
        within = [((*pointer, name), inner) for name, inner in entries if isinstance(inner, (dict, list))]
        waiting += reversed(within)


@cache
def _steps(path: str) -> list[str]:
    return path.split(".") if path else []


def _gather(value: Any, steps: list[str], number: int, pointer: Pointer, found: list[tuple[Pointer, Any]]) -> None:
    """Add what stands at the steps from a number on."""
    for at in range(number, len(steps)):
        step = steps[at]
        if step == "*" or step == "**":
            if step == "**":
                _gather(value, steps, at + 1, pointer, found)
            below = at if step == "**" else at + 1
            inner_only = step == "**" or (below < len(steps) and steps[below] != "**")  # that may be no step
            entries: Iterable[tuple[str | int, Any]] = ()
            if isinstance(value, dict):
                entries = value.items()
            elif isinstance(value, list):
                entries = enumerate(value)
            for name, inner in entries:
                if not inner_only or isinstance(inner, (dict, list)):
                    _gather(inner, steps, below, (*pointer, name), found)
            return
        if not isinstance(value, dict) or step not in value:
            return
        value, pointer = value[step], (*pointer, step)
    found.append((pointer, value))
