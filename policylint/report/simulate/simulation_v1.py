"""`simulation-v1`: the whole computed state as plain, sorted data (docs/design/interfaces.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from policylint.clusters import kinds as clusters
from policylint.explain.winning import Taken, taken
from policylint.network.kinds import has_policies
from policylint.policy.results import Group, PolicyState
from policylint.report.kit.identity import Names, json_losses, json_place
from policylint.simulation import Simulation
from policylint.topology import Condition, GatewayState, ListenerState, ParentState, RouteState

VERSION = "simulation-v1"
Entry = dict[str, Any]
Section = tuple[str, Iterator[Entry]]


def sections(simulations: Sequence[Simulation]) -> list[Section]:
    """Return the lists of the document by name, in order; each yields its entries on demand: contexts can be many."""
    names = Names.of(simulations)
    several = len(simulations) > 1
    ordered = sorted(simulations, key=lambda simulation: simulation.world.name)

    def over(entries: Callable[[Simulation], Iterable[Entry]], by: str = "") -> Iterator[Entry]:
        for simulation in ordered:
            listed = entries(simulation)
            for entry in sorted(listed, key=lambda entry: entry[by]) if by else listed:
                yield {"environment": simulation.world.name, **entry} if several else entry

    network: list[Section] = []
    if any(has_policies(simulation.world) for simulation in ordered):
        from policylint.report.simulate import network_v1

        network = [
            ("connections", over(lambda its: network_v1.connections(its, names))),
            ("ambiguous", over(lambda its: network_v1.ambiguous(its, names))),
        ]
    placed: list[Section] = []
    if any(clusters.has_policies(simulation.world) for simulation in ordered):
        from policylint.report.simulate import clusters_v1

        placed = [("bindings", over(lambda its: clusters_v1.bindings(its, names)))]
    return [
        ("environments", (_environment(simulation) for simulation in ordered)),
        ("policies", over(lambda its: _policies(its, names), "policy")),
        ("routes", over(lambda its: [_route(state, names) for state in its.routes], "route")),
        ("gateways", over(lambda its: [_gateway(state, names) for state in its.topology.gateways], "gateway")),
        ("listenersets", over(lambda its: _listener_sets(its, names), "listenerset")),
        ("effective", over(lambda its: _effective(its, names))),
        ("affected", over(lambda its: _affected(its, names), "object")),
        *network,
        *placed,
    ]


def _environment(simulation: Simulation) -> Entry:
    return {
        "name": simulation.world.name,
        "resources": len(simulation.world.resources),
        "policies": len(simulation.policies),
        "routes": len(simulation.routes),
    }


def _policies(simulation: Simulation, names: Names) -> Iterator[Entry]:
    for state in simulation.policies.values():
        yield _policy(state, names, taken(simulation).get(state.key, ()))
    if has_policies(simulation.world):
        from policylint.report.simulate import network_v1

        yield from network_v1.policies(simulation, names)


def _policy(state: PolicyState, names: Names, took: Sequence[Taken]) -> Entry:
    entry: Entry = {
        "policy": names.key(state.key),
        **verdict(state.verdict),
        "by": names.keys(state.by),
        "location": json_place(state.policy.name_location),
    }
    if took:
        entry["overrides"] = [
            {"policy": names.key(each.loser), "settings": list(each.settings), "whole": each.whole} for each in took
        ]
    if state.kind.status == "conditions":
        entry["conditions"] = conditions(state.conditions)
    if state.ancestors or state.kind.status != "conditions":
        ancestors = [
            {
                "ancestor": names.section(ancestor.ancestor.key, ancestor.ancestor.section),
                "controller": ancestor.controller,
                "conditions": conditions(ancestor.conditions),
            }
            for ancestor in state.ancestors
        ]
        entry["ancestors"] = sorted(ancestors, key=lambda entry: (str(entry["ancestor"]), str(entry["controller"])))
    targets = sorted((names.target(target), target.resolution.state) for target in state.targets)
    entry["targets"] = [{"target": target, "resolution": resolution} for target, resolution in targets]
    return entry


def verdict(name: str) -> Entry:
    """Return a verdict as programs read it: what is `NoEffect` is called Accepted by `status`, as it was."""
    return {"verdict": name, "status": "Accepted" if name == "NoEffect" else name}


def conditions(states: Iterable[Condition]) -> list[Entry]:
    """Return conditions by type, with a message only where there is one."""
    entries = []
    for name, status, reason, message in sorted((each.type, each.status, each.reason, each.message) for each in states):
        entry = {"type": name, "status": status, "reason": reason}
        entries.append({**entry, "message": message} if message else entry)
    return entries


def _route(state: RouteState, names: Names) -> Entry:
    parents = [_parent(parent, names) for parent in state.parents]
    parents.sort(key=lambda entry: (entry["parent"], entry.get("port", 0), str(entry["conditions"])))
    return {"route": names.key(state.route.key), "parents": parents}


def _parent(state: ParentState, names: Names) -> Entry:
    entry: Entry = {"parent": names.parent(state)}
    if state.port is not None:
        entry["port"] = state.port
    return {**entry, "controller": state.controller, "conditions": conditions(state.conditions)}


def _gateway(state: GatewayState, names: Names) -> Entry:
    return {
        "gateway": names.key(state.gateway.key),
        "conditions": conditions(state.conditions),
        "listeners": _listeners(state.listeners),
        "attachedListenerSets": state.attached_listener_sets,
    }


def _listener_sets(simulation: Simulation, names: Names) -> Iterator[Entry]:
    for state in simulation.topology.listener_sets:
        yield {
            "listenerset": names.key(state.listener_set.key),
            "conditions": conditions(state.conditions),
            "listeners": _listeners(state.listeners),
        }


def _listeners(states: Iterable[ListenerState]) -> list[Entry]:
    entries: list[Entry] = [
        {
            "name": listener.name,
            "attachedRoutes": listener.attached_routes,
            "supportedKinds": list(listener.supported_kinds),
            "conditions": conditions(listener.conditions),
        }
        for listener in states
    ]
    return sorted(entries, key=lambda entry: (entry["name"], str(entry)))


def _effective(simulation: Simulation, names: Names) -> Iterator[Entry]:
    """Yield one entry per context; contexts of one group share the result."""
    shared: list[Entry] = []
    contexts: list[tuple[list[str], str, int]] = []
    for group in simulation.groups:
        if group.effective.sources:
            kind = names.kind(group.kind.group, group.kind.kind)
            contexts += [(names.path(path), kind, len(shared)) for path in group.contexts()]
            shared.append(_result(group, names))
    for path, kind, number in sorted(contexts, key=lambda context: context[:2]):
        yield {"path": path, "kind": kind, **shared[number]}


def _result(group: Group, names: Names) -> Entry:
    effective = group.effective
    return {
        "spec": dict(effective.spec),
        "from": names.keys(key for key in effective.sources if key not in effective.beside),
        "origins": {field: names.keys(owners) for field, owners in effective.origins().items()},
        "lost": json_losses(effective, names),
    }


def _affected(simulation: Simulation, names: Names) -> Iterator[Entry]:
    for node, keys in simulation.acting.affected().items():
        if keys:
            yield {"object": names.node(node), "policies": names.keys(keys)}
