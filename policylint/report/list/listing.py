"""The tables of `list`: policies, routes, Gateways, listeners and backends, one row each, as text or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from policylint.explain.reach import affected_nodes, reach
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, selectors
from policylint.namedtuple import NamedTuple
from policylint.policy.results import PolicyState
from policylint.report.kit.display import Paint, one_line, width
from policylint.report.kit.identity import Names
from policylint.simulation import Simulation
from policylint.topology import BACKEND_KINDS, ListenerState, RouteState, whole
from policylint.topology.backends import ports

VERSION = "list-v1"
FORMATS = ("text", "wide", "json")
Entry = dict[str, Any]


class Wanted(NamedTuple):
    """Which rows are asked for; "" and None ask for all."""

    namespace: str = ""
    kind: str = ""
    labels: dict[str, Any] | None = None

    def fits(self, resource: Resource) -> bool:
        from policylint.model.spelling import same_kind

        key = resource.key
        if self.namespace and key.namespace != self.namespace:
            return False
        name, _, group = self.kind.partition(".")
        if name and not (same_kind(name, key.kind) and (not group or group == key.group)):
            return False
        return self.labels is None or selectors.matches(self.labels, resource.labels)


class _Context(NamedTuple):
    simulation: Simulation
    names: Names
    wanted: Wanted
    affected: dict[ResourceKey, list[str]]


def entries(what: str, simulations: Sequence[Simulation], wanted: Wanted) -> list[Entry]:
    """The rows of a table as data, sorted by environment and name."""
    names = Names(key for each in simulations for key in each.world.resources)
    found = []
    for simulation in sorted(simulations, key=lambda each: each.world.name):
        for entry in _TABLES[what](_Context(simulation, names, wanted, _acting(simulation, names))):
            found.append({"environment": simulation.world.name, **entry} if len(simulations) > 1 else entry)
    return found


def _acting(simulation: Simulation, names: Names) -> dict[ResourceKey, list[str]]:
    """Per object the policies of which something takes effect there, as `explain` says."""
    found: dict[ResourceKey, set[ResourceKey]] = {}
    for group in simulation.groups:
        for node in affected_nodes(simulation, group) if group.effective.sources else ():
            if not node.section:
                found.setdefault(node.key, set()).update(group.effective.sources)
    return {key: names.keys(keys) for key, keys in found.items()}


def write(form: str, what: str, found: Sequence[Entry], paint: Paint) -> Iterator[str]:
    """The pieces of the document in one of FORMATS."""
    if form == "json":
        import json

        yield json.dumps({"version": VERSION, what: list(found)}, indent=2, ensure_ascii=False, default=str) + "\n"
        return
    if not found:
        yield f"no {what} here\n"
        return
    columns = [name for name in found[0] if form == "wide" or name not in _WIDE]
    cells = [tuple(name.upper() for name in columns)]
    cells += [tuple(one_line(_cell(entry.get(name), form)) for name in columns) for entry in found]
    sizes = [max(map(width, column)) for column in zip(*cells, strict=True)]
    for number, row in enumerate(cells):
        line = "  ".join(cell + " " * (size - width(cell)) for cell, size in zip(row, sizes, strict=True)).rstrip()
        yield (paint("faint", line) if not number else line) + "\n"


_WIDE = frozenset({"by", "sets", "location", "acting", "addresses", "kinds", "ports", "used by", "listeners"})
"""Columns that only `-o wide` and JSON have."""


def _cell(value: Any, form: str) -> str:
    if isinstance(value, list):
        if form != "wide" and len(value) > 2:
            return f"{', '.join(map(str, value[:2]))} +{len(value) - 2}"
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, "") else str(value)


def _location(resource: Resource) -> str:
    location = resource.name_location
    return f"{location.file}:{location.at()[0]}"


def _policies(context: _Context) -> Iterable[Entry]:
    for state in context.simulation.policies.values():
        if context.wanted.fits(state.policy):
            yield _policy(state, context)


def _policy(state: PolicyState, context: _Context) -> Entry:
    names = context.names
    found = reach(context.simulation, state)
    acting = [each for each in found.routes if each.extent != "none"]
    targets = []
    for each in state.targets:
        bad = "" if each.resolution.found and not each.problem else f" ({each.resolution.state})"
        targets.append(names.target(each) + (bad or (f" ({each.problem})" if each.problem else "")))
    return {
        "policy": names.key(state.key),
        "targets": targets,
        "class": state.kind.policy_class,
        "verdict": state.verdict,
        "routes": f"{len(acting)}/{len(found.routes)}" if len(acting) != len(found.routes) else len(acting),
        "namespaces": len(found.namespaces),
        "by": names.keys(state.by),
        "sets": sorted({str(name) for each in state.declared for name in each.proper}),
        "location": _location(state.policy),
    }


def _routes(context: _Context) -> Iterable[Entry]:
    from policylint.topology.routes import rules

    for state in context.simulation.topology.routes:
        if not context.wanted.fits(state.route):
            continue
        acting = context.affected.get(state.route.key, [])
        yield {
            "route": context.names.key(state.route.key),
            "hosts": [each or "*" for each in state.hostnames],
            "parents": sorted(context.names.parent(each) for each in state.parents),
            "status": _route_status(state),
            "rules": len(rules(state.route)),
            "policies": len(acting),
            "acting": acting,
            "location": _location(state.route),
        }


def _route_status(state: RouteState) -> str:
    bad = {
        each.reason
        for parent in state.parents
        for each in parent.conditions
        if each.status != "True" and each.type in ("Accepted", "ResolvedRefs")
    }
    if bad:
        return ", ".join(sorted(bad))
    if any(parent.resolution.unknown for parent in state.parents):
        return "Unknown"
    return "Accepted" if state.parents else "no parents"


def _gateways(context: _Context) -> Iterable[Entry]:
    topology = context.simulation.topology
    served: dict[ResourceKey, set[ResourceKey]] = {}
    for route in topology.routes:
        for parent in route.parents:
            if parent.gateway is not None and parent.accepted and parent.attached:
                served.setdefault(parent.gateway, set()).add(route.route.key)
    for state in topology.gateways:
        if not context.wanted.fits(state.gateway):
            continue
        key = state.gateway.key
        bad = [each.reason for each in state.conditions if each.type == "Accepted" and each.status != "True"]
        acting = context.affected.get(key, [])
        yield {
            "gateway": context.names.key(key),
            "class": state.class_key.name,
            "status": ", ".join(bad) or "Accepted",
            "ports": sorted({each.port for each in state.listeners if each.port is not None}),
            "listeners": [each.name for each in state.listeners],
            "routes": len(served.get(key, ())),
            "policies": len(acting),
            "acting": acting,
            "location": _location(state.gateway),
        }


def _listeners(context: _Context) -> Iterable[Entry]:
    topology = context.simulation.topology
    holders: list[tuple[Resource, tuple[ListenerState, ...]]] = [
        (each.gateway, each.listeners) for each in topology.gateways
    ]
    holders += [(each.listener_set, each.listeners) for each in topology.listener_sets]
    for resource, listed in holders:
        if not context.wanted.fits(resource):
            continue
        for each in listed:
            bad = [
                one.reason
                for one in each.conditions
                if one.type in ("Accepted", "ResolvedRefs") and one.status == "False"
            ]
            yield {
                "listener": context.names.node(each.node),
                "port": each.port,
                "protocol": each.protocol,
                "hostname": each.hostname or "*",
                "routes": each.attached_routes,
                "status": each.conflict or ", ".join(sorted(set(bad))) or "Accepted",
                "kinds": list(each.supported_kinds),
                "location": f"{each.holder.document.file}:{each.holder.location(*each.pointer).at()[0]}",
            }


def _backends(context: _Context) -> Iterable[Entry]:
    simulation = context.simulation
    used: dict[ResourceKey, set[ResourceKey]] = {}
    for state in simulation.topology.routes:
        for backend in state.backends:
            used.setdefault(backend.wanted, set()).add(state.route.key)
    for key in sorted({*used, *_standing(simulation)}):
        if (key.group, key.kind) == (GATEWAY_GROUP, "HTTPRoute"):
            continue
        resource = simulation.world.get(key)
        if resource is None or not context.wanted.fits(resource):
            continue
        acting = context.affected.get(key, [])
        yield {
            "backend": context.names.key(key),
            "routes": len(used.get(key, ())),
            "policies": len(acting),
            "ports": [f"{each.name or '-'} {each.number}" for each in ports(resource)],
            "used by": context.names.keys(used.get(key, ())),
            "acting": acting,
            "location": _location(resource),
        }


def _standing(simulation: Simulation) -> Iterator[ResourceKey]:
    for kind in sorted(BACKEND_KINDS):
        for resource in simulation.world.of_kind(*kind):
            if simulation.topology.vertices_of(whole(resource.key)):
                yield resource.key


_TABLES: dict[str, Callable[[_Context], Iterable[Entry]]] = {
    "policies": _policies,
    "routes": _routes,
    "gateways": _gateways,
    "listeners": _listeners,
    "backends": _backends,
}
TABLES = tuple(_TABLES)
