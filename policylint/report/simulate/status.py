"""`simulate --as status`: the status stanzas that controllers would write, as objects that merge into the manifests.

Each object is apiVersion, kind, metadata (name, namespace) and status. What hangs on time and on the API server's own
counting is left out: lastTransitionTime and observedGeneration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, mapping
from policylint.policy.results import Ancestor, PolicyState
from policylint.policy.target_conditions import TargetCondition
from policylint.report.kit.yaml_text import yaml_text
from policylint.simulation import Simulation
from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState, ParentState, RouteState

Entry = dict[str, Any]


def write(form: str, simulations: Sequence[Simulation]) -> Iterator[str]:
    """YAML documents, or with `json` one List. Environments follow each other by name, with comments in YAML."""
    ordered = sorted(simulations, key=lambda each: each.world.name)
    if form == "json":
        import json

        items = [each for simulation in ordered for each in stanzas(simulation)]
        yield json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2, ensure_ascii=False) + "\n"
        return
    for simulation in ordered:
        for each in stanzas(simulation):
            yield "---\n"
            if len(ordered) > 1:
                yield f"# environment {simulation.world.name}\n"
            yield yaml_text(each)


def stanzas(simulation: Simulation) -> Iterator[Entry]:
    """One object per manifest of which a status is written, sorted by kind, namespace and name."""
    found: dict[ResourceKey, tuple[Resource, Entry]] = {}
    topology = simulation.topology
    target_conditions = _TargetConditions(simulation.target_conditions)
    for gateway in topology.gateways:
        found[gateway.gateway.key] = gateway.gateway, _gateway(gateway, target_conditions)
    for listener_set in topology.listener_sets:
        found[listener_set.listener_set.key] = listener_set.listener_set, _listener_set(listener_set, target_conditions)
    for route in topology.routes:
        found[route.route.key] = route.route, _route(route, target_conditions)
    for state in simulation.policies.values():
        found[state.key] = state.policy, _policy(state)
    for key in target_conditions.objects - found.keys():
        resource = simulation.world.get(key)
        if resource is not None:
            found[key] = resource, {"conditions": _conditions(target_conditions.on(key))}
    for _, (resource, status) in sorted(found.items(), key=lambda each: _order(each[0])):
        filled = {name: value for name, value in status.items() if value not in ([], None)}
        if filled:
            yield {**_head(resource), "status": filled}


def _order(key: ResourceKey) -> tuple[str, str, str, str]:
    return key.kind, key.group, key.namespace, key.name


def _head(resource: Resource) -> Entry:
    """What names the object; without a namespace where only something outside its file decides that."""
    key = resource.key
    metadata = {"name": key.name}
    if key.namespace and not key.unplaced:
        metadata["namespace"] = key.namespace
    return {"apiVersion": resource.api_version, "kind": key.kind, "metadata": metadata}


def _conditions(states: Iterable[Condition]) -> list[Entry]:
    """By type, of which there is one: False where both are said. `message` is required and may be empty."""
    by_type: dict[str, Condition] = {}
    for each in sorted(states, key=lambda each: (each.type, each.status, each.reason, each.message)):
        by_type.setdefault(each.type, each)
    return [
        {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
        for each in by_type.values()
    ]


class _TargetConditions:
    """`<Kind>Affected` conditions by where they go."""

    def __init__(self, target_conditions: Iterable[TargetCondition]) -> None:
        self._by_node: dict[tuple[ResourceKey, str], list[TargetCondition]] = {}
        for each in target_conditions:
            self._by_node.setdefault((each.node.key, each.node.section), []).append(each)

    @property
    def objects(self) -> set[ResourceKey]:
        return {key for key, section in self._by_node if not section}

    def on(self, key: ResourceKey, section: str = "") -> list[Condition]:
        return [each.condition for each in self._by_node.get((key, section), ()) if not each.controller]

    def entries(self, key: ResourceKey) -> dict[tuple[str, ResourceKey], list[Condition]]:
        """The entries of status.parents that a policy controller adds to a route, by controller and Gateway."""
        found: dict[tuple[str, ResourceKey], list[Condition]] = {}
        for each in self._by_node.get((key, ""), ()):
            if each.gateway is not None:
                found.setdefault((each.controller, each.gateway), []).append(each.condition)
        return dict(sorted(found.items()))


def _policy(state: PolicyState) -> Entry:
    if state.stanza:
        return dict(state.stanza)
    if state.kind.status == "conditions":
        return {"conditions": _conditions(state.conditions)}
    ordered = sorted(state.ancestors, key=lambda each: (str(each.ancestor), each.controller))
    return {"ancestors": [_ancestor(each) for each in ordered]}


def _ancestor(state: Ancestor) -> Entry:
    key, section = state.ancestor.key, state.ancestor.section
    return {
        "ancestorRef": _reference(key, section),
        **_controlled(state.controller),
        "conditions": _conditions(state.conditions),
    }


def _reference(key: ResourceKey, section: str = "") -> Entry:
    """A ParentReference; agentgateway's StatusSummary has no kind, and with it no namespace."""
    reference = {"group": key.group}
    if key.kind:
        reference["kind"] = key.kind
    reference["name"] = key.name
    if key.kind and key.namespace and not key.unplaced:
        reference["namespace"] = key.namespace
    return {**reference, "sectionName": section} if section else reference


def _controlled(controller: str) -> Entry:
    """controllerName where somebody in the manifests says it."""
    return {"controllerName": controller} if controller else {}


def _route(state: RouteState, target_conditions: _TargetConditions) -> Entry:
    added = target_conditions.on(state.route.key)
    parents = [_parent(state.route, each, added) for each in state.parents if each.conditions or added]
    for (controller, gateway), conditions in target_conditions.entries(state.route.key).items():
        reference = {"kind": gateway.kind, "name": gateway.name, "namespace": gateway.namespace}
        if gateway.unplaced:
            del reference["namespace"]
        parents.append({"parentRef": reference, "controllerName": controller, "conditions": _conditions(conditions)})
    return {"parents": parents}


def _parent(route: Resource, state: ParentState, added: Sequence[Condition]) -> Entry:
    """The parentRef as it is written, with the defaults that the API server fills in."""
    written: Mapping[str, Any] = {}
    references = route.spec.get("parentRefs")
    if isinstance(references, list) and state.number < len(references):
        written = mapping(references[state.number])
    return {
        "parentRef": {"group": GATEWAY_GROUP, "kind": "Gateway", **written},
        **_controlled(state.controller),
        "conditions": _conditions((*state.conditions, *added)),
    }


def _gateway(state: GatewayState, target_conditions: _TargetConditions) -> Entry:
    key = state.gateway.key
    return {
        "attachedListenerSets": state.attached_listener_sets or None,
        "conditions": _conditions((*state.conditions, *target_conditions.on(key))),
        "listeners": _listeners(key, state.listeners, target_conditions),
    }


def _listener_set(state: ListenerSetState, target_conditions: _TargetConditions) -> Entry:
    key = state.listener_set.key
    return {
        "conditions": _conditions((*state.conditions, *target_conditions.on(key))),
        "listeners": _listeners(key, state.listeners, target_conditions),
    }


def _listeners(key: ResourceKey, states: Iterable[ListenerState], target_conditions: _TargetConditions) -> list[Entry]:
    entries: list[Entry] = [
        {
            "name": each.name,
            "attachedRoutes": each.attached_routes,
            "supportedKinds": [{"group": GATEWAY_GROUP, "kind": kind} for kind in each.supported_kinds],
            "conditions": _conditions((*each.conditions, *target_conditions.on(key, each.name))),
        }
        for each in states
    ]
    return sorted(entries, key=lambda each: (each["name"], str(each)))
