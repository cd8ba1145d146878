"""`simulate --as status`: the status stanzas of controllers, as objects that merge into the manifests.

Each object is apiVersion, kind, metadata (name, namespace) and status. What hangs on time and on the API server's own
counting is left out: lastTransitionTime and observedGeneration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping, value_at
from policylint.policy.results import Ancestor, PolicyState
from policylint.policy.target_conditions import TargetCondition
from policylint.report.kit.display import one_line
from policylint.report.kit.identity import json_text
from policylint.report.kit.yaml_text import yaml_text
from policylint.simulation import Simulation
from policylint.topology import Condition, GatewayState, ListenerSetState, ParentState, RouteState, Topology

Entry = dict[str, Any]


def write(form: str, simulations: Sequence[Simulation]) -> Iterator[str]:
    """Yield YAML documents, or with `json` one List. Environments follow each other by name, with comments in YAML."""
    ordered = sorted(simulations, key=lambda simulation: simulation.world.name)
    if form == "json":
        items = [stanza for simulation in ordered for stanza in stanzas(simulation)]
        yield json_text({"apiVersion": "v1", "kind": "List", "items": items})
        return
    for simulation in ordered:
        comment = f"# environment {one_line(simulation.world.name)}\n" if len(ordered) > 1 else ""
        for stanza in stanzas(simulation):
            yield f"---\n{comment}{yaml_text(stanza)}"


def stanzas(simulation: Simulation) -> Iterator[Entry]:
    """Yield one object per manifest with a status, sorted by kind, group, namespace and name."""
    topology = simulation.topology
    marks = _TargetConditions(simulation.target_conditions)
    statuses: dict[Resource, Entry] = {}
    statuses |= {state.gateway: _gateway(state, marks) for state in topology.gateways}
    statuses |= {
        state.listener_set: _holder(state.listener_set, state, marks)
        for state in topology.listener_sets
        if _is_served(topology, state)
    }
    statuses |= {state.route: _route(state, marks) for state in simulation.routes}
    statuses |= {state.policy: _policy(state) for state in simulation.policies.values()}
    for key in marks.objects - {resource.key for resource in statuses}:
        if resource := simulation.world.get(key):
            statuses[resource] = {"conditions": _conditions(marks.on(key))}
    for resource in sorted(statuses, key=lambda resource: _order(resource.key)):
        filled = {name: value for name, value in statuses[resource].items() if value not in ([], None)}
        if filled:
            yield {**_head(resource), "status": filled}


def _is_served(topology: Topology, state: ListenerSetState) -> bool:
    """Return whether a controller may write about a ListenerSet: its Gateway is there and has a class."""
    gateway = topology.gateway(state.parent)
    return not state.resolution.missing and (gateway is None or not gateway.class_resolution.missing)


def _order(key: ResourceKey) -> tuple[str, str, str, str]:
    return key.kind, key.group, key.namespace, key.name


def _head(resource: Resource) -> Entry:
    """Name the object; without a namespace where only something outside its file decides that."""
    key = resource.key
    metadata = {"name": key.name}
    if key.namespace and not key.unplaced:
        metadata["namespace"] = key.namespace
    return {"apiVersion": resource.api_version, "kind": key.kind, "metadata": metadata}


def _conditions(states: Iterable[Condition]) -> list[Entry]:
    """Return one condition per type, False where both are said. `message` is required and may be empty."""
    by_type: dict[str, Entry] = {}
    for name, status, reason, message in sorted((each.type, each.status, each.reason, each.message) for each in states):
        by_type.setdefault(name, {"type": name, "status": status, "reason": reason, "message": message})
    return list(by_type.values())


class _TargetConditions:
    """The `<Kind>Affected` conditions by the object or section that they go to."""

    def __init__(self, target_conditions: Iterable[TargetCondition]) -> None:
        self._by_node: dict[tuple[ResourceKey, str], list[TargetCondition]] = {}
        for mark in target_conditions:
            self._by_node.setdefault((mark.node.key, mark.node.section), []).append(mark)

    @property
    def objects(self) -> set[ResourceKey]:
        return {key for key, section in self._by_node if not section}

    def on(self, key: ResourceKey, section: str = "") -> list[Condition]:
        return [mark.condition for mark in self._by_node.get((key, section), ()) if not mark.controller]

    def entries(self, key: ResourceKey) -> dict[tuple[str, ResourceKey], list[Condition]]:
        """Return the entries of status.parents that a policy controller adds to a route, by controller and Gateway."""
        added: dict[tuple[str, ResourceKey], list[Condition]] = {}
        for mark in self._by_node.get((key, ""), ()):
            if mark.gateway is not None:
                added.setdefault((mark.controller, mark.gateway), []).append(mark.condition)
        return dict(sorted(added.items()))


def _policy(state: PolicyState) -> Entry:
    if state.stanza:
        return dict(state.stanza)
    if state.kind.status == "conditions":
        return {"conditions": _conditions(state.conditions)}
    ordered = sorted(state.ancestors, key=lambda ancestor: (str(ancestor.ancestor), ancestor.controller))
    return {"ancestors": [_ancestor(ancestor) for ancestor in ordered]}


def _ancestor(state: Ancestor) -> Entry:
    reference = _reference(state.ancestor.key, state.ancestor.section)
    if state.port is not None:
        reference["port"] = state.port
    return {"ancestorRef": reference, **_controlled(state.controller, state.conditions)}


def _reference(key: ResourceKey, section: str = "") -> Entry:
    """Return a ParentReference; agentgateway's StatusSummary has no kind, and with it no namespace."""
    reference = {"group": key.group}
    if key.kind:
        reference["kind"] = key.kind
    reference["name"] = key.name
    if key.kind and key.namespace and not key.unplaced:
        reference["namespace"] = key.namespace
    return {**reference, "sectionName": section} if section else reference


def _controlled(controller: str, states: Iterable[Condition]) -> Entry:
    """Return conditions with controllerName, where the manifests say it."""
    name = {"controllerName": controller} if controller else {}
    return {**name, "conditions": _conditions(states)}


def _route(state: RouteState, marks: _TargetConditions) -> Entry:
    added = marks.on(state.route.key)
    told = [parent for parent in state.parents if (parent.conditions and not parent.silent) or added]
    parents = [_parent(state.route, parent, added) for parent in told]
    for (controller, gateway), conditions in marks.entries(state.route.key).items():
        reference = {"kind": gateway.kind, "name": gateway.name, "namespace": gateway.namespace}
        if gateway.unplaced:
            del reference["namespace"]
        parents.append({"parentRef": reference, "controllerName": controller, "conditions": _conditions(conditions)})
    return {"parents": parents}


def _parent(route: Resource, state: ParentState, added: Sequence[Condition]) -> Entry:
    """Return the entry for a parentRef as it is written, with the defaults that the API server fills in."""
    written: Mapping[str, Any] = mapping(value_at(route.body, state.pointer))
    if state.is_default:
        written = {"name": state.wanted.name, "namespace": state.wanted.namespace}
    return {
        "parentRef": {"group": GATEWAY_GROUP, "kind": "Gateway", **written},
        **_controlled(state.controller, (*state.conditions, *added)),
    }


def _gateway(state: GatewayState, marks: _TargetConditions) -> Entry:
    if state.class_resolution.missing:  # no controller writes about its listeners
        state = state._replace(listeners=(), attached_listener_sets=0)
    attached = {"attachedListenerSets": state.attached_listener_sets or None}
    return attached | _holder(state.gateway, state, marks)


def _holder(resource: Resource, state: GatewayState | ListenerSetState, marks: _TargetConditions) -> Entry:
    """Return the conditions and listeners of a Gateway or ListenerSet."""
    key = resource.key
    listeners: list[Entry] = [
        {
            "name": listener.name,
            "attachedRoutes": listener.attached_routes,
            "supportedKinds": [{"group": GATEWAY_GROUP, "kind": kind} for kind in listener.supported_kinds],
            "conditions": _conditions((*listener.conditions, *marks.on(key, listener.name))),
        }
        for listener in state.listeners
        if listener.conditions
    ]
    return {
        "conditions": _conditions((*state.conditions, *marks.on(key))),
        "listeners": sorted(listeners, key=lambda listener: (listener["name"], str(listener))),
    }
