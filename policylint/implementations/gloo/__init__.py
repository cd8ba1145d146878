"""Gloo Gateway's options: first come first served, the parent before the child in delegation.

Source: docs/design/implementations/kgateway-nginx-gloo.md §3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policylint.implementations.generic import Implementation
from policylint.implementations.gloo.merging import FIRST_ONLY, merged, options
from policylint.model import Node, PolicyKind, Resource, ResourceKey, text
from policylint.policy import verdict
from policylint.policy.effective import Effects
from policylint.policy.folding import Stack
from policylint.policy.results import Attachment, Effective, Group, Idle, PolicyState
from policylint.topology import Condition, ParentState, RouteState, Topology, whole
from policylint.topology.routes import extension_refs, rules

GROUP = "gateway.solo.io"
NAMESPACE = "gloo-system"
"""Where Gloo is installed by default."""
_SILENT = ("Accepted", "Conflicted", "Invalid", "TargetNotFound", "Unknown")
_WARNED = {
    "ListenerOption": "not attached to Gateway due to higher priority ListenerOption",
    "VirtualHostOption": "not attached to listener due to conflict with more specific or older VirtualHostOptions",
}
"""Kinds of which the controller says that one adds nothing."""


class Gloo(Implementation):
    """RouteOption, VirtualHostOption, ListenerOption and HttpListenerOption."""

    name = "gloo"

    def __init__(self) -> None:
        self._topology: Topology | None = None
        self._broken: tuple[Topology, dict[Node, ResourceKey]] | None = None

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """Per route rule or listener."""
        self._topology = topology
        if kind.kind == "RouteOption":
            return Effects(topology, kind, self._readable(kept, topology), self.merge).groups()
        found = Effects(topology, kind, kept, self.merge).groups()
        return [*found, *self._not_let_in(kind, kept, topology)]

    def _readable(self, kept: dict[Node, list[Attachment]], topology: Topology) -> dict[Node, list[Attachment]]:
        """What stands where the controller can read the options: a rule of which one filter names a RouteOption that
        is not there gets none of its route's (GetRouteOptionForRouteRule in plugins/routeoptions/query)."""
        broken = self._unread(topology)
        found = dict(kept)
        for key in sorted({node.key for node in broken}):
            state = topology.route(key)
            wide = found.pop(whole(key), [])
            for rule in rules(state.route) if state is not None else ():
                own = found.pop(rule.node, [])
                if rule.node not in broken and (wide or own):
                    found[rule.node] = [*wide, *own]
        return found

    def _not_let_in(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> Iterator[Group]:
        """Listeners of ListenerSets that their Gateway does not let in: the options of a listener are looked up by
        what the ListenerSet names, whatever allowedListeners says (plugins/virtualhostoptions)."""
        for state in topology.listener_sets:
            if state.allowed is not False or not state.resolution.found:
                continue
            for listener in state.listeners:
                path = (whole(state.parent), whole(state.listener_set.key), listener.node)
                attachments = tuple(each for node in path for each in kept.get(node, ()))
                if attachments:
                    effective = self.merge(Stack(kind, attachments))
                    keys = frozenset(each.key for each in attachments)
                    yield Group(kind, effective, partial(iter, (path,)), dict.fromkeys(path[1:], keys))

    def merge(self, stack: Stack) -> Effective:
        """Field by field; of ListenerOptions and HttpListenerOptions the first alone."""
        return merged(stack, self._route)

    def _route(self, key: ResourceKey) -> Resource | None:
        state = self._topology.route(key) if self._topology is not None else None
        return None if state is None else state.route

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """What the controller never looks at, in another namespace, has no target; what adds nothing is overridden."""
        broken = self._unread(topology)
        for state in states:
            verdict.judge(state)
            if state.verdict == "Invalid" and not state.invalid_code and _elsewhere(state):
                state.verdict = "TargetNotFound"
            elif state.verdict == "Enforced" and _adds_nothing(state):
                state.verdict = "Overridden"
                state.by = tuple(sorted({owner for group in state.groups for owner in group.effective.sources}))
            elif state.verdict in ("Enforced", "Accepted") and state.kind.kind == "RouteOption":
                _passed_over(state, broken)

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """The topology's, and BackendNotFound for a filter that names a RouteOption that is not there."""
        found = super().route_conditions(route, parent, topology)
        gone = [
            f"'{key.kind} {key.path}'" for node, key in self._unread(topology).items() if node.key == route.route.key
        ]
        if not gone:
            return found
        message = f"extensionRef {', '.join(gone)} not found"
        unresolved = Condition("ResolvedRefs", "False", "BackendNotFound", message)
        return tuple(unresolved if each.type == "ResolvedRefs" else each for each in found)

    def _unread(self, topology: Topology) -> dict[Node, ResourceKey]:
        """The rules with a filter that names a RouteOption that is not there, and the first that it names."""
        if self._broken is None or self._broken[0] is not topology:
            found: dict[Node, ResourceKey] = {}
            for state in topology.routes:
                for node, _, wanted in extension_refs(state.route):
                    option = (wanted.group, wanted.kind) == (GROUP, "RouteOption")
                    if option and topology.world.resolve_inner(wanted).missing:
                        found.setdefault(node, wanted)
            self._broken = topology, found
        return self._broken[1]

    def stanza(self, state: PolicyState) -> Mapping[str, Any]:
        """solo-kit's status, by the namespace of the controller: Accepted, or Warning for what adds nothing.

        Nothing is written of what reaches no listener and no route, nor of RouteOptions and HttpListenerOptions that
        add nothing (§3).
        """
        kind = state.kind.kind
        if state.verdict in _SILENT or (state.verdict == "Overridden" and kind not in _WARNED):
            return {}
        report: dict[str, Any] = {"state": "Accepted"}
        if state.verdict == "Overridden":
            report = {"state": "Warning", "reason": _WARNED[kind]}
        return {"statuses": {text(self.settings.get("namespace"), NAMESPACE): report}}


def _passed_over(state: PolicyState, broken: Mapping[Node, ResourceKey]) -> None:
    """A policy of a rule, or of a route with a rule, whose filters name an option that is not there."""
    for target in state.targets:
        for node in target.nodes:
            gone = next((rule for rule in broken if rule == node or (rule.key == node.key and not node.section)), None)
            if gone is None:
                continue
            if state.groups:
                state.verdict = "PartiallyEnforced"
            else:
                why = f"{gone} names {broken[gone]}, which is not there, and gets no options at all then"
                state.idle = Idle(target, why, "take the filter away, or write the option that it names")


def _elsewhere(state: PolicyState) -> bool:
    return all(target.problem in ("", "other-namespace") for target in state.targets)


def _adds_nothing(state: PolicyState) -> bool:
    """Whether a policy sets no field at all where others do, or is not the first where the first alone counts."""
    if any(True for each in state.declared for _ in options(each.proper)):
        return False
    others = any(group.effective.sources for group in state.groups)
    return others or (state.kind.kind in FIRST_ONLY and any(len(group.effective.stack) > 1 for group in state.groups))
