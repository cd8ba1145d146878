"""What changes for each route (and Gateway, and Service): contexts rolled up, settings that change together in one
part, ways in that open and close."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policylint.compare.attachment import reach_of, rules_of
from policylint.compare.change import ContextChange, Part, Setting, Subject, SubjectChange
from policylint.compare.settings import ORDER, aims, settings, sources
from policylint.compare.sides import Sides
from policylint.model import Location, Node, PolicyKind, ResourceKey
from policylint.namedtuple import NamedTuple
from policylint.policy.results import Effective, Group

MOST_UNCHANGED = 12
"""Settings that stay, per part; more would hide those that change."""


class _Scope(NamedTuple):
    rules: frozenset[Node]
    gateways: frozenset[ResourceKey]

    def order(self) -> tuple[list[Node], list[ResourceKey]]:
        return sorted(self.rules), sorted(self.gateways)


def subject_of(path: Sequence[Node]) -> ResourceKey:
    """Whom a context is about: its last route, else what it ends in."""
    return next((node.key for node in reversed(path) if node.key.kind.endswith("Route")), path[-1].key)


def subjects(sides: Sides, contexts: Iterable[ContextChange]) -> list[Subject]:
    """Routes first, then what else is a subject; sorted."""
    by_subject: dict[ResourceKey, list[ContextChange]] = defaultdict(list)
    for each in contexts:
        by_subject[subject_of(each.path)].append(each)
    old = {sides.pairing.key(each.route.key) for each in sides.before.topology.routes}
    new = {each.route.key for each in sides.after.topology.routes}
    keys = set(by_subject) | (old ^ new) | {key for key in old & new if sides.pairing.was(key) != key}
    keys |= {key for key in old & new if key not in keys and reach_of(sides.before, sides.after, sides.pairing, key)}
    judged = _Judged(sides)
    found = []
    for key in sorted(keys):
        subject = _subject(sides, key, by_subject.get(key, []), judged)
        if subject is not None:
            found.append(subject)
    found.sort(key=lambda each: (not each.is_route, each.key))
    return found


def _subject(sides: Sides, key: ResourceKey, contexts: list[ContextChange], judged: _Judged) -> Subject | None:
    before, after, pairing = sides
    old, new = before.world.get(pairing.was(key)), after.world.get(key)
    change: SubjectChange = "changed"
    if new is None:
        change = "removed"
    elif old is None:
        change = "added"
    every = rules_of(after, key)
    parts = tuple(_parts(sides, key, contexts, judged, every, "new" if change == "added" else "both"))
    reach = reach_of(before, after, pairing, key, contexts) if change == "changed" else ()
    was = pairing.was(key) if pairing.was(key) != key else None
    if change == "changed" and not parts and not reach:
        if was is None:
            return None
        change = "renamed"
    if change in ("added", "removed") and not key.kind.endswith("Route") and not parts:
        return None
    location: Location | None = None
    written = new or old
    if written is not None:
        location = written.name_location
    return Subject(before.world.name, key, change, location, parts, reach, was, "", len(every))


def _parts(
    sides: Sides,
    key: ResourceKey,
    contexts: list[ContextChange],
    judged: _Judged,
    every: frozenset[Node],
    which: str,
) -> Iterator[Part]:
    """Contexts of one effective policy before and after are one part; parts of one scope are put together."""
    scopes: dict[tuple[int, int, tuple[str, str]], list[ContextChange]] = defaultdict(list)
    fresh: frozenset[Node] | None = None
    for each in contexts:
        if each.standing == "new" and which != "new":
            if fresh is None:
                fresh = every - {sides.pairing.node(node) for node in rules_of(sides.before, sides.pairing.was(key))}
            if fresh.isdisjoint(each.path):
                continue
        elif each.standing != which:
            continue
        scopes[id(each.before), id(each.after), (each.kind.group, each.kind.kind)].append(each)
    parts: dict[_Scope, tuple[list[Setting], list[Setting]]] = defaultdict(lambda: ([], []))
    for several in scopes.values():
        first = several[0]
        listed = judged.settings(first)
        lost = list(_lost(first.kind, first.after)) if which == "new" else []
        if all(each.change in ("moved", "unchanged") for each in listed) and not lost:
            continue
        rules = frozenset(node for each in several for node in each.path if node.role.endswith("Rule"))
        gateways = frozenset(node.key for each in several for node in each.path if node.key.kind == "Gateway")
        scope = _Scope(frozenset(rules & every) or rules, gateways)
        parts[scope][0].extend(listed)
        parts[scope][1].extend(lost)
    for scope, (listed, lost) in sorted(
        parts.items(), key=lambda each: (sorted(each[0].rules), sorted(each[0].gateways))
    ):
        kinds = {(each.kind.group, each.kind.kind) for each in listed}
        listed += judged.standing(key, scope.rules, kinds)
        listed.sort(key=lambda each: (ORDER.index(each.change), each.kind.kind, each.name))
        whole = not scope.rules or scope.rules >= every
        yield Part(tuple(sorted(scope.rules)), whole, tuple(sorted(scope.gateways)), tuple(listed), tuple(lost))


def _lost(kind: PolicyKind, effective: Effective | None) -> Iterator[Setting]:
    """What a new route would get from above, and does not because a policy of its own replaces it."""
    if effective is None:
        return
    gone: dict[str, set[ResourceKey]] = defaultdict(set)
    winners: dict[str, set[ResourceKey]] = defaultdict(set)
    for each in effective.lost:
        if each.pointer and not each.replaced and str(each.pointer[0]) not in effective.spec:
            gone[str(each.pointer[0])].add(each.policy)
            winners[str(each.pointer[0])].update(each.by)
    for name, policies in sorted(gone.items()):
        value = next(
            (declared.proper[name] for each in effective.stack if each.key in policies
             for declared in each.declared if name in declared.proper), None,
        )  # fmt: skip
        owners = tuple(aims(effective, sorted(policies)))
        by = tuple(aims(effective, sorted(winners[name])))
        yield Setting(kind, name, "removed", value, None, owners, (), by)


class _Judged:
    """Settings, each pair of effective policies judged once: what is above many routes is the same for all of them."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._changed: dict[tuple[int, int], list[Setting]] = {}
        self._unchanged: dict[int, list[Setting]] = {}
        self._groups: dict[ResourceKey, list[Group]] | None = None

    def settings(self, change: ContextChange) -> list[Setting]:
        """Of the kind that changes."""
        pair = (id(change.before), id(change.after))
        found = self._changed.get(pair)
        if found is None:
            found = self._changed[pair] = settings(change.kind, change.before, change.after, *self._sides)
        return found

    def standing(self, key: ResourceKey, rules: frozenset[Node], but: set[tuple[str, str]]) -> list[Setting]:
        """Of kinds other than `but`, where one effective policy holds for all of the rules: shown beside the others."""
        if self._groups is None:
            self._groups = defaultdict(list)
            for group in self._sides.after.groups:
                for node in group.nodes:
                    if not node.section:
                        self._groups[node.key].append(group)
        by_kind: dict[tuple[str, str], list[Group]] = defaultdict(list)
        for group in self._groups.get(key, ()):
            kind = (group.kind.group, group.kind.kind)
            if kind not in but and (
                not rules or any(each in group.nodes for each in rules) or not _reaches_rules(group)
            ):
                by_kind[kind].append(group)
        found: list[Setting] = []
        for _, groups in sorted(by_kind.items()):
            if len(groups) == 1:
                found += self._of_group(groups[0])
        return found[:MOST_UNCHANGED]

    def _of_group(self, group: Group) -> list[Setting]:
        found = self._unchanged.get(id(group))
        if found is None:
            found = self._unchanged[id(group)] = list(_unchanged(group))
        return found


def _unchanged(group: Group) -> Iterator[Setting]:
    for name in sorted(group.effective.spec):
        value = group.effective.spec[name]
        owners = sources(group.effective, name)
        yield Setting(group.kind, name, "unchanged", value, value, owners, owners)


def _reaches_rules(group: Group) -> bool:
    return any(node.role.endswith("Rule") for node in group.nodes)
