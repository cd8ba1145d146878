"""Gloo Gateway's options: first come first served, the parent before the child in delegation.

Source: docs/design/implementations/kgateway-nginx-gloo.md §3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policylint.implementations.generic import Attachments, Implementation, resolved_to
from policylint.implementations.gloo.merging import FIRST_ONLY, merged, on_routes, options
from policylint.model import Node, PolicyKind, Resource, ResourceKey, sequence, text
from policylint.policy import verdict
from policylint.policy.folding import Stack
from policylint.policy.paths import ListedPaths
from policylint.policy.results import Attachment, Effective, Group, Idle, PolicyState, Target
from policylint.topology import Condition, ParentState, RouteState, Topology, whole
from policylint.topology.grants import Grants
from policylint.topology.routes import extension_refs, rules

_GROUP = "gateway.solo.io"
_ANSWERS = ("gateway.gloo.solo.io", "DirectResponse")
_NAMESPACE = "gloo-system"
"""The namespace of a default installation."""
_SILENT = ("Conflicted", "Invalid", "NoEffect", "TargetNotFound", "Unknown")
_WARNED = {
    "ListenerOption": "not attached to Gateway due to higher priority ListenerOption",
    "VirtualHostOption": "not attached to listener due to conflict with more specific or older VirtualHostOptions",
}
"""Kinds of which the controller says that one adds nothing."""


class Gloo(Implementation):
    """RouteOption, VirtualHostOption, ListenerOption and HttpListenerOption."""

    name = "gloo"
    preflights = 200, False
    serves_refused = frozenset({"IncompatibleFilters"})
    flat_delegation = True  # as in kgateway, which comes of it

    def __init__(self) -> None:
        self._broken: dict[Node, ResourceKey] | None = None

    def targets(self, policy: Resource, kind: PolicyKind, topology: Topology, grants: Grants) -> tuple[Target, ...]:
        """Resolve a section of a Gateway to all listeners of that name, those of its ListenerSets included.

        The name is compared with the listener's, wherever that is from (GetPrioritizedListenerPolicies in
        translator/utils).
        """
        return tuple(_in_listener_sets(target, topology) for target in super().targets(policy, kind, topology, grants))

    def groups(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> list[Group]:
        """Return one group per stack over route rules or listeners."""
        if kind.kind == "RouteOption":
            return super().groups(kind, self._readable(kept, topology), topology)
        return [*super().groups(kind, kept, topology), *self._not_let_in(kind, kept, topology)]

    def _readable(self, kept: Attachments, topology: Topology) -> Attachments:
        """Return the attachments of the rules whose options the controller can read.

        A rule with a filter that names a missing RouteOption gets none of its route's either
        (GetRouteOptionForRouteRule in plugins/routeoptions/query).
        """
        broken = self._unread(topology)
        readable = dict(kept)
        for key in sorted({node.key for node in broken}):
            state = topology.route(key)
            wide = readable.pop(whole(key), [])
            for rule in rules(state.route) if state is not None else ():
                own = readable.pop(rule.node, [])
                if rule.node not in broken and (wide or own):
                    readable[rule.node] = [*wide, *own]
        return readable

    def _not_let_in(self, kind: PolicyKind, kept: Attachments, topology: Topology) -> Iterator[Group]:
        """Yield the groups of ListenerSets that their Gateway does not let in.

        The options of a listener are looked up by what the ListenerSet names, whatever allowedListeners says
        (plugins/virtualhostoptions).
        """
        for state in topology.listener_sets:
            if state.allowed is not False or not state.resolution.found:
                continue
            for listener in state.listeners:
                path = (whole(state.parent), whole(state.listener_set.key), listener.node)
                attachments = tuple(attachment for node in path for attachment in kept.get(node, ()))
                if attachments:
                    effective = self.merge(Stack(kind, attachments))
                    keys = frozenset(attachment.key for attachment in attachments)
                    yield Group(kind, effective, ListedPaths((path,)), dict.fromkeys(path[1:], keys))

    def merge(self, stack: Stack) -> Effective:
        """Merge field by field; of ListenerOptions and HttpListenerOptions take the first alone."""
        return merged(stack, self._route)

    def _route(self, key: ResourceKey) -> Resource | None:
        state = self.topology.route(key)
        return None if state is None else state.route

    def gives_way(self, kind: PolicyKind, path: str, beside: Iterable[Effective]) -> bool:
        """Tell whether the options of the route keep a setting of its virtual host from acting."""
        of_route = (effective.spec for effective in beside if any(_of_route(each) for each in effective.stack))
        return kind.kind == "VirtualHostOption" and on_routes(path, of_route)

    def judge(self, states: list[PolicyState], topology: Topology) -> None:
        """Set verdicts: a target in another namespace is not found, a policy that adds nothing is overridden."""
        broken = self._unread(topology)
        for state in states:
            verdict.judge(state)
            elsewhere = all(target.problem in ("", "other-namespace") for target in state.targets)
            if state.verdict == "Invalid" and not state.invalid_code and elsewhere:
                state.verdict = "TargetNotFound"
            elif state.verdict == "Enforced" and _adds_nothing(state):
                state.verdict = "Overridden"
                state.by = tuple(sorted({owner for group in state.groups for owner in group.effective.sources}))
            elif state.verdict in ("Enforced", "NoEffect") and state.kind.kind == "RouteOption":
                _passed_over(state, broken)

    def route_conditions(self, route: RouteState, parent: ParentState, topology: Topology) -> tuple[Condition, ...]:
        """Return the topology's conditions, and what the plugins add.

        BackendNotFound for a filter that names a missing RouteOption or DirectResponse, IncompatibleFilters for a
        DirectResponse beside another or beside backends (plugins/directresponse).
        """
        own: dict[str, Condition] = {}
        gone = [
            f"'{key.kind} {key.path}'" for node, key in self._unread(topology).items() if node.key == route.route.key
        ]
        for rule in rules(route.route):
            answers = [key for node, _, key in extension_refs(route.route) if node == rule.node and key[:2] == _ANSWERS]
            gone += [f"'{key.kind} {key.path}'" for key in answers if topology.world.resolve_inner(key).missing]
            if len(answers) > 1 or (answers and sequence(rule.body.get("backendRefs"))):
                message = f"{answers[0].kind} of {rule.node} stands with another action"
                own["Accepted"] = Condition("Accepted", "False", "IncompatibleFilters", message)
        if gone:
            message = f"extensionRef {', '.join(gone)} not found"
            own["ResolvedRefs"] = Condition("ResolvedRefs", "False", "BackendNotFound", message)
        conditions = super().route_conditions(route, parent, topology)
        if not own or not parent.accepted:
            return conditions
        return tuple(own.get(condition.type, condition) for condition in conditions)

    def _unread(self, topology: Topology) -> dict[Node, ResourceKey]:
        """Return the rules with a filter that names a missing RouteOption, each with the first such name."""
        if self._broken is None:
            self._broken = {}
            for state in topology.routes:
                for rule, _, option in extension_refs(state.route):
                    is_option = (option.group, option.kind) == (_GROUP, "RouteOption")
                    if is_option and topology.world.resolve_inner(option).missing:
                        self._broken.setdefault(rule, option)
        return self._broken

    def stanza(self, state: PolicyState) -> Mapping[str, Any]:
        """Return solo-kit's status, by the namespace of the controller: Accepted, or Warning for what adds nothing.

        A policy that reaches no listener and no route has none, nor have RouteOptions and HttpListenerOptions that add
        nothing (§3).
        """
        kind = state.kind.kind
        if state.verdict in _SILENT or (state.verdict == "Overridden" and kind not in _WARNED):
            return {}
        report = {"state": "Accepted"}
        if state.verdict == "Overridden":
            report = {"state": "Warning", "reason": _WARNED[kind]}
        return {"statuses": {text(self.settings.get("namespace"), _NAMESPACE): report}}


def _in_listener_sets(target: Target, topology: Topology) -> Target:
    """Return a target of a Gateway's section with the listeners of that name in ListenerSets of the Gateway."""
    if target.key.kind != "Gateway" or not target.section or target.problem not in ("", "section-not-found"):
        return target
    nodes = tuple(
        listener.node
        for listener_set in topology.listener_sets
        for listener in listener_set.listeners
        if listener_set.parent == target.key and listener.name == target.section
    )
    return resolved_to(target, *target.nodes, *nodes) if nodes else target


def _of_route(attachment: Attachment) -> bool:
    return attachment.key[:2] == (_GROUP, "RouteOption")


def _passed_over(state: PolicyState, broken: Mapping[Node, ResourceKey]) -> None:
    """Lower the verdict of a policy of a rule, or of a route with a rule, whose filters name a missing option."""
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


def _adds_nothing(state: PolicyState) -> bool:
    """Tell whether a policy sets no field though others do, or is not the first where the first alone counts."""
    if any(True for spec in state.declared for _ in options(spec.proper)):
        return False
    others = any(group.effective.sources for group in state.groups)
    return others or (state.kind.kind in FIRST_ONLY and any(len(group.effective.stack) > 1 for group in state.groups))
