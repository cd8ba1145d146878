"""The tables of `list`: policies, routes, Gateways, listeners and backends, one row each, as text or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from policylint.clusters.kinds import has_policies as has_cluster_policies
from policylint.explain.attachment import perhaps_attached, why_shut
from policylint.explain.reach import reach
from policylint.explain.unseen import UnseenActing
from policylint.model import GATEWAY_GROUP, Resource, ResourceKey, selectors
from policylint.namedtuple import NamedTuple
from policylint.network.kinds import has_policies
from policylint.report.kit.display import Paint, one_line, place
from policylint.report.kit.identity import Names, json_text
from policylint.simulation import Simulation
from policylint.topology import BACKEND_KINDS, RouteState, whole
from policylint.topology.service_ports import ports
from policylint.workspace.scope import ReportScope, WorldScope

VERSION = "list-v1"
Entry = dict[str, Any]


class ListRequest(NamedTuple):
    """The rows to list; "" and None ask for all.

    Args:
        scope: the paths that are asked for.
        own: what concerns them in one environment.
    """

    namespace: str = ""
    kind: str = ""
    labels: dict[str, Any] | None = None
    scope: ReportScope | None = None
    own: WorldScope | None = None

    def fits(self, resource: Resource) -> bool:
        if self.labels is not None and not selectors.matches(self.labels, resource.labels):
            return False
        if self.own is not None and not self.own.holds_object(resource.key):
            return False
        return self.fits_key(resource.key)

    def fits_key(self, key: ResourceKey) -> bool:
        from policylint.model.spelling import same_kind

        if self.namespace and key.namespace != self.namespace:
            return False
        name, _, group = self.kind.partition(".")
        return not name or (same_kind(name, key.kind) and (not group or group == key.group))


class _Context(NamedTuple):
    simulation: Simulation
    names: Names
    request: ListRequest
    affected: dict[ResourceKey, list[str]]
    unseen: UnseenActing

    def acting(self, key: ResourceKey) -> Entry:
        """Return how many policies act on an object, None where one may that was not seen, and which."""
        acting = self.affected.get(key, [])
        none = None if not acting and self.unseen.on(whole(key)).may else 0
        return {"policies": len(acting) or none, "acting": acting}


def entries(table: str, simulations: Sequence[Simulation], request: ListRequest) -> list[Entry]:
    """Return the rows of a table as data, sorted by environment and name."""
    names = Names.of(simulations)
    rows = []
    for simulation in sorted(simulations, key=lambda simulation: simulation.world.name):
        environment = {"environment": simulation.world.name} if len(simulations) > 1 else {}
        own = None if request.scope is None else request.scope.of(simulation.world)
        context = _Context(
            simulation,
            names,
            request._replace(own=own),
            {key: names.keys(keys) for key, keys in simulation.acting.owners.items()},
            UnseenActing(simulation),
        )
        rows += [environment | row for row in _TABLES[table](context)]
    return rows


def write(form: str, table: str, rows: Sequence[Entry], paint: Paint) -> Iterator[str]:
    """Yield the pieces of the document in a format (formats.py)."""
    if form == "json":
        yield json_text({"version": VERSION, table: list(rows)})
        return
    if not rows:
        yield f"no {table} here\n"
        return
    columns = [name for name in rows[0] if form == "wide" or name not in _WIDE or table == "connections"]
    cells = [[one_line(_cell(row.get(name), form)) for name in columns] for row in rows]
    listed = paint.table([[name.upper() for name in columns], *cells])
    for number, of_row in enumerate(listed):
        for line in of_row:
            words = "  ".join(line).rstrip()
            yield f"{words if number else paint('faint', words)}\n"


_WIDE = frozenset(
    (
        *("by", "by way of", "sets", "location", "acting", "addresses", "kinds", "ports", "used by", "listeners"),
        "perhaps routes",
    )
)
"""Columns that only `-o wide` and JSON have."""


def _cell(value: Any, form: str) -> str:
    if isinstance(value, list):
        if form != "wide" and len(value) > 2:
            return f"{', '.join(map(str, value[:2]))} +{len(value) - 2}"
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, "") else str(value)


def _policies(context: _Context) -> Iterable[Entry]:
    names = context.names
    for state in context.simulation.policies.values():
        if not context.request.fits(state.policy):
            continue
        reached = reach(context.simulation, state)
        acting = sum(route.extent != "none" for route in reached.routes)
        yield {
            "policy": names.key(state.key),
            "targets": [names.target_and_trouble(target) for target in state.targets],
            "class": state.kind.policy_class,
            "verdict": state.verdict,
            "routes": f"{acting}/{len(reached.routes)}" if acting != len(reached.routes) else acting,
            "namespaces": len(reached.namespaces),
            "by": names.keys(state.by),
            "sets": sorted({str(name) for declared in state.declared for name in declared.proper}),
            "location": place(state.policy.name_location),
        }


def _routes(context: _Context) -> Iterable[Entry]:
    from policylint.topology.routes import rules

    for state in context.simulation.topology.routes:
        if not context.request.fits(state.route):
            continue
        yield {
            "route": context.names.key(state.route.key),
            "hosts": [hostname or "*" for hostname in state.hostnames],
            "parents": sorted(context.names.parent(parent) for parent in state.parents),
            "status": _route_status(state),
            "rules": len(rules(state.route)),
            **context.acting(state.route.key),
            "location": place(state.route.name_location),
        }


def _route_status(state: RouteState) -> str:
    conditions = [condition for parent in state.parents for condition in parent.conditions]
    bad = {each.reason for each in conditions if each.status == "False" and each.type in _TELLING}
    if bad:
        return ", ".join(sorted(bad))
    if any(parent.resolution.unknown for parent in state.parents):
        return "Unknown"
    return "Accepted" if state.parents else "no parents"


def _gateways(context: _Context) -> Iterable[Entry]:
    topology = context.simulation.topology
    served: dict[ResourceKey, set[ResourceKey]] = {}
    perhaps: dict[ResourceKey, set[ResourceKey]] = {}
    named: dict[ResourceKey, str] = {}
    doubtful = perhaps_attached(topology)
    for route in topology.routes:
        for parent in route.parents:
            if parent.gateway is not None and parent.accepted and parent.attached:
                certain = any(route.route.key not in doubtful.get(node, ()) for node in parent.attached)
                (served if certain else perhaps).setdefault(parent.gateway, set()).add(route.route.key)
            elif parent.unseen is not None:
                served.setdefault(parent.unseen.key, set()).add(route.route.key)
                named.setdefault(parent.unseen.key, place(route.route.location(*parent.pointer)))
    for state in topology.gateways:
        if not context.request.fits(state.gateway):
            continue
        key = state.gateway.key
        bad = [each.reason for each in state.conditions if each.type == "Accepted" and each.status != "True"]
        takes = "takes no requests" if whole(key) in context.simulation.acting.closed.nodes else "Accepted"
        unsure = perhaps.get(key, set()) - served.get(key, set())
        yield {
            "gateway": context.names.key(key),
            "class": state.class_key.name,
            "status": ", ".join(bad) or takes,
            "ports": sorted({listener.port for listener in state.listeners if listener.port is not None}),
            "listeners": [listener.name for listener in state.listeners],
            "routes": len(served.get(key, ())) or (None if unsure else 0),
            **context.acting(key),
            "perhaps routes": context.names.keys(unsure),
            "location": place(state.gateway.name_location),
        }
    for key in sorted(named):
        if (
            key.kind == "Gateway"
            and context.request.fits_key(key)
            and not (context.request.labels or context.request.scope)
        ):
            yield {
                "gateway": context.names.key(key),
                "class": "",
                "status": "Unknown",
                "ports": [],
                "listeners": [],
                "routes": len(served[key]),
                **context.acting(key),
                "perhaps routes": [],
                "location": named[key],
            }


def _listeners(context: _Context) -> Iterable[Entry]:
    topology = context.simulation.topology
    holders = [(state.gateway, state.listeners) for state in topology.gateways]
    holders += [(state.listener_set, state.listeners) for state in topology.listener_sets]
    fitting = [listeners for holder, listeners in holders if context.request.fits(holder)]
    doubtful = perhaps_attached(topology)
    for listener in chain.from_iterable(fitting):
        takes = "takes no requests" if why_shut(context.simulation, listener) else "Accepted"
        perhaps = doubtful.get(listener.node, ())
        bad = {each.reason for each in listener.conditions if each.type in _TELLING and each.status == "False"}
        yield {
            "listener": context.names.node(listener.node),
            "port": listener.port,
            "protocol": listener.protocol,
            "hostname": listener.hostname or "*",
            "routes": max(0, listener.attached_routes - len(perhaps)) or (None if perhaps else 0),
            "status": listener.conflict or ", ".join(sorted(bad)) or takes,
            "perhaps routes": context.names.keys(perhaps),
            "kinds": list(listener.supported_kinds),
            "location": f"{listener.holder.document.file}:{listener.holder.location(*listener.pointer).at()[0]}",
        }


def _backends(context: _Context) -> Iterable[Entry]:
    simulation = context.simulation
    used: dict[ResourceKey, set[ResourceKey]] = {}
    for state in simulation.topology.routes:
        for backend in state.backends:
            used.setdefault(backend.wanted, set()).add(state.route.key)
    resources = [resource for kind in BACKEND_KINDS for resource in simulation.world.of_kind(*kind)]
    standing = {each.key for each in resources if simulation.topology.vertices_of(whole(each.key))}
    for key in sorted(used.keys() | standing):
        resource = simulation.world.get(key) if (key.group, key.kind) != (GATEWAY_GROUP, "HTTPRoute") else None
        if resource is None or not context.request.fits(resource):
            continue
        yield {
            "backend": context.names.key(key),
            "routes": len(used.get(key, ())),
            **context.acting(key),
            "ports": [f"{port.name or '-'} {port.number}" for port in ports(resource)],
            "used by": context.names.keys(used.get(key, ())),
            "location": place(resource.name_location),
        }


def _connections(context: _Context) -> Iterable[Entry]:
    """Yield which connections are allowed where there are network policies; without any, everybody may to everybody."""
    if not has_policies(context.simulation.world):
        return
    from policylint.report.simulate.network_v1 import connections

    inside = f" {context.request.namespace}/"
    for row in connections(context.simulation, context.names):
        if not context.request.namespace or any(inside in end for end in (*row["from"], *row["to"])):
            yield row


def _placements(context: _Context) -> Iterable[Entry]:
    """Yield where policies for clusters are placed, one row per policy and action."""
    world = context.simulation.world
    if not has_cluster_policies(world):
        return
    hub = context.simulation.hub
    for key, rows in hub.policies.items():
        if context.request.fits(world.resources[key]):
            for row in rows:
                yield {
                    "policy": context.names.key(key),
                    "action": row.action or None,
                    "clusters": hub.fleet.named(row.clusters),
                    "perhaps": hub.fleet.named(row.possible),
                    "reason": row.reason,
                    "asks for": row.words,
                    "by way of": context.names.keys(row.via),
                    "location": place(world.resources[key].name_location),
                }


_TELLING = ("Accepted", "ResolvedRefs")
_TABLES: dict[str, Callable[[_Context], Iterable[Entry]]] = {
    "policies": _policies,
    "routes": _routes,
    "gateways": _gateways,
    "listeners": _listeners,
    "backends": _backends,
    "connections": _connections,
    "placements": _placements,
}
TABLES = tuple(_TABLES)
