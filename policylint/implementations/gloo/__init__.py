"""Gloo Gateway's options: first come first served, the parent before the child in delegation (§3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from policylint.implementations.generic import Implementation
from policylint.implementations.gloo.merging import FIRST_ONLY, merged, options
from policylint.model import Node, PolicyKind, Resource, ResourceKey, text
from policylint.policy import merge, verdict
from policylint.policy.effective import Effects
from policylint.policy.state import Attachment, Effective, Group, PolicyState
from policylint.topology import Topology, whole

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

    def groups(self, kind: PolicyKind, kept: dict[Node, list[Attachment]], topology: Topology) -> list[Group]:
        """Per route rule or listener."""
        self._topology = topology
        found = Effects(topology, kind, kept, self.merge).groups()
        return found if kind.kind == "RouteOption" else [*found, *self._not_let_in(kind, kept, topology)]

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
                    effective = self.merge(merge.Stack(kind, attachments))
                    keys = frozenset(each.key for each in attachments)
                    yield Group(kind, effective, partial(iter, (path,)), dict.fromkeys(path[1:], keys))

    def merge(self, stack: merge.Stack) -> Effective:
        """Field by field; of ListenerOptions and HttpListenerOptions the first alone."""
        return merged(stack, self._route)

    def _route(self, key: ResourceKey) -> Resource | None:
        state = self._topology.route(key) if self._topology is not None else None
        return None if state is None else state.route

    def judge(self, states: list[PolicyState], topology: Topology) -> None:  # noqa: ARG002
        """What the controller never looks at, in another namespace, has no target; what adds nothing is overridden."""
        for state in states:
            verdict.judge(state)
            if state.verdict == "Invalid" and not state.invalid_code and _elsewhere(state):
                state.verdict = "TargetNotFound"
            elif state.verdict == "Enforced" and _adds_nothing(state):
                state.verdict = "Overridden"
                state.by = tuple(sorted({owner for group in state.groups for owner in group.effective.sources}))

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


def _elsewhere(state: PolicyState) -> bool:
    return all(target.problem in ("", "other-namespace") for target in state.targets)


def _adds_nothing(state: PolicyState) -> bool:
    """Whether a policy sets no field at all where others do, or is not the first where the first alone counts."""
    if any(True for each in state.declared for _ in options(each.proper)):
        return False
    others = any(group.effective.sources for group in state.groups)
    return others or (state.kind.kind in FIRST_ONLY and any(len(group.effective.stack) > 1 for group in state.groups))
