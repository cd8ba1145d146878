"""What changes for each route (and Gateway, and Service): contexts rolled up, settings that change together in one
part, ways in that open and close."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policylint.compare.change import ContextChange, Part, Setting, Subject, SubjectChange
from policylint.compare.reach import reach_of, rules_of
from policylint.compare.settings import ORDER, aims, settings, sources
from policylint.compare.sides import Sides
from policylint.model import Location, Node, PolicyKind, ResourceKey
from policylint.policy.state import Effective, Group
from policylint.records import NamedTuple
from policylint.simulation import Simulation

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
    keys |= {key for key in old & new if reach_of(sides.before, sides.after, sides.pairing, key)}
    unchanging = _Standing(sides.after)
    found = []
    for key in sorted(keys):
        subject = _subject(sides, key, by_subject.get(key, []), unchanging)
        if subject is not None:
            found.append(subject)
    found.sort(key=lambda each: (not each.is_route, each.key))
    return found


def _subject(sides: Sides, key: ResourceKey, contexts: list[ContextChange], standing: _Standing) -> Subject | None:
    before, after, pairing = sides
    old, new = before.world.get(pairing.was(key)), after.world.get(key)
    change: SubjectChange = "changed"
    if new is None:
        change = "removed"
    elif old is None:
        change = "added"
    parts = tuple(_parts(sides, key, contexts, standing, "new" if change == "added" else "both"))
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
    return Subject(before.world.name, key, change, location, parts, reach, was, "", len(rules_of(after, key)))


def _parts(
    sides: Sides, key: ResourceKey, contexts: list[ContextChange], standing: _Standing, which: str
) -> Iterator[Part]:
    """Contexts of one effective policy before and after are one part; parts of one scope are put together."""
    scopes: dict[tuple[int, int, tuple[str, str]], list[ContextChange]] = defaultdict(list)
    every = rules_of(sides.after, key)
    former = {sides.pairing.node(node) for node in rules_of(sides.before, sides.pairing.was(key))}
    for each in contexts:
        if each.standing == which or (each.standing == "new" and every.intersection(each.path) - former):
            scopes[id(each.before), id(each.after), (each.kind.group, each.kind.kind)].append(each)
    parts: dict[_Scope, tuple[list[Setting], list[Setting]]] = defaultdict(lambda: ([], []))
    for several in scopes.values():
        first = several[0]
        listed = settings(first.kind, first.before, first.after, *sides)
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
        listed += standing.settings(key, scope.rules, kinds)
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


class _Standing:
    """The settings of kinds that do not change for a route: shown beside those that do."""

    def __init__(self, after: Simulation) -> None:
        self._after = after
        self._groups: dict[ResourceKey, list[Group]] | None = None

    def settings(self, key: ResourceKey, rules: frozenset[Node], but: set[tuple[str, str]]) -> list[Setting]:
        """Of kinds other than `but`, where one effective policy holds for all of the rules."""
        if self._groups is None:
            self._groups = defaultdict(list)
            for group in self._after.groups:
                for node in group.nodes:
                    if not node.section:
                        self._groups[node.key].append(group)
        by_kind: dict[tuple[str, str], list[Group]] = defaultdict(list)
        for group in self._groups.get(key, ()):
            kind = (group.kind.group, group.kind.kind)
            if kind not in but and (not rules or rules & group.nodes.keys() or not _reaches_rules(group)):
                by_kind[kind].append(group)
        found: list[Setting] = []
        for _, groups in sorted(by_kind.items()):
            if len(groups) == 1:
                effective = groups[0].effective
                for name in sorted(effective.spec):
                    value = effective.spec[name]
                    owners = sources(effective, name)
                    found.append(Setting(groups[0].kind, name, "unchanged", value, value, owners, owners))
        return found[:MOST_UNCHANGED]


def _reaches_rules(group: Group) -> bool:
    return any(node.role.endswith("Rule") for node in group.nodes)
