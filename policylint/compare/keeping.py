"""A comparison as plain JSON values, for the cache; compare/stored.py makes one of them again.

Values that stand in several places are written once and numbered: keys, nodes, kinds, documents, places in them,
effective policies and settings, so that contexts that shared one share it again. What is no JSON (a mapping with a key
that is no text) or a kind that is not wholly said by its entry is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from policylint.catalog.entry import kind_entry
from policylint.compare.change import (
    Comparison,
    ContextChange,
    EnvironmentChange,
    Part,
    PolicyChange,
    Responsible,
    Setting,
    Subject,
    Touched,
)
from policylint.documents import Document
from policylint.documents.serialize import StoredError
from policylint.model import Finding, Location, Node, PolicyKind, ResourceKey
from policylint.model.fix import Change
from policylint.model.policy_kind import policy_kind
from policylint.model.resource import Written
from policylint.policy.results import Effective

_SCALARS: Final = (str, int, float, bool, type(None))


def plain(comparison: Comparison) -> list[Any]:
    """A comparison as lists, texts and numbers.

    Raises:
        StoredError: it cannot be kept.
    """
    keeping = _Keeping()
    environments = [keeping.environment(each) for each in comparison.environments]
    findings = [[keeping.finding(each.finding), each.state] for each in comparison.findings]
    return [*(table.rows for table in keeping.tables), environments, findings]


class _Table:
    """Rows, each written once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, known: Hashable, row: Callable[[], Any]) -> int:
        """The number of a row that is `known` by something."""
        found = self._numbers.get(known)
        if found is None:
            content = row()
            found = self._numbers[known] = len(self.rows)
            self.rows.append(content)
        return found


class _Keeping:
    """Makes plain values, and the tables that they name rows of. What is told apart by identity stays so: all of it is
    held by the comparison meanwhile."""

    def __init__(self) -> None:
        self.tables = tuple(_Table() for _ in range(7))
        self._keys, self._nodes, self._kinds, self._pages, self._places, self._effects, self._settings = self.tables

    def environment(self, change: EnvironmentChange) -> list[Any]:
        name, come_or_gone, routes, contexts, subjects, policies, objects, truncated, renamed = change
        return [
            name,
            come_or_gone,
            routes,
            [self._context(each) for each in contexts],
            [self._subject(each) for each in subjects],
            [self._policy(each) for each in policies],
            [self._touched(each) for each in objects],
            truncated,
            [[self._key(old), self._key(new)] for old, new in renamed.items()],
        ]

    def finding(self, finding: Finding) -> list[Any]:
        (rule, severity, message, location, resources, label, related, notes, confidence, field, environments,
         fixes) = finding  # fmt: skip
        return [
            rule,
            severity,
            message,
            self._place(location),
            [self._key(each) for each in resources],
            label,
            [[said, self._place(where)] for said, where in related],
            [*notes],
            confidence,
            field,
            [*environments],
            [[title, [self._change(each) for each in changes], safe] for title, changes, safe in fixes],
        ]

    def _change(self, change: Change) -> list[Any]:
        """The place of a key that becomes a list is asked for with the place of its value (edit/text.py)."""
        action, location, old, new = change
        if action == "list":
            self._place(location._replace(key=False))
        return [action, self._place(location), old, new]

    def _context(self, change: ContextChange) -> list[Any]:
        environment, kind, path, standing, before, after = change
        effects = [None if each is None else self._effect(each) for each in (before, after)]
        return [environment, self._kind(kind), self._path(path), standing, *effects]

    def _effect(self, effective: Effective) -> int:
        return self._effects.number(
            id(effective),
            lambda: [
                _as_json(effective.spec),
                [[[*pointer], self._key(owner)] for pointer, owner in effective.owners.items()],
                [[self._key(each.key), self._node(each.node)] for each in effective.stack],
            ],
        )

    def _subject(self, subject: Subject) -> list[Any]:
        environment, key, change, location, parts, reach, was, reason, rules = subject
        return [
            environment,
            self._key(key),
            change,
            None if location is None else self._place(location),
            [self._part(each) for each in parts],
            [[*each] for each in reach],
            None if was is None else self._key(was),
            reason,
            rules,
        ]

    def _part(self, part: Part) -> list[Any]:
        rules, all_rules, gateways, settings, lost = part
        return [
            self._path(rules),
            all_rules,
            [self._key(each) for each in gateways],
            [self._setting(each) for each in settings],
            [self._setting(each) for each in lost],
        ]

    def _setting(self, setting: Setting) -> int:
        return self._settings.number(id(setting), lambda: self._setting_row(setting))

    def _setting_row(self, setting: Setting) -> list[Any]:
        kind, name, change, before, after, *responsible, because = setting
        values = [_as_json(before), _as_json(after)]
        return [self._kind(kind), name, change, *values, *map(self._responsible, responsible), because]

    def _responsible(self, every: Iterable[Responsible]) -> list[Any]:
        return [[self._key(policy), None if place is None else self._place(place)] for policy, place in every]

    def _policy(self, change: PolicyChange) -> list[Any]:
        environment, policy, before, after, by, location, was = change
        keys = [self._key(each) for each in by]
        last = None if was is None else self._key(was)
        return [environment, self._key(policy), before, after, keys, self._place(location), last]

    def _touched(self, touched: Touched) -> list[Any]:
        environment, key, change, routes, rules, hostnames, namespaces, was = touched
        return [
            environment,
            self._key(key),
            change,
            [self._key(each) for each in routes],
            self._path(rules),
            [*hostnames],
            [*namespaces],
            None if was is None else self._key(was),
        ]

    def _key(self, key: ResourceKey) -> int:
        return self._keys.number(key, lambda: [*key])

    def _node(self, node: Node) -> int:
        return self._nodes.number(node, lambda: [self._key(node.key), node.section, node.role])

    def _path(self, nodes: Iterable[Node]) -> list[int]:
        return [self._node(each) for each in nodes]

    def _kind(self, kind: PolicyKind) -> int:
        return self._kinds.number(id(kind), lambda: _kind_row(kind))

    def _place(self, location: Location) -> int:
        document, pointer, key = location
        # Spots and lines of templates are equal by what they hold, documents by identity: so are pages, by number.
        known = repr(document) if isinstance(document, tuple) else id(document)
        page = self._pages.number(known, lambda: _page_row(document))
        return self._places.number((page, pointer, key), lambda: [page, [*pointer], key, *location.at()])


def _page_row(document: Written) -> list[Any]:
    """The file, and how the document itself prints."""
    if type(document) is Document:
        return [document.file, document.number, document.line]
    return [document.file, repr(document)]


def _kind_row(kind: PolicyKind) -> list[Any]:
    row = [kind_entry(kind), kind.implementation, kind.origin]
    if policy_kind(kind_entry(kind), kind.implementation, kind.origin) != kind:
        raise StoredError
    return row


def _as_json(value: Any) -> Any:
    """The value, of which nothing is lost as JSON.

    Raises:
        StoredError: something would be.
    """
    pending = [value]
    while pending:
        here = pending.pop()
        if type(here) is dict:
            if not all(type(name) is str for name in here):
                raise StoredError
            pending += here.values()
        elif type(here) is list:
            pending += here
        elif type(here) not in _SCALARS:
            raise StoredError
    return value
