"""On every context of every fixture world explain, trace and the page of graph show the same settings from the same
lines, and lint's findings about precedence are theirs.

What is compared is what users get: `explain -o json`, `trace -o json`, the data of the html page, lint's findings. The
bad examples of the rules about precedence are worlds too, so that each kind of finding is met.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from policylint.explain.explanation import explain
from policylint.explain.settings import summary
from policylint.explain.subject import Subject
from policylint.matches import path_of
from policylint.model import Finding, Node, value_at
from policylint.policy.level import level
from policylint.policy.results import Group
from policylint.report.explain.explain_v1 import entry
from policylint.report.graph import Drawing, GraphRequest, draw
from policylint.report.graph.details import details
from policylint.report.kit.identity import Names
from policylint.report.list.listing import ListRequest, entries
from policylint.report.trace.trace_v1 import entry as traced
from policylint.simulation import Simulation
from policylint.topology import whole
from policylint.trace import Request, Trace, Tracer
from policylint.workspace import Workspace, open_workspace

ROOT = Path(__file__).parents[2]
FIXTURES = sorted(each.name for each in (ROOT / "fixtures").iterdir() if any(each.rglob("*.yaml")))
BACKENDS = "merged"
"""A world of tests/trace with policies on one port of a Service."""
EXAMPLES = ("GWP201", "GWP202", "GWP204", "GWP206")
_BAD = re.compile(r"^```yaml bad\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ROOM = 240
NO_POLICIES = {"history", "network-shop", "ocm-fleet", "ocm-generator", "silent-failures"}
"""Worlds in which no policy has an effect."""

Row = tuple[str, str, str, str, str, str]
"""Field, state, policy, file:line, value, who prevailed."""


class World(NamedTuple):
    name: str
    drawing: Drawing
    workspace: Workspace
    names: Names
    page: dict[str, Any]
    findings: list[Finding]


@pytest.fixture(scope="module", params=[*FIXTURES, *EXAMPLES, BACKENDS])
def world(request: pytest.FixtureRequest, apart: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    place = apart / "fixtures" / request.param
    if request.param == BACKENDS:
        place = ROOT / "tests" / "trace" / "worlds" / "merged.yaml"
    if request.param in EXAMPLES:
        place = tmp_path_factory.mktemp(request.param)
        (page,) = (ROOT / "rules").glob(f"{request.param}-*.md")
        (place / "bad.yaml").write_text(_BAD.findall(page.read_text())[0])
    workspace = open_workspace([str(place)])
    findings = workspace.findings()
    names = Names(key for each in workspace.simulations for key in each.world.resources)
    drawing = draw(workspace.simulations, GraphRequest(), findings)
    return World(request.param, drawing, workspace, names, details(drawing), findings)


def test_no_verdict_contradicts_the_conditions_beside_it(world: World) -> None:
    for simulation in world.workspace.simulations:
        for state in simulation.policies.values():
            written = [*state.conditions, *(each for ancestor in state.ancestors for each in ancestor.conditions)]
            answers = {each.status for each in written if each.type == "Accepted"}
            assert answers != {"False"} or state.verdict not in ("Enforced", "PartiallyEnforced"), state.key


def contexts(simulation: Simulation) -> Iterator[tuple[Group, tuple[Node, ...]]]:
    """Every context with an effective policy, without the Namespaces that stand in it."""
    for group in simulation.groups:
        for path in group.contexts():
            bare = tuple(node for node in path if (node.key.group, node.key.kind) != ("", "Namespace"))
            yield group, bare or path


def explained(world: World, simulation: Simulation, node: Node) -> dict[str, Any]:
    """`explain -o json` about a node."""
    return _explained(world.workspace, world.names, simulation, node)


@cache
def _explained(workspace: Workspace, names: Names, simulation: Simulation, node: Node) -> dict[str, Any]:  # noqa: ARG001
    return entry(explain(Subject(simulation, node.key, node)), names, "", None, several=True)


def rows(policy: dict[str, Any]) -> frozenset[Row]:
    """The settings that `explain -o json` lists for one kind in one context."""
    return frozenset(
        (
            each["field"],
            each["how"],
            each["policy"],
            f"{each['location']['file']}:{each['location']['line']}" if "location" in each else "",
            summary(each["value"], _ROOM),
            ", ".join(each.get("by", ())),
        )
        for each in policy["settings"]
    )


def of_context(world: World, simulation: Simulation, group: Group, path: tuple[Node, ...]) -> set[frozenset[Row]]:
    """What explain shows of a kind in the contexts that begin as this one."""
    wanted = world.names.path(path)
    kind = world.names.kind(group.kind.group, group.kind.kind)
    found = set()
    for each in explained(world, simulation, path[-1]).get("contexts", ()):
        if any(other[: len(wanted)] == wanted for other in each["paths"]):
            found |= {rows(policy) for policy in each["policies"] if policy["kind"] == kind}
    return found


def box_of(world: World, environment: str, node: Node) -> dict[str, Any] | None:
    """The box of the page that stands for a node; a Service with one port is its port."""
    labels = [world.names.node(node)]
    boxes = [each for each in world.page["nodes"] if each["environment"] == environment]
    return next((each for each in boxes if each["label"] in labels), None)


def page_rows(world: World, box: dict[str, Any], kind: str) -> set[frozenset[Row]]:
    return {
        frozenset(
            (each["field"], each["state"], each["policy"], each["place"], each["value"], each["by"])
            for each in world.page["results"][number]["rows"]
        )
        for number in box["results"]
        if world.page["results"][number]["kind"] == kind
    }


def test_the_page_shows_what_explain_shows(world: World) -> None:
    """Value, policy, file and line of every setting, what was lost and to whom."""
    compared = 0
    for simulation in world.workspace.simulations:
        for group, path in contexts(simulation):
            if not group.effective.owners and not group.effective.lost:
                continue
            said = of_context(world, simulation, group, path)
            assert said, path
            concerned = [node for node in path if node in group.nodes]
            on_the_way = [box for node in concerned if (box := box_of(world, simulation.world.name, node)) is not None]
            assert on_the_way, path
            kind = world.names.kind(group.kind.group, group.kind.kind)
            for box in on_the_way:
                assert said & page_rows(world, box, kind), (path, box["label"])
            compared += 1
    assert compared or world.name in NO_POLICIES


def test_every_box_holds_what_explain_says_of_it(world: World) -> None:
    """Not a setting more and none less: for each object and section that the page draws, kind by kind."""
    by_name = {each.world.name: each for each in world.workspace.simulations}
    for number, box in enumerate(world.drawing.graph.nodes):
        if not box.nodes or box.role == "policy":
            continue
        said: dict[str, set[frozenset[Row]]] = {}
        for context in explained(world, by_name[box.environment], box.nodes[-1])["contexts"]:
            for policy in context["policies"]:
                said.setdefault(policy["kind"], set()).add(rows(policy))
        shown = world.page["nodes"][number]
        kinds = {world.page["results"][each]["kind"] for each in shown["results"]}
        assert {kind: page_rows(world, shown, kind) for kind in kinds} == said, box.label


def test_list_counts_what_explain_shows(world: World) -> None:
    """The policies that the tables of list say act on a route, a Gateway or a backend."""
    by_name = {each.world.name: each for each in world.workspace.simulations}
    for table, column in (("routes", "route"), ("gateways", "gateway"), ("backends", "backend")):
        for row in entries(table, world.workspace.simulations, ListRequest()):
            simulation = by_name.get(row.get("environment", ""), world.workspace.simulations[0])
            key = next(key for key in simulation.world.resources if world.names.key(key) == row[column])
            said = {
                each["policy"]
                for context in explained(world, simulation, whole(key))["contexts"]
                for policy in context["policies"]
                for each in policy["settings"]
                if each["how"] == "applies"
            }
            assert set(row["acting"]) == said, row[column]
            assert row["policies"] == len(said)


def test_trace_meets_what_explain_shows(world: World) -> None:
    """A request made for each rule of each context: its JSON holds the settings that explain lists there."""
    compared = 0
    for simulation in world.workspace.simulations:
        tracer = Tracer(simulation)
        for group, path in contexts(simulation):
            asked = request_for(simulation, path)
            if asked is None:
                continue
            trace = tracer.trace(asked)
            rule = next(node for node in path if level((node,)) == "rule")
            listener = next(node for node in path if level((node,)) == "listener")
            if trace.rule != rule or trace.listener is None or trace.listener.node != listener:
                continue  # another rule comes first
            backends = {whole(key) for key in trace.outcome.backends}
            below = {whole(node.key) for node in path if level((node,)) in ("service", "port")}
            if not below <= backends:
                continue  # its backend gets nothing: no weight, not there
            kind = world.names.kind(group.kind.group, group.kind.kind)
            met = [each for each in traced(trace, world.names)["policies"] if each["kind"] == kind]
            told = {agreeable(each) for each in of_context(world, simulation, group, path)}
            assert told & {from_trace(each, trace) for each in met}, path
            compared += 1
    assert compared or world.name in NO_POLICIES


def agreeable(shown: frozenset[Row]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Who owns something, which top-level settings stand, who lost something to whom."""
    kept = {(field.partition(".")[0].partition("[")[0], policy) for field, how, policy, *_ in shown if how == "applies"}
    lost = {f"{policy} to {by}" for _, how, policy, _, _, by in shown if how != "applies"}
    return frozenset(field for field, _ in kept), frozenset(policy for _, policy in kept), frozenset(lost)


def from_trace(met: dict[str, Any], trace: Trace) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    assert trace.rule is not None
    lost = frozenset(f"{each['policy']} to {each['by']}" for each in met["lost"])
    return frozenset(met["spec"]), frozenset(met["from"]), lost


def request_for(simulation: Simulation, path: tuple[Node, ...]) -> Request | None:
    """A request that the first match of the rule in a context takes; None where no HTTPRoute rule is in it."""
    rule = next((node for node in path if level((node,)) == "rule"), None)
    listener = next((each for node in path if (each := simulation.topology.listener(node)) is not None), None)
    state = simulation.topology.route(rule.key) if rule is not None else None
    if rule is None or listener is None or state is None or rule.key.kind != "HTTPRoute":
        return None
    from policylint.topology.routes import rules

    number = next(each.number for each in rules(state.route) if each.node == rule)
    match = (state.route.spec["rules"][number].get("matches") or [{}])[0]
    query = "&".join(f"{each['name']}={each['value']}" for each in match.get("queryParams") or [])
    candidates = [each for parent in state.parents for each in parent.candidates if each.node == listener.node]
    host = next((name for each in candidates for name in each.hostnames if name), "") or listener.hostname
    return Request(
        gateway="" if listener.gateway is None else str(listener.gateway),
        scheme="https" if listener.protocol == "HTTPS" else "http",
        method=match.get("method") or "GET",
        host=host.replace("*", "x") or "any.test",
        path=path_of(match)[1] + (f"?{query}" if query else ""),
        headers=tuple((each["name"], str(each["value"])) for each in match.get("headers") or []),
        port=listener.port,
    )


def test_lint_reports_the_losses_that_explain_and_the_page_show(world: World) -> None:
    """GWP201: what a finding says is lost is dropped there, by whom it says, on the line it names."""
    for finding in world.findings:
        if finding.rule != "GWP201":
            continue
        winner, _, loser = map(world.names.key, finding.resources)
        dropped = set()
        for simulation in world.workspace.simulations:
            for group, path in contexts(simulation):
                dropped |= {row for each in of_context(world, simulation, group, path) for row in each}
        lines = {f"{each.location.file}:{each.location.at()[0]}" for each in finding.related}
        for field in finding.field.split(","):
            of_field = [
                row
                for row in dropped
                if row[0].partition(".")[0] == field and row[1] == "dropped" and (row[2], row[5]) == (loser, winner)
            ]
            assert of_field, finding.message
            assert any(row[3] in lines for row in of_field), finding.message
            drawn = {row for box in world.page["nodes"] for n in box["results"] for row in result_rows(world, n)}
            assert set(of_field) & drawn
        assert reported(world, finding) >= {winner, loser}


def result_rows(world: World, number: int) -> Iterator[Row]:
    for each in world.page["results"][number]["rows"]:
        yield (each["field"], each["state"], each["policy"], each["place"], each["value"], each["by"])


def reported(world: World, finding: Finding) -> set[str]:
    """The boxes of the page that show a finding."""
    numbers = {n for n, each in enumerate(world.page["findings"]) if each["message"] == finding.message}
    return {each["label"] for each in world.page["nodes"] if numbers & set(each["findings"])}


def test_a_refused_claim_is_refused_everywhere(world: World) -> None:
    """GWP202: explain lists the policy as not acting, no request meets it by that claim, the page draws it refused."""
    for finding in world.findings:
        if finding.rule != "GWP202":
            continue
        loser, target, winner = finding.resources
        for simulation in world.workspace.simulations:
            if loser not in simulation.policies:
                continue
            said = explained(world, simulation, whole(target))["notAttached"]
            assert [each["why"] for each in said if each["policy"] == world.names.key(loser)] == [
                f"refused: {winner.path} claimed it first"
            ]
            for group in simulation.groups:
                assert not any(each.key == loser and each.node.key == target for each in group.effective.stack)
            labels = [each["label"] for each in world.page["nodes"]]
            drawn = {
                (labels[start], labels[end].partition("#")[0].partition(" ")[2], effect)
                for start, end, effect, *_ in world.page["edges"]
            }
            assert (world.names.key(loser), target.path, "refused") in drawn
        assert world.names.key(loser) in reported(world, finding)


def test_who_prevails_by_order_prevails_everywhere(world: World) -> None:
    """GWP206: explain and the page show the settings of the policy that the finding says comes first."""
    for finding in world.findings:
        if finding.rule != "GWP206":
            continue
        winner, node, otherwise = finding.resources
        first, second = world.names.key(winner), world.names.key(otherwise)
        for simulation in world.workspace.simulations:
            if winner not in simulation.policies:
                continue
            shown = [
                row
                for each in explained(world, simulation, whole(node))["contexts"]
                for policy in each["policies"]
                for row in rows(policy)
            ]
            beaten = [row for row in shown if row[1] != "applies" and row[2] == second]
            assert any(row[1] == "applies" and row[2] == first for row in shown)
            assert beaten
            assert all(first in row[5] for row in beaten)
            box = box_of(world, simulation.world.name, whole(node))
            assert box is not None
            assert set(beaten) <= {row for number in box["results"] for row in result_rows(world, number)}


def test_explained_values_stand_in_the_spec_that_simulate_prints(world: World) -> None:
    """Setting by setting: the value at its pointer in the effective spec is the one that explain shows."""
    for simulation in world.workspace.simulations:
        for group, path in contexts(simulation):
            for context in explained(world, simulation, path[-1]).get("contexts", ()):
                if not any(each[: len(path)] == world.names.path(path) for each in context["paths"]):
                    continue
                kind = world.names.kind(group.kind.group, group.kind.kind)
                for policy in context["policies"]:
                    mine = [each for each in policy["settings"] if each["how"] == "applies"]
                    if policy["kind"] != kind or {each["policy"] for each in mine} != set(
                        world.names.keys(group.effective.sources)
                    ):
                        continue
                    for each in mine:
                        steps = [int(step) if step.isdigit() else step for step in each["pointer"].split("/")[1:]]
                        steps = [
                            step.replace("~1", "/").replace("~0", "~") if isinstance(step, str) else step
                            for step in steps
                        ]
                        assert value_at(group.effective.spec, tuple(steps)) == each["value"]


def test_each_kind_of_finding_is_met(world: World) -> None:
    """The examples hold the findings whose agreement is tested above."""
    if world.name in EXAMPLES:
        assert world.name in {each.rule for each in world.findings}
