"""GWP304 for what nobody evaluates and no word judges: an object that changes where it may bear on who gets in."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from policylint.catalog.directions import sense_of
from policylint.catalog.weakenings import Access, access, deciding, words_of
from policylint.checks.kit.locations import path, value_at
from policylint.compare.pairing import Sides
from policylint.compare.protection.anywhere import edited_beside, emptied_beside, is_beside, said_beside, words_on
from policylint.compare.protection.cause import RULE
from policylint.compare.protection.extensions import nearest
from policylint.compare.protection.selected import selected_otherwise
from policylint.compare.protection.spec import ranked, weakenings
from policylint.compare.sameness import encoded, same_value, without_comments
from policylint.documents import Pointer
from policylint.model import Finding, Location, Resource, ResourceKey, World, mapping
from policylint.model.weakness import Weakness
from policylint.model.words import listing
from policylint.namedtuple import NamedTuple
from policylint.topology.workloads import WORKLOADS

NOT_JUDGED = "it may bear on who gets in"
"""The label of what was not judged."""
_MOST_VALUES = 4_000
_LONGEST_VALUE = 80
_MOST_LINES = 2_000
_REFUSING = re.compile(r"\b40[13]\b|\b(remote|client|src|source)_?(ip|addr)")
"""What lines of configurations say that turn requests away without a word for it."""
_IN_ORDER = re.compile(r"(access_?)?rules|acls?|policies|matchers|handlers", re.IGNORECASE)
"""Lists of which programs take the first entry that matches."""
_SPACED = re.compile(r"\s*([\[\](),=])\s*")
_HOLDING = frozenset({("", "ConfigMap"), *WORKLOADS})
"""Kinds whose objects are told as what each program, or each file, says."""


class Unjudged(NamedTuple):
    """An object that nobody evaluates, and what of it may bear on who gets in.

    Args:
        pointers: to what differs, () where all of it comes or goes.
        names: of what differs, where it is labels or annotations.
        change: what becomes of it, in words.
    """

    resource: Resource
    pointers: tuple[Pointer, ...]
    change: str
    names: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        return self.names or tuple(dict.fromkeys(path(each[each[0] == "spec" :]) for each in self.pointers))

    @property
    def location(self) -> Location:
        first = next(iter(self.pointers), None)
        return self.resource.name_location if first is None else nearest(self.resource, first)


class _Made:
    """The objects that are made of others, of the values of a chart, say: they are compared themselves."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_file: dict[str, list[Resource]] = {}

    def has(self, maker: Resource, pointer: Pointer) -> bool:
        """Tell whether a value of an object is one of another object, too."""
        if value_at(maker.body, pointer) is None:
            return False
        if not self._by_file:
            for resource in self._world.resources.values():
                self._by_file.setdefault(resource.document.file, []).append(resource)
        place = maker.location(*pointer)
        made = (each for file in {maker.document.file, place.file} for each in self._by_file.get(file, ()))
        return any(each is not maker and each.sources is not None and _is_written_at(each, place) for each in made)


def _is_written_at(resource: Resource, place: Location) -> bool:
    """Tell whether a value of an object is written at a place, or below it."""
    stack: list[tuple[Any, Pointer]] = [(resource.body, ())]
    while stack:
        value, pointer = stack.pop()
        if isinstance(value, (dict, list)) and value:
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            stack += [(each, (*pointer, step)) for step, each in inner]
        else:
            at = resource.location(*pointer)
            if at.document is place.document and at.pointer[: len(place.pointer)] == place.pointer:
                return True
    return False


def unjudged(sides: Sides, told: Collection[ResourceKey] = ()) -> Iterator[Finding]:
    """Yield what changes and was not judged.

    Args:
        told: the objects of which something is said already.
    """
    for one in changes_beside(sides):
        if one.resource.key not in told:
            fields = f" {listing(one.fields, most=3)}" if one.fields else ""
            yield Finding(
                RULE,
                "note",
                f"{one.resource.key} {one.change}{fields}: the effect on access is not known",
                one.location,
                resources=(one.resource.key,),
                label=NOT_JUDGED,
                field=",".join(one.fields),
                environments=(sides.after.world.name,),
            )


def changes_beside(sides: Sides) -> Iterator[Unjudged]:
    """Yield the objects that nobody evaluates and that change where it may bear on who gets in."""
    words = access()
    made = _Made(sides.before.world), _Made(sides.after.world)
    for old, new in edited_beside(sides):
        if new.key.group not in words.silent:
            decides = deciding(*new.key[:2]) is not None
            whole = decides or _is_telling(words, new.key)
            for one in _changed(words, new, (said_beside(old), said_beside(new)), whole=whole, decides=decides):
                left = [each for each in one.pointers if not (made[0].has(old, each) or made[1].has(new, each))]
                if left:
                    yield one._replace(pointers=tuple(left))
    for old, empty in emptied_beside(sides):
        for one in _changed(words, empty, (said_beside(old), said_beside(empty)), whole=bool(deciding(*old.key[:2]))):
            yield one._replace(resource=old, change="is gone, with")
    yield from _known(sides, words)
    yield from _not_served(sides)
    yield from _labelled(sides, words)
    yield from _selected(sides)
    for side, keys, kinds, change in (
        (sides.before, sides.pairing.removed, words.guards, "is gone"),
        (sides.after, sides.pairing.moved, words.guards, "is in another namespace"),
        (sides.after, sides.pairing.added, words.grants, "is new"),
    ):
        for key in sorted(keys):
            resource = side.world.get(key)
            if (
                resource is not None
                and not kinds.isdisjoint(words_of(key.kind))
                and is_beside(sides, *key[:2])
                and key.group not in words.silent
                and deciding(*key[:2]) is None
            ):
                yield Unjudged(resource, (), change)


def _known(sides: Sides, words: Access) -> Iterator[Unjudged]:
    """Yield the policies and extensions whose texts for a proxy are other ones."""
    for group, name in sides.after.world.kinds():
        kind = sides.after.catalog.get(group, name)
        asking = () if kind is None else (*kind.settings.raw, *("*" for path in kind.settings.code if path == "*"))
        if kind is None or not asking:
            continue
        tops = {path.partition(".")[0] for path in asking}
        for old, new in sides.edited(group, name):
            before, after = (
                spec if "*" in tops else {top: spec[top] for top in tops & spec.keys()} for spec in (old.spec, new.spec)
            )
            if before and after:
                yield from _changed(words, new, (before, after), kind.weaker)


def _not_served(sides: Sides) -> Iterator[Unjudged]:
    """Yield the policies that come to be of an API version that no known release serves: they may not be applied."""
    for group, name in sides.after.world.kinds():
        kind = sides.after.catalog.get(group, name)
        if kind is not None and (known := {*kind.versions, *kind.deprecated_versions}):
            for old, new in sides.edited(group, name):
                if old.version in known and new.version not in known:
                    yield Unjudged(new, (("apiVersion",),), "changes to a version that no known release serves:")


def _changed(
    words: Access,
    new: Resource,
    said: tuple[Mapping[str, Any], Mapping[str, Any]],
    known: Iterable[Weakness] = (),
    *,
    whole: bool = False,
    decides: bool = False,
) -> Iterator[Unjudged]:
    """Yield an object where what it says differs in what may bear on who gets in, and is not stronger for certain."""
    before, after = said
    programs = new.key[:2] in _HOLDING
    pointers = dict.fromkeys(_bearing(words, before, after, whole=whole, programs=programs, decides=decides))
    if not pointers:
        return
    certain, others = words_on(new.key[:2], after, before)
    meant = [*known, *certain, *others]
    judged = [*(each.before for each in weakenings(meant, after, before)), *ranked(meant, before, after)]
    left = [pointer for pointer in pointers if not any(_overlap(pointer, each) for each in judged)]
    if left:
        above = ("spec",) if "spec" in new.body else ()
        yield Unjudged(new, tuple((*above, *pointer) for pointer in left), "changes")


def _bears_by_name(words: Access, name: str) -> bool:
    return words.of_field(name) or (name not in words.holders and sense_of(name) != 0)


def _overlap(left: Pointer, right: Pointer) -> bool:
    shorter = min(len(left), len(right))
    return left[:shorter] == right[:shorter]


def _labelled(sides: Sides, words: Access) -> Iterator[Unjudged]:
    """Yield the objects with labels or annotations of others that say who may come: nobody here reads those."""
    for group, name in sides.after.world.kinds():
        if sides.after.catalog.get(group, name) is not None or group in words.silent:
            continue
        for old, new in sides.edited(group, name):
            for field in ("labels", "annotations"):
                was, now = (mapping(each.metadata.get(field)) for each in (old, new))
                changed = [
                    key for key in {**was, **now} if str(was.get(key)) != str(now.get(key)) and _bears(words, key)
                ]
                if changed:
                    yield Unjudged(new, (("metadata", field, changed[0]),), "changes", tuple(changed))


def _selected(sides: Sides) -> Iterator[Unjudged]:
    """Yield the objects that come to be, or are no longer, among those that something selects by labels."""
    for each in selected_otherwise(sides):
        change = f"{'joins' if each.joins else 'leaves'} what {each.by.key} selects, by label"
        yield Unjudged(each.resource, (each.pointer,), change, each.names)


def _bears(words: Access, key: str) -> bool:
    """Tell whether a label or annotation may bear on who gets in, and is none that the doors read."""
    domain, _, last = key.rpartition("/")
    if not domain or domain.endswith(tuple(words.read)):
        return False
    return words.of_field(last) and words.idle.isdisjoint(words_of(last))


def _is_telling(words: Access, key: ResourceKey) -> bool:
    return bool(key.group) and words.of_kind(key.kind)


def _bearing(
    words: Access, before: Any, after: Any, *, whole: bool, programs: bool = False, decides: bool = False
) -> Iterator[Pointer]:
    """Yield where two states of an object differ in what may bear on who gets in.

    Args:
        whole: whether all of it does.
        programs: whether the names at the top are those of programs, or of files, and say nothing.
        decides: whether it is an object that decides.
    """
    stack: list[tuple[Any, Any, Pointer, bool]] = [(before, after, (), whole)]
    for _ in range(_MOST_VALUES):
        if not stack:
            return
        old, new, above, bears = stack.pop()
        if isinstance(old if new is None else new if old is None else None, list):
            old, new = old or [], new or []  # a list that comes or goes is told by its entries
        if isinstance(old, dict) and isinstance(new, dict):
            for name in reversed(dict.fromkeys((*old, *new))):
                named = not above and programs
                idle = not named and words.is_idle(str(name), new.get(name), decides=decides)
                if idle or _is_default(str(name), old, new):
                    continue
                below = bears or _bears_by_name(words, str(name))
                if not _is_same(old.get(name), new.get(name), str(name)):
                    stack.append((old.get(name), new.get(name), (*above, name), below))
                elif programs and below and _IN_ORDER.fullmatch(str(name)) and _is_turned(old[name], new[name]):
                    yield (*above, name)
        elif isinstance(old, list) and isinstance(new, list) and _are_objects(old, new):
            lost = [entry for entry in old if entry not in new]
            gained = [(number, entry) for number, entry in enumerate(new) if entry not in old]
            for number, entry in gained:
                former = next((each for each in lost if _name(each) == _name(entry)), lost[0] if lost else {})
                lost = [each for each in lost if each is not former]
                stack.append((former, entry, (*above, number), bears or words.of_field(_name(entry))))
            stack += [(entry, {}, above, bears) for entry in lost]
        elif isinstance(new, dict) and old is None:
            stack.append(({}, new, above, bears))
        elif isinstance(old, dict) and new is None:
            stack.append((old, {}, above, bears))
        elif bears or _is_telling_value(words, old, new):
            yield above


def _is_default(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Tell whether one side alone writes which kind a reference names."""
    return name in ("kind", "group") and "name" in old and "name" in new and (name in old) != (name in new)


def _are_objects(old: list[Any], new: list[Any]) -> bool:
    return all(isinstance(entry, dict) for entry in (*old, *new))


def _name(entry: Any) -> str:
    return str(entry.get("name") or entry.get("key") or entry.get("id") or "")


def _is_same(old: Any, new: Any, field: str) -> bool:
    """Tell whether two values mean the same, however they are written."""
    if same_value(old, new, field) or (not isinstance(old, (dict, list)) and str(old) == str(new) and old is not None):
        return True
    if isinstance(old, str) and isinstance(new, str):
        return bool(_plain(old) == _plain(new)) or _is_expression(old, new)
    if isinstance(old, list) and isinstance(new, list):
        return sorted(map(_text, old)) == sorted(map(_text, new))
    return False


def _is_expression(old: str, new: str) -> bool:
    """Tell whether two expressions of one line have the same strings, in quotes of either sort."""
    return "\n" not in old and "$" not in old and old.replace("'", '"') == new.replace("'", '"')


def _is_turned(old: Any, new: Any) -> bool:
    """Tell whether two lists of objects have the same entries in another order."""
    return isinstance(old, list) and old != new and _are_objects(old, new) and len(old) == len(new)


def _plain(value: str) -> Any:
    """Return what a text says, without its comments and spaces; of JSON what it holds."""
    if value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return [_SPACED.sub(r"\1", line).split() for line in without_comments(value.splitlines())]


def _text(value: Any) -> str:
    plain = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    return encoded(plain)


def _is_telling_value(words: Access, old: Any, new: Any) -> bool:
    """Tell whether one of two values, or a line that only one of two texts has, bears on it."""
    old, new = (("" if each is None else each) for each in (old, new))
    if isinstance(old, str) and isinstance(new, str) and ("\n" in old or "\n" in new):
        changed = set(old.splitlines()[:_MOST_LINES]) ^ set(new.splitlines()[:_MOST_LINES])
        return any(words.of_field(line) or _REFUSING.search(line) for line in without_comments(changed, ("#",)))
    said = [text for value in (old, new) for text in _short(value)]
    return any(text.startswith("0.0.0.0/0") or not words.values.isdisjoint(words_of(text)) for text in said)


def _short(value: Any) -> Iterable[str]:
    listed = value if isinstance(value, list) else [value]
    return (each for each in listed if isinstance(each, str) and len(each) <= _LONGEST_VALUE)


__all__ = ["NOT_JUDGED", "changes_beside", "unjudged"]
