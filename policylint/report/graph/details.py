"""The data of the html page: effective policies setting by setting, where policies act, findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from policylint.explain.settings import settings, summary
from policylint.explain.unseen import UnseenActing
from policylint.model import Node, ResourceKey
from policylint.model.words import count, listing
from policylint.policy.results import Group
from policylint.report.graph import exposure as who
from policylint.report.graph.exposure import (
    MOST_MATCHES,
    Exposure,
    about_unseen,
    entries,
    exposures,
    headline,
    of_routes,
)
from policylint.report.graph.model import Graph
from policylint.report.graph.requests import Boxes, answers
from policylint.report.graph.style import DASHES, STATES
from policylint.report.graph.view import look_alikes
from policylint.report.kit.display import place
from policylint.report.kit.identity import Names
from policylint.topology import whole
from policylint.topology.routes import rules
from policylint.topology.workloads import is_workload

if TYPE_CHECKING:
    from policylint.report.graph import Drawing
    from policylint.simulation import Simulation

VERSION = "graph-page-v1"
_FIELDS = ("label", "kind", "title", "namespace", "environment", "role", "level", "state", "place", "change")
_MOST_RESULTS = 40
_MOST_ROUTES = 4
_ROOM = 240
Entry = dict[str, Any]


def details(drawing: Drawing) -> Entry:
    """Return the data of the page: those of its first layer, with those of the others in it."""
    data = _layer(drawing)
    layers = [data]
    if drawing.network is not None and drawing.network.nodes:
        data["layers"]["network"] = _layer(drawing._replace(graph=drawing.network), requests=False)
        layers.append(data["layers"]["network"])
    files = {place.rpartition(":")[0] for layer in layers for place in _files(layer)} - {""}
    found = drawing.links(sorted(files))
    forge = None if found is None else {**found.forge._asdict(), "files": found.files}
    for layer in layers:
        layer["forge"] = forge
    return data


def _files(layer: Entry) -> Iterator[str]:
    """Yield every place of a layer."""
    entries = [*layer["nodes"], *layer["findings"], *(row for result in layer["results"] for row in result["rows"])]
    for entry in (*entries, *(layer["requests"] or {}).get("ways", ())):
        yield entry["place"]


def _layer(drawing: Drawing, *, requests: bool = True) -> Entry:
    """Return the data of one layer, sorted as its graph is."""
    graph, names = drawing.graph, drawing.names
    of_node, of_key = _places(graph)
    own: dict[tuple[str, Node], list[int]] = defaultdict(list)
    for number, drawn in enumerate(graph.nodes):
        if drawn.nodes:
            own[drawn.environment, drawn.nodes[-1]].append(number)
    results: list[Entry] = []
    through: dict[int, list[int]] = defaultdict(list)
    acting: dict[int, set[int]] = defaultdict(set)
    beaten: dict[int, set[int]] = defaultdict(set)
    for simulation in drawing.simulations:
        environment = simulation.world.name
        for number, group in enumerate(simulation.groups):
            if not group.effective.owners and not group.effective.lost:
                continue
            places = simulation.acting.places(number)
            behind = (whole(pods.key) for node in places for pods in simulation.acting.workloads(node.key))
            at = {*places, *(whole(node.key) for node in places), *behind}  # a Gateway is its listeners, as in explain
            boxes = sorted({box for node in at for box in own.get((environment, node), ())})
            owners = {box for key in group.effective.sources for box in of_key.get((environment, key), ())}
            for box in boxes:
                acting[box] |= owners
            if any(len(through[box]) < _MOST_RESULTS for box in boxes):
                for box in boxes:
                    through[box].append(len(results))
                results.append(_result(group, names, simulation, of_key))
        for key, by in simulation.acting.owners.items():
            if is_workload(key.group, key.kind):  # through the Service that a route leads to
                for box in own.get((environment, whole(key)), ()):
                    acting[box] |= {each for owner in by for each in of_key.get((environment, owner), ())}
        for key, state in simulation.policies.items():
            for box in of_key.get((environment, key), ()):
                beaten[box] |= {rival for winner in state.by for rival in of_key.get((environment, winner), ())}
    findings, about = _findings(drawing, of_key)
    alike = look_alikes(graph)
    hostnames = _hostnames(drawing, of_node)
    absent = {(box.environment, box.label): [number] for number, box in enumerate(graph.nodes) if not box.nodes}
    drawn_boxes = Boxes(of_node, of_key, absent)
    fields = [{row["field"] for row in result["rows"]} for result in results]
    unseen = {simulation.world.name: UnseenActing(simulation) for simulation in drawing.simulations}
    reached = exposures(drawing.simulations) if requests else []
    worst = {of_key[place][0]: told for place, told in of_routes(reached or ()).items() if place in of_key}
    return {
        "version": VERSION,
        "title": drawing.title,
        "headline": _headline(graph, worst, findings),
        "stand": drawing.stand,
        "exposure": {
            "states": who.STATES,
            "rows": entries(reached or (), of_key),
            "leftOut": _left_out(drawing, reached) if requests else "",
        },
        "request": drawing.request,
        "environments": graph.environments,
        "leftOut": list(graph.left_out),
        "effects": dict(graph.effects),
        "dashes": DASHES,
        "states": STATES,
        "focus": sorted(graph.focus),
        "nodes": [
            {
                **{name: getattr(box, name) for name in _FIELDS},
                "alike": alike[number],
                "results": through.get(number, [])[:_MOST_RESULTS],
                "many": len(through.get(number, [])),
                "unseen": ""
                if number in through or not box.nodes
                else unseen[box.environment].on(box.nodes[-1]).remark,
                "acting": sorted(acting.get(number, ())),
                "by": sorted(beaten.get(number, ())),
                "findings": about.get(number, []),
                "hostnames": hostnames.get(number, []),
                "exposure": worst[number].state if number in worst else "",
                "login": worst[number].words if number in worst else "",
                "settings": sorted(set().union(*(fields[result] for result in through.get(number, ())))),
            }
            for number, box in enumerate(graph.nodes)
        ],
        "edges": [[edge.start, edge.end, edge.effect, edge.label, edge.why, edge.change] for edge in graph.edges],
        "results": results,
        "findings": findings,
        "forge": None,
        "layers": {},
        "requests": answers(drawing.simulations, names, drawn_boxes, drawing.request) if requests else None,
    }


def _headline(graph: Graph, worst: dict[int, Exposure], findings: list[Entry]) -> str:
    """Return what the page says first: what changes, or who may reach what is drawn; and what is found there."""
    changes = Counter(box.change for box in graph.nodes if box.change)
    if changes:
        return listing([f"{count(changes[change], 'box', 'boxes')} {change}" for change in sorted(changes)])
    severities = [finding["severity"] for finding in findings]
    return headline([told.state for told in worst.values()], severities) or count(len(graph.nodes), "box", "boxes")


def _left_out(drawing: Drawing, reached: list[Exposure] | None) -> str:
    """Return what the page does not tell of who may reach what."""
    if reached is None:
        return f"routes have more than {MOST_MATCHES:,} matches: policylint reach tells who may reach them"
    return about_unseen(drawing.simulations)


def _hostnames(drawing: Drawing, of_node: dict[tuple[str, Node], list[int]]) -> dict[int, list[str]]:
    """Return the hostnames of routes and listeners, by box."""
    told: dict[int, list[str]] = {}
    for simulation in drawing.simulations:
        topology, environment = simulation.topology, simulation.world.name
        named = [(whole(state.route.key), state.hostnames) for state in topology.routes]
        listeners = [listener for gateway in topology.gateways for listener in gateway.listeners]
        listeners += [listener for listener_set in topology.listener_sets for listener in listener_set.listeners]
        named += [(listener.node, (listener.hostname,)) for listener in listeners]
        for node, patterns in named:
            for box in of_node.get((environment, node), ()):
                told[box] = [pattern for pattern in patterns if pattern]
    return told


def _places(graph: Graph) -> tuple[dict[tuple[str, Node], list[int]], dict[tuple[str, ResourceKey], list[int]]]:
    """Return boxes by node and by object, per environment; sections are no objects."""
    of_node: dict[tuple[str, Node], list[int]] = defaultdict(list)
    of_key: dict[tuple[str, ResourceKey], list[int]] = defaultdict(list)
    for number, box in enumerate(graph.nodes):
        for node in box.nodes:
            of_node[box.environment, node].append(number)
        if box.nodes and not box.nodes[0].section:
            of_key[box.environment, box.nodes[0].key].append(number)
    return of_node, of_key


def _result(
    group: Group, names: Names, simulation: Simulation, of_key: dict[tuple[str, ResourceKey], list[int]]
) -> Entry:
    """Return one effective policy, as `explain` tells it."""
    environment = simulation.world.name
    routes = [name for key in group.routes() for name in _towards(group, key, simulation, names)]
    rows = [
        {
            "field": setting.field,
            "value": summary(setting.value, _ROOM),
            "policy": names.key(setting.policy),
            "box": next(iter(of_key.get((environment, setting.policy), ())), -1),
            "place": "" if setting.location is None else place(setting.location),
            "at": "" if setting.node is None else names.node(setting.node),
            "state": setting.state,
            "by": ", ".join(names.keys(setting.by)),
        }
        for setting in settings(group)
    ]
    return {
        "kind": names.kind(group.kind.group, group.kind.kind),
        "routes": routes[:_MOST_ROUTES],
        "more": max(0, len(routes) - _MOST_ROUTES),
        "rows": rows,
    }


def _towards(group: Group, key: ResourceKey, simulation: Simulation, names: Names) -> list[str]:
    """Name a route, or those of its rules that a result is for where it is not for all of them."""
    state = simulation.topology.route(key)
    listed = [] if state is None else [rule.node for rule in rules(state.route)]
    concerned_rules = [node for node in listed if node in group.nodes]
    if 0 < len(concerned_rules) < len(listed):
        return [names.node(node) for node in concerned_rules]
    return [names.key(key)]


def _findings(
    drawing: Drawing, of_key: dict[tuple[str, ResourceKey], list[int]]
) -> tuple[list[Entry], dict[int, list[int]]]:
    """Return the findings that are about boxes, and their numbers by box."""
    entries: list[Entry] = []
    about: dict[int, list[int]] = defaultdict(list)
    for finding in drawing.findings:
        boxes = {
            box
            for environment in finding.environments or drawing.graph.environments
            for key in finding.resources
            for box in of_key.get((environment, key), ())
        }
        if not boxes:
            continue
        for box in sorted(boxes):
            about[box].append(len(entries))
        entries.append(
            {
                "rule": finding.rule,
                "severity": finding.severity,
                "message": finding.message,
                "place": place(finding.location),
                "help": list(finding.notes),
            }
        )
    return entries, about
