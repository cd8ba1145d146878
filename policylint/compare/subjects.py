"""The changes of each route, Gateway and Service: contexts rolled up, settings that change together in one part.

The ways to a route that open and close stand beside them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policylint.compare.attachment import attachment_changes, rules_of
from policylint.compare.change import (
    AttachmentChange,
    ContextChange,
    Part,
    SettingChange,
    SubjectChange,
    SubjectChangeKind,
)
from policylint.compare.failures import failure_changes
from policylint.compare.pairing import Sides
from policylint.compare.settings import ORDER, settings, sources, with_targets
from policylint.model import GATEWAY_GROUP, ROUTE_KINDS, Node, PolicyKind, Resource, ResourceKey
from policylint.policy.results import Effective, Group
from policylint.simulation import Simulation

MOST_UNCHANGED = 12
"""Most settings of a part that stay; more would hide those that change."""
_Scope = tuple[tuple[Node, ...], tuple[ResourceKey, ...]]
"""The rules and Gateways that a part is about."""


def subject_of(path: Sequence[Node]) -> ResourceKey:
    """Return the object that a context is about: its last route, else the node that it ends in."""
    return next((node.key for node in reversed(path) if node.key.kind.endswith("Route")), path[-1].key)


def subject_changes(sides: Sides, contexts: Iterable[ContextChange]) -> list[SubjectChange]:
    """Return what changes for each subject, routes first, sorted."""
    by_subject: dict[ResourceKey, list[ContextChange]] = defaultdict(list)
    for context in contexts:
        by_subject[subject_of(context.path)].append(context)
    old = {sides.pairing.key(state.route.key) for state in sides.before.topology.routes}
    new = {state.route.key for state in sides.after.topology.routes}
    keys = set(by_subject) | (old ^ new) | {key for key in old & new if sides.pairing.was(key) != key}
    failing = failure_changes(sides)
    keys |= {key for key in (old & new) - keys if key in failing or attachment_changes(sides, key)}
    cache = _SettingsCache(sides)
    subjects = (_subject(sides, key, by_subject.get(key, []), failing.get(key, ()), cache) for key in keys)
    changes = [subject for subject in subjects if subject is not None]
    return sorted(changes, key=lambda change: (not change.is_route, change.key))


def _subject(
    sides: Sides,
    key: ResourceKey,
    contexts: list[ContextChange],
    failing: tuple[AttachmentChange, ...],
    cache: _SettingsCache,
) -> SubjectChange | None:
    """Return what changes for one subject, None if nothing does."""
    before, after, pairing = sides
    old, new = _there(before, pairing.was(key)), _there(after, key)
    change: SubjectChangeKind = "changed"
    if new is None:
        change = "removed"
    elif old is None:
        change = "added"
    all_rules = rules_of(after, key)
    parts = tuple(_parts(sides, key, contexts, cache, all_rules, "new" if change == "added" else "both"))
    reach = (*failing, *attachment_changes(sides, key, contexts)) if change == "changed" else ()
    was = pairing.was(key) if pairing.was(key) != key else None
    if change == "changed" and not parts and not reach:
        if was is None:
            return None
        change = "renamed"
    if change in ("added", "removed") and not key.kind.endswith("Route") and not parts:
        return None
    written = new or old
    location = None if written is None else written.name_location
    return SubjectChange(before.world.name, key, change, location, parts, reach, was, "", len(all_rules))


def _there(side: Simulation, key: ResourceKey) -> Resource | None:
    """Return an object as a cluster has it: none of a route that the API server refuses. Those of a mesh's own group
    lead no requests here by themselves."""
    if key.group == GATEWAY_GROUP and key.kind in ROUTE_KINDS and side.topology.route(key) is None:
        return None
    return side.world.get(key)


def _parts(
    sides: Sides,
    key: ResourceKey,
    contexts: list[ContextChange],
    cache: _SettingsCache,
    all_rules: frozenset[Node],
    standing: str,
) -> Iterator[Part]:
    """Yield the changes of a subject by scope.

    Contexts with the same effective policy before and the same one after make one part; parts of one scope are merged.
    """
    scopes: dict[tuple[int, int, tuple[str, str]], list[ContextChange]] = defaultdict(list)
    new_rules: frozenset[Node] | None = None
    for context in contexts:
        if context.standing == "new" and standing != "new":
            # A subject that was there before: of its new paths only those through a new rule count. A new listener is a
            # change of its attachment.
            if new_rules is None:
                old_rules = rules_of(sides.before, sides.pairing.was(key))
                new_rules = all_rules.difference(map(sides.pairing.node, old_rules))
            if new_rules.isdisjoint(context.path):
                continue
        elif context.standing != standing:
            continue
        scopes[id(context.before), id(context.after), (context.kind.group, context.kind.kind)].append(context)
    parts: dict[_Scope, tuple[list[SettingChange], list[SettingChange]]] = defaultdict(lambda: ([], []))
    for same_change in scopes.values():
        first = same_change[0]
        changes = cache.settings(first)
        lost = list(_lost(first.kind, first.after)) if standing == "new" else []
        if all(setting.change in ("moved", "unchanged") for setting in changes) and not lost:
            continue
        rules = {node for context in same_change for node in context.path if node.role.endswith("Rule")}
        gateways = {node.key for context in same_change for node in context.path if node.key.kind == "Gateway"}
        scope = tuple(sorted(rules & all_rules or rules)), tuple(sorted(gateways))
        parts[scope][0].extend(changes)
        parts[scope][1].extend(lost)
    for (scope_rules, scope_gateways), (changes, lost) in sorted(parts.items(), key=lambda part: part[0]):
        kinds = {(setting.kind.group, setting.kind.kind) for setting in changes}
        changes += cache.standing(key, scope_rules, kinds)
        changes.sort(key=lambda setting: (ORDER.index(setting.change), setting.kind.kind, setting.name))
        is_whole = not scope_rules or all_rules.issubset(scope_rules)
        yield Part(scope_rules, is_whole, scope_gateways, tuple(changes), tuple(lost))


def _lost(kind: PolicyKind, effective: Effective | None) -> Iterator[SettingChange]:
    """Yield what a new route would get from above and does not get because a policy of its own replaces it."""
    if effective is None:
        return
    losers: dict[str, set[ResourceKey]] = defaultdict(set)
    winners: dict[str, set[ResourceKey]] = defaultdict(set)
    for lost in effective.lost:
        if lost.pointer and not lost.replaced and str(lost.pointer[0]) not in effective.spec:
            losers[str(lost.pointer[0])].add(lost.policy)
            winners[str(lost.pointer[0])].update(lost.by)
    for name, policies in sorted(losers.items()):
        value = next(
            (declared.proper[name] for attachment in effective.stack if attachment.key in policies
             for declared in attachment.declared if name in declared.proper), None,
        )  # fmt: skip
        owners, by = with_targets(effective, sorted(policies)), with_targets(effective, sorted(winners[name]))
        yield SettingChange(kind, name, "removed", value, None, owners, (), by)


class _SettingsCache:
    """The settings of pairs of effective policies, compared once: many routes share what is above them."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._changed: dict[tuple[int, int], list[SettingChange]] = {}
        self._unchanged: dict[int, list[SettingChange]] = {}
        self._groups: dict[ResourceKey, list[Group]] | None = None

    def settings(self, change: ContextChange) -> list[SettingChange]:
        """Return the settings of the kind that changes."""
        pair = (id(change.before), id(change.after))
        if pair not in self._changed:
            self._changed[pair] = settings(change.kind, change.before, change.after, self._sides)
        return self._changed[pair]

    def standing(self, key: ResourceKey, rules: Sequence[Node], shown: set[tuple[str, str]]) -> list[SettingChange]:
        """Return unchanged settings of kinds other than `shown`, to show beside the changes.

        Only kinds of which one effective policy holds for all of the rules; at most MOST_UNCHANGED settings.
        """
        if self._groups is None:
            self._groups = defaultdict(list)
            for group in self._sides.after.groups:
                for node in group.nodes:
                    if not node.section:
                        self._groups[node.key].append(group)
        by_kind: dict[tuple[str, str], list[Group]] = defaultdict(list)
        for group in self._groups.get(key, ()):
            kind = (group.kind.group, group.kind.kind)
            reaches_rules = any(node.role.endswith("Rule") for node in group.nodes)
            acts = not rules or not reaches_rules or any(rule in group.nodes for rule in rules)
            if acts and kind not in shown:
                by_kind[kind].append(group)
        unchanged: list[SettingChange] = []
        for _, groups in sorted(by_kind.items()):
            if len(groups) == 1:
                unchanged += self._of_group(groups[0])
        return unchanged[:MOST_UNCHANGED]

    def _of_group(self, group: Group) -> list[SettingChange]:
        """Return the settings of a group as unchanged."""
        if id(group) not in self._unchanged:
            spec = group.effective.spec
            owners = {name: sources(group.effective, name) for name in spec}
            self._unchanged[id(group)] = [
                SettingChange(group.kind, name, "unchanged", spec[name], spec[name], owners[name], owners[name])
                for name in sorted(spec)
            ]
        return self._unchanged[id(group)]
