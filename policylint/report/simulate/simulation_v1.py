"""`simulation-v1`: the whole computed state as plain, sorted data (docs/design/interfaces.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from policylint.policy.results import Group, PolicyState
from policylint.report.kit.identity import Names, json_pointer
from policylint.simulation import Simulation
from policylint.topology import Condition, GatewayState, ListenerSetState, ListenerState, ParentState, RouteState

VERSION = "simulation-v1"
Entry = dict[str, Any]
Section = tuple[str, Iterator[Entry]]


def sections(simulations: Sequence[Simulation]) -> list[Section]:
    """The lists of the document by name, in order; each yields its entries on demand: contexts can be very many."""
    names = Names(key for each in simulations for key in each.world.resources)
    several = len(simulations) > 1
    ordered = sorted(simulations, key=lambda each: each.world.name)

    def over(entries: Callable[[Simulation, Names], Iterable[Entry]]) -> Iterator[Entry]:
        for simulation in ordered:
            for entry in entries(simulation, names):
                yield {"environment": simulation.world.name, **entry} if several else entry

    return [
        ("environments", (_environment(each) for each in ordered)),
        ("policies", over(_policies)),
        ("routes", over(_routes)),
        ("gateways", over(_gateways)),
        ("listenersets", over(_listener_sets)),
        ("effective", over(_effective)),
        ("affected", over(_affected)),
    ]


def _environment(simulation: Simulation) -> Entry:
    return {
        "name": simulation.world.name,
        "resources": len(simulation.world.resources),
        "policies": len(simulation.policies),
        "routes": len(simulation.topology.routes),
    }


def _policies(simulation: Simulation, names: Names) -> Iterator[Entry]:
    entries = [_policy(state, names) for state in simulation.policies.values()]
    return iter(sorted(entries, key=lambda each: each["policy"]))


def _policy(state: PolicyState, names: Names) -> Entry:
    location = state.policy.name_location
    entry: Entry = {
        "policy": names.key(state.key),
        "status": state.verdict,
        "by": names.keys(state.by),
        "location": {"file": location.file, "line": location.at()[0]},
    }
    if state.kind.status == "conditions":
        entry["conditions"] = conditions(state.conditions)
    if state.ancestors or state.kind.status != "conditions":
        ancestors = [
            {
                "ancestor": names.section(each.ancestor.key, each.ancestor.section),
                "controller": each.controller,
                "conditions": conditions(each.conditions),
            }
            for each in state.ancestors
        ]
        entry["ancestors"] = sorted(ancestors, key=lambda each: (str(each["ancestor"]), str(each["controller"])))
    targets = [{"target": names.target(each), "resolution": each.resolution.state} for each in state.targets]
    entry["targets"] = sorted(targets, key=lambda each: (each["target"], each["resolution"]))
    return entry


def conditions(states: Iterable[Condition]) -> list[Entry]:
    """By type; the message only where there is one."""
    entries = []
    for each in sorted(states, key=lambda each: (each.type, each.status, each.reason, each.message)):
        entry = {"type": each.type, "status": each.status, "reason": each.reason}
        entries.append({**entry, "message": each.message} if each.message else entry)
    return entries


def _routes(simulation: Simulation, names: Names) -> Iterator[Entry]:
    entries = [_route(state, names) for state in simulation.topology.routes]
    return iter(sorted(entries, key=lambda each: each["route"]))


def _route(state: RouteState, names: Names) -> Entry:
    parents = [_parent(each, names) for each in state.parents]
    parents.sort(key=lambda each: (each["parent"], each.get("port", 0), str(each["conditions"])))
    return {"route": names.key(state.route.key), "parents": parents}


def _parent(state: ParentState, names: Names) -> Entry:
    entry: Entry = {"parent": names.parent(state)}
    if state.port is not None:
        entry["port"] = state.port
    return {**entry, "controller": state.controller, "conditions": conditions(state.conditions)}


def _gateways(simulation: Simulation, names: Names) -> Iterator[Entry]:
    entries = [_gateway(state, names) for state in simulation.topology.gateways]
    return iter(sorted(entries, key=lambda each: each["gateway"]))


def _gateway(state: GatewayState, names: Names) -> Entry:
    return {
        "gateway": names.key(state.gateway.key),
        "conditions": conditions(state.conditions),
        "listeners": _listeners(state.listeners),
        "attachedListenerSets": state.attached_listener_sets,
    }


def _listener_sets(simulation: Simulation, names: Names) -> Iterator[Entry]:
    entries = [_listener_set(state, names) for state in simulation.topology.listener_sets]
    return iter(sorted(entries, key=lambda each: each["listenerset"]))


def _listener_set(state: ListenerSetState, names: Names) -> Entry:
    return {
        "listenerset": names.key(state.listener_set.key),
        "conditions": conditions(state.conditions),
        "listeners": _listeners(state.listeners),
    }


def _listeners(states: Iterable[ListenerState]) -> list[Entry]:
    entries: list[Entry] = [
        {
            "name": each.name,
            "attachedRoutes": each.attached_routes,
            "supportedKinds": list(each.supported_kinds),
            "conditions": conditions(each.conditions),
        }
        for each in states
    ]
    return sorted(entries, key=lambda each: (each["name"], str(each)))


def _effective(simulation: Simulation, names: Names) -> Iterator[Entry]:
    """One entry per context. Contexts of one group share the result, which is therefore made once."""
    shared: list[Entry] = []
    found: list[tuple[list[str], str, int]] = []
    for group in simulation.groups:
        if not group.effective.sources:
            continue
        kind = names.kind(group.kind.group, group.kind.kind)
        found += [(names.path(path), kind, len(shared)) for path in group.contexts()]
        shared.append(_result(group, names))
    for path, kind, number in sorted(found, key=lambda each: each[:2]):
        yield {"path": path, "kind": kind, **shared[number]}


def _result(group: Group, names: Names) -> Entry:
    effective = group.effective
    lost = [
        {
            "pointer": json_pointer(each.pointer),
            "policy": names.key(each.policy),
            "by": ", ".join(names.keys(each.by)),
        }
        for each in effective.lost
    ]
    return {
        "spec": dict(effective.spec),
        "from": names.keys(effective.sources),
        "origins": {field: names.keys(owners) for field, owners in effective.origins().items()},
        "lost": sorted(lost, key=lambda each: (each["pointer"], each["policy"], each["by"])),
    }


def _affected(simulation: Simulation, names: Names) -> Iterator[Entry]:
    entries: list[Entry] = [
        {"object": names.node(node), "policies": names.keys(keys)}
        for node, keys in simulation.affected().items()
        if keys
    ]
    return iter(sorted(entries, key=lambda each: each["object"]))
