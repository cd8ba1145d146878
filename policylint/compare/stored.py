"""A comparison out of plain JSON values (compare/keeping.py), for the cache: all that writers read, and no more.

What comes back is checked as if anybody could have written it: it has the shape of a comparison, or there is none.

A document only knows the places that findings, subjects and policies name. An effective policy is what applies, who
says so, and which policies are attached where; what was lost in it, and the policies themselves, are gone: who asks for
them fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from policylint.catalog.entry import kind_entry
from policylint.compare.change import (
    Comparison,
    ContextChange,
    EnvironmentChange,
    FindingChange,
    FindingState,
    ObjectChange,
    Part,
    PolicyChange,
    Reach,
    Responsible,
    Setting,
    SettingChange,
    Subject,
    SubjectChange,
    Touched,
)
from policylint.documents import Pointer, Position
from policylint.documents.serialize import StoredError, is_deep, number_in, text_in
from policylint.model import SEVERITIES, Confidence, Finding, Location, Node, PolicyKind, Related, ResourceKey
from policylint.model.fix import Action, Change, Fix
from policylint.model.policy_kind import Origin, policy_kind
from policylint.namedtuple import NamedTuple

if TYPE_CHECKING:
    from policylint.policy.results import Effective

_STANDING: Final = ("both", "gone", "new")
_COME_OR_GONE: Final = ("", "added", "removed")
_OF_SETTINGS: Final = get_args(SettingChange)
_OF_SUBJECTS: Final = get_args(SubjectChange)
_OF_OBJECTS: Final = get_args(ObjectChange)
_STATES: Final = get_args(FindingState)
_CONFIDENCES: Final = get_args(Confidence)
_ACTIONS: Final = get_args(Action)
_ORIGINS: Final = get_args(Origin)


class Applied(NamedTuple):
    """An effective policy as far as it is kept (policy.results.Effective)."""

    spec: Mapping[str, Any]
    owners: Mapping[Pointer, ResourceKey]
    stack: tuple[Attached, ...]

    @property
    def sources(self) -> tuple[ResourceKey, ...]:
        """As there."""
        return tuple(sorted(set(self.owners.values())))


class Attached(NamedTuple):
    """A policy of a stack, and where it is attached (policy.results.Attachment)."""

    key: ResourceKey
    node: Node


class Page:
    """A document as far as it is kept: where in it something is (the Written protocol)."""

    __slots__ = ("_label", "file", "places")

    def __init__(self, file: str, label: str) -> None:
        """`label` is how the document itself prints."""
        self.file = file
        self.places: dict[tuple[Pointer, bool], Position] = {}
        self._label = label

    def __repr__(self) -> str:
        return self._label

    def position(self, pointer: Pointer, *, key: bool = False) -> Position:
        """Of a place that was kept.

        Raises:
            KeyError: it was not.
        """
        return self.places[pointer, key]


def restored(value: Any) -> Comparison:
    """The comparison that `plain` made.

    Raises:
        StoredError: it is none.
    """
    try:
        *tables, environments, findings = value
        back = _Back(*tables)
        changes = tuple(
            FindingChange(back.finding(finding), _one_of(state, _STATES)) for finding, state in _rows(findings)
        )
        return Comparison(tuple(map(back.environment, _rows(environments))), changes)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise StoredError from error


class _Back:
    """Makes a comparison of plain values. Raises whatever comes where they have another shape."""

    def __init__(self, keys: Any, nodes: Any, kinds: Any, pages: Any, places: Any, effects: Any, settings: Any) -> None:
        self._keys = [ResourceKey(*map(text_in, row)) for row in _rows(keys)]
        self._nodes = [Node(self._key(key), text_in(section), text_in(role)) for key, section, role in _rows(nodes)]
        self._kinds = [_kind(*row) for row in _rows(kinds)]
        self._pages = [_page(*row) for row in _rows(pages)]
        self._places = [self._location(*row) for row in _rows(places)]
        self._effects = [self._applied(*row) for row in _rows(effects)]
        self._settings = [self._setting(*row) for row in _rows(settings)]

    def environment(self, row: Any) -> EnvironmentChange:
        name, come_or_gone, routes, contexts, subjects, policies, objects, truncated, renamed = row
        return EnvironmentChange(
            text_in(name),
            _one_of(come_or_gone, _COME_OR_GONE),
            number_in(routes),
            tuple(self._context(*each) for each in _rows(contexts)),
            tuple(self._subject(*each) for each in _rows(subjects)),
            tuple(self._policy(*each) for each in _rows(policies)),
            tuple(self._touched(*each) for each in _rows(objects)),
            _flag(truncated),
            {self._key(old): self._key(new) for old, new in _rows(renamed)},
        )

    def finding(self, row: Any) -> Finding:
        (rule, severity, message, location, resources, label, related, notes, confidence, field, environments,
         fixes) = row  # fmt: skip
        return Finding(
            text_in(rule),
            _one_of(severity, SEVERITIES),
            text_in(message),
            self._place(location),
            self._all_keys(resources),
            text_in(label),
            tuple(Related(text_in(said), self._place(where)) for said, where in _rows(related)),
            _texts(notes),
            _one_of(confidence, _CONFIDENCES),
            text_in(field),
            _texts(environments),
            tuple(
                Fix(text_in(title), tuple(self._change(*each) for each in _rows(changes)), _flag(safe))
                for title, changes, safe in _rows(fixes)
            ),
        )

    def _change(self, action: Any, location: Any, old: Any, new: Any) -> Change:
        place = self._place(location)
        if action == "list":
            place._replace(key=False).at()
        return Change(_one_of(action, _ACTIONS), place, text_in(old), text_in(new))

    def _context(self, environment: Any, kind: Any, path: Any, standing: Any, before: Any, after: Any) -> ContextChange:
        nodes = self._path(path)
        if not nodes:
            raise StoredError
        effects = [None if each is None else self._effects[number_in(each)] for each in (before, after)]
        # Not the real ones: writers are content with what is kept, as the tests of every format show.
        one, other = cast("list[Effective | None]", effects)
        return ContextChange(
            text_in(environment), self._kinds[number_in(kind)], nodes, _one_of(standing, _STANDING), one, other
        )

    def _applied(self, spec: Any, owners: Any, stack: Any) -> Applied:
        if type(spec) is not dict:
            raise StoredError
        return Applied(
            _value(spec),
            {_pointer(pointer): self._key(owner) for pointer, owner in _rows(owners)},
            tuple(Attached(self._key(key), self._nodes[number_in(node)]) for key, node in _rows(stack)),
        )

    def _subject(
        self, environment: Any, key: Any, change: Any, location: Any, parts: Any, reach: Any, was: Any, *rest: Any
    ) -> Subject:
        reason, rules = rest
        return Subject(
            text_in(environment),
            self._key(key),
            _one_of(change, _OF_SUBJECTS),
            None if location is None else self._place(location),
            tuple(self._part(*each) for each in _rows(parts)),
            tuple(Reach(*map(text_in, each)) for each in _rows(reach)),
            self._key_or_none(was),
            text_in(reason),
            number_in(rules),
        )

    def _part(self, rules: Any, all_rules: Any, gateways: Any, settings: Any, lost: Any) -> Part:
        return Part(
            self._path(rules),
            _flag(all_rules),
            self._all_keys(gateways),
            tuple(self._settings[number_in(each)] for each in _rows(settings)),
            tuple(self._settings[number_in(each)] for each in _rows(lost)),
        )

    def _setting(self, kind: Any, name: Any, change: Any, before: Any, after: Any, *rest: Any) -> Setting:
        sources_before, sources_after, by, because = rest
        return Setting(
            self._kinds[number_in(kind)],
            text_in(name),
            _one_of(change, _OF_SETTINGS),
            _value(before),
            _value(after),
            self._responsible(sources_before),
            self._responsible(sources_after),
            self._responsible(by),
            text_in(because),
        )

    def _responsible(self, rows: Any) -> tuple[Responsible, ...]:
        return tuple(
            Responsible(self._key(policy), None if place is None else self._place(place))
            for policy, place in _rows(rows)
        )

    def _policy(
        self, environment: Any, policy: Any, before: Any, after: Any, by: Any, location: Any, was: Any
    ) -> PolicyChange:
        verdicts = text_in(before), text_in(after)
        keys = self._all_keys(by)
        place = self._place(location)
        return PolicyChange(text_in(environment), self._key(policy), *verdicts, keys, place, self._key_or_none(was))

    def _touched(self, environment: Any, key: Any, change: Any, routes: Any, rules: Any, *rest: Any) -> Touched:
        hostnames, namespaces, was = rest
        return Touched(
            text_in(environment),
            self._key(key),
            _one_of(change, _OF_OBJECTS),
            self._all_keys(routes),
            self._path(rules),
            _texts(hostnames),
            _texts(namespaces),
            self._key_or_none(was),
        )

    def _key(self, number: Any) -> ResourceKey:
        return self._keys[number_in(number)]

    def _key_or_none(self, number: Any) -> ResourceKey | None:
        return None if number is None else self._key(number)

    def _all_keys(self, numbers: Any) -> tuple[ResourceKey, ...]:
        return tuple(map(self._key, _rows(numbers)))

    def _path(self, numbers: Any) -> tuple[Node, ...]:
        return tuple(self._nodes[number_in(each)] for each in _rows(numbers))

    def _place(self, number: Any) -> Location:
        return self._places[number_in(number)]

    def _location(self, page: Any, pointer: Any, key: Any, line: Any, column: Any) -> Location:
        found = Location(self._pages[number_in(page)], _pointer(pointer), _flag(key))
        cast("Page", found.document).places[found.pointer, found.key] = Position(number_in(line), number_in(column))
        return found


def _page(file: Any, *label: Any) -> Page:
    if len(label) == 1:
        return Page(text_in(file), text_in(label[0]))
    number, line = map(number_in, label)
    return Page(text_in(file), f"Document({file!r}, number={number}, line={line})")


def _kind(entry: Any, implementation: Any, origin: Any) -> PolicyKind:
    """A kind that says of itself what was kept, and nothing else."""
    found = policy_kind(entry, text_in(implementation), _one_of(origin, _ORIGINS))
    if kind_entry(found) != entry or not all(type(each) is str for each in (found.group, found.kind)):
        raise StoredError
    return found


def _value(value: Any) -> Any:
    """A value of a manifest, no deeper than one that is read may be."""
    if isinstance(value, (dict, list)) and is_deep(value):
        raise StoredError
    return value


def _rows(value: Any) -> list[Any]:
    if type(value) is not list:
        raise StoredError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(text_in, _rows(value)))


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise StoredError
    return value


def _pointer(value: Any) -> Pointer:
    return tuple(each if type(each) is int else text_in(each) for each in _rows(value))


def _one_of(value: Any, words: tuple[str, ...]) -> Any:
    if value not in words:
        raise StoredError
    return value
